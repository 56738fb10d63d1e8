//! A rate or counts over time, as small as a word.

use std::fmt::Write as _;

use leptos::prelude::*;

use super::svg::{number, part, units};
use crate::model::rates::Rate;

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As usual.
    Plain,
    /// It has fallen.
    Bad,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "spark",
            Self::Bad => "spark bad",
        }
    }
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Spark<'a> {
    /// The rate of each step; steps without any are gaps.
    pub steps: &'a [Rate],
    /// What is usual, drawn as a dashed line.
    pub usual: Rate,
    /// How it is meant.
    pub tone: Tone,
    /// The finding, for those who do not see it; `None` where the words beside tell it.
    pub label: Option<&'a str>,
}

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 30.0;
/// Room on all sides: the last point is a dot.
const ROOM: f64 = 3.0;
/// The drawing shows at least this much of the scale, so that noise does not look like drama.
const LEAST: f64 = 0.10;

/// The line.
pub fn spark(given: &Spark<'_>) -> AnyView {
    let shares: Vec<Option<f64>> = given.steps.iter().map(|rate| rate.share()).collect();
    let scale = scale(&shares, given.usual.share());
    let usual = given.usual.share().map(|share| {
        let d = format!(
            "M{} {}H{}",
            number(ROOM),
            number(y(share, scale)),
            number(WIDTH - ROOM)
        );
        view! { <path class="sp-base" d=d></path> }
    });
    let last = shares
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, share)| Some((index, (*share)?)))
        .map(|(index, share)| {
            let (cx, cy) = (x(index, shares.len()), y(share, scale));
            view! { <circle class="sp-dot" cx=number(cx) cy=number(cy) r="2.25"></circle> }
        });
    view! {
        <svg
            class=given.tone.class()
            width=number(WIDTH)
            height=number(HEIGHT)
            viewBox=format!("0 0 {} {}", number(WIDTH), number(HEIGHT))
            role=given.label.map(|_| "img")
            aria-label=given.label.map(str::to_owned)
            aria-hidden=given.label.is_none().then_some("true")
        >
            {usual}
            <path class="sp-line" d=line(&shares, scale)></path>
            {last}
        </svg>
    }
    .into_any()
}

/// Counts as bars from nothing up, on a scale of their own. Steps that were not counted have
/// neither a bar nor a ground to stand on. Words beside it tell the finding: it is not spoken.
pub fn tally(counts: &[Option<i64>], tone: Tone) -> AnyView {
    let most = counts.iter().flatten().copied().max().unwrap_or(0);
    let step = WIDTH / units(counts.len().max(1));
    let base = HEIGHT - 1.0;
    let bars: Vec<_> = counts
        .iter()
        .enumerate()
        .filter_map(|(index, count)| Some((index, count.filter(|count| *count > 0)?)))
        .map(|(index, count)| {
            let tall = (part(count, most) * (base - ROOM)).max(2.0);
            view! {
                <rect
                    class="sp-bar"
                    x=number(units(index) * step)
                    y=number(base - tall)
                    width=number(step - 1.0)
                    height=number(tall)
                ></rect>
            }
        })
        .collect();
    let ground = counts.iter().position(Option::is_some).map(|first| {
        let d = format!(
            "M{} {}H{}",
            number(units(first) * step),
            number(base + 0.5),
            number(WIDTH)
        );
        view! { <path class="sp-mark" d=d></path> }
    });
    view! {
        <svg
            class=tone.class()
            width=number(WIDTH)
            height=number(HEIGHT)
            viewBox=format!("0 0 {} {}", number(WIDTH), number(HEIGHT))
            aria-hidden="true"
        >
            {bars}
            {ground}
        </svg>
    }
    .into_any()
}

fn x(index: usize, count: usize) -> f64 {
    let last = units(count.saturating_sub(1)).max(1.0);
    ROOM + units(index) / last * (WIDTH - 2.0 * ROOM)
}

fn y(share: f64, (low, high): (f64, f64)) -> f64 {
    let part = ((share - low) / (high - low)).clamp(0.0, 1.0);
    HEIGHT - ROOM - part * (HEIGHT - 2.0 * ROOM)
}

/// The least and the greatest share that the drawing shows.
fn scale(shares: &[Option<f64>], usual: Option<f64>) -> (f64, f64) {
    let all = || shares.iter().flatten().copied().chain(usual);
    let (low, high) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
    if high < low {
        return (0.0, 1.0);
    }
    let lack = (LEAST - (high - low)).max(0.0) / 2.0;
    // Stretched on both sides, and pushed back where that goes beyond 0 or 1.
    let low = (low - lack).clamp(0.0, 1.0 - LEAST);
    let high = (high + lack).max(low + LEAST).min(1.0);
    (low.min(high - LEAST).max(0.0), high)
}

/// The path: a stroke for each run of steps, a point where a step stands alone.
fn line(shares: &[Option<f64>], scale: (f64, f64)) -> String {
    let mut d = String::new();
    let mut drawing = false;
    for (index, share) in shares.iter().enumerate() {
        let Some(share) = share else {
            drawing = false;
            continue;
        };
        let (x, y) = (number(x(index, shares.len())), number(y(*share, scale)));
        let alone = !drawing && shares.get(index + 1).copied().flatten().is_none();
        let letter = if drawing { 'L' } else { 'M' };
        let _ = write!(d, "{letter}{x} {y}");
        if alone {
            d.push_str("h.01");
        }
        drawing = true;
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_never_too_fine_and_never_leaves_zero_to_one() {
        let close = |got: (f64, f64), want: (f64, f64)| {
            assert!(
                (got.0 - want.0).abs() < 1e-9 && (got.1 - want.1).abs() < 1e-9,
                "{got:?}"
            );
        };
        close(scale(&[Some(0.5), Some(0.9)], None), (0.5, 0.9));
        close(scale(&[Some(0.999), Some(1.0)], None), (0.9, 1.0));
        close(scale(&[Some(0.0), None], Some(0.01)), (0.0, 0.1));
        close(scale(&[Some(0.5)], None), (0.45, 0.55));
        close(scale(&[None], None), (0.0, 1.0));
    }

    #[test]
    fn steps_without_any_are_gaps() {
        let d = line(&[Some(1.0), None, Some(0.5), Some(0.0)], (0.0, 1.0));
        assert_eq!(d, "M3 3h.01M79 15L117 27");
    }

    #[test]
    fn counts_stand_on_the_ground_of_what_was_counted() {
        let html = tally(&[None, Some(0), Some(1), Some(4)], Tone::Bad).to_html();
        assert!(html.contains("aria-hidden=\"true\""), "{html}");
        // Four steps of 30 px; 4 is the whole 26 px, and 1 a quarter.
        assert_eq!(html.matches("sp-bar").count(), 2);
        assert!(
            html.contains("x=\"60\" y=\"22.5\" width=\"29\" height=\"6.5\""),
            "{html}"
        );
        assert!(
            html.contains("x=\"90\" y=\"3\" width=\"29\" height=\"26\""),
            "{html}"
        );
        assert!(html.contains("d=\"M30 29.5H120\""), "{html}");
        let nothing = tally(&[], Tone::Plain).to_html();
        assert!(!nothing.contains("<path"), "{nothing}");
    }

    #[test]
    fn a_line_without_a_label_is_not_spoken() {
        let html = spark(&Spark {
            steps: &[Rate::new(1, 2)],
            usual: Rate::new(9, 10),
            tone: Tone::Bad,
            label: None,
        })
        .to_html();
        assert!(html.contains("aria-hidden=\"true\""), "{html}");
        assert!(!html.contains("role="), "{html}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let html = spark(&Spark {
            steps: &[],
            usual: Rate::default(),
            tone: Tone::Plain,
            label: Some("no first attempt ended"),
        })
        .to_html();
        assert!(
            html.contains("aria-label=\"no first attempt ended\""),
            "{html}"
        );
        assert!(
            !html.contains("sp-dot") && !html.contains("sp-base"),
            "{html}"
        );
    }
}
