//! The recurring jobs: the nightly report with its runs, one that was set up within the hour, and
//! one that the scheduler has given up.

use app::model::state::Instant;
use chrono::TimeDelta;

use super::catalogue::Kind;
use super::format::{Call, date, json};
use super::job::DemoJob;
use super::scenario::{HashRow, SetRow};
use super::stage::Stage;
use super::traffic::DAYS;

/// Recurring jobs, and the drafts of their runs.
pub(super) struct Recurring {
    nightly: Vec<usize>,
}

impl Stage {
    /// Tells the runs of the nightly report.
    pub(super) fn recurring(&mut self) -> Recurring {
        let mut nightly = Vec::new();
        for day in (0..DAYS).rev() {
            let Some(at) = (self.now - TimeDelta::days(day))
                .date_naive()
                .and_hms_milli_opt(3, 0, 0, 700)
                .map(|naive| naive.and_utc())
                .filter(|at| *at < self.now - TimeDelta::hours(1))
            else {
                continue;
            };
            let errand = self.errand(Kind::Nightly);
            nightly.push(self.tell("nightly report", errand, at, |life| {
                life.parameter("RecurringJobId", json("nightly-report"));
                life.parameter("Time", at.timestamp().to_string());
                life.enqueue(5, Some("Triggered by recurring job scheduler"));
                life.take(90);
                let (from, to) = Kind::Nightly.spec().run_ms;
                let ran = life.ms(from, to);
                let result = "{\"$type\":\"Bookstore.Jobs.ReportSummary, \
                              Bookstore.Jobs\",\"Orders\":1201,\"Total\":48213.55,\"Note\":\
                              \"Zusammenfassung – итог\"}";
                life.succeed(ran, Some(result.to_owned()));
            }));
        }
        Recurring { nightly }
    }
}

impl Recurring {
    /// The set members and hashes of the recurring jobs: the nightly report; the search index, whose
    /// retries outlast the hour between its runs; and one whose class is gone, so that the
    /// scheduler has given it up.
    pub(super) fn rows(
        &self,
        jobs: &[DemoJob],
        ids: &[i64],
        now: Instant,
    ) -> (Vec<SetRow>, Vec<HashRow>) {
        let mut sets = Vec::new();
        let mut hashes = Vec::new();
        let mut fields = |id: &str, fields: Vec<(&'static str, String)>| {
            hashes.extend(fields.into_iter().map(|(field, value)| HashRow {
                key: format!("recurring-job:{id}"),
                field,
                value,
            }));
        };
        let created = date(now - TimeDelta::days(30));
        let next = (now + TimeDelta::days(1) - TimeDelta::hours(3))
            .date_naive()
            .and_hms_opt(3, 0, 0)
            .map_or(now, |naive| naive.and_utc());
        let last = self.nightly.last().map(|&draft| ids[draft]);
        let last_job = last.and_then(|id| jobs.iter().find(|job| job.id == id));
        let mut report = vec![
            ("Queue", "default".to_owned()),
            ("Cron", "0 3 * * *".to_owned()),
            ("TimeZoneId", "UTC".to_owned()),
            (
                "Job",
                last_job.map_or_else(String::new, |job| called(&job.call)),
            ),
            ("CreatedAt", created.clone()),
            ("NextExecution", date(next)),
            ("V", "2".to_owned()),
        ];
        if let Some(job) = last_job {
            report.push(("LastExecution", date(job.created_at)));
            report.push(("LastJobId", job.id.to_string()));
        }
        fields("nightly-report", report);
        sets.push(SetRow {
            key: "recurring-jobs",
            score: next.timestamp(),
            value: "nightly-report".to_owned(),
        });
        if let Some((call, hour)) = indexing(jobs).zip(hour_of(now)) {
            let next = hour + TimeDelta::hours(1);
            fields(
                "search-index",
                vec![
                    ("Queue", "default".to_owned()),
                    ("Cron", "0 * * * *".to_owned()),
                    ("TimeZoneId", "UTC".to_owned()),
                    ("Job", called(call)),
                    ("CreatedAt", date(hour)),
                    ("NextExecution", date(next)),
                    ("V", "2".to_owned()),
                ],
            );
            sets.push(SetRow {
                key: "recurring-jobs",
                score: next.timestamp(),
                value: "search-index".to_owned(),
            });
        }
        let gone = super::format::own("Bookstore.Jobs.CatalogueExport");
        fields(
            "onix-export",
            vec![
                ("Queue", "exports".to_owned()),
                ("Cron", "30 * * * *".to_owned()),
                ("TimeZoneId", "Europe/Berlin".to_owned()),
                ("Job", payload("WriteOnixAsync", &gone, "\"a\":[\"1\"]")),
                ("CreatedAt", created),
                ("NextExecution", String::new()),
                ("V", "2".to_owned()),
                (
                    "Error",
                    format!(
                        "Hangfire.Common.JobLoadException: Could not load the job. See inner \
                         exception for the details. ---> {}",
                        super::faults::method_gone().details
                    ),
                ),
                ("RetryAttempt", "5".to_owned()),
            ],
        );
        sets.push(SetRow {
            key: "recurring-jobs",
            score: -1,
            value: "onix-export".to_owned(),
        });
        (sets, hashes)
    }
}

/// The newest call of the search index.
fn indexing(jobs: &[DemoJob]) -> Option<&Call> {
    let (_, method) = Kind::Search.name();
    let mut calls = jobs.iter().rev().map(|job| &job.call);
    calls.find(|call| call.method == method)
}

/// The beginning of the hour.
fn hour_of(at: Instant) -> Option<Instant> {
    Instant::from_timestamp(at.timestamp().div_euclid(3_600) * 3_600, 0)
}

/// A call as recurring jobs keep it.
fn payload(method: &str, type_name: &str, arguments: &str) -> String {
    format!(
        "{{\"t\":{},\"m\":{},{arguments}}}",
        json(type_name),
        json(method)
    )
}

fn called(call: &Call) -> String {
    let arguments = format!(
        "\"p\":{},\"a\":{}",
        json(&call.parameter_types),
        call.arguments_column()
    );
    payload(call.method, &call.type_name, &arguments)
}
