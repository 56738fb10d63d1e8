//! What the reason texts of state rows say. Hangfire and its dashboard write fixed sentences; the
//! timeline is read from them.

/// The number of a planned retry and the policy's maximum: `Retry attempt 1 of 3: …`. Whatever
/// follows the numbers is the exception's message, often cut off, and is not looked at.
pub fn retry(reason: Option<&str>) -> Option<(u32, u32)> {
    let rest = reason?.strip_prefix("Retry attempt ")?;
    let (number, rest) = whole_number(rest)?;
    let (of, rest) = whole_number(rest.strip_prefix(" of ")?)?;
    (rest.is_empty() || rest.starts_with(':')).then_some((number, of))
}

/// Whether Hangfire's own scheduler released the job at its due time.
pub fn is_scheduler(reason: Option<&str>) -> bool {
    matches!(
        reason,
        // The second one is what versions up to 1.4 wrote.
        Some("Triggered by DelayedJobScheduler" | "Enqueued as a scheduled job")
    )
}

/// Whether an operator asked for the run: the official dashboard's sentence, or Redrive's.
pub fn is_operator(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| {
        reason == "Triggered via Dashboard UI"
            || reason.starts_with("Requeued by ")
            || reason.starts_with("Enqueued now by ")
    })
}

/// Whether the row repeats an earlier state because a delete was undone.
pub fn is_restored(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.starts_with("Restored by "))
}

/// Whether the job never began, because its type or method could not be loaded.
pub fn is_never_began(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| reason.starts_with("Can not change the state to "))
}

fn whole_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_is_read_whatever_its_message() {
        for (reason, expected) in [
            (
                "Retry attempt 1 of 3: Supplier API did not respond",
                Some((1, 3)),
            ),
            ("Retry attempt 10 of 10: ", Some((10, 10))),
            ("Retry attempt 2 of 5:", Some((2, 5))),
            ("Retry attempt 2 of 5", Some((2, 5))),
            ("Retry attempt 7 of 12: of 3: : \u{2026}", Some((7, 12))),
            ("Retry attempt 1 of 3: 2 of 5", Some((1, 3))),
            ("Retry attempt 1 of 3 times", None),
            ("Retry attempt ", None),
            ("Retry attempt 1 of ", None),
            ("Retry attempt one of 3: no", None),
            ("Retry attempt 1 of : no", None),
            ("Retry attempt 99999999999 of 3: no", None),
            ("retry attempt 1 of 3: no", None),
            ("Triggered via Dashboard UI", None),
            ("", None),
        ] {
            assert_eq!(retry(Some(reason)), expected, "{reason}");
        }
        assert_eq!(retry(None), None);
    }

    #[test]
    fn hands_are_told_from_the_scheduler() {
        assert!(is_scheduler(Some("Triggered by DelayedJobScheduler")));
        assert!(!is_scheduler(Some("Triggered via Dashboard UI")));
        assert!(!is_scheduler(None));
        assert!(is_operator(Some("Triggered via Dashboard UI")));
        assert!(is_operator(Some(
            "Requeued by ada via Redrive: supplier is back"
        )));
        assert!(!is_operator(Some("Triggered by recurring job scheduler")));
        assert!(!is_operator(None));
        assert!(is_restored(Some("Restored by ada via Redrive")));
        assert!(!is_restored(Some("Restored")));
    }
}
