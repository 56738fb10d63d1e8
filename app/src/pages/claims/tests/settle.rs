use super::fixture::*;
use crate::components::job_rows::testing::now;
use crate::model::claim::evidence::{Answer, Asked};
use crate::model::claim::table::ClaimWay;
use crate::model::claim::verdict::Judgement;
use crate::model::state::StateName;
use crate::pages::claims::*;
use crate::pages::document::testing::{attr, texts};

fn one(row: JudgedClaim) -> scraper::Html {
    with_table(row, table())
}

fn with_table(row: JudgedClaim, table: ClaimsTable) -> scraper::Html {
    let mut page = page(Ok(ClaimRows {
        rows: vec![row],
        ..ClaimRows::default()
    }));
    page.tables = vec![view_of(table)];
    html(page)
}

#[test]
fn every_action_is_a_button_of_a_plain_form_with_the_guard() {
    let html = one(claim("invoice-email:6975", 27, Judgement::Safe));
    let form = "tr[data-claim] form[method=post]";
    let value = |name: &str| attr(&html, &format!("{form} [name={name}]"), "value");
    assert_eq!(value("source"), ["prod"]);
    assert_eq!(value("claims"), ["mails"]);
    assert_eq!(value("key"), ["invoice-email:6975"]);
    assert_eq!(value("claimed_at"), ["2026-11-27 13:38:48+00"]);
    assert_eq!(value("back"), ["/ops/s/prod/claims?status=stale"]);
    assert_eq!(attr(&html, form, "action"), ["/ops/api/reclaim"]);
    assert_eq!(
        attr(&html, &format!("{form} .ways button"), "formaction"),
        [
            "/ops/api/reclaim",
            "/ops/api/release",
            "/ops/api/mark-sent",
            "/ops/api/ask-provider"
        ]
    );
    // Enter in a field presses the first button, which does nothing.
    assert_eq!(attr(&html, &format!("{form} button"), "disabled").len(), 1);
    // Nothing is acted on without the dialog, which opens without scripts.
    assert_eq!(
        attr(&html, "tr[data-claim] .acts button", "popovertarget"),
        ["c0"; 4]
    );
    assert_eq!(attr(&html, "#c0", "popover"), ["auto"]);
    assert_eq!(
        attr(&html, "[name=may_deliver_twice]", "name"),
        Vec::<String>::new(),
        "what is safe needs no tick"
    );
}

#[test]
fn an_unknown_outcome_asks_for_a_tick_and_a_reason() {
    let html = one(claim("invoice-email:6902", 1_563, Judgement::Unknown));
    assert_eq!(
        attr(&html, "#c0 [name=may_deliver_twice][required]", "value"),
        ["true"]
    );
    assert_eq!(attr(&html, "#c0 [name=reason][required]", "type"), ["text"]);
    let words = texts(&html, "#c0 .note").join(" ");
    assert!(words.contains("Resending may deliver it twice"), "{words}");
    // Marking as sent and asking need neither.
    assert_eq!(
        attr(&html, "#c0 button[formnovalidate]", "formaction"),
        ["/ops/api/mark-sent", "/ops/api/ask-provider"]
    );
    // It cannot be ticked for several at once.
    assert_eq!(
        attr(&html, "input[name=item]", "value"),
        Vec::<String>::new()
    );
}

/// What a button's action says that it will do.
fn says(html: &scraper::Html, slug: &str) -> String {
    let at = Deed::ALL
        .iter()
        .position(|deed| deed.slug() == slug)
        .unwrap();
    texts(html, "#c0 .ways .sub").remove(at)
}

#[test]
fn the_way_of_claiming_decides_what_reclaim_says() {
    let says = |way| {
        let row = claim("k", 27, Judgement::Safe);
        says(&with_table(row, ClaimsTable { way, ..table() }), "reclaim")
    };
    assert_eq!(
        says(ClaimWay::InsertFirst),
        "The row of mails is deleted, and job 42 InvoiceEmailJob.SendAsync (which says Succeeded) is \
         put into its queue: its next run claims anew and sends. Both in one transaction."
    );
    assert_eq!(
        says(ClaimWay::SelfReclaim),
        "Job 42 InvoiceEmailJob.SendAsync (which says Succeeded) is put into its queue: its next run \
         finds the stale claim, takes it over and sends with the same key. The row of mails is left \
         as it is."
    );
    let handed = says(ClaimWay::HandOver);
    assert!(handed.contains("the parameter Redrive.Claim"), "{handed}");
}

#[test]
fn another_database_is_said() {
    let mut page = page(Ok(stale_rows()));
    page.tables[0].shape.as_mut().unwrap().with_jobs = false;
    let html = html(page);
    let words = says(&html, "reclaim");
    assert!(words.contains("the claim changes first"), "{words}");
}

#[test]
fn several_owners_have_to_be_chosen_from() {
    let mut row = claim("k", 27, Judgement::Safe);
    row.owners.push(owner(77, StateName::Failed));
    let html = one(row);
    let choice = "#c0 select[name=job][required] option";
    assert_eq!(attr(&html, choice, "value"), ["", "42", "77"]);
    assert_eq!(
        texts(&html, choice),
        [
            "Choose one",
            "42 InvoiceEmailJob.SendAsync, Succeeded",
            "77 InvoiceEmailJob.SendAsync, Failed"
        ]
    );
}

#[test]
fn what_runs_offers_nothing_and_says_why() {
    let html = one(claim("order-export:551188", 15, Judgement::Running));
    assert_eq!(
        attr(&html, ".c-d .acts button", "aria-disabled"),
        ["true"; 4]
    );
    assert_eq!(
        texts(&html, ".c-d .acts-no"),
        ["mail-01 is alive and runs it"]
    );
    assert_eq!(
        attr(&html, "tr[data-claim] form", "action"),
        Vec::<String>::new()
    );
    assert_eq!(attr(&html, "#bulk", "action"), Vec::<String>::new());
}

#[test]
fn what_no_row_offers_is_said_once() {
    let mut rows = vec![
        claim("a", 27, Judgement::Safe),
        claim("b", 28, Judgement::Safe),
    ];
    for row in &mut rows {
        row.offers[3].why_not = Some("no look-up is configured".into());
        row.offers[2].why_not = Some(format!("not for {}", row.claim.key));
    }
    let html = html(page(Ok(ClaimRows {
        rows,
        ..ClaimRows::default()
    })));
    assert_eq!(
        texts(&html, ".claims-no li"),
        ["Ask the provider no look-up is configured"]
    );
    assert_eq!(
        texts(&html, ".acts-no"),
        ["Sent: not for a", "Sent: not for b"]
    );
    assert_eq!(texts(&html, ".acts").len(), 2);
    assert!(!texts(&html, ".acts")[0].contains("Ask"));
}

#[test]
fn only_what_is_safe_can_be_ticked() {
    let html = html(page(Ok(stale_rows())));
    assert_eq!(
        attr(&html, "input[name=item][form=bulk]", "value"),
        ["2026-11-27%2013%3A38%3A48%2B00:invoice-email%3A6975"]
    );
    assert_eq!(
        attr(&html, ".c-x input[disabled]", "aria-label"),
        [
            "The claim invoice-email:6902 cannot be ticked: its outcome is unknown, which is settled \
             one by one",
            "The claim order-export:551188 cannot be ticked: a job is still running it",
        ]
    );
    let bulk = "form#bulk[action='/ops/api/reclaim'][method=post]";
    assert_eq!(
        attr(&html, &format!("{bulk} [name=claims]"), "value"),
        ["mails"]
    );
    let words = texts(&html, &format!("{bulk} .selbar-w")).join(" ");
    assert!(
        words.contains("One claim here cannot be ticked, because its outcome is unknown"),
        "{words}"
    );
    // Forms do not nest: the table is outside of it.
    assert_eq!(
        attr(&html, "form#bulk table", "class"),
        Vec::<String>::new()
    );
}

#[test]
fn the_providers_answer_is_shown_and_carried_over() {
    let mut row = claim("k", 27, Judgement::Unknown);
    row.asked = Some(Asked {
        at: now() - chrono::TimeDelta::seconds(20),
        answer: Answer::Known(Some("msg-12".into())),
    });
    let html = one(row);
    assert_eq!(
        texts(&html, ".c-e .ev-p"),
        ["Provider knows the key as msg-12, asked 20 s ago"]
    );
    assert_eq!(
        attr(&html, "#c0 [name=provider_message_id]", "value"),
        ["msg-12"]
    );
}

#[test]
fn the_providers_secrets_are_not_shown() {
    let html = one(claim("k", 27, Judgement::Unknown));
    let words = says(&html, "ask-provider");
    assert!(
        words.starts_with("One request to mail.example about this key"),
        "{words}"
    );
    let all = html.html();
    for secret in ["s3cr3t", "hush", "ops:secret"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn hostile_keys_do_no_harm_and_travel_whole() {
    let nasty = "\"'</script><img src=x>&amp;\u{202e}";
    let html = one(claim(nasty, 27, Judgement::Safe));
    assert_eq!(attr(&html, "tr[data-claim]", "data-claim"), [nasty]);
    assert_eq!(attr(&html, "#c0 [name=key]", "value"), [nasty]);
    assert_eq!(attr(&html, "img, main script", "src"), Vec::<String>::new());
    assert!(texts(&html, "th.c-k b")[0].contains("</script>"));
}

#[test]
fn line_ends_travel_encoded_because_browsers_rewrite_them() {
    let html = one(claim("a\nb\0c", 27, Judgement::Safe));
    let form = "#c0 form";
    assert_eq!(
        attr(&html, &format!("{form} [name=key]"), "value"),
        Vec::<String>::new()
    );
    assert_eq!(
        attr(&html, &format!("{form} [name=item]"), "value"),
        ["2026-11-27%2013%3A38%3A48%2B00:a%0Ab%00c"]
    );
}

#[test]
fn long_keys_are_cut_in_view_and_whole_in_forms() {
    let long = "k".repeat(10_000);
    let html = one(claim(&long, 27, Judgement::Safe));
    let shown = texts(&html, "th.c-k b")[0].clone();
    assert_eq!(shown.chars().count(), 121);
    assert!(attr(&html, "th.c-k b", "title")[0].len() < 700);
    assert_eq!(attr(&html, "#c0 [name=key]", "value"), [long]);
}
