//! The messages that stand where a table would: no claims table, one that cannot be read, nothing
//! stale, filtered out, timed out.

use leptos::prelude::*;

use super::rows::claimed_ago;
use super::{ClaimsPage, TableView, older_than, words};
use crate::components::icon::icon_as;
use crate::components::message::{Offer, Tone, message, offer_list};
use crate::components::number::{count, thousands};
use crate::components::text::{shown, visible};
use crate::links::SourceLinks;
use crate::links::claims::{ClaimList, ClaimsView, cutoff_words};
use crate::model::claim::table::{ClaimsTable, Lack, Shape};
use crate::pages::messages::{in_place, seconds};
use crate::ports::error::StoreError;
use crate::ports::source::Dialect;

/// A claims table as one would make it, on `PostgreSQL`.
const POSTGRES: &str = "\
CREATE TABLE outgoing_emails (
    idempotency_key     text        PRIMARY KEY,
    status              smallint    NOT NULL,  -- 0 sending, 1 sent
    claimed_at_utc      timestamptz NOT NULL,
    provider_message_id text
);
CREATE INDEX outgoing_emails_sending
    ON outgoing_emails (claimed_at_utc, idempotency_key) WHERE status = 0;";

/// The same on `SQLite`.
const SQLITE: &str = "\
CREATE TABLE OutgoingEmails (
    IdempotencyKey    TEXT    NOT NULL PRIMARY KEY,
    Status            INTEGER NOT NULL,  -- 0 sending, 1 sent
    ClaimedAtUtc      TEXT    NOT NULL,  -- 2026-11-29 19:45:04.6335314
    ProviderMessageId TEXT
);
CREATE INDEX OutgoingEmails_sending
    ON OutgoingEmails (ClaimedAtUtc, IdempotencyKey) WHERE Status = 0;";

/// No table is configured, and none was detected: what claims are, and how to begin.
pub(super) fn no_table(dialect: Dialect) -> AnyView {
    let (sql, toml) = match dialect {
        Dialect::Postgres => (
            POSTGRES,
            snippet(
                "outgoing_emails",
                [
                    "idempotency_key",
                    "status",
                    "claimed_at_utc",
                    "provider_message_id",
                ],
            ),
        ),
        Dialect::Sqlite => (
            SQLITE,
            snippet(
                "OutgoingEmails",
                [
                    "IdempotencyKey",
                    "Status",
                    "ClaimedAtUtc",
                    "ProviderMessageId",
                ],
            ),
        ),
    };
    view! {
        <div class="msg claims-0">
            {icon_as("i-claims", "i msg-i")}
            <div>
                <h2>"Redrive knows no claims table here"</h2>
                <p>
                    "A job whose effect must not happen twice claims it first: it inserts a row with \
                     an idempotency key and the status Sending, sends, and marks the row as Sent. \
                     When a run dies in between, the row stays in Sending. The retry finds it, takes \
                     the work for done and skips: the message never leaves, and the job says \
                     Succeeded."
                </p>
                <p>
                    "With a claims table Redrive shows those claims, what is known of each, whether \
                     a resend is safe, and takes them back so that one contender wins. It looked for \
                     a table with a unique text key, a status and a claim time and found none."
                </p>
                <h3>"A table that does it"</h3>
                <pre class="sql">{sql}</pre>
                <h3>"How to point Redrive at one of another shape, in redrive.toml"</h3>
                <pre class="sql">{toml}</pre>
            </div>
        </div>
    }
    .into_any()
}

/// The description of a claims table in `redrive.toml`, below its `[[source]]`.
pub fn snippet(table: &str, [key, status, claimed_at, provider_id]: [&str; 4]) -> String {
    format!(
        "[[source.claims]]
table = \"{table}\"
key = \"{key}\"
status = \"{status}\"
claimed_at = \"{claimed_at}\"
provider_id = \"{provider_id}\"
sending = 0              # as stored: a number or a text
sent = 1
cutoff = \"10m\"           # a Sending claim older than this is stale
window = \"24h\"           # how long the provider knows a key
jobs = \"insert-first\"    # or self-reclaim, or hand-over

[[source.claims.keys]]   # which job a key belongs to
pattern = \"invoice-email:{{0}}\"
type = \"InvoiceEmailJob\"
methods = [\"SendAsync\"]"
    )
}

/// A table that is configured but is not there, or is not what its description says.
pub(super) fn unreadable(table: &ClaimsTable, why: &str) -> AnyView {
    let headline = format!("The claims table {} cannot be read", shown(&table.name));
    let hint = if table.detected {
        "It was there when Redrive looked for claims tables: it was dropped or changed since."
    } else {
        "Nothing is lost: jobs and every other page are not affected. Correct the table or its \
         columns under [[source.claims]] in redrive.toml; names are written as the database has \
         them, upper and lower case included."
    };
    view! {
        <div class="msg">
            {icon_as("i-warn", "i msg-i warn")}
            <div>
                <h2>{headline}</h2>
                <p>{visible(why)}</p>
                <p class="msg-d">{hint}</p>
            </div>
        </div>
    }
    .into_any()
}

/// The list could not be read.
pub(super) fn failed(
    page: &ClaimsPage,
    shape: &Shape,
    cause: &StoreError,
    links: &SourceLinks,
) -> AnyView {
    let StoreError::TimedOut(limit) = cause else {
        return in_place(cause);
    };
    let sql = shape.missing_index.as_ref().map(|sql| {
        view! {
            <p>"This index would serve it:"</p>
            <pre class="sql">{shown(sql).into_owned()}</pre>
        }
    });
    let mut offers: Vec<Offer> = Vec::new();
    for list in [ClaimList::Stale, ClaimList::All] {
        if page.view.list != list {
            let words = format!("{} claims", list.label());
            offers.push((words, links.claims(&page.at(list), None)));
        }
    }
    view! {
        <div class="msg">
            {icon_as("s-scheduled", "i msg-i warn")}
            <div>
                <h2>{format!("This list took longer than {}", seconds(*limit))}</h2>
                <p>
                    "It was stopped on purpose, to protect the database. Claims are not touched by \
                     that, and other pages are not affected."
                </p>
                {sql}
                {offer_list(offers)}
            </div>
        </div>
    }
    .into_any()
}

/// No row: because there is none, because the view hides them, or because the page lies beyond the
/// end.
pub(super) fn nothing(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> AnyView {
    let start = links.claims(&page.view, None);
    if page.cursor.is_some() {
        let offers = vec![("To the beginning".to_owned(), start)];
        let words = "The claims that were here were sent, released or purged since.";
        return message(
            Tone::Plain,
            "i-info",
            "No claims are left on this page",
            words,
            offers,
        )
        .into_any();
    }
    if let Some(key) = &page.view.key {
        let headline = view! {
            "No claim has the key " <bdi class="mono">{visible(&words::key_label(key))}</bdi>
        };
        let words = "It was released or purged, its job has not claimed yet, or the key is another \
                     one.";
        let offers = vec![(
            "All claims".to_owned(),
            links.claims(&page.at(ClaimList::All), None),
        )];
        return message(Tone::Plain, "i-search", headline, words, offers).into_any();
    }
    match page.view.list {
        ClaimList::Stale => nothing_stale(page, table, links),
        ClaimList::Sending => {
            let words = proof(table);
            message(
                Tone::Good,
                "s-succeeded",
                "No claim is Sending",
                words,
                elsewhere(page, table, links),
            )
            .into_any()
        }
        list => {
            let headline = match list {
                ClaimList::Sent => "No claim is Sent",
                ClaimList::Other => "Every status is one that Redrive knows",
                _ => "The table is empty",
            };
            message(
                Tone::Plain,
                "i-info",
                headline,
                "The table was read just now.",
                elsewhere(page, table, links),
            )
            .into_any()
        }
    }
}

fn nothing_stale(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> AnyView {
    if table.lacks(Lack::ClaimTime) {
        let words = "Without a claim time no claim has an age. What is Sending can be listed, and \
                     settled by hand.";
        let offers = vec![(
            "Sending claims".to_owned(),
            links.claims(&page.at(ClaimList::Sending), None),
        )];
        return message(
            Tone::Plain,
            "i-info",
            "No claim of this table can be called stale",
            words,
            offers,
        )
        .into_any();
    }
    let own = table.table.cutoff_ms;
    let cutoff = page.cutoff_ms(table);
    if cutoff != own {
        let view = ClaimsView {
            cutoff_ms: None,
            ..page.at(ClaimList::Stale)
        };
        let words = match older_than(table, own) {
            Some(n) => {
                let are = if n == 1 { "is" } else { "are" };
                format!(
                    "{} {are} older than the jobs\u{2019} own cut-off of {}.",
                    count(n, "claim"),
                    cutoff_words(own)
                )
            }
            None => format!("The jobs\u{2019} own cut-off is {}.", cutoff_words(own)),
        };
        let offers = vec![(
            format!("Stale after {}", cutoff_words(own)),
            links.claims(&view, None),
        )];
        let headline = format!(
            "No claim is Sending for longer than {}",
            cutoff_words(cutoff)
        );
        return message(Tone::Plain, "i-search", headline, words, offers).into_any();
    }
    message(
        Tone::Good,
        "s-succeeded",
        "No claim is stale",
        proof(table),
        elsewhere(page, table, links),
    )
    .into_any()
}

/// What shows that claims work here.
fn proof(table: &TableView) -> String {
    let Some((figures, _)) = table.counted() else {
        return "The list was read just now.".to_owned();
    };
    let newest = figures
        .just_sent
        .first()
        .and_then(claimed_ago)
        .map(|ago| format!("; the newest of them was claimed {ago}"))
        .unwrap_or_default();
    format!(
        "{} Sending, and {} Sent{newest}.",
        thousands(figures.sending),
        thousands(figures.sent)
    )
}

fn elsewhere(page: &ClaimsPage, table: &TableView, links: &SourceLinks) -> Vec<Offer> {
    let sending = table.counted().is_some_and(|(f, _)| f.sending > 0);
    let mut offers = Vec::new();
    if page.view.list == ClaimList::Stale && sending {
        offers.push((
            "What is Sending now".to_owned(),
            links.claims(&page.at(ClaimList::Sending), None),
        ));
    }
    if page.view.list != ClaimList::Sent {
        offers.push((
            "What was Sent".to_owned(),
            links.claims(&page.at(ClaimList::Sent), None),
        ));
    }
    offers
}
