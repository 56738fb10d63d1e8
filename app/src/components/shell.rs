//! What stands around every page: top bar, source, navigation, the outcome of an action.

use std::sync::Arc;

use leptos::prelude::*;

use super::relative;
use crate::actions::Actor;
use crate::links::Links;
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::StateCounts;

pub mod flash;
mod navigation;
mod top;

use flash::Flash;

/// Everything around a page.
#[derive(Debug, Clone)]
pub struct Chrome {
    /// Makes URLs.
    pub links: Links,
    /// URLs of the embedded files.
    pub assets: Assets,
    /// The nonce of this answer's content security policy.
    pub nonce: String,
    /// The page's title, without the product's name.
    pub title: String,
    /// The place in the navigation.
    pub section: Section,
    /// The source the page is about.
    pub source: Option<SourceChip>,
    /// Every source, in the order of the configuration.
    pub sources: Vec<SourceChip>,
    /// Jobs by state of the source, where they were counted.
    pub counts: Option<CountsView>,
    /// Stale claims of the source, all its tables together, where they were counted.
    pub stale_claims: Option<i64>,
    /// First-attempt success of the source's last 24 hours, where it was counted.
    pub first_attempt: Option<Rate>,
    /// Lines at the foot of the navigation, for example `PostgreSQL 15.18, schema 23`.
    pub foot: Vec<String>,
    /// Who acts.
    pub actor: Actor,
    /// The moment the page was made, which relative times count from.
    pub now: Instant,
    /// The stream that keeps the page current.
    pub events: Option<String>,
    /// What to say where the data is not real.
    pub demo: Option<String>,
    /// The outcome of the action that led here.
    pub flash: Option<Flash>,
}

/// URLs of the embedded files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The style sheet.
    pub css: String,
    /// Sets the chosen theme before the first paint.
    pub theme_js: String,
    /// Loads the browser's half where a page has islands.
    pub start_js: String,
    /// Keeps the numbers of a page current.
    pub live_js: String,
    /// What wasm-bindgen wrote.
    pub app_js: String,
    /// The browser's half.
    pub app_wasm: String,
    /// The icons.
    pub sprite: String,
    /// The icon of the browser's tab.
    pub favicon: String,
}

/// A place in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Lists of jobs; the list, or none for jobs in every state.
    Jobs(Option<ListState>),
    /// Attempts and policies.
    Attempts,
    /// Claims.
    Claims,
    /// The servers.
    Servers,
    /// What operators did.
    Audit,
    /// The overview.
    Overview,
    /// None of them.
    None,
}

/// What kind of environment a source is: the only colour of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Env {
    /// Real customers.
    Prod,
    /// The last test before them.
    Staging,
    /// Anything else.
    Dev,
}

impl Env {
    fn class(self) -> &'static str {
        match self {
            Self::Prod => "env-prod",
            Self::Staging => "env-staging",
            Self::Dev => "env-dev",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Prod => "PROD",
            Self::Staging => "STAGING",
            Self::Dev => "DEV",
        }
    }
}

/// A source, as the frame shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceChip {
    /// The name in URLs.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// The environment.
    pub env: Env,
    /// The database system, for example `PostgreSQL`.
    pub dialect: String,
    /// Why nothing can be changed; `None` where it can.
    pub read_only: Option<String>,
}

/// Jobs by state, with the age of the count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountsView {
    /// The counts.
    pub counts: StateCounts,
    /// How old they are, in milliseconds.
    pub age_ms: i64,
}

impl CountsView {
    /// Jobs in a list.
    pub fn of(&self, state: ListState) -> i64 {
        self.counts.by_state.get(&state).copied().unwrap_or(0)
    }

    /// Jobs in every state, the ones without a state left out as Hangfire's own dashboard does.
    pub fn total(&self) -> i64 {
        self.counts.by_state.values().sum::<i64>() + self.counts.other.values().sum::<i64>()
    }

    /// `2 s ago`, the age in words.
    pub fn age(&self) -> String {
        relative::ago(self.age_ms)
    }
}

/// What the shared pieces need to know of the page they stand on; cheap to copy.
#[derive(Debug, Clone)]
pub struct PageContext {
    /// Makes URLs.
    pub links: Links,
    /// URL of the sprite.
    pub sprite: Arc<str>,
    /// The moment the page was made.
    pub now: Instant,
}

/// The context of the page that is being rendered. Outside of a page it is empty, at the beginning
/// of time.
pub(crate) fn page_context() -> PageContext {
    use_context().unwrap_or_else(|| PageContext {
        links: Links::new(""),
        sprite: Arc::from(""),
        now: Instant::default(),
    })
}

/// The body of a page: the frame with `page` in it.
pub fn shell(chrome: &Chrome, page: AnyView) -> impl IntoView + use<> {
    let env = chrome.source.as_ref().map_or(Env::Dev, |source| source.env);
    view! {
        <body class=env.class()>
            <a class="skip" href="#main">"Skip to content"</a>
            {top::bar(chrome)}
            <div class="frame">
                {navigation::whole(chrome)}
                <main class="page" id="main" tabindex="-1">
                    {chrome.demo.clone().map(|words| view! { <p class="demo">{words}</p> })}
                    {chrome.flash.as_ref().map(|flash| flash::bar(chrome, flash))}
                    {page}
                </main>
            </div>
            {navigation::short(chrome)}
        </body>
    }
}
