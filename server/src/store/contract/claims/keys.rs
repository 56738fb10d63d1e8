//! Keys of every kind.

use app::model::claim::{Claim, ClaimStatus};

use super::{Bench, MINUTE, ago, email, make_emails, shape};

/// Keys come through as they are stored, and are found by it.
pub async fn any_key_is_found(bench: &dyn Bench) {
    make_emails(bench).await;
    let long = "k".repeat(10_240);
    let keys = [
        "it's \"quoted\"",
        "two\nlines\tand a tab",
        "</script><img src=x onerror=alert(1)>",
        "%_\\{0}",
        "漢字 📚 é",
        " padded ",
        "",
        long.as_str(),
    ];
    for (nr, key) in keys.iter().enumerate() {
        email(bench, key, 0, Some(ago(MINUTE)), Some(&format!("m{nr}"))).await;
    }
    let found = shape(bench).await;
    for (nr, key) in keys.iter().enumerate() {
        let rows = bench.store().claim(&found, key).await.unwrap();
        let [claim] = rows.as_slice() else {
            panic!("{key:?}: {} rows", rows.len());
        };
        assert_eq!(claim.key, *key);
        assert_eq!(claim.provider_id, Some(format!("m{nr}")));
    }
    for key in [
        "padded",
        "it''s \"quoted\"",
        "a\0b",
        "\0",
        "invoice-email:1",
    ] {
        assert_eq!(bench.store().claim(&found, key).await.unwrap(), []);
    }
}

/// Where nothing makes the key unique, all of its rows are told; a status that the description does
/// not know, and one that is missing, are told as they are.
pub async fn every_row_of_a_key_is_told(bench: &dyn Bench) {
    bench
        .execute("CREATE TABLE loose (key text, status text, claimed_at text)")
        .await;
    bench
        .execute(
            "INSERT INTO loose (key, status, claimed_at) VALUES ('a', 'sending', 'yesterday'), \
             ('a', 'odd', NULL), ('a', NULL, NULL), ('b', 'sent', '2026-11-02 12:00:00.1234567')",
        )
        .await;
    let mut table = super::described(bench);
    "loose".clone_into(&mut table.table);
    "key".clone_into(&mut table.columns.key);
    "status".clone_into(&mut table.columns.status);
    table.columns.claimed_at = Some("claimed_at".to_owned());
    table.columns.provider_id = None;
    (table.sending, table.sent) = ("sending".to_owned(), "sent".to_owned());
    let found = bench.store().shape(&table).await.unwrap();
    let mut rows = bench.store().claim(&found, "a").await.unwrap();
    rows.sort_by_key(|claim| claim.status.to_string());
    let told: Vec<(String, Option<&str>)> = rows.iter().map(|claim| told(claim)).collect();
    assert_eq!(
        told,
        [
            ("Sending".to_owned(), Some("yesterday")),
            ("unknown (NULL)".to_owned(), None),
            ("unknown (odd)".to_owned(), None),
        ]
    );
    assert_eq!(rows[0].at(), None);
    let rows = bench.store().claim(&found, "b").await.unwrap();
    assert_eq!(rows[0].status, ClaimStatus::Sent);
    assert_eq!(
        rows[0].at().unwrap().to_rfc3339(),
        "2026-11-02T12:00:00.123456+00:00"
    );
}

fn told(claim: &Claim) -> (String, Option<&str>) {
    let token = claim.claimed_at.as_ref().map(|time| time.token.as_str());
    (claim.status.to_string(), token)
}
