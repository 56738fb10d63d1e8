//! What the program is told: command line, environment, and `redrive.toml`.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub mod claims;

use claims::ClaimsConfig;

/// The file, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Address to listen on.
    pub bind: Option<SocketAddr>,
    /// Path below which everything is served.
    pub base_path: Option<String>,
    /// Names by which a proxy on the same port number knows Redrive.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Name of the operator, for the audit.
    pub operator: Option<String>,
    /// Folder for the numbers of sources whose databases cannot hold them.
    pub state_dir: Option<PathBuf>,
    /// The sources.
    #[serde(default, rename = "source")]
    pub sources: Vec<SourceConfig>,
}

/// The environment that a source belongs to: the colour of its frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// Where mistakes cost.
    Prod,
    /// Where they are rehearsed.
    Staging,
    /// Everything else.
    #[default]
    Dev,
}

/// One job database under watch.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceConfig {
    /// Short name that stands in every URL: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// Name for people; the short name where it is missing.
    pub label: Option<String>,
    /// A `postgres://` URL, or the path of an `SQLite` file. May hold a password: never shown.
    pub database: String,
    /// Schema of Hangfire's tables on `PostgreSQL`.
    #[serde(default = "default_schema")]
    pub schema: String,
    /// The environment.
    #[serde(default)]
    pub environment: Environment,
    /// Whether actions are switched off.
    #[serde(default)]
    pub read_only: bool,
    /// Tables of idempotency claims.
    #[serde(default)]
    pub claims: Vec<ClaimsConfig>,
    /// Whether claims tables of the usual shape are looked for where none is configured.
    #[serde(default = "yes")]
    pub claims_detect: bool,
}

fn yes() -> bool {
    true
}

fn is_postgres(database: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| database.starts_with(scheme))
}

fn default_schema() -> String {
    "hangfire".to_owned()
}

impl std::fmt::Debug for SourceConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceConfig")
            .field("name", &self.name)
            .field("schema", &self.schema)
            .field("environment", &self.environment)
            .field("read_only", &self.read_only)
            .field("claims", &self.claims)
            .finish_non_exhaustive()
    }
}

impl SourceConfig {
    /// A source as `--database` alone gives it: named `main`.
    pub fn main(database: String, schema: Option<String>) -> Self {
        Self {
            name: "main".to_owned(),
            label: None,
            database,
            schema: schema.unwrap_or_else(default_schema),
            environment: Environment::default(),
            read_only: false,
            claims: Vec::new(),
            claims_detect: true,
        }
    }

    /// The name for people.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// Whether it lives in `PostgreSQL`; otherwise its database is an `SQLite` file.
    pub fn is_postgres(&self) -> bool {
        is_postgres(&self.database)
    }

    /// Why its database must not be written, where the operator said so.
    pub fn why_not_written(&self) -> Option<String> {
        self.read_only
            .then(|| "the source is configured as read-only".to_owned())
    }

    /// The path of its `SQLite` file.
    pub fn sqlite_path(&self) -> PathBuf {
        sqlite_path(&self.database)
    }
}

/// The path that a database's text means, where it is an `SQLite` file.
pub fn sqlite_path(database: &str) -> PathBuf {
    let path = database.strip_prefix("sqlite:").unwrap_or(database);
    PathBuf::from(path.strip_prefix("//").unwrap_or(path))
}

/// What `serve` runs with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address to listen on.
    pub bind: SocketAddr,
    /// Empty, or a path that begins with `/` and does not end with one.
    pub base_path: String,
    /// Names, beside the loopback ones, that requests to this port may be for.
    pub hosts: Vec<String>,
    /// Name of the operator, for the audit: configured, else the OS user's.
    pub operator: String,
    /// Folder for the numbers of sources whose databases cannot hold them.
    pub state_dir: Option<PathBuf>,
    /// At least one source.
    pub sources: Vec<SourceConfig>,
}

/// Where nothing else is asked for.
pub const DEFAULT_BIND: SocketAddr =
    SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7420);

/// Why the configuration cannot be used, in a sentence that says what to change.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path} is not valid: {source}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// Anything else that is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`] where it cannot be read or understood.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| ConfigError::Invalid {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }
}

impl Config {
    /// Checks what was put together from file, environment and command line.
    ///
    /// # Errors
    /// [`ConfigError::Wrong`] with what to change.
    pub fn check(self, allow_remote: bool) -> Result<Self, ConfigError> {
        let wrong = |text: String| Err(ConfigError::Wrong(text));
        if self.sources.is_empty() {
            return wrong(
                "no source is configured: give --database, or a [[source]] in redrive.toml"
                    .to_owned(),
            );
        }
        for (index, source) in self.sources.iter().enumerate() {
            let name = &source.name;
            let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
            if name.is_empty() || name.len() > 40 || !name.chars().all(legal) {
                return wrong(format!(
                    "the source name {name:?} cannot stand in a URL: use 1 to 40 lower-case \
                     letters, digits, - and _"
                ));
            }
            if self.sources[..index]
                .iter()
                .any(|other| other.name == *name)
            {
                return wrong(format!("two sources are named {name}: names must differ"));
            }
            source.claims_tables(environment)?;
        }
        if !self.bind.ip().is_loopback() && !allow_remote {
            return wrong(format!(
                "{} is not a loopback address. Redrive has no access control yet, so everybody \
                 who reaches it could requeue and delete jobs. Listen on 127.0.0.1, or, on a \
                 trusted network behind a proxy, add --insecure-allow-remote",
                self.bind
            ));
        }
        Ok(self)
    }
}

/// An environment variable, where it is set and readable.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Brings a base path into its form: empty, or `/ops/redrive`.
///
/// # Errors
/// [`ConfigError::Wrong`] where it has characters that a path segment should not have.
pub fn base_path(text: &str) -> Result<String, ConfigError> {
    let trimmed = text.trim_matches('/');
    let legal = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    if !trimmed.chars().all(legal) || trimmed.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(ConfigError::Wrong(format!(
            "the base path {text:?} may hold letters, digits, - . _ ~ and / only"
        )));
    }
    Ok(if trimmed.is_empty() {
        String::new()
    } else {
        format!("/{trimmed}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(bind: &str, names: &[&str]) -> Config {
        Config {
            bind: bind.parse().unwrap(),
            base_path: String::new(),
            hosts: Vec::new(),
            operator: "ada".into(),
            state_dir: None,
            sources: names
                .iter()
                .map(|name| SourceConfig {
                    name: (*name).to_owned(),
                    ..SourceConfig::main("jobs.db".into(), None)
                })
                .collect(),
        }
    }

    fn why(result: Result<Config, ConfigError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn only_loopback_is_listened_on_unless_told_otherwise() {
        assert!(config("127.0.0.1:1", &["main"]).check(false).is_ok());
        assert!(config("[::1]:1", &["main"]).check(false).is_ok());
        let refusal = why(config("0.0.0.0:1", &["main"]).check(false));
        assert!(refusal.contains("--insecure-allow-remote"), "{refusal}");
        assert!(config("0.0.0.0:1", &["main"]).check(true).is_ok());
    }

    #[test]
    fn source_names_must_differ_and_fit_a_url() {
        assert!(why(config("127.0.0.1:1", &["a", "a"]).check(false)).contains("two sources"));
        assert!(why(config("127.0.0.1:1", &["A b"]).check(false)).contains("URL"));
        assert!(why(config("127.0.0.1:1", &[]).check(false)).contains("--database"));
    }

    #[test]
    fn base_paths_are_brought_into_one_form() {
        assert_eq!(base_path("/ops/redrive/").unwrap(), "/ops/redrive");
        assert_eq!(base_path("ops").unwrap(), "/ops");
        assert_eq!(base_path("/").unwrap(), "");
        assert!(base_path("/a/../b").is_err());
        assert!(base_path("/a b").is_err());
    }

    #[test]
    fn a_file_is_read_and_unknown_keys_are_refused() {
        let file: ConfigFile = toml::from_str(
            r#"
            operator = "ada"
            state_dir = "/var/lib/redrive"
            [[source]]
            name = "prod"
            label = "Bookstore"
            database = "postgres://u:secret@127.0.0.1/jobs"
            environment = "prod"
            read_only = true
            "#,
        )
        .unwrap();
        assert_eq!(
            file.state_dir.as_deref(),
            Some(Path::new("/var/lib/redrive"))
        );
        let source = &file.sources[0];
        assert!(source.is_postgres());
        assert_eq!(
            (source.schema.as_str(), source.label()),
            ("hangfire", "Bookstore")
        );
        assert!(!format!("{source:?}").contains("secret"));
        assert!(toml::from_str::<ConfigFile>("colour = 1").is_err());
    }

    #[test]
    fn sqlite_is_named_by_path_or_url() {
        let path = |database: &str| SourceConfig::main(database.into(), None).sqlite_path();
        assert_eq!(path("jobs.db"), PathBuf::from("jobs.db"));
        assert_eq!(path("sqlite:///var/jobs.db"), PathBuf::from("/var/jobs.db"));
        assert_eq!(path("sqlite:jobs.db"), PathBuf::from("jobs.db"));
    }
}
