//! What happened: the line, and the table that holds the same facts.

mod hands;
mod table;
mod words;

use leptos::prelude::*;

pub(super) use words::compact;

use super::next::Next;
use super::{JobPage, kit};
use crate::charts::lifeline::layout::Step;
use crate::charts::lifeline::lifeline;
use crate::charts::lifeline::pieces::{Around, Kind, Piece, Stretch, pieces};
use crate::components::coverage::{Trust, coverage};
use crate::components::number::{count, thousands};
use crate::model::timeline::History;

/// The section.
pub(super) fn section(page: &JobPage) -> AnyView {
    let record = page.record();
    let shown = super::i64_of(record.states.len());
    let coverage = match page.timeline.history {
        History::Trimmed => coverage(
            Trust::Partial,
            format!("{}, older ones are gone", count(shown, "state row")),
        )
        .into_any(),
        History::Paged => coverage(
            Trust::Partial,
            format!(
                "the newest {} of {} state rows",
                thousands(shown),
                thousands(record.states_total)
            ),
        )
        .into_any(),
        History::Whole => {
            coverage(Trust::Exact, format!("all {}", count(shown, "state row"))).into_any()
        }
    };
    let around = Around {
        created_at: (page.timeline.history == History::Whole).then_some(record.created_at),
        finished: page.is_finished(),
        now: page.given.now,
        suffix: page.suffix(),
    };
    let pieces = pieces(&page.timeline, &around, |decision| {
        hands::caption(decision, &page.given.audit)
    });
    // A line of rest alone tells no more than the sentences above.
    let tells = pieces.iter().any(|piece| {
        !matches!(
            piece,
            Piece::Stretch(Stretch {
                kind: Kind::Rest(_),
                ..
            })
        )
    });
    let line = tells.then(|| {
        let now = (!page.is_finished()).then_some(page.given.now);
        let claim = super::claims::span(page);
        lifeline(
            &pieces,
            &steps(page),
            now,
            claim.as_ref(),
            &words::finding(page),
        )
    });
    let content = view! {
        {line.map(|line| view! { {key()} <div class="fig tl-fig">{line}</div> })}
        {table::table(page)}
    };
    kit::section("past", "What happened", Some(coverage), content.into_any())
}

fn key() -> AnyView {
    view! {
        <p class="key tl-key">
            <span>
                <svg viewBox="0 0 24 12" class="k-wide" aria-hidden="true">
                    <path class="tl-queue" d="M0 6h24"></path>
                </svg>
                "waited in its queue"
            </span>
            <span>
                <svg viewBox="0 0 24 12" class="k-wide" aria-hidden="true">
                    <path class="tl-wait" d="M0 6h24"></path>
                </svg>
                "backoff"
            </span>
            <span>
                <svg viewBox="0 0 24 12" class="k-wide" aria-hidden="true">
                    <rect class="tl-run running" y="1" width="24" height="10"></rect>
                </svg>
                "running"
            </span>
            <span>"widths are compressed, labels are true"</span>
        </p>
    }
    .into_any()
}

/// The planned runs, for the line.
fn steps(page: &JobPage) -> Vec<Step> {
    let Next::Retry(retry) = &page.next else {
        return Vec::new();
    };
    words::steps(page, retry)
}
