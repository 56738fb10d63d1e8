//! Whose hand it was: what the reasons that people leave say.

use crate::model::timeline::Decision;
use crate::pages::job::kit;
use crate::ports::audit::AuditRow;

/// Who did something by hand, and why, as far as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hand {
    /// Who, as the subject of a sentence.
    pub who: String,
    /// Their reason.
    pub why: Option<String>,
    /// Whether the audit knows of it.
    pub audited: bool,
}

/// Reads a state row's reason, and the audit row that names the state row, if any.
pub(super) fn hand(reason: Option<&str>, state_id: i64, audit: &[AuditRow]) -> Hand {
    let audited = audit
        .iter()
        .find(|row| row.after.as_ref().is_some_and(|(_, id)| *id == state_id));
    if let Some(row) = audited {
        return Hand {
            who: kit::line(&row.actor, 60),
            why: row.reason.as_deref().map(|why| kit::line(why, 1000)),
            audited: true,
        };
    }
    let plain = |who: &str| Hand {
        who: who.to_owned(),
        why: None,
        audited: false,
    };
    match reason {
        None => plain("Somebody, or a program"),
        Some("Triggered via Dashboard UI") => plain("Somebody, in Hangfire\u{2019}s dashboard,"),
        Some(reason) => match by_redrive(reason) {
            Some((who, why)) => Hand {
                who: kit::line(who, 60),
                why: why.map(|why| kit::line(why, 200)),
                audited: false,
            },
            None => Hand {
                who: "Somebody, or a program".to_owned(),
                why: Some(kit::line(reason, 200)),
                audited: false,
            },
        },
    }
}

/// `Requeued by ada via Redrive: supplier is back` is `ada` and `supplier is back`.
fn by_redrive(reason: &str) -> Option<(&str, Option<&str>)> {
    let rest = [
        "Requeued by ",
        "Enqueued now by ",
        "Deleted by ",
        "Restored by ",
    ]
    .into_iter()
    .find_map(|verb| reason.strip_prefix(verb))?;
    let (who, rest) = rest.split_once(" via Redrive")?;
    Some((who, rest.strip_prefix(": ")))
}

/// A few words for the line: `ada requeued it`.
pub(super) fn caption(decision: &Decision, audit: &[AuditRow]) -> String {
    let hand = hand(decision.reason.as_deref(), decision.state_id, audit);
    let verb = match decision.opens_round {
        Some(_) => "requeued",
        None => "enqueued",
    };
    if hand.who.starts_with("Somebody") {
        format!("{verb} by hand")
    } else {
        format!("{} {verb} it", kit::line(&hand.who, 24))
    }
}
