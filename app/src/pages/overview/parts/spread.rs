//! Which attempt succeeded.

use leptos::prelude::*;

use super::{Seen, counted, hour_span, nothing, part};
use crate::charts::share::{class, parts as shares, share_bar};
use crate::components::number::{count, thousands};
use crate::components::time::machine;
use crate::links::SourceLinks;
use crate::model::collect::hour;
use crate::model::insights::digest::{Digest, WEEK};
use crate::model::insights::endings::{Ending, Endings};
use crate::model::state::{Instant, ListState};
use crate::ports::jobs::JobFilter;

/// With which attempt the jobs of the last seven days succeeded.
pub fn spread(seen: &Seen, links: &SourceLinks) -> AnyView {
    let content = match &seen.digest.value {
        Some(digest) => spread_drawn(digest, links),
        None => nothing(&seen.digest, seen),
    };
    part(
        "spread",
        "Which attempt succeeded",
        "first rounds that finished, 7 days",
        seen.digest
            .value
            .as_ref()
            .and_then(|digest| counted(seen, hour(digest.read_at) + 1 - WEEK)),
        content,
    )
}

/// Where the jobs of an ending are found, as far as a list can tell: by the least number of
/// attempts.
fn ending_href(links: &SourceLinks, ending: Ending, from: Option<Instant>) -> String {
    let state = if ending == Ending::GaveUp {
        ListState::Failed
    } else {
        ListState::Succeeded
    };
    let filter = JobFilter {
        state: Some(state),
        attempts_min: ending.attempts(),
        from,
        ..JobFilter::default()
    };
    links.jobs(&filter, None, None)
}

fn spread_drawn(digest: &Digest, links: &SourceLinks) -> AnyView {
    let week = digest.week.first;
    if week.finished() == 0 {
        return view! { <p class="sub">"No job finished within the last seven days."</p> }
            .into_any();
    }
    let from = hour_span(hour(digest.read_at) + 1 - WEEK).map(|span| span.0);
    let href = |ending: Ending| Some(ending_href(links, ending, from));
    let rows: Vec<_> = Ending::ALL
        .into_iter()
        .map(|ending| ending_row(ending, digest, href(ending)))
        .collect();
    let zoomed: Vec<Ending> = Ending::ALL.into_iter().skip(1).collect();
    let zoom = (week.needed_more() > 0).then(|| {
        view! {
            <p class="sub dist-z">"Those that needed more, or gave up:"</p>
            {share_bar(&shares(&week, &zoomed, href), 20, "of the rounds that needed more")}
        }
    });
    view! {
        <div class="dist">
            {share_bar(&shares(&week, &Ending::ALL, href), 20, "of the rounds that finished")}
            {zoom}
            <table class="tbl one dist-t">
                <caption class="vh">"First rounds by the attempt that succeeded"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Succeeded on"</th>
                        <th scope="col" class="num">"Jobs"</th>
                        <th scope="col" class="num">"7 days"</th>
                        <th scope="col" class="num">"24 h"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="sub">{beside(digest)}</p>
        </div>
    }
    .into_any()
}

fn ending_words(ending: Ending) -> &'static str {
    match ending {
        Ending::First => "1st attempt",
        Ending::Second => "2nd",
        Ending::Third => "3rd",
        Ending::Later => "4th or later",
        Ending::GaveUp => "Gave up",
    }
}

fn ending_row(ending: Ending, digest: &Digest, href: Option<String>) -> AnyView {
    let (week, day) = (digest.week.first, digest.day.first);
    let share = |endings: &Endings| {
        let percent = endings.rate(ending).percent();
        percent.unwrap_or_else(|| "\u{2013}".to_owned())
    };
    let words = thousands(week.of(ending));
    let jobs = match href.filter(|_| week.of(ending) > 0) {
        Some(href) => view! { <a href=href>{words}</a> }.into_any(),
        None => words.into_any(),
    };
    let rate = week.rate(ending);
    let name = match ending {
        Ending::First => "first",
        Ending::Second => "second",
        Ending::Third => "third",
        Ending::Later => "fourth-or-later",
        Ending::GaveUp => "gave-up",
    };
    let head = if ending == Ending::GaveUp {
        "sw bad"
    } else {
        "sw"
    };
    view! {
        <tr>
            <th scope="row">
                <span class=head>
                    <svg width="12" height="12" aria-hidden="true">
                        <rect class=class(ending) x=".5" y=".5" width="11" height="11"></rect>
                    </svg>
                    {ending_words(ending)}
                </span>
            </th>
            <td class="num">{jobs}</td>
            <td
                class="num"
                data-figure=format!("rounds-{name}")
                data-value=rate.share().map(|share| share.to_string())
                data-numerator=rate.numerator.to_string()
                data-denominator=rate.denominator.to_string()
                data-as-of=machine(digest.coverage.as_of)
            >
                {share(&week)}
            </td>
            <td class="num">{share(&day)}</td>
        </tr>
    }
    .into_any()
}

/// What stands beside the first rounds: `After a requeue 31 succeeded and 4 gave up; 58 rounds are
/// pending.`
fn beside(digest: &Digest) -> String {
    let again = digest.week.again;
    let requeued = if again.finished() == 0 {
        String::new()
    } else {
        format!(
            "After a requeue {} succeeded and {} gave up. ",
            thousands(again.succeeded()),
            thousands(again.gave_up)
        )
    };
    let pending = match digest.pending {
        1 => "1 round has begun and not finished.".to_owned(),
        n => format!("{} have begun and not finished.", count(n, "round")),
    };
    format!("{requeued}{pending}")
}
