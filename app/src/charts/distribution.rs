//! Which attempt succeeded, as a small multiple: five bars, their heights square roots of shares
//! so that the tail shows.

use leptos::prelude::*;

use super::share::class;
use super::svg::{linked, number};
use crate::components::number::thousands;
use crate::model::insights::endings::{Ending, Endings};
use crate::model::rates::Rate;

const WIDTH: f64 = 164.0;
const HEIGHT: f64 = 118.0;
/// Where the bars stand.
const BASE: f64 = 100.5;
/// How high a bar of the whole is.
const TALLEST: f64 = 84.0;
const BAR: f64 = 24.0;
const STEP: f64 = 32.0;
const LEFT: f64 = 8.0;

/// The bars of one kind of job. `name` begins the label; `href` says where those of an ending are
/// found. The page needs [`super::svg::hatch`].
pub fn distribution(
    name: &str,
    endings: &Endings,
    href: impl Fn(Ending) -> Option<String>,
) -> AnyView {
    let counts: Vec<String> = Ending::ALL
        .into_iter()
        .map(|ending| format!("{} {}", ending.label(), thousands(endings.of(ending))))
        .collect();
    let label = format!("{name}: {}", counts.join(", "));
    let bars: Vec<_> = Ending::ALL
        .into_iter()
        .enumerate()
        .map(|(place, ending)| bar(place, ending, endings.rate(ending)))
        .collect();
    let hits: Vec<_> = Ending::ALL
        .into_iter()
        .enumerate()
        .filter(|(_, ending)| endings.of(*ending) > 0)
        .filter_map(|(place, ending)| {
            let href = href(ending)?;
            let title = format!("{}: {}", ending.label(), thousands(endings.of(ending)));
            Some(
                view! {
                    <a href=href tabindex="-1">
                        <title>{title}</title>
                        <rect
                            class="hit"
                            x=number(left(place) - 4.0)
                            y="0"
                            width=number(STEP)
                            height=number(HEIGHT)
                        ></rect>
                    </a>
                }
                .into_any(),
            )
        })
        .collect();
    let drawn = view! {
        <path class="axis" d=format!("M0 {}H{}", number(BASE), number(WIDTH))></path>
        {bars}
    };
    linked("always", (WIDTH, HEIGHT), label, drawn.into_any(), hits)
}

fn left(place: usize) -> f64 {
    LEFT + super::svg::units(place) * STEP
}

fn bar(place: usize, ending: Ending, rate: Rate) -> AnyView {
    let (x, middle) = (left(place), left(place) + BAR / 2.0);
    let name = match ending {
        Ending::First => "1",
        Ending::Second => "2",
        Ending::Third => "3",
        Ending::Later => "4+",
        Ending::GaveUp => "\u{d7}",
    };
    let words = if place == 0 { "lb-b mid" } else { "tk mid" };
    let tall = height(rate);
    let bar = (tall > 0.0).then(|| {
        view! {
            <rect
                class=class(ending)
                x=number(x)
                y=number(BASE - tall)
                width=number(BAR)
                height=number(tall)
            ></rect>
        }
    });
    view! {
        {bar}
        <text class=words x=number(middle) y=number(BASE - tall - 4.0)>{figure(rate)}</text>
        <text class="tk mid" x=number(middle) y="114">{name}</text>
    }
    .into_any()
}

/// How high a bar is; one that is there is seen.
fn height(rate: Rate) -> f64 {
    match rate.share() {
        Some(share) if share > 0.0 => (share.sqrt() * TALLEST).max(1.5),
        _ => 0.0,
    }
}

/// The percentage over a bar, without its sign: `100` and `–` only where it is exactly that.
fn figure(rate: Rate) -> String {
    let Some(share) = rate.share().filter(|share| *share > 0.0) else {
        return "\u{2013}".to_owned();
    };
    let whole = || rate.percent().unwrap_or_default().replace(" %", "");
    match share * 100.0 {
        ..0.1 => "<0.1".to_owned(),
        percent if percent < 10.0 => format!("{percent:.1}"),
        percent if percent < 99.0 => format!("{percent:.0}"),
        percent if rate.numerator == rate.denominator || percent <= 99.9 => whole(),
        _ => ">99.9".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_never_round_to_all_or_nothing() {
        for (rate, words) in [
            (Rate::new(0, 0), "\u{2013}"),
            (Rate::new(0, 10), "\u{2013}"),
            (Rate::new(1, 10_000), "<0.1"),
            (Rate::new(1, 100), "1.0"),
            (Rate::new(80, 100), "80"),
            (Rate::new(995, 1_000), "99.5"),
            (Rate::new(9_999, 10_000), ">99.9"),
            (Rate::new(10_000, 10_000), "100"),
        ] {
            assert_eq!(figure(rate), words, "{rate:?}");
        }
    }

    #[test]
    fn heights_are_square_roots_and_what_is_there_is_seen() {
        assert!((height(Rate::new(1, 1)) - 84.0).abs() < 1e-9);
        assert!((height(Rate::new(1, 4)) - 42.0).abs() < 1e-9);
        assert!((height(Rate::new(1, 1_000_000)) - 1.5).abs() < 1e-9);
        assert!(height(Rate::new(0, 4)).abs() < 1e-9);
    }

    #[test]
    fn the_label_has_every_count() {
        let endings = Endings {
            first: 80,
            later: 20,
            ..Endings::default()
        };
        let html = distribution("InvoiceEmailJob.SendAsync", &endings, |ending| {
            Some(format!("/{}", ending.label()))
        })
        .to_html();
        let label = "InvoiceEmailJob.SendAsync: 1st 80, 2nd 0, 3rd 0, 4th+ 20, gave up 0";
        assert!(html.contains(label), "{html}");
        // Only bars that are there lead anywhere.
        assert_eq!(html.matches("<a ").count(), 2);
    }
}
