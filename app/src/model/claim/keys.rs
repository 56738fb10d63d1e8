//! How a key maps to the job behind it: `invoice-email:{0}` is argument 0 of
//! `InvoiceEmailJob.SendAsync`.

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

/// A key with places for arguments: `invoice-email:{0}`, `order:{1.OrderId}`. Doubled braces stand
/// for themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPattern {
    text: String,
}

impl KeyPattern {
    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
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

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(pub String);
