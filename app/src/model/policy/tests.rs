use super::*;
use crate::model::attempt::{PlannedRetry, Release};
use crate::model::testing::{self, at};
use crate::model::timeline::ObservedDelay;

fn seen(of: u32, delays: &[(u32, i64)]) -> Vec<ObservedDelay> {
    delays
        .iter()
        .map(|(retry, backoff_ms)| ObservedDelay {
            retry: *retry,
            of,
            backoff_ms: *backoff_ms,
        })
        .collect()
}

fn default_of(retries: u32) -> Policy {
    Policy {
        retries,
        delays: Delays::HangfireDefault,
        origin: Origin::Stored,
    }
}

fn pending(number: u32, of: u32, due: &str) -> PlannedRetry {
    PlannedRetry {
        state_id: 1,
        number,
        of,
        due_at: Some(at(due)),
        backoff_ms: Some(1),
        clocks_disagree_ms: 0,
        release: Release::Pending,
    }
}

#[test]
fn the_default_formula_has_these_bands() {
    let seconds: Vec<(i64, i64)> = (1..=10)
        .map(|n| Delays::HangfireDefault.band(n).unwrap())
        .map(|band| (band.min_ms / 1000, band.max_ms / 1000))
        .collect();
    assert_eq!(
        seconds,
        [
            (15, 44),
            (16, 74),
            (31, 118),
            (96, 212),
            (271, 416),
            (640, 814),
            (1311, 1514),
            (2416, 2648),
            (4111, 4372),
            (6576, 6866),
        ]
    );
    assert_eq!(
        default_of(10).total_wait(),
        Some(Band {
            min_ms: 15_483_000,
            max_ms: 17_078_000
        })
    );
    assert_eq!(default_of(10).band(11), None);
    assert_eq!(default_of(10).band(0), None);
    assert_eq!(default_of(u32::MAX).total_wait(), None);
    assert_eq!(
        Delays::HangfireDefault.band(u32::MAX).unwrap().max_ms,
        i64::MAX
    );
}

#[test]
fn a_list_repeats_its_last_delay() {
    let list = Delays::List(vec![2_000, 5_000]);
    let delays: Vec<i64> = (1..=4).map(|n| list.band(n).unwrap().min_ms).collect();
    assert_eq!(delays, [2_000, 5_000, 5_000, 5_000]);
    assert_eq!(Delays::List(Vec::new()).band(1), None);
}

#[test]
fn a_recorded_delay_may_lack_a_millisecond() {
    let band = Band {
        min_ms: 15_000,
        max_ms: 44_000,
    };
    for (ms, holds) in [
        (14_998, false),
        (14_999, true),
        (15_000, true),
        (44_000, true),
        (44_001, false),
    ] {
        assert_eq!(band.holds(ms), holds, "{ms}");
    }
}

#[test]
fn recorded_jobs_show_their_policies() {
    let jobs = testing::jobs("policies/rows.json");
    let infer = |id: i64| Policy::infer(&jobs[&id].timeline().observed_delays(), &[]);
    // Delays 1, 2, 2 of three retries, and a job that saw all of them.
    let never = infer(3).unwrap();
    assert_eq!(never.retries, 3);
    assert_eq!(never.delay_words(), "1 s, 2 s, 2 s");
    assert_eq!(never.total_wait(), Some(Band::exactly(5_000)));
    assert_eq!(never.origin, Origin::Inferred { own: 3, earlier: 0 });
    assert_eq!(infer(5).unwrap().delay_words(), "0 ms, ?");
    assert_eq!(infer(6), None);
    let default = infer(8).unwrap();
    assert_eq!(default.delays, Delays::HangfireDefault);
    assert_eq!(default.retries, 10);
    assert_eq!(default.fits(3, 115_000), Some(true));
    assert_eq!(default.fits(3, 119_000), Some(false));
    assert_eq!(default.fits(11, 119_000), None);
}

#[test]
fn the_article_s_job_shows_two_delays_of_three() {
    let jobs = testing::jobs("article/rows.json");
    let policy = Policy::infer(&jobs[&1].timeline().observed_delays(), &[]).unwrap();
    // Recorded as 1,999 ms and 5,000 ms.
    assert_eq!(policy.delay_words(), "2 s, 5 s, ?");
    assert_eq!(policy.total_wait(), None);
    assert_eq!(policy.fits(1, 1_999), Some(true));
    assert_eq!(policy.fits(1, 2_500), Some(false));
}

#[test]
fn every_recorded_default_retry_fits_the_formula() {
    let mut seen = 0;
    for job in testing::jobs("mixed/rows.json").values() {
        for delay in job.timeline().observed_delays() {
            if delay.of == 10 {
                seen += 1;
                assert!(fits_default(delay), "{delay:?}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

fn fits_default(delay: ObservedDelay) -> bool {
    default_of(10).fits(delay.retry, delay.backoff_ms) == Some(true)
}

#[test]
fn earlier_jobs_fill_what_this_one_has_not_seen() {
    let own = seen(3, &[(1, 1_999)]);
    let earlier = seen(
        3,
        &[(1, 2_000), (2, 5_000), (1, 2_000), (2, 4_999), (3, 10_000)],
    );
    let policy = Policy::infer(&own, &earlier).unwrap();
    assert_eq!(policy.delay_words(), "2 s, 5 s, 10 s");
    assert_eq!(policy.origin, Origin::Inferred { own: 1, earlier: 5 });
    let untried = Policy::infer(&[], &earlier).unwrap();
    assert_eq!(untried.origin, Origin::Inferred { own: 0, earlier: 5 });
    assert_eq!(untried.delay_words(), "2 s, 5 s, 10 s");
}

#[test]
fn delays_of_another_policy_are_left_out() {
    // Another maximum.
    let policy = Policy::infer(&seen(3, &[(1, 2_000)]), &seen(5, &[(2, 7_000)])).unwrap();
    assert_eq!(policy.delay_words(), "2 s, ?, ?");
    // The same maximum, but the delays were changed since.
    let earlier = seen(3, &[(1, 1_000), (2, 7_000)]);
    let policy = Policy::infer(&seen(3, &[(1, 2_000)]), &earlier).unwrap();
    assert_eq!(policy.delay_words(), "2 s, ?, ?");
    assert_eq!(policy.origin, Origin::Inferred { own: 1, earlier: 0 });
    // From a list to the default formula.
    let policy = Policy::infer(&seen(3, &[(1, 20_000)]), &earlier).unwrap();
    assert_eq!(policy.delays, Delays::HangfireDefault);
    assert_eq!(policy.origin, Origin::Inferred { own: 1, earlier: 0 });
}

#[test]
fn the_same_delay_again_and_again_is_no_chance() {
    let drawn = seen(10, &[(1, 30_000), (1, 30_000), (1, 30_000), (1, 30_000)]);
    assert_eq!(
        Policy::infer(&drawn, &[]).unwrap().delays,
        Delays::HangfireDefault
    );
    let fixed = seen(10, &[(1, 29_999); 5]);
    assert_eq!(
        Policy::infer(&fixed, &[]).unwrap().band(1),
        Some(Band::exactly(30_000))
    );
}

#[test]
fn chance_of_another_kind_is_shown_as_what_was_seen() {
    let earlier = seen(4, &[(1, 3_000), (1, 9_000), (2, 1_000)]);
    let policy = Policy::infer(&seen(4, &[(1, 5_000)]), &earlier).unwrap();
    assert_eq!(policy.delay_words(), "3 s to 9 s, 1 s, ?, ?");
    assert_eq!(Policy::infer(&[], &[]), None);
}

#[test]
fn the_plan_adds_up_the_bands() {
    let plan = default_of(10)
        .plan(
            &pending(8, 10, "2026-11-02T10:00:00"),
            at("2026-11-02T09:50:00"),
        )
        .unwrap();
    let numbers: Vec<u32> = plan.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, [8, 9, 10]);
    assert_eq!(
        plan.runs[0].at.unwrap(),
        TimeBand {
            earliest: at("2026-11-02T10:00:00"),
            latest: at("2026-11-02T10:00:00")
        }
    );
    // 4,111 to 4,372 s later, then 6,576 to 6,866 s.
    assert_eq!(
        plan.runs[1].at.unwrap(),
        TimeBand {
            earliest: at("2026-11-02T11:08:31"),
            latest: at("2026-11-02T11:12:52")
        }
    );
    assert_eq!(
        plan.gives_up.unwrap(),
        TimeBand {
            earliest: at("2026-11-02T12:58:07"),
            latest: at("2026-11-02T13:07:18")
        }
    );
    assert_eq!(plan.not_listed(), 0);
}

#[test]
fn an_overdue_retry_counts_from_now() {
    let now = at("2026-11-02T12:00:00");
    let plan = default_of(1)
        .plan(&pending(1, 1, "2026-11-02T10:00:00"), now)
        .unwrap();
    assert_eq!(plan.gives_up.unwrap().earliest, now);
    let without_due = PlannedRetry {
        due_at: None,
        ..pending(1, 1, "2026-11-02T10:00:00")
    };
    assert_eq!(default_of(1).plan(&without_due, now), None);
}

#[test]
fn past_an_unknown_delay_the_plan_has_no_times() {
    let policy = Policy::infer(&seen(4, &[(1, 2_000), (2, 5_000), (4, 9_000)]), &[]).unwrap();
    let plan = policy
        .plan(
            &pending(1, 4, "2026-11-02T10:00:00"),
            at("2026-11-02T10:00:00"),
        )
        .unwrap();
    let known: Vec<(u32, bool, bool)> = plan
        .runs
        .iter()
        .map(|run| (run.number, run.wait.is_some(), run.at.is_some()))
        .collect();
    assert_eq!(
        known,
        [
            (1, true, true),
            (2, true, true),
            (3, false, false),
            (4, true, false)
        ]
    );
    assert_eq!(plan.gives_up, None);
}

#[test]
fn endless_retries_make_a_finite_plan() {
    let now = at("2026-11-02T10:00:00");
    let due = pending(1, 2_147_483_647, "2026-11-02T10:00:00");
    let plan = default_of(2_147_483_647).plan(&due, now).unwrap();
    assert_eq!(plan.runs.len(), 50);
    assert_eq!(plan.not_listed(), 2_147_483_597);
    assert_eq!(plan.gives_up, None);
    let unknown = Policy::infer(&seen(2_147_483_647, &[(1, 1_000)]), &[]).unwrap();
    assert_eq!(unknown.plan(&due, now).unwrap().runs.len(), 50);
    assert_eq!(unknown.total_wait(), None);
    assert!(unknown.delay_words().ends_with("\u{2026}"));
}

#[test]
fn stored_quartz_policies_are_read() {
    let delays = |stored: &str| -> Option<Vec<(i64, i64)>> {
        let policy = QuartzPolicy::parse(stored)?;
        Some(
            (1..=policy.retries())
                .map(|n| policy.band(n).unwrap())
                .map(|band| (band.min_ms, band.max_ms))
                .collect(),
        )
    };
    let exactly = |ms: &[i64]| Some(ms.iter().map(|ms| (*ms, *ms)).collect::<Vec<_>>());
    assert_eq!(delays("fixed;3;00:05:00"), exactly(&[300_000; 3]));
    assert_eq!(delays("exp;3;00:00:02;2"), exactly(&[2_000, 4_000, 8_000]));
    assert_eq!(
        delays("exp;5;00:00:30;2;00:02:00"),
        exactly(&[30_000, 60_000, 120_000, 120_000, 120_000])
    );
    assert_eq!(
        delays("exp;4;00:00:30;2;00:02:00;j0.2"),
        Some(vec![
            (24_000, 36_000),
            (48_000, 72_000),
            (96_000, 120_000),
            (96_000, 120_000)
        ])
    );
    assert_eq!(
        delays("exp;1;00:00:30;1.5;j0.5"),
        Some(vec![(15_000, 45_000)])
    );
    assert_eq!(
        delays("list;00:00:10;00:01:00;1.01:00:00.5"),
        exactly(&[10_000, 60_000, 90_000_500])
    );
    assert_eq!(delays("none"), Some(Vec::new()));
    let endless = QuartzPolicy::parse("exp;100;00:00:30;10").unwrap();
    assert_eq!(endless.band(100), Some(Band::exactly(922_337_203_685_477)));
    for refused in [
        "",
        "fixed;0;00:05:00",
        "fixed;3",
        "fixed;3;-00:05:00",
        "fixed;3;5",
        "fixed;3;24:00:00",
        "fixed;3;00:60:00",
        "fixed;3;00:00:00.12345678",
        "exp;3;00:00:02;0.5",
        "exp;3;00:00:02;inf",
        "exp;3;00:00:02;2;00:00:01",
        "exp;3;00:00:02;2;j1.5",
        "exp;3;00:00:02;2;00:01:00;0.2",
        "list",
        "list;",
        "linear;3;00:00:02",
    ] {
        assert_eq!(QuartzPolicy::parse(refused), None, "{refused}");
    }
}

#[test]
fn a_quartz_retry_near_the_regular_run_is_dropped() {
    let next = Some(at("2026-11-02T10:00:00"));
    let dropped = |retry: &str| QuartzPolicy::is_dropped(at(retry), next);
    assert!(!dropped("2026-11-02T09:59:58.999"));
    assert!(dropped("2026-11-02T09:59:59"));
    assert!(dropped("2026-11-02T10:00:30"));
    assert!(!QuartzPolicy::is_dropped(at("2026-11-02T10:00:30"), None));
}
