//! The wait before each retry of a policy, on a logarithmic scale, and all waits so far.

use std::fmt::Write as _;

use leptos::prelude::*;

use super::svg::{length, number, scale_line, units};
use crate::model::policy::Band;
use crate::model::words;

/// One retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryBand {
    /// Its number.
    pub retry: u32,
    /// The wait before it.
    pub wait: Band,
    /// All waits up to it.
    pub total: Band,
}

/// The widths that are drawn; a container query shows one of them.
const WIDTHS: [(&str, f64); 2] = [("f-m", 560.0), ("f-s", 350.0)];
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 12.0;
const BASE: f64 = 212.5;
/// Lines of the scale, in milliseconds.
const LINES: [i64; 14] = [
    1,
    10,
    100,
    1_000,
    10_000,
    60_000,
    600_000,
    3_600_000,
    18_000_000,
    86_400_000,
    864_000_000,
    8_640_000_000,
    86_400_000_000,
    864_000_000_000,
];

/// At most so many retries are drawn.
pub const DRAWN: usize = 50;

/// The chart of at most [`DRAWN`] retries; `label` tells the finding. Nothing without retries.
pub fn bands(retries: &[RetryBand], label: &str) -> Option<AnyView> {
    let retries = retries.get(..DRAWN.min(retries.len())).unwrap_or(retries);
    Scale::of(retries, 0.0)?;
    let drawings: Vec<_> = WIDTHS
        .into_iter()
        .filter_map(|(class, width)| one(retries, label, class, width))
        .collect();
    Some(view! { <div class="fig">{drawings}</div> }.into_any())
}

fn one(retries: &[RetryBand], label: &str, class: &'static str, width: f64) -> Option<AnyView> {
    let scale = Scale::of(retries, width)?;
    let room = (width - LEFT - RIGHT) / units(retries.len());
    let middle = |index: usize| LEFT + room * (units(index) + 0.5);
    let every = retries.len().div_ceil(16);
    let bars: Vec<_> = retries
        .iter()
        .enumerate()
        .map(|(index, retry)| {
            let x = middle(index);
            let (low, high) = (scale.y(retry.wait.min_ms), scale.y(retry.wait.max_ms));
            let thick = (room * 0.55).clamp(3.0, 18.0);
            let tall = (low - high).max(3.0);
            let stem = format!("M{} {}V{}", number(x), number(high + tall), number(BASE));
            let name = (index % every == 0).then(|| {
                view! {
                    <text class="tk mid" x=number(x) y=number(BASE + 16.0)>
                        {retry.retry.to_string()}
                    </text>
                }
            });
            view! {
                <path class="sim-s" d=stem></path>
                <rect
                    class="sim-b"
                    x=number(x - thick / 2.0)
                    y=number(high)
                    width=number(thick)
                    height=number(tall)
                ></rect>
                {name}
            }
        })
        .collect();
    Some(
        view! {
            <svg
                class=format!("chart fluid {class}")
                width=number(width)
                height=number(HEIGHT)
                viewBox=format!("0 0 {} {}", number(width), number(HEIGHT))
                role="img"
                aria-label=label.to_owned()
            >
                {scale.lines()}
                <path class="cband" d=totals(retries, &scale, middle)></path>
                {bars}
                {totals_words(retries, &scale, middle)}
                <text class="tk mid" x=number((LEFT + width - RIGHT) / 2.0) y=number(HEIGHT - 4.0)>
                    "retry"
                </text>
            </svg>
        }
        .into_any(),
    )
}

/// Along the greatest totals, and back along the least ones.
fn totals(retries: &[RetryBand], scale: &Scale, middle: impl Fn(usize) -> f64) -> String {
    let mut d = String::new();
    let there = retries
        .iter()
        .enumerate()
        .map(|(index, retry)| (middle(index), scale.y(retry.total.max_ms) - 1.0));
    let back = retries
        .iter()
        .enumerate()
        .rev()
        .map(|(index, retry)| (middle(index), scale.y(retry.total.min_ms) + 1.0));
    for (place, (x, y)) in there.chain(back).enumerate() {
        let letter = if place == 0 { 'M' } else { 'L' };
        let _ = write!(d, "{letter}{} {}", number(x), number(y));
    }
    d.push('Z');
    d
}

/// The words of the band, where there is room left of its middle.
fn totals_words(
    retries: &[RetryBand],
    scale: &Scale,
    middle: impl Fn(usize) -> f64,
) -> Option<AnyView> {
    let index = retries.len() / 2;
    let retry = retries.get(index).filter(|_| retries.len() >= 4)?;
    let (x, y) = (middle(index) - 10.0, scale.y(retry.total.max_ms) - 6.0);
    Some(
        view! { <text class="lb end halo" x=number(x) y=number(y)>"total so far"</text> }
            .into_any(),
    )
}

/// A logarithmic scale; 0 lies at its beginning.
struct Scale {
    low: f64,
    high: f64,
    width: f64,
}

impl Scale {
    fn of(retries: &[RetryBand], width: f64) -> Option<Self> {
        let least = retries.iter().map(|retry| retry.wait.min_ms).min()?;
        let most = retries.iter().map(|retry| retry.total.max_ms).max()?;
        let below = |line: &&i64| **line <= least.max(1);
        let low = LINES.iter().rfind(below).copied().unwrap_or(1);
        let high = LINES.iter().find(|line| **line >= most).copied();
        Some(Self {
            low: length(low).log10(),
            width,
            high: length(high.unwrap_or(most).max(low.saturating_mul(10))).log10(),
        })
    }

    fn y(&self, ms: i64) -> f64 {
        let at = length(ms.max(1)).log10();
        let up = ((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        BASE - up * (BASE - TOP)
    }

    fn lines(&self) -> AnyView {
        let shown = LINES.iter().filter(|line| {
            let at = length(**line).log10();
            at >= self.low - 1e-9 && at <= self.high + 1e-9
        });
        shown
            .map(|line| {
                let y = self.y(*line);
                let class = if y > BASE - 0.6 { "axis" } else { "grid" };
                let ends = (LEFT, self.width - RIGHT);
                scale_line(class, ends, y, words::duration(*line))
            })
            .collect_view()
            .into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(retry: u32, wait: (i64, i64), total: (i64, i64)) -> RetryBand {
        let band = |(min_ms, max_ms)| Band { min_ms, max_ms };
        RetryBand {
            retry,
            wait: band(wait),
            total: band(total),
        }
    }

    #[test]
    fn a_drawing_has_every_retry_and_its_scale() {
        let retries = [
            retry(1, (15_000, 44_000), (15_000, 44_000)),
            retry(2, (16_000, 74_000), (31_000, 118_000)),
        ];
        let html = bands(&retries, "from 15 s to 2 min").unwrap().to_html();
        assert!(html.contains("aria-label=\"from 15 s to 2 min\""), "{html}");
        // Each in two widths.
        assert_eq!(html.matches("class=\"sim-b\"").count(), 2 * 2);
        // From 10 s to 10 min, with a line at a minute between.
        for line in [">10 s<", ">1 min<", ">10 min<"] {
            assert!(html.contains(line), "{line} {html}");
        }
        assert!(!html.contains(">1 h<") && !html.contains(">1 s<"), "{html}");
    }

    #[test]
    fn no_wait_and_endless_waits_are_drawn_too() {
        let odd = [
            retry(1, (0, 0), (0, 0)),
            retry(2, (0, i64::MAX), (0, i64::MAX)),
        ];
        let html = bands(&odd, "odd").unwrap().to_html();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        assert!(bands(&[], "none").is_none());
        let many: Vec<_> = (1..=200).map(|n| retry(n, (1, 1), (1, 1))).collect();
        let html = bands(&many, "many").unwrap().to_html();
        assert_eq!(html.matches("class=\"sim-b\"").count(), 2 * DRAWN);
    }
}
