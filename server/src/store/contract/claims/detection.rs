//! Finding tables of the usual shape.

use app::model::claim::table::{ClaimWay, ClaimsTable};

use super::{Bench, described, make_emails};

/// EF Core's table and one in snake case are found, with the words that their status uses; others
/// are not.
pub async fn usual_tables_are_found(bench: &dyn Bench) {
    assert_eq!(bench.store().detect().await.unwrap(), []);
    make_emails(bench).await;
    let time = bench.time_type();
    let claims = format!("claimed_at {time}, message_id text");
    for table in ["sms_claims", "qrtz_claims", "orders", "loose"] {
        let unique = if table == "loose" { "" } else { "UNIQUE" };
        bench
            .execute(&format!(
                "CREATE TABLE {table} (idempotency_key text {unique}, status text, {claims})"
            ))
            .await;
    }
    bench
        .execute(
            "INSERT INTO sms_claims (idempotency_key, status) VALUES ('a', 'SENDING'), ('b', 'failed')",
        )
        .await;
    bench
        .execute("INSERT INTO orders (idempotency_key, status) VALUES ('a', 'paid')")
        .await;
    let found = bench.store().detect().await.unwrap();
    let names: Vec<&str> = found.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["OutgoingEmails", "sms_claims"]);
    let emails = ClaimsTable {
        name: "OutgoingEmails".to_owned(),
        keys: Vec::new(),
        detected: true,
        ..described(bench)
    };
    assert_eq!(found[0], emails);
    let texts = &found[1];
    assert_eq!(
        (texts.sending.as_str(), texts.sent.as_str()),
        ("SENDING", "SENT")
    );
    assert_eq!(texts.columns.key, "idempotency_key");
    assert_eq!(texts.columns.claimed_at.as_deref(), Some("claimed_at"));
    assert_eq!(texts.columns.provider_id.as_deref(), Some("message_id"));
    assert_eq!((texts.way, texts.purge), (ClaimWay::InsertFirst, false));
    assert_eq!(
        (texts.cutoff_ms, texts.retention_ms),
        (600_000, 2_592_000_000)
    );
    for table in found {
        let shape = bench.store().shape(&table).await.unwrap();
        assert_eq!((shape.lacks, shape.table), (Vec::new(), table));
    }
}
