//! The claim as a lane under the line: from the moment it was made to now where it still stands,
//! else only its beginning, because nothing says when it was sent.

use leptos::prelude::*;

use super::layout::Drawing;
use crate::model::state::Instant;

/// A claim of the job.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimSpan {
    /// When it was made.
    pub from: Instant,
    /// Whether it still stands.
    pub stands: bool,
    /// A few words: `claim, Sending`.
    pub words: String,
}

/// Top of the lane, between the lengths of stretches and the axis.
const TOP: f64 = 111.0;
/// Its height.
const TALL: f64 = 13.0;
/// How wide a claim is drawn whose end is not known.
const MARK: f64 = 8.0;

/// Where an instant lies on the line; at its ends where it lies outside.
pub fn position(drawing: &Drawing, at: Instant) -> Option<f64> {
    let first = drawing.stretches.first()?;
    let mut x = first.x;
    for drawn in &drawing.stretches {
        if at < drawn.stretch.from {
            break;
        }
        let into = super::pieces::between(drawn.stretch.from, at);
        let share = match drawn.stretch.ms {
            Some(ms) if ms > 0 => share(into, ms),
            _ => 1.0,
        };
        x = drawn.x + drawn.width * share;
    }
    Some(x)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing does not show the loss"
)]
fn share(part: i64, whole: i64) -> f64 {
    (part as f64 / whole as f64).clamp(0.0, 1.0)
}

/// Left edge and width of the lane.
pub fn lane(drawing: &Drawing, claim: &ClaimSpan) -> Option<(f64, f64)> {
    let from = position(drawing, claim.from)?;
    if !claim.stands {
        return Some((from, MARK));
    }
    let last = drawing.stretches.last()?;
    let end = drawing.now_x.unwrap_or(last.x + last.width);
    Some((from, (end - from).max(MARK)))
}

/// The lane, its words inside where they fit, else beside it.
pub fn view(drawing: &Drawing, claim: &ClaimSpan) -> Option<AnyView> {
    let (x, width) = lane(drawing, claim)?;
    let number = |value: f64| format!("{}", (value * 10.0).round() / 10.0);
    let room = f64::from(u32::try_from(claim.words.chars().count()).unwrap_or(u32::MAX)) * 5.8;
    let right = x + width + 6.0;
    let place = if room + 8.0 <= width {
        Some((x + 4.0, ""))
    } else if drawing.now_x.is_none_or(|now| right + room <= now) && right + room <= drawing.width {
        Some((right, ""))
    } else if x - 6.0 - room >= 0.0 {
        Some((x - 6.0, " end"))
    } else {
        None
    };
    let words = place.map(|(x, side)| {
        view! {
            <text class=format!("tk{side}") x=number(x) y=number(TOP + 10.0)>
                {claim.words.clone()}
            </text>
        }
    });
    Some(
        view! {
            <rect
                class="tl-claim"
                x=number(x)
                y=number(TOP)
                width=number(width)
                height=number(TALL)
            ></rect>
            {words}
        }
        .into_any(),
    )
}
