//! What drawings share.

use leptos::prelude::*;

/// The hatching of what gave up; drawings that use it need it once on their page.
pub fn hatch() -> AnyView {
    view! {
        <svg class="defs" width="0" height="0" aria-hidden="true">
            <defs>
                <pattern
                    id="hatch"
                    width="5"
                    height="5"
                    patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)"
                >
                    <rect class="h-bg" width="5" height="5"></rect>
                    <rect class="h-fg" width="2" height="5"></rect>
                </pattern>
            </defs>
        </svg>
    }
    .into_any()
}

/// Where a part of a drawing leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The page.
    pub href: String,
    /// What is found there: `failed jobs of this hour`.
    pub to: String,
}

/// A drawing of so many units, with the links that lie over it for pointers, where there are any.
/// The same links stand in a table for everybody. `class` says at which width it is shown.
pub fn linked(
    class: &'static str,
    (width, height): (f64, f64),
    label: String,
    drawn: AnyView,
    links: Vec<AnyView>,
) -> AnyView {
    let (width, height) = (number(width), number(height));
    let view_box = format!("0 0 {width} {height}");
    let links = (!links.is_empty()).then(|| {
        view! {
            <svg
                class="chart fluid hits"
                width=width.clone()
                height=height.clone()
                viewBox=view_box.clone()
                aria-hidden="true"
            >
                {links}
            </svg>
        }
    });
    view! {
        <div class=format!("linked {class}")>
            <svg
                class="chart fluid"
                width=width
                height=height
                viewBox=view_box
                role="img"
                aria-label=label
            >
                {drawn}
            </svg>
            {links}
        </div>
    }
    .into_any()
}

/// A line of a scale across a drawing, with its number on the left. `class` is `axis` or `grid`.
pub fn scale_line(
    class: &'static str,
    (left, right): (f64, f64),
    y: f64,
    words: String,
) -> AnyView {
    // Between two pixels a thin line would be blurred.
    let d = format!(
        "M{} {}H{}",
        number(left),
        number(y.floor() + 0.5),
        number(right)
    );
    view! {
        <path class=class d=d></path>
        <text class="tk end" x=number(left - 6.0) y=number(y + 4.0)>{words}</text>
    }
    .into_any()
}

/// A coordinate, to a tenth of a pixel.
pub fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // There is no minus zero in a drawing.
    format!("{}", rounded + 0.0)
}

/// A count as a length.
pub fn units(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// A number of any size as a length.
#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing does not show the loss"
)]
pub fn length(n: i64) -> f64 {
    n as f64
}

/// A part of a whole, from 0 to 1; 0 where there is no whole.
pub fn part(part: i64, whole: i64) -> f64 {
    if whole <= 0 {
        return 0.0;
    }
    (length(part) / length(whole)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(2.345), "2.3");
        assert_eq!(number(-0.01), "0");
        assert!((part(1, 4) - 0.25).abs() < 1e-9);
        assert!(part(1, 0).abs() < 1e-9);
        assert!((part(5, 4) - 1.0).abs() < 1e-9);
    }
}
