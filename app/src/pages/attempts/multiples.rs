//! Which attempt succeeded, a small drawing for each kind.

use leptos::prelude::*;

use super::AttemptsPage;
use crate::charts::distribution::distribution;
use crate::components::coverage::Trust;
use crate::components::kind::{kind_name, type_name};
use crate::components::number::thousands;
use crate::components::text::shown;
use crate::links::SourceLinks;
use crate::model::insights::endings::Ending;
use crate::model::insights::kinds::Kinds;

/// Kinds that are drawn at most.
const DRAWN: usize = 14;

/// The drawings; the table above holds the same numbers.
pub(super) fn section(page: &AttemptsPage, kinds: &Kinds, links: &SourceLinks) -> Option<AnyView> {
    let behind = page.behind(links);
    let with_some = || {
        kinds
            .rows
            .iter()
            .filter(|(_, numbers)| numbers.endings.finished() > 0)
    };
    let drawings: Vec<_> = with_some()
        .take(DRAWN)
        .map(|(kind, numbers)| {
            let href = |ending: Ending| Some(behind.ending(Some(kind), ending));
            let again = (numbers.again.finished() > 0).then(|| {
                let words = format!(
                    "after a requeue {}, {} gave up",
                    thousands(numbers.again.finished()),
                    thousands(numbers.again.gave_up)
                );
                view! { <p class="sub">{words}</p> }
            });
            let pending = (numbers.pending > 0).then(|| {
                let words = format!("{} pending", thousands(numbers.pending));
                view! { <p class="sub">{words}</p> }
            });
            view! {
                <figure class="sm">
                    <figcaption>
                        <b>{type_name(&kind.job_type)}</b>
                        <br />
                        {shown(&kind.method).into_owned()}
                    </figcaption>
                    {distribution(&kind_name(kind), &numbers.endings, href)}
                    {again}
                    {pending}
                </figure>
            }
        })
        .collect();
    if drawings.is_empty() {
        return None;
    }
    let rest = with_some().count().saturating_sub(DRAWN);
    let rest = (rest > 0).then(|| {
        let words = format!("{rest} more job types are in the table.");
        view! { <p class="sub after">{words}</p> }
    });
    Some(
        view! {
            <section class="sec" aria-labelledby="sm-h">
                <header class="sec-h">
                    <h2 id="sm-h">"Which attempt succeeded, by type"</h2>
                    <p class="sub">
                        "per cent of finished first rounds; heights are square roots so that the tail shows; × gave up"
                    </p>
                    {page.coverage(Trust::Exact)}
                </header>
                <div class="sms">{drawings}</div>
                {rest}
            </section>
        }
        .into_any(),
    )
}
