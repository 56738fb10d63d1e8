//! Hand-made claims and the jobs behind them for tests.

pub(crate) mod arbitrary;

use super::evidence::{Answer, Asked, Evidence, Facts, Owner};
use super::keys::{KeyPattern, KeyRule, Match};
use super::table::{ClaimWay, ClaimsTable, ColumnTypes, Columns, ProviderRule, Shape};
use super::time::{Written, Zone};
use super::verdict::Verdict;
use super::{Claim, ClaimStatus, ClaimTime};
use crate::model::data::StateData;
use crate::model::job::Server;
use crate::model::state::{Instant, StateName, StateRow};
use crate::model::testing;
use crate::model::timeline::{Context, Timeline};

pub(crate) const LIVE: &str = "live-1:1:aaaa";
pub(crate) const DEAD: &str = "dead-1:1:bbbb";
pub(crate) const HOUR_MS: i64 = 3_600_000;

/// The time of every test.
pub(crate) fn now() -> Instant {
    testing::at("2026-11-29T20:00:00Z")
}

pub(crate) fn ago_s(seconds: i64) -> Instant {
    now() - chrono::Duration::seconds(seconds)
}

/// A claim time as EF Core writes it on `SQLite`.
pub(crate) fn claimed(at: Instant) -> ClaimTime {
    let written = Written::Text {
        separator: ' ',
        zone: Zone::None,
    };
    ClaimTime::read(written.write(at))
}

/// The article's table: ten minutes of cut-off, thirty days of retention; the provider's window is
/// not known.
pub(crate) fn table() -> ClaimsTable {
    ClaimsTable {
        name: "emails".to_owned(),
        schema: "public".to_owned(),
        table: "OutgoingEmails".to_owned(),
        columns: Columns {
            key: "IdempotencyKey".to_owned(),
            status: "Status".to_owned(),
            claimed_at: Some("ClaimedAtUtc".to_owned()),
            provider_id: Some("ProviderMessageId".to_owned()),
        },
        sending: "0".to_owned(),
        sent: "1".to_owned(),
        cutoff_ms: ClaimsTable::CUTOFF_MS,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: None,
        way: ClaimWay::InsertFirst,
        keys: vec![KeyRule {
            pattern: KeyPattern::parse("invoice-email:{0}").unwrap(),
            job_type: "InvoiceEmailJob".to_owned(),
            methods: vec!["SendAsync".to_owned(), "SendAndDieAsync".to_owned()],
        }],
        nothing_sent_on: Vec::new(),
        provider: None,
        detected: false,
    }
}

pub(crate) fn shape(table: ClaimsTable) -> Shape {
    Shape {
        table,
        lacks: Vec::new(),
        types: ColumnTypes {
            key: "text".to_owned(),
            status: "integer".to_owned(),
            claimed_at: Some("timestamp with time zone".to_owned()),
        },
        missing_index: None,
        with_jobs: true,
        read_only: None,
    }
}

pub(crate) fn provider(permanent: bool) -> ProviderRule {
    ProviderRule {
        url: "http://provider/emails/{key}".to_owned(),
        authorization: None,
        message_id: "/messageId".to_owned(),
        permanent,
    }
}

pub(crate) fn server(id: &str, silent_s: i64) -> Server {
    Server {
        id: id.to_owned(),
        workers: Some(5),
        queues: None,
        started_at: None,
        started_raw: None,
        heartbeat_at: ago_s(silent_s),
        heartbeat_age_ms: silent_s * 1000,
        processing: 0,
    }
}

/// A state row: its name, how many seconds ago, and its data.
pub(crate) type Row = (&'static str, i64, String);

pub(crate) fn enqueued(ago: i64) -> Row {
    ("Enqueued", ago, r#"{"Queue":"default"}"#.to_owned())
}

pub(crate) fn runs(ago: i64, server: &str) -> Row {
    ("Processing", ago, format!(r#"{{"ServerId":"{server}"}}"#))
}

pub(crate) fn failed(ago: i64, exception: &str) -> Row {
    (
        "Failed",
        ago,
        format!(r#"{{"ExceptionType":"{exception}","ExceptionMessage":"no"}}"#),
    )
}

pub(crate) fn state(name: &'static str, ago: i64) -> Row {
    (name, ago, "{}".to_owned())
}

/// A job behind a claim by the rule, created with its first row, in the state of its last one.
pub(crate) fn owner(job: i64, rows: &[Row]) -> Owner {
    let created_at = rows.first().map_or_else(now, |row| ago_s(row.1));
    owner_created(job, created_at, rows)
}

pub(crate) fn owner_created(job: i64, created_at: Instant, rows: &[Row]) -> Owner {
    built(job, created_at, rows, None)
}

/// As [`owner`], with a reason of its last row.
pub(crate) fn owner_because(job: i64, rows: &[Row], reason: &str) -> Owner {
    let created_at = rows.first().map_or_else(now, |row| ago_s(row.1));
    built(job, created_at, rows, Some(reason))
}

fn built(job: i64, created_at: Instant, rows: &[Row], reason: Option<&str>) -> Owner {
    let state = rows.last().map(|row| StateName::parse(row.0));
    let mut rows: Vec<StateRow> = (job * 100..)
        .zip(rows)
        .map(|(id, (name, ago, data))| StateRow {
            id,
            name: StateName::parse(name),
            reason: None,
            created_at: ago_s(*ago),
            data: StateData::parse(data),
            details_chars: None,
        })
        .collect();
    if let Some(last) = rows.last_mut() {
        last.reason = reason.map(str::to_owned);
    }
    Owner {
        job,
        by: Match::Rule,
        name: "InvoiceEmailJob.SendAsync".to_owned(),
        state: state.clone(),
        created_at,
        timeline: Timeline::build(&rows, &Context::whole(created_at, state)),
    }
}

pub(crate) fn guessed(owner: Owner) -> Owner {
    Owner {
        by: Match::Argument,
        ..owner
    }
}

/// A claim and everything that it is judged by.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) claim: Claim,
    pub(crate) table: ClaimsTable,
    pub(crate) owners: Vec<Owner>,
    pub(crate) servers: Vec<Server>,
    pub(crate) earlier: Vec<ClaimTime>,
    pub(crate) asked: Option<Asked>,
    pub(crate) now: Instant,
}

impl Case {
    /// A Sending claim of the article's table, made so many seconds ago; one server lives.
    pub(crate) fn claimed(ago: i64) -> Self {
        Self {
            claim: Claim {
                key: "invoice-email:42".to_owned(),
                status: ClaimStatus::Sending,
                claimed_at: Some(claimed(ago_s(ago))),
                provider_id: None,
            },
            table: table(),
            owners: Vec::new(),
            servers: vec![server(LIVE, 3)],
            earlier: Vec::new(),
            asked: None,
            now: now(),
        }
    }

    pub(crate) fn with(mut self, owner: Owner) -> Self {
        self.owners.push(owner);
        self
    }

    pub(crate) fn window_h(mut self, hours: i64) -> Self {
        self.table.window_ms = Some(hours * HOUR_MS);
        self
    }

    pub(crate) fn way(mut self, way: ClaimWay) -> Self {
        self.table.way = way;
        self
    }

    pub(crate) fn answered(mut self, ago: i64, answer: Answer) -> Self {
        self.table.provider.get_or_insert_with(|| provider(false));
        self.asked = Some(Asked {
            at: ago_s(ago),
            answer,
        });
        self
    }

    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            claim: &self.claim,
            table: &self.table,
            cutoff_ms: self.table.cutoff_ms,
            owners: &self.owners,
            servers: &self.servers,
            server_timeout_ms: 5 * 60_000,
            earlier: &self.earlier,
            asked: self.asked.as_ref(),
            now: self.now,
        }
    }

    pub(crate) fn evidence(&self) -> Evidence {
        Evidence::of(&self.facts())
    }

    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(&self.facts(), &self.evidence())
    }
}
