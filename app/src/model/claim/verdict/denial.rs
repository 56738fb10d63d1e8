//! The provider denies the key: whether that proves that nothing was sent.

use crate::model::claim::evidence::{Answer, Evidence, Facts, May, Run};
use crate::model::words::ago;

/// `None` where it did not deny the key; else why that proves it, or why it does not.
pub(super) fn of(facts: &Facts<'_>, evidence: &Evidence) -> Option<Result<String, String>> {
    let asked = facts.asked.filter(|asked| asked.answer == Answer::Denied)?;
    let when = ago(asked.at, facts.now);
    Some(match doubt(facts, evidence) {
        None => Ok(format!(
            "The provider, asked {when}, does not know the key, and nothing has run since: nothing \
             was sent."
        )),
        Some(doubt) => Err(format!(
            "The provider did not know the key {when}, but {doubt}."
        )),
    })
}

/// Why it proves nothing, if so.
fn doubt(facts: &Facts<'_>, evidence: &Evidence) -> Option<String> {
    let asked = facts.asked?.at;
    if evidence.first_send.is_none() {
        return Some("a run that nobody knows of may have sent since".to_owned());
    }
    if facts.claim.at().is_none_or(|claimed| asked <= claimed) {
        return Some("that was before it was claimed: ask again".to_owned());
    }
    let permanent = facts.table.provider.as_ref().is_some_and(|p| p.permanent);
    if !permanent {
        match evidence.window_closes {
            None => {
                return Some(
                    "nobody knows how long it remembers a key, so it may have forgotten".to_owned(),
                );
            }
            Some(closes) if asked > closes => {
                return Some("its window had closed by then, so it may have forgotten".to_owned());
            }
            Some(_) => {}
        }
    }
    Run::all(facts).find_map(|run| {
        let name = run.name();
        if run.attempt.started_at >= asked {
            return Some(format!("{name} began since: ask again"));
        }
        match run.may_go_on(facts) {
            May::Until(end) if end >= asked => {
                Some(format!("{name} may have gone on since: ask again"))
            }
            May::Still => Some(format!("{name} {}", run.still())),
            May::Until(_) | May::Over => None,
        }
    })
}
