//! Acting on several claims.

use app::links::claims::item;

use super::*;

on_both! { of_several_only_what_is_safe_is_done_and_the_rest_is_named }

async fn of_several_only_what_is_safe_is_done_and_the_rest_is_named(claims: Claims) {
    let items = [
        item(ORDER_44, Some(&claims.time(ORDER_44).await)),
        item(ORDER_46, Some(&claims.time(ORDER_46).await)),
    ];
    let form = [
        ("item", &*items[0]),
        ("item", &*items[1]),
        ("may_deliver_twice", "true"),
        ("reason", "all of them"),
    ];
    let (status, body) = claims.act("reclaim", &form).await;
    assert_eq!(status, 200);
    let outcomes: Vec<_> = body
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["outcome"])
        .collect();
    assert_eq!(outcomes, [&json!("done"), &json!("refused")]);
    assert!(
        body[1]["why"]
            .as_str()
            .unwrap()
            .contains("outcome is unknown")
    );
    assert_eq!(claims.row(ORDER_46).await, Some((0, None)));
    assert_eq!(claims.database.queued().await, 1);
}
