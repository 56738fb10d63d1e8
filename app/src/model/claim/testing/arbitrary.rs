//! Claims at random, with whatever may stand behind them.

use proptest::prelude::*;

use super::{
    Case, DEAD, LIVE, Row, ago_s, claimed, failed, guessed, owner_created, provider, runs, server,
    state,
};
use crate::model::claim::ClaimTime;
use crate::model::claim::evidence::{Answer, Owner};
use crate::model::claim::table::ClaimWay;

fn row() -> impl Strategy<Value = Row> {
    let servers = prop::sample::select(vec![LIVE, DEAD, "gone-1:1:cccc"]);
    let names = prop::sample::select(vec![
        "Enqueued",
        "Scheduled",
        "Processing",
        "Processing",
        "Succeeded",
        "Failed",
        "Deleted",
        "Awaiting",
        "Parked",
    ]);
    let exceptions = prop::sample::select(vec!["App.X", "App.Refused"]);
    (names, 0..4_000_i64, servers, exceptions).prop_map(|(name, ago, server, exception)| match name
    {
        "Processing" => runs(ago, server),
        "Failed" => failed(ago, exception),
        other => state(other, ago),
    })
}

fn owners() -> impl Strategy<Value = Vec<Owner>> {
    let rows = prop::collection::vec(row(), 0..6).prop_map(|mut rows| {
        rows.sort_by_key(|row| -row.1);
        rows
    });
    let one = (rows, 0..5_000_i64, any::<bool>());
    prop::collection::vec(one, 0..3).prop_map(|owners| {
        (1..)
            .zip(owners)
            .map(|(job, (rows, extra, guess))| {
                let oldest = rows.first().map_or(0, |row| row.1);
                // Half of the histories are whole.
                let extra = if extra < 2_500 { 0 } else { extra };
                let owner = owner_created(job, ago_s(oldest + extra), &rows);
                if guess { guessed(owner) } else { owner }
            })
            .collect()
    })
}

fn answers() -> impl Strategy<Value = Option<(i64, Answer)>> {
    let answer = prop::sample::select(vec![
        Answer::Known(None),
        Answer::Denied,
        Answer::Denied,
        Answer::NotKnown("down".to_owned()),
    ]);
    prop::option::of((0..4_000_i64, answer))
}

prop_compose! {
    /// Claims with whatever may stand behind them.
    pub(crate) fn cases()(
        owners in owners(),
        claimed_ago in prop::option::weighted(0.95, -100..4_000_i64),
        window in prop::option::of(0..6_000_i64),
        asked in answers(),
        permanent in any::<bool>(),
        silent in 0..700_i64,
        earlier in prop::collection::vec(0..6_000_i64, 0..2),
        way in prop::sample::select(
            vec![ClaimWay::InsertFirst, ClaimWay::SelfReclaim, ClaimWay::HandOver]
        ),
    ) -> Case {
        let mut case = Case::claimed(0).way(way);
        case.claim.claimed_at = match claimed_ago {
            Some(ago) => Some(claimed(ago_s(ago))),
            None => Some(ClaimTime::read("unreadable")),
        };
        case.owners = owners;
        case.table.window_ms = window.map(|s| s * 1_000);
        case.table.nothing_sent_on = vec!["Refused".to_owned()];
        case.servers.push(server(DEAD, silent));
        case.earlier = earlier.into_iter().map(|ago| claimed(ago_s(ago))).collect();
        if let Some((ago, answer)) = asked {
            case = case.answered(ago, answer);
            case.table.provider = Some(provider(permanent));
        }
        case
    }
}
