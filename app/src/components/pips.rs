//! Attempts in little: one mark per attempt, and the figure in words.

use std::fmt::Write as _;

use leptos::prelude::*;

use crate::model::job::JobRow;
use crate::model::state::ListState;

/// More marks than this are not drawn: the figure says enough.
const MOST: u32 = 15;

/// What a list says of a job's attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tries {
    /// Attempts so far.
    pub attempts: u32,
    /// Attempts that the policy allows, where a reason named it and it fits what happened.
    pub allowed: Option<u32>,
    /// What the figure means, in two or three words.
    pub words: String,
    /// How the last attempt stands.
    last: &'static str,
    /// Whether the attempts before the last one are known to have failed.
    failed_before: bool,
}

/// Reads a list's row. A retry that a reason names fits the attempts when it is the last attempt or
/// the next one; otherwise somebody ran the job again by hand, and a total would promise retries
/// that do not come.
pub fn tries(row: &JobRow) -> Tries {
    let state = row
        .state
        .name
        .as_ref()
        .and_then(|name| ListState::of(name, row.state.reason.as_deref()));
    let waiting = matches!(
        state,
        Some(ListState::Retrying | ListState::Enqueued | ListState::Scheduled)
    );
    let fits = row.retry.filter(|&(number, _)| {
        if row.attempts >= JobRow::ATTEMPTS_CAP {
            return false;
        }
        row.attempts == number.saturating_add(1) || (waiting && row.attempts == number)
    });
    let words = match (state, row.retry, row.attempts) {
        (Some(ListState::Failed), Some((number, of)), _) if fits.is_some() => {
            if number >= of {
                "used up".to_owned()
            } else {
                format!("after {number} of {of} retries")
            }
        }
        (Some(ListState::Succeeded), Some((number, _)), _) if fits.is_some() => {
            format!("on retry {number}")
        }
        (Some(ListState::Failed), Some((number, _)), 0) => {
            format!("never began in {number} retries")
        }
        (Some(ListState::Failed), Some((number, of)), _) => format!("last retry {number} of {of}"),
        (_, Some((number, of)), _) => format!("retry {number} of {of}"),
        (Some(ListState::Failed), None, 0) => "never began".to_owned(),
        (Some(ListState::Failed), None, 1) => "not retried".to_owned(),
        (Some(ListState::Failed), None, _) => "no automatic retry".to_owned(),
        (Some(ListState::Succeeded), None, 1) => "first time".to_owned(),
        (_, None, 0) => "not run yet".to_owned(),
        (_, None, _) => String::new(),
    };
    Tries {
        attempts: row.attempts,
        allowed: fits.map(|(_, of)| of.saturating_add(1)),
        words,
        last: match state {
            Some(ListState::Failed | ListState::Retrying) => "p-failed",
            Some(ListState::Succeeded) => "p-succeeded",
            Some(ListState::Processing) => "p-processing",
            _ if fits.is_some() && waiting => "p-failed",
            _ => "p-known",
        },
        failed_before: fits.is_some(),
    }
}

impl Tries {
    /// `3`, or `100+` where the list counts no further.
    fn figure(&self) -> String {
        if self.attempts >= JobRow::ATTEMPTS_CAP {
            format!("{}+", JobRow::ATTEMPTS_CAP)
        } else {
            self.attempts.to_string()
        }
    }

    fn drawing(&self) -> Option<AnyView> {
        let total = self.allowed.unwrap_or(self.attempts).max(self.attempts);
        if total == 0 || total > MOST {
            return None;
        }
        let before = if self.failed_before {
            "p-failed"
        } else {
            "p-known"
        };
        let mut paths: Vec<(&'static str, String)> = Vec::new();
        for index in 0..total {
            let class = match index + 1 {
                n if n < self.attempts => before,
                n if n == self.attempts => self.last,
                _ => "p-left",
            };
            let x = 2 + 6 * index;
            let step = if class == "p-left" {
                format!("M{x} 6v2")
            } else {
                format!("M{x} 2v10")
            };
            match paths.last_mut() {
                Some((same, path)) if *same == class => {
                    let _ = write!(path, "{step}");
                }
                _ => paths.push((class, step)),
            }
        }
        let paths: Vec<_> = paths
            .into_iter()
            .map(|(class, d)| view! { <path class=class d=d></path> })
            .collect();
        let width = (6 * total - 2).to_string();
        Some(
            view! { <svg class="pips" width=width height="14" aria-hidden="true">{paths}</svg> }
                .into_any(),
        )
    }
}

/// The cell: marks, `3/11`, and the words below.
pub fn pips(tries: &Tries) -> impl IntoView + use<> {
    let of = tries.allowed.map(|allowed| format!("/{allowed}"));
    view! {
        <span class="nw">{tries.drawing()} " " <b>{tries.figure()}</b> {of}</span>
        <span class="two">{tries.words.clone()}</span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::job_rows::testing::row;

    fn of(state: &str, reason: Option<&str>, attempts: u32, retry: Option<(u32, u32)>) -> Tries {
        let mut row = row(1, state);
        row.state.reason = reason.map(Into::into);
        row.attempts = attempts;
        row.retry = retry;
        tries(&row)
    }

    #[test]
    fn a_failed_job_tells_how_far_it_came() {
        let used_up = of("Failed", None, 3, Some((2, 2)));
        assert_eq!(
            (used_up.allowed, used_up.words.as_str()),
            (Some(3), "used up")
        );
        let early = of("Failed", None, 3, Some((2, 10)));
        assert_eq!(
            (early.allowed, early.words.as_str()),
            (Some(11), "after 2 of 10 retries")
        );
        let single = of("Failed", None, 1, None);
        assert_eq!(
            (single.allowed, single.words.as_str()),
            (None, "not retried")
        );
        assert_eq!(of("Failed", None, 0, None).words, "never began");
        let unloadable = of("Failed", None, 0, Some((10, 10)));
        assert_eq!(unloadable.words, "never began in 10 retries");
        assert_eq!(of("Failed", None, 2, None).words, "no automatic retry");
    }

    #[test]
    fn a_requeue_by_hand_promises_no_total() {
        // Three attempts with two retries, then a requeue: the fourth attempt.
        let requeued = of("Failed", None, 4, Some((2, 2)));
        assert_eq!(
            (requeued.allowed, requeued.words.as_str()),
            (None, "last retry 2 of 2")
        );
    }

    #[test]
    fn a_retrying_job_counts_the_planned_one_as_not_run() {
        let reason = Some("Retry attempt 2 of 10: no");
        let waiting = of("Scheduled", reason, 2, Some((2, 10)));
        assert_eq!(
            (waiting.allowed, waiting.words.as_str()),
            (Some(11), "retry 2 of 10")
        );
        let html = pips(&waiting).to_html();
        assert!(
            html.contains("d=\"M2 2v10M8 2v10\" class=\"p-failed\""),
            "{html}"
        );
        assert_eq!(html.matches("v2").count(), 9, "nine are left: {html}");
    }

    #[test]
    fn success_says_which_attempt() {
        assert_eq!(of("Succeeded", None, 1, None).words, "first time");
        assert_eq!(of("Succeeded", None, 3, Some((2, 10))).words, "on retry 2");
    }

    #[test]
    fn very_many_attempts_are_a_figure_alone() {
        let many = of("Failed", None, 100, None);
        let html = pips(&many).to_html();
        assert!(
            html.contains("<b>100+</b>") && !html.contains("<svg"),
            "{html}"
        );
    }
}
