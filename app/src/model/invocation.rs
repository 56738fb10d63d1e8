//! What a job calls: its type, method and arguments, from the stored data alone.
//!
//! Types are never loaded, so a job whose class no longer exists still has a name.

/// The arguments of a call, as far as the store loaded them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// One entry per parameter: JSON text, or `None` where the stored entry is null (injected
    /// parameters, such as cancellation tokens, are null).
    Values(Vec<Option<String>>),
    /// The first characters of the stored array; the rest was not read.
    Cut(String),
    /// Not read, because of their size.
    TooLarge,
    /// The stored text is not an array; its first characters.
    Corrupt(String),
}

/// What a job calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The type's name as stored, with assembly: `Bookstore.Jobs.ImportJob, Bookstore.Jobs`.
    pub type_name: Option<String>,
    /// The method's name.
    pub method: Option<String>,
    /// Names of the parameters' types as stored; empty where they are not known.
    pub parameter_types: Vec<String>,
    /// The arguments.
    pub arguments: Arguments,
    /// The job's own queue, where it has one.
    pub own_queue: Option<String>,
}
