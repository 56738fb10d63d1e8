//! Reading columns that may hold anything: `SQLite` columns have no fixed type, and a text may be
//! no UTF-8 or no JSON. What cannot be read is none, so that one odd row never costs a page.

use app::model::invocation::{Arguments, Invocation};
use app::model::state::Instant;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::ticks;

/// A column as text; bytes that are no UTF-8 become replacement characters.
pub(super) fn text(row: &SqliteRow, column: &str) -> Result<Option<String>, sqlx::Error> {
    let bytes: Option<Vec<u8>> = row.try_get_unchecked(column)?;
    Ok(bytes.map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(odd) => String::from_utf8_lossy(odd.as_bytes()).into_owned(),
    }))
}

/// A column as a whole number.
pub(super) fn int(row: &SqliteRow, column: &str) -> Result<Option<i64>, sqlx::Error> {
    row.try_get_unchecked(column)
}

/// A column as a count.
pub(super) fn count(row: &SqliteRow, column: &str) -> Result<u32, sqlx::Error> {
    Ok(int(row, column)?.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX)))
}

/// A column of ticks.
pub(super) fn instant(row: &SqliteRow, column: &str) -> Result<Option<Instant>, sqlx::Error> {
    Ok(ticks::instant(int(row, column)?))
}

/// What the columns of `sql::CALL` say that a job calls.
pub(super) fn invocation(row: &SqliteRow, arguments: Arguments) -> Result<Invocation, sqlx::Error> {
    let (mut type_name, mut method) = (text(row, "type")?, text(row, "method")?);
    // Data too large to parse for a list: its beginning still names the call.
    if let Some(head) = text(row, "head")? {
        type_name = type_name.or_else(|| member_of_head(&head, "Type"));
        method = method.or_else(|| member_of_head(&head, "Method"));
    }
    Ok(Invocation::from_parts(
        type_name.as_deref(),
        method.as_deref(),
        text(row, "parameters")?.as_deref(),
        text(row, "own_queue")?.as_deref(),
        arguments,
    ))
}

/// The value of a member in the beginning of a JSON object whose end was not read.
fn member_of_head(head: &str, name: &str) -> Option<String> {
    let from = head.find(&format!("\"{name}\":\""))? + name.len() + 3;
    let mut values = serde_json::Deserializer::from_str(&head[from..]).into_iter::<String>();
    values.next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_the_beginning_of_its_data() {
        let head = r#"{"Type":"A.B, A","Method":"Go\"x","ParameterTypes":"[\"Sys"#;
        assert_eq!(member_of_head(head, "Type").as_deref(), Some("A.B, A"));
        assert_eq!(member_of_head(head, "Method").as_deref(), Some("Go\"x"));
        assert_eq!(member_of_head(head, "ParameterTypes"), None);
        assert_eq!(member_of_head(head, "Queue"), None);
    }
}
