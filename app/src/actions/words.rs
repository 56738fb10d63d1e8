//! Small pieces of the sentences that actions speak.

use crate::model::state::Instant;

/// `2026-11-29 19:37:36 UTC`.
pub(crate) fn clock(at: Instant) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `5 s`, `3 min`, `2 h`, `4 d`; negative spans (clocks that disagree) count as none.
pub(crate) fn span(ms: i64) -> String {
    let s = ms.max(0) / 1000;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// `3 min ago`.
pub(crate) fn ago(at: Instant, now: Instant) -> String {
    format!("{} ago", span((now - at).num_milliseconds()))
}

/// `#2, #3 and #5`, cut after five.
pub(crate) fn jobs(ids: &[i64]) -> String {
    let shown: Vec<String> = ids.iter().take(5).map(|id| format!("#{id}")).collect();
    if ids.len() > shown.len() {
        return format!("{} and {} more", shown.join(", "), ids.len() - shown.len());
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// `1 child`, `2 children`.
pub(crate) fn children(n: usize) -> String {
    if n == 1 {
        "1 child".to_owned()
    } else {
        format!("{n} children")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short_and_never_negative() {
        assert_eq!(span(-7), "0 s");
        assert_eq!(span(5_999), "5 s");
        assert_eq!(span(180_000), "3 min");
        assert_eq!(span(7_200_000), "2 h");
        assert_eq!(span(172_800_000), "2 d");
    }

    #[test]
    fn jobs_are_listed() {
        assert_eq!(jobs(&[2]), "#2");
        assert_eq!(jobs(&[2, 3]), "#2 and #3");
        assert_eq!(jobs(&[2, 3, 5]), "#2, #3 and #5");
        assert_eq!(
            jobs(&[1, 2, 3, 4, 5, 6, 7]),
            "#1, #2, #3, #4, #5 and 2 more"
        );
    }
}
