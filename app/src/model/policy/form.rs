//! A policy as a form asks for it: words in, a policy or a sentence out.

use super::{Delays, Origin, Policy, QuartzPolicy};

/// The sorts of policies that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PolicySort {
    /// Hangfire's default formula.
    #[default]
    Default,
    /// Hangfire's list of delays.
    List,
    /// Quartz: the same delay each time.
    Fixed,
    /// Quartz: growing delays.
    Exponential,
    /// Quartz: a delay for each retry.
    Explicit,
}

impl PolicySort {
    /// All, in the order of the form.
    pub const ALL: [Self; 5] = [
        Self::Default,
        Self::List,
        Self::Fixed,
        Self::Exponential,
        Self::Explicit,
    ];

    /// The word in URLs.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Default => "hangfire",
            Self::List => "list",
            Self::Fixed => "fixed",
            Self::Exponential => "exponential",
            Self::Explicit => "explicit",
        }
    }

    /// The words for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Default => "Hangfire: default formula",
            Self::List => "Hangfire: list of delays",
            Self::Fixed => "Quartz: fixed",
            Self::Exponential => "Quartz: exponential",
            Self::Explicit => "Quartz: explicit list",
        }
    }

    /// Reads the word of a URL.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.slug() == text)
    }

    /// Whether Quartz runs it, which drops retries that would displace the next regular run.
    pub fn is_quartz(self) -> bool {
        matches!(self, Self::Fixed | Self::Exponential | Self::Explicit)
    }
}

/// What a form says of a policy. Empty fields take the value that an empty form shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyForm {
    /// Which sort.
    pub sort: PolicySort,
    /// Retries at most.
    pub retries: String,
    /// Delays, parted by commas: of the lists.
    pub delays: String,
    /// The delay: of the fixed policy; and the first one of the exponential.
    pub delay: String,
    /// What each delay is of the one before it.
    pub factor: String,
    /// The longest delay, empty for none.
    pub max_delay: String,
    /// How far chance stretches or shrinks each delay, from 0 to 1.
    pub jitter: String,
    /// How often the scheduler looks.
    pub poll: String,
    /// When the trigger or recurring job runs next, empty for never.
    pub every: String,
}

/// What a form asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedPolicy {
    /// The policy.
    pub policy: Policy,
    /// How often the scheduler looks, in milliseconds.
    pub poll_ms: i64,
    /// When the trigger or recurring job runs next, in milliseconds.
    pub every_ms: Option<i64>,
}

impl PolicyForm {
    /// Retries and delays that are played through at most.
    pub const MOST: u32 = super::Simulation::MOST;

    /// The form with empty fields filled in.
    #[must_use]
    pub fn filled(&self) -> Self {
        let or = |text: &str, default: &str| match text.trim() {
            "" => default.to_owned(),
            text => text.to_owned(),
        };
        let retries = match self.sort {
            PolicySort::Default => "10",
            PolicySort::List => "5",
            _ => "3",
        };
        let quartz = self.sort.is_quartz();
        Self {
            sort: self.sort,
            retries: or(&self.retries, retries),
            delays: or(&self.delays, "10 s, 1 min, 5 min"),
            delay: or(&self.delay, "30 s"),
            factor: or(&self.factor, "2"),
            max_delay: self.max_delay.trim().to_owned(),
            jitter: or(&self.jitter, "0"),
            // Hangfire looks at its schedule every 15 s; Quartz waits for the instant itself.
            poll: or(&self.poll, if quartz { "0 s" } else { "15 s" }),
            every: self.every.trim().to_owned(),
        }
    }

    /// Reads the fields that its sort has.
    ///
    /// # Errors
    /// A sentence that names the field and says what it may be.
    pub fn read(&self) -> Result<AskedPolicy, String> {
        let form = self.filled();
        let retries = || -> Result<u32, String> {
            let most = Self::MOST;
            form.retries
                .parse()
                .ok()
                .filter(|retries| *retries <= most)
                .ok_or_else(|| {
                    format!(
                        "\u{201c}retries\u{201d} must be a whole number from 0 to {most}, not \
                         \u{201c}{}\u{201d}",
                        form.retries
                    )
                })
        };
        let delays = match form.sort {
            PolicySort::Default => Delays::HangfireDefault,
            PolicySort::List => Delays::List(list(&form.delays)?),
            PolicySort::Fixed => Delays::Quartz(QuartzPolicy::Fixed {
                retries: retries()?,
                delay_ms: duration("delay", &form.delay)?,
            }),
            PolicySort::Explicit => Delays::Quartz(QuartzPolicy::Explicit {
                delays_ms: list(&form.delays)?,
            }),
            PolicySort::Exponential => Delays::Quartz(exponential(&form, retries()?)?),
        };
        let retries = match &delays {
            Delays::Quartz(policy) => policy.retries(),
            _ => retries()?,
        };
        Ok(AskedPolicy {
            policy: Policy {
                retries,
                delays,
                origin: Origin::Stored,
            },
            poll_ms: duration("poll", &form.poll)?,
            every_ms: match form.every.as_str() {
                "" => None,
                text => Some(duration("every", text)?).filter(|ms| *ms > 0),
            },
        })
    }
}

fn exponential(form: &PolicyForm, retries: u32) -> Result<QuartzPolicy, String> {
    let number = |name: &str, text: &str, from: f64, to: f64| {
        text.parse()
            .ok()
            .filter(|number: &f64| (from..=to).contains(number))
            .ok_or_else(|| {
                format!(
                    "\u{201c}{name}\u{201d} must be a number from {from} to {to}, not \
                     \u{201c}{text}\u{201d}"
                )
            })
    };
    let initial_ms = duration("delay", &form.delay)?;
    let max_delay_ms = match form.max_delay.as_str() {
        "" => None,
        text => Some(duration("max_delay", text)?),
    };
    if max_delay_ms.is_some_and(|longest| longest < initial_ms) {
        return Err(
            "\u{201c}max_delay\u{201d} must not be shorter than the first delay: Quartz refuses \
             such a policy"
                .to_owned(),
        );
    }
    Ok(QuartzPolicy::Exponential {
        retries,
        initial_ms,
        factor: number("factor", &form.factor, 1.0, 1_000.0)?,
        max_delay_ms,
        jitter: number("jitter", &form.jitter, 0.0, 1.0)?,
    })
}

/// Delays parted by commas or semicolons.
fn list(text: &str) -> Result<Vec<i64>, String> {
    let delays: Vec<i64> = text
        .split([',', ';'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| duration("delays", part))
        .collect::<Result<_, _>>()?;
    match delays.len() {
        0 => Err("\u{201c}delays\u{201d} must hold one duration at least".to_owned()),
        n if n > PolicyForm::MOST as usize => Err(format!(
            "\u{201c}delays\u{201d} may hold {} durations at most, not {n}",
            PolicyForm::MOST
        )),
        _ => Ok(delays),
    }
}

/// `90s`, `1.5 min`, `2h`, `1 d`, `250 ms`; without a unit seconds; `hh:mm:ss` too.
fn duration(name: &str, text: &str) -> Result<i64, String> {
    milliseconds(text.trim()).ok_or_else(|| {
        format!(
            "\u{201c}{name}\u{201d} must be a duration of at most ten years, such as 250ms, 90s, \
             1.5 min, 2h, 30d or 00:05:00, not \u{201c}{text}\u{201d}"
        )
    })
}

fn milliseconds(text: &str) -> Option<i64> {
    const LONGEST: f64 = 3_650.0 * 86_400_000.0;
    if text.contains(':') {
        let fields: Vec<u32> = text
            .split(':')
            .map(|field| field.parse().ok())
            .collect::<Option<_>>()?;
        let [hours, minutes, seconds] = fields.try_into().ok()?;
        let seconds = i64::from(hours) * 3_600 + i64::from(minutes) * 60 + i64::from(seconds);
        return Some(seconds * 1_000).filter(|_| minutes < 60);
    }
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "ms" => 1.0,
        "" | "s" | "sec" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let ms = (number * unit).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole, not negative and below the longest duration"
    )]
    (0.0..=LONGEST).contains(&ms).then_some(ms as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::policy::Band;

    fn form(sort: PolicySort) -> PolicyForm {
        PolicyForm {
            sort,
            ..PolicyForm::default()
        }
    }

    #[test]
    fn an_empty_form_is_hangfires_default() {
        let asked = PolicyForm::default().read().unwrap();
        assert_eq!(asked.policy.retries, 10);
        assert_eq!(asked.policy.delays, Delays::HangfireDefault);
        assert_eq!((asked.poll_ms, asked.every_ms), (15_000, None));
    }

    #[test]
    fn every_sort_has_its_fields() {
        let list = PolicyForm {
            delays: "2 s, 5s".into(),
            retries: "3".into(),
            ..form(PolicySort::List)
        };
        let asked = list.read().unwrap();
        assert_eq!(asked.policy.delays, Delays::List(vec![2_000, 5_000]));
        assert_eq!(asked.policy.band(3), Some(Band::exactly(5_000)));
        let fixed = PolicyForm {
            delay: "00:05:00".into(),
            every: "1 h".into(),
            ..form(PolicySort::Fixed)
        };
        let asked = fixed.read().unwrap();
        assert_eq!((asked.policy.retries, asked.poll_ms), (3, 0));
        assert_eq!(asked.policy.band(1), Some(Band::exactly(300_000)));
        assert_eq!(asked.every_ms, Some(3_600_000));
        let explicit = PolicyForm {
            delays: "10; 60; 3600".into(),
            retries: "99".into(),
            ..form(PolicySort::Explicit)
        };
        // Quartz takes as many retries as the list is long.
        assert_eq!(explicit.read().unwrap().policy.retries, 3);
        let exponential = PolicyForm {
            delay: "2 s".into(),
            jitter: "0.5".into(),
            max_delay: "5 s".into(),
            ..form(PolicySort::Exponential)
        };
        let policy = exponential.read().unwrap().policy;
        assert_eq!(
            policy.band(2),
            Some(Band {
                min_ms: 2_000,
                max_ms: 5_000
            })
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_words() {
        let refused = |form: PolicyForm, word: &str| {
            let why = form.read().unwrap_err();
            assert!(why.contains(word), "{why}");
        };
        for retries in ["-1", "201", "many", "1e3"] {
            refused(
                PolicyForm {
                    retries: retries.into(),
                    ..PolicyForm::default()
                },
                "retries",
            );
        }
        for delays in [",", "soon", "10 weeks", "4000d"] {
            refused(
                PolicyForm {
                    delays: delays.into(),
                    ..form(PolicySort::List)
                },
                "delays",
            );
        }
        for (factor, jitter, max_delay, word) in [
            ("0.5", "0", "", "factor"),
            ("NaN", "0", "", "factor"),
            ("2", "1.5", "", "jitter"),
            ("2", "0", "1 s", "max_delay"),
        ] {
            refused(
                PolicyForm {
                    factor: factor.into(),
                    jitter: jitter.into(),
                    max_delay: max_delay.into(),
                    ..form(PolicySort::Exponential)
                },
                word,
            );
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ms) in [
            ("90s", Some(90_000)),
            ("90", Some(90_000)),
            ("1.5 min", Some(90_000)),
            ("2H", Some(7_200_000)),
            ("250ms", Some(250)),
            ("0", Some(0)),
            ("1 d", Some(86_400_000)),
            ("01:00:01", Some(3_601_000)),
            ("00:61:00", None),
            ("1:2", None),
            ("-5", None),
            ("", None),
            ("1.2.3", None),
            ("3651d", None),
        ] {
            assert_eq!(milliseconds(text), ms, "{text}");
        }
    }
}
