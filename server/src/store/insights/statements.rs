//! The statements. Both databases understand the same text, but for the names of the tables and for
//! the time of the last write.
//!
//! `$1` is the source's schema, `$2` and `$3` the range of time in the table's unit, `$4` the class,
//! `$5` the method, `$6` the queue, `$7` the step.

/// One text for each question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statements {
    pub(crate) coverage: &'static str,
    pub(crate) first_attempts: &'static str,
    pub(crate) rounds: &'static str,
    pub(crate) attempts: &'static str,
    pub(crate) recovery: &'static str,
    pub(crate) delays: &'static str,
    pub(crate) pending: &'static str,
    pub(crate) counted_queues: &'static str,
}

/// The statements of a dialect: how the names of its own tables begin, and the microseconds since
/// 1970 of `c.updated_at`.
macro_rules! statements {
    ($own:literal, $micros:literal) => {
        $crate::store::insights::Statements {
            coverage: concat!(
                "SELECT c.position AS position, ",
                $micros,
                " AS as_of, (SELECT min(t.hour) FROM ",
                $own,
                "attempts t WHERE t.source = c.source AND t.attempts <> 0) AS attempts_from, \
                 (SELECT min(t.hour) FROM ",
                $own,
                "rounds t WHERE t.source = c.source AND t.rounds <> 0) AS rounds_from FROM ",
                $own,
                "collector c JOIN ",
                $own,
                "source s ON s.id = c.source WHERE s.hangfire_schema = $1"
            ),
            first_attempts: concat!(
                "SELECT t.job_type AS job_type, t.method AS method, \
                 $2 + (t.slot - $2) / $7 * $7 AS step, \
                 CAST(sum(t.succeeded) AS bigint) AS succeeded, \
                 CAST(sum(t.ended) AS bigint) AS ended FROM ",
                $own,
                "first_attempts t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.slot >= $2 AND t.slot < $3 \
                 AND ($4 IS NULL OR t.job_type = $4) AND ($5 IS NULL OR t.method = $5) \
                 AND ($6 IS NULL OR t.queue = $6) \
                 GROUP BY t.job_type, t.method, step HAVING sum(t.ended) <> 0"
            ),
            rounds: concat!(
                "SELECT $2 + (t.hour - $2) / $7 * $7 AS step, t.job_type AS job_type, \
                 t.method AS method, t.later AS later, t.ending AS ending, t.number AS number, \
                 CAST(sum(t.rounds) AS bigint) AS rounds, \
                 CAST(sum(t.backoff_ms) AS bigint) AS backoff_ms FROM ",
                $own,
                "rounds t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.hour >= $2 AND t.hour < $3 \
                 AND ($4 IS NULL OR t.job_type = $4) AND ($5 IS NULL OR t.method = $5) \
                 AND ($6 IS NULL OR t.queue = $6) \
                 GROUP BY step, t.job_type, t.method, t.later, t.ending, t.number \
                 HAVING sum(t.rounds) <> 0"
            ),
            attempts: concat!(
                "SELECT t.job_type AS job_type, t.method AS method, t.later AS later, \
                 t.number AS number, t.outcome AS outcome, t.attempts AS attempts, \
                 t.waited AS waited, t.waited_ms AS waited_ms, t.ran AS ran, \
                 t.ran_ms AS ran_ms FROM ",
                $own,
                "attempts t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.hour >= $2 AND t.hour < $3 \
                 AND ($4 IS NULL OR t.job_type = $4) AND ($5 IS NULL OR t.method = $5) \
                 AND ($6 IS NULL OR t.queue = $6)"
            ),
            recovery: concat!(
                "SELECT t.job_type AS job_type, t.method AS method, t.exception AS exception, \
                 CAST(sum(t.recovered) AS bigint) AS recovered, \
                 CAST(sum(t.gave_up) AS bigint) AS gave_up, \
                 CAST(sum(t.retries_recovered) AS bigint) AS retries_recovered, \
                 CAST(sum(t.retries_gave_up) AS bigint) AS retries_gave_up FROM ",
                $own,
                "recovery t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.hour >= $2 AND t.hour < $3 \
                 AND ($4 IS NULL OR t.job_type = $4) AND ($5 IS NULL OR t.method = $5) \
                 GROUP BY t.job_type, t.method, t.exception \
                 HAVING sum(t.recovered) <> 0 OR sum(t.gave_up) <> 0"
            ),
            delays: concat!(
                "SELECT t.job_type AS job_type, t.method AS method, t.retries AS retries, \
                 t.retry AS retry, CAST(sum(t.delays) AS bigint) AS delays, \
                 CAST(sum(t.sum_ms) AS bigint) AS sum_ms, min(t.min_ms) AS min_ms, \
                 max(t.max_ms) AS max_ms FROM ",
                $own,
                "delays t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.day >= $2 AND t.day < $3 \
                 AND ($4 IS NULL OR t.job_type = $4) AND ($5 IS NULL OR t.method = $5) \
                 GROUP BY t.job_type, t.method, t.retries, t.retry HAVING sum(t.delays) <> 0"
            ),
            pending: concat!(
                "SELECT t.gauge AS gauge, t.job_type AS job_type, t.method AS method, \
                 t.label AS label, t.value AS value FROM ",
                $own,
                "gauges t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) \
                 AND t.gauge IN ('pending-rounds', 'pending-recovery') AND t.value > 0"
            ),
            counted_queues: concat!(
                "SELECT DISTINCT t.queue AS queue FROM ",
                $own,
                "attempts t WHERE t.source = (SELECT s.id FROM ",
                $own,
                "source s WHERE s.hangfire_schema = $1) AND t.attempts <> 0"
            ),
        }
    };
}
pub(crate) use statements;
