//! The raw state history: every row as stored, newest first.

use leptos::prelude::*;

use super::{JobPage, kit};
use crate::components::coverage::{Trust, coverage};
use crate::components::icon::icon;
use crate::components::number::{count, thousands};
use crate::components::state;
use crate::components::text::stored;
use crate::model::attempt::millis_between;
use crate::model::state::{Instant, ListState, StateRow};
use crate::model::words::duration;

/// A reason is cut to so many characters in its line.
const REASON: usize = 160;
/// A value of a row's data is cut to so many characters.
const VALUE: usize = 2_000;

/// The section.
pub(super) fn section(page: &JobPage) -> AnyView {
    let record = page.record();
    let total = record.states_total;
    let older = page.given.older.as_ref();
    let rows = older.map_or(record.states.as_slice(), |(_, rows)| rows.as_slice());
    let shown_rows = super::i64_of(rows.len());
    let whole = older.is_none() && shown_rows >= total;
    let coverage = if whole {
        coverage(Trust::Exact, format!("all {}", count(total, "row"))).into_any()
    } else if older.is_some() {
        coverage(
            Trust::Partial,
            format!("{} of {} rows", thousands(shown_rows), thousands(total)),
        )
        .into_any()
    } else {
        coverage(
            Trust::Partial,
            format!(
                "showing the newest {} of {} rows",
                thousands(shown_rows),
                thousands(total)
            ),
        )
        .into_any()
    };
    let after = match older {
        // The first row of an older page was followed by a row that is not on it.
        Some(_) => None,
        None => Some(page.given.now),
    };
    let items = rows
        .iter()
        .enumerate()
        .rev()
        .map(|(index, row)| item(page, row, rows.get(index + 1), after))
        .collect_view();
    let content = if rows.is_empty() {
        let words = if total == 0 {
            "No state row is stored."
        } else {
            "No older row is stored."
        };
        view! { <p class="sec-p">{words}</p> {pager(page, rows, whole)} }.into_any()
    } else {
        view! { <ol class="hist">{items}</ol> {pager(page, rows, whole)} }.into_any()
    };
    kit::section("hist", "State history", Some(coverage), content)
}

fn pager(page: &JobPage, rows: &[StateRow], whole: bool) -> Option<AnyView> {
    if whole {
        return None;
    }
    let job = page.urls.job(page.record().id);
    let newest = page
        .given
        .older
        .is_some()
        .then(|| view! { <a class="btn small" href=format!("{job}#hist")>"Newest rows"</a> });
    let older = rows.first().map(|row| {
        let href = format!("{job}?history_before={}#hist", row.id);
        view! { <a class="btn small" href=href rel="next">"Older rows"</a> }
    });
    Some(view! { <p class="hist-p">{newest} {older}</p> }.into_any())
}

fn item(page: &JobPage, row: &StateRow, next: Option<&StateRow>, now: Option<Instant>) -> AnyView {
    let list = ListState::of(&row.name, row.reason.as_deref());
    let current = page.record().state.id == Some(row.id);
    let lasted = match (next, now) {
        (Some(next), _) => {
            let ms = millis_between(row.created_at, next.created_at);
            if ms < 0 {
                format!("next row {} earlier", duration(-ms))
            } else {
                duration(ms)
            }
        }
        (None, Some(now)) => {
            let ms = millis_between(row.created_at, now).max(0);
            format!("now, {}", duration(ms))
        }
        (None, None) => String::new(),
    };
    let reason = row.reason.as_deref().map(|reason| {
        view! { <span class="two">{stored(&kit::line(reason, REASON))}</span> }
    });
    let mark = current.then(|| view! { <span class="sub">" (its state)"</span> });
    view! {
        <li class=state::class(list) data-state-row=row.id.to_string()>
            {icon(state::symbol(list))}
            <span class="hist-t mono">{kit::clock(row.created_at, page.given.now)}</span>
            <details class="hist-n">
                <summary>
                    <b>{stored(row.name.as_str())}</b>
                    {mark}
                    {reason}
                </summary>
                {data(row)}
            </details>
            <span class="hist-d">{lasted}</span>
        </li>
    }
    .into_any()
}

/// The row's data, every pair of it.
fn data(row: &StateRow) -> AnyView {
    let mut pairs: Vec<AnyView> = vec![pair("row", &row.id.to_string())];
    if let Some(reason) = row.reason.as_deref().filter(|r| r.chars().count() > REASON) {
        pairs.push(pair("reason", reason));
    }
    pairs.extend(row.data.pairs().map(|(key, value)| pair(key, value)));
    let corrupt = row.data.is_corrupt().then(|| {
        view! { <p class="sub warn">"Its stored data is not a JSON object and cannot be read."</p> }
    });
    view! {
        {corrupt}
        <dl class="params small">{pairs}</dl>
    }
    .into_any()
}

fn pair(key: &str, value: &str) -> AnyView {
    let (text, cut) = kit::cut(value, VALUE);
    let more = cut.then(|| {
        let total = super::i64_of(value.chars().count());
        view! { <span class="sub">{format!("\u{2026} cut, {} characters in all", thousands(total))}</span> }
    });
    view! {
        <div>
            <dt class="mono">{stored(&kit::line(key, 100))}</dt>
            <dd class="mono raw">{stored(text)} {more}</dd>
        </div>
    }
    .into_any()
}
