//! Rows that are rare, broken or of another format than their neighbours.

use app::model::claim::ClaimStatus;
use app::ports::claims::AGE_BUCKETS;

use super::*;
use crate::store::sqlite::ticks;

/// Replaces the recorded table by one whose columns are declared otherwise, without the index on
/// claim times.
async fn table(columns: &str) -> (TestFile, Shape) {
    let file = TestFile::recorded(RECORDED).await;
    file.run(&format!(
        "DROP TABLE OutgoingEmails; CREATE TABLE OutgoingEmails ({columns})"
    ))
    .await;
    let shape = shape(&file).await;
    (file, shape)
}

/// One moment as each format writes it.
fn written(at: Instant) -> Vec<(&'static str, String)> {
    let text = |format: &str| format!("'{}'", at.format(format));
    let local = at + TimeDelta::hours(14);
    vec![
        ("space", text("%Y-%m-%d %H:%M:%S%.6f")),
        ("seven", text("%Y-%m-%d %H:%M:%S%.6f0")),
        ("t", text("%Y-%m-%dT%H:%M:%S%.6f")),
        ("z", text("%Y-%m-%dT%H:%M:%S%.6fZ")),
        ("offset", text("%Y-%m-%d %H:%M:%S%.6f+00:00")),
        (
            "east",
            format!("'{}+14:00'", local.format("%Y-%m-%d %H:%M:%S%.6f")),
        ),
        ("micros", at.timestamp_micros().to_string()),
        ("ticks", ticks::ticks(at).to_string()),
    ]
}

#[tokio::test]
async fn no_format_in_a_mixed_column_loses_a_stale_claim_nor_makes_one() {
    let columns = [
        "IdempotencyKey TEXT UNIQUE, Status INTEGER, ClaimedAtUtc TEXT, ProviderMessageId TEXT",
        "IdempotencyKey TEXT UNIQUE, Status INTEGER, ClaimedAtUtc DATETIME, ProviderMessageId TEXT",
        "IdempotencyKey TEXT UNIQUE, Status INTEGER, ClaimedAtUtc INTEGER, ProviderMessageId TEXT",
        "IdempotencyKey UNIQUE, Status, ClaimedAtUtc, ProviderMessageId",
    ];
    let before = at("2026-11-29T19:35:04.5Z");
    for columns in columns {
        let (file, shape) = table(columns).await;
        let micro = TimeDelta::microseconds(1);
        let mut stale = Vec::new();
        for (moment, word) in [
            (before - micro, "old"),
            (before, "new"),
            (before + micro, "newer"),
        ] {
            for (format, value) in written(moment) {
                let key = format!("{word}-{format}");
                file.run(&format!(
                    "INSERT INTO OutgoingEmails VALUES ('{key}', 0, {value}, NULL)"
                ))
                .await;
                if word == "old" {
                    stale.push(key);
                }
            }
        }
        for (key, value) in [("s", 1_780_000_000_i64), ("ms", 1_780_000_000_000)] {
            file.run(&format!(
                "INSERT INTO OutgoingEmails VALUES ('{key}', 0, {value}, NULL)"
            ))
            .await;
            stale.push(key.to_owned());
        }
        for (key, value) in [("s-new", 1_800_000_000_i64), ("ms-new", 1_800_000_000_000)] {
            file.run(&format!(
                "INSERT INTO OutgoingEmails VALUES ('{key}', 0, {value}, NULL)"
            ))
            .await;
        }
        let mut found = keys(&file.store, &shape, ClaimFilter::Stale { before }).await;
        found.sort();
        stale.sort();
        assert_eq!(found, stale, "{columns}");
        // Page by page, none twice.
        let mut paged = Vec::new();
        let mut anchor = ClaimAnchor::Start;
        loop {
            let page = file
                .store
                .claims(&shape, &ClaimFilter::Stale { before }, &anchor, 3)
                .await
                .unwrap();
            let Some(last) = page.rows.last() else { break };
            anchor = ClaimAnchor::After(crate::store::claim_list::place(last));
            paged.extend(page.rows.iter().map(|claim| claim.key.clone()));
            if !page.has_after {
                break;
            }
        }
        paged.sort();
        assert_eq!(paged, stale, "{columns}");
    }
}

#[tokio::test]
async fn times_that_are_none_cost_nobody_the_page() {
    let (file, shape) = table(
        "IdempotencyKey TEXT UNIQUE, Status INTEGER, ClaimedAtUtc TEXT, ProviderMessageId TEXT",
    )
    .await;
    let now = SystemClock.now();
    let future = (now + TimeDelta::hours(2)).format("%Y-%m-%d %H:%M:%S");
    let half_an_hour = (now - TimeDelta::minutes(30)).format("%Y-%m-%d %H:%M:%S");
    file.run(&format!(
        "INSERT INTO OutgoingEmails VALUES ('null', 0, NULL, NULL), ('empty', 0, '', NULL), \
         ('words', 0, 'last Tuesday', NULL), ('day', 0, '2026-02-31 10:00:00', NULL), \
         ('blob', 0, x'ff00fe', NULL), ('future', 0, '{future}', NULL), \
         ('old', 0, '{half_an_hour}', NULL), ('status-null', NULL, '{half_an_hour}', NULL), \
         ('status-word', 'gone', '{half_an_hour}', NULL), (NULL, 0, '{half_an_hour}', NULL)"
    ))
    .await;
    let stale = keys(&file.store, &shape, stale_now()).await;
    assert_eq!(stale, ["", "old"]);
    let sending = file
        .store
        .claims(&shape, &ClaimFilter::Sending, &ClaimAnchor::Start, 50)
        .await
        .unwrap();
    assert_eq!(sending.rows.len(), 8);
    assert_eq!(sending.rows[0].key, "null");
    assert_eq!(sending.rows[0].claimed_at, None);
    let words = sending
        .rows
        .iter()
        .find(|claim| claim.key == "words")
        .unwrap();
    assert_eq!(words.claimed_at.as_ref().unwrap().token, "last Tuesday");
    assert_eq!(words.at(), None);
    let figures = file.store.claim_figures(&shape).await.unwrap();
    assert_eq!((figures.sending, figures.stale, figures.ageless), (8, 2, 6));
    assert_eq!(figures.ages.len(), AGE_BUCKETS.len() + 1);
    // Half an hour lies in the bucket below one hour.
    assert_eq!(figures.ages[6], 2);
    assert_eq!(figures.ages.iter().sum::<i64>(), 2);
    assert_eq!(figures.other, [(String::new(), 1), ("gone".to_owned(), 1)]);
    let null = file.store.claim(&shape, "status-null").await.unwrap();
    assert_eq!(null[0].status, ClaimStatus::Other(String::new()));
}
