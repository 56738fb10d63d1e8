use super::claim::{ClaimSpan, lane, position};
use super::layout::{Drawing, MOST_ATTEMPTS, Step, draw};
use super::pieces::{Around, Kind, MomentKind, Piece, Run, Stretch, pieces, short_exception};
use crate::model::state::Instant;
use crate::model::testing::{at, because, jobs, row};
use crate::model::timeline::{Context, Timeline};

fn around(created_at: Option<Instant>, now: &str) -> Around {
    Around {
        created_at,
        finished: true,
        now: at(now),
        suffix: "",
    }
}

fn lengths(pieces: &[Piece]) -> Vec<(&'static str, Option<i64>)> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Moment(moment) => (
                match moment.kind {
                    MomentKind::Operator => "operator",
                    MomentKind::Failure => "failure",
                    MomentKind::Deleted => "deleted",
                    MomentKind::Restored => "restored",
                },
                None,
            ),
            Piece::Stretch(stretch) => (
                match &stretch.kind {
                    Kind::Waited => "waited",
                    Kind::Backoff => "backoff",
                    Kind::Rest(word) => word,
                    Kind::Run(run) => run.outcome,
                },
                stretch.ms,
            ),
        })
        .collect()
}

fn run(number: usize, ms: Option<i64>) -> Piece {
    Piece::Stretch(Stretch {
        kind: Kind::Run(Run {
            number: number.to_string(),
            outcome: "failed",
            cause: "Timeout".into(),
        }),
        from: at("2026-11-02T08:00:00Z"),
        ms,
        so_far: false,
    })
}

fn backoff(ms: i64) -> Piece {
    Piece::Stretch(Stretch {
        kind: Kind::Backoff,
        from: at("2026-11-02T08:00:00Z"),
        ms: Some(ms),
        so_far: false,
    })
}

fn many(attempts: usize) -> Vec<Piece> {
    (1..=attempts)
        .flat_map(|n| {
            let length = i64::try_from(n * n * 700).unwrap();
            [run(n, Some(length)), backoff(length * 20)]
        })
        .collect()
}

fn drawn_attempts(drawing: &Drawing) -> Vec<&str> {
    drawing
        .stretches
        .iter()
        .filter_map(|drawn| match &drawn.stretch.kind {
            Kind::Run(run) => Some(run.number.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn the_articles_job_is_three_runs_with_their_true_lengths() {
    let job = &jobs("article/rows.json")[&1];
    let pieces = pieces(
        &job.timeline(),
        &around(Some(job.created_at), "2026-11-29T18:50:00Z"),
        |_| String::new(),
    );
    let lengths = lengths(&pieces);
    // Backoff on the line is the true one, from the failure to the release.
    let kinds: Vec<_> = lengths.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [
            "waited",
            "failed",
            "backoff",
            "waited",
            "failed",
            "backoff",
            "waited",
            "succeeded"
        ]
    );
    let runs: Vec<_> = lengths
        .iter()
        .filter(|(kind, _)| ["waited", "failed", "succeeded"].contains(kind))
        .map(|(_, ms)| ms.unwrap())
        .collect();
    assert_eq!(runs, [171, 95, 35, 20, 37, 4]);
}

#[test]
fn a_requeue_is_a_moment_after_rest_and_no_backoff() {
    let rows = [
        row(1, "Enqueued", "2026-11-02T08:00:00Z", "{}"),
        row(2, "Processing", "2026-11-02T08:00:00.2Z", "{}"),
        row(3, "Failed", "2026-11-02T08:00:01.2Z", "{}"),
        because(
            4,
            "Enqueued",
            "2026-11-02T11:00:01.2Z",
            "Triggered via Dashboard UI",
            "{}",
        ),
        row(5, "Processing", "2026-11-02T11:00:01.7Z", "{}"),
        row(6, "Failed", "2026-11-02T11:00:02.1Z", "{}"),
    ];
    let created = at("2026-11-02T08:00:00Z");
    let timeline = Timeline::build(&rows, &Context::whole(created, None));
    let around = Around {
        finished: false,
        ..around(Some(created), "2026-11-02T12:00:02.1Z")
    };
    assert_eq!(
        lengths(&pieces(&timeline, &around, |_| String::new())),
        [
            ("waited", Some(200)),
            ("failed", Some(1000)),
            ("at rest", Some(10_800_000)),
            ("operator", None),
            ("waited", Some(500)),
            ("failed", Some(400)),
            ("at rest", Some(3_600_000)),
        ]
    );
}

#[test]
fn a_lost_run_has_no_length_and_the_next_one_no_wait() {
    let job = &jobs("workers/rows.json")[&2];
    let pieces = pieces(
        &job.timeline(),
        &around(Some(job.created_at), "2026-11-29T23:00:00Z"),
        |_| String::new(),
    );
    let kinds: Vec<_> = lengths(&pieces);
    assert_eq!(kinds[1], ("lost", None));
    assert_eq!(kinds[2], ("lost", None));
    assert_eq!(kinds[3].0, "succeeded");
    assert_eq!(kinds.len(), 4);
}

#[test]
fn stretches_touch_in_order_and_fill_no_more_than_the_width() {
    for attempts in [1, 2, 3, 7, 12, 40] {
        for width in [640.0, 880.0, 1184.0, 1480.0] {
            let drawing = draw(&many(attempts), &[], None, width);
            let mut x = drawing.stretches[0].x;
            assert!(x >= 0.0);
            for drawn in &drawing.stretches {
                assert!((drawn.x - x).abs() < 1e-9, "{attempts} in {width}");
                // Nine pixels of a run and eighteen for its mark; twenty for a backoff.
                let least = match drawn.stretch.kind {
                    Kind::Run(_) => 27.0,
                    _ => 20.0,
                };
                assert!(
                    drawn.width >= least,
                    "{attempts} in {width}: {}",
                    drawn.width
                );
                x += drawn.width;
            }
            assert!(x <= width, "{attempts} in {width} end at {x}");
        }
    }
}

#[test]
fn widths_grow_with_the_logarithm_of_the_seconds() {
    // log2(1 + s) of 3 s and of 255 s are 2 and 8: four times as wide, where both are above the
    // least width.
    let drawing = draw(
        &[
            run(1, Some(1)),
            backoff(3_000),
            run(2, Some(1)),
            backoff(255_000),
        ],
        &[],
        None,
        1480.0,
    );
    assert!((drawing.stretches[1].width - 180.0).abs() < 0.01);
    assert!((drawing.stretches[3].width - 720.0).abs() < 0.01);
    assert!(!drawing.stretches[1].broken);
    assert!(drawing.stretches[3].broken);
}

#[test]
fn the_newest_attempts_are_drawn_and_the_rest_is_counted() {
    let drawing = draw(&many(40), &[], None, 1480.0);
    let drawn = drawn_attempts(&drawing);
    assert_eq!(drawn.len(), MOST_ATTEMPTS);
    assert_eq!(drawn.first(), Some(&"29"));
    assert_eq!(drawn.last(), Some(&"40"));
    assert_eq!(drawing.hidden, 28);
}

#[test]
fn the_plan_lies_right_of_now_in_order() {
    let steps: Vec<Step> = (1..=10)
        .map(|n| Step {
            number: n.to_string(),
            delay: "15–44 s".into(),
            due: at("2026-11-02T08:10:00Z"),
            delay_ms: 15_000,
        })
        .collect();
    let now = Some(at("2026-11-02T08:09:00Z"));
    for width in [640.0, 880.0, 1184.0, 1480.0] {
        let drawing = draw(&many(3), &steps, now, width);
        let mut x = drawing.now_x.unwrap();
        let last = drawing.stretches.last().unwrap();
        assert!((last.x + last.width - x).abs() < 1e-9);
        assert_eq!(drawing.steps.len(), 10);
        for (step, first) in &drawing.steps {
            assert!(*step >= x + 18.0 - 1e-9, "{width}");
            assert_eq!(*first, (x - drawing.now_x.unwrap()).abs() < 1e-9);
            x = *step;
        }
        assert!(drawing.end_x.unwrap() <= width, "{width}");
    }
}

#[test]
fn labels_in_one_row_do_not_collide() {
    for attempts in [1, 3, 12] {
        let drawing = draw(&many(attempts), &[], None, 880.0);
        for row in [45.0, 60.0, 106.0] {
            let mut edge = f64::MIN;
            let mut labels: Vec<_> = drawing
                .labels
                .iter()
                .filter(|label| (label.y - row).abs() < 0.1)
                .collect();
            labels.sort_by(|a, b| a.x.total_cmp(&b.x));
            for label in labels {
                let half =
                    f64::from(u32::try_from(label.text.chars().count()).unwrap()) * 5.8 / 2.0;
                assert!(
                    label.x - half >= edge,
                    "{} in a row of {attempts}",
                    label.text
                );
                edge = label.x + half;
            }
        }
    }
}

#[test]
fn exceptions_are_named_short() {
    assert_eq!(short_exception("System.TimeoutException"), "Timeout");
    assert_eq!(short_exception("System.Exception"), "Exception");
    assert_eq!(short_exception("Bookstore.Jobs.Jam"), "Jam");
}

/// A run of four seconds, then a rest of eight minutes and more.
fn run_then_rest() -> Vec<Piece> {
    let begins = at("2026-11-02T08:00:00Z");
    let piece = |kind, from, ms| {
        Piece::Stretch(Stretch {
            kind,
            from,
            ms: Some(ms),
            so_far: false,
        })
    };
    let run = Run {
        number: "1".into(),
        outcome: "failed",
        cause: String::new(),
    };
    vec![
        piece(Kind::Run(run), begins, 4_000),
        piece(
            Kind::Rest("at rest"),
            begins + chrono::TimeDelta::seconds(4),
            500_000,
        ),
    ]
}

#[test]
fn a_claim_lies_under_the_time_it_was_made() {
    let drawing = draw(&run_then_rest(), &[], None, 880.0);
    let (run, rest) = (&drawing.stretches[0], &drawing.stretches[1]);
    let x = |text: &str| position(&drawing, at(text)).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    close(x("2026-11-02T07:00:00Z"), run.x);
    close(x("2026-11-02T08:00:01Z"), run.x + run.width / 4.0);
    close(x("2026-11-02T08:00:04Z"), rest.x);
    close(x("2026-11-02T09:00:00Z"), rest.x + rest.width);
}

#[test]
fn a_claim_that_stands_reaches_to_now_and_a_sent_one_is_a_mark() {
    let now = at("2026-11-02T08:08:24Z");
    let drawing = draw(&run_then_rest(), &[], Some(now), 880.0);
    let claim = ClaimSpan {
        from: at("2026-11-02T08:00:02Z"),
        stands: true,
        words: "claim".into(),
    };
    let (from, width) = lane(&drawing, &claim).unwrap();
    let now_x = drawing.now_x.unwrap();
    assert!(
        (from + width - now_x).abs() < 1e-6,
        "{from} {width} {now_x}"
    );
    let sent = ClaimSpan {
        stands: false,
        ..claim
    };
    let (same, mark) = lane(&drawing, &sent).unwrap();
    assert!((same - from).abs() < 1e-6 && mark < 10.0, "{same} {mark}");
    assert_eq!(lane(&draw(&[], &[], None, 880.0), &sent), None);
}
