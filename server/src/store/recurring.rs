//! Recurring jobs as both databases keep them: a member of a set and fields of a hash.

use app::model::invocation::Arguments;
use app::model::recurring::RecurringJob;

use super::{decode, insights};

/// What is stored of a recurring job; `None` where that says neither what runs nor when.
pub(crate) fn recurring_job(id: String, cron: &str, call: &str) -> Option<RecurringJob> {
    let kind = insights::kind_of(&decode::invocation(call, Arguments::TooLarge));
    let is_known = !kind.job_type.is_empty() && !kind.method.is_empty();
    (is_known && !cron.trim().is_empty()).then(|| RecurringJob {
        id,
        kind,
        cron: cron.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_call_are_read_and_others_left_out() {
        let read = |cron: &str, call: &str| recurring_job("nightly".into(), cron, call);
        let short = r#"{"t":"Shop.Jobs, Shop","m":"RunAsync","a":["1"]}"#;
        let long = r#"{"Type":"Shop.Jobs, Shop","Method":"RunAsync","ParameterTypes":"[]"}"#;
        let job = read(" 0 3 * * * ", short).unwrap();
        assert_eq!((&*job.id, &*job.cron), ("nightly", "0 3 * * *"));
        assert_eq!(
            (&*job.kind.job_type, &*job.kind.method),
            ("Shop.Jobs", "RunAsync")
        );
        assert_eq!(read("0 3 * * *", long), Some(job));
        for call in ["", "{}", "[1]", "no JSON", r#"{"t":"Shop.Jobs, Shop"}"#] {
            assert_eq!(read("0 3 * * *", call), None, "{call}");
        }
        assert_eq!(read(" ", short), None);
    }
}
