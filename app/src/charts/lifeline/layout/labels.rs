//! What the drawing says: names of runs, lengths of stretches, moments, and the axis of times, each
//! only where its neighbours leave room.

use chrono::{Datelike, Timelike};

use super::super::pieces::{Kind, MomentKind, Run, Stretch};
use super::{Drawing, Drawn, Label, MARK, Step, count};
use crate::model::state::Instant;
use crate::model::words::duration;

pub(super) fn label(x: f64, y: f64, class: &'static str, text: String) -> Label {
    Label { x, y, class, text }
}

/// A label may stand this far right of the run that it names.
const SHIFT: f64 = 40.0;

/// Names each run above it, as far as its neighbours leave room.
pub(super) fn label_runs(drawing: &mut Drawing) {
    let runs: Vec<(f64, &Stretch, &Run)> = drawing
        .stretches
        .iter()
        .filter_map(|drawn| match &drawn.stretch.kind {
            Kind::Run(run) => Some((run_middle(drawn), &drawn.stretch, run)),
            _ => None,
        })
        .collect();
    let end = drawing.now_x.map_or(drawing.width, |x| x - 2.0);
    let mut labels = Vec::new();
    let (mut name_edge, mut caption_edge) = (0.0, 0.0);
    for (index, (x, stretch, run)) in runs.iter().enumerate() {
        // The next one's name stands half left of its run.
        let right = runs.get(index + 1).map_or(end, |(next, ..)| {
            (next - 34.0).max(f64::midpoint(*x, *next))
        });
        let names = [format!("Attempt {}", run.number), run.number.clone()];
        if let Some((at, text)) = beside(&names, 7.0, *x, name_edge, right) {
            name_edge = at + text_width(&text, 7.0) / 2.0 + 6.0;
            labels.push(label(at, 45.0, "lb-b mid halo", text));
        }
        if let Some((at, text)) = beside(&captions(stretch, run), 5.8, *x, caption_edge, right) {
            caption_edge = at + text_width(&text, 5.8) / 2.0 + 6.0;
            labels.push(label(at, 60.0, caption_class(run), text));
        }
    }
    drawing.labels.append(&mut labels);
}

/// The first text that fits between two edges, centred at `x` or a little right of it.
fn beside(texts: &[String], per_char: f64, x: f64, left: f64, right: f64) -> Option<(f64, String)> {
    texts
        .iter()
        .filter(|text| !text.is_empty())
        .find_map(|text| {
            let half = text_width(text, per_char) / 2.0;
            let at = x.max(left + half);
            (at - x <= SHIFT && at + half <= right).then(|| (at, text.clone()))
        })
}

/// Where the label of a run is centred: on the run without its mark.
fn run_middle(drawn: &Drawn) -> f64 {
    drawn.x + (drawn.width - MARK) / 2.0
}

fn captions(stretch: &Stretch, run: &Run) -> Vec<String> {
    let ran = match (stretch.ms, stretch.so_far) {
        (None, _) => String::new(),
        (Some(ms), true) => format!("{} so far", duration(ms)),
        (Some(ms), false) => format!("ran {}", duration(ms)),
    };
    let parts: Vec<&str> = [run.cause.as_str(), ran.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let mut captions = vec![parts.join(", ")];
    captions.extend(parts.iter().rev().map(|part| (*part).to_owned()));
    captions
}

fn caption_class(run: &Run) -> &'static str {
    match run.outcome {
        "failed" => "mid bad halo",
        "lost" | "orphaned" => "mid warn halo",
        "succeeded" => "mid good halo",
        _ => "mid halo",
    }
}

/// Gives stretches between runs their true length, where it fits.
pub(super) fn label_stretches(drawing: &mut Drawing) {
    let mut edge = 0.0;
    let mut labels = Vec::new();
    for drawn in &drawing.stretches {
        let Some(ms) = drawn.stretch.ms else { continue };
        let word = match &drawn.stretch.kind {
            Kind::Run(_) => continue,
            Kind::Waited => "waited",
            Kind::Backoff if drawn.stretch.so_far => "backoff",
            // The scheduler's delay is part of the stretch, but not of the policy's backoff.
            Kind::Backoff => "retried after",
            Kind::Rest(word) => word,
        };
        let length = duration(ms);
        let so_far = if drawn.stretch.so_far { " so far" } else { "" };
        let texts = [
            format!("{word} {length}{so_far}"),
            format!("{length}{so_far}"),
            length,
        ];
        let Some(text) = fitting(&texts, drawn.width + 16.0, 5.8) else {
            continue;
        };
        let half = text_width(&text, 5.8) / 2.0;
        let middle = (drawn.x + drawn.width / 2.0).max(half + 1.0);
        if middle - half >= edge {
            edge = middle + half + 5.0;
            labels.push(label(middle, 106.0, "tk mid", text));
        }
    }
    drawing.labels.append(&mut labels);
}

pub(super) fn label_moments(drawing: &mut Drawing) {
    let mut edge = 0.0;
    let mut labels = Vec::new();
    for (index, (x, moment)) in drawing.moments.iter().enumerate() {
        let next = drawing
            .moments
            .get(index + 1)
            .map_or(drawing.width, |(x, _)| *x);
        let start = x + 12.0;
        let width = text_width(&moment.caption, 6.4);
        let fits = start + width + 10.0 < next || next >= drawing.width;
        if start >= edge && fits && start + width < drawing.width {
            edge = start + width + 8.0;
            let class = match moment.kind {
                MomentKind::Failure => "lb bad",
                _ => "lb",
            };
            labels.push(label(start, 15.0, class, moment.caption.clone()));
        }
    }
    drawing.labels.append(&mut labels);
}

/// Times below the line, where they do not collide: the date stands with the first one, and again
/// where the day changes.
pub(super) fn ticks(drawing: &mut Drawing, steps: &[Step], now: Option<Instant>) {
    let mut wished: Vec<(f64, Instant)> = Vec::new();
    for drawn in &drawing.stretches {
        let begins = matches!(drawn.stretch.kind, Kind::Run(_)) || wished.is_empty();
        if begins {
            wished.push((drawn.x, drawn.stretch.from));
        }
    }
    let flag = drawing.now_x;
    let past = wished.len();
    for (step, (x, _)) in steps.iter().zip(&drawing.steps) {
        wished.push((*x, step.due));
    }
    let mut day = None;
    let mut edge = 0.0;
    for (index, (x, at)) in wished.into_iter().enumerate() {
        let in_past = index < past;
        let date = (at.year(), at.ordinal());
        let dated = day != Some(date);
        // The plan is not exact to the second, and follows on the flag's own date.
        let text = tick_text(at, dated, in_past);
        let half = text_width(&text, 5.9) / 2.0;
        let (from, to) = if index == 0 && in_past {
            (x, x + 2.0 * half)
        } else {
            (x - half, x + half)
        };
        let under_flag =
            flag.is_some_and(|flag| in_past && to > flag - 62.0 || !in_past && from < flag + 4.0);
        if from >= edge && !under_flag && to <= drawing.width {
            edge = to + 8.0;
            day = Some(date);
            drawing.ticks.push((x, text));
        }
        if index + 1 == past
            && let Some(now) = now
        {
            day = Some((now.year(), now.ordinal()));
        }
    }
}

fn tick_text(at: Instant, dated: bool, exact: bool) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let time = if exact {
        format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
    } else {
        format!("{:02}:{:02}", at.hour(), at.minute())
    };
    if dated {
        let month = MONTHS
            .get(at.month0() as usize)
            .copied()
            .unwrap_or_default();
        format!("{} {month} {time}", at.day())
    } else {
        time
    }
}

fn fitting(texts: &[String], room: f64, per_char: f64) -> Option<String> {
    texts
        .iter()
        .find(|text| !text.is_empty() && text_width(text, per_char) <= room)
        .cloned()
}

pub(super) fn text_width(text: &str, per_char: f64) -> f64 {
    count(text.chars().count()) * per_char
}
