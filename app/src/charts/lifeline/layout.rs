//! Where everything on the line lies. One unit is one CSS pixel.
//!
//! The width of a stretch grows with the logarithm of its length, so that a run of milliseconds
//! and a backoff of hours are both seen; true lengths stand beside them as text.

mod labels;

use labels::{label, label_moments, label_runs, label_stretches, text_width, ticks};

use super::pieces::{Kind, Moment, Piece, Stretch};
use crate::model::state::Instant;

/// At most so many attempts are drawn, the newest.
pub const MOST_ATTEMPTS: usize = 12;
/// Height of a drawing.
pub const HEIGHT: f64 = 152.0;
/// Height at which the line lies.
pub const LINE_Y: f64 = 80.0;
/// Height of the axis of times.
pub const AXIS_Y: f64 = 128.0;

/// Room left free at both ends.
const MARGIN: f64 = 10.0;
/// Room for the mark at the end of a run.
pub const MARK: f64 = 18.0;
/// A second is drawn no wider than this, lest a short history look long.
const WIDEST_UNIT: f64 = 90.0;
/// A stretch longer than this gets the break mark.
const BREAK_MS: i64 = 60_000;

/// A planned run to the right of now.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its label above: the retry's number.
    pub number: String,
    /// The delay before it, in words.
    pub delay: String,
    /// When it may begin at the earliest.
    pub due: Instant,
    /// Its delay in milliseconds, for its distance.
    pub delay_ms: i64,
}

/// A stretch with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Left edge.
    pub x: f64,
    /// Width.
    pub width: f64,
    /// Whether the break mark stands in it.
    pub broken: bool,
    /// The stretch.
    pub stretch: Stretch,
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where.
    pub x: f64,
    /// Base line.
    pub y: f64,
    /// CSS classes; `mid` centres it there, else it begins there.
    pub class: &'static str,
    /// The words.
    pub text: String,
}

/// A whole drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Its width.
    pub width: f64,
    /// Stretches from left to right; each begins where the one before ended.
    pub stretches: Vec<Drawn>,
    /// Moments from left to right.
    pub moments: Vec<(f64, Moment)>,
    /// Where now lies, for a job that is not finished.
    pub now_x: Option<f64>,
    /// Planned runs: where, and whether it is the next one.
    pub steps: Vec<(f64, bool)>,
    /// Where giving up lies, after the last planned run.
    pub end_x: Option<f64>,
    /// All texts but the ticks'.
    pub labels: Vec<Label>,
    /// Ticks of the axis: where, and the time as text.
    pub ticks: Vec<(f64, String)>,
    /// How many attempts there are that were not drawn.
    pub hidden: usize,
}

/// Lays the line out in a given width. `now` is given for a job that is not finished; `steps` are
/// the planned runs, drawn right of it.
pub fn draw(pieces: &[Piece], steps: &[Step], now: Option<Instant>, width: f64) -> Drawing {
    let future = future_width(steps.len(), width);
    let room = width - 2.0 * MARGIN - future;
    let total = count_runs(pieces);
    let mut keep = total.min(MOST_ATTEMPTS);
    let mut shown = newest(pieces, keep);
    while keep > 1 && least(shown) > room {
        keep -= 1;
        shown = newest(pieces, keep);
    }

    let mut drawing = Drawing {
        width,
        stretches: Vec::new(),
        moments: Vec::new(),
        now_x: None,
        steps: Vec::new(),
        end_x: None,
        labels: Vec::new(),
        ticks: Vec::new(),
        hidden: total - keep.min(total),
    };
    let past_end = place(&mut drawing, shown, room);
    if let Some(now) = now {
        drawing.now_x = Some(past_end);
        place_steps(&mut drawing, steps, past_end, now);
    }
    label_runs(&mut drawing);
    label_stretches(&mut drawing);
    label_moments(&mut drawing);
    ticks(&mut drawing, steps, now);
    drawing
}

fn future_width(steps: usize, width: f64) -> f64 {
    match steps {
        0 => 44.0,
        n => (width * 0.42).min(count(n) * 58.0 + 96.0),
    }
}

fn is_run(piece: &Piece) -> bool {
    matches!(
        piece,
        Piece::Stretch(Stretch {
            kind: Kind::Run(_),
            ..
        })
    )
}

fn count_runs(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| is_run(piece)).count()
}

/// The pieces from right after the last run that is left out.
fn newest(pieces: &[Piece], keep: usize) -> &[Piece] {
    let skip = count_runs(pieces).saturating_sub(keep);
    let start = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| is_run(piece))
        .take(skip)
        .last()
        .map_or(0, |(index, _)| index + 1);
    &pieces[start..]
}

fn stretches(pieces: &[Piece]) -> impl Iterator<Item = &Stretch> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Stretch(stretch) => Some(stretch),
        Piece::Moment(_) => None,
    })
}

/// The narrowest a stretch is drawn, and how narrow it should be where there is room for labels.
fn narrowest(stretch: &Stretch) -> (f64, f64) {
    match (&stretch.kind, stretch.ms) {
        (Kind::Run(_), None) => (14.0 + MARK, 62.0 + MARK),
        (Kind::Run(_), Some(_)) => (9.0 + MARK, 12.0 + MARK),
        (Kind::Waited, _) => (10.0, 58.0),
        (Kind::Backoff, _) => (20.0, 74.0),
        (Kind::Rest(_), _) => (26.0, 84.0),
    }
}

fn least(pieces: &[Piece]) -> f64 {
    stretches(pieces).map(|stretch| narrowest(stretch).0).sum()
}

/// How a length grows on the line: the logarithm of its seconds.
fn weight(stretch: &Stretch) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a drawing does not show the loss"
    )]
    let seconds = stretch.ms.unwrap_or(0).max(0) as f64 / 1000.0;
    (1.0 + seconds).log2()
}

/// Widths that share `room` by weight, none below its least. The sum is at most `room` where the
/// least widths allow it.
fn share(items: &[(f64, f64)], room: f64) -> Vec<f64> {
    let mut unit = WIDEST_UNIT;
    let width = |unit: f64, &(least, weight): &(f64, f64)| least.max(unit * weight);
    let sum = |unit: f64| items.iter().map(|item| width(unit, item)).sum::<f64>();
    if sum(unit) > room {
        let (mut low, mut high) = (0.0, unit);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if sum(middle) > room {
                high = middle;
            } else {
                low = middle;
            }
        }
        unit = low;
    }
    items.iter().map(|item| width(unit, item)).collect()
}

/// Places stretches and moments; answers where the last one ends.
fn place(drawing: &mut Drawing, pieces: &[Piece], room: f64) -> f64 {
    let roomy = stretches(pieces)
        .map(|stretch| narrowest(stretch).1)
        .sum::<f64>()
        <= room;
    let items: Vec<(f64, f64)> = stretches(pieces)
        .map(|stretch| {
            let (least, wished) = narrowest(stretch);
            (if roomy { wished } else { least }, weight(stretch))
        })
        .collect();
    let mut widths = share(&items, room).into_iter();
    let mut x = MARGIN;
    for piece in pieces {
        match piece {
            Piece::Moment(moment) => drawing.moments.push((x, moment.clone())),
            Piece::Stretch(stretch) => {
                let width = widths.next().unwrap_or_default();
                let plain = !matches!(stretch.kind, Kind::Run(_));
                drawing.stretches.push(Drawn {
                    x,
                    width,
                    broken: plain && width >= 20.0 && stretch.ms.is_some_and(|ms| ms > BREAK_MS),
                    stretch: stretch.clone(),
                });
                x += width;
            }
        }
    }
    x
}

/// Places planned runs right of now: distances grow with the logarithm too, by a factor of their
/// own.
fn place_steps(drawing: &mut Drawing, steps: &[Step], now_x: f64, now: Instant) {
    let Some(first) = steps.first() else { return };
    let to_first = super::pieces::between(now, first.due);
    let items: Vec<(f64, f64)> = std::iter::once(to_first)
        .chain(steps.iter().skip(1).map(|step| step.delay_ms))
        .map(|ms| {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a drawing does not show the loss"
            )]
            let seconds = ms.max(0) as f64 / 1000.0;
            (18.0, (1.0 + seconds).log2())
        })
        .collect();
    let room = drawing.width - MARGIN - 26.0 - now_x;
    let mut x = now_x;
    for (index, width) in share(&items, room).into_iter().enumerate() {
        x += width;
        drawing.steps.push((x, index == 0));
    }
    drawing.end_x = Some(x + 20.0);
    let mut edge = now_x;
    for (index, step) in steps.iter().enumerate() {
        let (at, is_first) = drawing.steps[index];
        let class = if is_first { "lb-b mid" } else { "tk mid" };
        drawing
            .labels
            .push(label(at, 66.0, class, step.number.clone()));
        let left = if index == 0 {
            now_x
        } else {
            drawing.steps[index - 1].0
        };
        let middle = f64::midpoint(left, at);
        let half = text_width(&step.delay, 5.8) / 2.0;
        if middle - half > edge + 4.0 {
            edge = middle + half;
            drawing
                .labels
                .push(label(middle, 106.0, "tk mid", step.delay.clone()));
        }
    }
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
