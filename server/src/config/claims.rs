//! `[[source.claims]]` in `redrive.toml`: tables of idempotency claims.

use std::collections::HashSet;
use std::time::Duration;

use app::model::claim::keys::{KeyPattern, KeyRule};
use app::model::claim::table::{ClaimWay, ClaimsTable, Columns, ProviderRule};
use axum::http::HeaderValue;
use reqwest::Url;
use serde::Deserialize;

use super::{ConfigError, SourceConfig, is_postgres};

/// Durations longer than this are a slip of the pen.
const LONGEST: Duration = Duration::from_hours(10 * 366 * 24);

/// A claims table, as it is written in the file.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimsConfig {
    /// Short name for URLs and pages; the table's own name where it is missing.
    name: Option<String>,
    /// The table: `OutgoingEmails`, or `public.OutgoingEmails` on `PostgreSQL`. Parts that hold a
    /// dot stand in double quotes.
    table: String,
    /// Where the table lives, if not in the source's own database: a `postgres://` URL, or the
    /// path of an `SQLite` file. May hold a password: never shown.
    database: Option<String>,
    /// Column of the idempotency key.
    key: String,
    /// Column of the status.
    status: String,
    /// Column of the claim time.
    claimed_at: Option<String>,
    /// Column of the provider's message id.
    provider_id: Option<String>,
    /// Status value that means sending.
    sending: StatusValue,
    /// Status value that means sent.
    sent: StatusValue,
    /// A Sending claim older than this is stale; 10 minutes where nothing is said.
    cutoff: Option<String>,
    /// Sent claims older than this may be purged; 30 days where nothing is said.
    retention: Option<String>,
    /// How long the provider remembers a key.
    window: Option<String>,
    /// Whether Sent claims past the retention are purged by themselves.
    #[serde(default)]
    purge: bool,
    /// How the owning jobs claim: `insert-first`, `self-reclaim` or `hand-over`.
    jobs: Option<String>,
    /// Exception types that prove that nothing was sent.
    #[serde(default)]
    nothing_sent_on: Vec<String>,
    /// How keys map to jobs.
    #[serde(default)]
    keys: Vec<KeyConfig>,
    /// How the provider is asked.
    provider: Option<ProviderConfig>,
}

/// A status: EF Core stores enums as numbers unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum StatusValue {
    Text(String),
    Number(i64),
}

impl StatusValue {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// One rule from keys to jobs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyConfig {
    /// `invoice-email:{0}`.
    pattern: String,
    /// The jobs' type.
    #[serde(rename = "type")]
    job_type: String,
    /// Their methods; any where nothing is said.
    #[serde(default)]
    methods: Vec<String>,
}

/// How the provider is asked.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderConfig {
    /// URL with `{key}`.
    url: String,
    /// Value of the `Authorization` header. Never shown.
    authorization: Option<String>,
    /// Environment variable that holds that value.
    authorization_env: Option<String>,
    /// JSON pointer to the message id.
    message_id: Option<String>,
    /// Whether the look-up remembers for ever.
    #[serde(default)]
    permanent: bool,
}

impl std::fmt::Debug for ClaimsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaimsConfig")
            .field("name", &self.name)
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

/// A claims table that was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfiguredTable {
    /// What it is.
    pub table: ClaimsTable,
    /// Where it lives, if not in the source's own database. May hold a password: never shown.
    pub database: Option<String>,
}

impl std::fmt::Debug for ConfiguredTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredTable")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl SourceConfig {
    /// Its claims tables, checked. `environment` reads an environment variable.
    ///
    /// # Errors
    /// [`ConfigError::Wrong`] with the table and what to change.
    pub fn claims_tables(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<ConfiguredTable>, ConfigError> {
        let mut names = HashSet::new();
        let mut tables = Vec::with_capacity(self.claims.len());
        for claims in &self.claims {
            let about = |why: String| {
                ConfigError::Wrong(format!(
                    "source {}, claims table {}: {why}",
                    self.name, claims.table
                ))
            };
            let table = claims.table(self, &environment).map_err(about)?;
            if !names.insert(table.table.name.clone()) {
                return Err(about(format!(
                    "two tables of the source are named “{}”; give one of them another “name”",
                    table.table.name
                )));
            }
            tables.push(table);
        }
        Ok(tables)
    }

    /// The other database that holds the claims: where every table names the same one, of the same
    /// kind as the jobs'.
    pub fn claims_database<'t>(&self, tables: &'t [ConfiguredTable]) -> Option<&'t str> {
        let database = tables.first()?.database.as_deref()?;
        let same = |table: &ConfiguredTable| table.database.as_deref() == Some(database);
        (tables.iter().all(same) && is_postgres(database) == self.is_postgres()).then_some(database)
    }
}

impl ClaimsConfig {
    fn table(
        &self,
        source: &SourceConfig,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<ConfiguredTable, String> {
        let postgres = is_postgres(self.database.as_deref().unwrap_or(&source.database));
        let (schema, table) = if postgres {
            schema_and_table(&self.table)?
        } else {
            (String::new(), self.table.clone())
        };
        let columns = Columns {
            key: column("key", &self.key)?,
            status: column("status", &self.status)?,
            claimed_at: optional_column("claimed_at", self.claimed_at.as_deref())?,
            provider_id: optional_column("provider_id", self.provider_id.as_deref())?,
        };
        let (sending, sent) = (self.sending.text(), self.sent.text());
        if sending == sent {
            return Err(format!(
                "“sending” and “sent” are both “{sent}”: they must differ"
            ));
        }
        if self.purge && columns.claimed_at.is_none() {
            return Err("“purge” needs the column “claimed_at” to tell what is old".to_owned());
        }
        let length = |name, text: &Option<String>| {
            text.as_deref()
                .map(|text| duration_ms(name, text))
                .transpose()
        };
        Ok(ConfiguredTable {
            table: ClaimsTable {
                name: short_name(self.name.as_deref().unwrap_or(&table))?,
                schema,
                table,
                columns,
                sending,
                sent,
                cutoff_ms: length("cutoff", &self.cutoff)?.unwrap_or(ClaimsTable::CUTOFF_MS),
                retention_ms: length("retention", &self.retention)?
                    .unwrap_or(ClaimsTable::RETENTION_MS),
                purge: self.purge,
                window_ms: length("window", &self.window)?,
                way: way(self.jobs.as_deref())?,
                keys: self.keys.iter().map(rule).collect::<Result<_, _>>()?,
                nothing_sent_on: self.nothing_sent_on.clone(),
                provider: self
                    .provider
                    .as_ref()
                    .map(|provider| provider.rule(environment))
                    .transpose()?,
                detected: false,
            },
            database: self.database.clone(),
        })
    }
}

impl ProviderConfig {
    fn rule(&self, environment: impl Fn(&str) -> Option<String>) -> Result<ProviderRule, String> {
        let wrong_url = || {
            "“provider.url” must be an http:// or https:// URL with {key} in it, for example \
             https://mail.example.com/emails/{key}"
                .to_owned()
        };
        let tried = Url::parse(&self.url.replace("{key}", "key")).map_err(|_| wrong_url())?;
        if !self.url.contains("{key}") || !matches!(tried.scheme(), "http" | "https") {
            return Err(wrong_url());
        }
        let authorization = match (&self.authorization, &self.authorization_env) {
            (Some(_), Some(_)) => {
                return Err(
                    "give “provider.authorization” or “provider.authorization_env”, not both"
                        .to_owned(),
                );
            }
            (Some(value), None) => Some(value.clone()),
            (None, Some(variable)) => Some(environment(variable).ok_or_else(|| {
                format!(
                    "“provider.authorization_env” names the environment variable {variable}, \
                     which is not set"
                )
            })?),
            (None, None) => None,
        };
        if authorization
            .as_deref()
            .is_some_and(|value| HeaderValue::from_str(value).is_err())
        {
            return Err("the provider's authorization cannot stand in a header".to_owned());
        }
        let message_id = self.message_id.as_deref().unwrap_or("/messageId");
        if !message_id.starts_with('/') {
            return Err(format!(
                "“provider.message_id” must be a JSON pointer such as /messageId, not \
                 “{message_id}”"
            ));
        }
        Ok(ProviderRule {
            url: self.url.clone(),
            authorization,
            message_id: message_id.to_owned(),
            permanent: self.permanent,
        })
    }
}

fn short_name(name: &str) -> Result<String, String> {
    let length = name.chars().count();
    if !(1..=100).contains(&length) || name.chars().any(char::is_control) {
        return Err(format!(
            "the name “{}” must have 1 to 100 characters",
            name.escape_debug()
        ));
    }
    Ok(name.to_owned())
}

fn column(field: &str, name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains('\0') {
        return Err(format!("“{field}” must be the name of a column"));
    }
    Ok(name.to_owned())
}

fn optional_column(field: &str, name: Option<&str>) -> Result<Option<String>, String> {
    name.map(|name| column(field, name)).transpose()
}

fn way(text: Option<&str>) -> Result<ClaimWay, String> {
    let ways = [
        ClaimWay::InsertFirst,
        ClaimWay::SelfReclaim,
        ClaimWay::HandOver,
    ];
    let Some(text) = text else {
        return Ok(ClaimWay::default());
    };
    ways.into_iter()
        .find(|way| way.slug() == text)
        .ok_or_else(|| {
            format!(
                "“jobs” says how the owning jobs claim: insert-first, self-reclaim or hand-over, \
                 not “{text}”"
            )
        })
}

fn rule(config: &KeyConfig) -> Result<KeyRule, String> {
    let pattern = KeyPattern::parse(&config.pattern).map_err(|error| error.to_string())?;
    if config.job_type.trim().is_empty() {
        return Err(format!(
            "the pattern “{}” needs the “type” of its jobs",
            config.pattern
        ));
    }
    Ok(KeyRule {
        pattern,
        job_type: config.job_type.clone(),
        methods: config.methods.clone(),
    })
}

/// Reads a duration such as `10m`, `24h` or `30d`, in milliseconds: more than nothing, and at most
/// ten years. `name` is what the sentence calls it.
///
/// # Errors
/// A sentence that says what it may be.
pub fn duration_ms(name: &str, text: &str) -> Result<i64, String> {
    let wrong = || format!("“{name}” must be a duration such as 10m, 24h or 30d, not “{text}”");
    let duration = humantime::parse_duration(text.trim()).map_err(|_| wrong())?;
    if duration < Duration::from_secs(1) || duration > LONGEST {
        return Err(format!(
            "“{name}” must be between a second and ten years, not “{text}”"
        ));
    }
    i64::try_from(duration.as_millis()).map_err(|_| wrong())
}

/// Splits `public.OutgoingEmails`; a part in double quotes may hold dots, and doubled quotes.
fn schema_and_table(text: &str) -> Result<(String, String), String> {
    let wrong = || {
        format!(
            "“table” must be a name such as OutgoingEmails or public.OutgoingEmails, not “{text}”"
        )
    };
    let mut parts = vec![String::new()];
    let (mut quoted, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        let part = parts.last_mut().ok_or_else(wrong)?;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                part.push('"');
            }
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            '\0' => return Err(wrong()),
            _ => part.push(c),
        }
    }
    if quoted || parts.iter().any(String::is_empty) {
        return Err(wrong());
    }
    match <[String; 1]>::try_from(parts) {
        Ok([table]) => Ok(("public".to_owned(), table)),
        Err(parts) => match <[String; 2]>::try_from(parts) {
            Ok([schema, table]) => Ok((schema, table)),
            Err(_) => Err(wrong()),
        },
    }
}

#[cfg(test)]
mod tests;
