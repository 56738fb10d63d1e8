//! Numbers for people.

/// Thousands by comma, a true minus sign: `1,208,430`, `−3`.
pub fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 3);
    if number < 0 {
        text.push('\u{2212}');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 job`, `2 jobs`: the number and its noun, which takes an `s` in the plural.
pub fn count(number: i64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// A size in bytes with one unit: `900 B`, `64 kB`, `20 MB`.
pub fn bytes(number: i64) -> String {
    match number {
        ..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{} kB", number / 1_000),
        _ => format!("{} MB", thousands(number / 1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted_by_commas() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(89_094), "89,094");
        assert_eq!(thousands(-1_208_430), "\u{2212}1,208,430");
        assert_eq!(thousands(i64::MIN), "\u{2212}9,223,372,036,854,775,808");
    }

    #[test]
    fn nouns_and_sizes() {
        assert_eq!(count(1, "job"), "1 job");
        assert_eq!(count(1_284, "job"), "1,284 jobs");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(64_500), "64 kB");
        assert_eq!(bytes(20_971_520), "20 MB");
    }
}
