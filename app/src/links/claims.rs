//! URLs of the claims page, and how a claim travels in URLs and forms.

use std::fmt::Write as _;

use super::{CursorError, Query, SourceLinks, escape, fingerprint_of};
use crate::actions::claim::SeenClaim;
use crate::model::state::Instant;
use crate::ports::claims::{ClaimAnchor, ClaimFilter, ClaimPlace};

/// A list of claims: a tab of the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ClaimList {
    /// Sending for longer than the cut-off.
    #[default]
    Stale,
    /// Sending, of any age.
    Sending,
    /// Sent.
    Sent,
    /// Statuses that the table's description does not know.
    Other,
    /// All.
    All,
}

impl ClaimList {
    /// The lists in the order of the tabs.
    pub const ALL: [Self; 5] = [
        Self::Stale,
        Self::Sending,
        Self::Sent,
        Self::Other,
        Self::All,
    ];

    /// The word in URLs.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Other => "other",
            Self::All => "all",
        }
    }

    /// The word for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stale => "Stale",
            Self::Sending => "Sending",
            Self::Sent => "Sent",
            Self::Other => "Other",
            Self::All => "All",
        }
    }

    /// Reads the word of a URL.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.slug() == text)
    }

    /// What a store is asked for: stale means claimed `cutoff_ms` or longer before `now`.
    pub fn filter(self, now: Instant, cutoff_ms: i64) -> ClaimFilter {
        match self {
            Self::Stale => ClaimFilter::Stale {
                before: chrono::TimeDelta::try_milliseconds(cutoff_ms)
                    .and_then(|cutoff| now.checked_sub_signed(cutoff))
                    .unwrap_or(Instant::MIN_UTC),
            },
            Self::Sending => ClaimFilter::Sending,
            Self::Sent => ClaimFilter::Sent,
            Self::Other => ClaimFilter::Other,
            Self::All => ClaimFilter::All,
        }
    }
}

/// What a claims page shows, as it stands in the URL: `?status=stale&table=&cutoff=&key=`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimsView {
    /// The list.
    pub list: ClaimList,
    /// The table's short name; `None` for the first one of the source.
    pub table: Option<String>,
    /// Another cut-off than the table's, in milliseconds. Changes what is shown, never what may be
    /// done.
    pub cutoff_ms: Option<i64>,
    /// Only the rows of this key; the list is then of no account.
    pub key: Option<String>,
    /// Rows at most, where the URL says so.
    pub limit: Option<u32>,
}

impl ClaimsView {
    fn query(&self) -> Query {
        let mut query = Query::default();
        query.push("status", self.list.slug());
        query.push_some("table", self.table.as_deref());
        query.push_some("cutoff", self.cutoff_ms.map(cutoff_text).as_deref());
        query.push_some("key", self.key.as_deref());
        query
    }

    fn fingerprint(&self) -> u32 {
        fingerprint_of(&self.query())
    }
}

impl SourceLinks {
    /// The claims page.
    pub fn claims(&self, view: &ClaimsView, cursor: Option<&ClaimCursor>) -> String {
        let mut query = view.query();
        if let Some(limit) = view.limit {
            query.push("limit", &limit.to_string());
        }
        if let Some(cursor) = cursor {
            query.push(cursor.parameter(), &cursor.encode(view));
        }
        format!("{}/claims{}", self.prefix, query.text)
    }

    /// Where the form that sets the cut-off is sent.
    pub fn claims_plain(&self) -> String {
        format!("{}/claims", self.prefix)
    }
}

/// Where a page of claims lies, as it travels in URLs: opaque, and valid for its view alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimCursor {
    /// Rows after this one in the list's order.
    After(ClaimPlace),
    /// Rows before it.
    Before(ClaimPlace),
}

impl ClaimCursor {
    fn parameter(&self) -> &'static str {
        match self {
            Self::After(_) => "after",
            Self::Before(_) => "before",
        }
    }

    fn encode(&self, view: &ClaimsView) -> String {
        let (Self::After(place) | Self::Before(place)) = self;
        format!(
            "1.{:08x}.{}",
            view.fingerprint(),
            item(&place.key, place.claimed_at.as_deref())
        )
    }

    /// What a store is asked for.
    pub fn anchor(self) -> ClaimAnchor {
        match self {
            Self::After(place) => ClaimAnchor::After(place),
            Self::Before(place) => ClaimAnchor::Before(place),
        }
    }

    /// Reads the text of an `after` parameter.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn after(text: &str, view: &ClaimsView) -> Result<Self, CursorError> {
        decode(text, view).map(Self::After)
    }

    /// Reads the text of a `before` parameter.
    ///
    /// # Errors
    /// [`CursorError`] where it is not a cursor, or one of another list.
    pub fn before(text: &str, view: &ClaimsView) -> Result<Self, CursorError> {
        decode(text, view).map(Self::Before)
    }
}

fn decode(text: &str, view: &ClaimsView) -> Result<ClaimPlace, CursorError> {
    let mut parts = text.splitn(3, '.');
    let (Some("1"), Some(print), Some(place)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(CursorError::Garbage);
    };
    let print = u32::from_str_radix(print, 16).map_err(|_| CursorError::Garbage)?;
    let seen = read_item(place).ok_or(CursorError::Garbage)?;
    if print != view.fingerprint() {
        return Err(CursorError::Foreign);
    }
    Ok(ClaimPlace {
        claimed_at: seen.claimed_at,
        key: seen.key,
    })
}

/// A claim in one value of a form: claim time and key, percent-encoded and parted by a colon, with
/// `!` for no claim time. Browsers rewrite line ends in what they send, so keys that hold some
/// travel only this way.
pub fn item(key: &str, claimed_at: Option<&str>) -> String {
    let time = claimed_at.map_or_else(|| "!".to_owned(), escape);
    format!("{time}:{}", escape(key))
}

/// Reads an [`item`].
pub fn read_item(text: &str) -> Option<SeenClaim> {
    let (time, key) = text.split_once(':')?;
    let claimed_at = match time {
        "!" => None,
        time => Some(unescape(time)?),
    };
    Some(SeenClaim {
        key: unescape(key)?,
        claimed_at,
    })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The longest cut-off that is read: ten years.
const LONGEST_MS: i64 = 3_650 * 24 * 3_600_000;

/// A cut-off as it stands in the URL: `90s`, `10min`, `2h`, `30d`; the largest unit that is exact.
pub fn cutoff_text(ms: i64) -> String {
    let (number, unit) = in_units(ms);
    format!("{number}{unit}")
}

/// The same for people: `10 min`.
pub fn cutoff_words(ms: i64) -> String {
    let (number, unit) = in_units(ms);
    let mut words = String::new();
    let _ = write!(words, "{number} {unit}");
    words
}

fn in_units(ms: i64) -> (i64, &'static str) {
    const UNITS: [(i64, &str); 4] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "min"),
        (1_000, "s"),
    ];
    UNITS
        .into_iter()
        .find(|&(unit, _)| ms >= unit && ms % unit == 0)
        .map_or((ms, "ms"), |(unit, word)| (ms / unit, word))
}

/// Reads a cut-off: a whole number with `s`, `min` (also `m`), `h` or `d`; a bare one counts
/// minutes. 1 s to ten years.
pub fn parse_cutoff(text: &str) -> Option<i64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "s" | "sec" => 1_000,
        "" | "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let ms = number.parse::<i64>().ok()?.checked_mul(unit)?;
    (1_000..=LONGEST_MS).contains(&ms).then_some(ms)
}

#[cfg(test)]
mod tests {
    use super::super::Links;
    use super::*;

    fn place() -> ClaimPlace {
        ClaimPlace {
            claimed_at: Some("2026-11-29 19:45:04.6335314".into()),
            key: "invoice-email:\r\n\"42\" <é>".into(),
        }
    }

    #[test]
    fn urls_name_what_is_shown() {
        let links = Links::new("/ops").source("prod");
        assert_eq!(
            links.claims(&ClaimsView::default(), None),
            "/ops/s/prod/claims?status=stale"
        );
        let view = ClaimsView {
            list: ClaimList::Sending,
            table: Some("out mails".into()),
            cutoff_ms: Some(90_000),
            key: Some("a&b".into()),
            limit: Some(10),
        };
        assert_eq!(
            links.claims(&view, None),
            "/ops/s/prod/claims?status=sending&table=out%20mails&cutoff=90s&key=a%26b&limit=10"
        );
        for list in ClaimList::ALL {
            assert_eq!(ClaimList::parse(list.slug()), Some(list));
        }
        assert_eq!(ClaimList::parse("Stale"), None);
    }

    #[test]
    fn an_item_carries_a_claim_unharmed() {
        let place = place();
        let text = item(&place.key, place.claimed_at.as_deref());
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        let seen = read_item(&text).unwrap();
        assert_eq!((seen.key, seen.claimed_at), (place.key, place.claimed_at));
        let none = read_item(&item("!", None)).unwrap();
        assert_eq!((none.key.as_str(), none.claimed_at), ("!", None));
        let marked = read_item(&item("k", Some("!"))).unwrap();
        assert_eq!(marked.claimed_at.as_deref(), Some("!"));
        for garbage in ["", "!", "%zz:k", "!:%4", "!:%ff"] {
            assert_eq!(read_item(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn a_cursor_belongs_to_its_view() {
        let view = ClaimsView::default();
        let text = ClaimCursor::After(place()).encode(&view);
        assert_eq!(
            ClaimCursor::after(&text, &view),
            Ok(ClaimCursor::After(place()))
        );
        let longer = ClaimsView {
            cutoff_ms: Some(3_600_000),
            ..ClaimsView::default()
        };
        assert_eq!(
            ClaimCursor::after(&text, &longer),
            Err(CursorError::Foreign)
        );
        for garbage in ["", "1", "1.zz.!:k", "2.00000000.!:k", "1.00000000.k"] {
            assert_eq!(
                ClaimCursor::before(garbage, &view),
                Err(CursorError::Garbage),
                "{garbage}"
            );
        }
    }

    #[test]
    fn cut_offs_are_read_as_people_write_them() {
        assert_eq!(parse_cutoff("10 min"), Some(600_000));
        assert_eq!(parse_cutoff(" 10 "), Some(600_000));
        assert_eq!(parse_cutoff("10m"), Some(600_000));
        assert_eq!(parse_cutoff("90S"), Some(90_000));
        assert_eq!(parse_cutoff("2 h"), Some(7_200_000));
        assert_eq!(parse_cutoff("30d"), Some(2_592_000_000));
        for wrong in [
            "",
            "0",
            "-5",
            "1.5h",
            "10 weeks",
            "9223372036854775807d",
            "3651d",
        ] {
            assert_eq!(parse_cutoff(wrong), None, "{wrong}");
        }
        assert_eq!(cutoff_text(600_000), "10min");
        assert_eq!(cutoff_words(600_000), "10 min");
        assert_eq!(cutoff_words(90_000), "90 s");
        assert_eq!(cutoff_words(1_500), "1500 ms");
        assert_eq!(
            parse_cutoff(&cutoff_text(36 * 3_600_000)),
            Some(36 * 3_600_000)
        );
    }

    #[test]
    fn a_stale_list_begins_before_the_cut_off() {
        let now = chrono::DateTime::from_timestamp(1_795_788_348, 0).unwrap();
        assert_eq!(
            ClaimList::Stale.filter(now, 600_000),
            ClaimFilter::Stale {
                before: chrono::DateTime::from_timestamp(1_795_787_748, 0).unwrap()
            }
        );
        assert_eq!(
            ClaimList::Stale.filter(now, i64::MAX),
            ClaimFilter::Stale {
                before: Instant::MIN_UTC
            }
        );
    }
}
