//! The background look, over recorded files.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::sync::watch;

use super::*;
use crate::clock::{SharedClock, SystemClock};
use crate::config::ConfigFile;
use crate::source::Snapshot;
use crate::store::sqlite::SqliteStore;

const CLAIMS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../app/tests/fixtures/claims/sqlite/claims.db"
);

const TABLE: &str = r#"
    [[source.claims]]
    table = "OutgoingEmails"
    key = "IdempotencyKey"
    status = "Status"
    claimed_at = "ClaimedAtUtc"
    provider_id = "ProviderMessageId"
    sending = 0
    sent = 1
"#;

struct Source {
    store: Arc<SqliteStore>,
    claims: SourceClaims,
    live: watch::Sender<Snapshot>,
    clock: SharedClock,
    _folder: TempDir,
}

fn config(file: &Path, more: &str) -> SourceConfig {
    let text = format!(
        "[[source]]\nname = \"main\"\ndatabase = \"{}\"\n{more}",
        file.display()
    );
    toml::from_str::<ConfigFile>(&text)
        .unwrap()
        .sources
        .remove(0)
}

impl Source {
    async fn with(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("claims.db");
        std::fs::copy(CLAIMS, &file).unwrap();
        let clock: SharedClock = Arc::new(SystemClock);
        let store = SqliteStore::open(&file, clock.clone()).await.unwrap();
        store.migrate().await.unwrap();
        Self {
            store: Arc::new(store),
            claims: SourceClaims::of(&config(&file, more)).unwrap(),
            live: watch::Sender::default(),
            clock,
            _folder: folder,
        }
    }

    async fn look(&self) {
        let tables = self.claims.configured.clone();
        look::look(&self.claims, self.store.as_ref(), &tables, &self.live).await;
    }

    async fn execute(&self, sql: &'static str) {
        let pool = self.store.writer().await.unwrap();
        sqlx::query(sql).execute(&pool).await.unwrap();
    }

    fn seen(&self) -> Vec<look::Watched> {
        self.live.borrow().claims.clone().unwrap().as_ref().clone()
    }
}

#[tokio::test]
async fn a_look_tells_the_tables_and_their_numbers() {
    let source = Source::with(TABLE).await;
    source.look().await;
    let [seen] = &source.seen()[..] else {
        panic!("{:?}", source.seen())
    };
    assert!(seen.shape.is_ok());
    let figures = seen.figures.as_ref().unwrap().as_ref().unwrap();
    assert_eq!((figures.sending, figures.stale, figures.sent), (3, 3, 1));
}

#[tokio::test]
async fn a_table_that_cannot_be_read_is_a_trouble_in_words_beside_the_others() {
    let other = TABLE.replace("OutgoingEmails", "Nowhere");
    let source = Source::with(&format!("{other}{TABLE}")).await;
    source.look().await;
    let [nowhere, emails] = &source.seen()[..] else {
        panic!("{:?}", source.seen())
    };
    let why = nowhere.shape.as_ref().unwrap_err();
    assert!(why.contains("Nowhere"), "{why}");
    assert!(nowhere.figures.is_none());
    assert!(emails.shape.is_ok());
    // Dropped while the program runs: said at the next look.
    source.execute(r#"DROP TABLE "OutgoingEmails""#).await;
    source.look().await;
    let [_, emails] = &source.seen()[..] else {
        panic!("{:?}", source.seen())
    };
    let why = emails.shape.as_ref().unwrap_err();
    assert!(why.contains("OutgoingEmails"), "{why}");
    assert!(
        emails.figures.is_none(),
        "old numbers of a table that is gone"
    );
}

#[tokio::test]
async fn a_table_of_another_database_is_never_taken_for_one_of_this() {
    let source = Source::with(&format!("{TABLE}database = \"postgres://u@h/shop\"")).await;
    source.look().await;
    let seen = source.seen();
    let why = seen[0].shape.as_ref().unwrap_err();
    assert!(why.contains("another database"), "{why}");
}

#[tokio::test]
async fn tables_are_looked_for_where_none_is_configured() {
    let names = |tables: &[look::Watched]| -> Vec<(String, bool)> {
        let tables = tables.iter();
        tables
            .map(|seen| (seen.table.table.clone(), seen.table.detected))
            .collect()
    };
    let emails = |detected| vec![("OutgoingEmails".to_owned(), detected)];
    for (more, found) in [
        ("", emails(true)),
        ("claims_detect = false", Vec::new()),
        (TABLE, emails(false)),
    ] {
        let source = Source::with(more).await;
        let seen = look::once(&source.claims, source.store.as_ref())
            .await
            .unwrap();
        assert_eq!(names(&seen), found, "{more}");
    }
}

#[tokio::test]
async fn the_index_waits_for_the_tables_and_then_knows_every_job() {
    let source = Source::with(TABLE).await;
    source.claims.catch_up(source.store.as_ref()).await.unwrap();
    assert!(source.claims.why_not_yet().unwrap().contains("0 jobs"));
    source.look().await;
    source.claims.catch_up(source.store.as_ref()).await.unwrap();
    assert_eq!(source.claims.why_not_yet(), None);
    let table = &source.claims.configured[0];
    let found = source
        .claims
        .index
        .candidates(table, ["invoice-email:44"], 5);
    assert_eq!(found["invoice-email:44"], [2]);
}

#[tokio::test]
async fn the_periodic_purge_takes_each_row_once_and_never_a_sending_one() {
    let source = Source::with(&format!("{TABLE}purge = true\nretention = \"1s\"")).await;
    let (store, table) = (source.store.as_ref(), &source.claims.configured[0]);
    let (one, other) = tokio::join!(
        look::purge(&source.claims, store, table, &source.clock),
        look::purge(&source.claims, store, table, &source.clock),
    );
    assert_eq!(one.unwrap() + other.unwrap(), 1);
    assert_eq!(
        look::purge(&source.claims, store, table, &source.clock)
            .await
            .unwrap(),
        0
    );
    source.look().await;
    let seen = source.seen();
    let figures = seen[0].figures.as_ref().unwrap().as_ref().unwrap();
    assert_eq!((figures.sending, figures.sent), (3, 0));
    let audit = app::ports::audit::AuditStore::audit(store, None, None, 10)
        .await
        .unwrap();
    // Runs that found nothing leave no trace.
    assert_eq!(audit.len(), 1);
    assert_eq!(audit[0].actor, "Redrive, periodic purge");
}
