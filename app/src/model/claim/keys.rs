//! How a key maps to the job behind it: `invoice-email:{0}` is argument 0 of
//! `InvoiceEmailJob.SendAsync`.

mod argument;
mod pattern;
#[cfg(test)]
mod tests;

use super::ClaimsTable;
use crate::model::invocation::{Arguments, Invocation, TypeName};

pub use pattern::{KeyPattern, PatternError};

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRule {
    /// The pattern.
    pub pattern: KeyPattern,
    /// Type of the jobs: full name without assembly, or its last part.
    pub job_type: String,
    /// Methods; any where empty.
    pub methods: Vec<String>,
}

impl KeyRule {
    /// The key of a job that the rule is about; `None` for other jobs, and where the arguments do
    /// not say.
    pub fn matches(&self, invocation: &Invocation) -> Option<String> {
        let stored = invocation.type_name.as_deref()?;
        let method = invocation.method.as_deref();
        let fits = is_named(stored, &self.job_type)
            && (self.methods.is_empty() || self.methods.iter().any(|m| Some(m.as_str()) == method));
        if fits {
            self.pattern.key(invocation)
        } else {
            None
        }
    }
}

/// How a job was found to stand behind a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Match {
    /// By a configured rule.
    Rule,
    /// Its first argument is the key, or the part of the key after its last `:`. A guess.
    Argument,
}

impl ClaimsTable {
    /// The key of a job by the table's rules: the first one that is about it. `None` where no rule
    /// is, and for tables without rules.
    pub fn key_of(&self, invocation: &Invocation) -> Option<String> {
        self.keys.iter().find_map(|rule| rule.matches(invocation))
    }

    /// Whether a job stands behind a key, and how that is known: by the rules, or, where the table
    /// has none, by a guess.
    pub fn owner(&self, key: &str, invocation: &Invocation) -> Option<Match> {
        if self.keys.is_empty() {
            return guess(key, invocation).then_some(Match::Argument);
        }
        self.keys
            .iter()
            .any(|rule| rule.matches(invocation).as_deref() == Some(key))
            .then_some(Match::Rule)
    }

    /// The texts that an index files a job under, so that the jobs behind a key are found without
    /// reading all: its keys by the rules, or its first argument where the table has none. They are
    /// looked up by [`ClaimsTable::sought`].
    pub fn lookup_values(&self, invocation: &Invocation) -> Vec<String> {
        if self.keys.is_empty() {
            return first_argument(invocation).into_iter().collect();
        }
        let mut values: Vec<String> = self
            .keys
            .iter()
            .filter_map(|rule| rule.matches(invocation))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The texts under which an index holds the jobs behind a key.
    pub fn sought<'a>(&self, key: &'a str) -> Vec<&'a str> {
        let mut sought = vec![key];
        if self.keys.is_empty() {
            sought.extend(last_part(key));
        }
        sought
    }
}

/// Whether a job's first argument is the key, or its part after the last `:`.
pub fn guess(key: &str, invocation: &Invocation) -> bool {
    first_argument(invocation)
        .is_some_and(|value| value == key || last_part(key) == Some(value.as_str()))
}

/// The part after the last `:`, where there is one and it is not empty.
fn last_part(key: &str) -> Option<&str> {
    key.rsplit_once(':')
        .map(|(_, part)| part)
        .filter(|part| !part.is_empty())
}

fn first_argument(invocation: &Invocation) -> Option<String> {
    let Arguments::Values(values) = &invocation.arguments else {
        return None;
    };
    argument::text(values.first()?.as_deref()?).filter(|text| !text.is_empty())
}

/// Whether a stored type has this name: its full name, or what follows one of its dots. Assemblies
/// are left out of account, and nested types may be written with `+`.
pub(super) fn is_named(stored: &str, name: &str) -> bool {
    let name = name.trim().replace('+', ".");
    if name.is_empty() {
        return false;
    }
    let stored = TypeName::parse(stored);
    let full = stored.full();
    let name = name
        .split_once(", ")
        .map_or(name.as_str(), |(name, _)| name);
    full == name
        || stored.short() == name
        || full
            .strip_suffix(name)
            .is_some_and(|outer| outer.ends_with('.'))
}
