//! The reasons of verdicts in sentences.

use super::room_ms;
use crate::model::claim::ClaimStatus;
use crate::model::claim::evidence::{
    Answer, CLOCKS_MS, Evidence, Facts, FirstSend, Holder, May, Run,
};
use crate::model::claim::keys::Match;
use crate::model::words::{ago, clock, span};

/// Characters of an unreadable claim time that are shown.
const TOKEN_CHARS: usize = 40;

/// That there is nothing to judge, where there is not.
pub(super) fn not_sending(facts: &Facts<'_>) -> Option<String> {
    match &facts.claim.status {
        ClaimStatus::Sending => None,
        ClaimStatus::Sent => Some(match &facts.claim.provider_id {
            Some(id) => format!("It was sent, as {id}: there is nothing to resend."),
            None => "It was sent: there is nothing to resend.".to_owned(),
        }),
        ClaimStatus::Other(_) => Some(format!(
            "Its status is {}: the table's description does not say what that means.",
            facts.claim.status
        )),
    }
}

/// Who runs now.
pub(super) fn running(run: &Holder) -> String {
    let on = run.server.as_deref().unwrap_or_default();
    let age = span(run.heartbeat_age_ms.unwrap_or_default());
    format!(
        "Job #{} is running: attempt {} on server {on}, which reported {age} ago.",
        run.job, run.attempt
    )
}

/// The provider knows the key.
pub(super) fn delivered(id: Option<&str>, facts: &Facts<'_>, evidence: &Evidence) -> String {
    let id = id.map(|id| format!(", as {id}")).unwrap_or_default();
    let resend = match room_ms(facts, evidence) {
        Some(room) if room > 0 => format!(
            "Resending would only replay it, while the provider's window is open: for {} more.",
            span(room)
        ),
        Some(room) => format!(
            "Resending may deliver it a second time: the provider's window closed {} ago.",
            span(room.saturating_neg())
        ),
        None => "Resending may deliver it a second time: it is not known until when the provider \
                 replays a key."
            .to_owned(),
    };
    format!("The provider knows the key{id}: it was delivered. Mark it as sent. {resend}")
}

/// What is wrong with the claim time, if anything.
pub(super) fn no_claim_time(facts: &Facts<'_>, evidence: &Evidence) -> Option<String> {
    let what = match (&facts.claim.claimed_at, evidence.age_ms) {
        (_, Some(age)) if age >= -CLOCKS_MS => return None,
        (_, Some(age)) => format!(
            "Its claim time lies {} in the future",
            span(age.saturating_neg())
        ),
        (None, None) if facts.table.columns.claimed_at.is_none() => {
            "The table has no column for the claim time".to_owned()
        }
        (None, None) => "It has no claim time".to_owned(),
        (Some(time), None) => {
            let shown: String = time.token.chars().take(TOKEN_CHARS).collect();
            format!("Its claim time, \"{shown}\", cannot be read")
        }
    };
    Some(format!("{what}, so nobody can say when it was first sent."))
}

/// A repeat is replayed.
pub(super) fn replayed(first: &FirstSend, room_ms: i64, facts: &Facts<'_>) -> String {
    let window = span(facts.table.window_ms.unwrap_or_default());
    format!(
        "The provider replays a repeat of this key for {} more: its window of {window} counts from \
         {}, when {}.",
        span(room_ms),
        clock(first.at),
        first.from
    )
}

/// Why a repeat may not be replayed.
pub(super) fn no_replay(facts: &Facts<'_>, evidence: &Evidence) -> String {
    let Some(first) = &evidence.first_send else {
        return nobody_knows(facts);
    };
    match room_ms(facts, evidence) {
        None => "The provider's window is not known: a repeat may be delivered again.".to_owned(),
        Some(room) if room > 0 => format!(
            "The provider's window closes in {}, too soon for a resend to fall into it.",
            span(room)
        ),
        Some(room) => format!(
            "The provider's window closed {} ago: it counts from {}, when {}.",
            span(room.saturating_neg()),
            clock(first.at),
            first.from
        ),
    }
}

fn nobody_knows(facts: &Facts<'_>) -> String {
    let what = if facts.owners.is_empty() {
        "No job behind it is known"
    } else if facts.owners.iter().any(|owner| owner.by == Match::Rule) {
        "No job behind it has run"
    } else {
        "The jobs that may stand behind it did not run when it was claimed"
    };
    format!("{what}, so nobody can say when it was first sent.")
}

/// What the provider was not asked, or did not tell; nothing where it denied the key.
pub(super) fn not_asked(facts: &Facts<'_>) -> Option<String> {
    match facts.asked {
        Some(asked) => match &asked.answer {
            Answer::NotKnown(what) => Some(format!(
                "The provider, asked {}, did not tell: {}.",
                ago(asked.at, facts.now),
                what.trim_end_matches('.')
            )),
            Answer::Known(_) | Answer::Denied => None,
        },
        None if facts.table.provider.is_some() => {
            Some("The provider has not been asked yet.".to_owned())
        }
        None => Some("Redrive does not know how to ask the provider.".to_owned()),
    }
}

/// That a run was cut off or put back, but may go on: rows end an attempt, not its worker.
pub(super) fn may_go_on(facts: &Facts<'_>) -> Option<String> {
    let run = Run::all(facts).find(|run| run.may_go_on(facts) == May::Still)?;
    let name = run.name().replacen('a', "A", 1);
    Some(format!("{name} {}.", run.still()))
}
