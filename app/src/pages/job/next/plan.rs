//! A pending retry: when it is due, how many are left, when it gives up.

use leptos::prelude::*;

use super::countdown;
use crate::model::attempt::PlannedRetry;
use crate::pages::job::JobPage;

/// The pending retry and the rest of the plan.
pub(super) fn retry(page: &JobPage, retry: &PlannedRetry) -> AnyView {
    let now = page.given.now;
    let what = format!("retry {} of {}", retry.number, retry.of);
    let clock = retry.due_at.map(|due| countdown(due, now, &what));
    let used = retry.number.saturating_sub(1);
    let words = format!("{used} of {} retries used.", retry.of);
    view! {
        <div class="next">
            {clock}
            <div>
                <p class="lead"><b>{words}</b></p>
            </div>
        </div>
    }
    .into_any()
}
