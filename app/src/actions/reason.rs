//! The reason that an action leaves in the state row, readable in Hangfire's own dashboard.

use super::Request;

/// State rows hold no longer reason than this, in characters.
pub const MAX_CHARS: usize = 100;

/// `Requeued by ada via Redrive: supplier is back`, in one line, cut to [`MAX_CHARS`] with `…`.
pub fn reason(request: &Request) -> String {
    let who = one_line(&request.actor.name);
    let mut text = format!("{} by {who} via Redrive", request.action.done());
    if let Some(why) = request.reason.as_deref().map(one_line)
        && !why.is_empty()
    {
        text.push_str(": ");
        text.push_str(&why);
    }
    cut(text)
}

fn one_line(text: &str) -> String {
    let printable: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    printable.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: String) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    let mut short: String = text.chars().take(MAX_CHARS - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Actor, Enqueue, Seen};
    use super::*;
    use crate::model::state::StateName;

    fn request(action: Action, who: &str, why: Option<&str>) -> Request {
        Request {
            action,
            seen: Seen {
                job: 1,
                state: StateName::Failed,
                state_id: 1,
            },
            reason: why.map(str::to_owned),
            actor: Actor {
                name: who.to_owned(),
                authenticated: false,
            },
        }
    }

    #[test]
    fn it_says_who_and_why() {
        let requeue = Action::Requeue(Enqueue::default());
        assert_eq!(
            reason(&request(requeue.clone(), "ada", Some("supplier is back"))),
            "Requeued by ada via Redrive: supplier is back"
        );
        assert_eq!(
            reason(&request(requeue, "ada", Some(" \n "))),
            "Requeued by ada via Redrive"
        );
        assert_eq!(
            reason(&request(Action::UndoDelete, "ada", None)),
            "Restored by ada via Redrive"
        );
    }

    #[test]
    fn it_is_one_line_of_at_most_100_characters() {
        let long = "Ä ".repeat(80);
        let text = reason(&request(Action::Delete, "ada", Some(&long)));
        assert!(text.chars().count() <= 100, "{text}");
        assert!(
            text.starts_with("Deleted by ada via Redrive: Ä Ä"),
            "{text}"
        );
        assert!(text.ends_with("Ä…"), "{text}");

        let exact = "x".repeat(100 - "Deleted by ada via Redrive: ".len());
        let text = reason(&request(Action::Delete, "ada", Some(&exact)));
        assert_eq!(text.chars().count(), 100);
        assert!(text.ends_with("xx"));

        let text = reason(&request(
            Action::Delete,
            "a\u{0}\r\nb",
            Some("one\ntwo\u{1b}[31m"),
        ));
        assert_eq!(text, "Deleted by a b via Redrive: one two [31m");
    }
}
