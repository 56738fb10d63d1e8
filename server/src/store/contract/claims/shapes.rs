//! Descriptions held against the catalogue.

use app::model::claim::table::{ClaimsTable, Lack};
use app::ports::claims::{ClaimAnchor, ClaimFilter};
use app::ports::error::StoreError;

use super::{Bench, described, email, make_emails, shape};

/// A usual table fits whole; the statement that it is offered makes the missing index.
pub async fn a_usual_table_fits(bench: &dyn Bench) {
    make_emails(bench).await;
    let found = shape(bench).await;
    assert_eq!(found.table, described(bench));
    assert_eq!((found.lacks.as_slice(), &found.read_only), (&[][..], &None));
    assert!(found.with_jobs);
    assert!(found.types.claimed_at.is_some());
    let statement = found.missing_index.unwrap();
    assert!(statement.contains("\"OutgoingEmails\""), "{statement}");
    bench.execute(&statement).await;
    assert_eq!(shape(bench).await.missing_index, None);
}

/// A table without one of the parts fits, and says which.
pub async fn missing_parts_are_told(bench: &dyn Bench) {
    let time = bench.time_type();
    bench
        .execute(&format!(
            "CREATE TABLE bare (key text NOT NULL, status integer, claimed_at {time}, id text)"
        ))
        .await;
    let mut table = described(bench);
    "bare".clone_into(&mut table.table);
    "key".clone_into(&mut table.columns.key);
    "status".clone_into(&mut table.columns.status);
    table.columns.claimed_at = Some("claimed_at".to_owned());
    table.columns.provider_id = Some("id".to_owned());
    let lacks = async |table: &ClaimsTable| bench.store().shape(table).await.unwrap().lacks;
    assert_eq!(lacks(&table).await, [Lack::UniqueKey]);
    bench
        .execute("CREATE UNIQUE INDEX one ON bare (key, status)")
        .await;
    assert_eq!(lacks(&table).await, [Lack::UniqueKey]);
    bench
        .execute("CREATE UNIQUE INDEX few ON bare (key) WHERE status = 0")
        .await;
    assert_eq!(lacks(&table).await, [Lack::UniqueKey]);
    bench.execute("CREATE UNIQUE INDEX own ON bare (key)").await;
    assert_eq!(lacks(&table).await, []);
    table.columns.claimed_at = None;
    table.columns.provider_id = None;
    assert_eq!(lacks(&table).await, [Lack::ClaimTime, Lack::ProviderId]);
    let found = bench.store().shape(&table).await.unwrap();
    assert_eq!((found.missing_index, found.types.claimed_at), (None, None));
}

/// What does not fit is said in words, with what is there.
pub async fn what_does_not_fit_is_told(bench: &dyn Bench) {
    make_emails(bench).await;
    let why = async |table: &ClaimsTable| match bench.store().shape(table).await {
        Err(StoreError::Unreadable(why)) => why,
        other => panic!("it fits: {other:?}"),
    };
    let mut table = described(bench);
    "Outgoing\"Emails".clone_into(&mut table.table);
    let words = why(&table).await;
    assert!(
        words.contains("Outgoing\"Emails") && words.contains("OutgoingEmails"),
        "{words}"
    );
    let mut table = described(bench);
    "Key".clone_into(&mut table.columns.key);
    let words = why(&table).await;
    assert!(words.contains("no column Key"), "{words}");
    assert!(
        words.contains("IdempotencyKey, Status, ClaimedAtUtc"),
        "{words}"
    );
    let mut table = described(bench);
    table.columns.claimed_at = Some("nonsense\"; DROP TABLE x".to_owned());
    assert!(why(&table).await.contains("DROP TABLE x"));
    bench
        .execute("ALTER TABLE \"OutgoingEmails\" ADD COLUMN \"Seconds\" real")
        .await;
    let mut table = described(bench);
    table.columns.claimed_at = Some("Seconds".to_owned());
    assert!(why(&table).await.contains("Seconds"));
}

/// A table or column that goes away while it is read costs an answer in words.
pub async fn a_table_that_goes_away_is_told(bench: &dyn Bench) {
    make_emails(bench).await;
    email(bench, "k1", 0, None, None).await;
    let found = shape(bench).await;
    let (filter, start) = (ClaimFilter::All, ClaimAnchor::Start);
    let list = async || bench.store().claims(&found, &filter, &start, 10).await;
    assert_eq!(list().await.unwrap().rows.len(), 1);
    bench
        .execute("ALTER TABLE \"OutgoingEmails\" RENAME COLUMN \"Status\" TO \"Stat\"")
        .await;
    assert!(matches!(list().await, Err(StoreError::Unreadable(_))));
    bench.execute("DROP TABLE \"OutgoingEmails\"").await;
    assert!(matches!(list().await, Err(StoreError::Unreadable(_))));
    let one = bench.store().claim(&found, "k1").await;
    assert!(matches!(one, Err(StoreError::Unreadable(_))), "{one:?}");
    let figures = bench.store().claim_figures(&found).await;
    assert!(matches!(figures, Err(StoreError::Unreadable(_))));
    let gone = bench.store().shape(&described(bench)).await;
    assert!(matches!(gone, Err(StoreError::Unreadable(_))));
}
