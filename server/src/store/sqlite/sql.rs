//! Pieces of SQL that several queries share. `j` is always the job.
//!
//! The current state is the newest row of the job's own state name: `Job.StateId` is not kept by
//! Hangfire.Storage.SQLite. Newest means by id, since one writer hands out rising ids, while
//! `CreatedAt` comes from the clocks of several hosts.

/// The id of the newest row that names the job's state, looked for among the newest thousand.
pub(super) const CURRENT: &str = "(SELECT Id FROM (SELECT Id, Name FROM State \
     WHERE JobId = j.Id ORDER BY Id DESC LIMIT 1000) \
     WHERE Name = j.StateName COLLATE NOCASE LIMIT 1)";

/// The id of the newest row of all.
pub(super) const NEWEST: &str = "(SELECT max(Id) FROM State WHERE JobId = j.Id)";

/// The state is not settled: a newer row of another name is there, or no row fits.
pub(super) const UNSETTLED: &str = "(newest IS NOT current)";

/// One member of a JSON object; NULL where the text is no JSON.
macro_rules! member {
    ($column:literal, $name:literal) => {
        concat!(
            "CASE WHEN json_valid(",
            $column,
            ") THEN json_extract(",
            $column,
            ", '$.",
            $name,
            "') END"
        )
    };
}
pub(super) use member;

/// One member of a JSON object that is at most 64 kB large.
macro_rules! light_member {
    ($column:literal, $name:literal) => {
        concat!(
            "CASE WHEN octet_length(",
            $column,
            ") <= 65536 AND json_valid(",
            $column,
            ") THEN json_extract(",
            $column,
            ", '$.",
            $name,
            "') END"
        )
    };
}
pub(super) use light_member;

/// The columns that `rows::invocation` reads, but for the arguments. Of data larger than 1 MB only
/// the beginning.
pub(super) const CALL: &str = concat!(
    "CASE WHEN octet_length(j.InvocationData) <= 1048576 THEN ",
    member!("j.InvocationData", "Type"),
    " END AS type, CASE WHEN octet_length(j.InvocationData) <= 1048576 THEN ",
    member!("j.InvocationData", "Method"),
    " END AS method, CASE WHEN octet_length(j.InvocationData) <= 1048576 THEN ",
    member!("j.InvocationData", "ParameterTypes"),
    " END AS parameters, CASE WHEN octet_length(j.InvocationData) <= 1048576 THEN ",
    member!("j.InvocationData", "Queue"),
    " END AS own_queue, CASE WHEN octet_length(j.InvocationData) > 1048576 \
     THEN substr(j.InvocationData, 1, 4000) END AS head",
);
