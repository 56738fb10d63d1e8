//! Columns of every type that claim times and statuses are stored in.

use app::actions::claim::{ClaimAction, ClaimOutcome};
use app::model::claim::ClaimTime;
use app::model::claim::table::{ClaimWay, ClaimsTable};
use app::model::claim::time::Written;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimStore as _, Purge};
use app::ports::error::StoreError;
use chrono::TimeDelta;

use super::contract::acts::asked;
use super::contract::{DAY, MINUTE, ago, described, literal, now};
use super::*;
use crate::clock::{Clock as _, SystemClock};

/// A column's type, and how a value in it is written.
const KINDS: [(&str, &str); 7] = [
    ("timestamptz", "2026-11-02 12:00:00.25+00"),
    ("timestamp", "2026-11-02 12:00:00.25"),
    ("timestamp(0)", "2026-11-02 12:00:00"),
    ("text", "2026-11-02T12:00:00.25Z"),
    ("varchar(40)", "2026-11-02 12:00:00.1234567"),
    ("bigint", "1793620800123"),
    ("numeric", "638976384001234567"),
];

/// Makes a table whose claim times are of a type, with a stale claim of order 103, a young one and
/// one without a claim time, and Sent ones of 29 and 31 days.
async fn made(bench: &Postgres, kind: &str, sample: &str, status: (&str, &str)) -> ClaimsTable {
    let (_, written) = Written::of(sample).unwrap();
    let value = |ms| literal(&written.write(ago(ms)));
    let (sending, sent) = status;
    bench
        .execute(&format!(
            "CREATE TABLE public.\"OutgoingEmails\" (\"IdempotencyKey\" varchar(300) UNIQUE, \
             \"Status\" status_type NOT NULL, \"ClaimedAtUtc\" {kind}, \"ProviderMessageId\" text); \
             INSERT INTO \"OutgoingEmails\" VALUES \
             ('invoice-email:103', '{sending}', {}, NULL), ('young', '{sending}', {}, NULL), \
             ('timeless', '{sending}', NULL, NULL), ('future', '{sending}', {}, NULL), \
             ('s29', '{sent}', {}, 'm'), ('s31', '{sent}', {}, 'm')",
            value(25 * MINUTE),
            value(2 * MINUTE),
            value(-60 * MINUTE),
            value(29 * DAY),
            value(31 * DAY),
        ))
        .await;
    let mut table = described(bench);
    (table.sending, table.sent) = (sending.to_owned(), sent.to_owned());
    table.way = ClaimWay::HandOver;
    table
}

#[tokio::test]
async fn claims_of_every_kind_of_time_are_listed_renewed_and_purged() {
    for (kind, sample) in KINDS {
        let Some(bench) = Postgres::new().await else {
            return;
        };
        bench.execute("CREATE DOMAIN status_type AS integer").await;
        let table = made(&bench, kind, sample, ("0", "1")).await;
        let shape = bench.store.shape(&table).await.unwrap();
        let stale = async || {
            let before = ago(10 * MINUTE);
            let filter = ClaimFilter::Stale { before };
            let page = bench
                .store
                .claims(&shape, &filter, &ClaimAnchor::Start, 10)
                .await;
            let rows = page.unwrap().rows.into_iter();
            rows.map(|claim| claim.key).collect::<Vec<_>>()
        };
        assert_eq!(stale().await, ["invoice-email:103"], "{kind}");
        let figures = bench.store.claim_figures(&shape).await.unwrap();
        assert_eq!((figures.stale, figures.ageless), (1, 2), "{kind}");
        assert_eq!(figures.purgeable.0, 1, "{kind}");
        let oldest = figures.purgeable.1.unwrap();
        assert!(
            (oldest - ago(31 * DAY)).abs() < TimeDelta::minutes(1),
            "{kind}"
        );

        let request = asked(&bench, &shape, 103, ClaimAction::Reclaim).await;
        let id = SystemClock.new_id();
        let outcome = bench.store.act_on_claim(id, &shape, &request).await;
        let ClaimOutcome::Done {
            claim: Some((_, Some(time))),
            ..
        } = outcome
        else {
            panic!("{kind}: {outcome:?}");
        };
        // The same format as before, and the time of now.
        let (at, written) = Written::of(&time.token).unwrap();
        let seen = request.seen.claimed_at.unwrap();
        assert_eq!(written, Written::of(&seen).unwrap().1, "{kind}");
        assert!(
            (at - now()).abs() < TimeDelta::minutes(1),
            "{kind}: {time:?}"
        );
        let stored = bench
            .store
            .claim(&shape, "invoice-email:103")
            .await
            .unwrap();
        assert_eq!(stored[0].claimed_at, Some(ClaimTime::read(time.token)));
        assert_eq!(stale().await, [""; 0], "{kind}");

        let purge = Purge {
            before: ago(30 * DAY),
            batch: 100,
            actor: request.actor,
            reason: None,
        };
        let purged = bench
            .store
            .purge_claims(SystemClock.new_id(), &shape, &purge)
            .await;
        assert_eq!(purged.unwrap(), 1, "{kind}");
        assert_eq!(bench.store.claim(&shape, "s31").await.unwrap(), []);
        assert_eq!(bench.store.claim(&shape, "s29").await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn statuses_of_every_type_are_understood() {
    let types = [
        ("CREATE DOMAIN status_type AS text", "Sending", "Sent"),
        (
            "CREATE TYPE status_type AS ENUM ('sending', 'sent', 'failed')",
            "sending",
            "sent",
        ),
        ("CREATE DOMAIN status_type AS boolean", "false", "true"),
        ("CREATE DOMAIN status_type AS smallint", "0", "1"),
        ("CREATE DOMAIN status_type AS char(10)", "Sending", "Sent"),
    ];
    for (made_by, sending, sent) in types {
        let Some(bench) = Postgres::new().await else {
            return;
        };
        bench.execute(made_by).await;
        let (kind, sample) = KINDS[0];
        let table = made(&bench, kind, sample, (sending, sent)).await;
        let shape = bench.store.shape(&table).await.unwrap();
        let figures = bench.store.claim_figures(&shape).await.unwrap();
        assert_eq!((figures.sending, figures.sent), (4, 2), "{made_by}");
        let request = asked(
            &bench,
            &shape,
            103,
            ClaimAction::MarkAsSent { provider_id: None },
        )
        .await;
        let id = SystemClock.new_id();
        let outcome = bench.store.act_on_claim(id, &shape, &request).await;
        assert_eq!(outcome.slug(), "done", "{made_by}: {outcome:?}");
        let figures = bench.store.claim_figures(&shape).await.unwrap();
        assert_eq!((figures.sending, figures.sent), (3, 3), "{made_by}");
    }
}

#[tokio::test]
async fn status_values_that_the_column_cannot_hold_are_told() {
    let Some(bench) = Postgres::new().await else {
        return;
    };
    bench.execute("CREATE DOMAIN status_type AS integer").await;
    let mut table = made(&bench, KINDS[0].0, KINDS[0].1, ("0", "1")).await;
    let why = async |table: &ClaimsTable| match bench.store.shape(table).await {
        Err(StoreError::Unreadable(why)) => why,
        other => panic!("it fits: {other:?}"),
    };
    table.sending = "Sending".to_owned();
    let words = why(&table).await;
    assert!(
        words.contains("Status") && words.contains("integer"),
        "{words}"
    );
    assert!(words.contains("cannot hold Sending and 1"), "{words}");
    table.sending = "01".to_owned();
    assert!(why(&table).await.contains("both sending and sent"));
    // What means the same is written as the column writes it.
    table.sending = "00".to_owned();
    let shape = bench.store.shape(&table).await.unwrap();
    assert_eq!(shape.table.sending, "0");
}
