//! The command line.
#![expect(
    clippy::doc_markdown,
    reason = "doc comments are help texts here: no backticks"
)]

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::{self, Config, ConfigError, ConfigFile, DEFAULT_BIND, SourceConfig};

pub mod check;
pub mod demo;
pub mod migrate;
mod output;
pub mod serve;

/// Watch background jobs that retry, and act on them safely.
#[derive(Debug, Parser)]
#[command(name = "redrive", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the dashboard.
    Serve(Serving),
    /// Make a demo database if there is none, and serve it.
    Demo(Demo),
    /// Create or bring up to date Redrive's own tables.
    Migrate(Migrate),
    /// Look for faults in a job database. Exit code 1 where something needs action, 2 where
    /// something could not be checked.
    Check(CheckOptions),
}

/// Which database to open.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// A postgres:// URL, or the path of an SQLite file. The source is then named "main".
    #[arg(long, env = "REDRIVE_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// Schema of Hangfire's tables on PostgreSQL.
    #[arg(long, env = "REDRIVE_SCHEMA")]
    pub schema: Option<String>,
    /// A configuration file with sources.
    #[arg(long, env = "REDRIVE_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Where Redrive keeps what a source's database cannot hold.
#[derive(Debug, Clone, Args)]
pub struct State {
    /// A folder for the numbers of sources whose databases cannot hold them: read-only ones. It is
    /// made where it is missing.
    #[arg(long = "state-dir", env = "REDRIVE_STATE_DIR")]
    pub dir: Option<PathBuf>,
}

/// How to listen.
#[derive(Debug, Clone, Args)]
pub struct Listening {
    /// Address to listen on; a loopback address.
    #[arg(long, env = "REDRIVE_BIND")]
    pub bind: Option<SocketAddr>,
    /// Path below which everything is served, for example /ops/redrive.
    #[arg(long, env = "REDRIVE_BASE_PATH")]
    pub base_path: Option<String>,
    /// Listen on any address. Everybody who reaches it may act: only for a trusted network behind
    /// a proxy that lets nobody else in.
    #[arg(long, env = "REDRIVE_INSECURE_ALLOW_REMOTE")]
    pub insecure_allow_remote: bool,
    /// A name by which a proxy on this port number knows Redrive; repeat it, or part names with
    /// commas.
    #[arg(long = "host", env = "REDRIVE_HOSTS", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Name of the operator in the audit; the OS user where it is missing.
    #[arg(long, env = "REDRIVE_OPERATOR")]
    pub operator: Option<String>,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct Serving {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// What is kept on this host.
    #[command(flatten)]
    pub state: State,
    /// How to listen.
    #[command(flatten)]
    pub listening: Listening,
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where the demo database lies.
    #[arg(long, env = "REDRIVE_DEMO_FILE", default_value = "redrive-demo.db")]
    pub file: PathBuf,
    /// How many jobs to make.
    #[arg(long, default_value_t = 2_000)]
    pub jobs: usize,
    /// The same seed makes the same jobs.
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Make it anew, even if it is there.
    #[arg(long)]
    pub fresh: bool,
    /// How to listen.
    #[command(flatten)]
    pub listening: Listening,
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Print the SQL for somebody who may run it, and change nothing.
    #[arg(long)]
    pub print: bool,
    /// Create Hangfire's own tables too. Only in an empty database.
    #[arg(long)]
    pub hangfire: bool,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// What is kept on this host.
    #[command(flatten)]
    pub state: State,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Database {
    /// The configuration file, where one is given or `redrive.toml` lies here.
    fn file(&self) -> Result<ConfigFile, ConfigError> {
        let here = PathBuf::from("redrive.toml");
        match &self.config {
            Some(path) => ConfigFile::read(path),
            None if self.database.is_none() && here.is_file() => ConfigFile::read(&here),
            None => Ok(ConfigFile::default()),
        }
    }

    /// The sources: `--database` alone, else those of the file.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn sources(&self) -> Result<Vec<SourceConfig>, ConfigError> {
        match &self.database {
            Some(url) => Ok(vec![SourceConfig::main(url.clone(), self.schema.clone())]),
            None if self.schema.is_some() => Err(ConfigError::Wrong(
                "--schema goes with --database; sources of a file name their own".to_owned(),
            )),
            None => Ok(self.file()?.sources),
        }
    }
}

impl CheckOptions {
    /// The folder for numbers: the option, else the file's.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn state_dir(&self) -> Result<Option<PathBuf>, ConfigError> {
        Ok(match &self.state.dir {
            Some(dir) => Some(dir.clone()),
            None => self.database.file()?.state_dir,
        })
    }
}

impl Serving {
    /// Puts command line, environment and file together.
    ///
    /// # Errors
    /// [`ConfigError`] with what to change.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let file = self.database.file()?;
        let mut config = self.listening.config(self.database.sources()?)?;
        if self.listening.bind.is_none()
            && let Some(bind) = file.bind
        {
            config.bind = bind;
        }
        if self.listening.base_path.is_none()
            && let Some(base) = &file.base_path
        {
            config.base_path = config::base_path(base)?;
        }
        config.state_dir = self.state.dir.clone().or(file.state_dir);
        if self.listening.hosts.is_empty() {
            config.hosts = file.hosts;
        }
        if self.listening.operator.is_none()
            && let Some(operator) = file.operator
        {
            config.operator = operator;
        }
        config.check(self.listening.insecure_allow_remote)
    }
}

impl Listening {
    /// A configuration of these options alone; not checked yet.
    ///
    /// # Errors
    /// Where the base path cannot be one.
    pub fn config(&self, sources: Vec<SourceConfig>) -> Result<Config, ConfigError> {
        Ok(Config {
            bind: self.bind.unwrap_or(DEFAULT_BIND),
            base_path: config::base_path(self.base_path.as_deref().unwrap_or_default())?,
            hosts: self.hosts.clone(),
            operator: self.operator.clone().unwrap_or_else(os_user),
            state_dir: None,
            sources,
        })
    }
}

/// The OS user's name, for the audit.
fn os_user() -> String {
    ["USER", "LOGNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_folder_for_numbers_is_the_options_or_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("redrive.toml");
        let text = "state_dir = \"/of/file\"\n[[source]]\nname = \"a\"\ndatabase = \"a.db\"\n";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        for (command, wanted) in [
            (vec!["serve", "--config", file], Some("/of/file")),
            (
                vec!["serve", "--config", file, "--state-dir", "/of/option"],
                Some("/of/option"),
            ),
            (vec!["serve", "--database", "a.db"], None),
            (vec!["check", "--config", file], Some("/of/file")),
            (
                vec!["check", "--database", "a.db", "--state-dir", "/of/option"],
                Some("/of/option"),
            ),
        ] {
            let all = ["redrive"].iter().chain(&command);
            let found = match Cli::try_parse_from(all).unwrap().command {
                Command::Serve(serving) => serving.config().unwrap().state_dir,
                Command::Check(options) => options.state_dir().unwrap(),
                other => panic!("{other:?}"),
            };
            assert_eq!(found.as_deref(), wanted.map(Path::new), "{command:?}");
        }
    }
}
