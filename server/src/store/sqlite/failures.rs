//! Lists in the order of change, and failures by cause, from the collector's index.
//!
//! A filter on what jobs have in common is answered by the groups that may fit it: the next
//! [`WALK`] rows of the list are walked, and where that does not fill the page, each group gives one.
//! What was not collected yet is looked at beside the index, so that a list shows what the jobs say
//! at this moment.

mod apart;
mod causes;

use app::model::state::Instant;
use app::ports::error::StoreError;
use app::ports::failures::{
    ChangedAnchor, ChangedKey, ChangedPage, FailureCauses, FailureStore, Indexed, NotReady,
};
use app::ports::jobs::JobFilter;
use async_trait::async_trait;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::sql::CURRENT;
use super::{SqliteStore, filter, list, migrate, rows};
use crate::store::failures::page::{Asked, Found, TAIL, Walk};
use crate::store::failures::{Reach, StoredGroup, Wanted, matching, micros};
use crate::store::kept::Numbers;

/// Rows of the list that are walked before the groups are asked one by one.
const WALK: i64 = 2_000;
/// So few groups are asked one by one at once.
const FEW: usize = 20;

const REACH: &str = "SELECT c.source AS source, json_extract(c.position, '$.watermark') AS watermark, \
     coalesce(json_extract(c.position, '$.indexed'), 0) AS indexed, \
     (SELECT max(Id) FROM State) AS highest, \
     (SELECT CreatedAt FROM State WHERE Id > json_extract(c.position, '$.watermark') \
      ORDER BY Id LIMIT 1) AS waiting_since \
     FROM redrive_collector c WHERE c.source = \
     (SELECT id FROM redrive_source WHERE hangfire_schema = 'main')";

const GROUPS: &str = "SELECT id, job_type, method, queue, exception, attempts, jobs \
     FROM redrive_failure_groups WHERE source = ? AND list = ?";

/// Whether the job `j` is as the row `f` of the index has it.
pub(super) fn fits() -> String {
    format!(
        "j.StateName = CASE f.list WHEN 'failed' THEN 'Failed' ELSE 'Scheduled' END \
         AND coalesce({CURRENT}, f.state_id) = f.state_id"
    )
}

#[async_trait]
impl FailureStore for SqliteStore {
    async fn changed(
        &self,
        filter: &JobFilter,
        anchor: ChangedAnchor,
        limit: u32,
    ) -> Result<Indexed<ChangedPage>, StoreError> {
        let Some(wanted) = Wanted::of(filter) else {
            return Err(StoreError::Internal(
                "only failed and retrying jobs are indexed".to_owned(),
            ));
        };
        if let Numbers::Kept(_) = self.numbers() {
            return Ok(Indexed::NotReady(NotReady::Apart));
        }
        let filter = filter.clone();
        let asked = Asked::new(anchor, limit.clamp(1, 200));
        let now = self.inner.clock.now();
        self.read(move |c| {
            Box::pin(async move {
                match ready(c, now).await? {
                    Ok(ready) => {
                        let read = Read {
                            ready,
                            filter,
                            wanted,
                            asked,
                            groups: None,
                            matching: None,
                            tail: Vec::new(),
                        };
                        read.page(c).await.map(Indexed::Ready)
                    }
                    Err(why) => Ok(Indexed::NotReady(why)),
                }
            })
        })
        .await
    }

    async fn causes(&self, limit: u32) -> Result<Indexed<FailureCauses>, StoreError> {
        if let Numbers::Kept(kept) = self.numbers() {
            return self.kept_causes(kept.file(), limit).await;
        }
        let now = self.inner.clock.now();
        self.read(move |c| {
            Box::pin(async move {
                match ready(c, now).await? {
                    Ok(ready) => causes::causes(c, &ready.source, limit)
                        .await
                        .map(Indexed::Ready),
                    Err(why) => Ok(Indexed::NotReady(why)),
                }
            })
        })
        .await
    }
}

/// The index, where it can be used.
struct Ready {
    source: String,
    /// How far rows were collected, and whether more are there.
    watermark: i64,
    waits: bool,
}

async fn ready(
    connection: &mut SqliteConnection,
    now: Instant,
) -> Result<Result<Ready, NotReady>, sqlx::Error> {
    if migrate::state(&mut *connection).await? != migrate::Own::Current {
        return Ok(Err(NotReady::NoTables));
    }
    let Some(row) = sqlx::query(REACH).fetch_optional(connection).await? else {
        return Ok(Err(NotReady::NotBegun));
    };
    let reach = Reach {
        watermark: rows::int(&row, "watermark")?.unwrap_or_default(),
        highest: rows::int(&row, "highest")?.unwrap_or_default(),
        indexed: rows::int(&row, "indexed")? == Some(1),
        waiting_since: rows::instant(&row, "waiting_since")?,
    };
    Ok(match reach.not_ready(now) {
        Some(why) => Err(why),
        None => Ok(Ready {
            source: rows::text(&row, "source")?.unwrap_or_default(),
            watermark: reach.watermark,
            waits: reach.highest > reach.watermark,
        }),
    })
}

struct Read {
    ready: Ready,
    filter: JobFilter,
    wanted: Wanted,
    asked: Asked,
    /// The groups that may fit, where the filter asks for some.
    groups: Option<Vec<i64>>,
    /// How many jobs fit, where the groups tell it.
    matching: Option<i64>,
    /// Jobs that fit by rows that were not collected yet.
    tail: Vec<ChangedKey>,
}

fn order(walk: Walk) -> &'static str {
    if walk.older {
        " ORDER BY f.changed_at DESC, f.job DESC LIMIT "
    } else {
        " ORDER BY f.changed_at, f.job LIMIT "
    }
}

impl Read {
    async fn page(mut self, connection: &mut SqliteConnection) -> Result<ChangedPage, sqlx::Error> {
        if self.wanted.by_group {
            let groups = self.groups(connection).await?;
            self.matching = matching(&self.wanted, &self.filter, &groups);
            self.groups = Some(groups.iter().map(|group| group.id).collect());
        }
        if self.ready.waits {
            self.tail = self.tail(connection).await?;
        }
        let found = self.rows(connection, self.asked.forth()).await?;
        let behind = match self.asked.back(&found) {
            Some(back) => self.rows(connection, back).await?,
            None => Vec::new(),
        };
        let cut = self.asked.cut(found, &behind);
        let rows = list::light_rows(connection, &cut.ids()).await?;
        Ok(cut.page(rows, self.matching))
    }

    /// The groups whose jobs may fit.
    async fn groups(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<StoredGroup>, sqlx::Error> {
        let found = sqlx::query(GROUPS)
            .bind(self.ready.source.clone())
            .bind(self.wanted.list.slug())
            .fetch_all(connection)
            .await?;
        let mut groups = Vec::new();
        for row in &found {
            let group = StoredGroup {
                id: rows::int(row, "id")?.unwrap_or_default(),
                job_type: rows::text(row, "job_type")?.unwrap_or_default(),
                method: rows::text(row, "method")?,
                queue: rows::text(row, "queue")?,
                exception: rows::text(row, "exception")?,
                attempts: rows::int(row, "attempts")?.unwrap_or_default(),
                jobs: rows::int(row, "jobs")?.unwrap_or_default(),
            };
            if group.may_fit(&self.filter) {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    /// Jobs that fit, whose current row was not collected yet.
    async fn tail(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<ChangedKey>, sqlx::Error> {
        let mut query = QueryBuilder::new(
            "SELECT j.Id AS job, c.CreatedAt AS created_at FROM (SELECT Id, JobId, CreatedAt \
             FROM State WHERE Id > ",
        );
        query
            .push_bind(self.ready.watermark)
            .push(" ORDER BY Id LIMIT ")
            .push_bind(TAIL)
            .push(") c CROSS JOIN Job j ON j.Id = c.JobId WHERE c.Id = ")
            .push(CURRENT)
            .push(" AND ");
        filter::push(&mut query, &self.filter);
        let found = query.build().fetch_all(connection).await?;
        found
            .iter()
            .map(|row| {
                Ok(ChangedKey {
                    changed_at: rows::instant(row, "created_at")?.unwrap_or_default(),
                    job: rows::int(row, "job")?.unwrap_or_default(),
                })
            })
            .collect()
    }

    async fn rows(
        &self,
        connection: &mut SqliteConnection,
        walk: Walk,
    ) -> Result<Vec<Found>, sqlx::Error> {
        let found = match &self.groups {
            None => fetch(connection, self.whole(walk)).await?,
            Some(groups) => self.of_groups(connection, groups, walk).await?,
        };
        Ok(walk.merge(found, &self.tail))
    }

    async fn of_groups(
        &self,
        connection: &mut SqliteConnection,
        groups: &[i64],
        walk: Walk,
    ) -> Result<Vec<Found>, sqlx::Error> {
        if groups.len() > FEW {
            let near = fetch(connection, self.near(groups, walk)).await?;
            if near.len() >= usize::try_from(walk.limit).unwrap_or(usize::MAX) {
                return Ok(near);
            }
        }
        let mut found = Vec::new();
        for group in groups {
            found.extend(fetch(connection, self.of_group(*group, walk)).await?);
        }
        Ok(found)
    }

    /// All of the list.
    fn whole(&self, walk: Walk) -> QueryBuilder<Sqlite> {
        let mut query = QueryBuilder::new(
            "SELECT f.job, f.changed_at, f.attempts FROM redrive_failures f \
             CROSS JOIN Job j ON j.Id = f.job WHERE ",
        );
        self.push_list(&mut query, walk);
        self.push_row(&mut query);
        self.push_job(&mut query);
        query.push(order(walk)).push_bind(i64::from(walk.limit));
        query
    }

    /// Of the list's next rows those of the groups.
    fn near(&self, groups: &[i64], walk: Walk) -> QueryBuilder<Sqlite> {
        let groups: Vec<String> = groups.iter().map(i64::to_string).collect();
        let mut query = QueryBuilder::new(
            "SELECT f.job, f.changed_at, f.attempts FROM (SELECT * FROM redrive_failures f WHERE ",
        );
        self.push_list(&mut query, walk);
        query.push(order(walk)).push_bind(WALK);
        query
            .push(
                ") f CROSS JOIN Job j ON j.Id = f.job \
                 WHERE f.group_id IN (SELECT value FROM json_each(",
            )
            .push_bind(format!("[{}]", groups.join(",")))
            .push("))");
        self.push_row(&mut query);
        self.push_job(&mut query);
        query.push(order(walk)).push_bind(i64::from(walk.limit));
        query
    }

    /// A page of one group.
    fn of_group(&self, group: i64, walk: Walk) -> QueryBuilder<Sqlite> {
        let mut query = QueryBuilder::new(
            "SELECT f.job, f.changed_at, f.attempts FROM redrive_failures f \
             CROSS JOIN Job j ON j.Id = f.job WHERE f.source = ",
        );
        query
            .push_bind(self.ready.source.clone())
            .push(" AND f.group_id = ")
            .push_bind(group);
        self.push_place(&mut query, walk);
        self.push_row(&mut query);
        self.push_job(&mut query);
        query.push(order(walk)).push_bind(i64::from(walk.limit));
        query
    }

    fn push_list(&self, query: &mut QueryBuilder<Sqlite>, walk: Walk) {
        query
            .push("f.source = ")
            .push_bind(self.ready.source.clone())
            .push(" AND f.list = ")
            .push_bind(self.wanted.list.slug());
        self.push_place(query, walk);
    }

    /// Where the walk begins, and times.
    fn push_place(&self, query: &mut QueryBuilder<Sqlite>, walk: Walk) {
        if let Some(key) = walk.from {
            let reach = if walk.older { "<=" } else { ">=" };
            query
                .push(" AND (f.changed_at, f.job) ")
                .push(reach)
                .push(" (")
                .push_bind(key.changed_at.timestamp_micros())
                .push(", ")
                .push_bind(key.job)
                .push(")");
        }
        for (words, value) in [
            (" AND f.changed_at >= ", self.wanted.from),
            (" AND f.changed_at < ", self.wanted.to),
        ] {
            if let Some(value) = value {
                query.push(words).push_bind(value);
            }
        }
    }

    fn push_row(&self, query: &mut QueryBuilder<Sqlite>) {
        for (words, value) in [
            (" AND f.server = ", self.wanted.server),
            (" AND f.attempts >= ", self.wanted.attempts),
        ] {
            if let Some(value) = value {
                query.push(words).push_bind(value);
            }
        }
    }

    /// On the job: that it is as the index has it, and what only it can tell.
    fn push_job(&self, query: &mut QueryBuilder<Sqlite>) {
        query.push(" AND ").push(fits());
        if self.wanted.calls {
            let calls = JobFilter {
                job_type: self.filter.job_type.clone(),
                method: self.filter.method.clone(),
                ..JobFilter::default()
            };
            query.push(" AND ");
            filter::push(query, &calls);
        }
    }
}

async fn fetch(
    connection: &mut SqliteConnection,
    mut query: QueryBuilder<Sqlite>,
) -> Result<Vec<Found>, sqlx::Error> {
    let found = query.build().fetch_all(connection).await?;
    found
        .iter()
        .map(|row| {
            Ok(Found {
                key: ChangedKey {
                    changed_at: micros(rows::int(row, "changed_at")?.unwrap_or_default()),
                    job: rows::int(row, "job")?.unwrap_or_default(),
                },
                attempts: rows::int(row, "attempts")?.unwrap_or_default(),
            })
        })
        .collect()
}
