//! Actions on the recorded claims. Jobs 2 to 4 of the file succeeded by skipping: their first runs
//! left the claims of orders 44 to 46 in Sending.

use app::actions::Actor;
use app::actions::claim::{ClaimAction, ClaimOutcome, ClaimRequest, SeenClaim};
use app::model::claim::keys::{KeyPattern, KeyRule};
use app::model::claim::time::Written;
use app::model::claim::{ClaimStatus, ClaimTime};
use app::model::state::StateName;
use app::ports::audit::AuditStore as _;
use sqlx::Row as _;
use uuid::Uuid;

use super::*;

pub(super) const CLAIMS: &str =
    "SELECT IdempotencyKey, Status, ClaimedAtUtc, ProviderMessageId FROM OutgoingEmails ORDER BY 1";
pub(super) const QUEUE: &str = "SELECT JobId, Queue, FetchedAt FROM JobQueue ORDER BY Id";
const TOKEN_46: &str = "2026-11-29 19:20:05.156554";

/// The recorded table with the rule of its keys.
pub(super) fn ruled(way: ClaimWay) -> ClaimsTable {
    ClaimsTable {
        way,
        keys: vec![KeyRule {
            pattern: KeyPattern::parse("invoice-email:{0}").unwrap(),
            job_type: "InvoiceEmailJob".to_owned(),
            methods: Vec::new(),
        }],
        ..outgoing()
    }
}

/// A request by ada on the claim of order 46, whose job is 4.
pub(super) fn on_46(action: ClaimAction) -> ClaimRequest {
    ClaimRequest {
        action,
        seen: SeenClaim {
            key: "invoice-email:46".to_owned(),
            claimed_at: Some(TOKEN_46.to_owned()),
        },
        owners: vec![4],
        job: None,
        reason: Some("the customer waits".to_owned()),
        may_deliver_twice: true,
        actor: ada(),
    }
}

pub(super) fn ada() -> Actor {
    Actor {
        name: "ada".to_owned(),
        authenticated: false,
    }
}

pub(super) async fn shaped(file: &TestFile, way: ClaimWay) -> Shape {
    file.store.shape(&ruled(way)).await.unwrap()
}

async fn act(file: &TestFile, way: ClaimWay, request: &ClaimRequest) -> (Uuid, ClaimOutcome) {
    let shape = shaped(file, way).await;
    let id = SystemClock.new_id();
    let outcome = file.store.act_on_claim(id, &shape, request).await;
    (id, outcome)
}

/// Rows of a query, each as text with `|` between the columns.
pub(super) async fn rows(file: &TestFile, sql: &str) -> Vec<String> {
    let mut connection = file.connect().await;
    let found = sqlx::query(sqlx::AssertSqlSafe(sql.to_owned()))
        .fetch_all(&mut connection)
        .await
        .unwrap();
    found
        .iter()
        .map(|row| {
            let columns = (0..row.len()).map(|at| {
                let bytes: Option<Vec<u8>> = row.get_unchecked(at);
                bytes.map_or_else(|| "NULL".to_owned(), |b| String::from_utf8(b).unwrap())
            });
            columns.collect::<Vec<_>>().join("|")
        })
        .collect()
}

/// That neither claim nor job changed.
async fn nothing_changed(file: &TestFile) {
    let claims = rows(file, CLAIMS).await;
    assert_eq!(claims[3], format!("invoice-email:46|0|{TOKEN_46}|NULL"));
    assert_eq!(rows(file, QUEUE).await, [""; 0]);
    assert_eq!(
        rows(file, "SELECT StateName FROM Job WHERE Id = 4").await,
        ["Succeeded"]
    );
    assert_eq!(rows(file, "SELECT max(Id) FROM State").await, ["24"]);
}

#[tokio::test]
async fn a_release_deletes_the_claim_and_runs_its_job_again() {
    for action in [ClaimAction::Release, ClaimAction::Reclaim] {
        let file = TestFile::recorded(RECORDED).await;
        let request = on_46(action);
        let (id, outcome) = act(&file, ClaimWay::InsertFirst, &request).await;
        let ClaimOutcome::Done { claim, job, notes } = &outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(*claim, None);
        let job = job.as_ref().unwrap();
        assert_eq!(
            (job.job, &job.state, job.state_id),
            (4, &StateName::Enqueued, 25)
        );
        assert!(notes[0].contains("released"), "{notes:?}");
        let keys = rows(
            &file,
            "SELECT IdempotencyKey FROM OutgoingEmails ORDER BY 1",
        )
        .await;
        assert_eq!(
            keys,
            ["invoice-email:43", "invoice-email:44", "invoice-email:45"]
        );
        assert_eq!(rows(&file, QUEUE).await, ["4|default|0"]);
        assert_eq!(
            rows(&file, "SELECT StateName, ExpireAt FROM Job WHERE Id = 4").await,
            ["Enqueued|0"]
        );
        assert_eq!(
            rows(&file, "SELECT Name, Reason FROM State WHERE Id = 25").await,
            ["Enqueued|Requeued by ada via Redrive: the customer waits"]
        );
        let row = file.store.audit_row(id).await.unwrap().unwrap();
        assert_eq!(
            (row.action.as_str(), row.outcome.as_str()),
            (request.action.slug(), "done")
        );
        assert_eq!((row.job, row.seen), (Some(4), None));
        assert_eq!(row.before, Some(("Succeeded".to_owned(), 23)));
        assert_eq!(row.after, Some(("Enqueued".to_owned(), 25)));
        assert_eq!(row.reason.as_deref(), Some("the customer waits"));
        assert_eq!(row.note, outcome.sentence());
        let claim = row.claim.unwrap();
        assert_eq!(
            (claim.table.as_str(), claim.key.as_deref()),
            ("emails", Some("invoice-email:46"))
        );
        assert_eq!(claim.seen.as_deref(), Some(TOKEN_46));
        assert_eq!(claim.before, Some(format!("Sending since {TOKEN_46}")));
        let past = file
            .store
            .claim_past("emails", &["invoice-email:46".to_owned()])
            .await
            .unwrap();
        assert_eq!(past.len(), 1);
        assert_eq!(past[0].seen, Some(ClaimTime::read(TOKEN_46)));

        // Once more on what was seen before.
        let (again, outcome) = act(&file, ClaimWay::InsertFirst, &request).await;
        assert_eq!(outcome, ClaimOutcome::Gone);
        assert_eq!(rows(&file, QUEUE).await.len(), 1);
        let row = file.store.audit_row(again).await.unwrap().unwrap();
        assert_eq!((row.outcome.as_str(), row.job), ("gone", None));
    }
}

#[tokio::test]
async fn what_is_not_confirmed_changes_nothing() {
    let file = TestFile::recorded(RECORDED).await;
    let request = ClaimRequest {
        may_deliver_twice: false,
        ..on_46(ClaimAction::Release)
    };
    let (id, outcome) = act(&file, ClaimWay::InsertFirst, &request).await;
    assert!(
        matches!(&outcome, ClaimOutcome::Refused { why } if why.contains("outcome is unknown")),
        "{outcome:?}"
    );
    nothing_changed(&file).await;
    let row = file.store.audit_row(id).await.unwrap().unwrap();
    assert_eq!((row.outcome.as_str(), row.job), ("refused", None));
    let claim = row.claim.unwrap();
    assert_eq!((claim.before.is_some(), claim.after), (true, None));
}

#[tokio::test]
async fn a_claim_that_was_sent_or_taken_back_meanwhile_has_moved() {
    let file = TestFile::recorded(RECORDED).await;
    file.run("UPDATE OutgoingEmails SET Status = 1, ProviderMessageId = 'msg-0046' WHERE IdempotencyKey = 'invoice-email:46'").await;
    let (_, outcome) = act(&file, ClaimWay::InsertFirst, &on_46(ClaimAction::Reclaim)).await;
    let ClaimOutcome::Moved { now, why } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("msg-0046"), "{why}");
    assert_eq!(now.unwrap().status, ClaimStatus::Sent);
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
    file.run("UPDATE OutgoingEmails SET Status = 0, ClaimedAtUtc = '2026-11-29 19:20:05.1565541' WHERE IdempotencyKey = 'invoice-email:46'").await;
    // One tenth of a microsecond later is another claim.
    let (_, outcome) = act(&file, ClaimWay::InsertFirst, &on_46(ClaimAction::Reclaim)).await;
    assert!(matches!(outcome, ClaimOutcome::Moved { .. }), "{outcome:?}");
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
}

#[tokio::test]
async fn marking_as_sent_keeps_the_providers_id_and_runs_nothing() {
    let file = TestFile::recorded(RECORDED).await;
    let request = on_46(ClaimAction::MarkAsSent {
        provider_id: Some("msg-\"46\"".to_owned()),
    });
    let (id, outcome) = act(&file, ClaimWay::InsertFirst, &request).await;
    let ClaimOutcome::Done {
        claim, job: None, ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        claim,
        Some((ClaimStatus::Sent, Some(ClaimTime::read(TOKEN_46))))
    );
    let claims = rows(&file, CLAIMS).await;
    assert_eq!(
        claims[3],
        format!("invoice-email:46|1|{TOKEN_46}|msg-\"46\"")
    );
    assert_eq!(
        claims[2],
        "invoice-email:45|0|2026-11-29 19:20:04.6335398|NULL"
    );
    let kind = "SELECT typeof(Status) FROM OutgoingEmails WHERE Status = 1 GROUP BY 1";
    assert_eq!(rows(&file, kind).await, ["integer"]);
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
    let row = file.store.audit_row(id).await.unwrap().unwrap();
    assert_eq!(
        row.claim.unwrap().after.as_deref(),
        Some("Sent as msg-\"46\"")
    );
}

#[tokio::test]
async fn a_hand_over_renews_the_claim_in_its_own_format_and_tells_the_job() {
    let formats = [
        "2026-11-29 19:20:05.1565541",
        "2026-11-29T19:20:05Z",
        "639315768051565540",
        "1795980005",
    ];
    for stored in formats {
        let file = TestFile::recorded(RECORDED).await;
        file.run(&format!("UPDATE OutgoingEmails SET ClaimedAtUtc = '{stored}' WHERE IdempotencyKey = 'invoice-email:46'")).await;
        let mut request = on_46(ClaimAction::Reclaim);
        request.seen.claimed_at = Some(stored.to_owned());
        let before = SystemClock.now();
        let (_, outcome) = act(&file, ClaimWay::HandOver, &request).await;
        let ClaimOutcome::Done {
            claim: Some((status, Some(time))),
            job: Some(job),
            ..
        } = outcome
        else {
            panic!("{stored}: {outcome:?}");
        };
        assert_eq!((status, job.job), (ClaimStatus::Sending, 4));
        assert!(
            time.at.unwrap() >= before - TimeDelta::seconds(1),
            "{time:?}"
        );
        let format = |token| Written::of(token).unwrap().1;
        assert_eq!(format(&time.token), format(stored));
        let claims = rows(&file, CLAIMS).await;
        assert_eq!(claims[3], format!("invoice-email:46|0|{}|NULL", time.token));
        let handed = rows(
            &file,
            "SELECT Value, ExpireAt FROM JobParameter WHERE JobId = 4 AND Name = 'Redrive.Claim'",
        )
        .await;
        let [handed] = handed.as_slice() else {
            panic!("{handed:?}");
        };
        let value: serde_json::Value =
            serde_json::from_str(handed.strip_suffix("|0").unwrap()).unwrap();
        assert!(value.to_string().contains(&time.token), "{value}");
        // The other contender saw the same.
        let (_, outcome) = act(&file, ClaimWay::HandOver, &request).await;
        assert!(matches!(outcome, ClaimOutcome::Moved { .. }), "{outcome:?}");
        assert_eq!(rows(&file, QUEUE).await, ["4|default|0"]);
    }
}

#[tokio::test]
async fn a_job_that_takes_claims_itself_is_run_and_its_claim_left() {
    let file = TestFile::recorded(RECORDED).await;
    let (_, outcome) = act(&file, ClaimWay::SelfReclaim, &on_46(ClaimAction::Reclaim)).await;
    assert!(
        matches!(
            &outcome,
            ClaimOutcome::Done {
                claim: Some((ClaimStatus::Sending, _)),
                job: Some(_),
                ..
            }
        ),
        "{outcome:?}"
    );
    assert_eq!(
        rows(&file, CLAIMS).await[3],
        format!("invoice-email:46|0|{TOKEN_46}|NULL")
    );
    assert_eq!(rows(&file, QUEUE).await, ["4|default|0"]);
}

#[tokio::test]
async fn a_claim_without_declared_types_is_changed_as_it_is_stored() {
    let file = TestFile::recorded(RECORDED).await;
    file.run(
        "DROP TABLE OutgoingEmails; CREATE TABLE OutgoingEmails (IdempotencyKey UNIQUE, Status, \
         ClaimedAtUtc, ProviderMessageId); \
         INSERT INTO OutgoingEmails VALUES ('invoice-email:46', 0, 639315768051565540, NULL)",
    )
    .await;
    let mut request = on_46(ClaimAction::Reclaim);
    request.seen.claimed_at = Some("639315768051565540".to_owned());
    let (_, outcome) = act(&file, ClaimWay::HandOver, &request).await;
    assert!(matches!(outcome, ClaimOutcome::Done { .. }), "{outcome:?}");
    let kinds = "SELECT typeof(Status), typeof(ClaimedAtUtc) FROM OutgoingEmails";
    assert_eq!(rows(&file, kinds).await, ["integer|integer"]);
    let token = rows(&file, "SELECT ClaimedAtUtc FROM OutgoingEmails")
        .await
        .remove(0);
    request.seen.claimed_at = Some(token);
    request.action = ClaimAction::MarkAsSent { provider_id: None };
    let (_, outcome) = act(&file, ClaimWay::HandOver, &request).await;
    assert!(matches!(outcome, ClaimOutcome::Done { .. }), "{outcome:?}");
    assert_eq!(rows(&file, kinds).await, ["integer|integer"]);
    assert_eq!(
        rows(&file, "SELECT Status FROM OutgoingEmails").await,
        ["1"]
    );
}

#[tokio::test]
async fn a_job_that_hangfire_holds_leaves_the_claim_as_it_is() {
    let file = TestFile::recorded(RECORDED).await;
    let soon = crate::store::sqlite::ticks::ticks(SystemClock.now() + TimeDelta::seconds(20));
    file.run(&format!(
        "INSERT INTO DistributedLock VALUES ('x', 'HangFire:job:4:state-lock', 'y', {soon})"
    ))
    .await;
    for way in [
        ClaimWay::InsertFirst,
        ClaimWay::HandOver,
        ClaimWay::SelfReclaim,
    ] {
        let (id, outcome) = act(&file, way, &on_46(ClaimAction::Reclaim)).await;
        assert!(matches!(outcome, ClaimOutcome::Busy { .. }), "{outcome:?}");
        nothing_changed(&file).await;
        let row = file.store.audit_row(id).await.unwrap().unwrap();
        assert_eq!(
            (row.outcome.as_str(), row.job, row.after),
            ("busy", Some(4), None)
        );
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_or_busy() {
    let file = TestFile::recorded(RECORDED).await;
    let request = on_46(ClaimAction::Reclaim);
    let shape = shaped(&file, ClaimWay::InsertFirst).await;
    let read_only = SqliteStore::lazy(
        &file.path,
        file.store.inner.clock.clone(),
        Some("It is set to read-only.".into()),
    );
    let seen = read_only
        .shape(&ruled(ClaimWay::InsertFirst))
        .await
        .unwrap();
    assert_eq!(seen.read_only.as_deref(), Some("It is set to read-only."));
    let outcome = read_only
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(
        matches!(&outcome, ClaimOutcome::Refused { why } if why == "It is set to read-only."),
        "{outcome:?}"
    );
    let mut other = file.connect().await;
    let writing = sqlx::Connection::begin_with(&mut other, "BEGIN IMMEDIATE")
        .await
        .unwrap();
    let outcome = file
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(
        matches!(&outcome, ClaimOutcome::Busy { why } if why.contains("Another process")),
        "{outcome:?}"
    );
    writing.rollback().await.unwrap();
    nothing_changed(&file).await;
    // The key is no longer unique: two rows would be changed.
    file.run("CREATE TABLE copy AS SELECT * FROM OutgoingEmails; DROP TABLE OutgoingEmails; ALTER TABLE copy RENAME TO OutgoingEmails; INSERT INTO OutgoingEmails SELECT * FROM OutgoingEmails WHERE IdempotencyKey = 'invoice-email:46'").await;
    let outcome = file
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(
        matches!(&outcome, ClaimOutcome::Refused { .. }),
        "{outcome:?}"
    );
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
    file.run("DROP TABLE OutgoingEmails").await;
    let outcome = file
        .store
        .act_on_claim(SystemClock.new_id(), &shape, &request)
        .await;
    assert!(
        matches!(&outcome, ClaimOutcome::Refused { why } if why.contains("OutgoingEmails")),
        "{outcome:?}"
    );
    assert_eq!(rows(&file, QUEUE).await, [""; 0]);
}
