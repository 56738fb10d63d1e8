//! The bars as SVG: geometry in attributes, colours by class.

use leptos::prelude::*;

use super::layout::{Scale, count, highest, highest_below, short, total};
use super::{Bar, Bars, Part};
use crate::charts::svg::{Lead, linked, number, scale_line, units};
use crate::components::number::thousands;

/// The widths that are drawn; a container query shows one of them.
const WIDTHS: [(&str, f64, f64); 2] = [("g-s", 376.0, 176.0), ("g-l", 520.0, 196.0)];

/// Room for the numbers of the scale.
const LEFT: f64 = 30.0;
/// Room for the number of the highest bar.
const TOP: f64 = 18.0;
/// Room for the times below.
const BOTTOM: f64 = 34.0;
/// The row below with its own scale, and the gap above it.
const BELOW: f64 = 26.0;
const GAP: f64 = 14.0;

/// The bars with the same numbers as a table. The page needs [`crate::charts::svg::hatch`] where
/// a part is hatched.
pub fn bars(given: &Bars<'_>) -> AnyView {
    let drawings: Vec<_> = WIDTHS
        .into_iter()
        .map(|(class, width, height)| one(given, class, width, height))
        .collect();
    view! {
        <div class="fig">{drawings}</div>
        {key(given)}
        {table(given)}
    }
    .into_any()
}

/// What the pieces of one drawing share.
struct Frame {
    width: f64,
    height: f64,
    /// Where the bars stand.
    base: f64,
    /// Where those below stand.
    below: f64,
    step: f64,
    scale: Scale,
    below_scale: Scale,
}

impl Frame {
    fn of(given: &Bars<'_>, width: f64, height: f64) -> Self {
        let bottom = height - BOTTOM;
        let base = if given.below.is_some() {
            bottom - BELOW - GAP
        } else {
            bottom
        };
        Self {
            width,
            height,
            base,
            below: bottom,
            step: (width - LEFT) / units(given.bars.len().max(1)),
            scale: Scale::of(highest(given), 3),
            below_scale: Scale::of(highest_below(given), 1),
        }
    }

    fn x(&self, index: usize) -> f64 {
        LEFT + units(index) * self.step
    }

    fn inset(&self) -> f64 {
        (self.step * 0.1).clamp(1.0, 3.0)
    }

    fn room(&self) -> f64 {
        self.base - TOP
    }
}

fn one(given: &Bars<'_>, class: &'static str, width: f64, height: f64) -> AnyView {
    let frame = Frame::of(given, width, height);
    let below = given.below.as_ref().map(|part| below(given, &frame, part));
    let hits = hits(given, &frame);
    let drawn = view! {
        {grid(&frame)}
        {given
            .bars
            .iter()
            .enumerate()
            .map(|(index, bar)| stack(given, &frame, index, bar))
            .collect_view()}
        {below}
        {times(given, &frame)}
    };
    linked(
        class,
        (width, height),
        given.label.clone(),
        drawn.into_any(),
        hits,
    )
}

fn grid(frame: &Frame) -> AnyView {
    frame
        .scale
        .lines()
        .map(|value| {
            let y = frame.base - frame.scale.height(value, frame.room());
            let class = if value == 0 { "axis" } else { "grid" };
            scale_line(class, (LEFT, frame.width), y, short(value))
        })
        .collect_view()
        .into_any()
}

fn stack(given: &Bars<'_>, frame: &Frame, index: usize, bar: &Bar) -> AnyView {
    let (x, inset) = (frame.x(index), frame.inset());
    let mut y = frame.base;
    let rects: Vec<_> = given
        .parts
        .iter()
        .enumerate()
        .filter(|(part, _)| count(bar, *part) > 0)
        .map(|(part, Part { class, .. })| {
            let tall = frame.scale.height(count(bar, part), frame.room());
            y -= tall;
            view! {
                <rect
                    class=*class
                    x=number(x + inset)
                    y=number(y)
                    width=number(frame.step - 2.0 * inset)
                    height=number(tall)
                ></rect>
            }
        })
        .collect();
    let all = total(given, bar);
    let words = (given.numbered && all > 0).then(|| {
        let class = if all == highest(given) {
            "lb-b mid"
        } else {
            "tk mid"
        };
        view! {
            <text class=class x=number(x + frame.step / 2.0) y=number(y - 4.0)>{short(all)}</text>
        }
    });
    view! { {rects} {words} }.into_any()
}

/// The row below, on its own scale.
fn below(given: &Bars<'_>, frame: &Frame, part: &Part) -> AnyView {
    let inset = frame.inset();
    let which = given.parts.len();
    let rects: Vec<_> = given
        .bars
        .iter()
        .enumerate()
        .filter(|(_, bar)| count(bar, which) > 0)
        .map(|(index, bar)| {
            let tall = frame.below_scale.height(count(bar, which), BELOW);
            view! {
                <rect
                    class=part.class
                    x=number(frame.x(index) + inset)
                    y=number(frame.below - tall)
                    width=number(frame.step - 2.0 * inset)
                    height=number(tall)
                ></rect>
            }
        })
        .collect();
    let line = |class, y: f64, value: i64| scale_line(class, (LEFT, frame.width), y, short(value));
    view! {
        {line("grid", frame.below - BELOW, frame.below_scale.top)}
        {rects}
        {line("axis", frame.below, 0)}
    }
    .into_any()
}

/// The times below, at the edges of bars.
fn times(given: &Bars<'_>, frame: &Frame) -> AnyView {
    let edges = given
        .bars
        .iter()
        .map(|bar| bar.from)
        .chain([given.end])
        .enumerate()
        .step_by(given.ticks.max(1));
    edges
        .map(|(index, at)| {
            let x = frame.x(index);
            let class = match index {
                0 => "tk",
                last if last == given.bars.len() => "tk end",
                _ => "tk mid",
            };
            let tick = format!("M{} {}v4", number(x.floor() + 0.5), number(frame.below));
            view! {
                <path class="axis" d=tick></path>
                <text class=class x=number(x) y=number(frame.height - BOTTOM + 16.0)>
                    {at.format("%H:%M").to_string()}
                </text>
            }
        })
        .collect_view()
        .into_any()
}

/// What can be pointed at: each bar, and each below, as far as their jobs can be listed. Their
/// links stand in the table for everybody else.
fn hits(given: &Bars<'_>, frame: &Frame) -> Vec<AnyView> {
    let hit = |index: usize, bar: &Bar, lead: Option<&Lead>, (y, tall): (f64, f64)| {
        let lead = lead?;
        let title = format!("{}. Leads to {}", title(given, bar), lead.to);
        Some(
            view! {
                <a href=lead.href.clone() tabindex="-1">
                    <title>{title}</title>
                    <rect
                        class="hit"
                        x=number(frame.x(index))
                        y=number(y)
                        width=number(frame.step)
                        height=number(tall)
                    ></rect>
                </a>
            }
            .into_any(),
        )
    };
    let which = given.parts.len();
    let mut all = Vec::new();
    for (index, bar) in given.bars.iter().enumerate() {
        if total(given, bar) > 0 {
            all.extend(hit(index, bar, bar.whole.as_ref(), (TOP, frame.room())));
        }
        if count(bar, which) > 0 {
            let lead = bar.leads.get(which).and_then(Option::as_ref);
            all.extend(hit(index, bar, lead, (frame.below - BELOW, BELOW)));
        }
    }
    all
}

/// `14:00: 3,034 first time, 608 after a retry, 38 gave up`.
fn title(given: &Bars<'_>, bar: &Bar) -> String {
    let parts: Vec<String> = given
        .parts
        .iter()
        .chain(&given.below)
        .enumerate()
        .map(|(part, named)| format!("{} {}", thousands(count(bar, part)), named.words))
        .collect();
    format!("{}: {}", bar.from.format("%H:%M"), parts.join(", "))
}

fn key(given: &Bars<'_>) -> AnyView {
    let items: Vec<_> = given
        .parts
        .iter()
        .chain(&given.below)
        .enumerate()
        .map(|(part, named)| {
            let sum: i64 = given.bars.iter().map(|bar| count(bar, part)).sum();
            view! {
                <span>
                    <svg width="12" height="12" aria-hidden="true">
                        <rect class=named.class x=".5" y=".5" width="11" height="11"></rect>
                    </svg>
                    {format!("{} {}", thousands(sum), named.words)}
                </span>
            }
        })
        .collect();
    view! { <p class="key">{items}</p> }.into_any()
}

fn table(given: &Bars<'_>) -> AnyView {
    let named: Vec<&Part> = given.parts.iter().chain(&given.below).collect();
    let heads: Vec<_> = named
        .iter()
        .map(|part| view! { <th scope="col" class="num">{part.words}</th> })
        .collect();
    let rows: Vec<_> = given
        .bars
        .iter()
        .map(|bar| {
            let cells: Vec<_> = (0..named.len())
                .map(|part| {
                    let words = thousands(count(bar, part));
                    let lead = bar.leads.get(part).and_then(Option::as_ref);
                    let inner = match lead.filter(|_| count(bar, part) > 0) {
                        Some(Lead { href, to }) => {
                            view! { <a href=href.clone() title=to.clone()>{words}</a> }.into_any()
                        }
                        None => words.into_any(),
                    };
                    view! { <td class="num">{inner}</td> }
                })
                .collect();
            let from = bar.from.format("%H:%M").to_string();
            view! {
                <tr>
                    <th scope="row">{from}</th>
                    {cells}
                </tr>
            }
        })
        .collect();
    view! {
        <details class="fig-t">
            <summary>"The same as a table"</summary>
            <table class="tbl one">
                <thead>
                    <tr><th scope="col">{given.step}</th>{heads}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::model::state::Instant;
    use crate::pages::document::testing::{attr, rendered, texts};

    fn at(hour: i64) -> Instant {
        let start: Instant = "2026-11-27T12:00:00Z".parse().unwrap();
        start + TimeDelta::hours(hour)
    }

    fn lead(href: String) -> Lead {
        Lead {
            href,
            to: "jobs of this hour".into(),
        }
    }

    fn drawn(counts: [[i64; 3]; 3]) -> scraper::Html {
        let bars_given: Vec<Bar> = counts
            .into_iter()
            .zip(0..)
            .map(|(counts, hour)| Bar {
                from: at(hour),
                counts: counts.to_vec(),
                whole: Some(lead(format!("/h{hour}"))),
                leads: vec![
                    Some(lead(format!("/h{hour}"))),
                    None,
                    Some(lead(format!("/f{hour}"))),
                ],
            })
            .collect();
        rendered(move || {
            let parts = [
                Part {
                    class: "b-a1",
                    words: "first time",
                },
                Part {
                    class: "b-a2",
                    words: "after a retry",
                },
            ];
            bars(&Bars {
                parts: &parts,
                below: Some(Part {
                    class: "b-gu",
                    words: "gave up",
                }),
                bars: &bars_given,
                end: at(3),
                ticks: 3,
                numbered: true,
                label: "Finished per hour".into(),
                step: "Hour",
            })
        })
    }

    #[test]
    fn bars_are_stacked_from_the_bottom_and_keep_their_scale() {
        let html = drawn([[30, 10, 0], [0, 0, 2], [0, 0, 0]]);
        // 376 x 176 with a row below: the bars stand at 102 and have 84 px for 40.
        let small = |class: &str, name: &str| attr(&html, &format!(".g-s rect.{class}"), name);
        assert_eq!(small("b-a1", "height"), ["63"]);
        assert_eq!(small("b-a1", "y"), ["39"]);
        assert_eq!(small("b-a2", "height"), ["21"]);
        assert_eq!(small("b-a2", "y"), ["18"]);
        // Below: 2 of 2 on 26 px.
        assert_eq!(small("b-gu", "height"), ["26"]);
        assert_eq!(texts(&html, ".g-s .lb-b"), ["40"]);
    }

    #[test]
    fn the_table_says_the_same_and_leads_to_the_jobs() {
        let html = drawn([[3_034, 608, 38], [1, 0, 0], [0, 0, 2]]);
        assert_eq!(
            texts(&html, ".fig-t td"),
            ["3,034", "608", "38", "1", "0", "0", "0", "0", "2"]
        );
        assert_eq!(
            attr(&html, ".fig-t td a", "href"),
            ["/h0", "/f0", "/h1", "/f2"]
        );
        assert_eq!(
            attr(&html, ".g-s .hits a", "href"),
            ["/h0", "/f0", "/h1", "/f2"]
        );
        assert_eq!(
            texts(&html, ".key span"),
            ["3,035 first time", "608 after a retry", "40 gave up"]
        );
        assert_eq!(
            texts(&html, ".g-s .hits a title")[0],
            "12:00: 3,034 first time, 608 after a retry, 38 gave up. Leads to jobs of this hour"
        );
        assert_eq!(attr(&html, ".fig-t td a", "title")[0], "jobs of this hour");
        assert_eq!(texts(&html, ".g-s .tk.end").last().unwrap(), "15:00");
    }

    #[test]
    fn no_bar_at_all_is_drawn_too() {
        let html = drawn([[0, 0, 0]; 3]);
        assert!(attr(&html, ".g-s rect.b-a1", "height").is_empty());
        assert!(attr(&html, ".g-s .hits a", "href").is_empty());
    }
}
