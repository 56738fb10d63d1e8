use super::*;
use crate::model::testing;

/// Details of a recorded failure.
fn recorded(path: &str, state: i64) -> String {
    testing::jobs(path)
        .values()
        .flat_map(|job| &job.rows)
        .find(|row| row.id == state)
        .unwrap()
        .data
        .get("ExceptionDetails")
        .unwrap()
        .to_owned()
}

fn parse(details: &str) -> StackTrace {
    StackTrace::parse(details, Some("Bookstore.Jobs"))
}

#[test]
fn inner_exceptions_and_own_frames_are_found() {
    let trace = parse(&recorded("shapes-170-full/rows.json", 41));
    let chain: Vec<(&str, &str)> = trace
        .exceptions()
        .map(|e| (e.type_name.as_deref().unwrap(), e.message.as_str()))
        .collect();
    assert_eq!(
        chain,
        [
            (
                "System.InvalidOperationException",
                "The report could not be written"
            ),
            (
                "Bookstore.Jobs.SupplierUnavailableException",
                "Level 3 failed"
            ),
            (
                "Bookstore.Jobs.SupplierUnavailableException",
                "Level 2 failed"
            ),
            (
                "Bookstore.Jobs.SupplierUnavailableException",
                "Level 1 failed"
            ),
            (
                "System.FormatException",
                "Input string '12,5O' was not in a correct format."
            ),
        ]
    );
    assert_eq!(
        trace.innermost().unwrap().type_name.as_deref(),
        Some("System.FormatException")
    );
    assert_eq!(
        trace.first_application_frame(),
        Some(&Frame {
            method: "Bookstore.Jobs.ReportJobs.Deeper".into(),
            parameters: "Int32 depth".into(),
            file: Some("/src/Bookstore.Jobs/HangfireJobs.cs".into()),
            line: Some(139),
            application: true,
        })
    );
    let own = trace.frames().filter(|frame| frame.application).count();
    assert_eq!((own, trace.frames().count()), (9, 11));
    let markers = trace
        .lines
        .iter()
        .filter(|line| matches!(line, Line::Marker(_)))
        .count();
    assert_eq!(markers, 4);
}

#[test]
fn framework_frames_are_told_from_own_ones() {
    let trace = parse(&recorded("shapes-170-full/rows.json", 33));
    let frames: Vec<(&str, bool)> = trace
        .frames()
        .map(|frame| (frame.method.as_str(), frame.application))
        .collect();
    assert_eq!(
        frames,
        [
            (
                "Bookstore.Jobs.ReportJobs.<>c.<AggregateAsync>b__12_0",
                true
            ),
            (
                "System.Threading.ExecutionContext.RunFromThreadPoolDispatchLoop",
                false
            ),
            (
                "System.Threading.ExecutionContext.RunFromThreadPoolDispatchLoop",
                false
            ),
            ("System.Threading.Tasks.Task.ExecuteWithThreadLocal", false),
            ("InvokeStub_TaskAwaiter.GetResult", false),
            (
                "System.Reflection.MethodBaseInvoker.InvokeWithNoArgs",
                false
            ),
        ]
    );
    assert_eq!(
        trace.frames().next().unwrap().file_name(),
        Some("HangfireJobs.cs")
    );
    assert_eq!(trace.frames().nth(4).unwrap().file, None);
}

#[test]
fn messages_of_several_lines_stay_text() {
    let trace = parse(&recorded("article/rows.json", 25));
    let chain: Vec<&str> = trace
        .exceptions()
        .map(|e| e.type_name.as_deref().unwrap())
        .collect();
    assert_eq!(
        chain,
        [
            "Microsoft.EntityFrameworkCore.DbUpdateException",
            "Npgsql.PostgresException"
        ]
    );
    assert_eq!(trace.lines[1], Line::Text(String::new()));
    assert!(matches!(&trace.lines[2], Line::Text(text) if text.starts_with("DETAIL: ")));
    assert_eq!(
        trace.first_application_frame().unwrap().method,
        "Bookstore.Jobs.InvoiceEmailJob.SendNaiveAsync"
    );
}

#[test]
fn other_writers_are_read_too() {
    let trace = StackTrace::parse(
        "System.AggregateException: Several. (a)\r\n ---> System.Exception: a\r\n   --- Ende der internen Ausnahme ---\r\n   bei Firma.Laden.Lauf(String[] args) in C:\\Quelle (neu)\\Laden.cs:Zeile 12.\r\n   at App.Generic.Call[TState,TResult](TState state, Func`2 then)\r\n ---> (Inner Exception #1) System.TimeoutException: b<---",
        None,
    );
    let chain: Vec<(Option<&str>, &str)> = trace
        .exceptions()
        .map(|e| (e.type_name.as_deref(), e.message.as_str()))
        .collect();
    assert_eq!(
        chain,
        [
            (Some("System.AggregateException"), "Several. (a)"),
            (Some("System.Exception"), "a"),
            (Some("System.TimeoutException"), "b<---"),
        ]
    );
    let frame = trace.frames().next().unwrap();
    assert_eq!(frame.method, "Firma.Laden.Lauf");
    assert_eq!(frame.file.as_deref(), Some("C:\\Quelle (neu)\\Laden.cs"));
    assert_eq!(frame.file_name(), Some("Laden.cs"));
    assert_eq!(frame.line, Some(12));
    assert_eq!(
        trace.frames().nth(1).unwrap().parameters,
        "TState state, Func`2 then"
    );
}

#[test]
fn a_job_in_a_framework_s_namespace_has_own_frames() {
    let line = "   at Hangfire.Samples.Jobs.Mail.Send()\n   at Hangfire.Samples.JobsX.Y()";
    let own = |namespace| -> Vec<bool> {
        StackTrace::parse(line, namespace)
            .frames()
            .map(|frame| frame.application)
            .collect()
    };
    assert_eq!(own(Some("Hangfire.Samples.Jobs")), [true, false]);
    assert_eq!(own(None), [false, false]);
}

#[test]
fn odd_text_is_kept_line_by_line() {
    let trace = StackTrace::parse(
        "something broke: badly\nat dawn\nat the office (again)",
        None,
    );
    assert_eq!(
        trace.lines,
        [
            Line::Exceptions(vec![ExceptionHead {
                type_name: None,
                message: "something broke: badly".into()
            }]),
            Line::Text("at dawn".into()),
            Line::Text("at the office (again)".into()),
        ]
    );
    assert_eq!(StackTrace::parse("", None), StackTrace::default());
    assert_eq!(
        StackTrace::parse("System.Exception", None)
            .innermost()
            .unwrap()
            .type_name
            .as_deref(),
        Some("System.Exception")
    );
}
