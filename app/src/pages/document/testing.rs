//! Whole documents for tests.

use leptos::prelude::AnyView;
use scraper::{Html, Selector};

use super::{Assets, Chrome, render};
use crate::actions::Actor;
use crate::components::job_rows::testing::now;
use crate::components::shell::{Env, Section, SourceChip};
use crate::links::Links;

pub(crate) fn chip(name: &str) -> SourceChip {
    SourceChip {
        name: name.into(),
        label: name.into(),
        env: Env::Prod,
        dialect: "PostgreSQL".into(),
        read_only: None,
    }
}

/// The frame of a page below `/ops`.
pub(crate) fn chrome() -> Chrome {
    let links = Links::new("/ops");
    Chrome {
        assets: Assets {
            css: links.asset("redrive.css"),
            theme_js: links.asset("theme.js"),
            start_js: links.asset("start.js"),
            live_js: links.asset("live.js"),
            app_js: links.asset("app.js"),
            app_wasm: links.asset("app.wasm"),
            sprite: links.asset("sprite.svg"),
            favicon: links.asset("favicon.svg"),
        },
        nonce: "n0nce".into(),
        title: "Failed jobs".into(),
        section: Section::None,
        source: Some(chip("prod")),
        sources: vec![chip("prod")],
        counts: None,
        stale_claims: None,
        first_attempt: None,
        foot: vec!["PostgreSQL 15.18, schema 23".into()],
        actor: Actor {
            name: "ada".into(),
            authenticated: false,
        },
        now: now(),
        events: Some(links.source("prod").events(None)),
        demo: None,
        flash: None,
        links,
    }
}

/// A page in its frame, parsed.
pub(crate) fn rendered(page: impl FnOnce() -> AnyView) -> Html {
    Html::parse_document(&render(chrome(), page))
}

/// The text of every element that fits, its white space folded.
pub(crate) fn texts(html: &Html, selector: &str) -> Vec<String> {
    html.select(&Selector::parse(selector).unwrap())
        .map(|element| {
            let text: String = element.text().collect();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// An attribute of every element that fits and has it.
pub(crate) fn attr(html: &Html, selector: &str, name: &str) -> Vec<String> {
    html.select(&Selector::parse(selector).unwrap())
        .filter_map(|element| element.attr(name).map(str::to_owned))
        .collect()
}
