//! The line as SVG: geometry in attributes, colours by class.

use leptos::prelude::*;

use super::claim::ClaimSpan;
use super::layout::{AXIS_Y, Drawing, Drawn, HEIGHT, LINE_Y, Label, MARK, Step, draw};
use super::pieces::{Kind, MomentKind, Piece};
use crate::components::icon::href;
use crate::components::text::shown;
use crate::model::state::Instant;

/// The widths that are drawn; a container query shows one of them.
const WIDTHS: [(&str, f64); 4] = [
    ("tl-x", 1480.0),
    ("tl-w", 1184.0),
    ("tl-m", 880.0),
    ("tl-s", 640.0),
];

/// The line in every width, with `finding` as its text. `now` is given for a job that is not
/// finished, `claim` for one that claimed.
pub fn lifeline(
    pieces: &[Piece],
    steps: &[Step],
    now: Option<Instant>,
    claim: Option<&ClaimSpan>,
    finding: &str,
) -> impl IntoView + use<> {
    WIDTHS
        .map(|(class, width)| {
            let drawing = draw(pieces, steps, now, width);
            one(&drawing, class, finding, now, claim).into_any()
        })
        .collect_view()
}

fn one(
    drawing: &Drawing,
    class: &'static str,
    finding: &str,
    now: Option<Instant>,
    claim: Option<&ClaimSpan>,
) -> impl IntoView + use<> {
    let id = format!("{class}-t");
    let labelled = id.clone();
    let width = drawing.width;
    let title = if drawing.hidden == 0 {
        finding.to_owned()
    } else {
        let shown = drawing
            .stretches
            .iter()
            .filter(|drawn| matches!(drawn.stretch.kind, Kind::Run(_)))
            .count();
        format!("{finding} Only the newest {shown} attempts are drawn.")
    };
    view! {
        <svg
            class=format!("chart tl {class}")
            width=number(width)
            height=number(HEIGHT)
            viewBox=format!("0 0 {} {}", number(width), number(HEIGHT))
            role="img"
            aria-labelledby=labelled
        >
            <title id=id>{title}</title>
            {future(drawing)}
            <path class="axis" d=format!("M0 {}H{}", AXIS_Y + 0.5, number(width))></path>
            {drawing.ticks.iter().map(tick).collect_view()}
            {claim.and_then(|claim| super::claim::view(drawing, claim))}
            {drawing.stretches.iter().map(stretch).collect_view()}
            {drawing.stretches.iter().filter_map(mark).collect_view()}
            {planned(drawing)}
            {drawing
                .moments
                .iter()
                .map(|(x, moment)| moment_mark(*x, moment.kind))
                .collect_view()}
            {drawing.labels.iter().map(text).collect_view()}
            {now.zip(drawing.now_x).map(|(now, x)| flag(x, now))}
        </svg>
    }
}

fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

fn tick((x, time): &(f64, String)) -> impl IntoView + use<> {
    let x = number(*x);
    // The first one would stick out on the left.
    let class = if x == "10" { "tk" } else { "tk mid" };
    view! {
        <path class="axis" d=format!("M{x} {AXIS_Y}v4")></path>
        <text class=class x=x y=number(AXIS_Y + 17.0)>
            {time.clone()}
        </text>
    }
}

fn stretch(drawn: &Drawn) -> AnyView {
    let (x, end) = (number(drawn.x), number(drawn.x + drawn.width));
    match &drawn.stretch.kind {
        Kind::Run(run) => {
            let class = format!("tl-run {}{}", run.outcome, unknown(drawn));
            // A run that goes on ends at now, without a mark.
            let mark = if drawn.stretch.so_far { 0.0 } else { MARK };
            let width = number((drawn.width - mark).max(1.0));
            view! { <rect class=class x=x y=number(LINE_Y - 11.0) width=width height="22"></rect> }
                .into_any()
        }
        kind => {
            let class = match kind {
                Kind::Waited => "tl-queue",
                Kind::Backoff => "tl-wait",
                _ => "tl-rest",
            };
            let gap = drawn.broken.then(|| {
                let middle = drawn.x + drawn.width / 2.0;
                let (low, high) = (LINE_Y + 6.0, LINE_Y - 6.0);
                let at = |dx: f64| number(middle + dx);
                view! {
                    <path class="tl-gap" d=format!("M{} {high}h8v12h-8z", at(-4.0))></path>
                    <path
                        class="tl-break"
                        d=format!("M{} {low}l4-12M{} {low}l4-12", at(-6.0), at(2.0))
                    ></path>
                }
            });
            view! {
                <path class=class d=format!("M{x} {LINE_Y}H{end}")></path>
                {gap}
            }
            .into_any()
        }
    }
}

fn unknown(drawn: &Drawn) -> &'static str {
    if drawn.stretch.ms.is_none() {
        " unknown-length"
    } else {
        ""
    }
}

/// The mark at the end of a run that has ended.
fn mark(drawn: &Drawn) -> Option<AnyView> {
    let Kind::Run(run) = &drawn.stretch.kind else {
        return None;
    };
    if drawn.stretch.so_far {
        return None;
    }
    let symbol = match run.outcome {
        "succeeded" => "s-succeeded",
        "failed" => "s-failed",
        "cancelled" => "s-deleted",
        "lost" => "i-unlink",
        "put-back" => "s-enqueued",
        _ => "s-gone",
    };
    let x = number(drawn.x + drawn.width - MARK - 2.0);
    Some(
        view! {
            <svg class=format!("tl-mark {}", run.outcome) x=x y=number(LINE_Y - 10.0) width="20" height="20">
                <circle class="tl-halo" cx="10" cy="10" r="11.5"></circle>
                <use href=href(symbol) width="20" height="20"></use>
            </svg>
        }
        .into_any(),
    )
}

fn moment_mark(x: f64, kind: MomentKind) -> AnyView {
    let (symbol, class) = match kind {
        MomentKind::Operator => ("i-person", "tl-opi"),
        MomentKind::Failure => ("s-failed", "tl-opi failed"),
        MomentKind::Deleted => ("s-deleted", "tl-opi deleted"),
        MomentKind::Restored => ("i-requeue", "tl-opi"),
    };
    let at = number(x);
    view! {
        <path class="tl-op" d=format!("M{at} 20V{LINE_Y}")></path>
        <svg class=class x=number(x - 8.0) y="3" width="16" height="16">
            <use href=href(symbol) width="16" height="16"></use>
        </svg>
        <circle class="tl-opdot" cx=at cy=number(LINE_Y) r="3.5"></circle>
    }
    .into_any()
}

fn future(drawing: &Drawing) -> Option<impl IntoView + use<>> {
    let x = drawing.now_x?;
    drawing.end_x?;
    Some(view! {
        <rect
            class="tl-future"
            x=number(x)
            y="0"
            width=number(drawing.width - x)
            height=number(AXIS_Y)
        ></rect>
        <text class="lb-b" x=number(x + 8.0) y="14">
            "Planned, if every attempt fails"
        </text>
    })
}

fn planned(drawing: &Drawing) -> Option<impl IntoView + use<>> {
    let now = drawing.now_x?;
    let end = drawing.end_x?;
    let dots = drawing
        .steps
        .iter()
        .map(|(x, first)| {
            let (class, r) = if *first {
                ("tl-next first", "7")
            } else {
                ("tl-next", "5")
            };
            view! { <circle class=class cx=number(*x) cy=number(LINE_Y) r=r></circle> }
        })
        .collect_view();
    Some(view! {
        <path class="tl-plan" d=format!("M{} {LINE_Y}H{}", number(now), number(end - 8.0))></path>
        {dots}
        <svg
            class="tl-end"
            x=number(end - 7.0)
            y=number(LINE_Y - 7.0)
            width="14"
            height="14"
            viewBox="0 0 16 16"
        >
            <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z"></path>
            <path d="m5.5 5.5 5 5M10.5 5.5l-5 5"></path>
        </svg>
    })
}

fn text(label: &Label) -> impl IntoView + use<> {
    view! {
        <text class=label.class x=number(label.x) y=number(label.y)>
            {shown(&label.text).into_owned()}
        </text>
    }
}

fn flag(x: f64, now: Instant) -> impl IntoView + use<> {
    let time = now.format("%H:%M:%S").to_string();
    view! {
        <path class="cnow" d=format!("M{} 0V{AXIS_Y}", number(x))></path>
        <rect
            class="tl-now"
            x=number(x - 56.0)
            y=number(AXIS_Y)
            width="56"
            height="19"
        ></rect>
        <text class="tl-now-t mid" x=number(x - 28.0) y=number(AXIS_Y + 14.0)>
            {time}
        </text>
    }
}
