//! Pages of jobs that real servers ran.

use super::fixture::Recorded;

const LATER: &str = "2026-11-29T18:50:00Z";

#[test]
fn the_articles_job_shows_three_attempts() {
    let page = Recorded::open("article/rows.json").page(1, LATER);
    assert_eq!(page.text("h1"), "SupplierInvoiceJobs.ImportAsync");
    assert_eq!(page.text(".job-h .pill"), "Succeeded");
    assert_eq!(page.text(".job-args"), "ImportAsync(7001)");
    assert_eq!(
        page.attempts(),
        [
            ["1", "failed", "171", "95", ""],
            ["2", "failed", "35", "20", "1999"],
            ["3", "succeeded", "37", "4", "5000"],
        ]
    );
    let rows = page.texts("tr[data-attempt]");
    assert!(
        rows[0].contains("TimeoutException Supplier API did not respond in 10 s"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains("retry 1 of 3"), "{}", rows[1]);
    assert!(rows[1].contains("2 s planned, released"), "{}", rows[1]);
    assert!(rows[2].contains("5 s planned, released"), "{}", rows[2]);
    assert!(rows[2].contains("Succeeded"), "{}", rows[2]);
    let next = page.section("next");
    assert!(next.contains("it is finished. Succeeded"), "{next}");
    assert!(next.contains("30 Nov 2026, 18:44:29 UTC"), "{next}");
    // One drawing for each width, each with the same words.
    let titles = page.texts("svg.tl title");
    assert_eq!(titles.len(), 4);
    assert!(
        titles[0].starts_with(
            "Timeline of job 1: 3 attempts (2 failed, 1 succeeded) between 29 Nov 2026 18:44:22 UTC"
        ),
        "{}",
        titles[0]
    );
    assert_eq!(page.texts(".hist li").len(), 11);
}

#[test]
fn the_permanent_error_rests_and_no_retry_is_promised() {
    let page = Recorded::open("article/rows.json").page(2, LATER);
    assert_eq!(page.attempts(), [["1", "failed", "90", "60", ""]]);
    let next = page.section("next");
    assert!(next.contains("Nothing will happen by itself"), "{next}");
    assert!(next.contains("No retry was ever planned"), "{next}");
    assert!(page.texts("tr[data-planned-retry]").is_empty());
    let why = page.section("why");
    assert!(
        why.contains("Bookstore.Jobs. PermanentJobException")
            || why.contains("Bookstore.Jobs.PermanentJobException"),
        "{why}"
    );
    // The guard that the form sends, and its words.
    let form = "form[action=\"/api/requeue\"] input";
    assert_eq!(
        page.attributes(&format!("{form}[name=state_id]"), "value"),
        ["5"]
    );
    assert_eq!(
        page.attributes(&format!("{form}[name=state]"), "value"),
        ["Failed"]
    );
    assert_eq!(
        page.attributes(&format!("{form}[name=job]"), "value"),
        ["2"]
    );
    assert_eq!(
        page.attributes(&format!("{form}[name=source]"), "value"),
        ["main"]
    );
    let act = page.section("act");
    assert!(
        act.contains(
            "Only if the job is still Failed with state row 5; otherwise nothing is changed and \
             you are told"
        ),
        "{act}"
    );
}

#[test]
fn interrupted_runs_say_who_took_over_and_never_crashed() {
    let page = Recorded::open("workers/rows.json").page(2, "2026-11-29T19:30:00Z");
    let attempts = page.attempts();
    assert_eq!(attempts.len(), 3);
    assert_eq!(attempts[0][1], "lost");
    assert_eq!(attempts[0][3], "", "a lost run's length is not known");
    assert_eq!(attempts[1][2], "", "its wait was not recorded");
    let rows = page.texts("tr[data-attempt]");
    assert!(
        rows[0].contains("Interrupted, taken over by"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains("not recorded"), "{}", rows[1]);
    assert!(
        rows[2].contains("reported, by another worker"),
        "{}",
        rows[2]
    );
    assert!(!page.text(".job-h").contains("crash"));
    assert!(!page.section("past").contains("crash"));
}

#[test]
fn a_job_on_a_dead_server_is_orphaned_until_its_lease_ends() {
    let recorded = Recorded::open("workers/rows.json");
    let alone = |id| {
        let mut given = recorded.given(id, "2026-11-29T20:30:00Z");
        given.servers.clear();
        super::fixture::Page::of(given)
    };
    let page = alone(4);
    let attempts = page.attempts();
    let last = attempts.last().unwrap();
    assert_eq!((last[1].as_str(), last[3].as_str()), ("orphaned", ""));
    let next = page.section("next");
    assert!(
        next.contains("Orphaned : its server is gone")
            || next.contains("Orphaned: its server is gone"),
        "{next}"
    );
    assert!(next.contains("lease of its queue row"), "{next}");
}

#[test]
fn an_operators_requeues_open_rounds() {
    let page = Recorded::open("operators/rows.json").page(2, "2026-11-29T23:00:00Z");
    let kinds: Vec<_> = page
        .attempts()
        .iter()
        .map(|a| (a[0].clone(), a[1].clone(), a[4].clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("1".into(), "failed".into(), String::new()),
            ("2".into(), "failed".into(), String::new()),
            ("3".into(), "succeeded".into(), String::new()),
        ]
    );
    let hands = page.texts("tr.is-op");
    assert_eq!(hands.len(), 2);
    assert!(hands[0].contains("requeued it"), "{}", hands[0]);
    assert!(hands[0].contains("Round 2 begins."), "{}", hands[0]);
    assert!(hands[1].contains("Round 3 begins."), "{}", hands[1]);
}

#[test]
fn a_retry_released_by_hand_says_how_early() {
    let page = Recorded::open("operators/rows.json").page(3, "2026-11-29T23:00:00Z");
    let attempts = page.attempts();
    assert_eq!(attempts[1][4], "38000");
    let rows = page.texts("tr[data-attempt]");
    assert!(
        rows[1].contains("38 s planned, released by hand"),
        "{}",
        rows[1]
    );
    assert!(rows[1].contains("before it was due"), "{}", rows[1]);
}

#[test]
fn a_pending_retry_is_counted_down_and_the_rest_is_inferred() {
    let recorded = Recorded::open("policies/rows.json");
    // 252 s before its fifth retry is due.
    let page = recorded.page(8, "2026-11-29T18:53:42.808Z");
    let next = page.section("next");
    assert!(next.contains("00:04:12"), "{next}");
    assert!(
        next.contains("until retry 5 of 10, due 29 Nov 2026, 18:57:54 UTC"),
        "{next}"
    );
    assert!(next.contains("4 of 10 retries used."), "{next}");
    // Retries 6 to 10 of the default formula: 640 + 1311 + 2416 + 4111 + 6576 s at least, and
    // 814 + 1514 + 2648 + 4372 + 6866 s at most, after the due time.
    assert!(
        next.contains(
            "5 more follow; if all fail, the job gives up at about 23:08 to 23:28 UTC (in 4 h 15 \
             min to 4 h 34 min)."
        ),
        "{next}"
    );
    assert!(
        next.contains("Inferred from the 5 delays seen of this job"),
        "{next}"
    );
    let plan = page.texts("ol.plan li");
    assert_eq!(
        plan,
        [
            "Retry 5 18:57:54 in 4 min 12 s",
            "Retry 6 from 19:08 +10\u{2013}14 min",
            "Retry 7 from 19:30 +21\u{2013}26 min",
            "Retry 8 from 20:10 +40\u{2013}45 min",
            "Retry 9 from 21:19 +68\u{2013}73 min",
            "Retry 10 from 23:08 +109\u{2013}115 min",
            "then gives up",
        ]
    );
    assert_eq!(page.attempts().len(), 5);
    assert_eq!(
        page.attributes("tr[data-planned-retry]", "data-planned-retry"),
        ["5"]
    );
}

#[test]
fn an_overdue_retry_is_called_overdue() {
    let page = Recorded::open("policies/rows.json").page(8, "2026-11-29T19:57:54.808Z");
    let next = page.section("next");
    assert!(next.contains("01:00:00"), "{next}");
    assert!(next.contains("overdue: retry 5 of 10 was due"), "{next}");
    assert_eq!(page.texts("ol.plan .first"), ["Retry 5 now overdue"]);
}

#[test]
fn a_pending_retry_that_was_deleted_is_told() {
    let page = Recorded::open("operators/rows.json").page(4, "2026-11-29T23:00:00Z");
    let hands = page.texts("tr.is-op");
    assert!(
        hands[0].contains("deleted it Retry 1 of 10, which was planned, was dropped."),
        "{}",
        hands[0]
    );
    assert_eq!(page.attempts()[1][4], "", "a requeue has no backoff");
}

#[test]
fn the_applications_frames_stand_out() {
    let page = Recorded::open("article/rows.json").page(2, LATER);
    let own = page.texts(".stack .app");
    assert!(
        own[0].starts_with("SupplierInvoiceJobs.ReconcileAsync(Int32 invoiceId)"),
        "{own:?}"
    );
    let folded = page.texts(".stack .fw summary");
    assert!(
        folded.iter().all(|fold| fold.contains("of System")),
        "{folded:?}"
    );
    assert!(page.texts(".stack .fw details[open]").is_empty());
}
