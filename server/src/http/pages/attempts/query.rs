//! What the URL of the attempts page may say.

use app::links::attempts::AttemptsView;
use app::model::insights::span::Asked;
use serde::Deserialize;

use crate::http::query::{instant, text};

/// The parameters; empty values count as missing. A `from` or `to` wins over the range.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AttemptsQuery {
    range: String,
    from: String,
    to: String,
    #[serde(rename = "type")]
    job_type: String,
    method: String,
    queue: String,
}

impl AttemptsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A sentence that says which parameter is wrong, and what it may be.
    pub fn read(&self) -> Result<AttemptsView, String> {
        let (from, to) = (instant("from", &self.from)?, instant("to", &self.to)?);
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            return Err("“from” must lie before “to”".to_owned());
        }
        let asked = match self.range.trim() {
            _ if from.is_some() || to.is_some() => Asked::Between { from, to },
            "" => Asked::default(),
            word => Asked::parse(word).ok_or_else(|| {
                let known: Vec<_> = Asked::NAMED.into_iter().filter_map(Asked::slug).collect();
                format!(
                    "there is no range “{word}”; there are {}, or give “from” and “to”",
                    known.join(", ")
                )
            })?,
        };
        Ok(AttemptsView {
            asked,
            job_type: text(&self.job_type),
            method: text(&self.method),
            queue: text(&self.queue),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(range: &str, from: &str, to: &str) -> AttemptsQuery {
        AttemptsQuery {
            range: range.into(),
            from: from.into(),
            to: to.into(),
            ..AttemptsQuery::default()
        }
    }

    #[test]
    fn the_last_week_is_shown_unless_the_url_says_otherwise() {
        let view = query("", "", "").read().unwrap();
        assert_eq!(view, AttemptsView::default());
        assert_eq!(view.asked, Asked::Week);
        assert_eq!(query("all", "", "").read().unwrap().asked, Asked::All);
    }

    #[test]
    fn moments_win_over_the_range() {
        let view = query("24h", "2026-11-12T08:00", "").read().unwrap();
        let Asked::Between { from, to } = view.asked else {
            panic!("{view:?}");
        };
        assert_eq!(from.unwrap().to_rfc3339(), "2026-11-12T08:00:00+00:00");
        assert_eq!(to, None);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        let why = query("fortnight", "", "").read().unwrap_err();
        assert!(why.contains("fortnight") && why.contains("30d"), "{why}");
        let why = query("", "2026-11-12", "2016-11-12").read().unwrap_err();
        assert!(why.contains("before"), "{why}");
        let why = query("", "2026-11-12", "2026-11-12").read().unwrap_err();
        assert!(why.contains("before"), "{why}");
        let why = query("", "now()", "").read().unwrap_err();
        assert!(why.contains("now()"), "{why}");
    }
}
