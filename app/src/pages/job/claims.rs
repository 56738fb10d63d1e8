//! The job's claims: an effect of its own that stands, was sent, or blocks its next run.

use leptos::prelude::*;

use super::{JobClaim, JobPage, kit};
use crate::actions::Action;
use crate::charts::lifeline::claim::ClaimSpan;
use crate::components::icon::icon;
use crate::components::text::{cut, shown, stored, visible};
use crate::links::SourceLinks;
use crate::links::claims::{ClaimList, ClaimsView};
use crate::model::claim::ClaimStatus;
use crate::model::claim::verdict::Judgement;
use crate::pages::claims::{chip, status_look};

/// Characters of a key that the page shows.
const KEY: usize = 200;
/// Characters of a warning, which may name a key as long as any.
const WARNING: usize = 600;

/// The section; nothing where the job has no claim.
pub(super) fn section(page: &JobPage) -> Option<AnyView> {
    let claims = match &page.given.claims {
        Ok(claims) if claims.is_empty() => return None,
        Ok(claims) => claims,
        Err(why) => {
            let content = view! {
                <p class="sub">"Whether it has one could not be read: " {visible(why)}</p>
            };
            return Some(kit::section("claim", "Its claim", None, content.into_any()));
        }
    };
    let question = if claims.len() == 1 {
        "Its claim"
    } else {
        "Its claims"
    };
    let items = claims
        .iter()
        .map(|claim| one(claim, &page.urls))
        .collect_view();
    let content = view! { <ul class="job-claims">{items}</ul> };
    Some(kit::section("claim", question, None, content.into_any()))
}

fn one(of: &JobClaim, urls: &SourceLinks) -> AnyView {
    let claim = &of.judged.claim;
    let view = ClaimsView {
        list: ClaimList::All,
        table: Some(of.table.name.clone()),
        key: Some(claim.key.clone()),
        ..ClaimsView::default()
    };
    let (class, symbol) = status_look(&claim.status);
    let status = cut(&claim.status.to_string(), 60).into_owned();
    let verdict = of.judged.verdict.as_ref().map(|verdict| {
        view! { " " {chip(verdict.judgement)} <p class="sub">{visible(&verdict.why)}</p> }
    });
    let claimed = claim
        .at()
        .map(|at| view! { <p class="sub">"claimed " {kit::when(at)}</p> });
    let id = claim.provider_id.as_deref().map(|id| {
        let id = cut(id, KEY);
        view! { <p class="sub">"message id " <span class="mono">{stored(&id)}</span></p> }
    });
    let judgement = of.judged.verdict.as_ref().map(|verdict| verdict.judgement);
    view! {
        <li
            data-claim=claim.key.clone()
            data-status=claim.status.slug()
            data-verdict=judgement.map(Judgement::slug)
        >
            <a class="mono" href=urls.claims(&view, None)>
                <bdi>{visible(&kit::line(&claim.key, KEY))}</bdi>
            </a>
            <span class="sub">" in " {stored(&of.table.name)}</span>
            <p>
                <span class=format!("pill {class}")>{icon(symbol)} {shown(&status).into_owned()}</span>
                {verdict}
            </p>
            {claimed}
            {id}
        </li>
    }
    .into_any()
}

/// What its claims mean for another run, in sentences.
pub(super) fn warnings(page: &JobPage, action: &Action) -> Vec<String> {
    if !matches!(action, Action::Requeue(_) | Action::EnqueueNow(_)) {
        return Vec::new();
    }
    let claims = page.given.claims.as_deref().unwrap_or_default();
    claims
        .iter()
        .filter_map(|claim| claim.warning.as_deref())
        .map(|words| kit::line(words, WARNING))
        .collect()
}

/// The newest claim, for the line.
pub(super) fn span(page: &JobPage) -> Option<ClaimSpan> {
    let claims = page.given.claims.as_deref().unwrap_or_default();
    let (from, claim) = claims
        .iter()
        .map(|of| &of.judged.claim)
        .filter_map(|claim| Some((claim.at()?, claim)))
        .max_by_key(|(at, _)| *at)?;
    Some(ClaimSpan {
        from,
        stands: claim.status == ClaimStatus::Sending,
        words: match &claim.status {
            ClaimStatus::Sending => "claim, still Sending".to_owned(),
            ClaimStatus::Sent => "claim, Sent".to_owned(),
            ClaimStatus::Other(_) => "claim".to_owned(),
        },
    })
}
