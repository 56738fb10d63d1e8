//! The line as SVG: geometry in attributes, colours by class.

use std::fmt::Write as _;

use leptos::prelude::*;

use super::RateLine;
use super::layout::{across, bounds, floor, grid, lowest, middle, runs, ticks, up, when};
use crate::charts::svg::{linked, number, scale_line};
use crate::components::number::thousands;
use crate::model::rates::{Rate, percent};

/// The widths that are drawn; a container query shows one of them.
const WIDTHS: [(&str, f64, f64, i64); 3] = [
    ("f-l", 1020.0, 220.0, 8),
    ("f-m", 640.0, 210.0, 7),
    ("f-s", 350.0, 190.0, 4),
];

/// Room for the numbers of the scale.
const LEFT: f64 = 46.0;
/// Room for the words above.
const TOP: f64 = 24.0;
/// Room for the words below.
const BOTTOM: f64 = 26.0;
/// Room for the usual and the last number.
const RIGHT: f64 = 84.0;
/// Two numbers beside the line lie at least so far apart.
const APART: f64 = 16.0;

/// The chart with its finding and the same numbers as a table.
pub fn rate_line(given: &RateLine<'_>) -> AnyView {
    let label = label(given);
    let drawings: Vec<_> = WIDTHS
        .into_iter()
        .map(|(class, width, height, ticks)| one(given, class, (width, height), ticks, &label))
        .collect();
    view! {
        <figure class="rate">
            <div class="fig">{drawings}</div>
            <figcaption class="sub">{given.finding.to_owned()} {scale_words(given)}</figcaption>
            {table(given)}
        </figure>
    }
    .into_any()
}

/// What those hear who do not see it.
fn label(given: &RateLine<'_>) -> String {
    let mut label = format!("{}. {}", given.subject, given.finding);
    if let Some(lowest) = lowest(given.points)
        && let Some(percent) = lowest.rate.percent()
    {
        let _ = write!(label, " Lowest: {percent} at {}.", when(given, lowest.at));
    }
    label
}

fn scale_words(given: &RateLine<'_>) -> Option<String> {
    let floor = floor(given);
    (floor > 0.0).then(|| {
        format!(
            " The scale begins at {}. The band is where the rate lies with 95 % certainty.",
            percent(floor)
        )
    })
}

/// What the pieces of one drawing share.
struct Frame {
    width: f64,
    base: f64,
    floor: f64,
}

impl Frame {
    fn x(&self, across: f64) -> f64 {
        LEFT + across * (self.width - LEFT - RIGHT)
    }

    fn y(&self, share: f64) -> f64 {
        self.base - up(share, self.floor) * (self.base - TOP)
    }
}

fn one(
    given: &RateLine<'_>,
    class: &'static str,
    (width, height): (f64, f64),
    most: i64,
    label: &str,
) -> AnyView {
    let frame = Frame {
        width,
        base: height - BOTTOM,
        floor: floor(given),
    };
    let hits = hits(given, &frame);
    let drawn = view! {
        {scale(&frame)}
        {below(given, &frame, most)}
        <path class="cband" d=band(given, &frame)></path>
        {usual(given, &frame)}
        {fallen(given, &frame)}
        <path class="cline" d=line(given, &frame)></path>
        {last(given, &frame)}
    };
    linked(
        class,
        (width, height),
        label.to_owned(),
        drawn.into_any(),
        hits,
    )
}

fn scale(frame: &Frame) -> AnyView {
    let lines: Vec<_> = grid(frame.floor)
        .into_iter()
        .map(|share| {
            let y = frame.y(share);
            let class = if share <= frame.floor { "axis" } else { "grid" };
            let words = percent((share * 1_000.0).round() / 1_000.0).replace(".0 %", " %");
            scale_line(class, (LEFT, frame.width - RIGHT), y, words)
        })
        .collect();
    // Two strokes through the axis say that the scale does not begin at nothing.
    let cut = (frame.floor > 0.0).then(|| {
        let (x, y) = (LEFT + 4.0, frame.base);
        let d = format!(
            "M{} {}l6 -8M{} {}l6 -8",
            number(x),
            number(y + 4.0),
            number(x + 5.0),
            number(y + 4.0)
        );
        view! { <path class="axis-cut" d=d></path> }
    });
    view! { {lines} {cut} }.into_any()
}

fn below(given: &RateLine<'_>, frame: &Frame, most: i64) -> AnyView {
    ticks(given, most)
        .into_iter()
        .map(|(at, words)| {
            let x = frame.x(across(given, at));
            let mark = format!("M{} {}v4", number(x.floor() + 0.5), number(frame.base));
            let class = if x > frame.width - 24.0 {
                "tk end"
            } else {
                "tk mid"
            };
            view! {
                <path class="axis" d=mark></path>
                <text class=class x=number(x) y=number(frame.base + 17.0)>{words}</text>
            }
        })
        .collect_view()
        .into_any()
}

/// Each run of steps: along the upper bounds, and back along the lower ones.
fn band(given: &RateLine<'_>, frame: &Frame) -> String {
    let mut d = String::new();
    for (first, last) in runs(given.points) {
        let corner = |index: usize, upper: bool| {
            let rate = given.points.get(index).map(|point| point.rate)?;
            let (low, high) = bounds(rate)?;
            let share = if upper { high } else { low };
            Some((frame.x(middle(given, index)), frame.y(share)))
        };
        let there = (first..=last).filter_map(|index| corner(index, true));
        let back = (first..=last)
            .rev()
            .filter_map(|index| corner(index, false));
        let mut letter = 'M';
        for (x, y) in there.chain(back) {
            // A step that stands alone is as wide as a stroke.
            let x = if first == last && letter == 'M' {
                x - 2.0
            } else {
                x
            };
            let _ = write!(d, "{letter}{} {}", number(x), number(y));
            letter = 'L';
        }
        if letter == 'L' {
            d.push('Z');
        }
    }
    d
}

fn line(given: &RateLine<'_>, frame: &Frame) -> String {
    let mut d = String::new();
    for (first, last) in runs(given.points) {
        for index in first..=last {
            let share = given.points.get(index).and_then(|point| point.rate.share());
            let Some(share) = share else { continue };
            let letter = if index == first { 'M' } else { 'L' };
            let (x, y) = (frame.x(middle(given, index)), frame.y(share));
            let _ = write!(d, "{letter}{} {}", number(x), number(y));
        }
        if first == last {
            d.push_str("h.01");
        }
    }
    d
}

fn usual(given: &RateLine<'_>, frame: &Frame) -> Option<AnyView> {
    let share = given.usual.share()?;
    let y = frame.y(share);
    let d = format!(
        "M{} {}H{}",
        number(LEFT),
        number(y),
        number(frame.width - RIGHT)
    );
    let words = format!("usual {}", given.usual.percent()?);
    Some(
        view! {
            <path class="cbase" d=d></path>
            <text class="lb" x=number(frame.width - RIGHT + 6.0) y=number(y + 4.0)>{words}</text>
        }
        .into_any(),
    )
}

fn fallen(given: &RateLine<'_>, frame: &Frame) -> Option<AnyView> {
    let since = given.fallen_since?;
    let x = frame.x(across(given, since)).floor() + 0.5;
    let d = format!(
        "M{} {}V{}",
        number(x),
        number(TOP - 6.0),
        number(frame.base)
    );
    let class = if x > frame.width / 2.0 {
        "lb-b bad end"
    } else {
        "lb-b bad"
    };
    let words = format!("fell, seen from {}", since.format("%H:%M"));
    Some(
        view! {
            <path class="cfall" d=d></path>
            <text class=class x=number(x) y=number(TOP - 10.0)>{words}</text>
        }
        .into_any(),
    )
}

/// The newest step, with its number.
fn last(given: &RateLine<'_>, frame: &Frame) -> Option<AnyView> {
    let (index, rate) = given
        .points
        .iter()
        .enumerate()
        .rev()
        .map(|(index, point)| (index, point.rate))
        .find(|(_, rate)| rate.denominator > 0)?;
    let (x, y) = (frame.x(middle(given, index)), frame.y(rate.share()?));
    let dot = if given.fallen_since.is_some() {
        "cdot-bad"
    } else {
        "cdot"
    };
    // The usual number keeps its place beside its line.
    let usual_y = given.usual.share().map(|share| frame.y(share));
    let words_y = match usual_y {
        Some(usual_y) if (y - usual_y).abs() < APART && y < usual_y => usual_y - APART,
        Some(usual_y) if (y - usual_y).abs() < APART => usual_y + APART,
        _ => y,
    };
    let class = if given.fallen_since.is_some() {
        "lb-b bad"
    } else {
        "lb-b"
    };
    let words_x = frame.width - RIGHT + 6.0;
    Some(
        view! {
            <circle class=dot cx=number(x) cy=number(y) r="3.5"></circle>
            <text class=class x=number(words_x) y=number(words_y + 4.0)>{rate.percent()?}</text>
        }
        .into_any(),
    )
}

fn hits(given: &RateLine<'_>, frame: &Frame) -> Vec<AnyView> {
    given
        .points
        .iter()
        .enumerate()
        .filter(|(_, point)| point.rate.denominator > 0)
        .filter_map(|(index, point)| {
            let href = point.href.clone()?;
            let end = given
                .points
                .get(index + 1)
                .map_or(given.end, |next| next.at);
            let (from, to) = (
                frame.x(across(given, point.at)),
                frame.x(across(given, end)),
            );
            let title = format!(
                "{}: {}. Leads to {}",
                when(given, point.at),
                in_words(point.rate)?,
                given.leads_to
            );
            Some(
                view! {
                    <a href=href tabindex="-1">
                        <title>{title}</title>
                        <rect
                            class="hit"
                            x=number(from)
                            y=number(TOP)
                            width=number(to - from)
                            height=number(frame.base - TOP)
                        ></rect>
                    </a>
                }
                .into_any(),
            )
        })
        .collect()
}

/// `98.1 %, 312 of 318`.
fn in_words(rate: Rate) -> Option<String> {
    Some(format!(
        "{}, {} of {}",
        rate.percent()?,
        thousands(i64::try_from(rate.numerator).ok()?),
        thousands(i64::try_from(rate.denominator).ok()?)
    ))
}

fn table(given: &RateLine<'_>) -> AnyView {
    let rows: Vec<_> = given
        .points
        .iter()
        .filter(|point| point.rate.denominator > 0)
        .filter_map(|point| {
            let (low, high) = point.rate.interval(Rate::Z_95)?.percents();
            let when = when(given, point.at);
            let when = match point.href.clone() {
                Some(href) => {
                    let title = given.leads_to.to_owned();
                    view! { <a class="job-n" href=href title=title>{when}</a> }.into_any()
                }
                None => when.into_any(),
            };
            Some(view! {
                <tr>
                    <th scope="row">{when}</th>
                    <td class="num">{point.rate.percent()?}</td>
                    <td class="num">{format!("{low}\u{2013}{high}")}</td>
                    <td class="num">{point.rate.numerator.to_string()}</td>
                    <td class="num">{point.rate.denominator.to_string()}</td>
                </tr>
            })
        })
        .collect();
    view! {
        <details class="fig-t">
            <summary>"The same as a table"</summary>
            <div class="scroll-x" role="region" aria-label=format!("{} as a table", given.subject) tabindex="0">
                <table class="tbl one">
                    <caption class="vh">{given.subject.to_owned()}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"From (UTC)"</th>
                            <th scope="col" class="num">"Rate"</th>
                            <th scope="col" class="num">"95 % between"</th>
                            <th scope="col" class="num">"Succeeded"</th>
                            <th scope="col" class="num">{given.counted.to_owned()}</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::super::RatePoint;
    use super::*;
    use crate::model::testing::at;

    #[test]
    fn a_line_tells_its_finding_and_its_lowest_step() {
        let point = |when: &str, of: (u64, u64)| RatePoint {
            at: at(when),
            rate: Rate::new(of.0, of.1),
            href: Some(format!("/jobs?from={when}")),
        };
        let points = [
            point("2026-11-27T10:00:00Z", (99, 100)),
            point("2026-11-27T11:00:00Z", (0, 0)),
            point("2026-11-27T12:00:00Z", (68, 100)),
        ];
        let html = rate_line(&RateLine {
            points: &points,
            end: at("2026-11-27T13:00:00Z"),
            usual: Rate::new(98, 100),
            fallen_since: Some(at("2026-11-27T12:00:00Z")),
            subject: "First-attempt success",
            finding: "It fell to 68 %.",
            counted: "First attempts",
            leads_to: "jobs of that time",
        })
        .to_html();
        let label = "aria-label=\"First-attempt success. It fell to 68 %. \
                     Lowest: 68.0 % at 27 Nov, 12:00.\"";
        assert!(html.contains(label), "{html}");
        assert!(html.contains("The scale begins at 60.0 %."), "{html}");
        assert!(html.contains("fell, seen from 12:00"), "{html}");
        // Three drawings, each with two steps that lead to jobs, and the same two in the table.
        assert_eq!(html.matches("class=\"hit\"").count(), 6);
        let title = "27 Nov, 12:00: 68.0 %, 68 of 100. Leads to jobs of that time</title>";
        assert_eq!(html.matches(title).count(), 3);
        assert_eq!(html.matches(" title=\"jobs of that time\"").count(), 2);
        assert_eq!(html.matches("<tr>").count(), 3);
        assert!(!html.contains("style="));
    }

    #[test]
    fn nothing_makes_an_empty_drawing() {
        let html = rate_line(&RateLine {
            points: &[],
            end: at("2026-11-27T13:00:00Z"),
            usual: Rate::default(),
            fallen_since: None,
            subject: "First-attempt success",
            finding: "No first attempt ended.",
            counted: "First attempts",
            leads_to: "jobs of that time",
        })
        .to_html();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}
