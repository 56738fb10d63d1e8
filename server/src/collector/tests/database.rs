//! One database of either kind, with what a test asks of it.

mod apart;

use std::collections::BTreeMap;
use std::sync::Arc;

use app::model::collect::{Failure, Increments, Job, server_number};
use app::model::data::StateData;
use app::model::invocation::Arguments;
use app::model::state::{Instant, StateName, StateRow};
use app::ports::collector::CollectorStore;
use app::ports::insights::InsightStore;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

pub(super) use self::apart::Apart;
use super::oracle::Whole;
use crate::clock::SystemClock;
use crate::source::Store;
use crate::store::decode;
use crate::store::rollups::Rows;
use crate::store::sqlite::{SqliteStore, ticks};
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;
use crate::testing::sqlite::TestFile;

pub(super) const TABLES: [&str; 6] = [
    "attempts",
    "first_attempts",
    "rounds",
    "recovery",
    "delays",
    "gauges",
];

pub(super) enum Kind {
    Postgres(Box<TestDatabase>),
    Sqlite(Box<TestFile>),
}

/// A database with Hangfire's tables and the own ones.
pub(super) struct Database {
    pub(super) store: Arc<dyn CollectorStore>,
    /// The same, for lists.
    pub(super) lists: Arc<dyn Store>,
    pub(super) kind: Kind,
    /// Where its own tables are, if they are elsewhere.
    pub(super) apart: Option<Apart>,
}

impl Database {
    pub(super) async fn postgres(fixture: &Fixture) -> Option<Self> {
        let database = TestDatabase::with(fixture).await?;
        let store = database.store();
        store.migrate().await.unwrap();
        Some(Self {
            store: Arc::new(store.clone()),
            lists: Arc::new(store),
            kind: Kind::Postgres(Box::new(database)),
            apart: None,
        })
    }

    pub(super) async fn sqlite(fixture: &Fixture) -> Self {
        let file = TestFile::with(fixture).await;
        Self::of_file(file)
    }

    /// A file that was filled before.
    pub(super) fn of_file(file: TestFile) -> Self {
        Self {
            store: Arc::new(file.store.clone()),
            lists: Arc::new(file.store.clone()),
            kind: Kind::Sqlite(Box::new(file)),
            apart: None,
        }
    }

    /// One of each kind; without a server to test on, of the other one only.
    pub(super) async fn both(fixture: &Fixture) -> Vec<Self> {
        let mut both = vec![Self::sqlite(fixture).await];
        both.extend(Self::postgres(fixture).await);
        both
    }

    /// Another store on it, with connections of its own.
    pub(super) fn collecting(&self) -> Arc<dyn CollectorStore> {
        if let Some(apart) = &self.apart {
            return self.reopened(apart.dir.path()).0;
        }
        match &self.kind {
            Kind::Postgres(database) => Arc::new(database.store()),
            Kind::Sqlite(file) => {
                Arc::new(SqliteStore::lazy(&file.path, Arc::new(SystemClock), None))
            }
        }
    }

    /// What reads the numbers.
    pub(super) fn insights(&self) -> Arc<dyn InsightStore> {
        if self.apart.is_some() {
            return self.lists.clone();
        }
        match &self.kind {
            Kind::Postgres(database) => Arc::new(database.store()),
            Kind::Sqlite(file) => Arc::new(file.store.clone()),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match (&self.kind, &self.apart) {
            (Kind::Postgres(_), None) => "PostgreSQL",
            (Kind::Sqlite(_), None) => "SQLite",
            (Kind::Postgres(_), Some(_)) => "PostgreSQL, numbers apart",
            (Kind::Sqlite(_), Some(_)) => "SQLite, numbers apart",
        }
    }

    /// Runs statements, in the dialect of each.
    pub(super) async fn execute(&self, postgres: &str, sqlite: &str) {
        match &self.kind {
            Kind::Postgres(database) => database.execute(postgres).await,
            Kind::Sqlite(file) => file.run(sqlite).await,
        }
    }

    /// Brings the own tables up to date.
    pub(super) async fn migrate(&self) {
        match &self.kind {
            Kind::Postgres(database) => database.store().migrate().await.unwrap(),
            Kind::Sqlite(file) => file.store.migrate().await.unwrap(),
        }
    }

    async fn texts(&self, postgres: &str, sqlite: &str) -> Vec<Vec<Option<String>>> {
        match &self.kind {
            Kind::Postgres(database) => {
                let rows = sqlx::query(AssertSqlSafe(postgres.to_owned()))
                    .fetch_all(&mut database.connection().await)
                    .await
                    .unwrap();
                let cells = rows
                    .iter()
                    .map(|row| (0..row.len()).map(|i| row.get(i)).collect());
                cells.collect()
            }
            Kind::Sqlite(file) => rows_of(&mut file.connect().await, sqlite).await,
        }
    }

    /// All jobs with all of their rows, as the tables have them.
    pub(super) async fn jobs(&self) -> Vec<Whole> {
        self.jobs_by_id().await.into_values().collect()
    }

    /// The same, by id.
    pub(super) async fn jobs_by_id(&self) -> BTreeMap<i64, Whole> {
        let jobs = self
            .texts(
                "SELECT id::text, statename, stateid::text, invocationdata::text, \
                 (extract(epoch FROM createdat) * 1000000)::bigint::text FROM hangfire.job",
                "SELECT CAST(Id AS TEXT), StateName, NULL, InvocationData, \
                 CAST(CreatedAt AS TEXT) FROM Job",
            )
            .await;
        let rows = self
            .texts(
                "SELECT id::text, jobid::text, name, reason, \
                 (extract(epoch FROM createdat) * 1000000)::bigint::text, data::text \
                 FROM hangfire.state s ORDER BY s.id",
                "SELECT CAST(Id AS TEXT), CAST(JobId AS TEXT), Name, Reason, \
                 CAST(CreatedAt AS TEXT), Data FROM State ORDER BY Id",
            )
            .await;
        let mut by_job: BTreeMap<i64, Vec<StateRow>> = BTreeMap::new();
        for row in rows {
            by_job
                .entry(number(row[1].as_ref()))
                .or_default()
                .push(StateRow {
                    id: number(row[0].as_ref()),
                    name: StateName::parse(row[2].as_deref().unwrap_or_default()),
                    reason: row[3].clone(),
                    created_at: self.instant(row[4].as_ref()),
                    data: StateData::parse_column(row[5].as_deref()),
                    details_chars: None,
                });
        }
        jobs.iter()
            .map(|job| {
                let id = number(job[0].as_ref());
                let rows = by_job.remove(&id).unwrap_or_default();
                let state = job[1].as_deref().map(StateName::parse);
                let current = match &self.kind {
                    Kind::Postgres(_) => job[2].as_ref().map(|_| number(job[2].as_ref())),
                    Kind::Sqlite(_) => rows
                        .last()
                        .filter(|row| Some(&row.name) == state.as_ref())
                        .map(|row| row.id),
                };
                let invocation =
                    decode::invocation(job[3].as_deref().unwrap_or_default(), Arguments::TooLarge);
                let whole = Whole {
                    job: Job::of(&invocation, Some(self.instant(job[4].as_ref())), current),
                    state,
                    rows,
                };
                (id, whole)
            })
            .collect()
    }

    /// Every row of the index, with its group, as a line each. Groups know how many they have.
    pub(super) async fn index(&self) -> Vec<String> {
        const ROW: &str = "f.job, f.list, f.changed_at, f.state_id, f.attempts, f.server, g.id, \
             g.list, g.job_type, g.method, g.queue, g.exception, g.attempts";
        assert_eq!(self.wrong_sizes().await, Vec::<Vec<Option<String>>>::new());
        let rows = self
            .own_texts(
                &format!(
                    "SELECT json_build_array({ROW})::text FROM redrive.failures f \
                     LEFT JOIN redrive.failure_groups g ON g.id = f.group_id ORDER BY f.job"
                ),
                &format!(
                    "SELECT json_array({ROW}) FROM redrive_failures f \
                     LEFT JOIN redrive_failure_groups g ON g.id = f.group_id ORDER BY f.job"
                ),
            )
            .await;
        let line = |row: Vec<Option<String>>| {
            serde_json::from_str::<Value>(row[0].as_deref().unwrap())
                .unwrap()
                .to_string()
        };
        rows.into_iter().map(line).collect()
    }

    fn instant(&self, text: Option<&String>) -> Instant {
        let stored = number(text);
        match self.kind {
            Kind::Postgres(_) => Instant::from_timestamp_micros(stored).unwrap(),
            Kind::Sqlite(_) => ticks::instant(Some(stored)).unwrap(),
        }
    }

    /// Every row of the own tables of numbers, as a line each.
    pub(super) async fn numbers(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for table in TABLES {
            let columns = match (&self.kind, &self.apart) {
                (Kind::Postgres(_), None) => Vec::new(),
                _ => {
                    self.own_texts(
                        "",
                        &format!("SELECT name FROM pragma_table_info('redrive_{table}')"),
                    )
                    .await
                }
            };
            let members: Vec<String> = columns
                .iter()
                .filter_map(|column| column[0].as_deref())
                .filter(|name| *name != "source")
                .map(|name| match name {
                    "waited" | "ran" => format!("'{name}', json({name})"),
                    _ => format!("'{name}', {name}"),
                })
                .collect();
            let rows = self
                .own_texts(
                    &format!("SELECT (to_jsonb(t) - 'source')::text FROM redrive.{table} t"),
                    &format!(
                        "SELECT json_object({}) FROM redrive_{table}",
                        members.join(", ")
                    ),
                )
                .await;
            for row in rows {
                let row = serde_json::from_str(row[0].as_deref().unwrap()).unwrap();
                lines.extend(line(table, row));
            }
        }
        lines.sort();
        lines
    }

    /// Groups whose size is not the number of their rows: size and number.
    pub(super) async fn wrong_sizes(&self) -> Vec<Vec<Option<String>>> {
        self.own_texts(
            "SELECT g.jobs::text, n.jobs::text FROM redrive.failure_groups g CROSS JOIN LATERAL \
             (SELECT count(*) AS jobs FROM redrive.failures f WHERE f.group_id = g.id) n \
             WHERE g.jobs <> n.jobs",
            "SELECT CAST(jobs AS TEXT), CAST(n AS TEXT) FROM (SELECT g.jobs, (SELECT count(*) \
             FROM redrive_failures f WHERE f.group_id = g.id) AS n FROM redrive_failure_groups g) \
             WHERE jobs <> n",
        )
        .await
    }

    /// How many groups the index has.
    pub(super) async fn groups(&self) -> usize {
        self.own_texts(
            "SELECT id::text FROM redrive.failure_groups",
            "SELECT CAST(id AS TEXT) FROM redrive_failure_groups",
        )
        .await
        .len()
    }

    /// How many jobs are remembered.
    pub(super) async fn remembered(&self) -> usize {
        self.own_texts(
            "SELECT job::text FROM redrive.collector_job",
            "SELECT CAST(job AS TEXT) FROM redrive_collector_job",
        )
        .await
        .len()
    }
}

async fn rows_of(connection: &mut SqliteConnection, sql: &str) -> Vec<Vec<Option<String>>> {
    let rows = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .fetch_all(connection)
        .await
        .unwrap();
    let cell = |row: &sqlx::sqlite::SqliteRow, i| row.get_unchecked(i);
    let cells = rows
        .iter()
        .map(|row| (0..row.len()).map(|i| cell(row, i)).collect());
    cells.collect()
}

fn number(text: Option<&String>) -> i64 {
    text.unwrap().parse().unwrap()
}

/// Rows of the index as they should be.
pub(super) fn index_lines(failures: impl Iterator<Item = (i64, Failure)>) -> Vec<String> {
    let line = |(job, failure): (i64, Failure)| {
        let group = &failure.group;
        let server = failure.server.as_deref().map(server_number);
        let (list, changed_at) = (group.list.slug(), failure.changed_at.timestamp_micros());
        json!([
            job,
            list,
            changed_at,
            failure.state_id,
            failure.attempts,
            server,
            group.id(),
            list,
            group.job_type,
            group.method,
            group.queue,
            group.exception,
            group.attempts
        ])
        .to_string()
    };
    failures.map(line).collect()
}

/// Numbers as the rows of the own tables should be.
pub(super) fn lines(numbers: &Increments) -> Vec<String> {
    let rows = Rows::of(numbers).unwrap();
    let tables = [
        rows.attempts,
        rows.first_attempts,
        rows.rounds,
        rows.recovery,
        rows.delays,
        rows.gauges,
    ];
    let mut lines = Vec::new();
    for (table, rows) in TABLES.into_iter().zip(tables) {
        let rows: Vec<Value> =
            rows.map_or_else(Vec::new, |rows| serde_json::from_str(&rows).unwrap());
        for mut row in rows {
            for span in ["waited", "ran"] {
                if let Some(histogram) = row.get(span).cloned() {
                    row[format!("{span}_ms")] = histogram["sum_ms"].clone();
                    row[span] = histogram["counts"].clone();
                }
            }
            lines.extend(line(table, row));
        }
    }
    lines.sort();
    lines
}

/// A row as a line; none for one that counts nothing.
fn line(table: &str, mut row: Value) -> Option<String> {
    let counts = match table {
        "gauges" => "value",
        "first_attempts" => "ended",
        "recovery" => "gave_up",
        other => other,
    };
    let is_nothing = row[counts] == json!(0) && row.get("recovered").is_none_or(|n| *n == json!(0));
    for value in row.as_object_mut().unwrap().values_mut() {
        if let Value::Bool(is) = value {
            *value = json!(i64::from(*is));
        }
    }
    (!is_nothing).then(|| format!("{table} {row}"))
}
