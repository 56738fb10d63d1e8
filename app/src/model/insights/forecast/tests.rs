use super::*;

fn at(clock: &str) -> Instant {
    format!("2026-11-27T{clock}Z").parse().unwrap()
}

fn kind(job_type: &str) -> JobKind {
    JobKind {
        job_type: job_type.into(),
        method: "RunAsync".into(),
    }
}

fn retry(job_type: &str, due: &str, number: Option<(u32, u32)>) -> DueRetry {
    DueRetry {
        job: 1,
        kind: kind(job_type),
        due: at(due),
        number,
    }
}

#[test]
fn retries_are_counted_in_steps_from_the_running_five_minutes_on() {
    let now = at("14:07:30.250");
    assert_eq!(Forecast::until(now), at("15:05:00"));
    let due = [
        retry("Stock", "14:04:59.999", None),
        retry("Stock", "14:05:00", Some((3, 10))),
        retry("Import", "14:09:59.999", Some((10, 10))),
        retry("Import", "14:10:00", Some((5, 5))),
        retry("Import", "15:04:59", Some((1, 5))),
        retry("Import", "15:05:00", Some((5, 5))),
    ];
    let forecast = Forecast::new(&due, 100, now);
    assert_eq!(forecast.overdue, 1);
    assert_eq!((forecast.retries(), forecast.last_tries()), (4, 2));
    let counts: Vec<_> = forecast.steps.iter().map(|s| s.all().retries).collect();
    assert_eq!(counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(forecast.steps[1].from, at("14:10:00"));
    assert_eq!(forecast.steps[1].last_tries.retries, 1);
    assert_eq!(forecast.steps[1].others, Due::default());
    assert_eq!(forecast.first_last_try(), Some(at("14:09:59.999")));
    assert_eq!(
        forecast.kinds,
        [
            KindDue {
                kind: kind("Import"),
                retries: 3,
                last_tries: 2,
                first_last_try: Some(at("14:09:59.999")),
                fewest_attempts: Some(5),
            },
            KindDue {
                kind: kind("Stock"),
                retries: 1,
                last_tries: 0,
                first_last_try: None,
                fewest_attempts: None,
            },
        ]
    );
    assert_eq!(forecast.known_to, None);
    assert_eq!(forecast.to(), at("15:05:00"));
}

#[test]
fn a_step_knows_what_its_retries_have_in_common() {
    let job = |job, name: &str, number| DueRetry {
        job,
        ..retry(name, "14:06:00", Some(number))
    };
    let step = |due: &[DueRetry]| Forecast::new(due, 100, at("14:05:00")).steps[0].clone();
    let due = |retries, job, name: Option<&str>| Due {
        retries,
        job,
        kind: name.map(kind),
    };
    let alone = step(&[job(7, "Stock", (1, 3))]);
    assert_eq!(alone.others, due(1, Some(7), Some("Stock")));
    assert_eq!(alone.all(), alone.others);
    let of_one_kind = step(&[job(7, "Stock", (1, 3)), job(8, "Stock", (3, 3))]);
    assert_eq!(of_one_kind.last_tries, due(1, Some(8), Some("Stock")));
    assert_eq!(of_one_kind.all(), due(2, None, Some("Stock")));
    let mixed = [
        job(7, "Stock", (1, 3)),
        job(8, "Import", (1, 3)),
        job(9, "Stock", (1, 3)),
    ];
    assert_eq!(step(&mixed).all(), due(3, None, None));
}

#[test]
fn where_more_are_planned_than_were_read_it_says_how_far_it_knows() {
    let due = [
        retry("Stock", "14:06:00", None),
        retry("Stock", "14:21:00", None),
    ];
    let now = at("14:05:00");
    assert_eq!(Forecast::new(&due, 2, now).known_to, Some(at("14:21:00")));
    assert_eq!(Forecast::new(&due, 3, now).known_to, None);
    assert_eq!(Forecast::new(&[], 0, now).known_to, None);
}
