//! The report in words and as JSON.

use std::fmt::Write as _;

use app::model::health::{Check, Severity, Sighting};
use app::ports::source::{Access, SourceInfo};
use serde_json::{Value, json};

use super::Report;

/// From this on a clock's skew is worth a line, in milliseconds.
const SKEW_NOTICE_MS: i64 = 1_000;
/// From this on ages and due times are misjudged, in milliseconds.
const SKEW_ACTION_MS: i64 = 30_000;

/// The report in one word; also the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing that needs action.
    Well,
    /// Something needs action.
    Findings,
    /// Something could not be checked, and nothing else needs action.
    CannotCheck,
}

impl Verdict {
    /// 0, 1 or 2.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Findings => 1,
            Self::CannotCheck => 2,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Findings => "findings",
            Self::CannotCheck => "cannot-check",
        }
    }
}

impl Report {
    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        let Ok(info) = &self.info else {
            return Verdict::CannotCheck;
        };
        if is_skewed(info) || self.findings(Severity::Action).next().is_some() {
            Verdict::Findings
        } else if self.checks.iter().any(|(_, seen)| seen.is_err()) {
            Verdict::CannotCheck
        } else {
            Verdict::Well
        }
    }

    fn findings(&self, severity: Severity) -> impl Iterator<Item = (Check, &Sighting)> {
        self.checks
            .iter()
            .filter_map(|(check, seen)| Some((*check, seen.as_ref().ok()?)))
            .filter(move |(check, seen)| seen.count > 0 && check.severity() == severity)
    }

    /// The report for people, one paragraph per finding, the gravest first.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "Source {}", self.source)?;
        let info = match &self.info {
            Ok(info) => info,
            Err(error) => return writeln!(out, "  cannot be checked: {error}"),
        };
        write_info(out, info)?;
        let titles = [
            (Severity::Action, "NEEDS ACTION"),
            (Severity::Notice, "notice"),
        ];
        for (severity, title) in titles {
            for (check, seen) in self.findings(severity) {
                writeln!(out, "\n{title}: {} {}", seen.count, check.what(seen.count))?;
                if let Some(detail) = &seen.detail {
                    writeln!(out, "  {detail}")?;
                }
                let named = i64::try_from(seen.examples.len()).unwrap_or(i64::MAX);
                let more = if seen.count > named { ", …" } else { "" };
                writeln!(out, "  which: {}{more}", seen.examples.join(", "))?;
                writeln!(out, "  means: {}", check.meaning())?;
                writeln!(out, "  to do: {}", check.remedy())?;
            }
        }
        for (check, seen) in &self.checks {
            if let Err(error) = seen {
                writeln!(out, "\nnot checked: {} ({error})", check.slug())?;
            }
        }
        let quiet = self
            .checks
            .iter()
            .filter(|(_, seen)| seen.as_ref().is_ok_and(|seen| seen.count == 0))
            .count();
        writeln!(
            out,
            "\n{quiet} of {} checks found nothing.",
            self.checks.len()
        )
    }

    /// The report for programs.
    pub fn json(&self) -> Value {
        let checks: Vec<Value> = self
            .checks
            .iter()
            .map(|(check, seen)| match seen {
                Ok(seen) => json!({
                    "check": check.slug(),
                    "needs_action": check.severity() == Severity::Action && seen.count > 0,
                    "count": seen.count,
                    "examples": seen.examples,
                    "detail": seen.detail,
                    "what": check.what(seen.count),
                    "meaning": check.meaning(),
                    "remedy": check.remedy(),
                }),
                Err(error) => json!({ "check": check.slug(), "error": error.to_string() }),
            })
            .collect();
        let info = match &self.info {
            Ok(info) => json!({
                "system": info.dialect.label(),
                "server_version": info.server_version,
                "schema_version": info.schema_version,
                "writable": info.access == Access::ReadWrite,
                "read_only_because": match &info.access {
                    Access::ReadOnly { why, .. } => Some(why),
                    Access::ReadWrite => None,
                },
                "numbers": info.numbers.words(),
                "clock_skew_ms": info.clock_skew_ms,
            }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        json!({
            "source": self.source,
            "verdict": self.verdict().word(),
            "database": info,
            "checks": checks,
        })
    }
}

fn is_skewed(info: &SourceInfo) -> bool {
    info.clock_skew_ms.abs() >= SKEW_ACTION_MS
}

fn write_info(out: &mut String, info: &SourceInfo) -> std::fmt::Result {
    let schema = info.schema_version.map_or_else(String::new, |version| {
        format!(", Hangfire schema version {version}")
    });
    writeln!(
        out,
        "  {} {}{schema}",
        info.dialect.label(),
        info.server_version
    )?;
    match &info.access {
        Access::ReadWrite => writeln!(out, "  may be read and acted upon")?,
        Access::ReadOnly { why, remedy } => {
            writeln!(out, "  read-only: {why}")?;
            if remedy.is_some() {
                writeln!(
                    out,
                    "  `redrive migrate --print` gives the SQL that would change it"
                )?;
            }
        }
    }
    writeln!(out, "  numbers {}", info.numbers.words())?;
    let skew = info.clock_skew_ms;
    let (ahead, size) = (skew >= 0, skew.unsigned_abs());
    let direction = if ahead { "ahead of" } else { "behind" };
    if skew.abs() < SKEW_NOTICE_MS {
        writeln!(out, "  clocks agree within a second")
    } else {
        let title = if is_skewed(info) {
            "NEEDS ACTION"
        } else {
            "notice"
        };
        writeln!(
            out,
            "  {title}: the database's clock is {}.{:03} s {direction} this host's; ages and due \
             times are judged by the database's",
            size / 1000,
            size % 1000
        )
    }
}
