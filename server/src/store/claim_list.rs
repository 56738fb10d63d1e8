//! A page of claims, walked by key in one way for both dialects; each brings its rows.
//!
//! The order is that of the stored claim times, then of the keys. Rows without a claim time come
//! first where the oldest are first, last where the newest are: the two parts are read one after
//! the other, so that an index on status and claim time serves each.

use app::model::claim::Claim;
use app::model::claim::table::Shape;
use app::model::state::Instant;
use app::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPage, ClaimPlace};
use async_trait::async_trait;
use sqlx::Error;

/// Pages become no longer.
const LONGEST_PAGE: u32 = 200;
/// Rows that are read at once where the parsed instant decides, at most.
const LARGEST_CHUNK: usize = 2_000;

/// Which rows.
#[derive(Clone, Copy)]
pub enum Which<'a> {
    /// Of this status, and claimed before an instant.
    Before(&'a str, Instant),
    /// Of this status.
    Status(&'a str),
    /// Of a status that the description does not know.
    Other,
    /// All.
    All,
}

impl<'a> Which<'a> {
    fn of(filter: &ClaimFilter, shape: &'a Shape) -> Self {
        let table = &shape.table;
        match filter {
            ClaimFilter::Stale { before } => Self::Before(&table.sending, *before),
            ClaimFilter::Sending => Self::Status(&table.sending),
            ClaimFilter::Sent => Self::Status(&table.sent),
            ClaimFilter::Other => Self::Other,
            ClaimFilter::All => Self::All,
        }
    }
}

/// Which rows, and in what order they are read.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// Of which table.
    pub shape: &'a Shape,
    /// Which of them.
    pub which: Which<'a>,
    /// Whether claim times and keys rise from row to row.
    pub rising: bool,
}

/// Where a walk begins: after this place, or at it.
#[derive(Clone)]
pub struct From {
    /// The place.
    pub place: ClaimPlace,
    /// Whether a row at the place itself is among those that follow.
    pub included: bool,
}

/// The rows that have a claim time, or those that have none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// With one.
    Timed,
    /// Without.
    Timeless,
}

/// What a dialect brings: the rows themselves.
#[async_trait]
pub trait ClaimRows: Send {
    /// The next rows of one part, at most `limit`.
    async fn read(
        &mut self,
        walk: &Walk<'_>,
        part: Part,
        from: Option<&From>,
        limit: usize,
    ) -> Result<Vec<Claim>, Error>;
}

/// See [`app::ports::claims::ClaimStore::claims`].
///
/// # Errors
/// As the database's.
pub async fn page(
    rows: &mut dyn ClaimRows,
    shape: &Shape,
    filter: &ClaimFilter,
    anchor: &ClaimAnchor,
    limit: u32,
) -> Result<ClaimPage, Error> {
    let wanted = usize::try_from(limit.clamp(1, LONGEST_PAGE)).unwrap_or(usize::MAX);
    let oldest_first = matches!(filter, ClaimFilter::Stale { .. } | ClaimFilter::Sending);
    let (place, turned) = match anchor {
        ClaimAnchor::Start => (None, false),
        ClaimAnchor::After(place) => (Some(place), false),
        ClaimAnchor::Before(place) => (Some(place), true),
    };
    let ahead = Walk {
        shape,
        which: Which::of(filter, shape),
        rising: oldest_first != turned,
    };
    let from = |included| {
        place.map(|place| From {
            place: place.clone(),
            included,
        })
    };
    let mut found = ahead.rows(rows, from(false), wanted + 1).await?;
    let more = found.len() > wanted;
    found.truncate(wanted);
    // Whether rows lie on the other side of where the page begins, the anchor among them.
    let behind = match from(true) {
        None => false,
        Some(from) => {
            let back = Walk {
                rising: !ahead.rising,
                ..ahead
            };
            !back.rows(rows, Some(from), 1).await?.is_empty()
        }
    };
    if turned {
        found.reverse();
    }
    let (has_before, has_after) = if turned {
        (more, behind)
    } else {
        (behind, more)
    };
    Ok(ClaimPage {
        rows: found,
        has_before,
        has_after,
    })
}

/// Where a claim stands in a list.
pub fn place(claim: &Claim) -> ClaimPlace {
    ClaimPlace {
        claimed_at: claim.claimed_at.as_ref().map(|time| time.token.clone()),
        key: claim.key.clone(),
    }
}

impl Walk<'_> {
    /// The next `wanted` rows, fewer where there are no more.
    ///
    /// # Errors
    /// As the database's.
    pub async fn rows(
        &self,
        rows: &mut dyn ClaimRows,
        from: Option<From>,
        wanted: usize,
    ) -> Result<Vec<Claim>, Error> {
        let mut found = Vec::new();
        let mut from = from;
        for part in self.parts(from.as_ref()) {
            self.part(rows, part, from.take(), wanted, &mut found)
                .await?;
        }
        Ok(found)
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
        rows: &mut dyn ClaimRows,
        part: Part,
        from: Option<From>,
        wanted: usize,
        found: &mut Vec<Claim>,
    ) -> Result<(), Error> {
        let mut from = from;
        let mut chunk = wanted.saturating_sub(found.len());
        // Only where the parsed instant decides is another look needed.
        while chunk > 0 && found.len() < wanted {
            let read = rows.read(self, part, from.as_ref(), chunk).await?;
            let full = read.len() == chunk;
            for claim in read {
                from = Some(From {
                    place: place(&claim),
                    included: false,
                });
                if found.len() < wanted && self.fits(&claim) {
                    found.push(claim);
                }
            }
            if !full {
                break;
            }
            chunk = (chunk * 2).min(LARGEST_CHUNK);
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
}
