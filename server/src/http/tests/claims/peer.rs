//! Claims that the jobs of a real server leave behind, and the emails that its provider delivers.

use app::model::state::StateName;

use super::*;
use crate::testing::peer::{Peer, until};
use crate::testing::postgres::TestDatabase;

/// A running server, and everything of ours on its database.
struct Live {
    claims: Claims,
    peer: Peer,
}

impl Live {
    /// Where the provider remembers a key for this many seconds; 0: whatever is sent, is delivered.
    async fn on_sqlite(remembers: u32, rules: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("live.db");
        let window = remembers.to_string();
        let peer = Peer::on_sqlite(&file, &["--ProviderWindowSeconds", &window]).await?;
        let database = Database::of_file(file).await;
        Some(Self::over(database, folder, rules, peer).await)
    }

    async fn on_postgres(remembers: u32, rules: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let database = TestDatabase::empty().await?;
        let window = remembers.to_string();
        let peer = Peer::on_postgres(&database, &["--ProviderWindowSeconds", &window]).await?;
        let database = Database::of_database(database).await;
        Some(Self::over(database, folder, rules, peer).await)
    }

    async fn over(database: Database, folder: TempDir, rules: &str, peer: Peer) -> Self {
        let provider = format!("{}/provider/emails/{{key}}", peer.url());
        let claims = Claims::over(database, folder, rules, &provider).await;
        Self { claims, peer }
    }

    /// The names of a job's states, once it rests as Succeeded after so many attempts.
    async fn succeeds(&self, job: i64, attempts: usize) -> Vec<String> {
        let what = format!("job {job} succeeds with attempt {attempts}");
        until(&what, async || {
            let record = self.claims.store().job(job, 100).await.unwrap()?;
            let rests = record.state.name == Some(StateName::Succeeded)
                && !record.state.unsettled
                && record.queue_rows.is_empty();
            let names = record.states.iter().map(|row| row.name.to_string());
            let names: Vec<String> = names.collect();
            let runs = names.iter().filter(|name| *name == "Processing").count();
            (rests && runs == attempts).then_some(names)
        })
        .await
    }

    /// The stale claim's time, once the page lists it.
    async fn stale(&self, key: &str) -> String {
        until("the page lists it as stale", async || {
            let page = self.claims.site.get("/s/main/claims").await.body;
            rows(&page)
                .iter()
                .any(|(listed, _)| listed == key)
                .then_some(())
        })
        .await;
        self.claims.time(key).await
    }
}

/// A server on either kind of database, for each check. Each says loudly where it is skipped.
macro_rules! live_on_both {
    ($($name:ident($remembers:expr, $rules:expr)),+ $(,)?) => {
        mod sqlite {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(live) = Live::on_sqlite($remembers, $rules).await {
                    super::$name(live).await;
                }
            })+
        }
        mod postgres {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(live) = Live::on_postgres($remembers, $rules).await {
                    super::$name(live).await;
                }
            })+
        }
    };
}

const INSERT_FIRST: &str = "cutoff = \"1s\"\n window = \"24h\"";
const SELF_RECLAIM: &str = "jobs = \"self-reclaim\"";
/// Long enough to be asked after a retry, in seconds.
const REMEMBERS: u32 = 15;

live_on_both! {
    one_left_before_the_send_goes_out_once(0, INSERT_FIRST),
    one_left_after_the_send_is_not_delivered_again(REMEMBERS, INSERT_FIRST),
    a_job_and_an_operator_reclaim_one_claim(0, SELF_RECLAIM),
}

async fn one_left_before_the_send_goes_out_once(live: Live) {
    let Live { claims, peer } = &live;
    for (order, action) in [(1, "release"), (2, "reclaim")] {
        let key = format!("invoice-email:{order}");
        let job = peer.enqueue("email-die-before", order).await;
        // The first run claims and dies; the second finds the claim and skips.
        live.succeeds(job, 2).await;
        assert_eq!(peer.deliveries().await, order - 1);
        assert_eq!(claims.row(&key).await, Some((0, None)));
        let time = live.stale(&key).await;
        let form = of(&key, &time);
        // Two people click at the same moment.
        let (one, two) = tokio::join!(claims.act(action, &form), claims.act(action, &form));
        let (done, not): (Vec<_>, Vec<_>) = [one, two]
            .into_iter()
            .partition(|(_, body)| body["outcome"] == "done");
        assert_eq!(
            (done.len(), &done[0].1["job"]),
            (1, &json!(job)),
            "{done:?}"
        );
        let outcome = not[0].1["outcome"].as_str().unwrap();
        assert!(["gone", "moved", "busy"].contains(&outcome), "{not:?}");
        assert_eq!(
            live.succeeds(job, 3).await,
            [
                "Enqueued",
                "Processing",
                "Failed",
                "Scheduled",
                "Enqueued",
                "Processing",
                "Succeeded",
                "Enqueued",
                "Processing",
                "Succeeded"
            ]
        );
        let sent = Some(format!("msg-{order:04}"));
        assert_eq!(claims.row(&key).await, Some((1, sent)));
        assert_eq!(peer.deliveries().await, order);
    }
}

async fn one_left_after_the_send_is_not_delivered_again(live: Live) {
    let Live { claims, peer } = &live;
    let key = "invoice-email:7";
    let job = peer.enqueue("email-die-after", 7).await;
    live.succeeds(job, 2).await;
    assert_eq!(peer.deliveries().await, 1);
    let time = live.stale(key).await;
    let (status, body) = claims.act("ask-provider", &of(key, &time)).await;
    assert_eq!((status, &body["answer"]), (200, &json!("known")), "{body}");
    assert_eq!(body["provider_message_id"], "msg-0001");
    let page = claims.site.get("/s/main/claims").await.body;
    assert_eq!(rows(&page), [(key.to_owned(), "unknown".to_owned())]);
    assert!(page.contains("msg-0001"), "{page}");
    let claim = of(key, &time);
    let form = [claim[0], claim[1], ("provider_message_id", "msg-0001")];
    let (status, body) = claims.act("mark-sent", &form).await;
    assert_eq!((status, &body["outcome"]), (200, &json!("done")), "{body}");
    // From now on the provider would deliver whatever is sent again.
    until("the provider has forgotten the key", async || {
        let asked = peer.ask("GET", "/provider/emails/invoice-email:7").await;
        asked.is_none().then_some(())
    })
    .await;
    let record = claims.store().job(job, 1).await.unwrap().unwrap();
    let form = format!(
        "source=main&job={job}&state=Succeeded&state_id={}",
        record.state.id.unwrap()
    );
    let json = [("accept", "application/json")];
    let answer = claims.site.post("/api/requeue", &form, &json).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    live.succeeds(job, 3).await;
    assert_eq!(peer.deliveries().await, 1);
    let sent = Some("msg-0001".to_owned());
    assert_eq!(claims.row(key).await, Some((1, sent)));
}

/// The moments at which the operator acts, in turn.
#[derive(Clone, Copy)]
enum Moment {
    /// Before the job is created.
    Before,
    /// While the job is being created.
    Created,
    /// While it runs.
    Runs,
    /// When it has taken the claim.
    Took,
}

async fn a_job_and_an_operator_reclaim_one_claim(live: Live) {
    let Live { claims, peer } = &live;
    let moments = [Moment::Before, Moment::Created, Moment::Runs, Moment::Took];
    let actions = ["reclaim", "release"].into_iter();
    let all = actions.flat_map(|action| moments.map(|moment| (action, moment)));
    for (order, (action, moment)) in (1..).zip(all) {
        let key = format!("invoice-email:{order}");
        // Somebody claimed it and died; a job found the fresh claim, and skipped.
        let database = &claims.database;
        database
            .insert_sending(&key, &database.minutes_ago(0))
            .await;
        let skipped = peer.enqueue("email-reclaim", order).await;
        live.succeeds(skipped, 1).await;
        database
            .execute(&format!(
                r#"UPDATE "OutgoingEmails" SET "ClaimedAtUtc" = {} WHERE "IdempotencyKey" = '{key}'"#,
                database.minutes_ago(20)
            ))
            .await;
        let (id, time) = (database.claim_id(&key).await, live.stale(&key).await);
        let job = skipped.to_string();
        let form = [
            ("key", &*key),
            ("claimed_at", &time),
            ("job", &job),
            ("may_deliver_twice", "true"),
            ("reason", "customer waits"),
        ];
        let operator = async |moment, other: i64| {
            while !has_come(&live, moment, other, &key, &time).await {
                tokio::task::yield_now().await;
            }
            claims.act(action, &form).await
        };
        let ((status, body), other) = match moment {
            Moment::Before => {
                let answer = operator(moment, 0).await;
                (answer, peer.enqueue("email-reclaim", order).await)
            }
            Moment::Created => {
                tokio::join!(operator(moment, 0), peer.enqueue("email-reclaim", order))
            }
            Moment::Runs | Moment::Took => {
                let other = peer.enqueue("email-reclaim", order).await;
                (operator(moment, other).await, other)
            }
        };
        let done = body["outcome"] == "done";
        assert!(
            done || [404, 409, 422].contains(&status),
            "round {order}: {body}"
        );
        // In between either may win.
        match moment {
            Moment::Before => assert!(done, "round {order}: {body}"),
            Moment::Took => assert!(!done, "round {order}: {body}"),
            Moment::Created | Moment::Runs => {}
        }
        live.succeeds(other, 1).await;
        live.succeeds(skipped, 1 + usize::from(done)).await;
        // Who of the two took it away, if both could: the operator's release leaves another row.
        let is_same = database.claim_id(&key).await == id;
        assert_eq!(is_same, !(done && action == "release"), "round {order}");
        let sent = Some(format!("msg-{order:04}"));
        assert_eq!(claims.row(&key).await, Some((1, sent)), "round {order}");
        assert_eq!(peer.deliveries().await, order, "round {order}: {body}");
    }
}

/// Whether the moment has come, or was missed.
async fn has_come(live: &Live, moment: Moment, other: i64, key: &str, seen: &str) -> bool {
    match moment {
        Moment::Before | Moment::Created => true,
        Moment::Runs => {
            let record = live.claims.store().job(other, 1).await.unwrap().unwrap();
            record.state.name != Some(StateName::Enqueued)
        }
        Moment::Took => live.claims.time(key).await != seen,
    }
}
