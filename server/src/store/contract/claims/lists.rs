//! Pages of claims.

use app::model::claim::table::Shape;
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPlace};
use chrono::{DateTime, TimeDelta};

use super::{Bench, Email, emails, make_emails, shape};

/// A claim: key, status, and minutes after [`begin`].
type Row = (String, i64, Option<i64>);

fn begin() -> Instant {
    DateTime::parse_from_rfc3339("2026-11-02T12:00:00.25Z")
        .unwrap()
        .to_utc()
}

/// Three claims of each status in each of seven minutes (a claim time and its neighbours are the
/// same for all three), and three of each without a claim time.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for status in 0..3 {
        for minute in (0..7).map(Some).chain([None]) {
            for nr in 0..3 {
                let place = minute.map_or_else(|| "none".to_owned(), |minute| minute.to_string());
                rows.push((format!("k-{nr}-{place}-{status}"), status, minute));
            }
        }
    }
    rows
}

/// Keys of a filter in the list's order.
fn expected(filter: &ClaimFilter) -> Vec<String> {
    let at = |minute: i64| begin() + TimeDelta::minutes(minute);
    let mut rows: Vec<Row> = rows()
        .into_iter()
        .filter(|(_, status, minute)| match filter {
            ClaimFilter::Stale { before } => {
                *status == 0 && minute.is_some_and(|minute| at(minute) < *before)
            }
            ClaimFilter::Sending => *status == 0,
            ClaimFilter::Sent => *status == 1,
            ClaimFilter::Other => *status == 2,
            ClaimFilter::All => true,
        })
        .collect();
    rows.sort_by_key(|(key, _, minute)| (*minute, key.clone()));
    if !matches!(filter, ClaimFilter::Stale { .. } | ClaimFilter::Sending) {
        rows.reverse();
    }
    rows.into_iter().map(|(key, _, _)| key).collect()
}

/// Every list, in pages of four, forwards and backwards, is whole and in order.
pub async fn pages_lose_nothing(bench: &dyn Bench) {
    make_emails(bench).await;
    let rows = rows();
    let made: Vec<Email<'_>> = rows
        .iter()
        .map(|(key, status, minute)| {
            let at = minute.map(|minute| begin() + TimeDelta::minutes(minute));
            (key.as_str(), *status, at, None)
        })
        .collect();
    emails(bench, &made).await;
    let found = shape(bench).await;
    let filters = [
        ClaimFilter::Stale {
            before: begin() + TimeDelta::minutes(4),
        },
        ClaimFilter::Stale {
            before: begin() + TimeDelta::minutes(4) + TimeDelta::microseconds(1),
        },
        ClaimFilter::Sending,
        ClaimFilter::Sent,
        ClaimFilter::Other,
        ClaimFilter::All,
    ];
    for filter in filters {
        let expected = expected(&filter);
        assert_eq!(
            forwards(bench, &found, &filter).await,
            expected,
            "{filter:?}"
        );
        assert_eq!(
            backwards(bench, &found, &filter).await,
            expected,
            "{filter:?}"
        );
    }
    let limit = bench
        .store()
        .claims(&found, &ClaimFilter::All, &ClaimAnchor::Start, 0)
        .await
        .unwrap();
    assert_eq!(limit.rows.len(), 1);
}

fn place(claim: &app::model::claim::Claim) -> ClaimPlace {
    ClaimPlace {
        claimed_at: claim.claimed_at.as_ref().map(|time| time.token.clone()),
        key: claim.key.clone(),
    }
}

async fn forwards(bench: &dyn Bench, shape: &Shape, filter: &ClaimFilter) -> Vec<String> {
    let mut keys = Vec::new();
    let mut anchor = ClaimAnchor::Start;
    loop {
        let page = bench
            .store()
            .claims(shape, filter, &anchor, 4)
            .await
            .unwrap();
        assert_eq!(page.has_before, !keys.is_empty());
        keys.extend(page.rows.iter().map(|claim| claim.key.clone()));
        match page.rows.last() {
            Some(last) if page.has_after => anchor = ClaimAnchor::After(place(last)),
            _ => return keys,
        }
    }
}

/// From beyond the last row back to the first.
async fn backwards(bench: &dyn Bench, shape: &Shape, filter: &ClaimFilter) -> Vec<String> {
    let oldest_first = matches!(filter, ClaimFilter::Stale { .. } | ClaimFilter::Sending);
    let all = bench
        .store()
        .claims(shape, filter, &ClaimAnchor::Start, 200)
        .await
        .unwrap();
    assert_eq!((all.has_before, all.has_after), (false, false));
    let mut beyond = place(all.rows.last().unwrap());
    // A key that no row has, just after the last one.
    if oldest_first {
        beyond.key.push('z');
    } else {
        "a".clone_into(&mut beyond.key);
    }
    let mut keys: Vec<String> = Vec::new();
    let mut anchor = ClaimAnchor::Before(beyond);
    loop {
        let page = bench
            .store()
            .claims(shape, filter, &anchor, 4)
            .await
            .unwrap();
        assert_eq!(page.has_after, !keys.is_empty());
        let mut page_keys: Vec<String> = page.rows.iter().map(|claim| claim.key.clone()).collect();
        page_keys.append(&mut keys);
        keys = page_keys;
        match page.rows.first() {
            Some(first) if page.has_before => anchor = ClaimAnchor::Before(place(first)),
            _ => return keys,
        }
    }
}

/// A table without claim times is listed by key, and nothing of it is ever stale.
pub async fn a_table_without_claim_times_is_listed_by_key(bench: &dyn Bench) {
    bench
        .execute("CREATE TABLE timeless (key text UNIQUE, status integer)")
        .await;
    bench
        .execute("INSERT INTO timeless VALUES ('c', 0), ('a', 0), ('d', 1), ('b', 0), ('e', 0)")
        .await;
    let mut table = super::described(bench);
    "timeless".clone_into(&mut table.table);
    "key".clone_into(&mut table.columns.key);
    "status".clone_into(&mut table.columns.status);
    table.columns.claimed_at = None;
    table.columns.provider_id = None;
    let found = bench.store().shape(&table).await.unwrap();
    let sending = ClaimFilter::Sending;
    assert_eq!(
        forwards(bench, &found, &sending).await,
        ["a", "b", "c", "e"]
    );
    let newest = ClaimFilter::All;
    assert_eq!(
        forwards(bench, &found, &newest).await,
        ["e", "d", "c", "b", "a"]
    );
    let stale = ClaimFilter::Stale {
        before: super::now(),
    };
    assert_eq!(forwards(bench, &found, &stale).await, [""; 0]);
}
