//! Asking the provider.

use app::links::claims::item;

use super::*;

on_both! { the_providers_answer_is_evidence_from_then_on }

async fn the_providers_answer_is_evidence_from_then_on(claims: Claims) {
    for (key, answer, id) in [
        (ORDER_45, "known", json!("msg-0045")),
        (ORDER_44, "denied", json!(null)),
        (ORDER_46, "not-known", json!(null)),
    ] {
        let time = claims.time(key).await;
        let (status, body) = claims.act("ask-provider", &of(key, &time)).await;
        assert_eq!((status, &body["answer"]), (200, &json!(answer)), "{body}");
        assert_eq!(body["provider_message_id"], id);
    }
    let page = claims.site.get("/s/main/claims").await.body;
    assert!(page.contains("msg-0045"), "{page}");
    let time = claims.time(ORDER_44).await;
    let (status, body) = claims
        .act("ask-provider", &of("invoice-email:9", &time))
        .await;
    assert_eq!((status, &body["outcome"]), (404, &json!("gone")));
    let items = [item("a", None), item("b", None)];
    let two = [("item", &*items[0]), ("item", &*items[1])];
    assert_eq!(claims.act("ask-provider", &two).await.0, 400);
    let browser = claims.post("ask-provider", &of(ORDER_44, &time), &[]).await;
    assert_eq!(browser.status, StatusCode::SEE_OTHER);
}
