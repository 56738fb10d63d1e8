mod databases;

use std::sync::Arc;
use std::time::Duration;

use app::model::state::Instant;
use app::ports::source::{Access, Dialect, NumbersIn};
use async_trait::async_trait;

use super::*;
use crate::clock::SystemClock;

/// A source that says what a test wants, and looks with what the test's function sees.
struct Stub {
    info: Result<SourceInfo, String>,
    see: fn(Check) -> Result<Sighting, StoreError>,
}

#[async_trait]
impl Source for Stub {
    async fn info(&self) -> Result<SourceInfo, StoreError> {
        self.info.clone().map_err(StoreError::Away)
    }
}

#[async_trait]
impl HealthStore for Stub {
    fn applies(&self, check: Check) -> bool {
        check != Check::Unsettled
    }

    async fn look(&self, check: Check, _: Instant) -> Result<Sighting, StoreError> {
        (self.see)(check)
    }
}

fn info(clock_skew_ms: i64) -> SourceInfo {
    SourceInfo {
        dialect: Dialect::Postgres,
        server_version: "15.18".to_owned(),
        schema_version: Some(23),
        access: Access::ReadWrite,
        numbers: NumbersIn::Database,
        clock_skew_ms,
    }
}

const NOTHING: fn(Check) -> Result<Sighting, StoreError> = |_| Ok(Sighting::default());

fn seven_of(wanted: Check, check: Check) -> Sighting {
    if check != wanted {
        return Sighting::default();
    }
    Sighting {
        count: 7,
        examples: ["1", "2", "3", "4", "5"].map(str::to_owned).to_vec(),
        detail: Some("And more.".to_owned()),
    }
}

async fn report(
    info: Result<SourceInfo, String>,
    see: fn(Check) -> Result<Sighting, StoreError>,
) -> Report {
    let clock: SharedClock = Arc::new(SystemClock);
    check("prod", &Stub { info, see }, &clock).await
}

#[tokio::test]
async fn a_sound_database_is_well() {
    let report = report(Ok(info(-900)), NOTHING).await;
    assert_eq!(report.verdict(), Verdict::Well);
    assert_eq!(report.verdict().exit_code(), 0);
    assert_eq!(
        report.text(),
        "Source prod\n  PostgreSQL 15.18, Hangfire schema version 23\n  may be read and acted \
         upon\n  numbers are kept in the source's database\n  clocks agree within a second\n\n16 of 16 checks found nothing.\n"
    );
}

#[tokio::test]
async fn a_finding_that_needs_action_is_told_with_its_remedy() {
    let report = report(Ok(info(0)), |check| {
        Ok(seven_of(Check::OverdueSchedule, check))
    })
    .await;
    assert_eq!(report.verdict().exit_code(), 1);
    let text = report.text();
    assert!(text.contains(
        "NEEDS ACTION: 7 members of the schedule have been due for more than a minute and were \
         not released\n  And more.\n  which: 1, 2, 3, 4, 5, …\n  means: No scheduler is at work"
    ));
    assert!(text.contains("\n  to do: See that a server is running."));
    assert!(text.ends_with("\n15 of 16 checks found nothing.\n"));
    let json = report.json();
    assert_eq!(json["verdict"], "findings");
    assert_eq!(json["checks"][0]["check"], "overdue-schedule");
    assert_eq!(json["checks"][0]["needs_action"], true);
    assert_eq!(json["checks"][0]["count"], 7);
    assert_eq!(json["checks"][1]["needs_action"], false);
    assert_eq!(json["database"]["schema_version"], 23);
}

#[tokio::test]
async fn a_notice_is_told_and_is_well() {
    let report = report(Ok(info(0)), |check| Ok(seven_of(Check::OldLock, check))).await;
    assert_eq!(report.verdict(), Verdict::Well);
    assert!(report.text().contains("\nnotice: 7 lock rows"));
}

#[tokio::test]
async fn what_could_not_be_checked_is_said_and_is_not_well() {
    let timed_out = |check| match check {
        Check::SeveralQueueRows => Err(StoreError::TimedOut(Duration::from_secs(5))),
        _ => Ok(Sighting::default()),
    };
    let partly = report(Ok(info(0)), timed_out).await;
    assert_eq!(partly.verdict().exit_code(), 2);
    assert!(partly.text().contains(
        "\nnot checked: several-queue-rows (this took longer than 5 s and was stopped)\n"
    ));
    let away = report(Err("connection refused".to_owned()), NOTHING).await;
    assert_eq!(away.verdict().exit_code(), 2);
    assert_eq!(
        away.text(),
        "Source prod\n  cannot be checked: the database does not answer: connection refused\n"
    );
    assert_eq!(away.json()["verdict"], "cannot-check");
}

#[tokio::test]
async fn clocks_that_disagree_are_told_and_by_half_a_minute_need_action() {
    let little = report(Ok(info(2_050)), NOTHING).await;
    assert_eq!(little.verdict(), Verdict::Well);
    assert!(
        little
            .text()
            .contains("notice: the database's clock is 2.050 s ahead of this host's")
    );
    let much = report(Ok(info(-61_001)), NOTHING).await;
    assert_eq!(much.verdict(), Verdict::Findings);
    assert!(
        much.text()
            .contains("NEEDS ACTION: the database's clock is 61.001 s behind this host's")
    );
}

#[tokio::test]
async fn a_read_only_source_is_named_with_its_reason() {
    let access = Access::ReadOnly {
        why: "the role may not write".to_owned(),
        remedy: Some("GRANT …".to_owned()),
    };
    let report = report(Ok(SourceInfo { access, ..info(0) }), NOTHING).await;
    assert_eq!(report.verdict(), Verdict::Well);
    assert!(
        report
            .text()
            .contains("  read-only: the role may not write\n  `redrive migrate --print`")
    );
    assert_eq!(report.json()["database"]["writable"], false);
}
