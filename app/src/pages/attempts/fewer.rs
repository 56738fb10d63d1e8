//! What fewer retries would cost.

use leptos::prelude::*;

use super::words;
use super::{AttemptsPage, Sheet};
use crate::components::coverage::Trust;
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::links::SourceLinks;
use crate::model::insights::JobKind;
use crate::model::insights::fewer::{Fewer, Limit};
use crate::model::words::duration;
use crate::pages::messages::in_place;

/// The table of the kind that wasted most.
pub(super) fn section(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let content = match &page.fewer {
        Err(cause) => in_place(cause),
        Ok(None) => view! {
            <p class="sec-p">"No job needed a second attempt in this time: there is nothing to save."</p>
        }
        .into_any(),
        Ok(Some((kind, fewer))) => table(page, links, kind, fewer),
    };
    view! {
        <section class="sec" aria-labelledby="econ-h">
            <header class="sec-h">
                <h2 id="econ-h">"What fewer retries would cost"</h2>
                {page.csv(links, Sheet::Fewer)}
                {page.coverage(Trust::Estimate)}
            </header>
            {content}
        </section>
    }
    .into_any()
}

/// The finding in a sentence.
fn sentence(fewer: &Fewer) -> String {
    let now = count(i64::from(fewer.now.attempts), "attempt");
    match fewer.free {
        Some(free) if free.saved > 0 => format!(
            "Of {now} allowed, {} would have lost nothing and saved {}.",
            free.attempts,
            count(free.saved, "attempt"),
        ),
        Some(free) => format!(
            "Of {now} allowed, {} would have been enough; none went beyond.",
            free.attempts
        ),
        None => format!("The last of {now} still helped: no lower maximum loses nothing."),
    }
}

fn table(page: &AttemptsPage, links: &SourceLinks, kind: &JobKind, fewer: &Fewer) -> AnyView {
    let row = |limit: &Limit, class: Option<&'static str>, words: String, note: &'static str| {
        let as_now = limit.attempts == fewer.now.attempts;
        let lost = if as_now {
            "\u{2013}".to_owned()
        } else {
            format!(
                "{} of {}",
                thousands(limit.lost),
                thousands(fewer.recovered)
            )
        };
        let about = |ms: Option<i64>| ms.map_or_else(|| "not known".to_owned(), duration);
        let saved = if as_now {
            "\u{2013}".to_owned()
        } else {
            about(limit.backoff_saved_ms)
        };
        view! {
            <tr class=class data-attempts=limit.attempts.to_string()>
                <th scope="row"><b>{words}</b> " " <span class="sub">{note}</span></th>
                <td class="num">{lost}</td>
                <td class="num">{words::or_dash(limit.saved)}</td>
                <td class="num">{saved}</td>
                <td class="num">{about(limit.known_after_ms)}</td>
            </tr>
        }
        .into_any()
    };
    let attempts = |limit: &Limit| count(i64::from(limit.attempts), "attempt");
    let mut rows = vec![row(&fewer.now, None, attempts(&fewer.now), "as now")];
    rows.extend(
        fewer
            .free
            .iter()
            .map(|limit| row(limit, Some("best"), attempts(limit), "loses nothing")),
    );
    rows.extend(
        fewer
            .dearer
            .iter()
            .map(|limit| row(limit, None, attempts(limit), "")),
    );
    let alone = links.attempts(&page.view.of_kind(kind));
    let which = if page.view.job_type.is_some() {
        "its finished rounds, replayed under lower limits"
    } else {
        "wasted most; its finished rounds, replayed under lower limits"
    };
    view! {
        <p class="sec-p">
            <a href=alone title=words::whole_kind(kind)>{kind_name(kind)}</a>
            " " {which} ". " <b>{sentence(fewer)}</b>
        </p>
        <div
            class="scroll-x"
            role="region"
            aria-label="Table of lower retry limits"
            tabindex="0"
        >
            <table class="tbl one econ">
                <caption class="vh">"Effect of a lower retry limit"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Stop after"</th>
                        <th scope="col" class="num">"Recoveries lost"</th>
                        <th scope="col" class="num">"Attempts saved"</th>
                        <th scope="col" class="num">"Backoff saved, about"</th>
                        <th scope="col" class="num">"Known as failed after"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
