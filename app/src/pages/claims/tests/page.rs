use super::fixture::*;
use crate::links::claims::{ClaimCursor, ClaimList, ClaimsView};
use crate::model::claim::table::{ClaimWay, Lack};
use crate::model::claim::verdict::Judgement;
use crate::model::claim::{ClaimStatus, ClaimTime};
use crate::pages::claims::*;
use crate::pages::document::testing::{attr, texts};
use crate::ports::claims::ClaimPlace;

#[test]
fn the_headline_gives_the_numbers_that_matter() {
    let html = html(page(Ok(stale_rows())));
    assert_eq!(
        texts(&html, ".page-h p"),
        [
            "63 Sending, 17 of them longer than 10 min. For 1 of the 3 on this page nobody can say \
             whether it was sent.",
            "exact, 2 s ago",
        ]
    );
    assert_eq!(
        texts(&html, ".tabs .tab"),
        ["Stale 17", "Sending 63", "Sent 441,716", "All 441,779"]
    );
    assert_eq!(
        attr(&html, ".tabs [data-figure]", "data-figure"),
        ["stale", "sending", "sent", "claims"]
    );
    assert_eq!(
        attr(&html, ".tabs [data-figure]", "data-value"),
        ["17", "63", "441716", "441779"]
    );
    assert_eq!(
        attr(&html, "[data-figure=stale]", "data-as-of"),
        ["2026-11-27T14:05:46Z"]
    );
}

#[test]
fn rows_carry_their_hooks() {
    let html = html(page(Ok(stale_rows())));
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-claim"),
        [
            "invoice-email:6902",
            "invoice-email:6975",
            "order-export:551188"
        ]
    );
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-verdict"),
        ["unknown", "safe", "running"]
    );
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-status"),
        ["sending", "sending", "sending"]
    );
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-age-ms"),
        ["93780000", "1620000", "900000"]
    );
    assert_eq!(
        attr(&html, "tr[data-claim='invoice-email:6975'] .own a", "href"),
        ["/ops/s/prod/jobs/42"]
    );
}

#[test]
fn a_row_tells_holder_evidence_and_verdict() {
    let mut row = claim("k", 27, Judgement::Safe);
    let known = row.evidence.as_mut().unwrap();
    known.skipped.push(crate::model::claim::evidence::Skipped {
        job: 42,
        attempt: 2,
        at: crate::components::job_rows::testing::now(),
    });
    let html = html(page(Ok(ClaimRows {
        rows: vec![row],
        ..ClaimRows::default()
    })));
    assert_eq!(
        texts(&html, "td.c-h"),
        ["mail-01:2210 alive, not running it, seen 9 s ago"]
    );
    assert_eq!(
        texts(&html, "td.c-e"),
        [
            "Attempt 1 failed: TimeoutException no answer in 30 s Succeeded by skipping: attempt 2 \
          found the claim"
        ]
    );
    assert_eq!(texts(&html, "td.c-v .verdict"), ["Safe to resend"]);
    assert_eq!(texts(&html, "td.c-v summary"), ["key known for 3 min 00 s"]);
    assert_eq!(texts(&html, "td.c-v p"), ["Because the test says so."]);
    assert_eq!(texts(&html, "td.c-a b"), ["27 min 00 s"]);
}

#[test]
fn a_closed_window_is_named() {
    let html = html(page(Ok(stale_rows())));
    assert_eq!(
        texts(&html, "tr[data-claim='invoice-email:6902'] summary.bad"),
        ["window closed 25 h ago"]
    );
    // Its bar is red and full.
    assert_eq!(
        attr(
            &html,
            "tr[data-claim='invoice-email:6902'] .age-f.over",
            "width"
        ),
        ["80"]
    );
}

#[test]
fn the_chart_states_its_finding_and_repeats_it_as_a_table() {
    let html = html(page(Ok(stale_rows())));
    assert_eq!(
        texts(&html, "figcaption"),
        [
            "46 younger than the cut-off of 10 min, 9 older, but within the key window of 30 min and \
          8 older than the key window of 30 min."
        ]
    );
    assert_eq!(
        texts(&html, ".ages-t tbody td.num"),
        ["31", "8", "5", "2", "4", "5", "3", "2", "1", "1", "1"]
    );
    assert_eq!(attr(&html, "svg.chart", "role").len(), 3);
}

#[test]
fn another_cut_off_changes_the_view_and_says_so() {
    let mut page = page(Ok(stale_rows()));
    page.view.cutoff_ms = Some(60 * MINUTE);
    let html = html(page);
    assert_eq!(attr(&html, "input#cutoff", "value"), ["1 h"]);
    assert_eq!(
        attr(&html, ".stepper a", "href"),
        [
            "/ops/s/prod/claims?status=stale&cutoff=30min",
            "/ops/s/prod/claims?status=stale&cutoff=2h"
        ]
    );
    // 2 + 1 + 1 + 1 are older than an hour; the jobs' own number stays in the headline.
    assert_eq!(attr(&html, "[data-figure=stale]", "data-value"), ["5"]);
    assert!(texts(&html, ".page-h p")[0].starts_with("63 Sending, 17 of them longer than 10 min."));
    let bar = texts(&html, "form.cutoff").join(" ");
    assert!(
        bar.contains("the jobs’ own cut-off is 10 min; another one here only changes this view"),
        "{bar}"
    );
    assert_eq!(
        attr(&html, "form.cutoff a.btn", "href"),
        ["/ops/s/prod/claims?status=stale"]
    );
}

#[test]
fn a_number_that_is_not_known_is_not_invented() {
    let mut page = page(Ok(stale_rows()));
    page.view.cutoff_ms = Some(7 * MINUTE);
    let counted = html(page);
    assert_eq!(
        texts(&counted, ".tabs .tab")[0],
        "Stale –",
        "7 minutes lie within a bucket"
    );
    let mut page = self::page(Ok(stale_rows()));
    page.tables[0].figures = FiguresView::Failed("it took longer than 5 s".into());
    let failed = html(page);
    assert!(
        texts(&failed, ".page-h p")[0].contains("Not counted: it took longer than 5 s"),
        "{:?}",
        texts(&failed, ".page-h p")
    );
    assert_eq!(texts(&failed, ".ret-n b"), ["–"]);
}

fn page(list: Result<ClaimRows, crate::ports::error::StoreError>) -> ClaimsPage {
    super::fixture::page(list)
}

#[test]
fn pages_follow_the_rows() {
    let mut page = page(Ok(stale_rows()));
    let place = ClaimPlace {
        claimed_at: Some("2026-11-26 12:02:48+00".into()),
        key: "a".into(),
    };
    page.cursor = Some(ClaimCursor::After(place));
    let list = page.list.as_mut().unwrap();
    list.has_before = true;
    let html = html(page);
    // Oldest first: what follows is newer.
    let newer = attr(&html, ".pager a[rel=prev]", "href");
    let older = attr(&html, ".pager a[rel=next]", "href");
    assert!(newer[0].contains("&after=1."), "{newer:?}");
    assert!(newer[0].contains("order-export"), "{newer:?}");
    assert!(older[0].contains("&before=1."), "{older:?}");
    assert!(older[0].contains("invoice-email%253A6902"), "{older:?}");
}

#[test]
fn several_tables_can_be_chosen_from() {
    let mut page = page(Ok(stale_rows()));
    let mut other = view_of(ClaimsTable {
        name: "supplier acks".into(),
        ..table()
    });
    other.shape = Err("it was dropped".into());
    page.tables.push(other);
    let html = html(page);
    assert_eq!(
        texts(&html, ".claims-t a"),
        ["mails 17 stale", "supplier acks cannot be read"]
    );
    assert_eq!(
        attr(&html, ".claims-t a", "href"),
        [
            "/ops/s/prod/claims?status=stale&table=mails",
            "/ops/s/prod/claims?status=stale&table=supplier%20acks"
        ]
    );
    assert_eq!(
        attr(&html, ".claims-t a[aria-current]", "href"),
        ["/ops/s/prod/claims?status=stale&table=mails"]
    );
}

#[test]
fn the_window_is_explained_by_the_way_of_claiming() {
    let words = |way| {
        let table = ClaimsTable { way, ..table() };
        let mut page = page(Ok(stale_rows()));
        page.tables = vec![view_of(table)];
        texts(&html(page), ".win li").join(" | ")
    };
    let insert = words(ClaimWay::InsertFirst);
    assert!(
        insert.starts_with("0 to 10 min: held. A run that finds the claim"),
        "{insert}"
    );
    assert!(
        insert.contains("10 min to 30 min: a resend is answered. Jobs go on skipping"),
        "{insert}"
    );
    assert!(
        insert.contains("After 30 min: a resend is a second message."),
        "{insert}"
    );
    assert!(words(ClaimWay::SelfReclaim).contains("takes the claim over"));
    assert!(words(ClaimWay::HandOver).contains("hands the claim to a new run"));

    let mut page = page(Ok(stale_rows()));
    page.tables = vec![view_of(ClaimsTable {
        window_ms: None,
        ..table()
    })];
    let unknown = texts(&html(page), ".win li").join(" | ");
    assert!(
        unknown.contains("How long the provider knows a key is not configured."),
        "{unknown}"
    );
}

#[test]
fn what_a_table_lacks_is_said_with_what_it_takes_away() {
    let mut page = page(Ok(ClaimRows::default()));
    let shape = page.tables[0].shape.as_mut().unwrap();
    shape.lacks = vec![Lack::ClaimTime, Lack::ProviderId, Lack::UniqueKey];
    shape.missing_index = Some("CREATE INDEX ON \"OutgoingEmails\" (\"ClaimedAtUtc\")".into());
    let html = html(page);
    let notes = texts(&html, ".claims-n").join(" | ");
    assert!(notes.contains("no claim has an age"), "{notes}");
    assert!(notes.contains("marking as sent cannot keep it"), "{notes}");
    assert!(
        notes.contains("reclaim and release are not offered"),
        "{notes}"
    );
    assert_eq!(
        texts(&html, ".note-d .sql"),
        ["CREATE INDEX ON \"OutgoingEmails\" (\"ClaimedAtUtc\")"]
    );
    assert!(texts(&html, ".msg h2")[0].contains("No claim of this table can be called stale"));
    assert_eq!(attr(&html, "form.cutoff", "action"), Vec::<String>::new());
    assert!(texts(&html, "#purge-no")[0].contains("Without a claim time"));
}

#[test]
fn sent_claims_are_listed_plainly() {
    let mut page = page(Ok(ClaimRows {
        rows: vec![JudgedClaim {
            claim: figures().just_sent[0].clone(),
            owners: Vec::new(),
            evidence: None,
            verdict: None,
            asked: None,
            offers: Vec::new(),
        }],
        ..ClaimRows::default()
    }));
    page.view = ClaimsView {
        list: ClaimList::Sent,
        ..ClaimsView::default()
    };
    let html = html(page);
    assert_eq!(attr(&html, "tr[data-claim]", "data-status"), ["sent"]);
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-verdict"),
        Vec::<String>::new()
    );
    assert!(texts(&html, "tr[data-claim]")[0].contains("msg-4570d2f1"));
    assert_eq!(texts(&html, "svg.chart").len(), 0);
}

#[test]
fn odd_claim_times_and_statuses_are_shown_as_they_are() {
    let mut unreadable = claim("a", 20, Judgement::Unknown);
    unreadable.claim.claimed_at = Some(ClaimTime::read("last <Tuesday>"));
    unreadable.evidence.as_mut().unwrap().age_ms = None;
    let mut missing = claim("b", 20, Judgement::Unknown);
    missing.claim.claimed_at = None;
    missing.evidence = None;
    let mut future = claim("c", -20, Judgement::Unknown);
    future.evidence.as_mut().unwrap().age_ms = Some(-20 * MINUTE);
    let mut odd = claim("d", 20, Judgement::Unknown);
    odd.claim.status = ClaimStatus::Other("7".into());
    odd.verdict = None;
    odd.offers.clear();
    let mut page = page(Ok(ClaimRows {
        rows: vec![unreadable, missing, future, odd],
        ..ClaimRows::default()
    }));
    page.view.list = ClaimList::Sending;
    let html = html(page);
    let ages = texts(&html, "td.c-a");
    assert_eq!(ages[0], "age not knownlast <Tuesday>");
    assert_eq!(ages[1], "no claim time");
    assert!(ages[2].starts_with("in the future"), "{ages:?}");
    assert_eq!(
        attr(&html, "tr[data-claim]", "data-status"),
        ["sending", "sending", "sending", "other"]
    );
}

#[test]
fn captions_of_the_chart_never_lie_on_a_bar() {
    let captions = |ages: Vec<i64>| {
        let mut page = page(Ok(stale_rows()));
        page.tables[0].figures = FiguresView::Counted {
            figures: std::sync::Arc::new(ClaimFigures { ages, ..figures() }),
            age_ms: 0,
        };
        texts(&html(page), "svg.h-w .lb-b[y='50']")
    };
    assert_eq!(
        captions(vec![31, 8, 5, 2, 4, 5, 3, 2, 1, 1, 1]),
        ["46 are held", "9 in the window", "8 at risk"]
    );
    assert_eq!(
        captions(vec![0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 1]),
        ["2 at risk"]
    );
}

#[test]
fn a_missing_index_of_a_small_table_is_nothing_to_say() {
    let mut page = page(Ok(stale_rows()));
    page.tables[0].shape.as_mut().unwrap().missing_index = Some("CREATE INDEX x".into());
    page.tables[0].figures = FiguresView::Counted {
        figures: std::sync::Arc::new(ClaimFigures {
            sent: 300,
            ..figures()
        }),
        age_ms: 0,
    };
    assert_eq!(texts(&html(page), ".note-d").len(), 0);
}
