//! Exception details read line by line: the application's own frames among the framework's.

mod frame;

pub use frame::Frame;

/// One exception of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExceptionHead {
    /// Full name of its type; `None` where the text does not begin with one.
    pub type_name: Option<String>,
    /// Its message, the first line of it.
    pub message: String,
}

/// What a line of exception details is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// One or more exceptions, outermost first: `A: x ---> B: y`.
    Exceptions(Vec<ExceptionHead>),
    /// A stack frame.
    Frame(Frame),
    /// `--- End of inner exception stack trace ---` and its like.
    Marker(String),
    /// Anything else: more of a message, for example. May be empty.
    Text(String),
}

/// Exception details in lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackTrace {
    /// Every line, in stored order.
    pub lines: Vec<Line>,
}

impl StackTrace {
    /// Reads stored details. Frames in `own_namespace`, the namespace of the job's type, are the
    /// application's even where it begins like a framework's. Never fails: a line of no known
    /// form is text.
    pub fn parse(details: &str, own_namespace: Option<&str>) -> Self {
        let mut expects_head = true;
        let lines = details
            .trim_end()
            .lines()
            .map(|raw| {
                let line = raw.trim();
                if let Some(frame) = Frame::parse(line, own_namespace) {
                    expects_head = false;
                    return Line::Frame(frame);
                }
                if line.starts_with("--- ") && line.ends_with("---") {
                    return Line::Marker(line.to_owned());
                }
                let inner = line.strip_prefix("---> ");
                if let Some(heads) = inner.or(expects_head.then_some(line)) {
                    expects_head = false;
                    return Line::Exceptions(heads.split(" ---> ").map(head).collect());
                }
                Line::Text(line.to_owned())
            })
            .collect();
        Self { lines }
    }

    /// The exceptions of the chain, outermost first.
    pub fn exceptions(&self) -> impl Iterator<Item = &ExceptionHead> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                Line::Exceptions(heads) => Some(heads),
                _ => None,
            })
            .flatten()
    }

    /// The innermost exception: usually the cause.
    pub fn innermost(&self) -> Option<&ExceptionHead> {
        self.exceptions().last()
    }

    /// The frames, in stored order: the innermost call first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.lines.iter().filter_map(|line| match line {
            Line::Frame(frame) => Some(frame),
            _ => None,
        })
    }

    /// The application's frame nearest to where the innermost exception was thrown.
    pub fn first_application_frame(&self) -> Option<&Frame> {
        self.frames().find(|frame| frame.application)
    }
}

fn head(text: &str) -> ExceptionHead {
    let text = text.trim();
    let without_number = text
        .strip_prefix("(Inner Exception #")
        .and_then(|rest| rest.split_once(") "))
        .map_or(text, |(_, rest)| rest);
    let (name, message) = without_number
        .split_once(": ")
        .unwrap_or((without_number.trim_end_matches(':'), ""));
    if is_type_name(name) {
        ExceptionHead {
            type_name: Some(name.to_owned()),
            message: message.to_owned(),
        }
    } else {
        ExceptionHead {
            type_name: None,
            message: text.to_owned(),
        }
    }
}

/// Whether a text before a colon is a type's name rather than the beginning of a sentence.
fn is_type_name(name: &str) -> bool {
    name.contains(|c: char| c.is_alphabetic())
        && name.split('.').all(|part| !part.is_empty())
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '`' | '[' | ']' | ','))
}

#[cfg(test)]
mod tests;
