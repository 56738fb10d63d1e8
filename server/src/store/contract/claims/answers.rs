//! What the provider answered.

use app::actions::Actor;
use app::actions::claim::SeenClaim;
use app::model::claim::evidence::{Answer, Asked};
use uuid::Uuid;

use super::{Bench, now};

/// Answers are written down and read again, oldest first.
pub async fn answers_are_kept(bench: &dyn Bench) {
    let actor = Actor {
        name: "ada".to_owned(),
        authenticated: false,
    };
    let seen = |key: &str| SeenClaim {
        key: key.to_owned(),
        claimed_at: Some("2026-11-02 12:00:00+00".to_owned()),
    };
    let answers = [
        (
            "k1",
            Answer::NotKnown("it did not answer within 5 s".to_owned()),
        ),
        ("k2", Answer::Denied),
        ("k1", Answer::Known(Some("msg-1".to_owned()))),
        ("k1", Answer::Known(None)),
    ];
    let mut nr = 0;
    for (key, answer) in &answers {
        let asked = Asked {
            at: now(),
            answer: answer.clone(),
        };
        nr += 1;
        let id = Uuid::from_u128(nr);
        bench
            .store()
            .record_answer(id, "emails", &seen(key), &asked, &actor)
            .await
            .unwrap();
        let row = bench.store().audit_row(id).await.unwrap().unwrap();
        assert_eq!((row.action.as_str(), row.job), ("ask-provider", None));
        assert_eq!(row.claim.unwrap().key.as_deref(), Some(*key));
    }
    let keys = ["k1".to_owned(), "k2".to_owned(), "a\0b".to_owned()];
    let past = bench.store().claim_past("emails", &keys).await.unwrap();
    let found: Vec<(&str, Option<Answer>)> = past
        .iter()
        .map(|past| (past.key.as_str(), past.answer.clone()))
        .collect();
    let expected: Vec<(&str, Option<Answer>)> = answers
        .iter()
        .map(|(key, answer)| (*key, Some(answer.clone())))
        .collect();
    assert_eq!(found, expected);
    assert!(
        past.iter()
            .all(|past| past.action == "ask-provider" && past.outcome == "done")
    );
    let one = bench
        .store()
        .claim_past("emails", &keys[1..2])
        .await
        .unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(
        one[0].seen.as_ref().unwrap().token,
        "2026-11-02 12:00:00+00"
    );
}
