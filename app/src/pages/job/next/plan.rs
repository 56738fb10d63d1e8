//! A pending retry: when it is due, how many are left, when it gives up.

use leptos::prelude::*;

use super::countdown;
use crate::components::time;
use crate::model::attempt::{PlannedRetry, millis_between};
use crate::model::policy::{Band, Origin, Plan, PlannedRun, Policy, TimeBand};
use crate::model::state::Instant;
use crate::model::words::{duration, duration_range};
use crate::pages::job::JobPage;

/// So many planned runs are listed.
const LISTED: usize = 12;

/// The pending retry and the rest of the plan.
pub(super) fn retry(page: &JobPage, retry: &PlannedRetry) -> AnyView {
    let now = page.given.now;
    let what = format!("retry {} of {}", retry.number, retry.of);
    let clock = retry.due_at.map(|due| countdown(due, now, &what));
    let used = retry.number.saturating_sub(1);
    let words = format!("{used} of {} retries used.", retry.of);
    let overdue = retry.due_at.is_some_and(|due| due < now).then(|| {
        view! {
            <p class="next-why warn">
                "The scheduler looks for due jobs every few seconds; if it stays overdue, no \
                 server's scheduler is running or it is stuck."
            </p>
        }
    });
    view! {
        <div class="next">
            {clock}
            <div>
                <p class="lead">
                    <b>{words}</b>
                    " "
                    {gives_up(page, retry, now)}
                </p>
                {page.policy.as_ref().map(|policy| view! { <p class="next-why">{origin(policy)}</p> })}
                {overdue}
            </div>
        </div>
        {page.plan.as_ref().map(|plan| list(plan, now))}
    }
    .into_any()
}

fn gives_up(page: &JobPage, retry: &PlannedRetry, now: Instant) -> AnyView {
    if retry.number >= retry.of {
        return "This is the last one: if it fails too, the job gives up.".into_any();
    }
    match page.plan.as_ref().and_then(|plan| plan.gives_up) {
        Some(at) => {
            let left = retry.of - retry.number;
            let more = if left == 1 {
                "one more follows".to_owned()
            } else {
                format!("{left} more follow")
            };
            let latest = (at.earliest != at.latest).then(|| {
                view! { " to " <b>{about(at.latest, now)}</b> }
            });
            view! {
                {format!("If it fails, {more}; if all fail, the job gives up at about ")}
                <b>{about(at.earliest, now)}</b>
                {latest}
                {format!(" UTC (in {}).", in_words(at, now))}
            }
            .into_any()
        }
        None => {
            "If it fails, more follow; when the job gives up is not known, because their delays \
             were never seen."
                .into_any()
        }
    }
}

/// A time that is not exact to the second.
fn about(at: Instant, now: Instant) -> impl IntoView + use<> {
    let text = short_time(at, now, false);
    view! { <time datetime=time::machine(at) title=time::exact_text(at) data-t="about">{text}</time> }
}

fn in_words(at: TimeBand, now: Instant) -> String {
    let from = millis_between(now, at.earliest).max(0);
    let to = millis_between(now, at.latest).max(0);
    duration_range(from, to)
}

/// The policy in words, and how it is known.
pub(in crate::pages::job) fn origin(policy: &Policy) -> String {
    let retries = match policy.retries {
        1 => "At most 1 retry".to_owned(),
        n => format!("At most {n} retries"),
    };
    let words = policy.delay_words();
    let seen = match policy.origin {
        Origin::Stored => return format!("{retries}; delays: {words}."),
        Origin::Inferred { own, earlier: 0 } => format!("from {}", delays(own, "of this job")),
        Origin::Inferred { own: 0, earlier } => {
            format!("from {}", delays(earlier, "of earlier jobs of this type"))
        }
        Origin::Inferred { own, earlier } => format!(
            "from {} and {earlier} of earlier jobs of this type",
            delays(own, "of this job")
        ),
    };
    format!("{retries}; delays: {words}. Inferred {seen}: the policy itself is not stored.")
}

fn delays(count: usize, whose: &str) -> String {
    match count {
        1 => format!("the one delay seen {whose}"),
        n => format!("the {n} delays seen {whose}"),
    }
}

fn list(plan: &Plan, now: Instant) -> AnyView {
    let more = plan.runs.len().saturating_sub(LISTED);
    let runs = plan
        .runs
        .iter()
        .take(LISTED)
        .enumerate()
        .map(|(index, run)| step(run, index == 0, now))
        .collect_view();
    let more = u32::try_from(more)
        .unwrap_or(u32::MAX)
        .saturating_add(plan.not_listed());
    let more = (more > 0).then(|| {
        view! {
            <li>
                <span class="plan-r">"and"</span>
                " "
                <b class="plan-t">{format!("{more} more")}</b>
            </li>
        }
    });
    view! {
        <ol class="plan">
            {runs}
            {more}
            <li class="gives">
                <span class="plan-r">"then"</span>
                " "
                <b class="plan-t">"gives up"</b>
            </li>
        </ol>
    }
    .into_any()
}

fn step(run: &PlannedRun, first: bool, now: Instant) -> AnyView {
    let class = if first { "first" } else { "" };
    let overdue = first && run.at.is_some_and(|at| at.earliest <= now);
    let at = run.at.map_or_else(
        || "not known".into_any(),
        |at| {
            if overdue {
                return "now".into_any();
            }
            let text = short_time(at.earliest, now, first);
            let about = if first || at.earliest == at.latest {
                ""
            } else {
                "from "
            };
            view! {
                {about}
                <time
                    datetime=time::machine(at.earliest)
                    title=time::exact_text(at.earliest)
                    data-t="about"
                >
                    {text}
                </time>
            }
            .into_any()
        },
    );
    let wait = match (first, run.wait, run.at) {
        (true, _, Some(at)) if at.earliest > now => {
            format!("in {}", duration(millis_between(now, at.earliest)))
        }
        (true, ..) => "overdue".to_owned(),
        (false, Some(wait), _) => format!("+{}", plus(wait)),
        (false, None, _) => "delay not seen".to_owned(),
    };
    view! {
        <li class=class>
            <span class="plan-r">{format!("Retry {}", run.number)}</span>
            " "
            <b class="plan-t">{at}</b>
            " "
            <span class="plan-w">{wait}</span>
        </li>
    }
    .into_any()
}

fn plus(wait: Band) -> String {
    super::super::happened::compact(wait)
}

/// The time of day, to the second where it is stored, with the day where it is another one.
fn short_time(at: Instant, now: Instant, exact: bool) -> String {
    let time = if exact { "%H:%M:%S" } else { "%H:%M" };
    if at.date_naive() == now.date_naive() {
        at.format(time).to_string()
    } else {
        at.format(&format!("%-d %b {time}")).to_string()
    }
}
