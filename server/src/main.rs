//! The program `redrive`.

use std::process::ExitCode;

use clap::Parser;
use server::cli::{Cli, Command, check, demo, migrate, serve};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_logging();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let result = runtime.block_on(async {
        match cli.command {
            Command::Serve(options) => serve::run(options.config()?)
                .await
                .map(|()| ExitCode::SUCCESS),
            Command::Demo(options) => demo::run(options).await.map(|()| ExitCode::SUCCESS),
            Command::Migrate(options) => migrate::run(options).await.map(|()| ExitCode::SUCCESS),
            Command::Check(options) => check::run(options).await,
        }
    });
    // Tasks of the database drivers may still wait on a socket: the process need not.
    runtime.shutdown_background();
    result.unwrap_or_else(|error| fail(&error))
}

/// Logs go to standard error: text for people, JSON with `REDRIVE_LOG_FORMAT=json`; which ones,
/// `RUST_LOG` says.
fn start_logging() {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn,tower_http=warn"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    if std::env::var("REDRIVE_LOG_FORMAT").is_ok_and(|format| format == "json") {
        logs.json().init();
    } else {
        logs.init();
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the last word of a command goes to its terminal"
)]
fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("redrive: {error:#}");
    ExitCode::from(2)
}
