use super::*;

fn group() -> StoredGroup {
    StoredGroup {
        id: 1,
        job_type: "App.Importer<App.Line>.Nested".to_owned(),
        method: Some("RunAsync".to_owned()),
        queue: Some("mail".to_owned()),
        exception: Some("App.Odd`1[[App.Line, App]], App".to_owned()),
        attempts: 3,
        jobs: 7,
    }
}

fn fits(change: impl FnOnce(&mut JobFilter)) -> bool {
    let mut filter = JobFilter {
        state: Some(ListState::Failed),
        ..JobFilter::default()
    };
    change(&mut filter);
    group().may_fit(&filter)
}

#[test]
fn a_group_fits_by_each_of_its_parts() {
    assert!(fits(|_| {}));
    let queue = |name: &str| fits(|filter| filter.queue = Some(name.to_owned()));
    assert!(queue("mail") && !queue("Mail") && !queue(""));
    let method = |name: &str| fits(|filter| filter.method = Some(name.to_owned()));
    assert!(method("RunAsync") && !method("Run"));
    let attempts = |least| fits(|filter| filter.attempts_min = Some(least));
    assert!(attempts(0) && attempts(3) && !attempts(4));
}

/// Exceptions are kept as they were stored, and asked for in three ways.
#[test]
fn an_exception_is_asked_for_whole_or_by_its_last_part() {
    let exception = |name: &str| fits(|filter| filter.exception = Some(name.to_owned()));
    for name in [
        "App.Odd`1[[App.Line, App]], App",
        "App.Odd`1[[App.Line, App]]",
        "Odd`1",
    ] {
        assert!(exception(name), "{name}");
    }
    for name in ["Odd", "App.Odd", "Line", "", "dd`1"] {
        assert!(!exception(name), "{name}");
    }
}

/// Types are kept as they are written for people; jobs themselves decide between those that remain.
#[test]
fn a_type_is_left_out_only_where_it_cannot_be_meant() {
    let kind = |name: &str| fits(|filter| filter.job_type = Some(name.to_owned()));
    for name in [
        "App.Importer`1+Nested[[App.Line, App]], App, Version=1.0.0.0",
        "App.Importer`1+Nested[[App.Line, App]]",
        "Nested",
        "Importer`1",
    ] {
        assert!(kind(name), "{name}");
    }
    for name in ["App.Importer", "Nest", "Import", "Mail", "App.Nested"] {
        assert!(!kind(name), "{name}");
    }
    let long = StoredGroup {
        job_type: counted_name(&"T".repeat(400)),
        ..group()
    };
    let asked = JobFilter {
        job_type: Some("Last".to_owned()),
        ..JobFilter::default()
    };
    assert!(long.may_fit(&asked));
    let invented = StoredGroup {
        job_type: "App.Outer.<>c__DisplayClass1".to_owned(),
        ..group()
    };
    let asked = JobFilter {
        job_type: Some("<>c__DisplayClass1".to_owned()),
        ..JobFilter::default()
    };
    assert!(invented.may_fit(&asked));
}

/// Groups do not tell more than a hundred attempts apart; the rows do.
#[test]
fn many_attempts_are_asked_of_the_rows() {
    let filter = |attempts_min| JobFilter {
        state: Some(ListState::Retrying),
        attempts_min,
        ..JobFilter::default()
    };
    let wanted = |least| Wanted::of(&filter(least)).unwrap();
    assert_eq!(
        (wanted(None).by_group, wanted(None).attempts),
        (false, None)
    );
    assert_eq!(
        (wanted(Some(0)).by_group, wanted(Some(0)).attempts),
        (false, None)
    );
    assert_eq!(
        (wanted(Some(100)).by_group, wanted(Some(100)).attempts),
        (true, None)
    );
    assert_eq!(wanted(Some(101)).attempts, Some(101));
    let most = StoredGroup {
        attempts: 100,
        ..group()
    };
    assert!(most.may_fit(&filter(Some(101))));
    let elsewhere = JobFilter {
        state: Some(ListState::Scheduled),
        ..JobFilter::default()
    };
    assert_eq!(Wanted::of(&elsewhere), None);
}

#[test]
fn the_index_is_ready_when_it_is_whole_and_no_row_waits_long() {
    let now = micros(1_795_788_000_000_000);
    let reach = Reach {
        watermark: 90,
        highest: 100,
        indexed: true,
        waiting_since: Some(now - TimeDelta::seconds(30)),
    };
    assert_eq!(reach.not_ready(now), None);
    let since = now - TimeDelta::seconds(31);
    let behind = Reach {
        waiting_since: Some(since),
        ..reach
    };
    assert_eq!(behind.not_ready(now), Some(NotReady::Behind { since }));
    let reading = Reach {
        indexed: false,
        ..behind
    };
    let why = NotReady::Reading {
        watermark: 90,
        highest: 100,
    };
    assert_eq!(reading.not_ready(now), Some(why));
}

fn of_type(groups: &[StoredGroup], name: &str) -> Option<i64> {
    let filter = JobFilter {
        state: Some(ListState::Failed),
        job_type: Some(name.to_owned()),
        ..JobFilter::default()
    };
    matching(&Wanted::of(&filter).unwrap(), &filter, groups)
}

/// A number only where every job of the groups fits.
#[test]
fn groups_tell_how_many_fit_where_nothing_else_decides() {
    let plain = |job_type: &str, jobs| StoredGroup {
        job_type: job_type.to_owned(),
        jobs,
        ..group()
    };
    let groups = [plain("App.Importer", 7), plain("App.Old.Importer", 5)];
    let number = |groups: &[StoredGroup], change: fn(&mut JobFilter)| {
        let mut filter = JobFilter {
            state: Some(ListState::Failed),
            ..JobFilter::default()
        };
        change(&mut filter);
        matching(&Wanted::of(&filter).unwrap(), &filter, groups)
    };
    assert_eq!(
        number(&groups, |f| f.queue = Some("mail".to_owned())),
        Some(12)
    );
    assert_eq!(number(&groups, |f| f.attempts_min = Some(100)), Some(12));
    assert_eq!(number(&groups, |f| f.attempts_min = Some(101)), None);
    assert_eq!(number(&groups, |f| f.from = Some(micros(0))), None);
    assert_eq!(number(&groups, |f| f.to = Some(micros(0))), None);
    assert_eq!(
        number(&groups, |f| f.server = Some("app-1".to_owned())),
        None
    );
    assert_eq!(number(&[], |f| f.queue = Some("mail".to_owned())), Some(0));
    assert_eq!(of_type(&groups, "Importer"), Some(12));
    assert_eq!(of_type(&groups[..1], "App.Importer"), Some(7));
    // `Old` may be a namespace, or a type that holds another one.
    assert_eq!(of_type(&groups[1..], "Old"), None);
    assert_eq!(of_type(&groups[..1], "App.Importer, App"), None);
    assert_eq!(of_type(&[group()], "Nested"), None);
    let cut = plain("App.Import\u{2026}", 7);
    assert_eq!(of_type(&[cut], "App.Import\u{2026}"), None);
    let cut = StoredGroup {
        exception: Some("App.Od\u{2026}".to_owned()),
        ..group()
    };
    assert_eq!(
        number(&[cut], |f| f.exception = Some("App.Od\u{2026}".to_owned())),
        None
    );
}
