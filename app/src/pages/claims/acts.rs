//! What can be done about a claim: each action behind one confirmation, and several at once only
//! for what is safe.

use leptos::prelude::*;

use super::effect::effect;
use super::{ClaimsPage, Deed, JudgedClaim, TableView, evidence, words};
use crate::components::icon::icon;
use crate::components::shell::page_context;
use crate::components::text::{cut, shown, visible};
use crate::islands::selection::Selection;
use crate::links::claims::item;
use crate::links::{Links, SourceLinks};
use crate::model::claim::evidence::Owner;
use crate::model::claim::table::{ClaimWay, ClaimsTable, Shape};
use crate::model::claim::verdict::Judgement;

/// Jobs that a choice offers.
const JOBS: usize = 20;

/// What the forms of a page share.
pub(super) struct Acting<'a> {
    pub(super) table: &'a ClaimsTable,
    pub(super) shape: &'a Shape,
    /// Whether rows can be ticked.
    pub(super) ticks: bool,
    links: Links,
    source: &'a str,
    back: String,
    /// Actions that no row offers, for one and the same reason: said once.
    nowhere: Vec<(Vec<Deed>, String)>,
    unknown: usize,
}

impl<'a> Acting<'a> {
    pub(super) fn of(
        page: &'a ClaimsPage,
        table: &'a TableView,
        shape: &'a Shape,
        links: &SourceLinks,
        rows: &[JudgedClaim],
    ) -> Self {
        let unknown = rows
            .iter()
            .filter(|row| row.judgement() == Some(Judgement::Unknown))
            .count();
        Self {
            table: &table.table,
            shape,
            ticks: rows.iter().any(JudgedClaim::can_be_ticked),
            links: page_context().links,
            source: &page.source.name,
            back: links.claims(&page.view, page.cursor.as_ref()),
            nowhere: nowhere(rows),
            unknown,
        }
    }

    fn is_nowhere(&self, deed: Deed) -> bool {
        self.nowhere.iter().any(|(deeds, _)| deeds.contains(&deed))
    }
}

fn nowhere(rows: &[JudgedClaim]) -> Vec<(Vec<Deed>, String)> {
    let judged = || rows.iter().filter(|row| row.verdict.is_some());
    // What stops a single row is said beside it.
    if judged().count() < 2 {
        return Vec::new();
    }
    let mut refused = Vec::new();
    for deed in Deed::ALL {
        let mut reasons = judged().map(|row| row.offer(deed)?.why_not.as_deref());
        if let Some(Some(first)) = reasons.next()
            && reasons.all(|why| why == Some(first))
        {
            refuse(&mut refused, deed, first.to_owned());
        }
    }
    refused
}

/// Puts an action to the others that are refused for the same reason.
fn refuse(refused: &mut Vec<(Vec<Deed>, String)>, deed: Deed, why: String) {
    match refused.iter_mut().find(|(_, known)| *known == why) {
        Some((deeds, _)) => deeds.push(deed),
        None => refused.push((vec![deed], why)),
    }
}

/// The form for several claims around `table`, and what is not offered at all below it.
pub(super) fn around(acting: &Acting<'_>, table: AnyView) -> AnyView {
    let below = (!acting.nowhere.is_empty()).then(|| {
        let items = acting
            .nowhere
            .iter()
            .enumerate()
            .map(|(index, (deeds, why))| {
                let id = format!("claims-no-{index}");
                let buttons = deeds
                    .iter()
                    .map(|deed| {
                        view! {
                            <button
                                class="btn small"
                                type="button"
                                aria-disabled="true"
                                aria-describedby=id.clone()
                            >
                                {deed.label()}
                            </button>
                            " "
                        }
                    })
                    .collect_view();
                view! { <li><span>{buttons}</span> <span class="sub" id=id.clone()>{visible(why)}</span></li> }
            })
            .collect_view();
        view! { <ul class="act-no claims-no" aria-label="Not offered for any claim here">{items}</ul> }
    });
    view! {
        <div class="joblist">
            {acting.ticks.then(|| bulk(acting))}
            {table}
            {below}
        </div>
    }
    .into_any()
}

fn bulk(acting: &Acting<'_>) -> AnyView {
    let what = match acting.table.way {
        ClaimWay::InsertFirst => "each row is deleted and its job put into its queue",
        ClaimWay::SelfReclaim => "each job is put into its queue and takes its claim itself",
        ClaimWay::HandOver => "each claim is renewed and handed to a new run of its job",
    };
    let left_out = match acting.unknown {
        0 => String::new(),
        1 => " One claim here cannot be ticked, because its outcome is unknown: it is settled by \
              itself."
            .to_owned(),
        n => format!(
            " {n} claims here cannot be ticked, because their outcome is unknown: they are settled \
             one by one."
        ),
    };
    view! {
        <form
            class="selbar"
            id="bulk"
            method="post"
            action=acting.links.action(Deed::Reclaim.slug())
            aria-label="Actions on ticked claims"
        >
            // Enter in the reason must not act: the first button of a form is the one it presses.
            <button disabled hidden></button>
            <input type="hidden" name="source" value=acting.source.to_owned() />
            <input type="hidden" name="claims" value=acting.table.name.clone() />
            <input type="hidden" name="back" value=acting.back.clone() />
            <Selection />
            <button class="btn primary" data-verb="">
                {icon("i-requeue")} "Reclaim" <span class="sel-n"></span>
            </button>
            <input
                class="input reason"
                name="reason"
                maxlength="2000"
                aria-label="Reason, kept in the audit"
                placeholder="Reason, kept in the audit"
                autocomplete="off"
            />
            <p class="sub selbar-w">{format!("Reclaim: {what}.{left_out}")}</p>
        </form>
    }
    .into_any()
}

/// The buttons of a row, with what stops those that cannot be pressed. All of them open the row's
/// one dialog: a dialog for each would make the page several times as large.
pub(super) fn cell(acting: &Acting<'_>, index: usize, row: &JudgedClaim) -> AnyView {
    if row.offers.is_empty() {
        return ().into_any();
    }
    let wanted = || {
        row.offers
            .iter()
            .filter(|offer| !acting.is_nowhere(offer.deed))
    };
    let mut reasons = Vec::new();
    for offer in wanted() {
        if let Some(why) = &offer.why_not {
            refuse(&mut reasons, offer.deed, why.clone());
        }
    }
    let described = (!reasons.is_empty()).then(|| format!("c{index}-no"));
    let dialog_id = format!("c{index}");
    let buttons = wanted()
        .map(|offer| {
            if offer.why_not.is_some() {
                view! {
                    <button
                        class="btn small"
                        type="button"
                        aria-disabled="true"
                        aria-describedby=described.clone()
                    >
                        {short(offer.deed)}
                    </button>
                }
                .into_any()
            } else {
                view! {
                    <button class="btn small" type="button" popovertarget=dialog_id.clone()>
                        {short(offer.deed)} "\u{2026}"
                    </button>
                }
                .into_any()
            }
        })
        .collect_view();
    let all = wanted().count();
    let words = reasons
        .iter()
        .map(|(deeds, why)| {
            let who = (deeds.len() < all).then(|| {
                let names: Vec<&str> = deeds.iter().map(|deed| short(*deed)).collect();
                format!("{}: ", names.join(", "))
            });
            view! { <span class="two">{who} {visible(why)}</span> }
        })
        .collect_view();
    let words = described.map(|id| view! { <div class="acts-no" id=id>{words}</div> });
    let offered: Vec<Deed> = wanted()
        .filter(|offer| offer.why_not.is_none())
        .map(|offer| offer.deed)
        .collect();
    let dialog = (!offered.is_empty()).then(|| dialog(acting, dialog_id, row, &offered));
    view! { <span class="acts">{buttons}</span> {words} {dialog} }.into_any()
}

/// The verb in a row, where there is little room.
fn short(deed: Deed) -> &'static str {
    match deed {
        Deed::MarkAsSent => "Sent",
        Deed::AskProvider => "Ask",
        deed => deed.label(),
    }
}

/// One form with a button for each action: what is known, what each would do, and the reason.
fn dialog(acting: &Acting<'_>, id: String, row: &JudgedClaim, offered: &[Deed]) -> AnyView {
    let resends = offered.iter().any(|deed| deed.resends());
    let risky = resends && row.judgement() == Some(Judgement::Unknown);
    let marks = offered.contains(&Deed::MarkAsSent);
    let heading = format!("{id}-h");
    let first = offered.first().copied().unwrap_or(Deed::Reclaim);
    let note = risky.then(|| {
        view! {
            <div class="note">
                {icon("i-warn")}
                <p>
                    "Nobody can say whether this was sent. Resending may deliver it twice: look for \
                     proof first, or ask the provider."
                </p>
            </div>
        }
    });
    let why = row.verdict.as_ref().map(|verdict| {
        view! {
            <div>
                <dt>"Verdict"</dt>
                <dd><b>{verdict.judgement.label()}</b> ". " {visible(&verdict.why)}</dd>
            </div>
        }
    });
    let asked = row.asked.as_ref().map(|asked| {
        view! { <div><dt>"Provider"</dt><dd>{evidence::answer(asked)}</dd></div> }
    });
    let ways = offered
        .iter()
        .map(|deed| way(acting, row, *deed, risky))
        .collect_view();
    view! {
        <div
            class="pop act-p"
            id=id.clone()
            popover="auto"
            role="dialog"
            aria-labelledby=heading.clone()
        >
            <h2 id=heading.clone()>"Settle " {words::key_long(&row.claim.key)}</h2>
            <form method="post" action=acting.links.action(first.slug())>
                // Enter in a field must not act: the first button of a form is the one it presses.
                <button disabled hidden></button>
                <input type="hidden" name="source" value=acting.source.to_owned() />
                <input type="hidden" name="claims" value=acting.table.name.clone() />
                {claim_fields(row)}
                <input type="hidden" name="back" value=acting.back.clone() />
                <dl class="confirm">{why} {asked} {only_if(row)}</dl>
                {note}
                {resends.then(|| job_choice(&id, &row.owners)).flatten()}
                {marks.then(|| message_id(&id, acting.table, row))}
                {risky.then(|| twice(&id))}
                {reason(&id, risky)}
                <ul class="ways">{ways}</ul>
                <button
                    class="btn quiet"
                    type="button"
                    popovertarget=id.clone()
                    popovertargetaction="hide"
                >
                    "Cancel"
                </button>
            </form>
        </div>
    }
    .into_any()
}

/// An action's button, and exactly what it will do. What is required for a resend is not required
/// for the others.
fn way(acting: &Acting<'_>, row: &JudgedClaim, deed: Deed, risky: bool) -> AnyView {
    let class = if risky && deed.resends() {
        "btn danger"
    } else {
        "btn"
    };
    view! {
        <li>
            <button
                class=class
                formaction=acting.links.action(deed.slug())
                formnovalidate=!deed.resends()
            >
                {deed.label()}
            </button>
            " "
            <span class="sub">{effect(acting.table, acting.shape, row, deed)}</span>
        </li>
    }
    .into_any()
}

/// What names the claim. Browsers rewrite line ends and drop NULs, so a claim that holds some
/// travels percent-encoded.
pub(super) fn claim_fields(row: &JudgedClaim) -> AnyView {
    let key = &row.claim.key;
    let token = row
        .claim
        .claimed_at
        .as_ref()
        .map(|time| time.token.as_str());
    let rewritten = |text: &str| text.contains(['\n', '\r', '\0']);
    if rewritten(key) || token.is_some_and(rewritten) {
        return view! { <input type="hidden" name="item" value=item(key, token) /> }.into_any();
    }
    view! {
        <input type="hidden" name="key" value=key.clone() />
        <input type="hidden" name="claimed_at" value=token.unwrap_or_default().to_owned() />
    }
    .into_any()
}

fn only_if(row: &JudgedClaim) -> AnyView {
    let token = row.claim.claimed_at.as_ref().map(|time| {
        let token = shown(&cut(&time.token, 60)).into_owned();
        view! { " with claim time " <span class="mono">{token}</span> }
    });
    view! {
        <div>
            <dt>"Only if"</dt>
            <dd>
                "the claim is still " <b>"Sending"</b> {token}
                "; otherwise nothing is changed and you are told"
            </dd>
        </div>
    }
    .into_any()
}

/// Which job runs again, where several stand behind the claim.
fn job_choice(id: &str, owners: &[Owner]) -> Option<AnyView> {
    if owners.len() < 2 {
        return None;
    }
    let field = format!("{id}-job");
    let options: Vec<_> = owners
        .iter()
        .take(JOBS)
        .map(|owner| {
            let state = owner
                .state
                .as_ref()
                .map_or_else(String::new, |state| format!(", {state}"));
            let name = cut(&owner.name, 80);
            let words = format!("{} {}{state}", owner.job, shown(&name));
            view! { <option value=owner.job.to_string()>{words}</option> }
        })
        .collect();
    Some(
        view! {
            <label class="lbl" for=field.clone()>
                {format!("Job to run again, of the {} behind this claim", owners.len())}
            </label>
            <select class="input full" id=field name="job" required>
                <option value="">"Choose one"</option>
                {options}
            </select>
        }
        .into_any(),
    )
}

fn message_id(id: &str, table: &ClaimsTable, row: &JudgedClaim) -> AnyView {
    use crate::model::claim::evidence::Answer;
    let field = format!("{id}-id");
    let known = match row.asked.as_ref().map(|asked| &asked.answer) {
        Some(Answer::Known(known)) => known.clone(),
        _ => row.claim.provider_id.clone(),
    };
    let label = match &table.columns.provider_id {
        Some(column) => format!("The provider\u{2019}s message id, for {}", shown(column)),
        None => "The provider\u{2019}s message id, kept in the audit only".to_owned(),
    };
    view! {
        <label class="lbl" for=field.clone()>{label}</label>
        <input
            class="input full mono"
            id=field
            name="provider_message_id"
            type="text"
            maxlength="1000"
            value=known
            autocomplete="off"
            spellcheck="false"
        />
    }
    .into_any()
}

/// What must be said before something may be delivered twice.
fn twice(id: &str) -> AnyView {
    let field = format!("{id}-twice");
    view! {
        <label class="lbl-c" for=field.clone()>
            <input type="checkbox" id=field.clone() name="may_deliver_twice" value="true" required />
            "The recipient may receive it twice"
        </label>
    }
    .into_any()
}

fn reason(id: &str, required: bool) -> AnyView {
    let field = format!("{id}-why");
    let label = if required {
        "Reason, required for a resend, kept in the audit"
    } else {
        "Reason, kept in the audit"
    };
    view! {
        <label class="lbl" for=field.clone()>{label}</label>
        <input
            class="input full"
            id=field
            name="reason"
            type="text"
            maxlength="1000"
            required=required
            autocomplete="off"
        />
    }
    .into_any()
}
