//! Claims with what they are judged by, read at once.

use std::sync::Arc;

use app::actions::Actor;
use app::actions::claim::SeenClaim;
use app::model::claim::evidence::{Answer, Asked};
use app::model::claim::table::ClaimWay;
use app::ports::claims::{ClaimAnchor, ClaimFilter, JobsBehind, Wanted};
use uuid::Uuid;

use super::acts::claimed;
use super::jobs::{FAILED, ORPHANED, RUNNING};
use super::{Bench, MINUTE, ago, now};

/// The jobs of the claims that the store shows, whatever their order.
fn jobs() -> JobsBehind {
    Arc::new(|rows| {
        let jobs = rows.iter().filter_map(|claim| match claim.key.as_str() {
            "invoice-email:101" => Some(RUNNING),
            "invoice-email:102" => Some(ORPHANED),
            "invoice-email:103" => Some(FAILED),
            _ => None,
        });
        jobs.collect()
    })
}

/// A page, and the rows of a key, come with what the single reads give.
pub async fn at_once_is_what_single_reads_give(bench: &dyn Bench) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    let store = bench.store();
    let actor = Actor {
        name: "ada".to_owned(),
        authenticated: false,
    };
    for (nr, key) in ["invoice-email:102", "invoice-email:103", "elsewhere"]
        .into_iter()
        .enumerate()
    {
        let seen = SeenClaim {
            key: key.to_owned(),
            claimed_at: None,
        };
        let asked = Asked {
            at: now(),
            answer: Answer::Denied,
        };
        let id = Uuid::from_u128(u128::try_from(nr).unwrap() + 1);
        store
            .record_answer(id, "emails", &seen, &asked, &actor)
            .await
            .unwrap();
    }
    let stale = ClaimFilter::Stale {
        before: ago(10 * MINUTE),
    };
    let page = |anchor: ClaimAnchor| Wanted::Page {
        filter: stale.clone(),
        anchor,
        limit: 2,
    };
    let first = store
        .claims_with_past(&shape, &page(ClaimAnchor::Start), jobs(), 2)
        .await
        .unwrap();
    let alone = store.claims(&shape, &stale, &ClaimAnchor::Start, 2).await;
    assert_eq!(first.page, alone.unwrap());
    let keys: Vec<String> = first.page.rows.iter().map(|row| row.key.clone()).collect();
    assert_eq!(keys, ["invoice-email:101", "invoice-email:102"]);
    let past = store.claim_past("emails", &keys).await.unwrap();
    assert_eq!((past.len(), &first.past), (1, &past));
    let histories = store.histories(&[RUNNING, ORPHANED], 2).await.unwrap();
    assert_eq!((histories.len(), &first.histories), (2, &histories));

    let of_key = async |key: &str| {
        let wanted = Wanted::Key(key.to_owned());
        store
            .claims_with_past(&shape, &wanted, jobs(), 60)
            .await
            .unwrap()
    };
    let one = of_key("invoice-email:103").await;
    let alone = store.claim(&shape, "invoice-email:103").await.unwrap();
    assert_eq!(one.page.rows, alone);
    assert_eq!((one.past.len(), one.histories.len()), (1, 1));
    assert_eq!(one.histories[0].states.len(), 3);
    // Nothing, and nothing asked for what is not there.
    for key in ["nobody", "a\0b"] {
        let none = of_key(key).await;
        let counts = (none.page.rows.len(), none.past.len(), none.histories.len());
        assert_eq!(counts, (0, 0, 0), "{key:?}");
    }
}

/// Without own tables there is no past, and all else is read.
pub async fn without_an_audit_there_is_no_past(bench: &dyn Bench, no_audit: &str) {
    let shape = claimed(bench, ClaimWay::InsertFirst).await;
    bench.execute(no_audit).await;
    let wanted = Wanted::Key("invoice-email:103".to_owned());
    let read = bench
        .store()
        .claims_with_past(&shape, &wanted, jobs(), 60)
        .await
        .unwrap();
    let counts = (read.page.rows.len(), read.past.len(), read.histories.len());
    assert_eq!(counts, (1, 0, 1));
}
