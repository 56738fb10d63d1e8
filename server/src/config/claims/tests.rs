//! What may be said of a claims table, and what is answered to mistakes.

use super::*;
use crate::config::ConfigFile;

const FULL: &str = r#"
    [[source]]
    name = "prod"
    database = "postgres://u:secret@127.0.0.1/jobs"
    [[source.claims]]
    name = "emails"
    table = "shop.OutgoingEmails"
    database = "postgres://v:hidden@127.0.0.1/shop"
    key = "IdempotencyKey"
    status = "Status"
    claimed_at = "ClaimedAtUtc"
    provider_id = "ProviderMessageId"
    sending = 0
    sent = "Sent"
    cutoff = "15m"
    retention = "60d"
    window = "24h"
    purge = true
    jobs = "self-reclaim"
    nothing_sent_on = ["TemplateMissingException"]
    [[source.claims.keys]]
    pattern = "invoice-email:{0}"
    type = "InvoiceEmailJob"
    methods = ["SendAsync"]
    [source.claims.provider]
    url = "https://mail.example.com/emails/{key}"
    authorization_env = "MAIL_TOKEN"
    message_id = "/id"
    permanent = true
"#;

fn read(text: &str) -> Result<Vec<ConfiguredTable>, String> {
    let file: ConfigFile = toml::from_str(text).map_err(|error| error.to_string())?;
    let token = |name: &str| (name == "MAIL_TOKEN").then(|| "Bearer t0ken".to_owned());
    file.sources[0]
        .claims_tables(token)
        .map_err(|error| error.to_string())
}

#[test]
fn claims_live_in_one_other_database_of_the_same_kind_or_beside_the_jobs() {
    let table = |database: &str| {
        format!(
            "[[source.claims]]\nname = \"t{}\"\ntable = \"t\"\nkey = \"k\"\nstatus = \"s\"\n\
             sending = 0\nsent = 1\n{database}\n",
            database.len()
        )
    };
    let found = |jobs: &str, databases: &[&str]| {
        let tables: String = databases.iter().map(|database| table(database)).collect();
        let text = format!("[[source]]\nname = \"main\"\ndatabase = \"{jobs}\"\n{tables}");
        let file: ConfigFile = toml::from_str(&text).unwrap();
        let source = &file.sources[0];
        let tables = source.claims_tables(|_| None).unwrap();
        source.claims_database(&tables).map(str::to_owned)
    };
    let (shop, file) = (
        "database = \"postgres://u@h/shop\"",
        "database = \"shop.db\"",
    );
    let apart = Some("postgres://u@h/shop".to_owned());
    assert_eq!(found("postgres://u@h/jobs", &[shop]), apart);
    assert_eq!(found("jobs.db", &[file]), Some("shop.db".to_owned()));
    assert_eq!(found("jobs.db", &[shop]), None);
    assert_eq!(found("postgres://u@h/jobs", &[file]), None);
    assert_eq!(found("postgres://u@h/jobs", &[shop, ""]), None);
    assert_eq!(found("postgres://u@h/jobs", &[""]), None);
    assert_eq!(found("postgres://u@h/jobs", &[]), None);
}

/// The full example with one line in place of another.
fn with(line: &str, other: &str) -> Result<Vec<ConfiguredTable>, String> {
    assert!(FULL.contains(line), "{line}");
    read(&FULL.replace(line, other))
}

#[test]
fn everything_that_is_written_is_meant() {
    let tables = read(FULL).unwrap();
    let [
        ConfiguredTable {
            table,
            database: Some(database),
        },
    ] = &tables[..]
    else {
        panic!("{tables:?}")
    };
    assert_eq!(database, "postgres://v:hidden@127.0.0.1/shop");
    assert_eq!(
        (&*table.name, &*table.schema, &*table.table),
        ("emails", "shop", "OutgoingEmails")
    );
    assert_eq!((&*table.sending, &*table.sent), ("0", "Sent"));
    assert_eq!(table.cutoff_ms, 900_000);
    assert_eq!(table.retention_ms, 60 * 86_400_000);
    assert_eq!(table.window_ms, Some(86_400_000));
    assert!(table.purge && !table.detected);
    assert_eq!(table.way, ClaimWay::SelfReclaim);
    assert_eq!(table.keys[0].pattern.as_str(), "invoice-email:{0}");
    assert_eq!(table.keys[0].methods, ["SendAsync"]);
    let provider = table.provider.as_ref().unwrap();
    assert_eq!(provider.authorization.as_deref(), Some("Bearer t0ken"));
    assert_eq!((&*provider.message_id, provider.permanent), ("/id", true));
}

#[test]
fn what_is_left_out_is_the_articles() {
    let text = r#"
        [[source]]
        name = "demo"
        database = "jobs.db"
        [[source.claims]]
        table = "Odd.Name"
        key = "k"
        status = "s"
        sending = 0
        sent = 1
    "#;
    let tables = read(text).unwrap();
    let table = &tables[0].table;
    assert_eq!((&*table.name, &*table.table), ("Odd.Name", "Odd.Name"));
    assert_eq!(table.cutoff_ms, 600_000);
    assert_eq!(table.retention_ms, 2_592_000_000);
    assert_eq!((table.window_ms, table.purge), (None, false));
    assert_eq!(table.way, ClaimWay::InsertFirst);
    assert_eq!(table.columns.claimed_at, None);
}

#[test]
fn every_mistake_is_a_sentence() {
    for (line, other, words) in [
        (r#"jobs = "self-reclaim""#, r#"jobs = "retry""#, "hand-over"),
        (r#""15m""#, r#""-5m""#, "duration such as 10m"),
        (r#""15m""#, r#""0s""#, "between a second and ten years"),
        (
            r#""60d""#,
            r#""99 years""#,
            "between a second and ten years",
        ),
        (r#""24h""#, r#""soon""#, "“window” must be a duration"),
        ("{0}", "{0", "The key pattern \"invoice-email:{0\""),
        ("sending = 0", r#"sending = "Sent""#, "they must differ"),
        ("sending = 0", "sending = 0.5", "sending"),
        ("shop.OutgoingEmails", "a.b.c", "public.OutgoingEmails"),
        ("shop.OutgoingEmails", "", "public.OutgoingEmails"),
        (r#"key = "IdempotencyKey""#, r#"key = """#, "“key” must be"),
        (r#"claimed_at = "ClaimedAtUtc""#, "", "“purge” needs"),
        ("{key}", "key", "with {key} in it"),
        ("https://", "ftp://", "http:// or https://"),
        ("MAIL_TOKEN", "OTHER", "variable OTHER, which is not set"),
        (
            r#"authorization_env = "MAIL_TOKEN""#,
            r#"authorization = "a\nb""#,
            "cannot stand in a header",
        ),
        (r#""/id""#, r#""id""#, "JSON pointer"),
        ("permanent", "eternal", "unknown field `eternal`"),
        (r#"name = "emails""#, r#"names = "emails""#, "unknown field"),
        (
            r#"table = "shop.OutgoingEmails""#,
            "",
            "missing field `table`",
        ),
    ] {
        let why = with(line, other).unwrap_err();
        assert!(why.contains(words), "{other}: {why}");
        assert!(!why.contains("t0ken") && !why.contains("hidden"), "{why}");
    }
}

#[test]
fn two_tables_of_one_name_are_refused() {
    let second = r#"
        [[source.claims]]
        table = "public.emails"
        key = "k"
        status = "s"
        sending = 0
        sent = 1
    "#;
    let why = read(&format!("{FULL}{second}")).unwrap_err();
    assert!(
        why.contains("two tables") && why.contains("“emails”"),
        "{why}"
    );
}

#[test]
fn nothing_secret_is_ever_shown() {
    let file: ConfigFile = toml::from_str(FULL).unwrap();
    let tables = read(FULL).unwrap();
    let shown = format!("{file:?} {tables:?}");
    for secret in ["secret", "hidden", "t0ken"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn names_may_be_quoted() {
    let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
    assert_eq!(schema_and_table("Emails"), pair("public", "Emails"));
    assert_eq!(schema_and_table(r#""a.b"."c""d""#), pair("a.b", "c\"d"));
    assert!(schema_and_table(r#""a"#).is_err());
    assert!(schema_and_table("a.").is_err());
}
