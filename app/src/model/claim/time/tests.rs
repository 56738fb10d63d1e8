use proptest::prelude::*;

use super::*;
use crate::model::testing::at;

const SPACE: Written = text(' ', Zone::None);

const fn text(separator: char, zone: Zone) -> Written {
    Written::Text { separator, zone }
}

#[test]
fn stored_times_are_read_in_every_form() {
    for (token, instant, written) in [
        // EF Core on SQLite: up to seven decimals, no trailing zeros, no zone.
        (
            "2026-11-29 19:45:04.6335314",
            "2026-11-29T19:45:04.633531Z",
            SPACE,
        ),
        (
            "2026-11-29 19:45:04.633531",
            "2026-11-29T19:45:04.633531Z",
            SPACE,
        ),
        ("2026-11-29 19:45:04.5", "2026-11-29T19:45:04.5Z", SPACE),
        ("2026-11-29 19:45:04", "2026-11-29T19:45:04Z", SPACE),
        ("2026-11-29 19:45:04.0000001", "2026-11-29T19:45:04Z", SPACE),
        (
            "2026-11-29 19:45:04.9999999",
            "2026-11-29T19:45:04.999999Z",
            SPACE,
        ),
        (
            "2026-11-29 19:45:04.123456789",
            "2026-11-29T19:45:04.123456Z",
            SPACE,
        ),
        (" 2026-11-29 19:45:04 ", "2026-11-29T19:45:04Z", SPACE),
        // PostgreSQL's text in UTC.
        (
            "2026-11-29 18:51:26.613628+00",
            "2026-11-29T18:51:26.613628Z",
            text(' ', Zone::Hours),
        ),
        (
            "2026-11-29T19:45:04.6335314Z",
            "2026-11-29T19:45:04.633531Z",
            text('T', Zone::Z),
        ),
        (
            "2026-11-29T19:45:04",
            "2026-11-29T19:45:04Z",
            text('T', Zone::None),
        ),
        // DateTimeOffset as EF Core writes it on SQLite.
        (
            "2026-11-29 21:45:04.6335314+02:00",
            "2026-11-29T19:45:04.633531Z",
            text(' ', Zone::Minutes),
        ),
        (
            "2026-11-29T14:15:04-0530",
            "2026-11-29T19:45:04Z",
            text('T', Zone::Minutes),
        ),
        (
            "2026-11-30 05:30:04+09:45",
            "2026-11-29T19:45:04Z",
            text(' ', Zone::Minutes),
        ),
        (
            "2026-11-29 18:45:04-01",
            "2026-11-29T19:45:04Z",
            text(' ', Zone::Hours),
        ),
        ("1795981504", "2026-11-29T19:45:04Z", Written::Seconds),
        ("1795981504633", "2026-11-29T19:45:04.633Z", Written::Millis),
        (
            "1795981504633531",
            "2026-11-29T19:45:04.633531Z",
            Written::Micros,
        ),
        (
            "639315783046335314",
            "2026-11-29T19:45:04.633531Z",
            Written::Ticks,
        ),
        // A time before 1970 is cut towards the past, as all are.
        (
            "1969-12-31 23:59:59.9999999",
            "1969-12-31T23:59:59.999999Z",
            SPACE,
        ),
    ] {
        assert_eq!(Written::of(token), Some((at(instant), written)), "{token}");
        let time = ClaimTime::read(token);
        assert_eq!(time.token, token, "the token stays as it is stored");
        assert_eq!(time.at, Some(at(instant)));
    }
}

#[test]
fn what_is_no_time_is_kept_as_a_token() {
    for token in [
        "",
        "NULL",
        "yesterday",
        "infinity",
        "-infinity",
        "2026-11-29",
        "2026-11-29 19:45",
        "2026-11-29_19:45:04",
        "2026-13-29 19:45:04",
        "2026-11-31 19:45:04",
        "2026-11-29 24:45:04",
        "2026-11-29 19:45:04 +01",
        "2026-11-29 19:45:04+1",
        "2026-11-29 19:45:04+-1",
        "2026-11-29 19:45:04+24",
        "2026-11-29 19:45:04+01:60",
        "2026-11-29 19:45:04+01:00:00",
        "2026-11-29 19:45:04+0:100",
        "2026-11-29 19:45:04 UTC",
        "0044-03-15 12:00:00 BC",
        "12026-11-29 19:45:04",
        "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
        // Whole numbers that fit no unit.
        "0",
        "-5",
        "42",
        "99999999",
        "10000000000",
        "9223372036854775807",
        "99999999999999999999",
        "621355967999999999",
        // Nanoseconds are not taken for ticks of the year 3722.
        "1795981504633531400",
        // Julian days of SQLite.
        "2461374.3230857",
    ] {
        assert_eq!(Written::of(token), None, "{token}");
        let time = ClaimTime::read(token);
        assert_eq!((time.token.as_str(), time.at), (token, None));
    }
}

#[test]
fn times_are_written_as_the_column_has_them() {
    let whole = at("2026-11-29T19:45:00Z");
    let part = at("2026-11-29T19:45:04.633500Z");
    for (written, of_whole, of_part) in [
        (SPACE, "2026-11-29 19:45:00", "2026-11-29 19:45:04.6335"),
        (
            text('T', Zone::Z),
            "2026-11-29T19:45:00Z",
            "2026-11-29T19:45:04.6335Z",
        ),
        (
            text(' ', Zone::Hours),
            "2026-11-29 19:45:00+00",
            "2026-11-29 19:45:04.6335+00",
        ),
        (
            text(' ', Zone::Minutes),
            "2026-11-29 19:45:00+00:00",
            "2026-11-29 19:45:04.6335+00:00",
        ),
        (Written::Seconds, "1795981500", "1795981504"),
        (Written::Millis, "1795981500000", "1795981504633"),
        (Written::Micros, "1795981500000000", "1795981504633500"),
        (Written::Ticks, "639315783000000000", "639315783046335000"),
    ] {
        assert_eq!(written.write(whole), of_whole, "{written:?}");
        assert_eq!(written.write(part), of_part, "{written:?}");
    }
}

fn ways() -> impl Strategy<Value = Written> {
    let zones = [Zone::None, Zone::Z, Zone::Hours, Zone::Minutes];
    let texts = (
        prop::sample::select(vec![' ', 'T']),
        prop::sample::select(zones.to_vec()),
    )
        .prop_map(|(separator, zone)| text(separator, zone));
    let numbers = prop::sample::select(vec![
        Written::Seconds,
        Written::Millis,
        Written::Micros,
        Written::Ticks,
    ]);
    prop_oneof![texts, numbers]
}

proptest! {
    /// What is written reads back as the same instant, in the same way, to the unit's precision.
    #[test]
    fn what_is_written_reads_back(
        written in ways(),
        // 1973-03-03T09:46:40Z to 2286-11-20T17:46:39.999999Z: what whole numbers cover.
        micros in 100_000_000_000_000_i64..10_000_000_000_000_000,
    ) {
        let unit = match written {
            Written::Seconds => 1_000_000,
            Written::Millis => 1_000,
            _ => 1,
        };
        let instant = DateTime::from_timestamp_micros(micros).unwrap();
        let cut = DateTime::from_timestamp_micros(micros / unit * unit).unwrap();
        prop_assert_eq!(Written::of(&written.write(instant)), Some((cut, written)));
    }

    /// Texts cover every year that .NET knows.
    #[test]
    fn texts_read_back_in_every_year(
        micros in -62_135_596_800_000_000_i64..253_402_300_800_000_000,
        zone in prop::sample::select(vec![Zone::None, Zone::Z, Zone::Hours, Zone::Minutes]),
    ) {
        let instant = DateTime::from_timestamp_micros(micros).unwrap();
        let written = text(' ', zone);
        prop_assert_eq!(Written::of(&written.write(instant)), Some((instant, written)));
    }

    #[test]
    fn no_token_panics(token in "[-+0-9TZ:. \u{e9}]{0,40}") {
        prop_assert_eq!(&ClaimTime::read(token.clone()).token, &token);
    }
}
