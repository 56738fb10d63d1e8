//! Whatever is found, a verdict of safe rests on something.

use proptest::prelude::*;

use super::*;
use crate::model::attempt::Outcome;
use crate::model::claim::ClaimStatus;
use crate::model::claim::testing::arbitrary::cases;
use crate::model::state::StateName;
use crate::model::timeline::History;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Safe needs a job that ran, a claim time, nothing that runs on a live server, and one of
    /// three proofs; each checked here from the facts alone.
    #[test]
    fn safe_rests_on_a_proof(case in cases()) {
        let evidence = case.evidence();
        let verdict = case.verdict();
        prop_assert!(verdict.why.ends_with('.'), "{}", verdict.why);
        let lives = |name: &str| {
            name == LIVE || (name == DEAD && case.servers[1].heartbeat_age_ms <= 300_000)
        };
        let runs_now = case.owners.iter().any(|owner| {
            owner.state == Some(StateName::Processing)
                && owner.timeline.attempts().next_back().is_some_and(|attempt| {
                    attempt.server.as_deref().is_some_and(lives)
                })
        });
        prop_assert_eq!(runs_now, verdict.judgement == Judgement::Running);
        if verdict.judgement != Judgement::Safe {
            return Ok(());
        }
        prop_assert!(!case.owners.is_empty());
        let claimed_at = case.claim.at().unwrap();
        prop_assert!(claimed_at <= now() + chrono::Duration::seconds(1));
        let first = case
            .owners
            .iter()
            .flat_map(|owner| {
                let starts = owner.timeline.attempts().map(|attempt| attempt.started_at);
                starts.chain(
                    (owner.timeline.history != History::Whole)
                        .then_some(owner.created_at),
                )
            })
            .chain(case.earlier.iter().filter_map(|time| time.at))
            .chain([claimed_at])
            .min()
            .unwrap();
        let until = case
            .table
            .window_ms
            .map(|ms| first + chrono::Duration::milliseconds(ms));
        let replayed = until.is_some_and(|until| until >= now() + chrono::Duration::seconds(60));
        let denied = case.asked.as_ref().is_some_and(|asked| {
            let remembers = case.table.provider.as_ref().unwrap().permanent
                || until.is_some_and(|until| asked.at <= until);
            let all_before = case.owners.iter().all(|owner| {
                owner.timeline.attempts().all(|attempt| {
                    attempt.started_at < asked.at
                        && attempt.ended_at.is_none_or(|ended| {
                            ended < asked.at || attempt.outcome == Outcome::Lost
                                || matches!(attempt.outcome, Outcome::PutBack(_)
                                    | Outcome::Cancelled)
                        })
                })
            });
            asked.answer == Answer::Denied && asked.at > claimed_at && remembers && all_before
        });
        let proven = evidence.holder.as_ref().is_some_and(|holder| {
            holder.failure.as_ref().and_then(|f| f.0.as_deref()) == Some("App.Refused")
        }) && case.earlier.iter().all(|time| Some(time) == case.claim.claimed_at.as_ref());
        prop_assert!(replayed || denied || proven, "{}", verdict.why);
        let known = case.asked.as_ref().map(|asked| &asked.answer);
        prop_assert_ne!(known, Some(&Answer::Known(None)));
    }

    /// Only Sending claims are ever safe or running.
    #[test]
    fn other_claims_are_never_offered(case in cases(), sent in any::<bool>()) {
        let mut case = case;
        case.claim.status = if sent {
            ClaimStatus::Sent
        } else {
            ClaimStatus::Other("2".to_owned())
        };
        prop_assert_eq!(case.verdict().judgement, Judgement::Unknown);
    }
}
