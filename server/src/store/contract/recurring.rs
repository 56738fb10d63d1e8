//! What must be read of recurring jobs.

use app::ports::recurring::RecurringStore;
use serde_json::json;

use crate::testing::fixture::Fixture;

/// Fields of a hash.
type Fields<'a> = &'a [(&'a str, &'a str)];

/// The recorded recurring jobs, and some that were never written so: stopped, without a hash,
/// broken, huge, with a field twice.
pub fn rows() -> Fixture {
    let mut tables = Fixture::named("recurring").tables;
    let mut add = |table: &str, row: serde_json::Value| {
        tables.entry(table.to_owned()).or_default().push(row);
    };
    let call = r#"{"t":"Shop.Jobs, Shop","m":"RunAsync"}"#;
    let huge = format!(r#"{{"t":"Shop.Jobs, Shop","m":"RunAsync","a":["{}"]}}"#, {
        // Text that cannot be compressed much.
        let digits = (0..40_000_u64).map(|n| (n * 2_654_435_761 % 4_294_967_296).to_string());
        digits.collect::<String>()
    });
    let odd: [(&str, i64, Fields<'_>); 6] = [
        ("Odd", 5, &[("Cron", "5 4 * * *"), ("Job", call)]),
        ("bare", 5, &[]),
        ("broken", 5, &[("Cron", "0 * * * *"), ("Job", "{")]),
        ("huge", 5, &[("Cron", "0 * * * *"), ("Job", &huge)]),
        ("stopped", -1, &[("Cron", "0 * * * *"), ("Job", call)]),
        ("zoned", 5, &[("Cron", "not cron"), ("Job", call)]),
    ];
    let mut hash = 1_000;
    for ((id, score, fields), row) in odd.into_iter().zip(100..) {
        add(
            "set",
            json!({"id": row, "key": "recurring-jobs", "score": score, "value": id,
                "expireat": null, "updatecount": 0}),
        );
        for (field, value) in fields {
            hash += 1;
            add(
                "hash",
                json!({"id": hash, "key": format!("recurring-job:{id}"), "field": field,
                    "value": value, "expireat": null, "updatecount": 0}),
            );
        }
    }
    Fixture::of(tables)
}

/// Those with a next run are read, in the order of their names, with what they run and when.
pub async fn those_with_a_next_run_are_read(store: &dyn RecurringStore) {
    let read = async |limit: u32| -> Vec<String> {
        let jobs = store.recurring(limit).await.unwrap();
        jobs.iter()
            .map(|job| {
                format!(
                    "{}: {}.{} at {}",
                    job.id, job.kind.job_type, job.kind.method, job.cron
                )
            })
            .collect()
    };
    let all = [
        "Odd: Shop.Jobs.RunAsync at 5 4 * * *",
        "every-minute-never: Bookstore.Jobs.SupplierInvoiceJobs.ImportOnceAsync at * * * * *",
        "hourly-summary: Bookstore.Jobs.ReportJobs.SummaryAsync at 0 * * * *",
        "nightly-import: Bookstore.Jobs.SupplierInvoiceJobs.ImportAsync at 0 3 * * *",
        "renamed: Bookstore.Jobs.ReportJobs.SummaryOfMonthAsync at * * * * *",
        "zoned: Shop.Jobs.RunAsync at not cron",
    ];
    assert_eq!(read(1_000).await, all);
    assert_eq!(read(1).await, all[..1]);
    assert!(read(0).await.is_empty());
}
