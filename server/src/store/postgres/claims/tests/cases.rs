//! Tables as others have them: EF Core's own, a read-only role, keys beyond an index.

use app::actions::Actor;
use app::actions::claim::ClaimAction;
use app::model::claim::table::ClaimWay;
use app::ports::claims::{ClaimStore as _, Purge};
use app::ports::error::StoreError;

use super::contract::acts::{asked, claim, claimed};
use super::contract::{DAY, ago, described, email, shape};
use super::*;
use crate::clock::{Clock as _, SystemClock};

#[tokio::test]
async fn ef_cores_own_table_is_detected_and_read() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    bench
        .execute(
            "CREATE TABLE public.\"OutgoingEmails\"(\"Id\" serial PRIMARY KEY, \
             \"IdempotencyKey\" text NOT NULL UNIQUE, \"Status\" int NOT NULL, \
             \"ClaimedAtUtc\" timestamptz NOT NULL, \"ProviderMessageId\" text); \
             CREATE SCHEMA shop; CREATE TABLE shop.\"OutgoingEmails\" (\"Key\" varchar(80) UNIQUE, \
             \"Status\" text, \"ClaimedAt\" timestamp); \
             CREATE SCHEMA other; CREATE TABLE other.job (key text UNIQUE, status int, \
             claimed_at timestamptz); CREATE TABLE other.jobqueue (); \
             CREATE TABLE other.jobparameter (); \
             CREATE TABLE no_time (key text UNIQUE, status text, claimed_at boolean)",
        )
        .await;
    let found = bench.store.detect().await.unwrap();
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|table| {
            (
                table.name.as_str(),
                table.schema.as_str(),
                table.sending.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("OutgoingEmails", "public", "0"),
            ("shop.OutgoingEmails", "shop", "Sending"),
        ]
    );
    let shape = bench.store.shape(&found[1]).await.unwrap();
    assert_eq!(
        shape.missing_index.as_deref(),
        Some(
            "CREATE INDEX CONCURRENTLY ON \"shop\".\"OutgoingEmails\" (\"Status\", \"ClaimedAt\");"
        )
    );
    // Also one on the claim times of those that are Sending serves.
    bench
        .execute(
            "CREATE INDEX ON shop.\"OutgoingEmails\" (\"ClaimedAt\") WHERE \"Status\" = 'Sending'",
        )
        .await;
    let shape = bench.store.shape(&found[1]).await.unwrap();
    assert_eq!(shape.missing_index, None);
}

#[tokio::test]
async fn a_role_that_only_reads_is_told_so() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    let whole = claimed(&bench, ClaimWay::InsertFirst).await;
    let role = bench.database.role("reader");
    bench
        .execute(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD '{role}'; \
             GRANT USAGE ON SCHEMA hangfire, redrive, public TO {role}; \
             GRANT SELECT ON ALL TABLES IN SCHEMA hangfire, redrive TO {role}; \
             GRANT SELECT ON \"OutgoingEmails\" TO {role}"
        ))
        .await;
    let url = bench.database.url_as(&role);
    let reader =
        PostgresStore::connect(&url, "hangfire", std::sync::Arc::new(SystemClock)).unwrap();
    let found = reader.shape(&described(&bench)).await.unwrap();
    let why = found.read_only.clone().unwrap();
    assert!(
        why.contains(&role) && why.contains("may not change or delete"),
        "{why}"
    );
    assert_eq!(reader.claim_figures(&found).await.unwrap().sending, 4);
    assert_eq!(reader.detect().await.unwrap().len(), 1);
    let request = asked(&bench, &whole, 103, ClaimAction::Release).await;
    // Also where the shape is not believed: the database itself says no.
    for shape in [&found, &whole] {
        let outcome = reader
            .act_on_claim(SystemClock.new_id(), shape, &request)
            .await;
        assert_eq!(outcome.slug(), "refused", "{outcome:?}");
        let purge = Purge {
            before: ago(0),
            batch: 10,
            actor: Actor {
                name: "ada".to_owned(),
                authenticated: false,
            },
            reason: None,
        };
        let purged = reader
            .purge_claims(SystemClock.new_id(), shape, &purge)
            .await;
        assert!(
            matches!(purged, Err(StoreError::Forbidden(_))),
            "{purged:?}"
        );
    }
    assert!(claim(&bench, &whole, 103).await.is_some());
    bench
        .execute(&format!("GRANT UPDATE ON \"OutgoingEmails\" TO {role}"))
        .await;
    let found = reader.shape(&described(&bench)).await.unwrap();
    assert!(found.read_only.unwrap().contains("may not delete"));
    bench
        .execute("REVOKE ALL ON \"OutgoingEmails\" FROM PUBLIC")
        .await;
    bench
        .execute(&format!("REVOKE ALL ON \"OutgoingEmails\" FROM {role}"))
        .await;
    let denied = reader.claim(&whole, "invoice-email:103").await;
    assert!(
        matches!(denied, Err(StoreError::Forbidden(_))),
        "{denied:?}"
    );
    bench.execute(&format!("DROP OWNED BY {role}")).await;
}

/// Without a unique key a claim is neither reclaimed nor released, but may be marked as sent.
#[tokio::test]
async fn without_a_unique_key_nothing_is_taken_back() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    claimed(&bench, ClaimWay::InsertFirst).await;
    bench
        .execute(
            "ALTER TABLE \"OutgoingEmails\" DROP CONSTRAINT \"OutgoingEmails_IdempotencyKey_key\"",
        )
        .await;
    let shape = shape(&bench).await;
    let act = async |action| {
        let request = asked(&bench, &shape, 103, action).await;
        bench
            .store
            .act_on_claim(SystemClock.new_id(), &shape, &request)
            .await
    };
    let outcome = act(ClaimAction::Reclaim).await;
    assert_eq!(outcome.slug(), "refused");
    assert!(outcome.sentence().contains("unique"), "{outcome:?}");
    let marked = ClaimAction::MarkAsSent { provider_id: None };
    let request = asked(&bench, &shape, 103, marked).await;
    let twin = bench
        .store
        .claim(&shape, "invoice-email:103")
        .await
        .unwrap();
    email(&bench, "invoice-email:103", 0, twin[0].at(), None).await;
    let outcome = bench
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert_eq!(outcome.slug(), "refused", "{outcome:?}");
    assert!(outcome.sentence().contains("2 rows"), "{outcome:?}");
}

#[tokio::test]
async fn a_purge_of_many_days_goes_in_batches() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    claimed(&bench, ClaimWay::InsertFirst).await;
    bench
        .execute(
            "INSERT INTO \"OutgoingEmails\" SELECT 'k' || n, CASE WHEN n % 10 = 0 THEN 0 ELSE 1 END, \
             now() - n * interval '1 hour', NULL FROM generate_series(1, 2400) n",
        )
        .await;
    let shape = shape(&bench).await;
    let purge = Purge {
        before: ago(30 * DAY),
        batch: 100,
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
        reason: None,
    };
    // 1,681 hours lie beyond 720; every tenth of them is Sending.
    let purged = bench
        .store
        .purge_claims(SystemClock.new_id(), &shape, &purge)
        .await;
    assert_eq!(purged.unwrap(), 1_512);
}
