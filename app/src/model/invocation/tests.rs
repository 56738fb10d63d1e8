use super::*;
use crate::model::testing;

fn bare(type_name: Option<&str>, method: Option<&str>) -> Invocation {
    Invocation::from_parts(type_name, method, None, None, Arguments::Values(Vec::new()))
}

#[test]
fn recorded_jobs_have_names_at_every_level() {
    for folder in ["shapes-110-full", "shapes-170-full", "shapes-180-simple"] {
        let jobs = testing::jobs(&format!("{folder}/rows.json"));
        let read = |id: i64| Invocation::parse(&jobs[&id].invocation, Some(&jobs[&id].arguments));
        for (id, name, call) in [
            (3, "ReportJobs.GenericAsync", "GenericAsync(3)"),
            (
                4,
                "Importer<OrderLine>.Nested.RunAsync",
                r#"RunAsync([{"Isbn":"978-0","Quantity":1,"Price":9.5}])"#,
            ),
            (5, "ReportJobs.StaticReport", r#"StaticReport("r-3")"#),
            (
                6,
                "ReportJobs.NamedAsync",
                "NamedAsync(\"\u{c5}lesund B\u{f8}ker AS\", 3)",
            ),
            (
                7,
                "IMailer.SendAsync",
                r#"SendAsync("customer3@example.com", "Your order")"#,
            ),
            (9, "ReportJobs.ProgressAsync", "ProgressAsync(3, null)"),
            (11, "ReportJobs.AggregateAsync", "AggregateAsync()"),
        ] {
            let invocation = read(id);
            assert_eq!(invocation.display_name(), name, "{folder} {id}");
            assert_eq!(invocation.call_line(200), call, "{folder} {id}");
            assert_eq!(invocation.namespace().as_deref(), Some("Bookstore.Jobs"));
        }
        assert_eq!(read(4).short_parameter_types(), ["List<OrderLine>"]);
        assert_eq!(read(9).short_parameter_types(), ["Int32", "PerformContext"]);
        assert_eq!(
            read(1).short_parameter_types()[..11],
            [
                "String",
                "Int32",
                "Decimal",
                "DateTime",
                "DateTimeOffset",
                "TimeSpan",
                "Guid",
                "Boolean",
                "Priority",
                "Nullable<Int32>",
                "String[]",
            ]
        );
        let everything = read(1).argument_views(4_000);
        assert_eq!(everything[0].value.as_ref().unwrap().text, "null");
        assert_eq!(everything[2].value.as_ref().unwrap().text, "12.50");
        assert_eq!(
            everything[10].value.as_ref().unwrap().text,
            "[\n  \"a\",\n  \"b c\"\n]"
        );
        assert_eq!(read(17).own_queue.as_deref(), Some("reports"));
        assert_eq!(read(18).own_queue, None);
    }
}

#[test]
fn the_short_form_of_recurring_jobs_is_read() {
    let invocation = Invocation::parse(
        r#"{"t":"Bookstore.Jobs.ReportJobs, Bookstore.Jobs","m":"SummaryAsync","p":["System.Int32"],"a":["9"],"q":"reports"}"#,
        None,
    );
    assert_eq!(invocation.display_name(), "ReportJobs.SummaryAsync");
    assert_eq!(invocation.call_line(100), "SummaryAsync(9)");
    assert_eq!(invocation.short_parameter_types(), ["Int32"]);
    assert_eq!(invocation.own_queue.as_deref(), Some("reports"));
    let short = Invocation::parse(r#"{"t":"A","m":"B"}"#, None);
    assert_eq!(short.call_line(100), "B()");
    assert_eq!(short.full_type(), "A");
}

#[test]
fn the_arguments_column_wins_over_the_copy_inside() {
    let json =
        r#"{"Type":"A","Method":"B","ParameterTypes":"[\"System.Int32\"]","Arguments":"[\"1\"]"}"#;
    assert_eq!(
        Invocation::parse(json, Some(r#"["2"]"#)).call_line(9),
        "B(2)"
    );
    assert_eq!(Invocation::parse(json, None).call_line(9), "B(1)");
}

#[test]
fn what_is_missing_has_a_name_all_the_same() {
    assert_eq!(
        Invocation::parse("{}", Some("[]")).display_name(),
        "unknown type"
    );
    assert_eq!(
        bare(Some(""), Some("RunAsync")).display_name(),
        "unknown type.RunAsync"
    );
    assert_eq!(bare(Some("App.Job, App"), None).display_name(), "Job");
    assert_eq!(bare(None, None).namespace(), None);
    for corrupt in ["", "{", "[]", "7", "null", r#"{"Type":7,"Method":[]}"#] {
        let invocation = Invocation::parse(corrupt, Some("{\"a\":"));
        assert_eq!(invocation.display_name(), "unknown type", "{corrupt}");
        assert_eq!(invocation.arguments, Arguments::Corrupt("{\"a\":".into()));
        assert_eq!(invocation.call_line(100), "?({\"a\":)");
    }
}

#[test]
fn types_and_values_may_differ_in_number() {
    let job = |types: &str, arguments: &str| {
        Invocation::from_parts(
            Some("App.Job, App"),
            Some("Run"),
            Some(types),
            None,
            Arguments::parse(arguments),
        )
        .argument_views(100)
        .into_iter()
        .map(|view| (view.type_name, view.value.map(|value| value.text)))
        .collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        job(r#"["System.Int32","System.String"]"#, r#"["1"]"#),
        [(some("Int32"), some("1")), (some("String"), None)]
    );
    assert_eq!(
        job("not json", r#"["1",null]"#),
        [(None, some("1")), (None, some("null"))]
    );
}

#[test]
fn a_line_of_arguments_is_as_long_as_asked() {
    let line = |stored: &str, max| Arguments::parse(stored).line(max);
    assert_eq!(line(r#"["1","2"]"#, 4), "1, 2");
    assert_eq!(line(r#"["1","2"]"#, 3), "1, \u{2026}");
    assert_eq!(line(r#"["\"b\u00f6ker\""]"#, 3), "\"b\u{f6}\u{2026}");
    assert_eq!(line(r#"["[\n1,\r\n2]"]"#, 99), "[ 1,  2]");
    assert_eq!(line("", 9), "");
    assert_eq!(Arguments::TooLarge.line(9), "\u{2026}");
    let huge = Arguments::Values(vec![Some("x".repeat(1_000_000)); 20]);
    assert_eq!(huge.line(10).chars().count(), 11);
}

#[test]
fn cut_arguments_are_read_as_far_as_they_go() {
    let line = |head: &str| Arguments::Cut(head.into()).line(300);
    assert_eq!(line(r#"["42", "\"invoice-pa"#), "42, \"invoice-pa\u{2026}");
    assert_eq!(line(r#"["42",nul"#), "42, null\u{2026}");
    assert_eq!(line(r#"["42","#), "42\u{2026}");
    assert_eq!(line(r#"["a\"#), "a\u{2026}");
    assert_eq!(line(r#"["a\u00"#), "a\u{2026}");
    assert_eq!(line(r#"["a\ud83d\udc"#), "a\u{2026}");
    assert_eq!(line("["), "\u{2026}");
    assert_eq!(line(""), "\u{2026}");
}

#[test]
fn a_renamed_job_is_named_from_stored_data() {
    let job = Invocation::parse(
        r#"{"Type":"Bookstore.Jobs.OldReport, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[\"System.String\"]"}"#,
        Some(r#"["\"2026-10\""]"#),
    );
    assert_eq!(job.display_name(), "OldReport.RunAsync");
    assert_eq!(job.full_type(), "Bookstore.Jobs.OldReport");
    assert_eq!(job.arguments.line(100), "\"2026-10\"");
}
