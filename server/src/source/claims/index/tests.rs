use std::sync::Mutex;

use app::model::claim::keys::{KeyPattern, KeyRule};
use app::model::claim::table::{ClaimWay, Columns};
use app::model::invocation::Arguments;
use app::model::job::JobHistory;
use async_trait::async_trait;

use super::*;

/// Jobs by id, as a store would give them.
#[derive(Default)]
struct Jobs(Mutex<Vec<JobCall>>);

impl Jobs {
    fn put(&self, id: i64, order: &str) {
        let mut jobs = self.0.lock().unwrap();
        jobs.push(email(id, order));
        jobs.sort_by_key(|call| call.id);
    }
}

#[async_trait]
impl HistoryStore for Jobs {
    async fn histories(&self, _: &[i64], _: u32) -> Result<Vec<JobHistory>, StoreError> {
        Err(StoreError::Internal("not asked for here".into()))
    }

    async fn calls_after(&self, id: i64, limit: u32) -> Result<Vec<JobCall>, StoreError> {
        let jobs = self.0.lock().unwrap();
        let after = jobs.iter().filter(|call| call.id > id);
        Ok(after.take(limit as usize).cloned().collect())
    }
}

fn email(id: i64, order: &str) -> JobCall {
    JobCall {
        id,
        invocation: Invocation::from_parts(
            Some("Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs"),
            Some("SendAsync"),
            None,
            None,
            Arguments::Values(vec![Some(order.to_owned())]),
        ),
    }
}

fn table(name: &str, pattern: Option<&str>) -> ClaimsTable {
    ClaimsTable {
        name: name.to_owned(),
        schema: "public".to_owned(),
        table: name.to_owned(),
        columns: Columns {
            key: "Key".to_owned(),
            status: "Status".to_owned(),
            claimed_at: None,
            provider_id: None,
        },
        sending: "0".to_owned(),
        sent: "1".to_owned(),
        cutoff_ms: ClaimsTable::CUTOFF_MS,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: None,
        way: ClaimWay::InsertFirst,
        keys: pattern
            .into_iter()
            .map(|pattern| KeyRule {
                pattern: KeyPattern::parse(pattern).unwrap(),
                job_type: "InvoiceEmailJob".to_owned(),
                methods: Vec::new(),
            })
            .collect(),
        nothing_sent_on: Vec::new(),
        provider: None,
        detected: false,
    }
}

fn emails() -> ClaimsTable {
    table("emails", Some("invoice-email:{0}"))
}

fn found(index: &KeyIndex, table: &ClaimsTable, key: &str) -> Vec<i64> {
    index.candidates(table, [key], 10).remove(key).unwrap()
}

/// Steps until the index has caught up.
async fn fill(index: &KeyIndex, jobs: &Jobs, lookups: &Lookups) {
    while !index.progress().complete {
        index.step(jobs, lookups).await.unwrap();
    }
}

#[tokio::test]
async fn jobs_are_found_by_rule_oldest_first() {
    let (index, jobs, table) = (KeyIndex::default(), Jobs::default(), emails());
    for (id, order) in [(1, "7"), (2, "8"), (3, "7")] {
        jobs.put(id, order);
    }
    let mut other = email(4, "7");
    other.invocation.type_name = Some("Bookstore.Jobs.ImportJob, Bookstore.Jobs".to_owned());
    jobs.0.lock().unwrap().push(other);
    let lookups = Lookups::of([&table]);
    fill(&index, &jobs, &lookups).await;
    assert_eq!(found(&index, &table, "invoice-email:7"), [1, 3]);
    assert_eq!(found(&index, &table, "invoice-email:8"), [2]);
    assert!(found(&index, &table, "invoice-email:9").is_empty());
    assert!(found(&index, &table, "7").is_empty());
    let limited = index.candidates(&table, ["invoice-email:7"], 1);
    assert_eq!(limited["invoice-email:7"], [3]);
    for (most, kept) in [(2, vec![1, 9]), (3, vec![1, 8, 9]), (9, (1..=9).collect())] {
        let many = KeyIndex::default();
        many.add(
            &lookups,
            &(1..=9).map(|id| email(id, "7")).collect::<Vec<_>>(),
        );
        let limited = many.candidates(&table, ["invoice-email:7"], most);
        assert_eq!(limited["invoice-email:7"], kept);
    }
    assert_eq!(
        index.progress(),
        Progress {
            complete: true,
            jobs: 4,
            looked_to: Some(4),
            from: None
        }
    );
}

#[tokio::test]
async fn tables_without_rules_look_at_the_first_argument() {
    let (index, jobs) = (KeyIndex::default(), Jobs::default());
    jobs.put(1, "42");
    jobs.put(2, "\"invoice-email:42\"");
    let (ruled, plain) = (emails(), table("plain", None));
    fill(&index, &jobs, &Lookups::of([&ruled, &plain])).await;
    // The whole key, or its part after the last colon.
    assert_eq!(found(&index, &plain, "invoice-email:42"), [1, 2]);
    // Its rule would make of job 2 the key `invoice-email:invoice-email:42`.
    assert_eq!(found(&index, &ruled, "invoice-email:42"), [1]);
}

#[tokio::test]
async fn a_key_of_ten_kilobytes_is_found_like_any_other() {
    let (index, jobs, table) = (KeyIndex::default(), Jobs::default(), emails());
    let long = "k".repeat(10_000);
    jobs.put(1, &format!("\"{long}\""));
    fill(&index, &jobs, &Lookups::of([&table])).await;
    assert_eq!(found(&index, &table, &format!("invoice-email:{long}")), [1]);
}

#[tokio::test]
async fn two_values_of_one_hash_are_both_given() {
    let index = KeyIndex::default();
    let hash = sought(&emails(), "invoice-email:7")[0];
    {
        let mut inner = index.write();
        inner.sorted = vec![Entry { hash, job: 3 }];
        inner.aside.insert(Entry { hash, job: 9 });
    }
    assert_eq!(found(&index, &emails(), "invoice-email:7"), [3, 9]);
}

#[tokio::test]
async fn when_full_the_oldest_jobs_are_dropped_and_that_is_said() {
    let (index, jobs, table) = (KeyIndex::with_cap(10), Jobs::default(), emails());
    for id in 1..=11 {
        jobs.put(id, &id.to_string());
    }
    let lookups = Lookups::of([&table]);
    fill(&index, &jobs, &lookups).await;
    // Nine are kept of eleven, so that there is room for a while.
    assert_eq!(index.progress().from, Some(3));
    assert!(found(&index, &table, "invoice-email:2").is_empty());
    assert_eq!(found(&index, &table, "invoice-email:3"), [3]);
    // The overlap shows the dropped ones again: they stay out.
    index.step(&jobs, &lookups).await.unwrap();
    assert!(found(&index, &table, "invoice-email:2").is_empty());
    assert_eq!(index.read().len(), 9);
}

#[tokio::test]
async fn a_job_that_commits_after_ones_of_higher_ids_is_found() {
    let (index, jobs, table) = (KeyIndex::default(), Jobs::default(), emails());
    let lookups = Lookups::of([&table]);
    jobs.put(1_000, "1");
    jobs.put(2_000, "2");
    fill(&index, &jobs, &lookups).await;
    jobs.put(1_001, "3");
    jobs.put(2_001, "4");
    jobs.put(999, "5");
    index.step(&jobs, &lookups).await.unwrap();
    assert_eq!(found(&index, &table, "invoice-email:3"), [1_001]);
    assert_eq!(found(&index, &table, "invoice-email:4"), [2_001]);
    // Beyond the overlap.
    assert!(found(&index, &table, "invoice-email:5").is_empty());
    // Read again, counted once.
    let len = index.read().len();
    index.step(&jobs, &lookups).await.unwrap();
    assert_eq!(index.read().len(), len);
}

#[tokio::test]
async fn many_jobs_are_taken_in_by_batches() {
    let (index, jobs, table) = (KeyIndex::default(), Jobs::default(), emails());
    let lookups = Lookups::of([&table]);
    let total = i64::from(BATCH) * 3;
    *jobs.0.lock().unwrap() = (1..=total).map(|id| email(id, &id.to_string())).collect();
    index.step(&jobs, &lookups).await.unwrap();
    let progress = index.progress();
    assert_eq!((progress.complete, progress.jobs), (false, 2_000));
    fill(&index, &jobs, &lookups).await;
    assert_eq!(index.progress().jobs, 6_000);
    for id in [1, 2_000, 2_001, total] {
        assert_eq!(found(&index, &table, &format!("invoice-email:{id}")), [id]);
    }
}

#[tokio::test]
async fn a_database_that_was_made_anew_is_indexed_anew() {
    let (index, jobs, table) = (KeyIndex::default(), Jobs::default(), emails());
    let lookups = Lookups::of([&table]);
    jobs.put(50_000, "1");
    fill(&index, &jobs, &lookups).await;
    // Everything expired: nothing to look for, and nothing to begin anew.
    jobs.0.lock().unwrap().clear();
    index.step(&jobs, &lookups).await.unwrap();
    assert_eq!(index.progress().looked_to, Some(50_000));
    jobs.put(1, "2");
    index.step(&jobs, &lookups).await.unwrap();
    assert_eq!(index.progress(), Progress::default());
    fill(&index, &jobs, &lookups).await;
    assert_eq!(found(&index, &table, "invoice-email:2"), [1]);
    assert!(found(&index, &table, "invoice-email:1").is_empty());
}

#[tokio::test]
async fn a_start_begins_with_nothing_and_finds_the_same() {
    let (jobs, table) = (Jobs::default(), emails());
    let lookups = Lookups::of([&table]);
    jobs.put(1, "7");
    let index = KeyIndex::default();
    fill(&index, &jobs, &lookups).await;
    let again = KeyIndex::default();
    assert!(found(&again, &table, "invoice-email:7").is_empty());
    fill(&again, &jobs, &lookups).await;
    assert_eq!(
        found(&again, &table, "invoice-email:7"),
        found(&index, &table, "invoice-email:7")
    );
}
