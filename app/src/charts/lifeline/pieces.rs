//! A job's life as stretches of time and moments, in order.

use crate::components::text::{short_type, shown};
use crate::model::attempt::{Attempt, Failure, Outcome, millis_between};
use crate::model::state::{Instant, StateName};
use crate::model::timeline::{Decision, Event, RunEnd, Timeline, Waiting};

/// A part of the line.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A stretch of time.
    Stretch(Stretch),
    /// A moment without length.
    Moment(Moment),
}

/// A stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// What happened in it.
    pub kind: Kind,
    /// When it began.
    pub from: Instant,
    /// Its length in milliseconds; `None` where it was not recorded.
    pub ms: Option<i64>,
    /// Whether it still goes on.
    pub so_far: bool,
}

/// What happens in a stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// In a queue, until a worker took it.
    Waited,
    /// Between a failure and the release of its retry.
    Backoff,
    /// Nothing: before a delayed job was due, or between an end and somebody's decision. The word
    /// says which.
    Rest(&'static str),
    /// A run.
    Run(Run),
}

/// A run, as the line labels it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The attempt's number; `3+` where earlier ones may be missing.
    pub number: String,
    /// The word of its outcome, see [`Outcome::slug`].
    pub outcome: &'static str,
    /// Why it ended, in a word or two; empty for a success.
    pub cause: String,
}

/// A moment without length.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// What it is.
    pub kind: MomentKind,
    /// When.
    pub at: Instant,
    /// A few words.
    pub caption: String,
}

/// What a moment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentKind {
    /// Somebody decided to run it.
    Operator,
    /// A failure with no attempt running.
    Failure,
    /// It was deleted while nothing ran.
    Deleted,
    /// A delete was undone.
    Restored,
}

/// What the line needs to know beside the timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// When the job was created; `None` where its history does not reach back that far.
    pub created_at: Option<Instant>,
    /// Whether nothing is to come.
    pub finished: bool,
    /// Now.
    pub now: Instant,
    /// Appended to numbers of attempts: `+` where earlier ones may be missing.
    pub suffix: &'static str,
}

/// Cuts a timeline into pieces.
pub fn pieces(
    timeline: &Timeline,
    around: &Around,
    caption: impl Fn(&Decision) -> String,
) -> Vec<Piece> {
    let mut line = Line {
        pieces: Vec::new(),
        open: around
            .created_at
            .map(|created| (created, Kind::Rest("delayed"))),
    };
    for event in &timeline.events {
        match event {
            Event::Attempt(attempt) => line.attempt(attempt, around),
            Event::FailureOutsideAttempt(failure) => {
                line.moment(
                    MomentKind::Failure,
                    failure.at,
                    "failed before it began".into(),
                );
                line.open_after(failure);
            }
            Event::Decision(decision) => {
                line.moment(MomentKind::Operator, decision.at, caption(decision));
            }
            Event::Deleted { at, .. } => line.moment(MomentKind::Deleted, *at, "deleted".into()),
            Event::Restored { at, .. } => {
                line.moment(MomentKind::Restored, *at, "restored".into());
            }
            Event::RunEnd(end) => line.run_end(end, around),
            Event::Waiting(waiting) => line.waiting(waiting, around.now),
        }
    }
    if !around.finished {
        line.go_on(around.now);
    }
    line.pieces
}

/// Milliseconds from one instant to another, 0 where negative.
pub fn between(from: Instant, to: Instant) -> i64 {
    millis_between(from, to).max(0)
}

struct Line {
    pieces: Vec<Piece>,
    /// What goes on since when, until the next thing happens.
    open: Option<(Instant, Kind)>,
}

impl Line {
    fn close(&mut self, to: Instant) {
        if let Some((from, kind)) = self.open.take() {
            let ms = between(from, to);
            // A job that goes straight into its queue was never delayed.
            let shortest = if kind == Kind::Rest("delayed") {
                1000
            } else {
                1
            };
            if ms >= shortest {
                self.push(kind, from, Some(ms), false);
            }
        }
    }

    fn push(&mut self, kind: Kind, from: Instant, ms: Option<i64>, so_far: bool) {
        self.pieces.push(Piece::Stretch(Stretch {
            kind,
            from,
            ms,
            so_far,
        }));
    }

    fn moment(&mut self, kind: MomentKind, at: Instant, caption: String) {
        self.close(at);
        self.pieces
            .push(Piece::Moment(Moment { kind, at, caption }));
        self.open = Some((at, Kind::Rest("at rest")));
    }

    fn open_after(&mut self, failure: &Failure) {
        let kind = if failure.retry.is_some() {
            Kind::Backoff
        } else {
            Kind::Rest("at rest")
        };
        self.open = Some((failure.at, kind));
    }

    fn attempt(&mut self, attempt: &Attempt, around: &Around) {
        self.close(attempt.queued_at.unwrap_or(attempt.started_at));
        if let (Some(from), Some(ms)) = (attempt.queued_at, attempt.waited.ms) {
            self.push(Kind::Waited, from, Some(ms), false);
        }
        let running = matches!(attempt.outcome, Outcome::Running | Outcome::Orphaned);
        let run = Run {
            number: format!("{}{}", attempt.number, around.suffix),
            outcome: attempt.outcome.slug(),
            cause: cause(attempt),
        };
        let ms = if running {
            Some(between(attempt.started_at, around.now))
        } else {
            attempt.ran.ms
        };
        self.push(Kind::Run(run), attempt.started_at, ms, running);
        match (&attempt.failure, attempt.ended_at) {
            (Some(failure), _) => self.open_after(failure),
            (None, Some(ended)) if attempt.outcome != Outcome::Lost => {
                self.open = Some((ended, Kind::Rest("at rest")));
            }
            _ => self.open = None,
        }
    }

    fn run_end(&mut self, end: &RunEnd, around: &Around) {
        self.open = None;
        let number = end
            .attempt
            .map_or_else(|| "?".to_owned(), |n| format!("{n}{}", around.suffix));
        let (outcome, cause) = if end.name == StateName::Failed {
            ("failed", failure_cause(end.failure.as_ref()))
        } else {
            ("succeeded", String::new())
        };
        let run = Run {
            number,
            outcome,
            cause,
        };
        self.push(Kind::Run(run), end.at, None, false);
        match &end.failure {
            Some(failure) => self.open_after(failure),
            None => self.open = Some((end.at, Kind::Rest("at rest"))),
        }
    }

    fn waiting(&mut self, waiting: &Waiting, now: Instant) {
        if waiting.name == StateName::Enqueued {
            self.close(waiting.at);
            let ms = between(waiting.at, now);
            self.push(Kind::Waited, waiting.at, Some(ms), true);
        }
    }

    /// What is open goes on until now.
    fn go_on(&mut self, now: Instant) {
        if let Some((from, kind)) = self.open.take() {
            self.push(kind, from, Some(between(from, now)), true);
        }
    }
}

/// Why a run ended, in a word or two.
fn cause(attempt: &Attempt) -> String {
    match &attempt.outcome {
        Outcome::Succeeded => String::new(),
        Outcome::Failed => failure_cause(attempt.failure.as_ref()),
        other => other.label().to_owned(),
    }
}

fn failure_cause(failure: Option<&Failure>) -> String {
    failure
        .and_then(|failure| failure.exception_type.as_deref())
        .map_or_else(|| "Failed".to_owned(), short_exception)
}

/// The last part of an exception's type, without the word itself: `Timeout`.
pub fn short_exception(type_name: &str) -> String {
    let last = short_type(type_name);
    match last.strip_suffix("Exception") {
        Some(rest) if !rest.is_empty() => shown(rest).into_owned(),
        _ => shown(last).into_owned(),
    }
}
