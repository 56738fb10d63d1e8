//! A page of claims.
//!
//! The order is that of the stored claim times, then of the keys. Rows without a claim time come
//! first where the oldest are first, last where the newest are: the two parts are read one after the
//! other, so that an index on status and claim time serves each.

use crate::store::postgres::conn::Conn;
use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPage, ClaimPlace};
use sqlx::Error;

use super::text::{self, Statement};

/// Which rows.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// Of this status, and claimed before an instant.
    Before(&'a str, Instant),
    /// Of this status.
    Status(&'a str),
    /// Of a status that the description does not know.
    Other,
    /// All.
    All,
}

/// Which rows, and in what order they are read.
struct Walk<'a> {
    shape: &'a Shape,
    which: Which<'a>,
    /// Whether claim times and keys rise from row to row.
    rising: bool,
}

/// Where a walk begins: after this place, or at it.
#[derive(Clone)]
struct From {
    place: ClaimPlace,
    included: bool,
}

/// The rows that have a claim time, or those that have none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Timed,
    Timeless,
}

/// See [`app::ports::claims::ClaimStore::claims`].
pub(super) async fn page(
    conn: &mut Conn,
    shape: &Shape,
    filter: &ClaimFilter,
    anchor: &ClaimAnchor,
    limit: u32,
) -> Result<ClaimPage, Error> {
    let wanted = usize::try_from(limit.clamp(1, 200)).unwrap_or(usize::MAX);
    let oldest_first = matches!(filter, ClaimFilter::Stale { .. } | ClaimFilter::Sending);
    let table = &shape.table;
    let which = match filter {
        ClaimFilter::Stale { before } => Which::Before(&table.sending, *before),
        ClaimFilter::Sending => Which::Status(&table.sending),
        ClaimFilter::Sent => Which::Status(&table.sent),
        ClaimFilter::Other => Which::Other,
        ClaimFilter::All => Which::All,
    };
    let walk = |rising| Walk {
        shape,
        which,
        rising,
    };
    let (place, turned) = match anchor {
        ClaimAnchor::Start => (None, false),
        ClaimAnchor::After(place) => (Some(place), false),
        ClaimAnchor::Before(place) => (Some(place), true),
    };
    let ahead = walk(oldest_first != turned);
    let from = |included| {
        place.map(|place| From {
            place: place.clone(),
            included,
        })
    };
    let mut rows = ahead.rows(conn, from(false), wanted + 1).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    // Whether rows lie on the other side of where the page begins, the anchor among them.
    let behind = match from(true) {
        None => false,
        Some(from) => {
            let back = walk(oldest_first == turned);
            !back.rows(conn, Some(from), 1).await?.is_empty()
        }
    };
    if turned {
        rows.reverse();
    }
    let (has_before, has_after) = if turned {
        (more, behind)
    } else {
        (behind, more)
    };
    Ok(ClaimPage {
        rows,
        has_before,
        has_after,
    })
}

/// Where a claim stands in a list.
pub(super) fn place(claim: &Claim) -> ClaimPlace {
    ClaimPlace {
        claimed_at: claim.claimed_at.as_ref().map(|time| time.token.clone()),
        key: claim.key.clone(),
    }
}

impl Walk<'_> {
    /// The next `wanted` rows, fewer where there are no more.
    async fn rows(
        &self,
        conn: &mut Conn,
        from: Option<From>,
        wanted: usize,
    ) -> Result<Vec<Claim>, Error> {
        let mut rows = Vec::new();
        let mut from = from;
        for part in self.parts(from.as_ref()) {
            self.part(conn, part, from.take(), wanted, &mut rows)
                .await?;
        }
        Ok(rows)
    }

    /// The parts that lie ahead, in their order.
    fn parts(&self, from: Option<&From>) -> Vec<Part> {
        let (first, second) = if self.rising {
            (Part::Timeless, Part::Timed)
        } else {
            (Part::Timed, Part::Timeless)
        };
        let at = from.map(|from| match from.place.claimed_at {
            Some(_) => Part::Timed,
            None => Part::Timeless,
        });
        let mut parts = if at == Some(second) {
            vec![second]
        } else {
            vec![first, second]
        };
        if self.shape.table.columns.claimed_at.is_none() {
            parts.retain(|part| *part == Part::Timeless);
        }
        if matches!(self.which, Which::Before(..)) {
            parts.retain(|part| *part == Part::Timed);
        }
        parts
    }

    /// Adds the rows of one part until there are `wanted`.
    async fn part(
        &self,
        conn: &mut Conn,
        part: Part,
        from: Option<From>,
        wanted: usize,
        rows: &mut Vec<Claim>,
    ) -> Result<(), Error> {
        let mut from = from;
        let mut chunk = wanted.saturating_sub(rows.len());
        // Only where the parsed instant decides is another look needed.
        while chunk > 0 && rows.len() < wanted {
            let found = self
                .statement(part, from.as_ref(), chunk)
                .query()
                .fetch_all(&mut *conn)
                .await?;
            let full = found.len() == chunk;
            for row in &found {
                let claim = text::claim(self.shape, row)?;
                from = Some(From {
                    place: place(&claim),
                    included: false,
                });
                if rows.len() < wanted && self.fits(&claim) {
                    rows.push(claim);
                }
            }
            if !full {
                break;
            }
            chunk = (chunk * 2).min(2_000);
        }
        Ok(())
    }

    fn fits(&self, claim: &Claim) -> bool {
        match self.which {
            // The database has compared what it can compare, among it what we cannot read.
            Which::Before(_, before) => claim.at().is_some_and(|at| at < before),
            Which::Status(_) | Which::Other | Which::All => true,
        }
    }

    fn statement(&self, part: Part, from: Option<&From>, limit: usize) -> Statement<'_> {
        let (order, beyond) = if self.rising {
            ("ASC", ">")
        } else {
            ("DESC", "<")
        };
        let mut statement = Statement::new(self.shape, "SELECT {claim} FROM {t} x WHERE ");
        self.push_which(&mut statement);
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

    fn push_which(&self, statement: &mut Statement<'_>) {
        let table = &self.shape.table;
        match self.which {
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
}
