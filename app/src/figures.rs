//! The numbers of a source that stand on pages and are kept current there: made once, so that a
//! page and its stream never say different things.

use crate::components::number::{count, thousands};
use crate::model::health::Ages;
use crate::model::insights::digest::Digest;
use crate::model::insights::forecast::Forecast;
use crate::model::job::Server;
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::StateCounts;

#[cfg(test)]
mod tests;

/// What figures are made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Jobs by state.
    pub counts: Option<&'a StateCounts>,
    /// The collector's numbers.
    pub digest: Option<&'a Digest>,
    /// When they were last known to be current.
    pub collected_at: Option<Instant>,
    /// The retries of the next hour.
    pub forecast: Option<&'a Forecast>,
    /// The servers.
    pub servers: &'a [Server],
    /// Stale claims of all tables together.
    pub stale_claims: Option<i64>,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Its name in `data-figure`.
    pub name: &'static str,
    /// The number for people.
    pub text: String,
    /// The number for machines: a count, or the numerator over the denominator.
    pub value: Value,
    /// What stands below it.
    pub more: String,
    /// When it was counted.
    pub as_of: Option<Instant>,
    /// Whether it calls for somebody.
    pub bad: bool,
}

/// A number for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A count.
    Count(i64),
    /// A share.
    Share(Rate),
    /// It is not known.
    Unknown,
}

/// The name of the moment at which jobs were counted.
pub const COUNTED: &str = "counted";
/// The name of the moment at which the collector's numbers were last written.
pub const COLLECTED: &str = "collected";
/// The name of the moment at which the schedule was read.
pub const PLANNED: &str = "planned";
/// The name of the number of jobs in every state.
pub const ALL_JOBS: &str = "jobs";
/// The name of the number of stale claims.
pub const STALE_CLAIMS: &str = "stale-claims";
/// The name of the number of jobs that succeeded in the last full hour.
pub const SUCCEEDED_LAST_HOUR: &str = "succeeded-last-hour";
/// The name of the first-attempt success rate of the last 24 hours.
pub const FIRST_ATTEMPT: &str = "first-attempt-success";

/// Every figure of a source.
pub fn figures(facts: &Facts<'_>) -> Vec<Figure> {
    let mut all: Vec<Figure> = ListState::ALL
        .into_iter()
        .map(|list| state(facts, list))
        .collect();
    all.push(all_jobs(facts));
    all.push(stale_claims(facts));
    all.push(succeeded_last_hour(facts));
    all.push(first_attempt(facts));
    all
}

fn counted(name: &'static str, number: Option<i64>, as_of: Option<Instant>) -> Figure {
    Figure {
        name,
        text: number.map_or_else(|| "\u{2013}".to_owned(), thousands),
        value: number.map_or(Value::Unknown, Value::Count),
        more: String::new(),
        as_of: as_of.filter(|_| number.is_some()),
        bad: false,
    }
}

fn state(facts: &Facts<'_>, list: ListState) -> Figure {
    let number = facts
        .counts
        .map(|counts| counts.by_state.get(&list).copied().unwrap_or(0));
    let figure = counted(list.slug(), number, facts.counts.map(|counts| counts.as_of));
    let more = match list {
        ListState::Processing => workers(facts.servers),
        ListState::Retrying => facts.forecast.map(due_soon),
        ListState::Failed => facts.digest.and_then(gave_up_last_hour),
        _ => None,
    };
    Figure {
        more: more.unwrap_or_default(),
        bad: list == ListState::Failed && number.is_some_and(|n| n > 0),
        ..figure
    }
}

/// `of 88 workers`.
fn workers(servers: &[Server]) -> Option<String> {
    let living = servers
        .iter()
        .filter(|server| server.heartbeat_age_ms <= Ages::SERVER * 1_000);
    let workers: i64 = living.filter_map(|server| server.workers).sum();
    (workers > 0).then(|| format!("of {}", count(workers, "worker")))
}

/// `213 due within the hour`.
fn due_soon(forecast: &Forecast) -> String {
    let due = forecast.retries();
    if forecast.known_to.is_some() {
        return format!("at least {} due within the hour", thousands(due));
    }
    format!("{} due within the hour", thousands(due))
}

/// `38 gave up 13:00–14:00, mean 12`: how many did in the last full hour, and in an hour of the last
/// seven days.
fn gave_up_last_hour(digest: &Digest) -> Option<String> {
    let (hour, spread) = digest.last_hour()?;
    let gave_up = thousands(spread.gave_up());
    // Tenths, because most sources have less than one an hour.
    let tenths = digest.week.gave_up().saturating_mul(10) / digest.hours_of_week().max(1);
    let mean = match (tenths / 10, tenths % 10) {
        (whole, 0) => thousands(whole),
        (whole, tenth) => format!("{}.{tenth}", thousands(whole)),
    };
    Some(format!(
        "{gave_up} gave up {}, mean {}",
        hour_words(*hour),
        mean
    ))
}

fn all_jobs(facts: &Facts<'_>) -> Figure {
    let number = facts
        .counts
        .map(|counts| counts.by_state.values().sum::<i64>() + counts.other.values().sum::<i64>());
    counted(ALL_JOBS, number, facts.counts.map(|counts| counts.as_of))
}

fn stale_claims(facts: &Facts<'_>) -> Figure {
    Figure {
        bad: facts.stale_claims.is_some_and(|stale| stale > 0),
        ..counted(STALE_CLAIMS, facts.stale_claims, None)
    }
}

fn succeeded_last_hour(facts: &Facts<'_>) -> Figure {
    let hour = facts.digest.and_then(Digest::last_hour);
    let number = hour.map(|(_, spread)| spread.succeeded());
    let as_of = facts.collected_at;
    let more = hour.map(|(_, spread)| match spread.after_retry() {
        0 => "none of them after a retry".to_owned(),
        n => format!("{} of them after a retry", thousands(n)),
    });
    Figure {
        more: more.unwrap_or_default(),
        ..counted(SUCCEEDED_LAST_HOUR, number, as_of)
    }
}

fn first_attempt(facts: &Facts<'_>) -> Figure {
    let compared = facts.digest.map(|digest| digest.first);
    let day = compared.map(|compared| compared.day).unwrap_or_default();
    let usual = compared.and_then(|compared| compared.usual.percent());
    Figure {
        name: FIRST_ATTEMPT,
        text: day.percent().unwrap_or_else(|| "\u{2013}".to_owned()),
        value: match day.denominator {
            0 => Value::Unknown,
            _ => Value::Share(day),
        },
        more: usual.map_or_else(String::new, |usual| format!("of 24 h, usual {usual}")),
        as_of: facts.digest.and(facts.collected_at),
        bad: facts
            .digest
            .is_some_and(|digest| digest.fall.is_some() || !digest.falls().is_empty()),
    }
}

/// `13:00–14:00`: an hour counted from 1970.
pub fn hour_words(hour: i64) -> String {
    let hours = hour.rem_euclid(24);
    format!("{hours:02}:00\u{2013}{:02}:00", (hours + 1) % 24)
}

impl Value {
    /// The count, or the share from 0 to 1.
    pub fn number(self) -> Option<String> {
        match self {
            Self::Count(count) => Some(count.to_string()),
            Self::Share(rate) => rate.share().map(|share| format!("{share}")),
            Self::Unknown => None,
        }
    }

    /// Numerator and denominator of a share.
    pub fn parts(self) -> (Option<u64>, Option<u64>) {
        match self {
            Self::Share(rate) => (Some(rate.numerator), Some(rate.denominator)),
            Self::Count(_) | Self::Unknown => (None, None),
        }
    }
}

/// How far the collector has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collecting {
    /// The highest id of a state row that was read; `None` while another process collects, or
    /// before the first look.
    pub watermark: Option<i64>,
    /// The highest id there is.
    pub highest: i64,
    /// Whether every row that could be seen was counted.
    pub caught_up: bool,
    /// Why it stands still, in words.
    pub trouble: Option<String>,
}

impl Collecting {
    /// How far, in percent; `None` where there is nothing to wait for.
    pub fn percent(&self) -> Option<i64> {
        let watermark = self.watermark.filter(|_| !self.caught_up)?;
        if self.highest <= 0 {
            return None;
        }
        Some((watermark.saturating_mul(100) / self.highest).clamp(0, 99))
    }

    /// What there is to say of it; `None` where all is well.
    pub fn words(&self) -> Option<String> {
        if let Some(trouble) = &self.trouble {
            return Some(format!(
                "Nothing is counted for now: {trouble}. It goes on by itself."
            ));
        }
        let percent = self.percent()?;
        Some(format!(
            "History is being read: {percent} %, state row {} of {}. Charts cover what is read so \
             far.",
            thousands(self.watermark.unwrap_or_default()),
            thousands(self.highest)
        ))
    }
}
