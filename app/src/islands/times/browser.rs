//! What the browser does with the times of a page.

use std::cell::Cell;
use std::time::Duration;

use js_sys::Date;
use leptos::prelude::{document, set_interval};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlElement;

use crate::components::relative;

/// Clocks that differ by less than this, in milliseconds, count as equal: most of it is the way
/// of the page to the browser.
const TOLERANCE: f64 = 5_000.0;

thread_local! {
    /// The server's clock minus the browser's, in milliseconds.
    static SKEW: Cell<f64> = const { Cell::new(0.0) };
    static LOCAL: Cell<bool> = const { Cell::new(false) };
}

/// Starts to tick.
pub(super) fn start() {
    let made = document()
        .document_element()
        .and_then(|root| root.get_attribute("data-now"))
        .map_or(f64::NAN, |text| Date::parse(&text));
    let skew = made - Date::now();
    if skew.abs() > TOLERANCE {
        SKEW.set(skew);
    }
    set_interval(|| each(tick), Duration::from_secs(1));
}

/// Shows exact times in the browser's zone, or in UTC.
pub(super) fn show(local: bool) {
    LOCAL.set(local);
    each(zone);
}

fn each(change: fn(&HtmlElement, &Date)) {
    let Ok(times) = document().query_selector_all("time[datetime]") else {
        return;
    };
    for index in 0..times.length() {
        let Some(element) = times
            .item(index)
            .and_then(|node| node.dyn_into::<HtmlElement>().ok())
        else {
            continue;
        };
        let text = element.get_attribute("datetime").unwrap_or_default();
        let at = Date::new(&JsValue::from_str(&text));
        if !at.get_time().is_nan() {
            change(&element, &at);
        }
    }
}

fn tick(element: &HtmlElement, at: &Date) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, which is far enough"
    )]
    let ms = (Date::now() + SKEW.get() - at.get_time()) as i64;
    let text = match element.get_attribute("data-t").as_deref() {
        None => relative::ago(ms),
        Some("span") => relative::span(ms),
        Some(_) => return,
    };
    if element.text_content().as_deref() != Some(&text) {
        element.set_text_content(Some(&text));
    }
}

fn zone(element: &HtmlElement, at: &Date) {
    let local = LOCAL.get();
    let day = if local {
        (at.get_date(), at.get_month(), at.get_full_year())
    } else {
        (
            at.get_utc_date(),
            at.get_utc_month(),
            at.get_utc_full_year(),
        )
    };
    let time = if local {
        (at.get_hours(), at.get_minutes(), at.get_seconds())
    } else {
        (
            at.get_utc_hours(),
            at.get_utc_minutes(),
            at.get_utc_seconds(),
        )
    };
    let millis = at.get_utc_milliseconds();
    let offset = if local {
        -at.get_timezone_offset()
    } else {
        0.0
    };
    let text = match element.get_attribute("data-t").as_deref() {
        Some("exact") => exact(day, time, None, offset),
        Some("clock") => format!("{}.{millis:03}", clock(time)),
        _ => String::new(),
    };
    if !text.is_empty() {
        element.set_text_content(Some(&text));
    }
    let _ = element.set_attribute("title", &exact(day, time, Some(millis), offset));
}

fn clock((hours, minutes, seconds): (u32, u32, u32)) -> String {
    format!("{hours:02}:{minutes:02}:{seconds:02}")
}

fn exact(
    (day, month, year): (u32, u32, u32),
    time: (u32, u32, u32),
    millis: Option<u32>,
    offset_minutes: f64,
) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.get(month as usize).unwrap_or(&"");
    let millis = millis
        .map(|millis| format!(".{millis:03}"))
        .unwrap_or_default();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "zones lie within a day of UTC"
    )]
    let offset = offset_minutes as i32;
    let zone = if offset == 0 {
        "UTC".to_owned()
    } else {
        let sign = if offset < 0 { '\u{2212}' } else { '+' };
        format!("UTC{sign}{}:{:02}", offset.abs() / 60, offset.abs() % 60)
    };
    format!("{day} {month} {year}, {}{millis} {zone}", clock(time))
}
