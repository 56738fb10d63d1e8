use chrono::TimeDelta;

use super::fixture::*;
use crate::components::job_rows::testing::now;
use crate::links::claims::{ClaimCursor, ClaimList};
use crate::pages::claims::*;
use crate::pages::document::testing::{attr, texts};
use crate::ports::claims::ClaimPlace;
use crate::ports::source::Dialect;

fn none() -> ClaimsPage {
    page(Ok(ClaimRows::default()))
}

#[test]
fn without_a_table_it_says_what_claims_are_and_how_to_begin() {
    for (dialect, table, time) in [
        (Dialect::Postgres, "outgoing_emails", "timestamptz"),
        (Dialect::Sqlite, "OutgoingEmails", "TEXT"),
    ] {
        let html = html(ClaimsPage {
            dialect,
            tables: Vec::new(),
            ..none()
        });
        assert_eq!(
            texts(&html, ".msg h2"),
            ["Redrive knows no claims table here"]
        );
        let sql = texts(&html, ".sql");
        assert!(sql[0].contains(&format!("CREATE TABLE {table}")), "{sql:?}");
        assert!(
            sql[0].contains(time) && sql[0].contains("CREATE INDEX"),
            "{sql:?}"
        );
        assert!(
            sql[1].contains("[[source.claims]]") && sql[1].contains(table),
            "{sql:?}"
        );
    }
}

#[test]
fn nothing_stale_says_what_is_fine_and_its_proof() {
    let html = html(none());
    assert_eq!(texts(&html, ".msg h2"), ["No claim is stale"]);
    assert_eq!(
        texts(&html, ".msg p")[0],
        "63 Sending, and 441,716 Sent; the newest of them was claimed 21 s ago."
    );
    assert_eq!(
        attr(&html, ".msg-a a", "href"),
        [
            "/ops/s/prod/claims?status=sending",
            "/ops/s/prod/claims?status=sent"
        ]
    );
}

#[test]
fn a_cut_off_that_hides_everything_says_what_it_hides() {
    let mut page = none();
    page.view.cutoff_ms = Some(24 * 60 * MINUTE);
    let html = html(page);
    assert_eq!(
        texts(&html, ".msg h2"),
        ["No claim is Sending for longer than 1 d"]
    );
    assert_eq!(
        texts(&html, ".msg p")[0],
        "17 claims are older than the jobs’ own cut-off of 10 min."
    );
}

#[test]
fn a_table_that_is_not_there_says_what_exists() {
    let mut page = none();
    page.tables[0].shape = Err(
        "There is no table “OutgoingEmail” in public; there are OutgoingEmails, Orders.".into(),
    );
    let html = html(page);
    assert_eq!(
        texts(&html, ".msg h2"),
        ["The claims table mails cannot be read"]
    );
    let words = texts(&html, ".msg p").join(" ");
    assert!(
        words.contains("there are OutgoingEmails, Orders."),
        "{words}"
    );
    assert!(words.contains("redrive.toml"), "{words}");
    assert_eq!(attr(&html, "main form", "action"), Vec::<String>::new());
}

#[test]
fn a_list_that_took_too_long_names_the_index() {
    let mut page = page(Err(timed_out()));
    page.tables[0].shape.as_mut().unwrap().missing_index = Some("CREATE INDEX x".into());
    let html = html(page);
    assert_eq!(texts(&html, ".msg h2"), ["This list took longer than 5 s"]);
    assert_eq!(texts(&html, ".msg .sql"), ["CREATE INDEX x"]);
    // The rest of the page stands.
    assert_eq!(texts(&html, "#ret"), ["Retention"]);
}

#[test]
fn past_the_end_and_an_unknown_key_lead_back() {
    let mut past = none();
    past.cursor = Some(ClaimCursor::After(ClaimPlace {
        claimed_at: None,
        key: "z".into(),
    }));
    let past = html(past);
    assert_eq!(texts(&past, ".msg h2"), ["No claims are left on this page"]);

    let mut page = none();
    page.view.key = Some("nowhere<b>".into());
    page.view.list = ClaimList::All;
    let html = html(page);
    assert_eq!(texts(&html, ".msg h2"), ["No claim has the key nowhere<b>"]);
    assert_eq!(
        attr(&html, ".chip-x", "href"),
        ["/ops/s/prod/claims?status=stale"]
    );
}

#[test]
fn retention_offers_a_purge_with_its_preview() {
    let html = html(none());
    assert_eq!(
        texts(&html, ".ret-n"),
        ["12,408 Sent rows are older than 30 d"]
    );
    assert_eq!(
        attr(&html, "[data-figure=purgeable]", "data-value"),
        ["12408"]
    );
    let form = "form[action='/ops/api/purge-claims'][method=post]";
    assert_eq!(
        attr(&html, &format!("{form} [name=claims]"), "value"),
        ["mails"]
    );
    let words = texts(&html, &format!("{form} dd")).join(" ");
    assert!(
        words.contains("12,408 Sent rows claimed more than 30 d ago"),
        "{words}"
    );
    let terms = texts(&html, ".ret dl.params").join(" ");
    assert!(
        terms.contains("Sending rows, whatever their age"),
        "{terms}"
    );
    assert!(terms.contains("17 Oct 2026, 14:05:48 UTC"), "{terms}");
}

#[test]
fn a_source_that_is_read_only_says_so_once_and_purges_nothing() {
    let mut page = page(Ok(stale_rows()));
    page.source.read_only = Some("configured so".into());
    let html = html(page);
    assert!(
        texts(&html, ".claims-n")[0]
            .contains("Claims can be read here, not changed: configured so")
    );
    assert_eq!(texts(&html, "#purge-no"), ["Read only: configured so"]);
}

#[test]
fn how_far_jobs_were_looked_for_is_said() {
    let words = "Jobs behind claims are looked for from job 4711 on.";
    let html = html(ClaimsPage {
        search: Some(words.to_owned()),
        ..none()
    });
    assert!(texts(&html, ".claims-n").contains(&words.to_owned()));
}

#[test]
fn a_periodic_purge_says_what_it_did_and_when_it_comes_again() {
    let told = |last_purge: Option<LastPurge>| {
        let mut page = page(Ok(ClaimRows::default()));
        let mut view = view_of(ClaimsTable {
            purge: true,
            ..table()
        });
        view.last_purge = last_purge;
        page.tables = vec![view];
        texts(&html(page), ".ret .params dd").join(" | ")
    };
    assert!(told(None).contains("| on, every hour |"), "{}", told(None));
    let last = |rows| {
        Some(LastPurge {
            at: now() - TimeDelta::minutes(20),
            next: now() + TimeDelta::minutes(40),
            rows,
        })
    };
    let went = told(last(Ok(1_200)));
    assert!(
        went.contains("on, every hour: 1,200 rows went 20 min ago, next "),
        "{went}"
    );
    let failed = told(last(Err("the database is away".to_owned())));
    assert!(
        failed.contains("on, every hour: failed (the database is away) 20 min ago, next "),
        "{failed}"
    );
}
