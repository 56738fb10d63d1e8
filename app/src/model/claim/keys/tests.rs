use super::super::testing::table;
use super::*;

fn call(type_name: &str, method: &str, arguments: &str) -> Invocation {
    Invocation::from_parts(
        Some(type_name),
        Some(method),
        None,
        None,
        Arguments::parse(arguments),
    )
}

fn invoice(method: &str, arguments: &str) -> Invocation {
    let stored = "Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs, Version=1.0.0.0, \
                  Culture=neutral, PublicKeyToken=null";
    call(stored, method, arguments)
}

fn key(pattern: &str, arguments: &str) -> Option<String> {
    let pattern = KeyPattern::parse(pattern).unwrap();
    pattern.key(&invoice("SendAsync", arguments))
}

#[test]
fn arguments_take_their_places() {
    for (pattern, arguments, want) in [
        ("invoice-email:{0}", r#"["42"]"#, "invoice-email:42"),
        ("{1}:{0}", r#"["42","\"paid\""]"#, "paid:42"),
        ("{0}{0}", r#"["7"]"#, "77"),
        ("a{{{0}}}b", r#"["7"]"#, "a{7}b"),
        // Numbers stay as they are stored.
        ("p:{0}", r#"["12.50"]"#, "p:12.50"),
        (
            "p:{0}",
            r#"["123456789012345678901"]"#,
            "p:123456789012345678901",
        ),
        ("p:{0}", r#"["-1E+2"]"#, "p:-1E+2"),
        ("p:{0}", r#"["true"]"#, "p:True"),
        // Guids and dates are strings in JSON.
        (
            "p:{0}",
            r#"["\"0e984725-c51c-4bf4-9960-e1c80e27aba0\""]"#,
            "p:0e984725-c51c-4bf4-9960-e1c80e27aba0",
        ),
        (
            "p:{0}",
            r#"["\"2026-11-29T00:00:00Z\""]"#,
            "p:2026-11-29T00:00:00Z",
        ),
        // Old compatibility levels store dates without quotes.
        (
            "p:{0}",
            r#"["2026-11-29T00:00:00.0000000Z"]"#,
            "p:2026-11-29T00:00:00.0000000Z",
        ),
        (
            "p:{0}",
            r#"["\"it's \\\"so\\\"\\n</script>\""]"#,
            "p:it's \"so\"\n</script>",
        ),
        ("p:{0}", r#"["\"\""]"#, "p:"),
        ("o:{0.OrderId}", r#"["{\"OrderId\":7}"]"#, "o:7"),
        ("o:{0.OrderId}", r#"["{\"orderId\":\"A-7\"}"]"#, "o:A-7"),
        ("o:{0.Id}", r#"["{\"id\":1,\"Id\":2}"]"#, "o:2"),
        (
            "o:{1.Order.Id}",
            r#"[null,"{\"$type\":\"X\",\"Order\":{\"Id\":12.50}}"]"#,
            "o:12.50",
        ),
    ] {
        assert_eq!(key(pattern, arguments).as_deref(), Some(want), "{pattern}");
    }
}

#[test]
fn arguments_that_do_not_say_give_no_key() {
    for (pattern, arguments) in [
        ("p:{0}", "[]"),
        ("p:{1}", r#"["42"]"#),
        ("p:{0}", "[null]"),
        ("p:{0}", r#"["null"]"#),
        ("p:{0}", r#"["{\"OrderId\":7}"]"#),
        ("p:{0}", r#"["[1,2]"]"#),
        ("p:{0}", r#"["\"broken"]"#),
        ("p:{0}", r#"["{\"broken"]"#),
        ("o:{0.OrderId}", r#"["{\"Order\":7}"]"#),
        ("o:{0.OrderId}", r#"["{\"OrderId\":null}"]"#),
        ("o:{0.OrderId}", r#"["{\"OrderId\":{}}"]"#),
        ("o:{0.OrderId}", r#"["42"]"#),
        ("o:{0.OrderId}", r#"["not json"]"#),
        ("p:{0}", "no list"),
    ] {
        assert_eq!(key(pattern, arguments), None, "{pattern} of {arguments}");
    }
    let pattern = KeyPattern::parse("p:{0}").unwrap();
    for arguments in [Arguments::Cut("[\"42\"".into()), Arguments::TooLarge] {
        let mut call = invoice("SendAsync", "[]");
        call.arguments = arguments;
        assert_eq!(pattern.key(&call), None);
    }
}

#[test]
fn a_wrong_pattern_is_answered_with_a_sentence() {
    for (pattern, part) in [
        ("invoice-email", "names no argument"),
        ("", "names no argument"),
        ("{{0}}", "names no argument"),
        ("a:{0", "opens a brace that it does not close"),
        ("a:0}", "closes a brace that it does not open"),
        ("a:{}", "has the place {};"),
        ("a:{id}", "has the place {id};"),
        ("a:{-1}", "has the place {-1};"),
        ("a:{+1}", "has the place {+1};"),
        ("a:{0{1}", "has the place {0{1};"),
        ("a:{99999999999999999999}", "has the place"),
        ("a:{0.}", "a name between the dots is missing"),
        ("a:{0..Id}", "a name between the dots is missing"),
        ("a:{0}}}}", "closes a brace"),
    ] {
        match KeyPattern::parse(pattern) {
            Err(why) => {
                let why = why.to_string();
                assert!(why.contains(part), "{pattern}: {why}");
                assert!(why.starts_with(&format!("The key pattern \"{pattern}\"")));
                assert!(why.ends_with('.'), "{why}");
            }
            // `{0}` and an escaped brace: nothing is wrong with it.
            Ok(read) => assert_eq!(read.as_str(), "a:{0}}}}"),
        }
    }
}

#[test]
fn a_rule_is_about_type_and_method() {
    let rule = |job_type: &str, methods: &[&str]| KeyRule {
        pattern: KeyPattern::parse("k:{0}").unwrap(),
        job_type: job_type.to_owned(),
        methods: methods.iter().map(|&m| m.to_owned()).collect(),
    };
    let job = invoice("SendAsync", r#"["42"]"#);
    for (job_type, methods, fits) in [
        ("InvoiceEmailJob", &["SendAsync"][..], true),
        ("Bookstore.Jobs.InvoiceEmailJob", &[], true),
        ("Bookstore.Jobs.InvoiceEmailJob, Bookstore.Jobs", &[], true),
        ("Jobs.InvoiceEmailJob", &["Other", "SendAsync"], true),
        ("InvoiceEmailJob", &["Other"], false),
        ("InvoiceEmailJob", &["sendasync"], false),
        ("EmailJob", &[], false),
        ("Bookstore.Jobs", &[], false),
        ("invoiceemailjob", &[], false),
        ("", &[], false),
    ] {
        let found = rule(job_type, methods).matches(&job);
        assert_eq!(found, fits.then(|| "k:42".to_owned()), "{job_type}");
    }
    let nested = call("App.Outer+Inner, App", "Run", r#"["1"]"#);
    for name in ["Inner", "Outer+Inner", "Outer.Inner", "App.Outer+Inner"] {
        assert!(rule(name, &[]).matches(&nested).is_some(), "{name}");
    }
    let generic = call("App.Importer`1[[App.Line, App]], App", "Run", r#"["1"]"#);
    assert!(rule("Importer<Line>", &[]).matches(&generic).is_some());
    let unknown = Invocation::from_parts(None, None, None, None, Arguments::parse(r#"["1"]"#));
    assert_eq!(rule("InvoiceEmailJob", &[]).matches(&unknown), None);
}

#[test]
fn a_table_with_rules_knows_its_jobs() {
    let mut table = table();
    table.keys.push(KeyRule {
        pattern: KeyPattern::parse("reminder:{0}:{1}").unwrap(),
        job_type: "ReminderJob".to_owned(),
        methods: Vec::new(),
    });
    let job = invoice("SendAndDieAsync", r#"["44","\"before\""]"#);
    assert_eq!(table.key_of(&job).as_deref(), Some("invoice-email:44"));
    assert_eq!(table.owner("invoice-email:44", &job), Some(Match::Rule));
    // A guess counts for nothing where there are rules.
    assert_eq!(table.owner("order:44", &job), None);
    assert_eq!(table.lookup_values(&job), ["invoice-email:44"]);
    assert_eq!(table.sought("invoice-email:44"), ["invoice-email:44"]);
    let reminder = call("App.ReminderJob, App", "Run", r#"["7","2"]"#);
    assert_eq!(table.key_of(&reminder).as_deref(), Some("reminder:7:2"));
    let other = invoice("SendNaiveAsync", r#"["44"]"#);
    assert_eq!(table.key_of(&other), None);
    assert!(table.lookup_values(&other).is_empty());
}

#[test]
fn a_table_without_rules_guesses_by_the_first_argument() {
    let mut table = table();
    table.keys.clear();
    let by_number = invoice("SendAsync", r#"["44"]"#);
    let by_key = invoice("SendAsync", r#"["\"invoice-email:44\"","1"]"#);
    for job in [&by_number, &by_key] {
        assert_eq!(table.owner("invoice-email:44", job), Some(Match::Argument));
        assert_eq!(table.owner("invoice-email:45", job), None);
        assert_eq!(table.key_of(job), None);
        let values = table.lookup_values(job);
        let sought = table.sought("invoice-email:44");
        assert!(values.iter().any(|value| sought.contains(&value.as_str())));
    }
    assert_eq!(table.owner("a:b:44", &by_number), Some(Match::Argument));
    assert_eq!(table.owner("44", &by_number), Some(Match::Argument));
    assert_eq!(table.owner("44:", &by_number), None);
    assert_eq!(table.sought("44:"), ["44:"]);
    for arguments in ["[]", "[null]", r#"["\"\""]"#, r#"["{}"]"#] {
        let job = invoice("SendAsync", arguments);
        assert_eq!(table.owner(":", &job), None, "{arguments}");
        assert_eq!(table.owner("", &job), None, "{arguments}");
        assert!(table.lookup_values(&job).is_empty(), "{arguments}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the text, a pattern made by doubling its braces gives it back.
        #[test]
        fn text_stands_for_itself(text in ".{0,20}", number in any::<i64>()) {
            let escaped = text.replace('{', "{{").replace('}', "}}");
            let pattern = format!("{escaped}{{0}}");
            let got = key(&pattern, &format!("[\"{number}\"]"));
            prop_assert_eq!(got, Some(format!("{text}{number}")));
        }

        /// Strings come out as they went in.
        #[test]
        fn strings_survive(text in ".{0,20}") {
            let argument = serde_json::to_string(&text).unwrap();
            let stored = serde_json::to_string(&[argument]).unwrap();
            prop_assert_eq!(key("{0}", &stored), Some(text));
        }

        #[test]
        fn nothing_panics(pattern in ".{0,20}", arguments in ".{0,40}") {
            if let Ok(pattern) = KeyPattern::parse(&pattern) {
                let _ = pattern.key(&invoice("SendAsync", &arguments));
            }
        }

        /// What stands behind a key is found by the lookup values, and nothing is missed.
        #[test]
        fn an_index_finds_what_the_table_knows(
            key in "[a-c:0-9]{0,4}", argument in "[a-c:0-9]{0,3}", rules in any::<bool>(),
        ) {
            let mut table = table();
            if !rules {
                table.keys.clear();
            }
            let stored = serde_json::to_string(&[serde_json::to_string(&argument).unwrap()]);
            let job = invoice("SendAsync", &stored.unwrap());
            let key = if rules { format!("invoice-email:{key}") } else { key };
            let values = table.lookup_values(&job);
            let filed = table.sought(&key).iter().any(|text| values.iter().any(|v| v == text));
            prop_assert_eq!(filed, table.owner(&key, &job).is_some());
        }
    }
}
