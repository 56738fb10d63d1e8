use app::ports::audit::{AuditClaim, AuditRow, AuditStore as _};
use app::ports::error::StoreError;
use app::ports::jobs::{Anchor, JobFilter, JobStore as _};
use app::ports::source::{Access, Source as _};
use sqlx::Row as _;
use uuid::Uuid;

use std::sync::Arc;

use crate::clock::SystemClock;
use crate::store::postgres::PostgresStore;
use crate::testing::fixture::Fixture;
use crate::testing::postgres::TestDatabase;

/// The ledger's rows.
async fn ledger(database: &TestDatabase) -> Vec<(String, i32)> {
    sqlx::query_as("SELECT scope, version FROM redrive.migrations ORDER BY 1, 2")
        .fetch_all(&mut database.connection().await)
        .await
        .unwrap()
}

/// Everything the catalogue says of a schema, a line each, the schema's name left out.
async fn catalogue(database: &TestDatabase, schema: &str) -> Vec<String> {
    let rows = sqlx::query(
        "SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) \
           || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END \
           || COALESCE(' default ' || pg_get_expr(d.adbin, d.adrelid), '') AS line \
         FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' \
         LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
         WHERE c.relnamespace = $1::regnamespace AND a.attnum > 0 AND NOT a.attisdropped \
         UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) \
         FROM pg_constraint WHERE connamespace = $1::regnamespace \
         UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = $1 \
         UNION ALL SELECT 'replica identity ' || c.relname || ' ' || c.relreplident::text \
           || COALESCE(' ' || i.relname, '') FROM pg_class c \
         LEFT JOIN pg_index x ON x.indrelid = c.oid AND x.indisreplident \
         LEFT JOIN pg_class i ON i.oid = x.indexrelid \
         WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' \
         UNION ALL SELECT 'sequence ' || s.sequencename || ' ' || s.data_type || ' ' || s.start_value \
           || ' ' || s.increment_by || ' ' || s.max_value || ' owned by ' \
           || (SELECT t.relname || '.' || a.attname FROM pg_depend d \
               JOIN pg_class t ON t.oid = d.refobjid \
               JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid \
               WHERE d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass AND d.deptype = 'a') \
         FROM pg_sequences s WHERE s.schemaname = $1 \
         ORDER BY 1",
    )
    .bind(schema)
    .fetch_all(&mut database.connection().await)
    .await
    .unwrap();
    rows.iter()
        .map(|row| {
            row.get::<String, _>("line")
                .replace(&format!("{schema}."), "")
        })
        .collect()
}

#[tokio::test]
async fn the_created_layout_is_hangfires_own() {
    let Some(real) = TestDatabase::with_layout(23).await else {
        return;
    };
    let ours = TestDatabase::empty().await.unwrap();
    ours.store().migrate_hangfire().await.unwrap();
    let right = catalogue(&real, "hangfire").await;
    assert!(right.len() > 100, "{right:#?}");
    assert_eq!(catalogue(&ours, "hangfire").await, right);
    let version: i32 = sqlx::query_scalar("SELECT version FROM hangfire.schema")
        .fetch_one(&mut ours.connection().await)
        .await
        .unwrap();
    assert_eq!(version, 23);
    let rows = Fixture::named("article");
    ours.load(&rows).await;
    let page = ours
        .store()
        .list(&JobFilter::default(), Anchor::Start, 50)
        .await
        .unwrap();
    assert_eq!(page.rows.len(), 6);
}

#[tokio::test]
async fn hangfires_tables_are_created_in_an_empty_schema_only() {
    let Some(database) = TestDatabase::empty().await else {
        return;
    };
    database
        .execute("CREATE SCHEMA hangfire; CREATE TABLE hangfire.notes (id int)")
        .await;
    let refused = database.store().migrate_hangfire().await;
    assert!(
        matches!(refused, Err(StoreError::Forbidden(_))),
        "{refused:?}"
    );
    database.execute("DROP TABLE hangfire.notes").await;
    database.store().migrate_hangfire().await.unwrap();
    let refused = database.store().migrate_hangfire().await;
    assert!(
        matches!(refused, Err(StoreError::Forbidden(_))),
        "{refused:?}"
    );
    assert_eq!(
        ledger(&database).await,
        [
            ("hangfire:hangfire".to_owned(), 1),
            ("redrive".to_owned(), 0)
        ]
    );
}

#[tokio::test]
async fn any_schema_name_will_do() {
    let Some(database) = TestDatabase::empty().await else {
        return;
    };
    for name in ["My \"Jobs\"; --", "Hangfire", "schéma", "o'hara {s}"] {
        let store = PostgresStore::connect(&database.url, name, Arc::new(SystemClock)).unwrap();
        store.migrate_hangfire().await.unwrap();
        store.migrate().await.unwrap();
        let page = store
            .list(&JobFilter::default(), Anchor::Start, 50)
            .await
            .unwrap();
        assert!(page.rows.is_empty());
        assert_eq!(store.counts().await.unwrap().no_state, 0);
        assert!(store.job(1, 10).await.unwrap().is_none());
        assert!(store.servers().await.unwrap().is_empty());
        assert_eq!(
            store.info().await.unwrap().access,
            Access::ReadWrite,
            "{name}"
        );
    }
}

#[tokio::test]
async fn own_tables_are_made_once_by_many_at_once() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let stores: Vec<PostgresStore> = (0..8).map(|_| database.store()).collect();
    let made = futures::future::join_all(stores.iter().map(PostgresStore::migrate)).await;
    for result in made {
        result.unwrap();
    }
    assert_eq!(
        ledger(&database).await,
        [0, 1, 2, 3, 4, 5].map(|version| ("redrive".to_owned(), version))
    );
}

#[tokio::test]
async fn printed_sql_does_what_migrating_does() {
    let Some(printed) = TestDatabase::with_layout(23).await else {
        return;
    };
    let sql = printed.store().pending_sql().await.unwrap().unwrap();
    printed.execute(&sql).await;
    let migrated = TestDatabase::with_layout(23).await.unwrap();
    migrated.store().migrate().await.unwrap();
    assert_eq!(
        catalogue(&printed, "redrive").await,
        catalogue(&migrated, "redrive").await
    );
    assert_eq!(ledger(&printed).await, ledger(&migrated).await);
    assert_eq!(printed.store().pending_sql().await.unwrap(), None);
    printed.store().migrate().await.unwrap();
}

#[tokio::test]
async fn own_tables_of_a_newer_program_are_read_and_never_written() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = database.store();
    store.migrate().await.unwrap();
    database
        .execute(
            "INSERT INTO redrive.migrations (scope, version, name) VALUES ('redrive', 99, 'x')",
        )
        .await;
    let before = ledger(&database).await;
    store.migrate().await.unwrap();
    assert_eq!(ledger(&database).await, before);
    assert_eq!(store.pending_sql().await.unwrap(), None);
    let Access::ReadOnly { why, .. } = store.info().await.unwrap().access else {
        panic!("must be read-only");
    };
    assert!(why.contains("version 99"), "{why}");
    assert!(store.audit(None, None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_audit_is_read_by_source_and_job_newest_first() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = database.store();
    assert!(store.audit(None, None, 10).await.unwrap().is_empty());
    assert_eq!(store.audit_row(Uuid::from_u128(1)).await.unwrap(), None);
    store.migrate().await.unwrap();
    database
        .execute(
            "INSERT INTO redrive.source (id, hangfire_schema) VALUES \
               ('00000000-0000-0000-0000-00000000000a', 'hangfire'), \
               ('00000000-0000-0000-0000-00000000000b', 'other'); \
             INSERT INTO redrive.audit (id, source, at, actor, authenticated, action, job, \
               seen_state, seen_state_id, before_state, before_state_id, after_state, \
               after_state_id, reason, outcome, note) \
             SELECT ('00000000-0000-0000-0000-0000000000' || to_char(n, 'FM00'))::uuid, \
               ('00000000-0000-0000-0000-00000000000' || CASE WHEN n = 4 THEN 'b' ELSE 'a' END)::uuid, \
               '2026-11-02T12:00:00Z', 'ada', false, 'requeue', n % 2, 'Failed', n, \
               'Failed', n, CASE WHEN n = 3 THEN 'Enqueued' END, CASE WHEN n = 3 THEN 9 END, \
               'supplier is back', 'done', '' FROM generate_series(1, 5) n",
        )
        .await;
    let ids =
        |rows: &[AuditRow]| -> Vec<u128> { rows.iter().map(|row| row.id.as_u128()).collect() };
    let all = store.audit(None, None, 10).await.unwrap();
    assert_eq!(ids(&all), [5, 3, 2, 1]);
    let older = store.audit(None, Some(all[1].id), 1).await.unwrap();
    assert_eq!(ids(&older), [2]);
    assert_eq!(
        ids(&store.audit(Some(1), None, 10).await.unwrap()),
        [5, 3, 1]
    );
    let row = store.audit_row(Uuid::from_u128(3)).await.unwrap().unwrap();
    assert_eq!(row, all[1]);
    assert_eq!(row.seen, Some(("Failed".to_owned(), 3)));
    assert_eq!(row.after, Some(("Enqueued".to_owned(), 9)));
    assert_eq!(all[0].after, None);
    assert_eq!(row.reason.as_deref(), Some("supplier is back"));
    assert_eq!(row.claim, None);
    // A row of another schema is not ours to show.
    assert_eq!(store.audit_row(Uuid::from_u128(4)).await.unwrap(), None);
}

#[tokio::test]
async fn an_audit_row_about_a_claim_is_read_as_it_was_written() {
    let Some(database) = TestDatabase::with_layout(23).await else {
        return;
    };
    let store = database.store();
    store.migrate().await.unwrap();
    database
        .execute(
            "INSERT INTO redrive.source (id, hangfire_schema) VALUES \
               ('00000000-0000-0000-0000-00000000000a', 'hangfire'); \
             INSERT INTO redrive.audit (id, source, actor, authenticated, action, outcome, note, \
               claims, claim_key, claim_seen, claim) \
             SELECT ('00000000-0000-0000-0000-00000000000' || n)::uuid, \
               '00000000-0000-0000-0000-00000000000a', 'ada', false, 'release', 'done', '', \
               'emails', CASE n WHEN 1 THEN repeat('k', 10240) END, '2026-11-02 12:00:00+00', \
               CASE n WHEN 1 THEN '{\"before\":\"Sending\",\"after\":\"released\"}' ELSE 'odd' END \
             FROM generate_series(1, 2) n",
        )
        .await;
    let rows = store.audit(None, None, 10).await.unwrap();
    let claim = |key: Option<String>, words: Option<(&str, &str)>| AuditClaim {
        table: "emails".to_owned(),
        key,
        seen: Some("2026-11-02 12:00:00+00".to_owned()),
        before: words.map(|(before, _)| before.to_owned()),
        after: words.map(|(_, after)| after.to_owned()),
    };
    assert_eq!((rows[1].job, &rows[1].seen), (None, &None));
    assert_eq!(
        rows[1].claim,
        Some(claim(
            Some("k".repeat(10240)),
            Some(("Sending", "released"))
        ))
    );
    assert_eq!(rows[0].claim, Some(claim(None, None)));
    // Tables that this program has not brought up to date yet are read too.
    database
        .execute("ALTER TABLE redrive.audit DROP COLUMN claims, DROP COLUMN claim_key, DROP COLUMN claim_seen, DROP COLUMN claim")
        .await;
    let old = store.audit_row(Uuid::from_u128(1)).await.unwrap().unwrap();
    assert_eq!(old.claim, None);
}
