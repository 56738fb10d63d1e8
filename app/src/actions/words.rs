//! Small pieces of the sentences that actions speak.

pub(crate) use crate::model::words::{ago, clock, span};

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
