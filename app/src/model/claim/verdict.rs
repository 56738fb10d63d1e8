//! The verdict on a Sending claim.

mod denial;
mod proof;
#[cfg(test)]
mod tests;
mod words;

use super::evidence::{Answer, Evidence, Facts};

/// What may be concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// A live server runs a job behind it at this moment: nothing is offered.
    Running,
    /// A repeat cannot deliver twice.
    Safe,
    /// Everything else: resending may deliver twice.
    Unknown,
}

impl Judgement {
    /// The word in hooks: `running safe unknown`.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Safe => "safe",
            Self::Unknown => "unknown",
        }
    }

    /// The words for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Running => "Still running",
            Self::Safe => "Safe to resend",
            Self::Unknown => "Outcome unknown",
        }
    }
}

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What.
    pub judgement: Judgement,
    /// Why, in a sentence.
    pub why: String,
}

/// What the provider's window must stay open for, so that a resend still falls into it, in
/// milliseconds.
const ROOM_MS: i64 = 60_000;

impl Verdict {
    /// Judges a claim. Never fails: where nothing can be proven the outcome is unknown, and the
    /// reason says what is missing.
    pub fn of(facts: &Facts<'_>, evidence: &Evidence) -> Self {
        if let Some(why) = words::not_sending(facts) {
            return Self::unknown(why);
        }
        if let Some(run) = &evidence.running {
            return Self {
                judgement: Judgement::Running,
                why: words::running(run),
            };
        }
        if let Some(asked) = facts.asked
            && let Answer::Known(id) = &asked.answer
        {
            return Self::unknown(words::delivered(id.as_deref(), facts, evidence));
        }
        if let Some(why) = words::no_claim_time(facts, evidence) {
            return Self::unknown(why);
        }
        if let (Some(first), Some(room)) = (&evidence.first_send, room_ms(facts, evidence))
            && room >= ROOM_MS
        {
            return Self::safe(words::replayed(first, room, facts));
        }
        let denial = denial::of(facts, evidence);
        if let Some(Ok(why)) = denial {
            return Self::safe(why);
        }
        if let Some(why) = proof::nothing_sent(facts) {
            return Self::safe(why);
        }
        let mut why = vec![words::no_replay(facts, evidence)];
        why.extend(match denial {
            Some(denial) => denial.err(),
            None => words::may_go_on(facts),
        });
        why.extend(words::not_asked(facts));
        Self::unknown(why.join(" "))
    }

    fn safe(why: String) -> Self {
        Self {
            judgement: Judgement::Safe,
            why,
        }
    }

    fn unknown(why: String) -> Self {
        Self {
            judgement: Judgement::Unknown,
            why,
        }
    }
}

/// For how long the provider's window stays open, in milliseconds; negative where it is closed,
/// `None` where it is not known.
fn room_ms(facts: &Facts<'_>, evidence: &Evidence) -> Option<i64> {
    let closes = evidence.window_closes?.timestamp_micros();
    let room = closes.saturating_sub(facts.now.timestamp_micros());
    Some(room.div_euclid(1_000))
}
