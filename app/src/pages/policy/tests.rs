use super::*;
use crate::model::collect::{DelaySums, RoundEnd, RoundSums, hour};
use crate::model::insights::JobKind;
use crate::model::recurring::RecurringJob;
use crate::model::testing::at;
use crate::pages::document::testing::{attr, chip, rendered, texts};

fn page(form: PolicyForm) -> PolicyPage {
    PolicyPage {
        source: chip("prod"),
        form,
        seen: Ok(None),
        triggers: Ok(Vec::new()),
        now: at("2026-11-27T14:05:48Z"),
    }
}

#[test]
fn hangfires_default_gives_up_after_four_to_five_hours() {
    let html = rendered(|| policy_page(page(PolicyForm::default())));
    assert_eq!(
        texts(&html, ".page-h p")[0],
        "It gives up 4 h 18 min to 4 h 45 min after the first failure, 11 attempts in all. \
         The scheduler can add up to 2 min 30 s."
    );
    assert_eq!(
        attr(&html, "[data-figure='gives-up']", "data-value"),
        ["17078000"]
    );
    assert_eq!(
        attr(&html, "[data-figure='gives-up']", "data-least"),
        ["15483000"]
    );
    let rows = texts(&html, ".simt tbody tr");
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0], "115 s44 s15 s44 s");
    assert_eq!(rows[9], "101 h 50 min1 h 54 min4 h 18 min4 h 45 min");
    let label = &attr(&html, ".sim-fig svg", "aria-label")[0];
    assert!(
        label.contains(
            "from 15 s to 44 s before retry 1 to 1 h 50 min to 1 h 54 min before retry 10"
        ),
        "{label}"
    );
}

#[test]
fn quartz_drops_what_does_not_fit_the_trigger() {
    let form = PolicyForm {
        sort: PolicySort::Exponential,
        delay: "2 s".into(),
        retries: "4".into(),
        every: "15 s".into(),
        ..PolicyForm::default()
    };
    let html = rendered(|| policy_page(page(form)));
    // Totals of 2, 6, 14 and 30 s: the third lies within a second of the next run.
    let fates: Vec<String> = texts(&html, ".simt tbody td:last-child");
    assert_eq!(
        fates,
        [
            "before it",
            "before it",
            "never runs: dropped",
            "never runs: dropped"
        ]
    );
    let said = &texts(&html, ".note p")[0];
    assert!(said.contains("Of 4 retries 2 surely fit"), "{said}");
    assert_eq!(attr(&html, "#sim-every", "value"), ["15 s"]);
}

#[test]
fn a_field_that_cannot_be_meant_is_named_beside_the_form() {
    let form = PolicyForm {
        sort: PolicySort::List,
        delays: "soon".into(),
        ..PolicyForm::default()
    };
    let html = rendered(|| policy_page(page(form)));
    assert!(texts(&html, ".note p")[0].contains("“delays” must be a duration"));
    assert_eq!(attr(&html, "#sim-delays", "value"), ["soon"]);
    assert_eq!(texts(&html, ".simt").len(), 0);
}

#[test]
fn every_sort_is_a_link_and_has_its_own_fields() {
    for sort in PolicySort::ALL {
        let form = PolicyForm {
            sort,
            ..PolicyForm::default()
        };
        let html = rendered(move || policy_page(page(form)));
        assert_eq!(texts(&html, ".sorts a").len(), 5);
        assert_eq!(texts(&html, ".sorts a[aria-current]"), [sort.label()]);
        assert!(!texts(&html, ".simt tbody tr").is_empty(), "{sort:?}");
        let delays = attr(&html, "[name='delays']", "value").len();
        let takes_list = matches!(sort, PolicySort::List | PolicySort::Explicit);
        assert_eq!(delays, usize::from(takes_list), "{sort:?}");
    }
}

fn kind(method: &str) -> JobKind {
    JobKind {
        job_type: "Bookstore.Jobs.StockSyncJob".into(),
        method: method.into(),
    }
}

fn seen() -> Seen {
    let round = |method: &str, end, number, rounds| RoundsRow {
        hour: 1,
        kind: kind(method),
        later: false,
        end,
        number,
        sums: RoundSums {
            rounds,
            backoff_ms: 0,
        },
    };
    let delay = |method: &str, of, retry, delays, ms| DelaysRow {
        kind: kind(method),
        of,
        retry,
        sums: DelaySums {
            delays,
            sum_ms: delays * ms,
            min_ms: Some(ms),
            max_ms: Some(ms),
        },
    };
    Seen {
        coverage: Coverage {
            since: Some(hour(at("2026-11-12T08:00:00Z"))),
            watermark: 1,
            epoch: 1,
            as_of: at("2026-11-27T14:05:34Z"),
        },
        rounds: vec![
            round("PushAsync", RoundEnd::Succeeded, 2, 100),
            round("PushAsync", RoundEnd::GaveUp, 4, 40),
            round("PullAsync", RoundEnd::Succeeded, 3, 5),
        ],
        delays: vec![
            delay("PushAsync", 3, 1, 140, 2_000),
            delay("PushAsync", 3, 2, 40, 5_000),
            delay("PushAsync", 3, 3, 40, 9_000),
            delay("PullAsync", 2, 1, 5, 2_000),
            delay("PullAsync", 2, 2, 5, 2_000),
        ],
        days: 30,
    }
}

#[test]
fn retries_that_never_helped_are_found() {
    let html = rendered(|| {
        policy_page(PolicyPage {
            seen: Ok(Some(seen())),
            ..page(PolicyForm::default())
        })
    });
    // Those with a finding come first.
    assert_eq!(
        attr(&html, ".pol tr[data-method]", "data-method"),
        ["PushAsync", "PullAsync"]
    );
    let cells = texts(&html, ".pol tbody td");
    assert_eq!(
        cells,
        [
            "3 retries: 2 s, 5 s, 9 s",
            "16 s",
            // 40 rounds with two attempts each, after waits of 5 and 9 s.
            "No retry helped after attempt 2. 40 rounds went on and gave up: 80 attempts and about \
             9 min 20 s for nothing.",
            "2 retries: 2 s, 2 s",
            "4 s",
            "nothing to say",
        ]
    );
    assert_eq!(
        attr(&html, "[data-figure='outlived']", "data-value"),
        ["80"]
    );
    assert_eq!(
        attr(&html, ".pol tr[data-method='PushAsync'] td a", "href"),
        ["/ops/s/prod/policy?policy=list&retries=3\
             &delays=2000%20ms%2C%205000%20ms%2C%209000%20ms"]
    );
}

#[test]
fn retries_that_come_after_the_next_run_are_found() {
    let trigger = |id: &str, every_ms, is_even| Trigger {
        job: RecurringJob {
            id: id.into(),
            kind: kind("PullAsync"),
            cron: "*/3 * * * * *".into(),
        },
        every_ms,
        is_even,
    };
    let drawn = |triggers| {
        rendered(move || {
            policy_page(PolicyPage {
                seen: Ok(Some(seen())),
                triggers,
                ..page(PolicyForm::default())
            })
        })
    };
    let row = ".pol tr[data-method='PullAsync'] td:last-child";
    // Waits of 2 and 2 s beside runs every 3 s; what runs more seldom says less.
    let html = drawn(Ok(vec![
        trigger("daily", 86_400_000, true),
        trigger("stock", 3_000, true),
    ]));
    assert_eq!(
        texts(&html, row),
        [
            "Retry 2 of 2 comes after the next run. It comes 4 s or more after the first failure, \
             and the recurring job \u{201c}stock\u{201d} (*/3 * * * * *) starts the next run after \
             3 s: from then on runs overlap. Simulate it"
        ]
    );
    let figure = "[data-figure='late-retry']";
    assert_eq!(attr(&html, figure, "data-value"), ["4000"]);
    assert_eq!(attr(&html, figure, "data-every"), ["3000"]);
    assert_eq!(
        attr(&html, &format!("{row} a"), "href"),
        [
            "/ops/s/prod/policy?policy=list&retries=2&delays=2000%20ms%2C%202000%20ms&every=3000%20ms"
        ]
    );
    // A single wait that is longer than the interval is named too.
    let html = drawn(Ok(vec![trigger("stock", 1_500, false)]));
    let words = &texts(&html, row)[0];
    assert!(
        words.starts_with("Retry 1 of 2 comes after the next run."),
        "{words}"
    );
    assert!(words.contains("after as little as 1.5 s"), "{words}");
    assert!(
        words.contains("Before retry 1 alone it waits 2 s or more."),
        "{words}"
    );
    let html = drawn(Ok(vec![trigger("stock", 4_000, true)]));
    assert_eq!(texts(&html, row), ["nothing to say"]);
    // What could not be read is not taken for well.
    let html = drawn(Err(StoreError::Away("gone".into())));
    assert_eq!(texts(&html, row), ["nothing to say"]);
    let said = texts(&html, "[aria-labelledby='seen-h'] > .sub.after");
    assert!(
        said[0].starts_with("Whether retries fit the intervals"),
        "{said:?}"
    );
}
