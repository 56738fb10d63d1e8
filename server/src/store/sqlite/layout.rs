//! Which of Hangfire's tables and columns a file must have.

use std::collections::BTreeSet;

use app::ports::error::StoreError;
use sqlx::{Row, SqliteConnection};

/// Needed to read.
const TO_READ: &[(&str, &[&str])] = &[
    (
        "Job",
        &[
            "Id",
            "StateName",
            "InvocationData",
            "Arguments",
            "CreatedAt",
            "ExpireAt",
        ],
    ),
    (
        "State",
        &["Id", "JobId", "Name", "Reason", "CreatedAt", "Data"],
    ),
    ("JobParameter", &["Id", "JobId", "Name", "Value"]),
    ("JobQueue", &["Id", "JobId", "Queue", "FetchedAt"]),
    ("Server", &["Id", "Data", "LastHeartbeat"]),
];

/// Needed to act, besides.
const TO_ACT: &[(&str, &[&str])] = &[
    ("State", &["ExpireAt"]),
    ("JobParameter", &["ExpireAt"]),
    ("Set", &["Id", "Key", "Score", "Value", "ExpireAt"]),
    ("Counter", &["Id", "Key", "Value", "ExpireAt"]),
    (
        "DistributedLock",
        &["Id", "Resource", "ResourceKey", "ExpireAt"],
    ),
];

/// What a file holds of Hangfire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Names of columns that are missing for reading, as `Table.Column`, or of whole tables.
    pub(super) missing_to_read: Vec<String>,
    /// The same for acting.
    pub(super) missing_to_act: Vec<String>,
    /// Whether it holds no table at all.
    pub(super) empty: bool,
}

impl Layout {
    /// Whether the file holds what reading needs.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] where it does not, with what is missing.
    pub(super) fn is_readable(&self) -> Result<(), StoreError> {
        if self.empty {
            return Err(StoreError::Unreadable(
                "the file is empty: it holds no tables at all".to_owned(),
            ));
        }
        if self.missing_to_read.is_empty() {
            return Ok(());
        }
        Err(StoreError::Unreadable(format!(
            "the file does not hold Hangfire's tables as Hangfire.Storage.SQLite makes them: {} missing",
            self.missing_to_read.join(", ")
        )))
    }
}

/// Looks at the file's tables.
pub(super) async fn look(connection: &mut SqliteConnection) -> Result<Layout, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c \
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'",
    )
    .fetch_all(connection)
    .await?;
    let mut tables = BTreeSet::new();
    let mut columns = BTreeSet::new();
    for row in &rows {
        let table: String = row.try_get(0)?;
        let column: String = row.try_get(1)?;
        let table = table.to_ascii_lowercase();
        columns.insert((table.clone(), column.to_ascii_lowercase()));
        tables.insert(table);
    }
    let missing = |wanted: &[(&str, &[&str])]| -> Vec<String> {
        let mut missing = Vec::new();
        for (table, names) in wanted {
            let key = table.to_ascii_lowercase();
            if !tables.contains(&key) {
                missing.push((*table).to_owned());
                continue;
            }
            for name in *names {
                if !columns.contains(&(key.clone(), name.to_ascii_lowercase())) {
                    missing.push(format!("{table}.{name}"));
                }
            }
        }
        missing
    };
    Ok(Layout {
        missing_to_read: missing(TO_READ),
        missing_to_act: missing(TO_ACT),
        empty: tables.is_empty(),
    })
}
