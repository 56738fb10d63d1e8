//! The usual shape of a claims table: how its columns are called, and which words its status uses.

use app::model::claim::table::{ClaimWay, ClaimsTable, Columns};

/// Usual names, in lower case and without underscores.
const KEY: &[&str] = &[
    "idempotencykey",
    "claimkey",
    "effectkey",
    "deduplicationkey",
    "dedupkey",
    "dedupekey",
    "key",
];
const STATUS: &[&str] = &["status", "claimstatus", "state"];
const CLAIMED_AT: &[&str] = &["claimedatutc", "claimedat", "claimedon", "claimtime"];
const PROVIDER_ID: &[&str] = &["providermessageid", "messageid", "providerid", "externalid"];

/// Which of a table's columns are the parts of a claim, by their names; `None` where the key, the
/// status or the claim time is missing.
pub fn columns<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Option<Columns> {
    let called = |usual: &[&str]| {
        usual.iter().find_map(|wanted| {
            names
                .clone()
                .find(|name| name.replace('_', "").eq_ignore_ascii_case(wanted))
                .map(str::to_owned)
        })
    };
    Some(Columns {
        key: called(KEY)?,
        status: called(STATUS)?,
        claimed_at: Some(called(CLAIMED_AT)?),
        provider_id: called(PROVIDER_ID),
    })
}

/// The words for sending and sent as they are spelled in a text column `status` that holds these
/// values. `None` where values are there and none is one of the words.
pub fn statuses(values: &[String], status: &str) -> Option<(String, String)> {
    let spelled = |word: &str| {
        values
            .iter()
            .find(|value| value.eq_ignore_ascii_case(word))
            .cloned()
    };
    let (sending, sent) = (spelled("sending"), spelled("sent"));
    if !values.is_empty() && sending.is_none() && sent.is_none() {
        return None;
    }
    // A word that no row uses yet is spelled as the other one, else as the columns are.
    let model = sending.as_deref().or(sent.as_deref()).unwrap_or(status);
    let (sending_word, sent_word) = (like(model, "sending"), like(model, "sent"));
    Some((sending.unwrap_or(sending_word), sent.unwrap_or(sent_word)))
}

/// A word in lower case, spelled in the case of another one.
fn like(model: &str, word: &str) -> String {
    let letters = || model.chars().filter(|c| c.is_alphabetic());
    if letters().all(char::is_lowercase) {
        return word.to_owned();
    }
    if letters().all(char::is_uppercase) {
        return word.to_uppercase();
    }
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A detected table, with what is usual.
pub fn detected(
    schema: String,
    table: String,
    columns: Columns,
    (sending, sent): (String, String),
) -> ClaimsTable {
    ClaimsTable {
        name: table.clone(),
        schema,
        table,
        columns,
        sending,
        sent,
        cutoff_ms: ClaimsTable::CUTOFF_MS,
        retention_ms: ClaimsTable::RETENTION_MS,
        purge: false,
        window_ms: None,
        way: ClaimWay::default(),
        keys: Vec::new(),
        nothing_sent_on: Vec::new(),
        provider: None,
        detected: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_their_usual_names() {
        let of = |names: &[&str]| columns(names.iter().copied());
        let efcore = [
            "Id",
            "IdempotencyKey",
            "Status",
            "ClaimedAtUtc",
            "ProviderMessageId",
        ];
        assert_eq!(
            of(&efcore),
            Some(Columns {
                key: "IdempotencyKey".into(),
                status: "Status".into(),
                claimed_at: Some("ClaimedAtUtc".into()),
                provider_id: Some("ProviderMessageId".into()),
            })
        );
        let snake = ["key", "idempotency_key", "claim_status", "claimed_at"];
        assert_eq!(
            of(&snake).map(|found| (found.key, found.status, found.provider_id)),
            Some(("idempotency_key".into(), "claim_status".into(), None))
        );
        assert_eq!(of(&["idempotency_key", "status", "created_at"]), None);
        assert_eq!(of(&["order_key", "status", "claimed_at"]), None);
    }

    #[test]
    fn words_of_a_status_are_spelled_as_they_occur() {
        let of = |values: &[&str], column: &str| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            statuses(&values, column)
        };
        let pair = |sending: &str, sent: &str| Some((sending.to_owned(), sent.to_owned()));
        assert_eq!(of(&["SENT", "SENDING"], "status"), pair("SENDING", "SENT"));
        assert_eq!(
            of(&["sending", "failed"], "Status"),
            pair("sending", "sent")
        );
        assert_eq!(of(&["Sent"], "status"), pair("Sending", "Sent"));
        assert_eq!(of(&[], "status"), pair("sending", "sent"));
        assert_eq!(of(&[], "Status"), pair("Sending", "Sent"));
        assert_eq!(of(&["pending", "done"], "status"), None);
    }
}
