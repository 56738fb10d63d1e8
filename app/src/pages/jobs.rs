//! Lists of jobs by state.

use leptos::prelude::*;

use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::job_rows::{TableOptions, job_table};
use crate::components::message::{Tone, message};
use crate::components::number::{count, thousands};
use crate::components::pager::{Pager, pager};
use crate::components::shell::{CountsView, SourceChip, page_context};
use crate::components::state;
use crate::components::time::kept::ago;
use crate::figures::{ALL_JOBS, COUNTED};
use crate::links::{Cursor, Order, SourceLinks};
use crate::model::state::ListState;
use crate::pages::messages::{in_place, seconds};
use crate::ports::error::StoreError;
use crate::ports::jobs::{JobFilter, JobPage};

mod filters;
mod order;

pub use order::{ByChange, Ordering, WhyById};

/// Says so where no queue row and no server knows the queue that is asked for.
fn unknown_queue(page: &JobsPage) -> String {
    match &page.filter.queue {
        Some(queue) if !page.queues.is_empty() && !page.queues.contains(queue) => {
            format!(
                " No queue is called “{queue}” now; there are: {}.",
                page.queues.join(", ")
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
mod toolbar;

/// What the page shows.
#[derive(Debug)]
pub struct JobsPage {
    /// The source.
    pub source: SourceChip,
    /// What narrows the list.
    pub filter: JobFilter,
    /// Where this page lies; `None` for the newest.
    pub cursor: Option<Cursor>,
    /// Rows at most, where the URL says so.
    pub limit: Option<u32>,
    /// The order, where the URL says so.
    pub asked: Option<Order>,
    /// The order that the rows are in.
    pub ordering: Ordering,
    /// The rows.
    pub list: Result<JobPage, StoreError>,
    /// Jobs by state, where they were counted.
    pub counts: Option<CountsView>,
    /// Queues that are known, to choose from.
    pub queues: Vec<String>,
}

impl JobsPage {
    /// A list in the order of this one.
    fn url(&self, links: &SourceLinks, filter: &JobFilter, cursor: Option<Cursor>) -> String {
        links.jobs_in(self.asked, filter, cursor.as_ref(), self.limit)
    }
}

/// The page's title: `Failed jobs`.
pub fn title(state: Option<ListState>) -> &'static str {
    match state {
        None => "All jobs",
        Some(ListState::Enqueued) => "Enqueued jobs",
        Some(ListState::Scheduled) => "Scheduled jobs",
        Some(ListState::Retrying) => "Retrying jobs",
        Some(ListState::Processing) => "Processing jobs",
        Some(ListState::Awaiting) => "Awaiting jobs",
        Some(ListState::Succeeded) => "Succeeded jobs",
        Some(ListState::Failed) => "Failed jobs",
        Some(ListState::Deleted) => "Deleted jobs",
    }
}

/// The page.
pub fn jobs_page(page: JobsPage) -> AnyView {
    let links = page_context().links.source(&page.source.name);
    let age = page.counts.as_ref().map(|counts| {
        let trust = if counts.counts.exact {
            Trust::Exact
        } else {
            Trust::Estimate
        };
        coverage(trust, ago(COUNTED, counts.counts.as_of))
    });
    view! {
        <div class="page-h">
            <h1>{title(page.filter.state)}</h1>
            <p>{sentence(&page)}</p>
            {chip(&page, &links)}
            {age}
        </div>
        {tabs(&page, &links)}
        {filters::bar(&page, &links)}
        {order::note(&page)}
        {body(&page, &links)}
    }
    .into_any()
}

/// Says how many came while the page is open, and leads to them. Of a filtered list only what came
/// into the whole list is known.
fn chip(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let words = match (page.filter.is_plain(), page.filter.state) {
        (true, _) => "new".to_owned(),
        (false, Some(state)) => format!("in {}, filtered or not", state.label()),
        (false, None) => "in all, filtered or not".to_owned(),
    };
    let newest = page.url(links, &page.filter, None);
    // Its text keeps its place before anything came.
    let none = format!("+0 {words}");
    view! { <a class="newchip" href=newest data-live-new=words>{none}</a> }.into_any()
}

fn total(page: &JobsPage) -> Option<i64> {
    let counts = page.counts.as_ref()?;
    Some(
        page.filter
            .state
            .map_or_else(|| counts.total(), |state| counts.of(state)),
    )
}

/// The numbers that matter, in one sentence.
fn sentence(page: &JobsPage) -> String {
    let Some(total) = total(page) else {
        return "Not counted yet.".to_owned();
    };
    if page.filter.is_plain() {
        return all_of(page.filter.state, total);
    }
    let word = page.filter.state.map_or("jobs", |_| "of them");
    let all = all_of(page.filter.state, total);
    match &page.list {
        Ok(list) if page.cursor.is_none() && !list.has_older => {
            let rows = i64::try_from(list.rows.len()).unwrap_or(i64::MAX);
            format!("{all} {} match.", thousands(rows))
        }
        Ok(list) if let Some(matching) = page.ordering.matching() => {
            let matching = matching.max(at_least(list));
            format!("{all} {} {word} match, as collected.", thousands(matching))
        }
        Ok(list) => format!("{all} At least {} {word} match.", thousands(at_least(list))),
        Err(_) => all,
    }
}

fn at_least(list: &JobPage) -> i64 {
    let rows = i64::try_from(list.rows.len()).unwrap_or(i64::MAX);
    rows + i64::from(list.has_newer) + i64::from(list.has_older)
}

fn all_of(state: Option<ListState>, total: i64) -> String {
    let jobs = count(total, "job");
    let one = total == 1;
    let tail = match state {
        None => "in every state.",
        Some(ListState::Enqueued) if one => "waits in a queue for a worker.",
        Some(ListState::Enqueued) => "wait in a queue for a worker.",
        Some(ListState::Scheduled) if one => "waits until it is due.",
        Some(ListState::Scheduled) => "wait until they are due.",
        Some(ListState::Retrying) if one => "failed and waits for its next try.",
        Some(ListState::Retrying) => "failed and wait for their next try.",
        Some(ListState::Processing) if one => "is with a worker.",
        Some(ListState::Processing) => "are with a worker.",
        Some(ListState::Awaiting) if one => "waits for another job to finish.",
        Some(ListState::Awaiting) => "wait for another job to finish.",
        Some(ListState::Succeeded) => "succeeded and not yet expired.",
        Some(ListState::Failed) if one => "failed for good and stays until somebody acts.",
        Some(ListState::Failed) => "failed for good and stay until somebody acts.",
        Some(ListState::Deleted) => "deleted and not yet expired.",
    };
    format!("{jobs} {tail}")
}

fn tabs(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let figure = |number: Option<i64>| number.map_or_else(|| "–".to_owned(), thousands);
    let on = |tab: Option<ListState>| page.filter.state == tab;
    let all = {
        let href = links.jobs(&JobFilter::default(), None, None);
        let total = figure(page.counts.as_ref().map(CountsView::total));
        view! {
            <li>
                <a
                    class=if on(None) { "tab on" } else { "tab" }
                    href=href
                    aria-current=on(None).then_some("page")
                >
                    "All " <span class="tab-c" data-live=ALL_JOBS>{total}</span>
                </a>
            </li>
        }
    };
    let states: Vec<_> = ListState::ALL
        .into_iter()
        .map(|tab| {
            let on = on(Some(tab));
            let class = format!("tab {}{}", tab.slug(), if on { " on" } else { "" });
            let number = page.counts.as_ref().map(|counts| counts.of(tab));
            let value = number.map(|number| number.to_string());
            let as_of = page
                .counts
                .as_ref()
                .map(|counts| crate::components::time::machine(counts.counts.as_of));
            view! {
                <li>
                    <a class=class href=links.state(tab) aria-current=on.then_some("page")>
                        {icon(state::symbol(Some(tab)))} {tab.label()} " "
                        <span
                            class="tab-c"
                            data-figure=tab.slug()
                            data-live=tab.slug()
                            data-value=value
                            data-as-of=as_of
                        >
                            {figure(number)}
                        </span>
                    </a>
                </li>
            }
        })
        .collect();
    view! { <nav class="tabs" aria-label="State"><ul>{all} {states}</ul></nav> }.into_any()
}

fn body(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let list = match &page.list {
        Ok(list) => list,
        Err(StoreError::TimedOut(limit)) => return timed_out(page, links, &seconds(*limit)),
        Err(cause) => return in_place(cause),
    };
    if list.rows.is_empty() {
        return nothing(page, links);
    }
    let at = |cursor: Cursor| page.url(links, &page.filter, Some(cursor));
    let (top, bottom) = page.ordering.ends(list);
    let pages = Pager {
        newest: page.cursor.map(|_| page.url(links, &page.filter, None)),
        newer: top
            .filter(|_| list.has_newer)
            .map(|place| at(Cursor::Before(place))),
        older: bottom
            .filter(|_| list.has_older)
            .map(|place| at(Cursor::After(place))),
    };
    let first = page.ordering.first();
    let words = format!(
        "{}, {first}. Pages follow the rows: nothing shifts when jobs arrive.",
        count(i64::try_from(list.rows.len()).unwrap_or(i64::MAX), "row"),
    );
    let options = TableOptions {
        state: page.filter.state,
        caption: format!("{}, {first}", title(page.filter.state)),
        tick: page.source.read_only.is_none(),
        by_change: matches!(page.ordering, Ordering::Changed(_)),
    };
    let table = job_table(&list.rows, links, &options);
    view! { {toolbar::form(page, links, table)} {pager(pages, words)} }.into_any()
}

/// No row: because there is none, because the filter hides them, or because the page lies beyond
/// the end.
fn nothing(page: &JobsPage, links: &SourceLinks) -> AnyView {
    let plain = JobFilter {
        state: page.filter.state,
        ..JobFilter::default()
    };
    let start = page.url(links, &page.filter, None);
    if page.cursor.is_some() {
        let words = "The jobs that were here have moved on to other states or have expired.";
        let offers = vec![("To the newest".to_owned(), start)];
        return message(
            Tone::Plain,
            "i-info",
            "No jobs are left on this page",
            words,
            offers,
        )
        .into_any();
    }
    let total = total(page);
    if !page.filter.is_plain() {
        let mut words = match total {
            Some(total) => {
                format!("Without the filters: {}", all_of(page.filter.state, total))
            }
            None => "How many there are without the filters is not counted yet.".to_owned(),
        };
        words.push_str(&unknown_queue(page));
        let offers = vec![(
            "Clear the filters".to_owned(),
            page.url(links, &plain, None),
        )];
        return message(
            Tone::Plain,
            "i-search",
            "No job matches these filters",
            words,
            offers,
        )
        .into_any();
    }
    let proof = page.counts.as_ref().map_or_else(String::new, |counts| {
        format!(
            "The source answers: {} in all, {} of them succeeded, counted {}.",
            count(counts.total(), "job"),
            thousands(counts.of(ListState::Succeeded)),
            counts.age(),
        )
    });
    let (tone, headline) = empty(page.filter.state);
    let mut offers = Vec::new();
    if page.filter.state != Some(ListState::Succeeded) {
        offers.push((
            "See what succeeded".to_owned(),
            links.state(ListState::Succeeded),
        ));
    }
    let symbol = if tone == Tone::Good {
        "s-succeeded"
    } else {
        "i-info"
    };
    message(tone, symbol, headline, proof, offers).into_any()
}

fn empty(state: Option<ListState>) -> (Tone, &'static str) {
    match state {
        Some(ListState::Failed) => (Tone::Good, "Nothing rests in Failed"),
        Some(ListState::Retrying) => (Tone::Good, "No job waits for a retry"),
        Some(ListState::Enqueued) => (Tone::Good, "The queues are empty"),
        Some(ListState::Scheduled) => (Tone::Plain, "No job waits for a later time"),
        Some(ListState::Processing) => (Tone::Plain, "No worker is busy"),
        Some(ListState::Awaiting) => (Tone::Plain, "No job waits for another one"),
        Some(ListState::Succeeded) => (Tone::Plain, "No succeeded job is kept"),
        Some(ListState::Deleted) => (Tone::Plain, "No deleted job is kept"),
        None => (Tone::Plain, "There are no jobs yet"),
    }
}

fn timed_out(page: &JobsPage, links: &SourceLinks, limit: &str) -> AnyView {
    let headline = format!("This filter took longer than {limit}: narrow it");
    let words = "It was stopped on purpose, to protect the database. A shorter time range, a queue \
                 or a state narrows it; counts and other pages are not affected.";
    let plain = JobFilter {
        state: page.filter.state,
        ..JobFilter::default()
    };
    let mut offers = Vec::new();
    if page.filter.from.is_none() {
        let day = page_context().now - chrono::TimeDelta::hours(24);
        let narrowed = JobFilter {
            from: Some(day),
            ..page.filter.clone()
        };
        offers.push((
            "Only the last 24 h".to_owned(),
            page.url(links, &narrowed, None),
        ));
    }
    if !page.filter.is_plain() {
        offers.push((
            "Clear the filters".to_owned(),
            page.url(links, &plain, None),
        ));
    }
    message(Tone::Warn, "s-scheduled", headline, words, offers).into_any()
}
