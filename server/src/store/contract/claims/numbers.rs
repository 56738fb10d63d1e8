//! Numbers of a table.

use app::model::claim::ClaimStatus;
use app::ports::claims::{AGE_BUCKETS, ClaimFigures};
use chrono::TimeDelta;

use super::{Bench, DAY, Email, MINUTE, ago, described, email, emails, make_emails, shape};

/// Every count is right, by status and by age.
pub async fn counts_are_right(bench: &dyn Bench) {
    make_emails(bench).await;
    let mut rows: Vec<Email<'_>> = vec![
        ("sending-now", 0, Some(ago(0)), None),
        ("sending-59s", 0, Some(ago(59_000)), None),
        ("sending-61s", 0, Some(ago(61_000)), None),
        ("sending-599s", 0, Some(ago(599_000)), None),
        ("sending-601s", 0, Some(ago(601_000)), None),
        ("sending-2d", 0, Some(ago(2 * DAY)), None),
        ("sending-200d", 0, Some(ago(200 * DAY)), None),
        ("sending-future", 0, Some(ago(-60 * MINUTE)), None),
        ("sending-timeless", 0, None, None),
        ("odd-1", 2, Some(ago(90 * DAY)), None),
        ("odd-2", 2, None, None),
        ("odd-3", -7, Some(ago(1)), None),
        ("sent-timeless", 1, None, Some("m0")),
    ];
    let ids: Vec<(String, i64)> = (1..=6).map(|nr| (format!("sent-{nr}"), nr)).collect();
    for (key, nr) in &ids {
        rows.push((key, 1, Some(ago(nr * 10 * DAY - 1_000)), Some("m")));
    }
    emails(bench, &rows).await;
    let found = shape(bench).await;
    let figures = bench.store().claim_figures(&found).await.unwrap();
    assert_eq!((figures.sending, figures.sent), (9, 7));
    assert_eq!(figures.stale, 3);
    assert_eq!(figures.other, [("-7".to_owned(), 1), ("2".to_owned(), 2)]);
    assert_eq!(figures.ageless, 2);
    // Below 60 s, 120 s, …, and a day or more.
    assert_eq!(AGE_BUCKETS[3..5], [600, 900]);
    assert_eq!(figures.ages, [2, 1, 0, 1, 1, 0, 0, 0, 0, 0, 2]);
    let (count, oldest) = figures.purgeable;
    assert_eq!(count, 3);
    let expected = ago(60 * DAY - 1_000);
    assert!((oldest.unwrap() - expected).abs() < TimeDelta::minutes(1));
    let newest: Vec<&str> = figures
        .just_sent
        .iter()
        .map(|claim| claim.key.as_str())
        .collect();
    assert_eq!(newest, ["sent-1", "sent-2", "sent-3", "sent-4", "sent-5"]);
    assert_eq!(figures.just_sent[0].status, ClaimStatus::Sent);
    assert!((figures.as_of - super::now()).abs() < TimeDelta::minutes(1));
}

/// An empty table, and one without claim times, have numbers too.
pub async fn what_cannot_be_told_is_left_out(bench: &dyn Bench) {
    make_emails(bench).await;
    let found = shape(bench).await;
    let none = bench.store().claim_figures(&found).await.unwrap();
    let expected = ClaimFigures {
        sending: 0,
        stale: 0,
        sent: 0,
        other: Vec::new(),
        ages: vec![0; 11],
        ageless: 0,
        purgeable: (0, None),
        just_sent: Vec::new(),
        as_of: none.as_of,
    };
    assert_eq!(none, expected);
    email(bench, "a", 0, Some(ago(DAY)), None).await;
    email(bench, "b", 1, Some(ago(90 * DAY)), None).await;
    let mut table = described(bench);
    table.columns.claimed_at = None;
    let timeless = bench.store().shape(&table).await.unwrap();
    let figures = bench.store().claim_figures(&timeless).await.unwrap();
    assert_eq!((figures.sending, figures.sent), (1, 1));
    assert_eq!((figures.stale, figures.ageless), (0, 1));
    assert_eq!(figures.purgeable, (0, None));
    assert_eq!(figures.just_sent.len(), 1);
}
