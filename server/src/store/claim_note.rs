//! What an audit row keeps of a claim beside its table, key and claim time: JSON of one column, in
//! both dialects.

use app::model::claim::evidence::Answer;
use app::model::claim::{Claim, ClaimStatus, ClaimTime};
use serde::{Deserialize, Serialize};

/// The column's object. Members of a newer Redrive are passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimNote {
    /// What the claim was before, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it was afterwards, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The provider's message id that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// What the provider answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Said>,
}

/// An answer of the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "kebab-case")]
pub enum Said {
    /// It knows the key.
    Known {
        /// The message id, where it told one.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// It does not know it.
    Denied,
    /// Nothing that tells.
    NotKnown {
        /// Why, in words.
        why: String,
    },
}

impl From<&Answer> for Said {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Known(message_id) => Self::Known {
                message_id: message_id.clone(),
            },
            Answer::Denied => Self::Denied,
            Answer::NotKnown(why) => Self::NotKnown { why: why.clone() },
        }
    }
}

impl From<Said> for Answer {
    fn from(said: Said) -> Self {
        match said {
            Said::Known { message_id } => Self::Known(message_id),
            Said::Denied => Self::Denied,
            Said::NotKnown { why } => Self::NotKnown(why),
        }
    }
}

impl ClaimNote {
    /// Reads a stored text; what cannot be read says nothing.
    pub fn read(json: Option<&str>) -> Self {
        json.and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default()
    }

    /// The text to store.
    pub fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// A claim's state in words: `Sending since 2026-11-02 12:00:00+00`, `Sent as msg-0102`.
pub fn words(
    status: &ClaimStatus,
    claimed_at: Option<&ClaimTime>,
    provider_id: Option<&str>,
) -> String {
    match (status, claimed_at, provider_id) {
        (ClaimStatus::Sent, _, Some(id)) => format!("Sent as {id}"),
        (ClaimStatus::Sent, _, None) => "Sent".to_owned(),
        (status, Some(at), _) => format!("{status} since {}", at.token),
        (status, None, _) => status.to_string(),
    }
}

/// [`words`] of a row.
pub fn words_of(claim: &Claim) -> String {
    words(
        &claim.status,
        claim.claimed_at.as_ref(),
        claim.provider_id.as_deref(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_nonsense_as_nothing() {
        let note = ClaimNote {
            before: Some("Sending since 2026-11-02 12:00:00+00".to_owned()),
            after: None,
            provider_id: Some("msg-\"1\"".to_owned()),
            answer: Some(Said::from(&Answer::Known(Some("msg-1".to_owned())))),
        };
        assert_eq!(ClaimNote::read(Some(&note.written())), note);
        let newer = r#"{"after":"Sent","answer":{"said":"denied"},"more":[1]}"#;
        let read = ClaimNote::read(Some(newer));
        assert_eq!(read.after.as_deref(), Some("Sent"));
        assert_eq!(read.answer.map(Answer::from), Some(Answer::Denied));
        for nonsense in [None, Some(""), Some("[]"), Some(r#"{"answer":7}"#)] {
            assert_eq!(ClaimNote::read(nonsense), ClaimNote::default());
        }
    }

    #[test]
    fn a_claim_is_told_in_words() {
        let at = ClaimTime::read("2026-11-02 12:00:00+00");
        let other = ClaimStatus::Other("2".to_owned());
        assert_eq!(
            words(&ClaimStatus::Sending, Some(&at), None),
            "Sending since 2026-11-02 12:00:00+00"
        );
        assert_eq!(words(&ClaimStatus::Sending, None, Some("m")), "Sending");
        assert_eq!(words(&ClaimStatus::Sent, Some(&at), None), "Sent");
        assert_eq!(words(&ClaimStatus::Sent, Some(&at), Some("m")), "Sent as m");
        assert_eq!(words(&other, None, None), "unknown (2)");
    }
}
