//! Delays that retry policies chose lately.

use app::model::data::StateData;
use app::model::job::TypedDelay;
use app::model::state::{StateName, StateRow};
use app::model::timeline::ObservedDelay;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::rows;
use super::sql::light_member;

const DELAYS: &str = concat!(
    "SELECT c.Id AS id, j.Id AS job, c.Name AS name, c.Reason AS reason, c.CreatedAt AS created_at, \
     c.Data AS data, ",
    light_member!("j.InvocationData", "Type"),
    " AS type, ",
    light_member!("j.InvocationData", "Method"),
    " AS method FROM (SELECT * FROM State ORDER BY Id DESC LIMIT 5000) c \
     JOIN Job j ON j.Id = c.JobId \
     WHERE c.Reason LIKE 'Retry attempt %' AND octet_length(c.Data) <= 65536 ORDER BY c.Id"
);

/// The delays that the newest state rows plan, oldest first.
pub(super) async fn recent(
    connection: &mut SqliteConnection,
) -> Result<Vec<TypedDelay>, sqlx::Error> {
    let found = sqlx::query(DELAYS).fetch_all(connection).await?;
    let delays: Result<Vec<_>, _> = found.iter().map(typed_delay).collect();
    Ok(delays?.into_iter().flatten().collect())
}

fn typed_delay(row: &SqliteRow) -> Result<Option<TypedDelay>, sqlx::Error> {
    let planned = StateRow {
        id: rows::int(row, "id")?.unwrap_or_default(),
        name: StateName::parse(&rows::text(row, "name")?.unwrap_or_default()),
        reason: rows::text(row, "reason")?,
        created_at: rows::instant(row, "created_at")?.unwrap_or_default(),
        data: StateData::parse_column(rows::text(row, "data")?.as_deref()),
        details_chars: None,
    };
    let job = rows::int(row, "job")?.unwrap_or_default();
    Ok(rows::text(row, "type")?
        .zip(rows::text(row, "method")?)
        .zip(ObservedDelay::of_row(&planned))
        .map(|((type_name, method), delay)| TypedDelay {
            job,
            type_name,
            method,
            delay,
        }))
}
