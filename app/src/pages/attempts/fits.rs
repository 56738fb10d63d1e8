//! Whether the delays that were planned fit the policy that they show.

use leptos::prelude::*;

use super::kinds::policy_words;
use super::words;
use super::{AttemptsPage, Sheet};
use crate::components::coverage::Trust;
use crate::components::icon::icon;
use crate::components::kind::kind_name;
use crate::components::number::{count, thousands};
use crate::links::SourceLinks;
use crate::model::insights::fit::{PolicyFit, RetryFit, Shape};
use crate::model::words::duration_range;
use crate::pages::messages::in_place;

/// Policies listed at most; the rest is in the CSV.
const LISTED: usize = 12;
/// Policies whose retries lie open.
const OPEN: usize = 1;

/// One policy after the other.
pub(super) fn section(page: &AttemptsPage, links: &SourceLinks) -> AnyView {
    let content = match &page.fits {
        Err(cause) => in_place(cause),
        Ok(all) if all.is_empty() => view! {
            <p class="sec-p">"No retry was planned in this time, so no policy shows."</p>
        }
        .into_any(),
        Ok(all) => {
            let mut order: Vec<&PolicyFit> = all.iter().collect();
            order.sort_by_key(|fit| (fit.shape != Shape::Varied, -fit.delays()));
            let list: Vec<_> = order
                .iter()
                .take(LISTED)
                .enumerate()
                .map(|(place, fit)| policy(fit, place < OPEN))
                .collect();
            let rest = all.len().saturating_sub(LISTED);
            let rest = (rest > 0).then(|| {
                let words = format!("{rest} more are in the CSV.");
                view! { <p class="sub after">{words}</p> }
            });
            view! { <ul class="fits">{list}</ul> {rest} }.into_any()
        }
    };
    view! {
        <section class="sec" aria-labelledby="fit-h">
            <header class="sec-h">
                <h2 id="fit-h">"Did the delays fit the policy?"</h2>
                {page.csv(links, Sheet::Delays)}
                {page.coverage(Trust::Exact)}
            </header>
            <p class="sec-p">
                "Hangfire stores no policy: each is inferred from the delays that it chose, by the day. "
                <a href=links.policy()>"Simulate a policy"</a>
            </p>
            {content}
        </section>
    }
    .into_any()
}

fn policy(fit: &PolicyFit, open: bool) -> AnyView {
    let planned = count(fit.delays(), "planned delay");
    let (symbol, class, verdict) = match fit.shape {
        Shape::Default => (
            "i-check",
            "good",
            format!("All of {planned} lie in the bands of the default formula."),
        ),
        Shape::List => (
            "i-check",
            "good",
            format!("{planned}, the same before each retry every time."),
        ),
        Shape::Varied => (
            "i-warn",
            "warn",
            format!(
                "{planned} of several lengths before one retry, and not as the default formula \
                 draws them: the policy draws its own, or it was changed."
            ),
        ),
    };
    let rows: Vec<_> = fit.retries.iter().map(row).collect();
    let expected = match fit.shape {
        Shape::Varied => "Default formula",
        _ => "Policy",
    };
    let name = kind_name(&fit.kind);
    let caption = format!("Delays before the retries of {name}");
    view! {
        <li>
            <p>
                <b title=words::whole_kind(&fit.kind)>{name.clone()}</b> " "
                <span class="sub">{policy_words(fit)} ", inferred"</span>
            </p>
            <p class="fit-v">
                <span class=class>{icon(symbol)}</span> " " {verdict}
            </p>
            <details open=open>
                <summary class="sub">"By retry"</summary>
                <div class="scroll-x" role="region" aria-label=caption.clone() tabindex="0">
                    <table class="tbl one fit">
                        <caption class="vh">{caption.clone()}</caption>
                        <thead>
                            <tr>
                                <th scope="col">"Retry"</th>
                                <th scope="col" class="num">"Delays"</th>
                                <th scope="col" class="num">"Seen"</th>
                                <th scope="col" class="num">{expected}</th>
                                <th scope="col">"Fits"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </details>
        </li>
    }
    .into_any()
}

fn row(retry: &RetryFit) -> AnyView {
    let fits = match retry.fits() {
        Some(true) => "yes".into_any(),
        Some(false) => view! { <b class="warn">"no"</b> }.into_any(),
        None => "\u{2013}".into_any(),
    };
    let band = retry.band.map_or_else(
        || "\u{2013}".to_owned(),
        |band| duration_range(band.min_ms, band.max_ms),
    );
    view! {
        <tr>
            <th scope="row">{retry.retry.to_string()}</th>
            <td class="num">{thousands(retry.delays)}</td>
            <td class="num">{duration_range(retry.seen.min_ms, retry.seen.max_ms)}</td>
            <td class="num">{band}</td>
            <td>{fits}</td>
        </tr>
    }
    .into_any()
}
