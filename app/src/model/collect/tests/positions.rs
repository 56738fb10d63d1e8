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
    position.advance(&[1, 2, 5], 5, None, Some(&around(&[], &["a"])));
    assert_eq!((position.watermark, position.gaps()), (5, &[(3, 4)][..]));
    let in_gap: Vec<i64> = (0..8).filter(|id| position.is_in_gap(*id)).collect();
    assert_eq!(in_gap, [3, 4]);
    // Another writer has come; the first one is still there.
    position.advance(&[6], 6, None, Some(&around(&["a", "b"], &["a", "b"])));
    assert_eq!(position.gaps(), [(3, 4)]);
    // It has committed one of the two.
    position.advance(&[4], 6, None, Some(&around(&["b"], &["b"])));
    assert_eq!(position.gaps(), []);
    assert_eq!((position.watermark, position.rows), (6, 5));
}

/// The writer ended between the snapshot and the look at the locks: its row is there, but not in
/// this snapshot.
#[test]
fn a_missing_id_without_a_writer_is_looked_for_once_more() {
    let mut position = Position::default();
    position.advance(&[2], 2, None, Some(&around(&["a"], &[])));
    assert_eq!(position.gaps(), [(1, 1)]);
    position.advance(&[1], 2, None, Some(&around(&[], &[])));
    assert_eq!((position.gaps(), position.rows), (&[][..], 2));
}

/// A writer that came before the missing id was given, and after the higher one was seen.
#[test]
fn a_later_writer_does_not_keep_a_gap_open() {
    let mut position = Position::default();
    position.advance(&[2], 2, None, Some(&around(&[], &["a"])));
    position.advance(&[], 2, None, Some(&around(&["c"], &["c"])));
    assert_eq!(position.gaps(), []);
}

#[test]
fn the_past_has_no_gaps_once_its_end_is_settled() {
    let mut position = Position::default();
    position.advance(&[10, 20], 1_000, None, Some(&around(&[], &["a"])));
    assert_eq!(position.gaps(), [(1, 9), (11, 19)]);
    position.advance(&[30, 50], 1_010, None, Some(&around(&[], &["b"])));
    assert_eq!(position.gaps(), []);
    position.advance(&[990, 1_005], 1_010, None, Some(&around(&["b"], &["b"])));
    assert_eq!(position.gaps(), [(1_001, 1_004)]);
}

#[test]
fn a_writer_that_stays_for_ever_keeps_few_horizons() {
    let mut position = Position::default();
    let stays = around(&["a"], &["a"]);
    for id in 1..100 {
        position.advance(&[id * 2], id * 2, None, Some(&stays));
    }
    assert_eq!(position.gaps().len(), 99);
    assert!(serde_json::to_string(&position).unwrap().len() < 2_000);
    position.advance(&[], 198, None, Some(&around(&[], &[])));
    assert_eq!(position.gaps(), []);
}

/// Somebody wrote a row with an id of his own choice. The ids below it are given later.
#[test]
fn ids_that_were_not_given_yet_are_waited_for() {
    let mut position = Position::default();
    position.advance(&[1, 2, 900], 900, Some(3), Some(&around(&[], &["a"])));
    assert_eq!(position.gaps(), [(3, 899)]);
    for _ in 0..3 {
        position.advance(&[], 900, Some(3), Some(&around(&[], &[])));
    }
    // Id 3 was given, and its writer has gone.
    assert_eq!(position.gaps(), [(4, 899)]);
    position.advance(&[4, 6], 900, Some(6), Some(&around(&[], &["b"])));
    assert_eq!(
        (position.watermark, position.gaps()),
        (900, &[(5, 5), (7, 899)][..])
    );
    position.advance_within(&[7]);
    assert_eq!(
        (position.rows, position.gaps()),
        (6, &[(5, 5), (8, 899)][..])
    );
    position.advance(&[], 900, Some(7), Some(&around(&[], &[])));
    assert_eq!(position.gaps(), [(8, 899)]);
}

/// A copy whose sequence stays where it was, while rows come from elsewhere.
#[test]
fn ids_that_are_never_given_here_keep_few_gaps() {
    let mut position = Position::default();
    let quiet = around(&[], &[]);
    for id in 1..2_000 {
        position.advance(&[id * 2], id * 2, Some(1), Some(&quiet));
    }
    assert_eq!(position.gaps().len(), 1_000);
    assert_eq!(position.gaps().last(), Some(&(3_997, 3_997)));
}

#[test]
fn another_database_is_known_by_ids_that_went_back() {
    let mut position = Position::default();
    position.advance(&[3, 9_000], 9_000, Some(5), Some(&around(&[], &[])));
    // The row with the odd id goes away; nothing was restored.
    assert!(!position.is_of_another(3, Some(5)));
    assert!(position.is_of_another(9_000, Some(4)));
    let mut untold = Position::default();
    untold.advance(&[3, 9], 9, None, None);
    assert!(untold.is_of_another(8, None));
    assert!(!untold.is_of_another(9, None));
    // An empty table tells nothing without the number that was given.
    assert!(!untold.is_of_another(0, None));
    assert!(untold.is_of_another(0, Some(8)));
}

#[test]
fn one_writer_at_a_time_leaves_no_gaps() {
    let mut position = Position::default();
    position.advance(&[3, 9], 9, None, None);
    assert_eq!((position.watermark, position.gaps()), (9, &[][..]));
}

#[test]
fn another_database_begins_anew_and_counts_nothing_twice() {
    let mut position = Position::default();
    position.advance(&[3, 9], 9, None, None);
    position.newest_at = Some(at("2026-11-02T10:00:00"));
    position.restart(at("2026-11-03T00:00:00"));
    assert_eq!((position.epoch, position.watermark), (1, 0));
    assert_eq!(position.counted_to, Some(at("2026-11-02T10:00:00")));
    // A row of the far future must not keep a rebuilt database from being counted.
    position.newest_at = Some(at("9999-01-01T00:00:00"));
    position.restart(at("2026-11-04T00:00:00"));
    assert_eq!(position.counted_to, Some(at("2026-11-04T00:00:00")));
}
