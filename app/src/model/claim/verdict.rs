//! The verdict on a Sending claim.

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
