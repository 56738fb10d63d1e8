//! The statements of lists in the order of change: what is put together are constants, and
//! conditions whose values are bound.
//!
//! Aliases: `f` is the row of the index, `j` the job.

use app::ports::jobs::JobFilter;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

use super::Read;
use crate::store::failures::page::Walk;
use crate::store::postgres::filter::{Conditions, Value, all};

/// Rows of the list that are walked before the groups are asked one by one.
const WALK: u32 = 2_000;

/// The parts of a statement.
pub(super) struct Build {
    conditions: Conditions,
    /// On the job: that it is as the index has it, and what only it can tell. Looked up for each row
    /// (`OFFSET 0` keeps it so): the planner takes hardly any job to fit, and would rather read all.
    fits: String,
    /// On the index: where the walk begins, and times.
    place: String,
    /// On a row of the index.
    row: String,
    source: String,
    list: String,
    /// In the text: of a number that is bound, plans assume that it is a tenth of everything.
    limit: u32,
    older: bool,
}

impl Build {
    pub(super) fn of(read: &Read<'_>, walk: Walk) -> Self {
        let wanted = &read.request.wanted;
        let calls = JobFilter {
            job_type: read.request.filter.job_type.clone(),
            method: read.request.filter.method.clone(),
            ..JobFilter::default()
        };
        let mut conditions = Conditions::of(&calls, read.layout);
        let stored = conditions.bind(Value::Text(wanted.list.stored().as_str().to_owned()));
        conditions.job.extend([
            format!("j.statename = {stored}"),
            "COALESCE(j.stateid, 0) = f.state_id".to_owned(),
        ]);
        let source = conditions.bind(Value::Id(read.source));
        let list = conditions.bind(Value::Text(wanted.list.slug().to_owned()));
        let mut place = Vec::new();
        if let Some(key) = walk.from {
            let at = conditions.bind(Value::Int(key.changed_at.timestamp_micros()));
            let job = conditions.bind(Value::Int(key.job));
            let reach = if walk.older { "<=" } else { ">=" };
            place.push(format!("(f.changed_at, f.job) {reach} ({at}, {job})"));
        }
        let mut at_least = |words: &str, value: Option<i64>| -> Vec<String> {
            let value = value.map(|value| conditions.bind(Value::Int(value)));
            value
                .map(|value| format!("{words} {value}"))
                .into_iter()
                .collect()
        };
        place.extend(at_least("f.changed_at >=", wanted.from));
        place.extend(at_least("f.changed_at <", wanted.to));
        let mut row = at_least("f.server =", wanted.server);
        row.extend(at_least("f.attempts >=", wanted.attempts));
        Self {
            fits: format!(
                "CROSS JOIN LATERAL (SELECT 1 FROM {{s}}.job j WHERE j.id = f.job AND {} OFFSET 0) fits",
                all(&[&conditions.job])
            ),
            place: all(&[&place]),
            row: all(&[&row]),
            conditions,
            source,
            list,
            limit: walk.limit,
            older: walk.older,
        }
    }

    fn order(&self, alias: &str) -> String {
        let direction = if self.older { "DESC" } else { "ASC" };
        format!("ORDER BY {alias}.changed_at {direction}, {alias}.job {direction}")
    }

    /// All of the list.
    pub(super) fn whole(&mut self) -> String {
        let Self {
            fits,
            place,
            row,
            source,
            list,
            limit,
            ..
        } = &*self;
        format!(
            "SELECT f.job, f.changed_at, f.attempts FROM redrive.failures f \
             {fits} \
             WHERE f.source = {source} AND f.list = {list} AND {place} AND {row} {} LIMIT {limit}",
            self.order("f")
        )
    }

    /// Of the list's next rows those of the groups.
    pub(super) fn near(&mut self, groups: &[i64]) -> String {
        let groups = self.conditions.bind(Value::Ints(groups.to_vec()));
        let Self {
            fits,
            place,
            row,
            source,
            list,
            limit,
            ..
        } = &*self;
        let order = self.order("f");
        format!(
            "SELECT f.job, f.changed_at, f.attempts FROM (SELECT * FROM redrive.failures f \
             WHERE f.source = {source} AND f.list = {list} AND {place} {order} LIMIT {WALK}) f \
             {fits} \
             WHERE f.group_id = ANY({groups}) AND {row} {order} LIMIT {limit}"
        )
    }

    /// A page of each group, and of these the first.
    pub(super) fn far(&mut self, groups: &[i64]) -> String {
        let groups = self.conditions.bind(Value::Ints(groups.to_vec()));
        let Self {
            fits,
            place,
            row,
            source,
            list,
            limit,
            ..
        } = &*self;
        format!(
            "SELECT x.job, x.changed_at, x.attempts FROM unnest({groups}) AS g(id) \
             CROSS JOIN LATERAL (SELECT f.job, f.changed_at, f.attempts FROM redrive.failures f \
             {fits} WHERE f.source = {source} \
             AND f.group_id = g.id AND f.list = {list} AND {place} AND {row} {} LIMIT {limit}) x \
             {} LIMIT {limit}",
            self.order("f"),
            self.order("x")
        )
    }

    /// The values, bound to a statement.
    pub(super) fn bound(
        self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Query<'_, Postgres, PgArguments> {
        self.conditions.bound(query)
    }
}
