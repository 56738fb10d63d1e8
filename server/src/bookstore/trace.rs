//! Exceptions with the stack traces that .NET prints.

/// What a job throws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Full name of the exception's type.
    pub(super) type_name: &'static str,
    /// Its message.
    pub(super) message: String,
    /// The text of the exception with its trace, as Hangfire keeps it.
    pub(super) details: String,
}

/// The end of every trace: Hangfire's call of the method.
const TAIL: [&str; 2] = [
    "InvokeStub_TaskAwaiter.GetResult(Object, Object, IntPtr*)",
    "System.Reflection.MethodBaseInvoker.InvokeWithNoArgs(Object obj, BindingFlags invokeAttr)",
];

impl Fault {
    /// An exception with its frames, innermost first. A frame may name its source file.
    pub(super) fn new(
        type_name: &'static str,
        message: impl Into<String>,
        frames: &[&str],
    ) -> Self {
        let message = message.into();
        let mut details = format!("{type_name}: {message}\n");
        push_frames(&mut details, frames.iter().chain(&TAIL));
        Self {
            type_name,
            message,
            details,
        }
    }

    /// As [`Fault::new`], with inner exceptions: each `(type, message, frames)`, the innermost
    /// last.
    pub(super) fn nested(
        type_name: &'static str,
        message: impl Into<String>,
        frames: &[&str],
        inner: &[(&str, &str, &[&str])],
    ) -> Self {
        let message = message.into();
        let mut details = format!("{type_name}: {message}");
        for (inner_type, inner_message, _) in inner {
            details.push_str(" ---> ");
            details.push_str(inner_type);
            details.push_str(": ");
            details.push_str(inner_message);
        }
        details.push('\n');
        for (_, _, inner_frames) in inner.iter().rev() {
            push_frames(&mut details, inner_frames.iter());
            details.push_str("   --- End of inner exception stack trace ---\n");
        }
        push_frames(&mut details, frames.iter().chain(&TAIL));
        Self {
            type_name,
            message,
            details,
        }
    }
}

fn push_frames<'a>(details: &mut String, frames: impl Iterator<Item = &'a &'a str>) {
    for frame in frames {
        details.push_str("   at ");
        details.push_str(frame);
        details.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_exceptions_are_printed_as_dotnet_prints_them() {
        let fault = Fault::nested(
            "System.InvalidOperationException",
            "outer",
            &["A.B()"],
            &[
                ("System.IO.IOException", "middle", &["C.D()"]),
                ("System.FormatException", "inner", &["E.F()"]),
            ],
        );
        assert!(fault.details.starts_with(
            "System.InvalidOperationException: outer ---> System.IO.IOException: middle ---> \
             System.FormatException: inner\n   at E.F()\n   --- End of inner exception stack trace \
             ---\n   at C.D()\n   --- End of inner exception stack trace ---\n   at A.B()\n   at \
             InvokeStub_TaskAwaiter"
        ));
    }
}
