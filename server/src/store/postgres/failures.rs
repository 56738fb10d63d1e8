//! Lists in the order of change, and failures by cause, from the collector's index.
//!
//! A filter on what jobs have in common is answered by the groups that may fit it. *Near* walks the
//! next 2,000 rows of the list and keeps those of the groups, which fills a page where many rows
//! fit; where that does not, *far* takes a page of each group, which costs as many rows as there are
//! groups, however large they are. See `docs/query-plans.md`.
//!
//! What was not collected yet is looked at beside the index, so that a list shows what the jobs say
//! at this moment.

mod apart;
mod build;
mod causes;

use std::sync::Arc;

use app::ports::error::StoreError;
use app::ports::failures::{
    ChangedAnchor, ChangedKey, ChangedPage, FailureCauses, FailureStore, Indexed, NotReady,
};
use app::ports::jobs::JobFilter;
use async_trait::async_trait;
use sqlx::{Error, Row as _};
use uuid::Uuid;

use super::PostgresStore;
use super::conn::Conn;
use super::filter::{Conditions, Value, all};
use super::layout::Layout;
use super::list::{created_at, holds_nul, light_rows};
use super::migrate;
use super::session::plan_for_values;
use crate::store::failures::page::{Asked, Found, TAIL, Walk};
use crate::store::failures::{Reach, StoredGroup, Wanted, matching, micros};
use crate::store::kept::Numbers;
use build::Build;

/// So few groups are asked one by one at once.
const FEW: usize = 20;

/// What must be there, and may be read.
const TABLES: [&str; 5] = [
    "failures",
    "failure_groups",
    "collector",
    "source",
    "migrations",
];

const REACH: &str = "
SELECT a.source, a.watermark, a.indexed, clock_timestamp() AS now,
  (SELECT max(m.version) FROM redrive.migrations m WHERE m.scope = 'redrive') AS version,
  (SELECT max(c.id)::bigint FROM {s}.state c) AS highest,
  (SELECT {utc c.createdat} FROM {s}.state c WHERE c.id > a.watermark ORDER BY c.id LIMIT 1)
    AS waiting_since
FROM (
  SELECT c.source, (c.position::json->>'watermark')::bigint AS watermark,
    COALESCE((c.position::json->>'indexed')::boolean, false) AS indexed
  FROM redrive.collector c JOIN redrive.source s ON s.id = c.source
  WHERE s.hangfire_schema = $1
) a";

const GROUPS: &str = "
SELECT g.id, g.job_type, g.method, g.queue, g.exception, g.attempts::bigint AS attempts,
  g.jobs
FROM redrive.failure_groups g WHERE g.source = $1 AND g.list = $2";

#[async_trait]
impl FailureStore for PostgresStore {
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
        let request = Arc::new(Request {
            is_nothing: holds_nul(filter),
            filter: filter.clone(),
            wanted,
            asked: Asked::new(anchor, limit.clamp(1, 200)),
        });
        self.session()
            .read(move |conn, layout| {
                let request = Arc::clone(&request);
                Box::pin(async move {
                    match ready(conn, &layout).await? {
                        Ok(_) if request.is_nothing => Ok(Indexed::Ready(
                            request.asked.cut(Vec::new(), &[]).page(Vec::new(), None),
                        )),
                        Ok(ready) => {
                            let read = Read::begin(conn, &layout, &ready, &request).await?;
                            read.page(conn).await.map(Indexed::Ready)
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
        self.session()
            .read(move |conn, layout| {
                Box::pin(async move {
                    match ready(conn, &layout).await? {
                        Ok(ready) => causes::causes(conn, &layout, ready.source, limit)
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
    source: Uuid,
    /// How far rows were collected, and whether more are there.
    watermark: i64,
    waits: bool,
}

async fn ready(conn: &mut Conn, layout: &Layout) -> Result<Result<Ready, NotReady>, Error> {
    if !migrate::are_readable(conn, &TABLES).await? {
        return Ok(Err(NotReady::NoTables));
    }
    let Some(row) = sqlx::query(layout.sql(REACH))
        .bind(layout.schema())
        .fetch_optional(conn)
        .await?
    else {
        return Ok(Err(NotReady::NotBegun));
    };
    if row.try_get::<Option<i32>, _>("version")? != Some(migrate::newest_own()) {
        return Ok(Err(NotReady::NoTables));
    }
    let reach = Reach {
        watermark: row
            .try_get::<Option<i64>, _>("watermark")?
            .unwrap_or_default(),
        highest: row
            .try_get::<Option<i64>, _>("highest")?
            .unwrap_or_default(),
        indexed: row.try_get("indexed")?,
        waiting_since: row.try_get("waiting_since")?,
    };
    Ok(match reach.not_ready(row.try_get("now")?) {
        Some(why) => Err(why),
        None => Ok(Ready {
            source: row.try_get("source")?,
            watermark: reach.watermark,
            waits: reach.highest > reach.watermark,
        }),
    })
}

struct Request {
    filter: JobFilter,
    wanted: Wanted,
    asked: Asked,
    /// Whether a text in the filter cannot be stored at all.
    is_nothing: bool,
}

struct Read<'a> {
    layout: &'a Layout,
    source: Uuid,
    request: &'a Request,
    /// The groups that may fit, where the filter asks for some.
    groups: Option<Vec<i64>>,
    /// How many jobs fit, where the groups tell it.
    matching: Option<i64>,
    /// Jobs that fit by rows that were not collected yet.
    tail: Vec<ChangedKey>,
}

impl<'a> Read<'a> {
    async fn begin(
        conn: &mut Conn,
        layout: &'a Layout,
        ready: &Ready,
        request: &'a Request,
    ) -> Result<Self, Error> {
        let mut read = Self {
            layout,
            source: ready.source,
            request,
            groups: None,
            matching: None,
            tail: Vec::new(),
        };
        if request.wanted.by_group {
            let groups = read.groups(conn).await?;
            read.matching = matching(&request.wanted, &request.filter, &groups);
            read.groups = Some(groups.iter().map(|group| group.id).collect());
        }
        if ready.waits {
            read.tail = read.tail(conn, ready.watermark).await?;
        }
        Ok(read)
    }

    async fn page(&self, conn: &mut Conn) -> Result<ChangedPage, Error> {
        let asked = self.request.asked;
        let found = self.rows(conn, asked.forth()).await?;
        let behind = match asked.back(&found) {
            Some(back) => self.rows(conn, back).await?,
            None => Vec::new(),
        };
        let cut = asked.cut(found, &behind);
        let rows = light_rows(conn, self.layout, cut.ids()).await?;
        Ok(cut.page(rows, self.matching))
    }

    /// The groups whose jobs may fit.
    async fn groups(&self, conn: &mut Conn) -> Result<Vec<StoredGroup>, Error> {
        let rows = sqlx::query(GROUPS)
            .bind(self.source)
            .bind(self.request.wanted.list.slug())
            .fetch_all(conn)
            .await?;
        let mut groups = Vec::new();
        for row in &rows {
            let group = StoredGroup {
                id: row.try_get("id")?,
                job_type: row.try_get("job_type")?,
                method: row.try_get("method")?,
                queue: row.try_get("queue")?,
                exception: row.try_get("exception")?,
                attempts: row.try_get("attempts")?,
                jobs: row.try_get("jobs")?,
            };
            if group.may_fit(&self.request.filter) {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    /// Jobs that fit, whose current row was not collected yet.
    async fn tail(&self, conn: &mut Conn, watermark: i64) -> Result<Vec<ChangedKey>, Error> {
        let mut conditions = Conditions::of(&self.request.filter, self.layout);
        let watermark = conditions.bind(Value::Int(watermark));
        let every = all(&[&conditions.job, &conditions.current, &conditions.history]);
        let template = format!(
            "SELECT j.id::bigint AS job, {{utc c.createdat}} AS created_at FROM \
             (SELECT * FROM {{s}}.state c WHERE c.id > {watermark} ORDER BY c.id LIMIT {TAIL}) c \
             JOIN {{s}}.job j ON j.id = c.jobid AND j.stateid = c.id WHERE {every}"
        );
        conditions
            .bound(sqlx::query(self.layout.sql(&template)))
            .fetch_all(conn)
            .await?
            .iter()
            .map(|row| {
                Ok(ChangedKey {
                    changed_at: created_at(row)?,
                    job: row.try_get("job")?,
                })
            })
            .collect()
    }

    async fn rows(&self, conn: &mut Conn, walk: Walk) -> Result<Vec<Found>, Error> {
        let found = match &self.groups {
            None => self.fetch(conn, Build::whole, walk).await?,
            Some(groups) if groups.is_empty() => Vec::new(),
            Some(groups) => self.of_groups(conn, groups, walk).await?,
        };
        Ok(walk.merge(found, &self.tail))
    }

    async fn of_groups(
        &self,
        conn: &mut Conn,
        groups: &[i64],
        walk: Walk,
    ) -> Result<Vec<Found>, Error> {
        if groups.len() > FEW {
            let near = self.fetch(conn, |build| build.near(groups), walk).await?;
            if near.len() >= usize::try_from(walk.limit).unwrap_or(usize::MAX) {
                return Ok(near);
            }
        }
        // How far to go depends on which groups they are.
        plan_for_values(conn, self.layout).await?;
        self.fetch(conn, |build| build.far(groups), walk).await
    }

    async fn fetch(
        &self,
        conn: &mut Conn,
        statement: impl FnOnce(&mut Build) -> String,
        walk: Walk,
    ) -> Result<Vec<Found>, Error> {
        let mut build = Build::of(self, walk);
        let template = statement(&mut build);
        build
            .bound(sqlx::query(self.layout.sql(&template)))
            .fetch_all(conn)
            .await?
            .iter()
            .map(|row| {
                Ok(Found {
                    key: ChangedKey {
                        changed_at: micros(row.try_get("changed_at")?),
                        job: row.try_get("job")?,
                    },
                    attempts: row.try_get("attempts")?,
                })
            })
            .collect()
    }
}
