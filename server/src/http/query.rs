//! Reading URLs: what a list is asked for, and why it may not be answered.

use app::links::{Cursor, Order};
use app::model::state::{Instant, ListState};
use app::ports::jobs::JobFilter;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use serde::Deserialize;

/// Rows on a page unless the URL says otherwise.
pub const DEFAULT_LIMIT: u32 = 50;
/// The most rows a page may be asked for.
pub const MAX_LIMIT: u32 = 100;

/// The parameters of a list, as they stand in the URL. Empty values count as missing, because
/// that is what forms send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    state: String,
    queue: String,
    #[serde(rename = "type")]
    job_type: String,
    method: String,
    server: String,
    exception: String,
    from: String,
    to: String,
    attempts_min: String,
    order: String,
    limit: String,
    after: String,
    before: String,
    /// Audit ids of actions to report on the page.
    pub done: Vec<String>,
}

/// A list that can be asked of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// What narrows it.
    pub filter: JobFilter,
    /// The order that is asked for; `None` leaves it to the list.
    pub order: Option<Order>,
    /// Where the page lies; `None` for the newest rows.
    pub cursor: Option<Cursor>,
    /// Rows at most.
    pub limit: u32,
}

impl ListQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A sentence that says which parameter is wrong, and what it may be.
    pub fn read(&self) -> Result<ListRequest, String> {
        let filter = JobFilter {
            state: self.state()?,
            queue: text(&self.queue),
            job_type: text(&self.job_type),
            method: text(&self.method),
            server: text(&self.server),
            exception: text(&self.exception),
            from: instant("from", &self.from)?,
            to: instant("to", &self.to)?,
            attempts_min: number("attempts_min", &self.attempts_min)?,
        };
        if let (Some(from), Some(to)) = (filter.from, filter.to)
            && from >= to
        {
            return Err("“from” must lie before “to”".to_owned());
        }
        let order = self.order()?;
        let limit = number("limit", &self.limit)?.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(format!("“limit” may be 1 to {MAX_LIMIT}"));
        }
        let cursor = self.cursor(&filter, order)?;
        Ok(ListRequest {
            filter,
            order,
            cursor,
            limit,
        })
    }

    fn order(&self) -> Result<Option<Order>, String> {
        if self.order.is_empty() {
            return Ok(None);
        }
        Order::from_slug(&self.order).map(Some).ok_or_else(|| {
            "“order” may be “changed”, latest change first, or “id”, newest job first".to_owned()
        })
    }

    fn state(&self) -> Result<Option<ListState>, String> {
        if self.state.is_empty() || self.state == "all" {
            return Ok(None);
        }
        ListState::from_slug(&self.state).map(Some).ok_or_else(|| {
            let known: Vec<_> = ListState::ALL.iter().map(|state| state.slug()).collect();
            format!(
                "there is no state “{}”; there are {}",
                self.state,
                known.join(", ")
            )
        })
    }

    fn cursor(&self, filter: &JobFilter, order: Option<Order>) -> Result<Option<Cursor>, String> {
        let cursor = match (self.after.as_str(), self.before.as_str()) {
            ("", "") => return Ok(None),
            (after, "") => Cursor::after(after, filter, order),
            ("", before) => Cursor::before(before, filter, order),
            _ => return Err("give “after” or “before”, not both".to_owned()),
        };
        cursor
            .map(Some)
            .map_err(|error| format!("{error}: start from the first page"))
    }
}

/// A text; empty is none.
pub fn text(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Reads a whole number; empty is none.
///
/// # Errors
/// A sentence that names the parameter.
pub fn number(name: &str, value: &str) -> Result<Option<u32>, String> {
    match value.trim() {
        "" => Ok(None),
        digits => match digits.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("“{name}” must be a whole number, not “{digits}”")),
        },
    }
}

/// RFC 3339, or what date fields of forms send: a date, or a date and time, taken as UTC.
///
/// # Errors
/// A sentence that names the parameter.
pub fn instant(name: &str, value: &str) -> Result<Option<Instant>, String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    if let Ok(zoned) = DateTime::parse_from_rfc3339(value) {
        return Ok(Some(zoned.to_utc()));
    }
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"];
    let local = forms
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(value, form).ok());
    let local = local.or_else(|| {
        let day = NaiveDate::parse_from_str(value, "%Y-%m-%d").ok()?;
        Some(day.and_time(NaiveTime::MIN))
    });
    match local {
        Some(local) => Ok(Some(local.and_utc())),
        None => Err(format!(
            "“{name}” must be a time such as 2026-11-12T08:00:00Z, not “{value}”"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(state: &str) -> ListQuery {
        ListQuery {
            state: state.into(),
            ..ListQuery::default()
        }
    }

    #[test]
    fn an_empty_query_is_every_job_from_the_newest() {
        let request = ListQuery::default().read().unwrap();
        assert_eq!(request.filter, JobFilter::default());
        assert_eq!((request.cursor, request.order), (None, None));
        assert_eq!(request.limit, DEFAULT_LIMIT);
    }

    #[test]
    fn an_unknown_state_names_the_known_ones() {
        let why = query("burnt").read().unwrap_err();
        assert!(why.contains("burnt") && why.contains("retrying"), "{why}");
    }

    #[test]
    fn dates_of_forms_are_utc() {
        let request = ListQuery {
            from: "2026-11-12".into(),
            to: "2026-11-12T08:30".into(),
            ..query("failed")
        }
        .read()
        .unwrap();
        assert_eq!(
            request.filter.from.unwrap().to_rfc3339(),
            "2026-11-12T00:00:00+00:00"
        );
        assert_eq!(
            request.filter.to.unwrap().to_rfc3339(),
            "2026-11-12T08:30:00+00:00"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        let upside_down = ListQuery {
            from: "2026-11-12".into(),
            to: "2026-11-11".into(),
            ..query("failed")
        };
        assert!(upside_down.read().is_err());
        for limit in ["0", "101", "-1", "many"] {
            assert!(
                ListQuery {
                    limit: limit.into(),
                    ..query("")
                }
                .read()
                .is_err(),
                "{limit}"
            );
        }
        assert!(
            ListQuery {
                order: "size".into(),
                ..query("")
            }
            .read()
            .is_err()
        );
        assert!(
            ListQuery {
                after: "garbage".into(),
                ..query("")
            }
            .read()
            .is_err()
        );
        assert!(
            ListQuery {
                from: "yesterday".into(),
                ..query("")
            }
            .read()
            .is_err()
        );
        let both = ListQuery {
            after: "a".into(),
            before: "b".into(),
            ..query("")
        };
        assert!(both.read().unwrap_err().contains("not both"));
    }
}
