//! The rows of a page of claims: see [`crate::store::claim_list`].

use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPage};
use async_trait::async_trait;
use sqlx::Error;

use super::text::{self, Statement};
use crate::store::claim_list::{self, ClaimRows, From, Part, Walk, Which};
use crate::store::postgres::conn::Conn;

/// See [`app::ports::claims::ClaimStore::claims`].
pub(super) async fn page(
    conn: &mut Conn,
    shape: &Shape,
    filter: &ClaimFilter,
    anchor: &ClaimAnchor,
    limit: u32,
) -> Result<ClaimPage, Error> {
    claim_list::page(conn, shape, filter, anchor, limit).await
}

#[async_trait]
impl ClaimRows for Conn {
    async fn read(
        &mut self,
        walk: &Walk<'_>,
        part: Part,
        from: Option<&From>,
        limit: usize,
    ) -> Result<Vec<Claim>, Error> {
        let found = statement(walk, part, from, limit)
            .query()
            .fetch_all(self)
            .await?;
        found
            .iter()
            .map(|row| text::claim(walk.shape, row))
            .collect()
    }
}

fn statement<'a>(walk: &Walk<'a>, part: Part, from: Option<&From>, limit: usize) -> Statement<'a> {
    let (order, beyond) = if walk.rising {
        ("ASC", ">")
    } else {
        ("DESC", "<")
    };
    let mut statement = Statement::new(walk.shape, "SELECT {claim} FROM {t} x WHERE ");
    push_which(walk, &mut statement);
    statement.push(match part {
        Part::Timed => " AND {at} IS NOT NULL",
        Part::Timeless => " AND {at} IS NULL",
    });
    if let Some(From { place, included }) = from {
        let beyond = if *included {
            format!("{beyond}=")
        } else {
            beyond.to_owned()
        };
        let key = statement.text(&place.key);
        match (part, &place.claimed_at) {
            (Part::Timed, Some(at)) => {
                let at = statement.text(at);
                statement.push(&format!(
                    " AND ({{at}}, {{key}}) {beyond} ({{as at {at}}}, {{as key {key}}})"
                ));
            }
            _ => {
                statement.push(&format!(" AND {{key}} {beyond} {{as key {key}}}"));
            }
        }
    }
    let limit = statement.int(i64::try_from(limit).unwrap_or(i64::MAX));
    statement.push(&match part {
        Part::Timed => format!(" ORDER BY {{at}} {order}, {{key}} {order} LIMIT {limit}"),
        Part::Timeless => format!(" ORDER BY {{key}} {order} LIMIT {limit}"),
    });
    statement
}

fn push_which(walk: &Walk<'_>, statement: &mut Statement<'_>) {
    let table = &walk.shape.table;
    match walk.which {
        Which::Before(status, before) => {
            statement.push_status(status);
            statement.push(" AND ");
            statement.push_older(before);
        }
        Which::Status(status) => statement.push_status(status),
        Which::Other => {
            let (sending, sent) = (statement.text(&table.sending), statement.text(&table.sent));
            statement.push(&format!(
                "({{status}} IS NULL OR \
                  {{status}} NOT IN ({{as status {sending}}}, {{as status {sent}}}))"
            ));
        }
        Which::All => {
            statement.push("true");
        }
    }
}
