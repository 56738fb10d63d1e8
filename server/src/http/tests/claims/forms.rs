//! What forms may and may not say.

use app::links::claims::item;

use super::*;

on_both! {
    forms_that_cannot_be_meant_are_answered_in_words,
    keys_of_any_kind_travel_unharmed,
}

async fn forms_that_cannot_be_meant_are_answered_in_words(claims: Claims) {
    let time = claims.time(ORDER_44).await;
    let long = "x".repeat(2_001);
    for (action, form, words) in [
        ("release", vec![], "“key”"),
        ("release", vec![("item", "nonsense")], "claimed_at:key"),
        ("release", vec![("key", "k"), ("job", "x")], "“job”"),
        ("release", vec![("key", "k"), ("reason", &*long)], "2000"),
        ("release", vec![("key", "k"), ("key", "l")], "key"),
        ("purge-claims", vec![("reason", &*long)], "2000"),
    ] {
        let (status, body) = claims.act(action, &form).await;
        assert_eq!(status, 400, "{form:?}");
        assert!(body["message"].as_str().unwrap().contains(words), "{body}");
    }
    let json = [("accept", "application/json")];
    for (form, word) in [
        ("source=main&claims=nowhere&key=k", "unknown_claims"),
        ("source=nowhere&key=k", "unknown_source"),
    ] {
        let answer = claims.site.post("/api/release", form, &json).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{form}");
        assert!(answer.body.contains(word), "{}", answer.body);
    }
    // The only table need not be named.
    let form = format!(
        "source=main&key=invoice-email%3A44&claimed_at={}",
        app::links::escape(&time)
    );
    let answer = claims.site.post("/api/release", &form, &json).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let evil = [("origin", "https://evil.example")];
    let evil = claims.post("release", &of("k", &time), &evil).await;
    assert_eq!(evil.status, StatusCode::FORBIDDEN);
    let fetched = claims.site.get("/api/release?source=main&key=k").await;
    assert_eq!(fetched.status, StatusCode::METHOD_NOT_ALLOWED);
}

async fn keys_of_any_kind_travel_unharmed(claims: Claims) {
    let odd = [
        "quote\"s' & <b>".to_owned(),
        "two\r\nlines\nand more".to_owned(),
        "</script><script>alert(1)</script>".to_owned(),
        format!("ten-kilobytes:{}é", "k".repeat(10_000)),
        "colon:percent%25:é".to_owned(),
    ];
    for key in &odd {
        claims
            .database
            .insert_sending(key, "'2026-11-29 19:00:00'")
            .await;
    }
    let page = claims.site.get("/s/main/claims").await;
    assert_eq!((page.status, rows(&page.body).len()), (StatusCode::OK, 8));
    assert!(!page.body.contains("<script>alert"));
    for key in &odd {
        let time = claims.time(key).await;
        let item = item(key, Some(&time));
        // No job stands behind it, so there is nothing to run again.
        let (status, body) = claims.act("release", &[("item", &*item)]).await;
        assert_eq!(
            (status, &body[0]["outcome"]),
            (200, &json!("refused")),
            "{body}"
        );
        let (status, body) = claims.act("mark-sent", &of(key, &time)).await;
        assert_eq!((status, &body["key"]), (200, &json!(key)), "{body}");
        assert_eq!(claims.row(key).await, Some((1, None)));
    }
}
