use crate::model::collect::position::{Around, Position, Writers};
use crate::model::testing::at;

fn around(before: &[&str], after: &[&str]) -> Around {
    let writers = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Writers>()
    };
    Around {
        before: writers(before),
        after: writers(after),
    }
}

#[test]
fn a_missing_id_is_waited_for_while_its_writer_may_still_commit() {
    let mut position = Position::default();
    position.advance(&[1, 2, 5], 5, Some(&around(&[], &["a"])));
    assert_eq!((position.watermark, position.gaps()), (5, &[(3, 4)][..]));
    // Another writer has come; the first one is still there.
    position.advance(&[6], 6, Some(&around(&["a", "b"], &["a", "b"])));
    assert_eq!(position.gaps(), [(3, 4)]);
    // It has committed one of the two.
    position.advance(&[4], 6, Some(&around(&["b"], &["b"])));
    assert_eq!(position.gaps(), []);
    assert_eq!((position.watermark, position.rows), (6, 5));
}

/// The writer ended between the snapshot and the look at the locks: its row is there, but not in
/// this snapshot.
#[test]
fn a_missing_id_without_a_writer_is_looked_for_once_more() {
    let mut position = Position::default();
    position.advance(&[2], 2, Some(&around(&["a"], &[])));
    assert_eq!(position.gaps(), [(1, 1)]);
    position.advance(&[1], 2, Some(&around(&[], &[])));
    assert_eq!((position.gaps(), position.rows), (&[][..], 2));
}

/// A writer that came before the missing id was given, and after the higher one was seen.
#[test]
fn a_later_writer_does_not_keep_a_gap_open() {
    let mut position = Position::default();
    position.advance(&[2], 2, Some(&around(&[], &["a"])));
    position.advance(&[], 2, Some(&around(&["c"], &["c"])));
    assert_eq!(position.gaps(), []);
}

#[test]
fn the_past_has_no_gaps_once_its_end_is_settled() {
    let mut position = Position::default();
    position.advance(&[10, 20], 1_000, Some(&around(&[], &["a"])));
    assert_eq!(position.gaps(), [(1, 9), (11, 19)]);
    position.advance(&[30, 50], 1_010, Some(&around(&[], &["b"])));
    assert_eq!(position.gaps(), []);
    position.advance(&[990, 1_005], 1_010, Some(&around(&["b"], &["b"])));
    assert_eq!(position.gaps(), [(1_001, 1_004)]);
}

#[test]
fn a_writer_that_stays_for_ever_keeps_few_horizons() {
    let mut position = Position::default();
    let stays = around(&["a"], &["a"]);
    for id in 1..100 {
        position.advance(&[id * 2], id * 2, Some(&stays));
    }
    assert_eq!(position.gaps().len(), 99);
    assert!(serde_json::to_string(&position).unwrap().len() < 2_000);
    position.advance(&[], 198, Some(&around(&[], &[])));
    assert_eq!(position.gaps(), []);
}

#[test]
fn one_writer_at_a_time_leaves_no_gaps() {
    let mut position = Position::default();
    position.advance(&[3, 9], 9, None);
    assert_eq!((position.watermark, position.gaps()), (9, &[][..]));
}

#[test]
fn another_database_begins_anew_and_counts_nothing_twice() {
    let mut position = Position::default();
    position.advance(&[3, 9], 9, None);
    position.newest_at = Some(at("2026-11-02T10:00:00"));
    position.restart(at("2026-11-03T00:00:00"));
    assert_eq!((position.epoch, position.watermark), (1, 0));
    assert_eq!(position.counted_to, Some(at("2026-11-02T10:00:00")));
    // A row of the far future must not keep a rebuilt database from being counted.
    position.newest_at = Some(at("9999-01-01T00:00:00"));
    position.restart(at("2026-11-04T00:00:00"));
    assert_eq!(position.counted_to, Some(at("2026-11-04T00:00:00")));
}
