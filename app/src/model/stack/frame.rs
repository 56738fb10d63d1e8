//! One frame of a stack trace.

/// Names of frames that belong to .NET, to the job system or to a common library. A frame whose
/// name begins so is not the application's.
const FRAMEWORK: [&str; 22] = [
    "System.",
    "Microsoft.",
    "Hangfire.",
    "Npgsql.",
    "InvokeStub_",
    "lambda_method",
    "Quartz.",
    "Newtonsoft.",
    "Interop.",
    "Internal.",
    "MySql.",
    "MySqlConnector.",
    "Oracle.",
    "SQLite.",
    "SQLitePCL.",
    "Dapper.",
    "Polly.",
    "Grpc.",
    "MassTransit.",
    "RabbitMQ.",
    "StackExchange.",
    "Castle.",
];

/// The word before a frame, in the languages of .NET Framework's messages that are met most.
const AT: [&str; 7] = [
    "at ", "bei ", "\u{e0} ", "en ", "in ", "\u{432} ", "konum: ",
];

/// One frame: a call that was under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Type and method as stored: `Bookstore.Jobs.ReportJobs.Deeper`.
    pub method: String,
    /// The parameters as stored, without parentheses: `Int32 depth`.
    pub parameters: String,
    /// The source file, where symbols were at hand.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// Whether it is the application's own, rather than the framework's.
    pub application: bool,
}

impl Frame {
    /// Reads a line such as `at App.Job.Run(Int32 id) in /src/Job.cs:line 12`. `None` for a line
    /// that is no frame.
    pub(super) fn parse(line: &str, own_namespace: Option<&str>) -> Option<Self> {
        let call = AT.iter().find_map(|at| line.strip_prefix(at))?;
        let (method, rest) = call.split_once('(')?;
        if method.is_empty() || method.contains(' ') {
            return None;
        }
        let (parameters, location) = match rest.split_once(") ") {
            Some((parameters, after)) => (parameters, after.split_once(' ').map(|(_, at)| at)),
            None => (rest.strip_suffix(')')?, None),
        };
        let (file, line) = location.map_or((None, None), place);
        Some(Self {
            method: method.to_owned(),
            parameters: parameters.to_owned(),
            file,
            line,
            application: is_application(method, own_namespace),
        })
    }

    /// The file's name without its folders.
    pub fn file_name(&self) -> Option<&str> {
        self.file
            .as_deref()
            .and_then(|file| file.rsplit(['/', '\\']).next())
    }
}

/// `/src/Job.cs:line 12`; the word before the number depends on the language.
fn place(location: &str) -> (Option<String>, Option<u32>) {
    let numbered = location.rsplit_once(':').and_then(|(file, rest)| {
        let number = rest.trim_end_matches('.').rsplit(' ').next()?;
        Some((file, number.parse().ok()?))
    });
    match numbered {
        Some((file, line)) => (Some(file.to_owned()), Some(line)),
        None => (Some(location.to_owned()), None),
    }
}

fn is_application(method: &str, own_namespace: Option<&str>) -> bool {
    let own = own_namespace.is_some_and(|namespace| {
        !namespace.is_empty()
            && method
                .strip_prefix(namespace)
                .is_some_and(|rest| rest.starts_with('.'))
    });
    own || !FRAMEWORK.iter().any(|prefix| method.starts_with(prefix))
}
