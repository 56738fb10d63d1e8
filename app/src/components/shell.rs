//! What stands around every page: top bar, source, navigation, the outcome of an action.

use std::sync::Arc;

use leptos::prelude::*;

use super::icon::icon;
use super::number::thousands;
use super::relative;
use super::text::shown;
use super::time::kept::{ago, since};
use crate::actions::Actor;
use crate::figures::{ALL_JOBS, COUNTED, FIRST_ATTEMPT, STALE_CLAIMS};
use crate::islands;
use crate::links::Links;
use crate::model::rates::Rate;
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::StateCounts;

pub mod flash;

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
            {top_bar(chrome)}
            <div class="frame">
                {navigation(chrome)}
                <main class="page" id="main" tabindex="-1">
                    {chrome.demo.clone().map(|words| view! { <p class="demo">{words}</p> })}
                    {chrome.flash.as_ref().map(|flash| flash::bar(chrome, flash))}
                    {page}
                </main>
            </div>
            {short_navigation(chrome)}
        </body>
    }
}

fn home(chrome: &Chrome) -> String {
    chrome.source.as_ref().map_or_else(
        || chrome.links.root(),
        |source| chrome.links.source(&source.name).overview(),
    )
}

fn top_bar(chrome: &Chrome) -> AnyView {
    let initials: String = chrome
        .actor
        .name
        .chars()
        .take(2)
        .flat_map(char::to_uppercase)
        .collect();
    let proof = if chrome.actor.authenticated {
        "signed in"
    } else {
        "not authenticated"
    };
    view! {
        <header class="top">
            <a class="brand" href=home(chrome)>
                {icon("logo")} <span class="brand-t">"Redrive"</span>
            </a>
            {source_picker(chrome)}
            <div class="top-end">
                {live(chrome)}
                <islands::times::TimesSwitch />
                <islands::theme::ThemeSwitch />
                <p class="who">
                    <span class="who-a" aria-hidden="true">{shown(&initials).into_owned()}</span>
                    <span class="who-t">
                        <span class="vh">"You act as "</span>
                        {shown(&chrome.actor.name).into_owned()} " "
                        <small>{proof}</small>
                    </span>
                </p>
            </div>
        </header>
    }
    .into_any()
}

/// Whether the page is kept current; without scripts nothing is, and nothing is said.
fn live(chrome: &Chrome) -> Option<AnyView> {
    chrome.events.as_ref()?;
    let age = chrome.counts.as_ref().map(|counts| {
        view! { <span class="live-a">{since(COUNTED, counts.counts.as_of)} " old"</span> }
    });
    Some(
        view! {
            <p class="live" id="live" hidden title="Jobs by state, counted once for all viewers">
                <span class="live-dot" aria-hidden="true"></span>
                <b class="live-t">"Live"</b>
                {age}
            </p>
        }
        .into_any(),
    )
}

fn source_block(source: &SourceChip) -> impl IntoView + use<> {
    view! {
        <span class="source-env">{source.env.word()}</span> " "
        <span class="source-db">{shown(&source.label).into_owned()}</span>
    }
}

fn source_picker(chrome: &Chrome) -> Option<AnyView> {
    let current = chrome.source.as_ref()?;
    let read_only = current
        .read_only
        .as_ref()
        .map(|why| view! { <span class="ro" title=shown(why).into_owned()>"read only"</span> });
    if chrome.sources.len() < 2 {
        return Some(
            view! {
                <p class="source"><span class="vh">"Source "</span>{source_block(current)}</p>
                {read_only}
            }
            .into_any(),
        );
    }
    let items: Vec<_> = chrome
        .sources
        .iter()
        .map(|source| {
            let on = (source.name == current.name).then_some("true");
            view! {
                <li>
                    <a
                        class=source.env.class()
                        href=chrome.links.source(&source.name).overview()
                        aria-current=on
                    >
                        <span class="source-env">{source.env.word()}</span> " "
                        <b>{shown(&source.label).into_owned()}</b>
                        <span class="sub">{source.dialect.clone()}</span>
                    </a>
                </li>
            }
        })
        .collect();
    Some(
        view! {
            <button class="source" type="button" popovertarget="sources">
                <span class="vh">"Source "</span>
                {source_block(current)}
                {icon("i-down")}
            </button>
            {read_only}
            <div class="pop sources" id="sources" popover="auto" role="dialog" aria-labelledby="sources-h">
                <h2 id="sources-h">"Sources"</h2>
                <ul class="sources-l">{items}</ul>
            </div>
        }
        .into_any(),
    )
}

/// An entry of the navigation.
struct Entry {
    symbol: &'static str,
    words: &'static str,
    href: String,
    /// Whether the page is in it.
    on: bool,
    /// The name of its figure, and the number.
    figure: Option<(&'static str, String)>,
    /// How many things there want somebody.
    calls: Option<Calls>,
}

/// Things that want somebody; not shown while there are none.
#[derive(Clone, Copy)]
struct Calls {
    /// The figure's name.
    name: &'static str,
    number: i64,
    /// What they are, after the number.
    word: &'static str,
}

impl Entry {
    fn new(symbol: &'static str, words: &'static str, href: String, on: bool) -> Self {
        Self {
            symbol,
            words,
            href,
            on,
            figure: None,
            calls: None,
        }
    }
}

fn entries(chrome: &Chrome) -> Vec<Entry> {
    let Some(source) = chrome.source.as_ref() else {
        return Vec::new();
    };
    let links = chrome.links.source(&source.name);
    let total = chrome
        .counts
        .as_ref()
        .map_or_else(String::new, |counts| thousands(counts.total()));
    let first_attempt = chrome
        .first_attempt
        .and_then(Rate::percent)
        .unwrap_or_default();
    let all = links.jobs(&crate::ports::jobs::JobFilter::default(), None, None);
    let claims = links.claims(&crate::links::claims::ClaimsView::default(), None);
    let at = |section: Section| chrome.section == section;
    let in_jobs = matches!(chrome.section, Section::Jobs(_));
    let stale = Calls {
        name: STALE_CLAIMS,
        number: chrome.stale_claims.unwrap_or_default(),
        word: "stale",
    };
    vec![
        Entry::new(
            "i-overview",
            "Overview",
            links.overview(),
            at(Section::Overview),
        ),
        Entry {
            figure: Some((ALL_JOBS, total)),
            ..Entry::new("i-jobs", "Jobs", all, in_jobs)
        },
        Entry {
            figure: Some((FIRST_ATTEMPT, first_attempt)),
            ..Entry::new(
                "i-attempts",
                "Attempts",
                links.attempts(&crate::links::attempts::AttemptsView::default()),
                at(Section::Attempts),
            )
        },
        Entry {
            calls: Some(stale),
            ..Entry::new("i-claims", "Claims", claims, at(Section::Claims))
        },
        Entry::new(
            "i-servers",
            "Servers",
            links.servers(),
            at(Section::Servers),
        ),
        Entry::new("i-audit", "Audit", links.audit(), at(Section::Audit)),
    ]
}

fn navigation(chrome: &Chrome) -> AnyView {
    let states = chrome.source.as_ref().map(|source| {
        let links = chrome.links.source(&source.name);
        let items: Vec<_> = ListState::ALL
            .into_iter()
            .map(|state| {
                let on = chrome.section == Section::Jobs(Some(state));
                let class = if on { "nav-b on" } else { "nav-b" };
                let figure = chrome
                    .counts
                    .as_ref()
                    .map(|counts| thousands(counts.of(state)));
                view! {
                    <li>
                        <a
                            class=format!("{class} {}", state.slug())
                            href=links.state(state)
                            aria-current=on.then_some("page")
                        >
                            {icon(super::state::symbol(Some(state)))}
                            <span class="nav-t">{state.label()}</span> " "
                            <span class="n" data-live=state.slug()>{figure}</span>
                        </a>
                    </li>
                }
            })
            .collect();
        view! { <ul class="nav-sub">{items}</ul> }.into_any()
    });
    let mut states = states;
    let items: Vec<_> = entries(chrome)
        .into_iter()
        .map(|entry| {
            let sub = (entry.symbol == "i-jobs").then(|| states.take()).flatten();
            let exact = entry.on && !matches!(chrome.section, Section::Jobs(Some(_)));
            let calls = entry.calls.map(|calls| {
                view! {
                    <span class="n warn" data-live-call=calls.name hidden=calls.number == 0>
                        <span data-live=calls.name>{thousands(calls.number)}</span>
                        <span class="nav-w">{format!(" {}", calls.word)}</span>
                    </span>
                }
            });
            view! {
                <li>
                    <a
                        class=if entry.on { "nav-a on" } else { "nav-a" }
                        href=entry.href
                        aria-current=exact.then_some("page")
                    >
                        {icon(entry.symbol)}
                        <span class="nav-t">{entry.words}</span> " "
                        {entry
                            .figure
                            .map(|(name, n)| view! { <span class="n" data-live=name>{n}</span> })}
                        {calls}
                    </a>
                    {sub}
                </li>
            }
        })
        .collect();
    let age = chrome.counts.as_ref().map(|counts| {
        let how = if counts.counts.exact {
            "Jobs counted"
        } else {
            "Jobs estimated"
        };
        view! { <p>{how} " once for all viewers, " {ago(COUNTED, counts.counts.as_of)}</p> }
    });
    let foot: Vec<_> = chrome
        .foot
        .iter()
        .map(|line| view! { <p>{shown(line).into_owned()}</p> })
        .collect();
    view! {
        <nav class="nav" aria-label="Main">
            <div class="nav-in">
                <ul class="nav-l">{items}</ul>
                <div class="nav-foot">{age} {foot}</div>
            </div>
        </nav>
    }
    .into_any()
}

fn short_navigation(chrome: &Chrome) -> AnyView {
    let items: Vec<_> = entries(chrome)
        .into_iter()
        .map(|entry| {
            let calls = entry.calls.map(|calls| {
                view! {
                    <span class="tab-n" data-live-call=calls.name hidden=calls.number == 0>
                        <span data-live=calls.name>{thousands(calls.number)}</span>
                        <span class="vh">{format!(" {}", calls.word)}</span>
                    </span>
                }
            });
            view! {
                <a href=entry.href aria-current=entry.on.then_some("page")>
                    {icon(entry.symbol)} {entry.words} {calls}
                </a>
            }
        })
        .collect();
    view! { <nav class="tabbar" aria-label="Main, short">{items}</nav> }.into_any()
}
