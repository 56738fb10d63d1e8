//! `/s/{source}/policy`: what a policy would do, and what those in the data do.

use std::collections::HashMap;

use app::components::shell::Section;
use app::model::insights::Scope;
use app::model::insights::span::Asked;
use app::model::policy::form::{PolicyForm, PolicySort};
use app::model::recurring::Trigger;
use app::model::state::Instant;
use app::pages::policy::{PolicyPage, Seen, policy_page};
use app::ports::error::StoreError;
use app::ports::insights::InsightStore;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use serde::Deserialize;

use super::super::frame::{SourceVisit, Visit};
use crate::cron::{Pauses, pauses};
use crate::source::SourceHandle;

/// Recurring jobs that are read at most.
const RECURRING: u32 = 1_000;
/// Policies are shown as the last so many days show them.
const DAYS: i64 = 30;

/// What the URL may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PolicyQuery {
    policy: String,
    retries: String,
    delays: String,
    delay: String,
    factor: String,
    max_delay: String,
    jitter: String,
    poll: String,
    every: String,
}

/// The simulator and the findings. A field that cannot be meant gets its sentence on the page,
/// beside the form that holds it.
pub async fn show(
    SourceVisit { visit, source }: SourceVisit,
    Query(query): Query<PolicyQuery>,
) -> Response {
    let sort = match query.policy.trim() {
        "" => Some(PolicySort::default()),
        word => PolicySort::parse(word),
    };
    let Some(sort) = sort else {
        let known: Vec<_> = PolicySort::ALL.iter().map(|sort| sort.slug()).collect();
        let why = format!(
            "there is no policy “{}”; there are {}",
            query.policy.trim(),
            known.join(", ")
        );
        return visit.malformed(&why);
    };
    let form = PolicyForm {
        sort,
        retries: query.retries,
        delays: query.delays,
        delay: query.delay,
        factor: query.factor,
        max_delay: query.max_delay,
        jitter: query.jitter,
        poll: query.poll,
        every: query.every,
    };
    let status = match form.read() {
        Ok(_) => StatusCode::OK,
        Err(why) if visit.wants_json() => return visit.malformed(&why),
        Err(_) => StatusCode::BAD_REQUEST,
    };
    let now = source.now(visit.now());
    let (seen, triggers) = tokio::join!(seen(&visit, &source), triggers(&source, now));
    let page = PolicyPage {
        source: visit.chip(&source),
        form,
        seen,
        triggers,
        now,
    };
    visit.page(status, "Policy", Section::Attempts, move || {
        policy_page(page)
    })
}

/// What starts jobs again and again; expressions that cannot be understood start nothing here.
async fn triggers(source: &SourceHandle, now: Instant) -> Result<Vec<Trigger>, StoreError> {
    let jobs = source.store.recurring(RECURRING).await?;
    // Many have the same expression.
    let mut known: HashMap<String, Option<Pauses>> = HashMap::new();
    let triggers = jobs.into_iter().filter_map(|job| {
        let pauses = known
            .entry(job.cron.clone())
            .or_insert_with_key(|cron| pauses(cron, now));
        let Pauses { shortest, is_even } = (*pauses)?;
        Some(Trigger {
            every_ms: shortest.num_milliseconds(),
            is_even,
            job,
        })
    });
    Ok(triggers.collect())
}

async fn seen(visit: &Visit, source: &SourceHandle) -> Result<Option<Seen>, StoreError> {
    let store: &dyn InsightStore = source.store.as_ref();
    let Some(coverage) = store.coverage().await? else {
        return Ok(None);
    };
    let span = Asked::Month.span(source.now(visit.now()), coverage.since);
    let scope = Scope {
        from: span.from,
        to: span.to,
        job_type: None,
        method: None,
        queue: None,
    };
    let (rounds, delays) = tokio::join!(store.rounds(&scope, span.hours()), store.delays(&scope));
    Ok(Some(Seen {
        coverage,
        rounds: rounds?,
        delays: delays?,
        days: DAYS,
    }))
}
