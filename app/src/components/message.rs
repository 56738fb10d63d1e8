//! Messages that stand where a table would, and notes beside something.

use leptos::prelude::*;

use super::icon::{icon, icon_as};

/// How a message is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// A fact.
    Plain,
    /// Something needs attention.
    Warn,
}

/// Something to do about a message: words and URL.
pub type Offer = (String, String);

/// A message in place of a table: symbol, headline, sentences, and what to do.
pub fn message(
    tone: Tone,
    symbol: &str,
    headline: impl IntoView,
    words: impl IntoView,
    offers: Vec<Offer>,
) -> impl IntoView {
    let class = match tone {
        Tone::Good => "i msg-i good",
        Tone::Plain => "i msg-i",
        Tone::Warn => "i msg-i warn",
    };
    view! {
        <div class="msg">
            {icon_as(symbol, class)}
            <div>
                <h2>{headline}</h2>
                <p>{words}</p>
                {offer_list(offers)}
            </div>
        </div>
    }
}

/// The buttons of a message; nothing where there are none.
pub fn offer_list(offers: Vec<Offer>) -> Option<AnyView> {
    if offers.is_empty() {
        return None;
    }
    let offers: Vec<_> = offers
        .into_iter()
        .map(|(words, href)| view! { <a class="btn" href=href>{words}</a> })
        .collect();
    Some(view! { <p class="msg-a">{offers}</p> }.into_any())
}

/// A note beside something; a warning unless it only informs.
pub fn note(warns: bool, words: impl IntoView) -> impl IntoView {
    let (class, symbol) = if warns {
        ("note", "i-warn")
    } else {
        ("note info", "i-info")
    };
    view! { <div class=class>{icon(symbol)} <p>{words}</p></div> }
}
