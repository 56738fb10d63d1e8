//! Claims: how old they are, what the provider's key window means, each stale claim with its
//! evidence and verdict, what can be done about it, and what is purged.

mod acts;
mod bar;
mod effect;
mod empty;
mod evidence;
mod foot;
mod rows;
#[cfg(test)]
mod tests;
mod window;
mod words;

use std::sync::Arc;

use leptos::prelude::*;

use crate::actions::claim::ClaimAction;
use crate::charts::ages::{Ages, ages};
use crate::components::coverage::{Trust, coverage};
use crate::components::number::{count, thousands};
use crate::components::relative;
use crate::components::shell::{SourceChip, page_context};
use crate::components::text::visible;
use crate::links::SourceLinks;
use crate::links::claims::{ClaimCursor, ClaimList, ClaimsView, cutoff_words};
use crate::model::claim::evidence::{Asked, Evidence, Owner};
use crate::model::claim::table::{ClaimsTable, Lack, Shape};
use crate::model::claim::verdict::{Judgement, Verdict};
use crate::model::claim::{Claim, ClaimStatus};
use crate::model::state::Instant;
use crate::ports::claims::{AGE_BUCKETS, ClaimFigures};
use crate::ports::error::StoreError;
use crate::ports::source::Dialect;

pub(crate) use rows::chip;

/// What the page shows.
#[derive(Debug)]
pub struct ClaimsPage {
    /// The source.
    pub source: SourceChip,
    /// Its database system, which decides the SQL that the page proposes.
    pub dialect: Dialect,
    /// Every claims table of the source, configured or detected. Empty where there is none.
    pub tables: Vec<TableView>,
    /// Which of them the page shows; of no account where there is none.
    pub chosen: usize,
    /// What the URL asks for.
    pub view: ClaimsView,
    /// Where this page lies; `None` for the list's beginning.
    pub cursor: Option<ClaimCursor>,
    /// The rows.
    pub list: Result<ClaimRows, StoreError>,
    /// How far the jobs behind claims were looked for, in a sentence; `None` where every job was
    /// looked at.
    pub search: Option<String>,
}

/// One claims table.
#[derive(Debug, Clone)]
pub struct TableView {
    /// How it is described.
    pub table: ClaimsTable,
    /// As the catalogue has it; why it cannot be read, in words.
    pub shape: Result<Shape, String>,
    /// Its numbers.
    pub figures: FiguresView,
    /// The last periodic purge; `None` where there was none since the program started.
    pub last_purge: Option<LastPurge>,
}

/// A periodic purge that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastPurge {
    /// When it was over.
    pub at: Instant,
    /// When the next one begins.
    pub next: Instant,
    /// How many rows went, or why none did.
    pub rows: Result<u64, String>,
}

/// A table's numbers, as far as they are known.
#[derive(Debug, Clone)]
pub enum FiguresView {
    /// Not counted yet.
    NotYet,
    /// Counted.
    Counted {
        /// The numbers.
        figures: Arc<ClaimFigures>,
        /// How old they are, in milliseconds.
        age_ms: i64,
    },
    /// They could not be counted, in words.
    Failed(String),
}

/// Rows of a page.
#[derive(Debug, Clone, Default)]
pub struct ClaimRows {
    /// In the list's order.
    pub rows: Vec<JudgedClaim>,
    /// Whether rows lie before the first one.
    pub has_before: bool,
    /// Whether rows lie after the last one.
    pub has_after: bool,
}

/// A claim with everything that is known of it.
#[derive(Debug, Clone)]
pub struct JudgedClaim {
    /// The claim.
    pub claim: Claim,
    /// The jobs behind it, oldest first.
    pub owners: Vec<Owner>,
    /// What is known of it; `None` where it is not Sending.
    pub evidence: Option<Evidence>,
    /// What may be concluded; `None` where it is not Sending.
    pub verdict: Option<Verdict>,
    /// The newest answer of the provider.
    pub asked: Option<Asked>,
    /// What can be done about it, in the order of the buttons; empty where it is not Sending.
    pub offers: Vec<ClaimOffer>,
}

/// Something that can be done about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimOffer {
    /// What.
    pub deed: Deed,
    /// Why it cannot be done now, in the words that acting would answer; `None` where it can.
    pub why_not: Option<String>,
}

/// The buttons of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Take it back, in the way that the table's jobs know.
    Reclaim,
    /// Delete the row, and run its job again.
    Release,
    /// The operator knows that it was delivered.
    MarkAsSent,
    /// A look-up by key, before any of these.
    AskProvider,
}

impl Deed {
    /// All, in the order of the buttons.
    pub const ALL: [Self; 4] = [
        Self::Reclaim,
        Self::Release,
        Self::MarkAsSent,
        Self::AskProvider,
    ];

    /// The word in URLs.
    pub fn slug(self) -> &'static str {
        match self {
            Self::AskProvider => "ask-provider",
            Self::Reclaim => ClaimAction::Reclaim.slug(),
            Self::Release => ClaimAction::Release.slug(),
            Self::MarkAsSent => ClaimAction::MarkAsSent { provider_id: None }.slug(),
        }
    }

    /// The verb for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::AskProvider => "Ask the provider",
            Self::Reclaim => ClaimAction::Reclaim.label(),
            Self::Release => ClaimAction::Release.label(),
            Self::MarkAsSent => ClaimAction::MarkAsSent { provider_id: None }.label(),
        }
    }

    /// Whether it may lead to another delivery.
    pub fn resends(self) -> bool {
        matches!(self, Self::Reclaim | Self::Release)
    }
}

impl JudgedClaim {
    /// The verdict, where there is one.
    fn judgement(&self) -> Option<Judgement> {
        self.verdict.as_ref().map(|verdict| verdict.judgement)
    }

    fn offer(&self, deed: Deed) -> Option<&ClaimOffer> {
        self.offers.iter().find(|offer| offer.deed == deed)
    }

    /// Whether it may be reclaimed together with others: only what is safe.
    fn can_be_ticked(&self) -> bool {
        self.judgement() == Some(Judgement::Safe)
            && self
                .offer(Deed::Reclaim)
                .is_some_and(|offer| offer.why_not.is_none())
    }
}

impl TableView {
    fn counted(&self) -> Option<(&ClaimFigures, i64)> {
        match &self.figures {
            FiguresView::Counted { figures, age_ms } => Some((figures, *age_ms)),
            _ => None,
        }
    }

    fn lacks(&self, part: Lack) -> bool {
        self.shape.as_ref().is_ok_and(|shape| shape.lacks(part))
    }
}

impl ClaimsPage {
    fn table(&self) -> Option<&TableView> {
        self.tables.get(self.chosen)
    }

    /// The cut-off of this view.
    fn cutoff_ms(&self, table: &TableView) -> i64 {
        self.view.cutoff_ms.unwrap_or(table.table.cutoff_ms)
    }

    /// The same page with another list.
    fn at(&self, list: ClaimList) -> ClaimsView {
        ClaimsView {
            list,
            key: None,
            ..self.view.clone()
        }
    }
}

/// The page's title: `Stale claims`.
pub fn title(view: &ClaimsView) -> String {
    match view.list {
        _ if view.key.is_some() => "One claim".to_owned(),
        ClaimList::All => "All claims".to_owned(),
        ClaimList::Other => "Claims of other statuses".to_owned(),
        list => format!("{} claims", list.label()),
    }
}

/// The page.
pub fn claims_page(page: ClaimsPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let Some(table) = page.table() else {
        return view! {
            <div class="page-h">
                <h1>"Claims"</h1>
                <p>"No claims table is known in this source."</p>
            </div>
            {empty::no_table(page.dialect)}
        }
        .into_any();
    };
    let shape = match &table.shape {
        Ok(shape) => shape,
        Err(why) => {
            return view! {
                <div class="page-h"><h1>"Claims"</h1><p>"This table cannot be read."</p></div>
                {bar::tables(&page, &links)}
                {empty::unreadable(&table.table, why)}
            }
            .into_any();
        }
    };
    let age = table
        .counted()
        .map(|(_, age_ms)| coverage(Trust::Exact, relative::ago(age_ms)));
    let judged = matches!(page.view.list, ClaimList::Stale | ClaimList::Sending);
    let overview = (judged && page.view.key.is_none()).then(|| {
        view! {
            <div class="cols">
                <div class="c8">{chart(&page, table)}</div>
                <div class="c4">{window::section(table, shape)}</div>
            </div>
        }
    });
    view! {
        <div class="page-h"><h1>"Claims"</h1><p>{sentence(&page, table)}</p>{age}</div>
        {bar::tables(&page, &links)}
        {bar::tabs(&page, table, &links)}
        {bar::controls(&page, table, &links)}
        {window::notes(&page, table, shape)}
        {overview}
        {rows::section(&page, table, shape, &links)}
        {foot::section(&page, table, shape, &links)}
    }
    .into_any()
}

/// The numbers that matter, in one sentence or two.
fn sentence(page: &ClaimsPage, table: &TableView) -> AnyView {
    let figures = match &table.figures {
        FiguresView::NotYet => return "Not counted yet.".into_any(),
        FiguresView::Failed(why) => {
            return view! { "Not counted: " {visible(why)} }.into_any();
        }
        FiguresView::Counted { figures, .. } => figures,
    };
    let cutoff = cutoff_words(table.table.cutoff_ms);
    let sending = thousands(figures.sending);
    let stale = if table.lacks(Lack::ClaimTime) {
        view! { {sending} " Sending; none has an age, because the table keeps no claim time." }
            .into_any()
    } else if figures.sending == 0 {
        view! { "Nothing is Sending; " {thousands(figures.sent)} " Sent." }.into_any()
    } else if figures.stale == 0 {
        view! { {sending} " Sending, " <b>{format!("none of them longer than {cutoff}")}</b> "." }
            .into_any()
    } else {
        let of_them = format!("{} of them longer than {cutoff}", thousands(figures.stale));
        view! { {sending} " Sending, " <b>{of_them}</b> "." }.into_any()
    };
    view! { {stale} {unknown_here(page)} }.into_any()
}

/// Verdicts are known only of the rows that were read.
fn unknown_here(page: &ClaimsPage) -> Option<String> {
    let list = page.list.as_ref().ok()?;
    let unknown = list
        .rows
        .iter()
        .filter(|row| row.judgement() == Some(Judgement::Unknown))
        .count();
    if unknown == 0 {
        return None;
    }
    Some(match list.rows.len() {
        1 => " Nobody can say whether the one on this page was sent.".to_owned(),
        rows if rows == unknown => {
            format!(" For all {rows} on this page nobody can say whether they were sent.")
        }
        rows => {
            format!(" For {unknown} of the {rows} on this page nobody can say whether it was sent.")
        }
    })
}

fn chart(page: &ClaimsPage, table: &TableView) -> AnyView {
    let content = match &table.figures {
        FiguresView::NotYet => view! {
            <p class="sec-p">"Claims are counted in the background; the first count is not done yet."</p>
        }
        .into_any(),
        FiguresView::Failed(why) => view! {
            <p class="sec-p">"They could not be counted: " {visible(why)}</p>
        }
        .into_any(),
        FiguresView::Counted { figures, .. } if figures.sending == 0 => view! {
            <p class="sec-p">"Nothing is Sending, so there are no ages to show."</p>
        }
        .into_any(),
        FiguresView::Counted { figures, .. } => ages(&Ages {
            counts: &figures.ages,
            ageless: figures.ageless,
            cutoff_ms: page.cutoff_ms(table),
            window_ms: table.table.window_ms,
            column: table.table.columns.claimed_at.as_deref(),
        }),
    };
    let age = table.counted().map(|(figures, age_ms)| {
        let words = format!(
            "{}, {}",
            count(figures.sending, "claim"),
            relative::ago(age_ms)
        );
        coverage(Trust::Exact, words)
    });
    view! {
        <section class="sec first" aria-labelledby="age">
            <header class="sec-h"><h2 id="age">"Age of Sending claims"</h2>{age}</header>
            {content}
        </section>
    }
    .into_any()
}

/// How many Sending claims are older than a cut-off, where the counted ages tell.
fn older_than(table: &TableView, cutoff_ms: i64) -> Option<i64> {
    let (figures, _) = table.counted()?;
    if cutoff_ms == table.table.cutoff_ms {
        return Some(figures.stale);
    }
    let bound = AGE_BUCKETS
        .iter()
        .position(|seconds| seconds * 1_000 == cutoff_ms)?;
    Some(figures.ages.iter().skip(bound + 1).sum())
}

/// The CSS class and the symbol of a status.
pub(crate) fn status_look(status: &ClaimStatus) -> (&'static str, &'static str) {
    match status {
        ClaimStatus::Sending => ("processing", "s-processing"),
        ClaimStatus::Sent => ("succeeded", "s-succeeded"),
        ClaimStatus::Other(_) => ("other", "i-flag"),
    }
}

/// The page of one key.
fn key_view(page: &ClaimsPage, key: &str, links: &SourceLinks) -> String {
    let view = ClaimsView {
        list: ClaimList::All,
        key: Some(key.to_owned()),
        cutoff_ms: None,
        ..page.view.clone()
    };
    links.claims(&view, None)
}
