//! Acting on one claim.

use super::*;

on_both! {
    a_released_claim_runs_its_job_once,
    what_is_unknown_needs_a_word_and_a_reason,
    a_browser_is_sent_back_to_where_the_outcome_is_named,
    a_read_only_source_changes_nothing,
}

async fn a_released_claim_runs_its_job_once(claims: Claims) {
    let time = claims.time(ORDER_44).await;
    let form = of(ORDER_44, &time);
    let (status, body) = claims.act("release", &form).await;
    assert_eq!((status, &body["outcome"]), (200, &json!("done")), "{body}");
    assert_eq!(
        (&body["job"], &body["state"]),
        (&json!(2), &json!("Enqueued"))
    );
    assert_eq!(claims.row(ORDER_44).await, None);
    assert_eq!(claims.database.queued().await, 1);
    let (status, body) = claims.act("release", &form).await;
    assert_eq!((status, &body["outcome"]), (404, &json!("gone")));
    assert_eq!(claims.database.queued().await, 1);
}

async fn what_is_unknown_needs_a_word_and_a_reason(claims: Claims) {
    let time = claims.time(ORDER_46).await;
    let claim = of(ORDER_46, &time);
    let (status, body) = claims.act("reclaim", &claim).await;
    assert_eq!((status, &body["outcome"]), (422, &json!("refused")));
    let twice = [claim[0], claim[1], ("may_deliver_twice", "true")];
    let (status, body) = claims.act("reclaim", &twice).await;
    assert_eq!(status, 422);
    assert!(
        body["why"].as_str().unwrap().contains("give a reason"),
        "{body}"
    );
    assert_eq!(claims.database.queued().await, 0);
    let meant = [claim[0], claim[1], twice[2], ("reason", "customer waits")];
    let (status, body) = claims.act("reclaim", &meant).await;
    assert_eq!((status, &body["job"]), (200, &json!(4)), "{body}");
}

async fn a_browser_is_sent_back_to_where_the_outcome_is_named(claims: Claims) {
    let time = claims.time(ORDER_45).await;
    let claim = of(ORDER_45, &time);
    let form = [
        claim[0],
        claim[1],
        ("provider_message_id", " msg-0045 "),
        ("reason", "provider's log"),
        ("back", "/s/main/claims?status=sending&done=1"),
    ];
    let answer = claims.post("mark-sent", &form, &[]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    let start = "/s/main/claims?status=sending&done=";
    assert!(location.starts_with(start), "{location}");
    assert_eq!(
        claims.row(ORDER_45).await,
        Some((1, Some("msg-0045".to_owned())))
    );
    let page = claims.site.get(location).await.body;
    assert!(page.contains("data-outcome=\"done\""), "{page}");
    // Somebody else was first.
    let (status, body) = claims.act("mark-sent", &form).await;
    assert_eq!((status, &body["to"]), (409, &json!("sent")), "{body}");
    assert_eq!(body["provider_message_id"], "msg-0045");
    // Without a page to go back to, the table's.
    let answer = claims.post("mark-sent", &form[..2], &[]).await;
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    assert!(
        location.starts_with("/s/main/claims?status=stale&table=emails&done="),
        "{location}"
    );
}

async fn a_read_only_source_changes_nothing(claims: Claims) {
    let time = claims.time(ORDER_44).await;
    for action in [
        "reclaim",
        "release",
        "mark-sent",
        "ask-provider",
        "purge-claims",
    ] {
        let form = format!(
            "source=locked&claims=emails&key=invoice-email%3A44&claimed_at={}",
            app::links::escape(&time)
        );
        let url = format!("/api/{action}");
        let json = claims
            .site
            .post(&url, &form, &[("accept", "application/json")])
            .await;
        assert_eq!(json.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(json.body.contains("read-only"), "{action}: {}", json.body);
        let page = claims.site.post(&url, &form, &[]).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
        assert!(page.body.contains("read-only"), "{action}");
    }
    assert_eq!(claims.row(ORDER_44).await, Some((0, None)));
    assert!(claims.row(ORDER_43).await.is_some());
    let page = claims.site.get("/s/locked/claims").await.body;
    assert_eq!(rows(&page).len(), 3);
}
