//! The recorded file: four claims that EF Core wrote.

use app::model::claim::table::Lack;
use app::model::claim::{Claim, ClaimStatus};
use app::ports::error::StoreError;

use super::*;

#[tokio::test]
async fn recorded_claims_are_read_with_every_decimal() {
    let file = TestFile::recorded(RECORDED).await;
    let shape = shape(&file).await;
    assert_eq!(shape.lacks, []);
    assert_eq!(shape.read_only, None);
    assert!(shape.with_jobs);
    assert_eq!(
        shape.missing_index.as_deref(),
        Some(
            "CREATE INDEX \"IX_OutgoingEmails_Status_ClaimedAtUtc\" ON \"OutgoingEmails\" \
             (\"Status\", \"ClaimedAtUtc\");"
        )
    );
    let page = file
        .store
        .claims(&shape, &ClaimFilter::All, &ClaimAnchor::Start, 50)
        .await
        .unwrap();
    let row = |claim: &Claim| {
        (
            claim.key.clone(),
            claim.status.clone(),
            claim.claimed_at.clone().unwrap().token,
            claim.provider_id.clone(),
        )
    };
    let expected = [
        (
            "invoice-email:44",
            ClaimStatus::Sending,
            "2026-11-29 19:45:04.6335355",
            None,
        ),
        (
            "invoice-email:43",
            ClaimStatus::Sent,
            "2026-11-29 19:45:04.6335314",
            Some("msg-0001"),
        ),
        (
            "invoice-email:46",
            ClaimStatus::Sending,
            "2026-11-29 19:20:05.156554",
            None,
        ),
        (
            "invoice-email:45",
            ClaimStatus::Sending,
            "2026-11-29 19:20:04.6335398",
            None,
        ),
    ]
    .map(|(key, status, token, id)| {
        (
            key.to_owned(),
            status,
            token.to_owned(),
            id.map(str::to_owned),
        )
    });
    assert_eq!(page.rows.iter().map(row).collect::<Vec<_>>(), expected);
    assert!(!page.has_before && !page.has_after);
    assert_eq!(page.rows[0].at(), Some(at("2026-11-29T19:45:04.633535Z")));
}

#[tokio::test]
async fn each_list_holds_its_own() {
    let file = TestFile::recorded(RECORDED).await;
    let shape = shape(&file).await;
    file.run(
        "INSERT INTO OutgoingEmails VALUES (5, 'other', 2, '2026-11-29 19:00:00', NULL), \
         (6, 'newer', 1, '2026-11-29 19:50:00', 'm')",
    )
    .await;
    let all = |filter| keys(&file.store, &shape, filter);
    let before = at("2026-11-29T19:20:05Z");
    assert_eq!(
        all(ClaimFilter::Stale { before }).await,
        ["invoice-email:45"]
    );
    let before = at("2026-11-29T19:45:04.633535Z");
    assert_eq!(
        all(ClaimFilter::Stale { before }).await,
        ["invoice-email:45", "invoice-email:46"]
    );
    let before = at("2026-11-29T19:45:04.633536Z");
    assert_eq!(
        all(ClaimFilter::Stale { before }).await,
        ["invoice-email:45", "invoice-email:46", "invoice-email:44"]
    );
    assert_eq!(
        all(ClaimFilter::Sending).await,
        ["invoice-email:45", "invoice-email:46", "invoice-email:44"]
    );
    assert_eq!(all(ClaimFilter::Sent).await, ["newer", "invoice-email:43"]);
    assert_eq!(all(ClaimFilter::Other).await, ["other"]);
}

#[tokio::test]
async fn the_recorded_table_is_detected_and_no_other() {
    let file = TestFile::recorded(RECORDED).await;
    let detected = file.store.detect().await.unwrap();
    let expected = ClaimsTable {
        name: "OutgoingEmails".to_owned(),
        detected: true,
        ..outgoing()
    };
    assert_eq!(detected, [expected]);
}

#[tokio::test]
async fn words_of_a_text_status_are_detected_as_they_are_spelled() {
    let file = TestFile::recorded(RECORDED).await;
    file.run(
        "CREATE TABLE outgoing_mails (idempotency_key TEXT PRIMARY KEY, status TEXT, \
         claimed_at TEXT, message_id TEXT) WITHOUT ROWID; \
         CREATE TABLE \"Shipments\" (\"IdempotencyKey\" varchar(100) UNIQUE, \"Status\" varchar(20), \
         \"ClaimedAt\" datetime); INSERT INTO \"Shipments\" VALUES ('a', 'Sent', '2026-11-29 19:00:00'); \
         CREATE TABLE tasks (key TEXT UNIQUE, status TEXT, claimed_at TEXT); \
         INSERT INTO tasks VALUES ('a', 'open', '2026-11-29'); \
         CREATE TABLE twice (idempotency_key TEXT, status TEXT, claimed_at TEXT);",
    )
    .await;
    let detected = file.store.detect().await.unwrap();
    let words: Vec<_> = detected
        .iter()
        .map(|table| {
            (
                table.table.as_str(),
                table.sending.as_str(),
                table.sent.as_str(),
            )
        })
        .collect();
    assert_eq!(
        words,
        [
            ("OutgoingEmails", "0", "1"),
            ("Shipments", "Sending", "Sent"),
            ("outgoing_mails", "sending", "sent"),
        ]
    );
    assert_eq!(detected[1].columns.provider_id, None);
    assert_eq!(
        detected[2].columns.provider_id.as_deref(),
        Some("message_id")
    );
}

#[tokio::test]
async fn a_table_without_its_usual_parts_says_what_it_lacks() {
    let file = TestFile::recorded(RECORDED).await;
    file.run(
        "CREATE TABLE bare (k TEXT, s TEXT); INSERT INTO bare VALUES ('b', '0'), ('a', '0'), ('a', '1'); \
         CREATE UNIQUE INDEX bare_partial ON bare (k) WHERE s = 'x'; \
         CREATE UNIQUE INDEX bare_wide ON bare (k, s);",
    )
    .await;
    let mut table = outgoing();
    table.table = "BARE".to_owned();
    table.columns = Columns {
        key: "K".to_owned(),
        status: "s".to_owned(),
        claimed_at: None,
        provider_id: None,
    };
    let shape = file.store.shape(&table).await.unwrap();
    assert_eq!(
        shape.lacks,
        [Lack::ClaimTime, Lack::ProviderId, Lack::UniqueKey]
    );
    assert_eq!(
        (shape.table.table.as_str(), shape.table.columns.key.as_str()),
        ("bare", "k")
    );
    assert_eq!(shape.missing_index, None);
    assert_eq!(
        keys(&file.store, &shape, ClaimFilter::Sending).await,
        ["a", "b"]
    );
    assert!(keys(&file.store, &shape, stale_now()).await.is_empty());
    assert_eq!(file.store.claim(&shape, "a").await.unwrap().len(), 2);
    let figures = file.store.claim_figures(&shape).await.unwrap();
    assert_eq!((figures.sending, figures.sent, figures.ageless), (2, 1, 2));
    assert_eq!((figures.stale, figures.purgeable), (0, (0, None)));
}

#[tokio::test]
async fn what_is_not_there_is_named_with_what_is() {
    let file = TestFile::recorded(RECORDED).await;
    let why = |table: ClaimsTable| {
        let store = file.store.clone();
        async move {
            match store.shape(&table).await {
                Err(StoreError::Unreadable(why)) => why,
                other => panic!("{other:?}"),
            }
        }
    };
    let mut table = outgoing();
    table.table = "Emails\"; DROP TABLE Job; --".to_owned();
    let told = why(table).await;
    assert!(
        told.contains("no table Emails\"; DROP TABLE Job; --"),
        "{told}"
    );
    assert!(told.contains("OutgoingEmails"), "{told}");
    let mut table = outgoing();
    table.columns.claimed_at = Some("ClaimedAt".to_owned());
    let told = why(table).await;
    assert!(told.contains("no column ClaimedAt"), "{told}");
    assert!(told.contains("ClaimedAtUtc"), "{told}");
    file.run("CREATE TABLE floats (k TEXT UNIQUE, s INT, t REAL)")
        .await;
    let mut table = outgoing();
    table.table = "floats".to_owned();
    table.columns = Columns {
        key: "k".to_owned(),
        status: "s".to_owned(),
        claimed_at: Some("t".to_owned()),
        provider_id: None,
    };
    let told = why(table).await;
    assert!(told.contains("REAL"), "{told}");
}

#[tokio::test]
async fn an_index_on_status_and_claim_time_is_found_and_used() {
    let file = TestFile::recorded(RECORDED).await;
    let missing = shape(&file).await.missing_index.unwrap();
    file.run(&missing).await;
    assert_eq!(shape(&file).await.missing_index, None);
    file.run("DROP INDEX \"IX_OutgoingEmails_Status_ClaimedAtUtc\"")
        .await;
    file.run("CREATE INDEX turned ON OutgoingEmails (ClaimedAtUtc, Status)")
        .await;
    assert!(shape(&file).await.missing_index.is_some());
    file.run("CREATE INDEX wider ON OutgoingEmails (status, claimedatutc, Id)")
        .await;
    assert_eq!(shape(&file).await.missing_index, None);
}
