//! Two operators at the same moment.

use app::actions::claim::{ClaimAction, ClaimOutcome};
use app::model::claim::table::ClaimWay;

use super::acts::{asked, claim, claimed};
use super::jobs::FAILED;
use super::{Bench, MINUTE, ago};
use crate::clock::{Clock as _, SystemClock};

/// How many rounds: a few by default, more where `REDRIVE_ROUNDS` says so.
pub fn rounds(usual: u32) -> u32 {
    std::env::var("REDRIVE_ROUNDS").map_or(usual, |rounds| rounds.parse().unwrap())
}

/// In each round two reclaims of one stale claim: exactly one wins, whatever the way, and its job is
/// queued once. The statements `failed_again` bring
/// the job back to where it failed.
pub async fn one_of_two_reclaims_wins(
    bench: &dyn Bench,
    way: ClaimWay,
    rounds: u32,
    failed_again: &str,
) {
    let shape = claimed(bench, way).await;
    for round in 0..rounds {
        let action = ClaimAction::Reclaim;
        let request = asked(bench, &shape, 103, action).await;
        let act = |request| {
            bench
                .store()
                .act_on_claim(SystemClock.new_id(), &shape, request)
        };
        let (one, two) = tokio::join!(act(&request), act(&request));
        let won = [&one, &two]
            .into_iter()
            .filter(|o| matches!(o, ClaimOutcome::Done { .. }));
        assert_eq!(won.count(), 1, "round {round}: {one:?} {two:?}");
        let lost = [&one, &two]
            .into_iter()
            .find(|o| !matches!(o, ClaimOutcome::Done { .. }));
        assert!(
            matches!(
                lost,
                Some(ClaimOutcome::Moved { .. } | ClaimOutcome::Gone | ClaimOutcome::Busy { .. })
            ),
            "round {round}: {lost:?}"
        );
        let now = claim(bench, &shape, 103).await;
        match way {
            ClaimWay::HandOver => {
                let token = now.and_then(|now| now.claimed_at).map(|time| time.token);
                assert_ne!(token, request.seen.claimed_at);
            }
            ClaimWay::InsertFirst => assert_eq!(now, None),
            ClaimWay::SelfReclaim => {}
        }
        let record = bench.store().job(FAILED, 10).await.unwrap().unwrap();
        assert_eq!(record.queue_rows.len(), 1, "round {round}");
        let renewed = format!(
            "DELETE FROM \"OutgoingEmails\" WHERE \"IdempotencyKey\" = 'invoice-email:103'; \
             INSERT INTO \"OutgoingEmails\" (\"IdempotencyKey\", \"Status\", \"ClaimedAtUtc\") \
             VALUES ('invoice-email:103', 0, {}); {failed_again}",
            bench.at(ago(25 * MINUTE))
        );
        bench.execute(&renewed).await;
    }
}
