//! The stretch of time that a page asks for, and how it is cut into steps.

use chrono::TimeDelta;

use crate::model::collect::{HOUR_SECONDS, hour};
use crate::model::rates::SLOT_SECONDS;
use crate::model::state::Instant;

/// Slots of ten minutes in an hour.
pub const SLOTS_AN_HOUR: i64 = HOUR_SECONDS / SLOT_SECONDS;
/// What is usual is taken from so many hours before a span: seven days.
pub const USUAL_HOURS: i64 = 7 * 24;

/// A stretch of time, as it stands in a URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Asked {
    /// The last 24 hours.
    Day,
    /// The last 7 days.
    #[default]
    Week,
    /// The last 30 days.
    Month,
    /// All that was ever counted.
    All,
    /// From one moment to another; the end, left out, is now, the beginning what was counted first.
    Between {
        /// The beginning.
        from: Option<Instant>,
        /// The end.
        to: Option<Instant>,
    },
}

impl Asked {
    /// Those with a word of their own, in the order of the page.
    pub const NAMED: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::All];

    /// The word in URLs; `None` for a span of its own.
    pub fn slug(self) -> Option<&'static str> {
        match self {
            Self::Day => Some("24h"),
            Self::Week => Some("7d"),
            Self::Month => Some("30d"),
            Self::All => Some("all"),
            Self::Between { .. } => None,
        }
    }

    /// Reads the word of a URL.
    pub fn parse(text: &str) -> Option<Self> {
        Self::NAMED
            .into_iter()
            .find(|named| named.slug() == Some(text))
    }

    /// The whole hours that are counted. `since` is the first hour of which anything is counted.
    pub fn span(self, now: Instant, since: Option<i64>) -> Span {
        let this = hour(now);
        let end = this.saturating_add(1);
        let (from, to) = match self {
            Self::Day => (end - 24, end),
            Self::Week => (end - 7 * 24, end),
            Self::Month => (end - 30 * 24, end),
            Self::All => (since.unwrap_or(this), end),
            Self::Between { from, to } => {
                let to = to.map_or(end, hour_after);
                let first = since.unwrap_or(this).min(to.saturating_sub(1));
                (from.map_or(first, hour), to)
            }
        };
        Span {
            from,
            to: to.max(from.saturating_add(1)),
        }
    }
}

/// The hour that begins at an instant or after it.
fn hour_after(at: Instant) -> i64 {
    let whole = hour(at);
    match hour_start(whole) {
        Some(start) if start == at => whole,
        _ => whole.saturating_add(1),
    }
}

/// When an hour counted from 1970 begins; `None` past the calendar.
pub fn hour_start(hour: i64) -> Option<Instant> {
    Instant::from_timestamp(hour.checked_mul(HOUR_SECONDS)?, 0)
}

/// When a slot of ten minutes begins; `None` past the calendar.
pub fn slot_start(slot: i64) -> Option<Instant> {
    Instant::from_timestamp(slot.checked_mul(SLOT_SECONDS)?, 0)
}

/// Whole hours, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub from: i64,
    /// The one after the last; at least one after the first.
    pub to: i64,
}

/// What must be said of a span beside its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caveat {
    /// It begins before anything was counted.
    BeginsBefore,
    /// It ends before anything was counted.
    EndsBefore,
    /// It begins in the future.
    Future,
    /// It was stretched to whole hours.
    Rounded,
}

impl Span {
    /// So many hours.
    pub fn hours(self) -> i64 {
        self.to.saturating_sub(self.from)
    }

    /// The seven days before.
    #[must_use]
    pub fn usual(self) -> Self {
        Self {
            from: self.from.saturating_sub(USUAL_HOURS),
            to: self.from,
        }
    }

    /// When it begins.
    pub fn begins(self) -> Option<Instant> {
        hour_start(self.from)
    }

    /// When it ends.
    pub fn ends(self) -> Option<Instant> {
        hour_start(self.to)
    }

    /// What must be said of it.
    pub fn caveats(self, asked: Asked, now: Instant, since: Option<i64>) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if self.begins().is_none_or(|begins| begins > now) {
            caveats.push(Caveat::Future);
        } else if let Some(since) = since {
            if self.to <= since {
                caveats.push(Caveat::EndsBefore);
            } else if self.from < since && asked != Asked::All {
                caveats.push(Caveat::BeginsBefore);
            }
        }
        if let Asked::Between { from, to } = asked {
            let odd = |at: Option<Instant>| at.is_some_and(|at| hour_start(hour(at)) != Some(at));
            if odd(from) || odd(to) {
                caveats.push(Caveat::Rounded);
            }
        }
        caveats
    }

    /// Cut into steps of a round length, at most so many.
    pub fn steps(self, most: i64) -> Steps {
        /// Lengths that people think in, in slots: 10 and 30 minutes, 1, 2, 4, 6 and 12 hours,
        /// 1 and 2 days, a week.
        const ROUND: [i64; 10] = [1, 3, 6, 12, 24, 36, 72, 144, 288, 1_008];
        const DAY: i64 = 24 * SLOTS_AN_HOUR;
        let slots = self.hours().saturating_mul(SLOTS_AN_HOUR);
        let needed = slots.saturating_add(most - 1) / most.max(1);
        let length = ROUND
            .into_iter()
            .find(|length| *length >= needed)
            .unwrap_or_else(|| (needed.saturating_add(DAY - 1) / DAY).saturating_mul(DAY));
        Steps {
            from: self.from.saturating_mul(SLOTS_AN_HOUR),
            length,
            count: usize::try_from(slots.saturating_add(length - 1) / length).unwrap_or(0),
        }
    }
}

/// Steps of one length, in slots of ten minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The first slot.
    pub from: i64,
    /// The slots of a step.
    pub length: i64,
    /// How many there are; the last one may be cut short.
    pub count: usize,
}

impl Steps {
    /// Which step a slot lies in.
    pub fn index(self, slot: i64) -> Option<usize> {
        let index = slot.checked_sub(self.from)?.div_euclid(self.length.max(1));
        usize::try_from(index).ok().filter(|i| *i < self.count)
    }

    /// When a step begins.
    pub fn start(self, index: usize) -> Option<Instant> {
        let steps = i64::try_from(index).ok()?;
        slot_start(self.from.checked_add(steps.checked_mul(self.length)?)?)
    }

    /// How long a step is.
    pub fn lasts(self) -> TimeDelta {
        TimeDelta::try_seconds(self.length.saturating_mul(SLOT_SECONDS)).unwrap_or(TimeDelta::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::at;

    /// 2026-11-27 14:00 UTC is this hour.
    const HOUR: i64 = 498_830;

    #[test]
    fn named_spans_end_with_the_hour_that_runs() {
        let now = at("2026-11-27T14:05:48Z");
        assert_eq!(hour(now), HOUR);
        let hours = |asked: Asked| {
            let span = asked.span(now, Some(HOUR - 400));
            (span.from - HOUR, span.to - HOUR)
        };
        assert_eq!(hours(Asked::Day), (-23, 1));
        assert_eq!(hours(Asked::Week), (-167, 1));
        assert_eq!(hours(Asked::Month), (-719, 1));
        assert_eq!(hours(Asked::All), (-400, 1));
        assert_eq!(
            Asked::All.span(now, None),
            Span {
                from: HOUR,
                to: HOUR + 1
            }
        );
        for named in Asked::NAMED {
            assert_eq!(Asked::parse(named.slug().unwrap()), Some(named));
        }
        assert_eq!(Asked::parse("1y"), None);
    }

    #[test]
    fn a_second_is_counted_by_its_whole_hour() {
        let now = at("2026-11-27T14:05:48Z");
        let asked = Asked::Between {
            from: Some(at("2026-11-27T10:59:59Z")),
            to: Some(at("2026-11-27T11:00:00Z")),
        };
        let span = asked.span(now, Some(0));
        assert_eq!(
            span,
            Span {
                from: HOUR - 4,
                to: HOUR - 3
            }
        );
        assert_eq!(span.caveats(asked, now, Some(0)), [Caveat::Rounded]);
        let whole = Asked::Between {
            from: Some(at("2026-11-27T10:00:00Z")),
            to: Some(at("2026-11-27T11:00:00Z")),
        };
        assert_eq!(whole.span(now, Some(0)), span);
        assert_eq!(span.caveats(whole, now, Some(0)), []);
    }

    #[test]
    fn what_lies_outside_of_the_counted_is_said() {
        let now = at("2026-11-27T14:05:48Z");
        let since = Some(HOUR - 10);
        let between = |from: &str, to: &str| {
            let asked = Asked::Between {
                from: Some(at(from)),
                to: Some(at(to)),
            };
            asked.span(now, since).caveats(asked, now, since)
        };
        let ten_years = between("2016-11-27T00:00:00Z", "2026-11-27T14:00:00Z");
        assert_eq!(ten_years, [Caveat::BeginsBefore]);
        let long_ago = between("2016-11-27T00:00:00Z", "2016-11-28T00:00:00Z");
        assert_eq!(long_ago, [Caveat::EndsBefore]);
        let next_year = between("2027-11-27T00:00:00Z", "2027-11-28T00:00:00Z");
        assert_eq!(next_year, [Caveat::Future]);
        let week = Asked::Week.span(now, since);
        assert_eq!(
            week.caveats(Asked::Week, now, since),
            [Caveat::BeginsBefore]
        );
        let all = Asked::All.span(now, since);
        assert_eq!(all.caveats(Asked::All, now, since), []);
    }

    #[test]
    fn open_ends_reach_from_the_first_count_to_now() {
        let now = at("2026-11-27T14:05:48Z");
        let span = |from: Option<&str>, to: Option<&str>| {
            let asked = Asked::Between {
                from: from.map(at),
                to: to.map(at),
            };
            let span = asked.span(now, Some(HOUR - 10));
            (span.from - HOUR, span.to - HOUR)
        };
        assert_eq!(span(None, None), (-10, 1));
        assert_eq!(span(Some("2026-11-27T12:00:00Z"), None), (-2, 1));
        assert_eq!(span(None, Some("2026-11-27T12:00:00Z")), (-10, -2));
        // Before anything was counted: one hour, never none.
        assert_eq!(span(None, Some("2026-11-01T12:00:00Z")).1 + 626, 0);
    }

    #[test]
    fn steps_are_round_and_few() {
        let steps = |hours: i64| {
            Span {
                from: 10,
                to: 10 + hours,
            }
            .steps(48)
        };
        let facts = |hours: i64| (steps(hours).length, steps(hours).count);
        assert_eq!(facts(1), (1, 6));
        assert_eq!(facts(24), (3, 48));
        assert_eq!(facts(7 * 24), (24, 42));
        assert_eq!(facts(30 * 24), (144, 30));
        // Ten years: 3,652 days, which are 48 steps of 77 days.
        assert_eq!(facts(3_652 * 24), (77 * 144, 48));
        let day = steps(24);
        assert_eq!(day.index(60), Some(0));
        assert_eq!(day.index(62), Some(0));
        assert_eq!(day.index(63), Some(1));
        assert_eq!(day.index(59), None);
        assert_eq!(day.index(60 + 144), None);
        assert_eq!(day.start(1), Some(at("1970-01-01T10:30:00Z")));
        assert_eq!(day.lasts(), TimeDelta::minutes(30));
    }

    #[test]
    fn the_usual_is_the_week_before() {
        let span = Span {
            from: 1_000,
            to: 1_024,
        };
        assert_eq!(
            span.usual(),
            Span {
                from: 832,
                to: 1_000
            }
        );
        assert_eq!(span.hours(), 24);
    }
}
