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
