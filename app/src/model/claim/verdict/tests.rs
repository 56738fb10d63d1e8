mod cases;
mod denied;
mod properties;
mod proven;
mod replayed;
mod undecided;

use super::super::evidence::Answer;
use super::super::table::ClaimWay;
use super::super::testing::*;
use super::*;

fn running(case: &Case) -> String {
    judged(case, Judgement::Running)
}

fn safe(case: &Case) -> String {
    judged(case, Judgement::Safe)
}

fn unknown(case: &Case) -> String {
    judged(case, Judgement::Unknown)
}

fn judged(case: &Case, judgement: Judgement) -> String {
    let verdict = case.verdict();
    assert_eq!(verdict.judgement, judgement, "{}", verdict.why);
    verdict.why
}

/// Job 7 claimed 25 minutes ago and failed a minute later.
fn failed_holder() -> Case {
    Case::claimed(1_500).with(owner(
        7,
        &[
            enqueued(1_520),
            runs(1_500, DEAD),
            failed(1_440, "App.Smtp.RefusedException"),
        ],
    ))
}
