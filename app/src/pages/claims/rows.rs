//! The claims of a page: a table whose rows carry evidence and verdict, or a plainer one where
//! there is nothing to judge.

use leptos::prelude::*;

use super::acts::{self, Acting};
use super::{ClaimsPage, JudgedClaim, TableView, empty, evidence, older_than, status_look, words};
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::number::{count, thousands};
use crate::components::pager::{Pager, pager};
use crate::components::relative;
use crate::components::shell::page_context;
use crate::components::state;
use crate::components::text::{cut, shown, visible};
use crate::components::time;
use crate::links::SourceLinks;
use crate::links::claims::{ClaimCursor, ClaimList, cutoff_words, item};
use crate::model::claim::evidence::Owner;
use crate::model::claim::keys::Match;
use crate::model::claim::table::{ClaimsTable, Shape};
use crate::model::claim::verdict::Judgement;
use crate::model::claim::{Claim, ClaimStatus};
use crate::model::state::Instant;
use crate::ports::claims::ClaimPlace;

/// Jobs of one claim that a row names.
const OWNERS: usize = 3;

/// The list with its heading, or the message that stands in its place.
pub(super) fn section(
    page: &ClaimsPage,
    table: &TableView,
    shape: &Shape,
    links: &SourceLinks,
) -> AnyView {
    let list = match &page.list {
        Ok(list) => list,
        Err(cause) => return framed(page, table, empty::failed(page, shape, cause, links)),
    };
    if list.rows.is_empty() {
        return framed(page, table, empty::nothing(page, table, links));
    }
    let judged = if page.view.key.is_some() {
        list.rows.iter().any(|row| row.verdict.is_some())
    } else {
        matches!(page.view.list, ClaimList::Stale | ClaimList::Sending)
    };
    let acting = Acting::of(page, table, shape, links, &list.rows);
    let rows = if judged {
        acts::around(&acting, judged_table(&acting, &list.rows, links))
    } else {
        plain_table(page, &table.table, &list.rows, links)
    };
    let place = |claim: &Claim| ClaimPlace {
        claimed_at: claim.claimed_at.as_ref().map(|time| time.token.clone()),
        key: claim.key.clone(),
    };
    let at = |cursor: ClaimCursor| links.claims(&page.view, Some(&cursor));
    let (before, after) = (
        list.rows
            .first()
            .filter(|_| list.has_before)
            .map(|row| at(ClaimCursor::Before(place(&row.claim)))),
        list.rows
            .last()
            .filter(|_| list.has_after)
            .map(|row| at(ClaimCursor::After(place(&row.claim)))),
    );
    // Stale and Sending begin with the oldest: what comes after a row is newer.
    let oldest_first = judged;
    let pages = if oldest_first {
        Pager {
            newest: None,
            newer: after,
            older: before,
        }
    } else {
        Pager {
            newest: page.cursor.as_ref().map(|_| links.claims(&page.view, None)),
            newer: before,
            older: after,
        }
    };
    let shown = count(i64::try_from(list.rows.len()).unwrap_or(i64::MAX), "row");
    let order = if oldest_first {
        "oldest first"
    } else {
        "newest first"
    };
    let guard = if judged {
        " Each action is one guarded change: only if the claim is still Sending with the claim time \
         shown here."
    } else {
        ""
    };
    let pages = pager(pages, format!("{shown}, {order}.{guard}"));
    framed(page, table, view! { {rows} {pages} }.into_any())
}

fn framed(page: &ClaimsPage, table: &TableView, content: AnyView) -> AnyView {
    let (heading, sub) = heading(page, table);
    let age = page
        .list
        .is_ok()
        .then(|| coverage(Trust::Exact, "read just now"));
    view! {
        <section class="sec" aria-labelledby="claims-h">
            <header class="sec-h">
                <h2 id="claims-h">{heading}</h2>
                <p class="sub">{sub}</p>
                {age}
            </header>
            {content}
        </section>
    }
    .into_any()
}

fn heading(page: &ClaimsPage, table: &TableView) -> (String, String) {
    let counted = |n: Option<i64>, one: &str, many: &str| match n {
        Some(1) => format!("1 {one}"),
        Some(n) => format!("{} {many}", thousands(n)),
        None => {
            let mut words = many.to_owned();
            if let Some(first) = words.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            words
        }
    };
    if page.view.key.is_some() {
        return ("Claims of one key".to_owned(), String::new());
    }
    let figures = table.counted().map(|(figures, _)| figures);
    match page.view.list {
        ClaimList::Stale => {
            let cutoff = page.cutoff_ms(table);
            (
                counted(older_than(table, cutoff), "stale claim", "stale claims"),
                format!("Sending for longer than {}", cutoff_words(cutoff)),
            )
        }
        ClaimList::Sending => (
            counted(
                figures.map(|f| f.sending),
                "Sending claim",
                "Sending claims",
            ),
            "of any age".to_owned(),
        ),
        ClaimList::Sent => (
            counted(figures.map(|f| f.sent), "Sent claim", "Sent claims"),
            String::new(),
        ),
        ClaimList::Other => (
            "Claims of other statuses".to_owned(),
            "neither Sending nor Sent: nothing is done with them".to_owned(),
        ),
        ClaimList::All => ("All claims".to_owned(), String::new()),
    }
}

fn judged_table(acting: &Acting<'_>, rows: &[JudgedClaim], links: &SourceLinks) -> AnyView {
    let tick = acting.ticks.then(|| {
        view! { <th role="columnheader" scope="col" class="c-x"><span class="vh">"Tick"</span></th> }
    });
    let body: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| judged_row(acting, index, row, links))
        .collect();
    view! {
        <table class="tbl claims" role="table">
            <caption class="vh">"Claims with evidence and verdict, oldest first"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    {tick}
                    <th role="columnheader" scope="col" class="c-k">"Key and owner job"</th>
                    <th role="columnheader" scope="col" class="c-a">
                        <span class="age-w"><span>"Window"</span><span>"Age, claimed"</span></span>
                    </th>
                    <th role="columnheader" scope="col" class="c-h">"Holder"</th>
                    <th role="columnheader" scope="col" class="c-e">"Evidence"</th>
                    <th role="columnheader" scope="col" class="c-v">"Verdict"</th>
                    <th role="columnheader" scope="col" class="c-d">"Action"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
    }
    .into_any()
}

fn judged_row(
    acting: &Acting<'_>,
    index: usize,
    row: &JudgedClaim,
    links: &SourceLinks,
) -> AnyView {
    let age = row.evidence.as_ref().and_then(|known| known.age_ms);
    view! {
        <tr
            role="row"
            data-claim=row.claim.key.clone()
            data-status=row.claim.status.slug()
            data-verdict=row.judgement().map(Judgement::slug)
            data-claimed-at=row.claim.claimed_at.as_ref().map(|time| time.token.clone())
            data-age-ms=age.map(|ms| ms.to_string())
        >
            {acting.ticks.then(|| tick(row))}
            <th role="rowheader" scope="row" class="c-k">
                {words::key(&row.claim.key)}
                " "
                {owners(&row.owners, links)}
            </th>
            <td role="cell" class="c-a">{age_cell(acting.table, row)}</td>
            <td role="cell" class="c-h" data-l="Holder">{evidence::holder(row)}</td>
            <td role="cell" class="c-e">{evidence::cell(row)}</td>
            <td role="cell" class="c-v">{verdict(acting.table, row)}</td>
            <td role="cell" class="c-d">{acts::cell(acting, index, row)}</td>
        </tr>
    }
    .into_any()
}

/// The box that puts a claim into the form. Only what is safe can be ticked; the others say why
/// not.
fn tick(row: &JudgedClaim) -> AnyView {
    let key = words::key_label(&row.claim.key);
    let inner = if row.can_be_ticked() {
        let token = row
            .claim
            .claimed_at
            .as_ref()
            .map(|time| time.token.as_str());
        let label = format!("Tick the claim {key}");
        view! {
            <input
                type="checkbox"
                name="item"
                form="bulk"
                value=item(&row.claim.key, token)
                aria-label=label
            />
        }
        .into_any()
    } else {
        let why = match row.judgement() {
            Some(Judgement::Unknown) => "its outcome is unknown, which is settled one by one",
            Some(Judgement::Running) => "a job is still running it",
            _ => "it cannot be reclaimed now",
        };
        let label = format!("The claim {key} cannot be ticked: {why}");
        view! { <input type="checkbox" disabled aria-label=label.clone() title=label /> }.into_any()
    };
    view! { <td role="cell" class="c-x">{inner}</td> }.into_any()
}

/// The jobs behind a claim: mark, name, id.
pub(super) fn owners(owners: &[Owner], links: &SourceLinks) -> AnyView {
    if owners.is_empty() {
        return view! { <span class="two">"no job is known for this key"</span> }.into_any();
    }
    let shown: Vec<_> = owners
        .iter()
        .take(OWNERS)
        .map(|owner| owner_line(owner, links))
        .collect();
    let more = owners
        .len()
        .checked_sub(OWNERS)
        .filter(|more| *more > 0)
        .map(|more| {
            let words = format!(
                "and {}",
                count(i64::try_from(more).unwrap_or(i64::MAX), "more job")
            );
            view! { <span class="two">{words}</span> }
        });
    view! { {shown} {more} }.into_any()
}

fn owner_line(owner: &Owner, links: &SourceLinks) -> AnyView {
    let mark = owner.state.as_ref().map(|name| state::mark(name, None));
    let guess = (owner.by == Match::Argument)
        .then_some("Found by its argument: a guess, until redrive.toml maps keys to jobs");
    let name = cut(&owner.name, 120).into_owned();
    view! {
        <span class="two own" title=guess>
            {mark}
            <a class="cut" href=links.job(owner.job)>{visible(&name)}</a>
            <span>{owner.job} {guess.map(|_| "?")}</span>
        </span>
    }
    .into_any()
}

fn age_cell(table: &ClaimsTable, row: &JudgedClaim) -> AnyView {
    let Some(claimed) = &row.claim.claimed_at else {
        return view! { <span class="age-w"><span></span><b>"no claim time"</b></span> }.into_any();
    };
    let Some(at) = claimed.at else {
        let token = shown(&cut(&claimed.token, 40)).into_owned();
        return view! {
            <span class="age-w">
                <span></span>
                <b>"age not known"</b>
                <span></span>
                <span class="two" title="This claim time cannot be read as a time">{token}</span>
            </span>
        }
        .into_any();
    };
    let age = row.evidence.as_ref().and_then(|known| known.age_ms);
    let words = match age {
        Some(ms) if ms < -1_000 => view! { <b class="warn">"in the future"</b> }.into_any(),
        Some(ms) => view! { <b>{words::span(ms)}</b> }.into_any(),
        None => view! { <b>"age not known"</b> }.into_any(),
    };
    let bar = age.map(|ms| age_bar(table, row, at, ms));
    view! {
        <span class="age-w">
            <span>{bar}</span>
            {words}
            <span></span>
            <span class="two">{moment(at)}</span>
        </span>
    }
    .into_any()
}

/// The time of day, and the date where it is another one than today's.
fn moment(at: Instant) -> AnyView {
    let today = page_context().now.date_naive();
    if at.date_naive() == today {
        let text = at.format("%H:%M:%S").to_string();
        return view! {
            <time data-t="clock" datetime=time::machine(at) title=time::exact_text(at)>{text}</time>
        }
        .into_any();
    }
    let text = at.format("%-d %b %H:%M").to_string();
    view! { <time datetime=time::machine(at) title=time::exact_text(at)>{text}</time> }.into_any()
}

/// Width of the bar of a claim's age.
const BAR: f64 = 80.0;
/// An age that fills it: a day.
const FULL_MS: i64 = 86_400_000;

/// The age on a logarithmic line, with the cut-off and the end of the key window as marks.
fn age_bar(table: &ClaimsTable, row: &JudgedClaim, at: Instant, age_ms: i64) -> AnyView {
    let closes = row
        .evidence
        .as_ref()
        .and_then(|known| known.window_closes)
        .map(|closes| (closes - at).num_milliseconds());
    let over = closes.is_some_and(|closes| age_ms >= closes);
    let mark = |ms: i64| format!("M{} 0v10", number(bar_x(ms)));
    let class = if over { "age-f over" } else { "age-f" };
    let window = closes.map(|ms| view! { <path class="age-d" d=mark(ms)></path> });
    view! {
        <svg class="age" width="80" height="10" viewBox="0 0 80 10" aria-hidden="true">
            <rect class="age-t" x="0" y="4" width="80" height="2"></rect>
            <rect class=class x="0" y="3" width=number(bar_x(age_ms)) height="4"></rect>
            <path class="age-c" d=mark(table.cutoff_ms)></path>
            {window}
        </svg>
    }
    .into_any()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing does not show the loss"
)]
fn bar_x(ms: i64) -> f64 {
    let minutes = |ms: i64| (1.0 + ms.clamp(0, FULL_MS) as f64 / 60_000.0).ln();
    BAR * minutes(ms) / minutes(FULL_MS)
}

fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded}")
}

/// Icon, word, how long the key is known, and why, one click away.
pub(super) fn verdict(table: &ClaimsTable, row: &JudgedClaim) -> AnyView {
    let Some(verdict) = &row.verdict else {
        return ().into_any();
    };
    let (class, line) = evidence::window(row, table.window_ms, page_context().now);
    view! {
        {chip(verdict.judgement)}
        <details class="why">
            <summary class=format!("two {class}")>{line}</summary>
            <p class="sub">{visible(&verdict.why)}</p>
        </details>
    }
    .into_any()
}

/// The verdict in a word, never by colour alone.
pub(crate) fn chip(judgement: Judgement) -> AnyView {
    let symbol = match judgement {
        Judgement::Running => "s-processing",
        Judgement::Safe => "i-check",
        Judgement::Unknown => "i-failures",
    };
    view! {
        <span class=format!("verdict {}", judgement.slug())>
            {icon(symbol)} {judgement.label()}
        </span>
    }
    .into_any()
}

/// Claims that need no verdict, newest first.
fn plain_table(
    page: &ClaimsPage,
    table: &ClaimsTable,
    rows: &[JudgedClaim],
    links: &SourceLinks,
) -> AnyView {
    let column = table
        .columns
        .provider_id
        .as_deref()
        .map_or_else(|| "Message id".to_owned(), |name| shown(name).into_owned());
    let body: Vec<_> = rows.iter().map(|row| plain_row(page, row, links)).collect();
    view! {
        <table class="tbl claims-p" role="table">
            <caption class="vh">"Claims, newest first"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"Key and owner job"</th>
                    <th role="columnheader" scope="col" class="p-s">"Status"</th>
                    <th role="columnheader" scope="col" class="p-i">{column}</th>
                    <th role="columnheader" scope="col" class="num p-t">"Claimed"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
    }
    .into_any()
}

fn plain_row(page: &ClaimsPage, row: &JudgedClaim, links: &SourceLinks) -> AnyView {
    let claim = &row.claim;
    let (class, symbol) = status_look(&claim.status);
    let verdict = row.judgement().map(|judgement| {
        let href = super::key_view(page, &claim.key, links);
        view! { " " {chip(judgement)} " " <a class="sub nw" href=href>"Settle it"</a> }
    });
    let jobs = (!row.owners.is_empty()).then(|| owners(&row.owners, links));
    let id = claim.provider_id.as_deref().map(|id| {
        let title = shown(&cut(id, 600)).into_owned();
        view! { <span class="mono cut" title=title>{visible(&cut(id, 80))}</span> }
    });
    let claimed = match (&claim.claimed_at, claim.at()) {
        (None, _) => "not recorded".into_any(),
        (Some(_), Some(at)) => time::ago(at).into_any(),
        (Some(claimed), None) => {
            let token = shown(&cut(&claimed.token, 40)).into_owned();
            view! { <span title="This claim time cannot be read as a time">{token}</span> }
                .into_any()
        }
    };
    view! {
        <tr
            role="row"
            data-claim=claim.key.clone()
            data-status=claim.status.slug()
            data-verdict=row.judgement().map(Judgement::slug)
            data-claimed-at=claim.claimed_at.as_ref().map(|time| time.token.clone())
        >
            <th role="rowheader" scope="row" class="c-k">{words::key(&claim.key)} " " {jobs}</th>
            <td role="cell" class="p-s">
                <span class=format!("pill {class}")>
                    {icon(symbol)} {status_words(&claim.status)}
                </span>
                {verdict}
            </td>
            <td role="cell" data-l="Message id">{id}</td>
            <td role="cell" class="num" data-l="Claimed">{claimed}</td>
        </tr>
    }
    .into_any()
}

fn status_words(status: &ClaimStatus) -> String {
    shown(&cut(&status.to_string(), 60)).into_owned()
}

/// `claimed 21 s ago`, for proofs in messages.
pub(super) fn claimed_ago(claim: &Claim) -> Option<String> {
    let age = (page_context().now - claim.at()?).num_milliseconds();
    Some(relative::ago(age))
}
