//! URLs of the pages about attempts and policies.

use super::{Query, SourceLinks, rfc3339};
use crate::model::insights::JobKind;
use crate::model::insights::span::Asked;

/// What the attempts page shows, as it stands in the URL:
/// `?range=24h|7d|30d|all`, or `?from=&to=`, with `type=&method=&queue=`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptsView {
    /// The stretch of time.
    pub asked: Asked,
    /// Only this class.
    pub job_type: Option<String>,
    /// Only this method.
    pub method: Option<String>,
    /// Only this queue.
    pub queue: Option<String>,
}

impl AttemptsView {
    /// The same of one kind alone.
    #[must_use]
    pub fn of_kind(&self, kind: &JobKind) -> Self {
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            job_type: named(&kind.job_type),
            method: named(&kind.method),
            ..self.clone()
        }
    }

    /// The same over another stretch of time.
    #[must_use]
    pub fn over(&self, asked: Asked) -> Self {
        Self {
            asked,
            ..self.clone()
        }
    }

    /// The same of all kinds and queues.
    #[must_use]
    pub fn of_all(&self) -> Self {
        Self {
            asked: self.asked,
            ..Self::default()
        }
    }

    /// Whether anything but the time narrows it.
    pub fn is_filtered(&self) -> bool {
        self.job_type.is_some() || self.method.is_some() || self.queue.is_some()
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        match self.asked {
            Asked::Between { from, to } => {
                query.push_some("from", from.map(rfc3339).as_deref());
                query.push_some("to", to.map(rfc3339).as_deref());
            }
            named => query.push_some("range", named.slug()),
        }
        query.push_some("type", self.job_type.as_deref());
        query.push_some("method", self.method.as_deref());
        query.push_some("queue", self.queue.as_deref());
        query
    }
}

/// A table of the attempts page that can be had as CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sheet {
    /// The numbers of each job kind.
    Kinds,
    /// The first-attempt rate over time.
    Rate,
    /// Waits and run times.
    Times,
    /// Recovery by exception.
    Exceptions,
    /// What fewer retries would cost.
    Fewer,
    /// Planned delays and the policies that they show.
    Delays,
}

impl Sheet {
    /// All, in the order of the page.
    pub const ALL: [Self; 6] = [
        Self::Kinds,
        Self::Rate,
        Self::Times,
        Self::Exceptions,
        Self::Fewer,
        Self::Delays,
    ];

    /// The word in URLs and file names.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Kinds => "kinds",
            Self::Rate => "rate",
            Self::Times => "times",
            Self::Exceptions => "exceptions",
            Self::Fewer => "fewer-retries",
            Self::Delays => "delays",
        }
    }

    /// Reads the word of a URL.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sheet| sheet.slug() == text)
    }
}

impl SourceLinks {
    /// The attempts page.
    pub fn attempts(&self, view: &AttemptsView) -> String {
        format!("{}/attempts{}", self.prefix, view.query().text)
    }

    /// Where the form of the attempts page is sent.
    pub fn attempts_plain(&self) -> String {
        format!("{}/attempts", self.prefix)
    }

    /// A table of the attempts page as CSV.
    pub fn sheet(&self, sheet: Sheet, view: &AttemptsView) -> String {
        let query = view.query().text;
        format!("{}/attempts/{}.csv{query}", self.prefix, sheet.slug())
    }

    /// The policy page.
    pub fn policy(&self) -> String {
        format!("{}/policy", self.prefix)
    }

    /// The policy page with these fields of its form filled in.
    pub fn policy_with(&self, fields: &[(&str, &str)]) -> String {
        let mut query = Query::default();
        for (name, value) in fields {
            query.push(name, value);
        }
        format!("{}/policy{}", self.prefix, query.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;
    use crate::model::testing::at;

    #[test]
    fn urls_carry_the_whole_view() {
        let links = Links::new("/ops").source("prod");
        let view = AttemptsView::default();
        assert_eq!(links.attempts(&view), "/ops/s/prod/attempts?range=7d");
        let kind = JobKind {
            job_type: "Bookstore.Jobs.A&B".into(),
            method: "Run".into(),
        };
        let between = Asked::Between {
            from: Some(at("2026-11-27T10:00:00Z")),
            to: None,
        };
        let view = view.of_kind(&kind).over(between);
        assert_eq!(
            links.sheet(Sheet::Kinds, &view),
            "/ops/s/prod/attempts/kinds.csv?from=2026-11-27T10%3A00%3A00Z\
             &type=Bookstore.Jobs.A%26B&method=Run"
        );
        assert_eq!(
            links.attempts(&view.of_all()),
            "/ops/s/prod/attempts?from=2026-11-27T10%3A00%3A00Z"
        );
        assert!(view.is_filtered() && !view.of_all().is_filtered());
        for sheet in Sheet::ALL {
            assert_eq!(Sheet::parse(sheet.slug()), Some(sheet));
        }
        assert_eq!(
            links.policy_with(&[("policy", "list"), ("delays", "2 s, 5 s")]),
            "/ops/s/prod/policy?policy=list&delays=2%20s%2C%205%20s"
        );
    }
}
