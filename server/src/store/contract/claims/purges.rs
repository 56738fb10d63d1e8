//! Purging Sent claims.

use app::actions::Actor;
use app::model::claim::ClaimStatus;
use app::ports::claims::{ClaimAnchor, ClaimFilter, Purge};

use super::{Bench, DAY, Email, MINUTE, ago, described, emails, make_emails, shape};
use crate::clock::{Clock as _, SystemClock};

fn purge(batch: u32, reason: Option<&str>) -> Purge {
    Purge {
        before: ago(30 * DAY),
        batch,
        actor: Actor {
            name: "ada".to_owned(),
            authenticated: false,
        },
        reason: reason.map(str::to_owned),
    }
}

async fn keys(bench: &dyn Bench, filter: ClaimFilter) -> Vec<String> {
    let found = shape(bench).await;
    let page = bench
        .store()
        .claims(&found, &filter, &ClaimAnchor::Start, 200)
        .await
        .unwrap();
    page.rows.into_iter().map(|claim| claim.key).collect()
}

/// Sent claims past the retention go, once; Sending ones and those of unknown status never do.
pub async fn only_old_sent_claims_go(bench: &dyn Bench) {
    make_emails(bench).await;
    let rows: [Email<'_>; 7] = [
        ("k1", 1, Some(ago(31 * DAY)), Some("m1")),
        ("k2", 1, Some(ago(30 * DAY + MINUTE)), Some("m2")),
        ("k3", 1, Some(ago(29 * DAY + 23 * 60 * MINUTE)), Some("m3")),
        ("k4", 0, Some(ago(200 * DAY)), None),
        ("k5", 0, Some(ago(31 * DAY)), None),
        ("k6", 2, Some(ago(90 * DAY)), None),
        ("k7", 1, Some(ago(40 * DAY)), None),
    ];
    emails(bench, &rows).await;
    let found = shape(bench).await;
    let figures = bench.store().claim_figures(&found).await.unwrap();
    assert_eq!(figures.purgeable.0, 3);
    assert_eq!((figures.sending, figures.sent, figures.stale), (2, 4, 2));
    let id = SystemClock.new_id();
    let purged = bench
        .store()
        .purge_claims(id, &found, &purge(2, Some("monthly")))
        .await;
    assert_eq!(purged.unwrap(), 3);
    let row = bench.store().audit_row(id).await.unwrap().unwrap();
    assert_eq!(
        (row.action.as_str(), row.outcome.as_str()),
        ("purge", "done")
    );
    assert_eq!(
        (row.actor.as_str(), row.reason.as_deref()),
        ("ada", Some("monthly"))
    );
    assert!(
        row.note.contains("Purged 3 Sent claims of emails"),
        "{}",
        row.note
    );
    assert_eq!(
        row.claim.map(|claim| (claim.table, claim.key)),
        Some(("emails".into(), None))
    );
    // Once more, asked for by somebody: that stands in the audit; by itself: it does not.
    for (reason, stands) in [(Some("again"), true), (None, false)] {
        let id = SystemClock.new_id();
        let purged = bench
            .store()
            .purge_claims(id, &found, &purge(100, reason))
            .await;
        assert_eq!(purged.unwrap(), 0);
        assert_eq!(bench.store().audit_row(id).await.unwrap().is_some(), stands);
    }
    assert_eq!(
        keys(bench, ClaimFilter::All).await,
        ["k3", "k5", "k6", "k4"]
    );
    assert_eq!(keys(bench, ClaimFilter::Sending).await, ["k4", "k5"]);
    let odd = bench.store().claim(&found, "k6").await.unwrap();
    assert_eq!(odd[0].status, ClaimStatus::Other("2".to_owned()));
    assert_eq!(odd[0].status.to_string(), "unknown (2)");
}

/// Two purges at once take every row once.
pub async fn two_purges_share_the_work(bench: &dyn Bench) {
    make_emails(bench).await;
    let names: Vec<String> = (0..300).map(|nr| format!("k{nr:03}")).collect();
    let at = ago(60 * DAY);
    let rows: Vec<Email<'_>> = names
        .iter()
        .enumerate()
        .map(|(nr, key)| (key.as_str(), i64::from(nr % 3 != 0), Some(at), None))
        .collect();
    emails(bench, &rows).await;
    let found = shape(bench).await;
    let (one, two) = (purge(7, None), purge(7, None));
    let (one, two) = tokio::join!(
        bench
            .store()
            .purge_claims(SystemClock.new_id(), &found, &one),
        bench
            .store()
            .purge_claims(SystemClock.new_id(), &found, &two),
    );
    assert_eq!(one.unwrap() + two.unwrap(), 200);
    let left = bench.store().claim_figures(&found).await.unwrap();
    assert_eq!((left.sending, left.sent), (100, 0));
}

/// Without a claim time nothing is purged.
pub async fn without_claim_times_nothing_goes(bench: &dyn Bench) {
    make_emails(bench).await;
    emails(bench, &[("k1", 1, Some(ago(90 * DAY)), None)]).await;
    let mut table = described(bench);
    table.columns.claimed_at = None;
    let timeless = bench.store().shape(&table).await.unwrap();
    let purged = bench
        .store()
        .purge_claims(SystemClock.new_id(), &timeless, &purge(10, None))
        .await;
    assert!(purged.is_err() || purged.unwrap() == 0);
    assert_eq!(
        bench
            .store()
            .claim(&shape(bench).await, "k1")
            .await
            .unwrap()
            .len(),
        1
    );
}
