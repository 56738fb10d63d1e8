//! The page, and the job's page.

use super::*;

on_both! {
    stale_claims_are_listed_with_their_verdicts,
    pages_follow_each_other,
    what_the_url_cannot_mean_is_said,
    a_jobs_page_shows_its_claim,
    a_table_that_is_dropped_costs_no_more_than_itself,
    metrics_tell_of_claims_and_jobs,
}

async fn stale_claims_are_listed_with_their_verdicts(claims: Claims) {
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!(page.status, StatusCode::OK);
    let pair = |key: &str, verdict: &str| (key.to_owned(), verdict.to_owned());
    assert_eq!(
        rows(&page.body),
        [
            pair(ORDER_45, "unknown"),
            pair(ORDER_46, "unknown"),
            pair(ORDER_44, "safe"),
        ]
    );
    let sent = claims.site.get("/s/main/claims?status=sent").await;
    assert_eq!(rows(&sent.body), [pair(ORDER_43, "")]);
    let one = "/s/main/claims?claims=emails&key=invoice-email%3A44";
    let one = claims.site.get(one).await;
    assert_eq!(rows(&one.body), [pair(ORDER_44, "safe")]);
    // Ten years is a longer cut-off than any recorded claim is old.
    let none = claims.site.get("/s/main/claims?cutoff=3650d").await;
    assert_eq!((none.status, rows(&none.body).len()), (StatusCode::OK, 0));
}

async fn pages_follow_each_other(claims: Claims) {
    let mut seen = Vec::new();
    let mut next = Some("/s/main/claims?status=all&limit=1".to_owned());
    while let Some(url) = next.take() {
        let page = claims.site.get(&url).await;
        assert_eq!(page.status, StatusCode::OK, "{url}");
        seen.extend(rows(&page.body).into_iter().map(|(key, _)| key));
        assert!(seen.len() <= 4, "{seen:?}");
        let link = page.body.split("href=\"").find(|link| {
            let url = link.split('"').next().unwrap_or_default();
            url.contains("after=")
        });
        next = link.map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    }
    seen.sort_unstable();
    assert_eq!(seen, [ORDER_43, ORDER_44, ORDER_45, ORDER_46]);
}

async fn what_the_url_cannot_mean_is_said(claims: Claims) {
    for (query, status, words) in [
        ("status=burnt", 400, "sending"),
        ("cutoff=soon", 400, "cutoff"),
        ("cutoff=-5m", 400, "cutoff"),
        ("cutoff=4000d", 400, "ten years"),
        ("limit=0", 400, "limit"),
        ("after=garbage", 400, "marker"),
        ("after=a&before=b", 400, "not both"),
        ("table=nowhere", 404, "emails"),
    ] {
        let answer = claims.site.get(&format!("/s/main/claims?{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}");
        assert!(answer.body.contains(words), "{query}: {}", answer.body);
    }
    let (status, body) = claims.site.get_json("/s/main/claims?claims=nowhere").await;
    assert_eq!(
        (status.as_u16(), &body["error"]),
        (404, &json!("unknown_claims"))
    );
}

async fn a_jobs_page_shows_its_claim(claims: Claims) {
    let page = claims.site.get("/s/main/jobs/2").await.body;
    assert!(page.contains(ORDER_44), "{page}");
    assert!(page.contains("Safe to resend"));
    // Requeued alone, it would only find its claim.
    assert!(
        page.contains("Its claim invoice-email:44 is Sending"),
        "{page}"
    );
    let sent = claims.site.get("/s/main/jobs/1").await.body;
    assert!(sent.contains("msg-0001"));
}

async fn a_table_that_is_dropped_costs_no_more_than_itself(claims: Claims) {
    let time = claims.time(ORDER_44).await;
    claims
        .database
        .execute(r#"DROP TABLE "OutgoingEmails""#)
        .await;
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.body.contains("OutgoingEmails"), "{}", page.body);
    let (status, body) = claims.act("release", &of(ORDER_44, &time)).await;
    assert_eq!((status, &body["error"]), (503, &json!("not_readable")));
    assert_eq!(
        claims.site.get("/s/main/jobs/2").await.status,
        StatusCode::OK
    );
}

async fn metrics_tell_of_claims_and_jobs(claims: Claims) {
    let mut live = claims.site.state.source("main").unwrap().live.clone();
    live.wait_for(|seen| seen.counts.is_some()).await.unwrap();
    let body = claims.site.get("/metrics").await.body;
    let series = metrics::series(&body);
    let of = |series_of: &str| series[series_of].to_string();
    for (status, count) in [
        ("sending", "3"),
        ("stale", "3"),
        ("sent", "1"),
        ("other", "0"),
    ] {
        let name = format!(r#"redrive_claims{{source="main",claims="emails",status="{status}"}}"#);
        assert_eq!(of(&name), count, "{status}");
    }
    assert_eq!(
        of(r#"redrive_claims_readable{source="main",claims="emails"}"#),
        "1"
    );
    assert_eq!(of(r#"redrive_source_up{source="main"}"#), "1");
    assert_eq!(of(r#"redrive_jobs{source="main",state="succeeded"}"#), "4");
    assert_eq!(of(r#"redrive_jobs{source="main",state="failed"}"#), "0");
    let reads = series[r#"redrive_database_read_seconds_count{source="main",result="ok"}"#];
    assert!(reads >= 3.0, "{reads}");
    // Scraping reads nothing.
    let again = claims
        .site
        .state
        .source("main")
        .unwrap()
        .store
        .read_times()
        .counted();
    let counted: u64 = again
        .iter()
        .map(|one| one.get_histogram().get_sample_count())
        .sum();
    for _ in 0..20 {
        claims.site.get("/metrics").await;
    }
    let after = claims
        .site
        .state
        .source("main")
        .unwrap()
        .store
        .read_times()
        .counted();
    let after: u64 = after
        .iter()
        .map(|one| one.get_histogram().get_sample_count())
        .sum();
    // The background looks may have read something meanwhile, but not once for each scrape.
    assert!(after - counted < 20, "{counted} {after}");
}
