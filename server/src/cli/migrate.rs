//! `redrive migrate`.

use std::sync::Arc;

use crate::cli::Migrate;
use crate::clock::SystemClock;
use crate::config::SourceConfig;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;

/// Brings the tables of every configured source up to date, or prints the SQL that would.
///
/// # Errors
/// Where a source cannot be opened or changed; what was done before it stays done.
pub async fn run(options: Migrate) -> anyhow::Result<()> {
    let sources = options.database.sources()?;
    anyhow::ensure!(
        !sources.is_empty(),
        "no source is configured: give --database, or a [[source]] in redrive.toml"
    );
    for source in sources {
        if source.is_postgres() {
            postgres(&source, &options).await?;
        } else {
            sqlite(&source, &options).await?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the command's own output")]
async fn postgres(source: &SourceConfig, options: &Migrate) -> anyhow::Result<()> {
    let store = PostgresStore::connect(&source.database, &source.schema, Arc::new(SystemClock))?;
    if options.print {
        say_pending(store.pending_sql().await?);
        return Ok(());
    }
    if options.hangfire {
        store.migrate_hangfire().await?;
    }
    store.migrate().await?;
    println!("{}: up to date", source.name);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the command's own output")]
async fn sqlite(source: &SourceConfig, options: &Migrate) -> anyhow::Result<()> {
    let path = source.sqlite_path();
    let clock = Arc::new(SystemClock);
    let store = if options.hangfire && !path.exists() {
        SqliteStore::create(&path, clock).await?
    } else {
        SqliteStore::open(&path, clock).await?
    };
    if options.print {
        say_pending(store.pending_sql().await?);
        return Ok(());
    }
    store.migrate().await?;
    println!("{}: up to date", source.name);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the command's own output")]
fn say_pending(sql: Option<String>) {
    println!(
        "{}",
        sql.as_deref()
            .unwrap_or("-- nothing to do: the tables are up to date")
    );
}
