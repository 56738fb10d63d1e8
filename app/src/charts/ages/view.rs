//! The bars as SVG: geometry in attributes, colours by class.

use leptos::prelude::*;

use super::Ages;
use super::layout::{
    BUCKETS, Zone, axis, finding, height, label, position, sums, window_matters, words, zone,
};
use crate::charts::svg::{hatch, number, scale_line, units};
use crate::components::number::thousands;
use crate::components::text::shown;
use crate::links::claims::cutoff_words;

/// The widths that are drawn; a container query shows one of them.
const WIDTHS: [(&str, f64, f64); 3] = [
    ("h-x", 1060.0, 220.0),
    ("h-w", 772.0, 210.0),
    ("h-n", 350.0, 190.0),
];

/// Room for the numbers of the axis.
const LEFT: f64 = 34.0;
/// Where the bars' ground begins: above it stand the marks' words.
const TOP: f64 = 34.0;
/// Room below for the buckets' words.
const BOTTOM: f64 = 38.0;

/// The chart with its finding and the same numbers as a table.
pub fn ages(given: &Ages<'_>) -> AnyView {
    let finding = finding(given);
    let drawings: Vec<_> = WIDTHS
        .into_iter()
        .map(|(class, width, height)| one(given, class, width, height, &finding))
        .collect();
    let rows: Vec<_> = (0..BUCKETS)
        .map(|bucket| {
            let zone = match zone(given, bucket) {
                Zone::Held => "younger than the cut-off",
                Zone::Stale => "stale",
                Zone::Past => "stale, past the key window",
            };
            view! {
                <tr>
                    <th scope="row">{words(bucket)}</th>
                    <td class="num">{thousands(count(given, bucket))}</td>
                    <td>{zone}</td>
                </tr>
            }
        })
        .collect();
    let ageless = (given.ageless > 0).then(|| {
        view! {
            <tr>
                <th scope="row">"not known"</th>
                <td class="num">{thousands(given.ageless)}</td>
                <td>"no claim time that can be read, or one in the future"</td>
            </tr>
        }
    });
    view! {
        <figure class="ages">
            <div class="fig">{hatch()} {drawings}</div>
            <figcaption class="sub">{finding}</figcaption>
            <details class="ages-t">
                <summary>"The same as a table"</summary>
                <table class="tbl one">
                    <caption class="vh">"Sending claims by age"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Age"</th>
                            <th scope="col" class="num">"Claims"</th>
                            <th scope="col">"Means"</th>
                        </tr>
                    </thead>
                    <tbody>{rows} {ageless}</tbody>
                </table>
            </details>
        </figure>
    }
    .into_any()
}

fn count(given: &Ages<'_>, bucket: usize) -> i64 {
    given.counts.get(bucket).copied().unwrap_or(0)
}

/// What the pieces of one drawing share.
struct Frame {
    width: f64,
    base: f64,
    bucket: f64,
    narrow: bool,
}

impl Frame {
    fn x(&self, buckets: f64) -> f64 {
        LEFT + buckets * self.bucket
    }
}

fn one(given: &Ages<'_>, class: &'static str, width: f64, tall: f64, finding: &str) -> AnyView {
    let frame = Frame {
        width,
        base: tall - BOTTOM,
        bucket: (width - LEFT) / units(BUCKETS),
        narrow: width < 500.0,
    };
    let most = given.counts.iter().copied().max().unwrap_or(0);
    let (top, step) = axis(most);
    let id = format!("{class}-t");
    let column = given.column.map(|column| {
        let words = format!("age since {}, minutes then hours", shown(column));
        view! { <text class="tk" x=number(LEFT) y=number(tall - 4.0)>{words}</text> }
    });
    view! {
        <svg
            class=format!("chart fluid {class}")
            width=number(width)
            height=number(tall)
            viewBox=format!("0 0 {} {}", number(width), number(tall))
            role="img"
            aria-labelledby=id.clone()
        >
            <title id=id.clone()>{format!("Sending claims by age: {finding}")}</title>
            {grounds(given, &frame)}
            {grid(&frame, top, step)}
            {(0..BUCKETS).map(|bucket| bar(given, &frame, bucket, top)).collect_view()}
            {marks(given, &frame)}
            {captions(given, &frame, top)}
            {column}
        </svg>
    }
    .into_any()
}

/// The grounds of what is stale: within the window, and past it.
fn grounds(given: &Ages<'_>, frame: &Frame) -> AnyView {
    let rect = |class: &'static str, from: f64, to: f64| {
        (to > from).then(|| {
            view! {
                <rect
                    class=class
                    x=number(from)
                    y=number(TOP)
                    width=number(to - from)
                    height=number(frame.base - TOP)
                ></rect>
            }
        })
    };
    let cutoff = frame.x(position(given.cutoff_ms));
    let Some(window) = given.window_ms else {
        return rect("z-stale", cutoff, frame.width).into_any();
    };
    let past = frame.x(position(window.max(given.cutoff_ms)));
    view! { {rect("z-win", cutoff, past)} {rect("z-risk", past, frame.width)} }.into_any()
}

fn grid(frame: &Frame, top: i64, step: i64) -> AnyView {
    let lines = (0..)
        .map(|index| index * step)
        .take_while(|value| *value <= top)
        .map(|value| {
            let y = frame.base - height(value, top) * (frame.base - TOP - 16.0);
            let class = if value == 0 { "axis" } else { "grid" };
            scale_line(class, (LEFT, frame.width), y, short(value))
        })
        .collect_view();
    lines.into_any()
}

fn bar(given: &Ages<'_>, frame: &Frame, bucket: usize, top: i64) -> AnyView {
    let (left, middle) = (frame.x(units(bucket)), frame.x(units(bucket) + 0.5));
    let value = count(given, bucket);
    let inset = if frame.narrow { 3.5 } else { 6.5 };
    let (class, words) = match zone(given, bucket) {
        Zone::Held => ("b-a1", "tk mid"),
        Zone::Stale => ("b-hold", "lb-b mid"),
        Zone::Past => ("b-gave", "lb-b mid"),
    };
    let bar = (value > 0).then(|| {
        let upper = top_of(given, frame, bucket, top);
        view! {
            <rect
                class=class
                x=number(left + inset)
                y=number(upper)
                width=number(frame.bucket - 2.0 * inset)
                height=number(frame.base - upper)
            ></rect>
            <text class=words x=number(middle) y=number(upper - 5.0)>{short(value)}</text>
        }
    });
    let name = if frame.narrow {
        narrow_label(bucket).map(|name| {
            view! { <text class="tk mid" x=number(left) y=number(frame.base + 15.0)>{name}</text> }
                .into_any()
        })
    } else {
        Some(
            view! {
                <text class="tk mid" x=number(middle) y=number(frame.base + 15.0)>
                    {label(bucket)}
                </text>
            }
            .into_any(),
        )
    };
    view! { {bar} {name} }.into_any()
}

/// On a narrow drawing only the bounds are named, each where its bucket begins.
fn narrow_label(bucket: usize) -> Option<String> {
    let seconds = bucket
        .checked_sub(1)
        .and_then(|i| crate::ports::claims::AGE_BUCKETS.get(i))?;
    Some(if *seconds < 3_600 {
        (seconds / 60).to_string()
    } else {
        format!("{}h", seconds / 3_600)
    })
}

fn marks(given: &Ages<'_>, frame: &Frame) -> AnyView {
    let line = |class: &'static str, x: f64| {
        let d = format!("M{} 20V{}", number(x.floor() + 0.5), number(frame.base));
        view! { <path class=class d=d></path> }
    };
    let cutoff = frame.x(position(given.cutoff_ms));
    let window = given.window_ms.map(|window| frame.x(position(window)));
    let cutoff_label = format!("cut-off {}", cutoff_words(given.cutoff_ms));
    let window_label = given
        .window_ms
        .map(|ms| format!("key window {}", cutoff_words(ms)))
        .unwrap_or_default();
    // The two words stand on the outer sides of the two lines, so that they never meet.
    let window_first = window.is_some_and(|window| window < cutoff);
    let place = |x: f64, outer_left: bool, words: String| {
        let room = width_of(&words);
        let left = if outer_left {
            x - 6.0 - room >= 0.0
        } else {
            x + 6.0 + room > frame.width
        };
        let (class, x) = if left {
            ("lb-b end", x - 6.0)
        } else {
            ("lb-b", x + 6.0)
        };
        view! { <text class=class x=number(x) y="16">{words}</text> }
    };
    let window = window.map(|x| {
        view! { {line("cnow dash", x)} {place(x, window_first, window_label)} }
    });
    let alone = given.window_ms.is_none();
    view! {
        {line("cnow", cutoff)}
        {place(cutoff, !window_first && !alone, cutoff_label)}
        {window}
    }
    .into_any()
}

/// Where a bar begins; one claim among thousands is still seen.
fn top_of(given: &Ages<'_>, frame: &Frame, bucket: usize, top: i64) -> f64 {
    match count(given, bucket) {
        0 => frame.base,
        value => frame.base - (height(value, top) * (frame.base - TOP - 16.0)).max(2.0),
    }
}

/// Bars whose number stands above this leave no room for the captions.
const CAPTIONS_END: f64 = 100.0;

/// What the parts mean, where there is room to say it.
fn captions(given: &Ages<'_>, frame: &Frame, top: i64) -> Option<AnyView> {
    if frame.narrow {
        return None;
    }
    let sums = sums(given);
    let cutoff = frame.x(position(given.cutoff_ms));
    let past = given.window_ms.map_or(frame.width, |window| {
        frame.x(position(window.max(given.cutoff_ms)))
    });
    let block = |x: f64, room: f64, bad: bool, head: String, lines: [&'static str; 2]| {
        let wide = std::iter::once(head.as_str())
            .chain(lines)
            .map(width_of)
            .fold(0.0, f64::max);
        let free = (0..BUCKETS).all(|bucket| {
            let (left, right) = (frame.x(units(bucket)), frame.x(units(bucket) + 1.0));
            let apart = right <= x || x + wide <= left;
            apart || top_of(given, frame, bucket, top) > CAPTIONS_END
        });
        (wide <= room && free).then(|| {
            let bad = if bad { " bad" } else { "" };
            view! {
                <text class=format!("lb-b{bad}") x=number(x) y="50">{head}</text>
                <text class=format!("lb{bad}") x=number(x) y="65">{lines[0]}</text>
                <text class=format!("lb{bad}") x=number(x) y="80">{lines[1]}</text>
            }
        })
    };
    // The first bar is often the tallest: its words stand right of it.
    let first = frame.x(1.0) + 16.0;
    let held = sums.held.filter(|n| *n > 0).and_then(|n| {
        let words = format!("{} are held", thousands(n));
        block(
            first,
            cutoff - first,
            false,
            words,
            ["younger than the cut-off", ""],
        )
    });
    let some = |n: &i64| *n > 0 && past > cutoff;
    let stale = sums.stale.filter(some).and_then(|n| {
        if window_matters(given) {
            let words = format!("{} in the window", thousands(n));
            let lines = ["a resend may", "be answered"];
            block(cutoff + 8.0, past - cutoff - 8.0, false, words, lines)
        } else {
            let words = format!("{} stale", thousands(n));
            block(cutoff + 8.0, past - cutoff - 8.0, false, words, ["", ""])
        }
    });
    let at_risk = sums.past.filter(|n| *n > 0).and_then(|n| {
        let words = format!("{} at risk", thousands(n));
        let lines = [
            "the provider may have forgotten",
            "the key: a second message",
        ];
        block(past + 8.0, frame.width - past - 8.0, true, words, lines)
    });
    Some(view! { {held} {stale} {at_risk} }.into_any())
}

/// About how wide a text is at 12 px, in pixels.
fn width_of(text: &str) -> f64 {
    units(text.chars().count()) * 6.2
}

/// A number that fits over a bar: `940`, `12.4k`, `3.1M`.
fn short(value: i64) -> String {
    let tenths = |unit: i64, word: &str| {
        let tenths = value * 10 / unit;
        if tenths % 10 == 0 {
            format!("{}{word}", tenths / 10)
        } else {
            format!("{}.{}{word}", tenths / 10, tenths % 10)
        }
    };
    match value {
        ..10_000 => thousands(value),
        10_000..1_000_000 => tenths(1_000, "k"),
        _ => tenths(1_000_000, "M"),
    }
}
