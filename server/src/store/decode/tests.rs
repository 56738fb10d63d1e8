use super::*;

fn values(entries: &[Option<&str>]) -> Arguments {
    Arguments::Values(
        entries
            .iter()
            .map(|entry| entry.map(str::to_owned))
            .collect(),
    )
}

#[test]
fn both_forms_of_an_invocation_are_read() {
    let long = invocation(
        r#"{"Type":"A.B, A","Method":"Run","ParameterTypes":"[\"System.Int32, mscorlib\"]","Arguments":"[\"1\"]","Queue":"reports"}"#,
        Arguments::TooLarge,
    );
    let short = invocation(
        r#"{"t":"A.B, A","m":"Run","p":["System.Int32, mscorlib"],"q":"reports"}"#,
        Arguments::TooLarge,
    );
    assert_eq!(long, short);
    assert_eq!(long.type_name.as_deref(), Some("A.B, A"));
    assert_eq!(long.method.as_deref(), Some("Run"));
    assert_eq!(long.parameter_types, ["System.Int32, mscorlib"]);
    assert_eq!(long.own_queue.as_deref(), Some("reports"));
}

#[test]
fn an_unreadable_invocation_is_an_unknown_one() {
    for json in ["", "{}", "[]", "null", "\"x\"", "{\"Type\":5}", "{broken"] {
        let read = invocation(json, values(&[]));
        assert_eq!((read.type_name, read.method), (None, None), "{json}");
        assert!(read.parameter_types.is_empty());
    }
}

#[test]
fn arguments_keep_nulls_and_inner_json() {
    assert_eq!(
        arguments(r#"["\"hello\"", "42", null, 7]"#),
        values(&[Some("\"hello\""), Some("42"), None, Some("7")])
    );
    assert_eq!(arguments(""), values(&[]));
    assert_eq!(arguments("{}"), values(&[]));
    assert_eq!(arguments("[]"), values(&[]));
    assert_eq!(arguments("[\"1\""), Arguments::Corrupt("[\"1\"".to_owned()));
    assert_eq!(
        arguments("{\"a\":1}"),
        Arguments::Corrupt("{\"a\":1}".into())
    );
}

#[test]
fn a_list_row_says_whether_its_arguments_are_whole() {
    assert_eq!(list_arguments(None), Arguments::TooLarge);
    assert_eq!(list_arguments(Some("[\"1\"]")), values(&[Some("1")]));
    let long = format!("[\"{}\"]", "é".repeat(400));
    let Arguments::Cut(first) = list_arguments(Some(&long)) else {
        panic!("must be cut");
    };
    assert_eq!(first, format!("[\"{}", "é".repeat(298)));
}

#[test]
fn continuations_of_every_level_are_read() {
    assert_eq!(
        continuations(
            r#"[{"JobId":"2"},{"JobId":"3","Options":1},{"JobId":4,"Options":"OnlyOnDeletedState"},{"JobId":"x"},5]"#
        ),
        [(2, 0), (3, 1), (4, 2)]
    );
    assert_eq!(continuations("oops"), []);
}

#[test]
fn the_retry_of_a_reason_is_read_with_any_message() {
    assert_eq!(
        retry_reason("Retry attempt 1 of 3: no answer"),
        Some((1, 3))
    );
    assert_eq!(retry_reason("Retry attempt 10 of 10"), Some((10, 10)));
    assert_eq!(retry_reason("Retry attempt 1 of 3: 2 of 5"), Some((1, 3)));
    for odd in [
        "Retry attempt ",
        "Retry attempt x of 3",
        "Retry attempt 1 of ",
        "Retried",
    ] {
        assert_eq!(retry_reason(odd), None, "{odd}");
    }
}

#[test]
fn queues_of_a_server_are_read_in_both_shapes() {
    let plain = server_data(r#"{"WorkerCount":20,"Queues":["a","b"],"StartedAt":"x"}"#);
    let typed = server_data(
        r#"{"WorkerCount":20,"Queues":{"$type":"T","$values":["a","b"]},"StartedAt":"x"}"#,
    );
    assert_eq!(plain, typed);
    assert_eq!(plain.workers, Some(20));
    assert_eq!(plain.queues, Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(server_data("[1"), ServerData::default());
    assert_eq!(server_data(r#"{"Queues":"a"}"#).queues, None);
}
