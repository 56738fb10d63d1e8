//! Retry policies as Quartz.NET 4 stores them with a trigger.

use chrono::TimeDelta;

use super::Band;
use crate::model::state::Instant;

/// .NET's longest time span, in milliseconds; delays saturate at it.
const LONGEST_MS: i64 = 922_337_203_685_477;

/// A policy of a trigger. Delays are in milliseconds, `retries` counts those after the first
/// failure.
#[derive(Debug, Clone, PartialEq)]
pub enum QuartzPolicy {
    /// The same delay each time.
    Fixed {
        /// Retries at most.
        retries: u32,
        /// The delay.
        delay_ms: i64,
    },
    /// `initial * factor^(n-1)`, at most the longest delay.
    Exponential {
        /// Retries at most.
        retries: u32,
        /// The delay before the first retry.
        initial_ms: i64,
        /// What each delay is of the one before it, from 1 on.
        factor: f64,
        /// The longest delay, where there is one.
        max_delay_ms: Option<i64>,
        /// How far chance may stretch or shrink each delay, as a share of it from 0 to 1.
        jitter: f64,
    },
    /// A delay for each retry.
    Explicit {
        /// The delays, in order.
        delays_ms: Vec<i64>,
    },
    /// Never retries, and inherits no policy.
    None,
}

impl QuartzPolicy {
    /// A retry due this close before the trigger's next regular run, or later, is dropped.
    pub const DROPPED_WITHIN_MS: i64 = 1_000;

    /// Reads the column `RETRY_POLICY`: `fixed;3;00:05:00`, `exp;5;00:00:30;2`,
    /// `exp;5;00:00:30;2;00:10:00;j0.2`, `list;00:00:10;00:01:00`, `none`. `None` for anything
    /// else: a newer form, or values that Quartz itself would refuse. An empty column means that
    /// the trigger has no policy of its own and may inherit one, which is not stored.
    pub fn parse(stored: &str) -> Option<Self> {
        let fields: Vec<&str> = stored.trim().split(';').map(str::trim).collect();
        match *fields.as_slice() {
            ["none"] => Some(Self::None),
            ["fixed", retries, delay] => Some(Self::Fixed {
                retries: at_least_one(retries)?,
                delay_ms: time_span(delay)?,
            }),
            ["list", ref delays @ ..] if !delays.is_empty() => Some(Self::Explicit {
                delays_ms: delays
                    .iter()
                    .map(|delay| time_span(delay))
                    .collect::<Option<_>>()?,
            }),
            ["exp", retries, initial, factor, ref rest @ ..] => {
                exponential(retries, initial, factor, rest)
            }
            _ => None,
        }
    }

    /// Retries at most, after the first failure.
    pub fn retries(&self) -> u32 {
        match self {
            Self::Fixed { retries, .. } | Self::Exponential { retries, .. } => *retries,
            Self::Explicit { delays_ms } => u32::try_from(delays_ms.len()).unwrap_or(u32::MAX),
            Self::None => 0,
        }
    }

    /// The delay before retry `n`, from 1; `None` past the last one.
    pub fn band(&self, n: u32) -> Option<Band> {
        if n == 0 || n > self.retries() {
            return None;
        }
        match self {
            Self::Fixed { delay_ms, .. } => Some(Band::exactly(*delay_ms)),
            Self::Explicit { delays_ms } => delays_ms
                .get(usize::try_from(n - 1).ok()?)
                .map(|ms| Band::exactly(*ms)),
            Self::Exponential {
                initial_ms,
                factor,
                max_delay_ms,
                jitter,
                ..
            } => {
                let longest = max_delay_ms.unwrap_or(LONGEST_MS);
                let steps = i32::try_from(n - 1).unwrap_or(i32::MAX);
                let delay = scaled(*initial_ms, factor.powi(steps), longest);
                Some(Band {
                    min_ms: scaled(delay, 1.0 - jitter, longest),
                    max_ms: scaled(delay, 1.0 + jitter, longest),
                })
            }
            Self::None => None,
        }
    }

    /// Whether a retry at `retry_at` is dropped, because the trigger's next regular run comes
    /// before it or within a second of it: a retry never displaces a regular run.
    pub fn is_dropped(retry_at: Instant, next_regular_run: Option<Instant>) -> bool {
        next_regular_run.is_some_and(|next| {
            retry_at
                .checked_add_signed(TimeDelta::milliseconds(Self::DROPPED_WITHIN_MS))
                .is_none_or(|reach| reach >= next)
        })
    }
}

fn exponential(retries: &str, initial: &str, factor: &str, rest: &[&str]) -> Option<QuartzPolicy> {
    let (max_delay, jitter) = match *rest {
        [] => (None, None),
        [one] => match one.strip_prefix('j') {
            Some(jitter) => (None, Some(jitter)),
            None => (Some(one), None),
        },
        [max_delay, jitter] => (Some(max_delay), Some(jitter.strip_prefix('j')?)),
        _ => return None,
    };
    let initial_ms = time_span(initial)?;
    let factor: f64 = factor.parse().ok()?;
    let max_delay_ms = match max_delay {
        Some(text) => Some(time_span(text)?),
        None => None,
    };
    let jitter: f64 = match jitter {
        Some(text) => text.parse().ok()?,
        None => 0.0,
    };
    let valid = factor.is_finite()
        && factor >= 1.0
        && (0.0..=1.0).contains(&jitter)
        && max_delay_ms.is_none_or(|longest| longest >= initial_ms);
    valid.then_some(QuartzPolicy::Exponential {
        retries: at_least_one(retries)?,
        initial_ms,
        factor,
        max_delay_ms,
        jitter,
    })
}

fn at_least_one(text: &str) -> Option<u32> {
    text.parse().ok().filter(|retries| *retries >= 1)
}

/// `ms * by`, rounded, at most `longest`.
fn scaled(ms: i64, by: f64, longest: i64) -> i64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 2^53 ms, 285,000 years, the last digits do not matter"
    )]
    let (product, limit) = (ms as f64 * by, longest as f64);
    if product >= limit {
        return longest;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below the limit, which is an i64"
    )]
    let whole = product.round() as i64;
    whole.max(0)
}

/// Milliseconds of a .NET time span in its constant format, `[d.]hh:mm:ss[.fffffff]`, not
/// negative.
fn time_span(text: &str) -> Option<i64> {
    let (days, clock) = match text.split_once(':')?.0.split_once('.') {
        Some((days, _)) => (digits(days)?, text.split_once('.')?.1),
        None => (0, text),
    };
    let mut fields = clock.splitn(3, ':');
    let hours = digits(fields.next()?).filter(|hours| *hours < 24)?;
    let minutes = digits(fields.next()?).filter(|minutes| *minutes < 60)?;
    let seconds = fields.next()?;
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let seconds = digits(seconds).filter(|seconds| *seconds < 60)?;
    let ms = match fraction {
        "" => 0,
        fraction if fraction.len() <= 7 => {
            digits(&format!("{fraction:0<7}"))?.saturating_add(5_000) / 10_000
        }
        _ => return None,
    };
    let total = ((days.checked_mul(24)? + hours) * 60 + minutes).checked_mul(60)? + seconds;
    total.checked_mul(1000)?.checked_add(ms)
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}
