//! A whole as one bar, parted by what became of it.

use leptos::prelude::*;

use super::svg::{number, part, units};
use crate::components::number::thousands;
use crate::model::insights::endings::{Ending, Endings};

/// One part of a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its colour, as a class: `b-a1`.
    pub class: &'static str,
    /// What it is: `2nd`.
    pub words: String,
    /// How many.
    pub count: i64,
    /// Where they are found.
    pub href: Option<String>,
}

/// A part that is there is seen: it has at least this share of the bar, in percent.
const LEAST: f64 = 2.5;

/// The class of an ending's colour. What gave up is hatched, so the page needs [`super::svg::hatch`].
pub fn class(ending: Ending) -> &'static str {
    match ending {
        Ending::First => "b-a1",
        Ending::Second => "b-a2",
        Ending::Third => "b-a3",
        Ending::Later => "b-a4",
        Ending::GaveUp => "b-gave",
    }
}

/// Parts of the endings given, in their order; `href` says where those of an ending are found.
pub fn parts(
    endings: &Endings,
    which: &[Ending],
    href: impl Fn(Ending) -> Option<String>,
) -> Vec<Part> {
    which
        .iter()
        .map(|ending| Part {
            class: class(*ending),
            words: ending.label().to_owned(),
            count: endings.of(*ending),
            href: href(*ending),
        })
        .collect()
}

/// The bar, `height` pixels high and as wide as its place. `of` names the whole: `of the rounds
/// that needed more than one attempt`.
pub fn share_bar(parts: &[Part], height: u32, of: &str) -> AnyView {
    let label = label(parts, of);
    let tall = height.to_string();
    let places = places(parts);
    let drawn: Vec<_> = parts
        .iter()
        .zip(&places)
        .filter(|(part, _)| part.count > 0)
        .map(|(part, (x, width))| {
            view! {
                <rect
                    class=part.class
                    x=percent(*x)
                    y="0"
                    width=percent(*width)
                    height=tall.clone()
                ></rect>
            }
        })
        .collect();
    let cuts: Vec<_> = parts
        .iter()
        .zip(&places)
        .filter(|(part, (x, _))| part.count > 0 && *x > 0.0)
        .map(|(_, (x, _))| {
            let x = percent(*x);
            view! { <line class="cut-l" x1=x.clone() x2=x y1="0" y2=tall.clone()></line> }
        })
        .collect();
    let hits: Vec<_> = parts
        .iter()
        .zip(&places)
        .filter(|(part, _)| part.count > 0)
        .filter_map(|(part, (x, width))| {
            let href = part.href.clone()?;
            let title = format!("{}: {}", part.words, thousands(part.count));
            Some(view! {
                <a href=href tabindex="-1">
                    <title>{title}</title>
                    <rect
                        class="hit"
                        x=percent(*x)
                        y="0"
                        width=percent(*width)
                        height=tall.clone()
                    ></rect>
                </a>
            })
        })
        .collect();
    let hits = (!hits.is_empty()).then(|| {
        view! {
            <svg class="strip hits" width="100%" height=tall.clone() aria-hidden="true">{hits}</svg>
        }
    });
    view! {
        <span class="linked">
            <svg class="strip" width="100%" height=tall.clone() role="img" aria-label=label>
                {drawn}
                {cuts}
            </svg>
            {hits}
        </span>
    }
    .into_any()
}

/// `2nd 9, 3rd 7, gave up 104 of the jobs that needed more`: parts without any are left out.
fn label(parts: &[Part], of: &str) -> String {
    let there: Vec<String> = parts
        .iter()
        .filter(|part| part.count > 0)
        .map(|part| format!("{} {}", part.words, thousands(part.count)))
        .collect();
    if there.is_empty() {
        return format!("None {of}");
    }
    format!("{} {of}", there.join(", "))
}

/// Where each part begins and how wide it is, in percent.
fn places(parts: &[Part]) -> Vec<(f64, f64)> {
    let whole: i64 = parts.iter().map(|part| part.count.max(0)).sum();
    let share = |count: i64| part(count, whole) * 100.0;
    let small = parts
        .iter()
        .filter(|part| part.count > 0 && share(part.count) < LEAST)
        .count();
    let rest: f64 = parts
        .iter()
        .map(|part| share(part.count))
        .filter(|share| *share >= LEAST)
        .sum();
    let scale = if rest > 0.0 {
        (100.0 - units(small) * LEAST) / rest
    } else {
        1.0
    };
    let mut x = 0.0;
    parts
        .iter()
        .map(|part| {
            let width = match share(part.count) {
                _ if part.count <= 0 => 0.0,
                share if share < LEAST => LEAST,
                share => share * scale,
            };
            let begin = x;
            x += width;
            (begin, width)
        })
        .collect()
}

fn percent(value: f64) -> String {
    format!("{}%", number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(first: i64, second: i64, gave_up: i64) -> Vec<Part> {
        let endings = Endings {
            first,
            second,
            gave_up,
            ..Endings::default()
        };
        parts(&endings, &Ending::ALL, |_| None)
    }

    #[test]
    fn one_of_ten_thousand_is_seen() {
        let places = places(&bar(9_999, 0, 1));
        assert_eq!(places[4], (97.5, 2.5));
        assert_eq!(places[0], (0.0, 97.5));
    }

    #[test]
    fn large_parts_keep_their_shares() {
        let places = places(&bar(50, 25, 25));
        assert_eq!(places[0], (0.0, 50.0));
        assert_eq!(places[1], (50.0, 25.0));
        assert_eq!(places[4], (75.0, 25.0));
    }

    #[test]
    fn the_label_tells_every_part_that_is_there() {
        assert_eq!(
            label(&bar(0, 1_904, 42), "of those that needed more"),
            "2nd 1,904, gave up 42 of those that needed more"
        );
        assert_eq!(label(&bar(0, 0, 0), "finished"), "None finished");
    }

    #[test]
    fn parts_lead_to_their_jobs_for_pointers_alone() {
        let mut parts = bar(8, 2, 0);
        parts[1].href = Some("/second".into());
        let html = share_bar(&parts, 12, "of all").to_html();
        assert!(
            html.contains("aria-label=\"1st 8, 2nd 2 of all\""),
            "{html}"
        );
        assert!(html.contains("aria-hidden=\"true\""), "{html}");
        assert!(
            html.contains("<a href=\"/second\" tabindex=\"-1\">"),
            "{html}"
        );
        assert_eq!(html.matches("<a ").count(), 1);
        assert!(!html.contains("style="));
    }
}
