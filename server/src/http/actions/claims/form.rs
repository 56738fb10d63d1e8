//! What the forms of claims say.

use std::sync::Arc;

use app::actions::claim::{ClaimAction, SeenClaim};
use app::components::shell::Section;
use app::links::claims::read_item;
use app::model::claim::table::Shape;
use axum::response::Response;
use axum_extra::extract::{Form, FormRejection};
use serde::Deserialize;

use super::super::super::frame::Visit;
use super::super::super::state::AppState;
use super::super::{LONGEST_REASON, MOST_ITEMS};
use crate::source::SourceHandle;

/// Keys and message ids longer than this, in bytes, are none.
const LONGEST_KEY: usize = 100_000;

/// What is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimForm {
    source: String,
    /// The table's short name; may be left out where the source has only one.
    claims: String,
    key: Option<String>,
    claimed_at: String,
    /// Claim time and key in one value, once per claim, instead of the two fields above.
    item: Vec<String>,
    reason: String,
    provider_message_id: String,
    job: String,
    may_deliver_twice: String,
    /// The page to go back to; only pages of the same source are followed.
    pub(super) back: String,
}

/// A form, as it came.
pub type Sent = Result<Form<ClaimForm>, FormRejection>;

/// What a form is about.
pub(super) struct Target {
    pub(super) form: ClaimForm,
    pub(super) source: SourceHandle,
    pub(super) shape: Arc<Shape>,
}

/// Which claims are meant, and what is said of them.
pub(super) struct AskedFor {
    pub(super) seen: Vec<SeenClaim>,
    pub(super) job: Option<i64>,
    pub(super) may_deliver_twice: bool,
}

/// Finds source and table. The table is looked at anew: it may have been changed or dropped since
/// the page was drawn.
pub(super) async fn target(
    state: &AppState,
    visit: Visit,
    form: Sent,
) -> Result<(Visit, Target), Box<Response>> {
    let form = match form {
        Ok(Form(form)) => form,
        Err(rejection) => return Err(Box::new(visit.malformed(&rejection.body_text()))),
    };
    let Some(source) = state.source(&form.source).cloned() else {
        return Err(Box::new(visit.no_such_source(&form.source)));
    };
    let visit = visit.of(&source);
    let watched = match source.claims_tables().await {
        Ok(watched) => watched,
        Err(error) => return Err(Box::new(visit.failed(Section::Claims, &error))),
    };
    let seen = match watched.as_slice() {
        [only] if form.claims.is_empty() => Some(only),
        all => all.iter().find(|seen| seen.table.name == form.claims),
    };
    let Some(seen) = seen else {
        let names: Vec<_> = watched.iter().map(|seen| seen.table.name.clone()).collect();
        return Err(Box::new(visit.no_such_claims(&form.claims, &names)));
    };
    let found = source.claims.shape(source.store.as_ref(), &seen.table);
    match found.await {
        Ok(shape) => Ok((
            visit,
            Target {
                form,
                source,
                shape: Arc::new(shape),
            },
        )),
        Err(error) => Err(Box::new(visit.failed(Section::Claims, &error))),
    }
}

impl ClaimForm {
    /// The reason, where one is given.
    pub(super) fn reason(&self) -> Option<String> {
        let reason = self.reason.trim();
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// Whether the claims come as items, so that the answer is a list.
    pub(super) fn several(&self) -> bool {
        !self.item.is_empty()
    }

    /// The table's short name, as it was sent.
    pub(super) fn claims(&self) -> &str {
        &self.claims
    }

    /// Marking as sent, with the message id that was typed in.
    pub(super) fn mark_as_sent(&self) -> Result<ClaimAction, String> {
        if self.item.len() > 1 {
            return Err(
                "claims are marked as sent one by one: each has a message id of its own".to_owned(),
            );
        }
        let id = self.provider_message_id.trim();
        if id.len() > LONGEST_KEY || id.contains('\0') {
            return Err("“provider_message_id” cannot be a message id".to_owned());
        }
        Ok(ClaimAction::MarkAsSent {
            provider_id: (!id.is_empty()).then(|| id.to_owned()),
        })
    }

    /// Which claims are meant.
    pub(super) fn asked(&self) -> Result<AskedFor, String> {
        self.check_reason()?;
        let seen = self.seen()?;
        let job = match self.job.trim() {
            "" => None,
            text => Some(
                text.parse()
                    .map_err(|_| format!("“job” must be the number of a job, not “{text}”"))?,
            ),
        };
        if job.is_some() && seen.len() > 1 {
            return Err("“job” can be said of one claim only".to_owned());
        }
        Ok(AskedFor {
            seen,
            job,
            may_deliver_twice: matches!(self.may_deliver_twice.as_str(), "on" | "true" | "1"),
        })
    }

    /// Why the reason cannot be kept.
    pub(super) fn check_reason(&self) -> Result<(), String> {
        if self.reason.trim().chars().count() > LONGEST_REASON {
            return Err(format!(
                "the reason may have {LONGEST_REASON} characters at most"
            ));
        }
        Ok(())
    }

    fn seen(&self) -> Result<Vec<SeenClaim>, String> {
        if self.item.is_empty() {
            let key = self.key.clone().ok_or("“key” must be the key of a claim")?;
            let claimed_at = (!self.claimed_at.is_empty()).then(|| self.claimed_at.clone());
            return Ok(vec![not_too_long(SeenClaim { key, claimed_at })?]);
        }
        if self.item.len() > MOST_ITEMS {
            return Err(format!(
                "at most {MOST_ITEMS} claims can be acted on at once"
            ));
        }
        let mut all: Vec<SeenClaim> = Vec::with_capacity(self.item.len());
        for item in &self.item {
            let seen = read_item(item).ok_or_else(|| {
                let start: String = item.chars().take(60).collect();
                format!("“{start}” is not of the form claimed_at:key, both percent-encoded")
            })?;
            let seen = not_too_long(seen)?;
            if !all.contains(&seen) {
                all.push(seen);
            }
        }
        Ok(all)
    }
}

fn not_too_long(seen: SeenClaim) -> Result<SeenClaim, String> {
    let longest = seen
        .key
        .len()
        .max(seen.claimed_at.as_ref().map_or(0, String::len));
    if longest > LONGEST_KEY {
        return Err(format!("keys may have {LONGEST_KEY} bytes at most"));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use app::links::claims::item;

    use super::*;

    fn seen(key: &str, claimed_at: Option<&str>) -> SeenClaim {
        SeenClaim {
            key: key.to_owned(),
            claimed_at: claimed_at.map(str::to_owned),
        }
    }

    #[test]
    fn one_claim_is_named_by_two_fields() {
        let form = ClaimForm {
            key: Some("invoice-email:7".into()),
            claimed_at: "2026-11-29 19:45:04.6335314".into(),
            ..ClaimForm::default()
        };
        let expected = seen("invoice-email:7", Some("2026-11-29 19:45:04.6335314"));
        assert_eq!(form.seen(), Ok(vec![expected]));
        let no_time = ClaimForm {
            key: Some(String::new()),
            ..ClaimForm::default()
        };
        assert_eq!(no_time.seen(), Ok(vec![seen("", None)]));
    }

    #[test]
    fn several_are_named_by_items_and_counted_once() {
        let odd = "a:b\r\n\"</script>é%";
        let form = ClaimForm {
            item: vec![item(odd, Some("1:2")), item("k", None), item("k", None)],
            ..ClaimForm::default()
        };
        assert_eq!(
            form.seen(),
            Ok(vec![seen(odd, Some("1:2")), seen("k", None)])
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        let why = |form: ClaimForm| form.seen().unwrap_err();
        assert!(why(ClaimForm::default()).contains("“key”"));
        for garbage in ["", "no colon", "%zz:k"] {
            let form = ClaimForm {
                item: vec![garbage.into()],
                ..ClaimForm::default()
            };
            assert!(why(form).contains("claimed_at:key"), "{garbage}");
        }
        let long = ClaimForm {
            key: Some("k".repeat(LONGEST_KEY + 1)),
            ..ClaimForm::default()
        };
        assert!(why(long).contains("bytes at most"));
        let many = ClaimForm {
            item: (0..=MOST_ITEMS)
                .map(|n| item(&n.to_string(), None))
                .collect(),
            ..ClaimForm::default()
        };
        assert!(why(many).contains("at most 100"));
        let both = ClaimForm {
            item: vec![item("a", None), item("b", None)],
            ..ClaimForm::default()
        };
        assert!(both.mark_as_sent().unwrap_err().contains("one by one"));
    }
}
