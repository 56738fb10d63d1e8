//! Purging old Sent claims.

use super::*;

on_both! { a_purge_takes_old_sent_claims_and_is_done_once }

async fn a_purge_takes_old_sent_claims_and_is_done_once(claims: Claims) {
    let (status, body) = claims.act("purge-claims", &[("reason", "tidy")]).await;
    assert_eq!((status, &body["purged"]), (200, &json!(1)), "{body}");
    assert_eq!(claims.row(ORDER_43).await, None);
    let left = r#"SELECT count(*) FROM "OutgoingEmails""#;
    assert_eq!(claims.database.number(left).await, 3);
    let (_, body) = claims.act("purge-claims", &[]).await;
    assert_eq!(body["purged"], 0);
    let browser = claims.post("purge-claims", &[], &[]).await;
    assert_eq!(browser.status, StatusCode::SEE_OTHER);
}
