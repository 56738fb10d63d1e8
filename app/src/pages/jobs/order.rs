//! The order of a list: which one it has, the choice, and why it has not the one that was wanted.

use leptos::prelude::*;

use super::JobsPage;
use crate::components::message;
use crate::components::time;
use crate::links::{Order, Place, SourceLinks};
use crate::model::state::ListState;
use crate::ports::failures::{ChangedKey, NotReady};
use crate::ports::jobs::JobPage;

/// The order that rows are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// By job id; with the reason, where the order of change was wanted.
    Id(Option<WhyById>),
    /// Latest change first.
    Changed(ByChange),
}

/// What a page in the order of change knows of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByChange {
    /// The places of the first and the last row.
    pub ends: Option<(ChangedKey, ChangedKey)>,
    /// How many jobs fit the filter, where the index tells it.
    pub matching: Option<i64>,
}

/// Why a list goes by id although the order of change was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyById {
    /// No index holds such jobs.
    NoIndex,
    /// The index cannot be used now.
    NotReady(NotReady),
}

impl Ordering {
    /// What comes first, in words.
    pub(super) fn first(self) -> &'static str {
        match self {
            Self::Id(_) => "newest job first",
            Self::Changed(_) => "latest change first",
        }
    }

    /// The places of the first and the last row.
    pub(super) fn ends(self, list: &JobPage) -> (Option<Place>, Option<Place>) {
        match self {
            Self::Id(_) => (
                list.rows.first().map(|row| Place::Id(row.id)),
                list.rows.last().map(|row| Place::Id(row.id)),
            ),
            Self::Changed(ByChange { ends, .. }) => ends
                .map(|(first, last)| (Place::Changed(first), Place::Changed(last)))
                .unzip(),
        }
    }

    /// How many jobs fit the filter, where that is known.
    pub(super) fn matching(self) -> Option<i64> {
        match self {
            Self::Id(_) => None,
            Self::Changed(by_change) => by_change.matching,
        }
    }

    fn order(self) -> Order {
        match self {
            Self::Id(_) => Order::Id,
            Self::Changed(_) => Order::Changed,
        }
    }
}

/// The two orders to choose from, where a list can have both.
pub(super) fn choice(page: &JobsPage, links: &SourceLinks) -> Option<AnyView> {
    if !matches!(
        page.filter.state,
        Some(ListState::Failed | ListState::Retrying)
    ) {
        return None;
    }
    let orders: Vec<_> = [(Order::Changed, "latest change"), (Order::Id, "newest job")]
        .into_iter()
        .map(|(order, words)| {
            let href = links.jobs_in(Some(order), &page.filter, None, page.limit);
            let current = (page.ordering.order() == order).then_some("true");
            view! {
                <a class="btn quiet small" href=href aria-current=current data-order=order.slug()>
                    {words}
                </a>
            }
        })
        .collect();
    Some(
        view! {
            <span class="order" role="group" aria-label="Order of the list">
                <span class="sub">"Order: "</span>
                {orders}
            </span>
        }
        .into_any(),
    )
}

/// Why the list goes by id.
pub(super) fn note(page: &JobsPage) -> Option<AnyView> {
    let Ordering::Id(Some(why)) = page.ordering else {
        return None;
    };
    Some(message::note(false, sentence(why)).into_any())
}

fn sentence(why: WhyById) -> String {
    let why = match why {
        WhyById::NoIndex => {
            return "Newest job first: only failed and retrying jobs can be listed in the order of \
                    change."
                .to_owned();
        }
        WhyById::NotReady(NotReady::NoTables) => {
            "Redrive’s own tables, which hold that order, cannot be used here".to_owned()
        }
        WhyById::NotReady(NotReady::Apart) => {
            "Redrive may not write this database, so that order is kept apart from the jobs, in a \
             file, and cannot be joined with them"
                .to_owned()
        }
        WhyById::NotReady(NotReady::NotBegun) => {
            "no state row was read yet for the index that holds that order".to_owned()
        }
        WhyById::NotReady(NotReady::Reading { watermark, highest }) => format!(
            "the index that holds that order is being made, {} % of the state rows are read",
            percent(watermark, highest)
        ),
        WhyById::NotReady(NotReady::Behind { since }) => format!(
            "the index that holds that order is behind, rows have waited since {}",
            time::exact_text(since)
        ),
    };
    format!("Newest job first, not in the order of change: {why}.")
}

/// Whole percent, never 100 before the end.
fn percent(read: i64, of: i64) -> i64 {
    let share = i128::from(read.max(0)) * 100 / i128::from(of.max(1));
    i64::try_from(share.min(99)).unwrap_or(99)
}
