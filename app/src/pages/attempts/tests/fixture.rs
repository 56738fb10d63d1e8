//! Rows as a store would answer them.

use scraper::Html;

use super::super::{AttemptsPage, Collecting, Given, Plan, Rows, attempts_page};
use crate::links::attempts::AttemptsView;
use crate::model::collect::{AttemptSums, DelaySums, RecoverySums, RoundEnd, RoundSums, hour};
use crate::model::insights::{
    AttemptsRow, Coverage, DelaysRow, FirstAttemptsRow, JobKind, Pending, RecoveryRow, RoundsRow,
};
use crate::model::rates::{Rate, slot};
use crate::model::state::Instant;
use crate::model::testing::at;
use crate::pages::document::testing::{chip, rendered};

/// The moment of every page.
pub(super) fn now() -> Instant {
    at("2026-11-27T14:05:48Z")
}

pub(super) fn kind(job_type: &str, method: &str) -> JobKind {
    JobKind {
        job_type: job_type.into(),
        method: method.into(),
    }
}

pub(super) fn invoices() -> JobKind {
    kind("Bookstore.Jobs.InvoiceEmailJob", "SendAsync")
}

pub(super) fn first(kind: &JobKind, when: &str, (n, of): (u64, u64)) -> FirstAttemptsRow {
    FirstAttemptsRow {
        kind: kind.clone(),
        slot: slot(at(when)),
        rate: Rate::new(n, of),
    }
}

pub(super) fn round(
    kind: &JobKind,
    later: bool,
    (end, number): (RoundEnd, u32),
    (rounds, backoff_ms): (i64, i64),
) -> RoundsRow {
    RoundsRow {
        hour: hour(now()) - 1,
        kind: kind.clone(),
        later,
        end,
        number,
        sums: RoundSums { rounds, backoff_ms },
    }
}

pub(super) fn exception(kind: &JobKind, name: &str, sums: [i64; 4]) -> RecoveryRow {
    let [recovered, gave_up, retries_recovered, retries_gave_up] = sums;
    RecoveryRow {
        kind: kind.clone(),
        exception: name.into(),
        sums: RecoverySums {
            recovered,
            gave_up,
            retries_recovered,
            retries_gave_up,
        },
    }
}

pub(super) fn delay(
    kind: &JobKind,
    (of, retry): (u32, u32),
    delays: i64,
    (min, max): (i64, i64),
) -> DelaysRow {
    DelaysRow {
        kind: kind.clone(),
        of,
        retry,
        sums: DelaySums {
            delays,
            sum_ms: delays * (min + max) / 2,
            min_ms: Some(min),
            max_ms: Some(max),
        },
    }
}

pub(super) fn ended(
    kind: &JobKind,
    number: u32,
    outcome: &str,
    (waited, ran): (&[i64], &[i64]),
) -> AttemptsRow {
    let mut sums = AttemptSums {
        attempts: i64::try_from(ran.len()).unwrap(),
        ..AttemptSums::default()
    };
    for ms in waited {
        sums.waited.count(*ms);
    }
    for ms in ran {
        sums.ran.count(*ms);
    }
    AttemptsRow {
        kind: kind.clone(),
        later: false,
        number,
        outcome: outcome.into(),
        sums,
    }
}

/// Answers of nothing.
pub(super) fn no_rows() -> Rows {
    Rows {
        first: Ok(Vec::new()),
        usual: Ok(Vec::new()),
        lately: Ok(Vec::new()),
        rounds: Ok(Vec::new()),
        attempts: Ok(Vec::new()),
        recovery: Ok(Vec::new()),
        delays: Ok(Vec::new()),
        pending: Ok(Pending::default()),
    }
}

pub(super) fn given(view: AttemptsView, rows: Rows) -> Given {
    let coverage = Coverage {
        since: Some(hour(at("2026-11-12T08:00:00Z"))),
        watermark: 1_208,
        epoch: 1,
        as_of: at("2026-11-27T14:05:34Z"),
    };
    Given {
        source: chip("prod"),
        plan: Plan::of(&view, now(), coverage.since),
        view,
        now: now(),
        coverage,
        collecting: Collecting {
            read: Some(1_208),
            highest: 1_208,
            caught_up: true,
            trouble: None,
        },
        queues: vec!["default".into(), "mail".into()],
        rows,
    }
}

pub(super) fn page(view: AttemptsView, rows: Rows) -> AttemptsPage {
    AttemptsPage::new(given(view, rows))
}

pub(super) fn html(view: AttemptsView, rows: Rows) -> Html {
    let page = page(view, rows);
    rendered(move || attempts_page(page))
}
