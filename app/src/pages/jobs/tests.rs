use std::collections::BTreeMap;
use std::time::Duration;

use scraper::Html;

use super::*;
use crate::components::job_rows::testing::{now, row};
use crate::links::Place;
use crate::model::state::Instant;
use crate::pages::document::testing::{attr, chip, rendered, texts};
use crate::ports::failures::{ChangedKey, NotReady};
use crate::ports::jobs::StateCounts;

fn counts() -> CountsView {
    let by_state = ListState::ALL
        .into_iter()
        .zip([0, 265, 347, 46, 58, 81_204, 4_871, 1_019]);
    CountsView {
        counts: StateCounts {
            by_state: by_state.collect(),
            other: BTreeMap::new(),
            no_state: 3,
            as_of: now() - chrono::TimeDelta::seconds(2),
            exact: true,
        },
        age_ms: 2_000,
    }
}

fn page(filter: JobFilter, list: Result<JobPage, StoreError>) -> JobsPage {
    JobsPage {
        source: chip("prod"),
        filter,
        cursor: None,
        limit: None,
        asked: None,
        ordering: Ordering::Id(None),
        list,
        counts: Some(counts()),
        queues: vec!["default".into(), "mail".into()],
    }
}

fn state(state: ListState) -> JobFilter {
    JobFilter {
        state: Some(state),
        ..JobFilter::default()
    }
}

fn list(ids: &[i64], has_newer: bool, has_older: bool) -> JobPage {
    let rows = ids.iter().map(|&id| row(id, "Failed")).collect();
    JobPage {
        rows,
        has_newer,
        has_older,
    }
}

fn html(page: JobsPage) -> Html {
    rendered(|| jobs_page(page))
}

#[test]
fn every_list_says_how_many_came_since() {
    let chip = |filter: JobFilter| {
        let html = html(page(filter, Ok(list(&[1], false, false))));
        let words = attr(&html, ".newchip", "data-live-new");
        let href = attr(&html, ".newchip", "href");
        (words[0].clone(), href[0].clone())
    };
    let all = chip(JobFilter::default());
    assert_eq!(all, ("new".into(), "/ops/s/prod/jobs".into()));
    let failed = chip(state(ListState::Failed));
    assert_eq!(
        failed,
        ("new".into(), "/ops/s/prod/jobs?state=failed".into())
    );
    let mail = JobFilter {
        queue: Some("mail".into()),
        ..JobFilter::default()
    };
    assert_eq!(chip(mail).0, "in all, filtered or not");
}

#[test]
fn tabs_tell_the_counts_and_their_age() {
    let html = html(page(
        state(ListState::Failed),
        Ok(list(&[3, 2, 1], false, true)),
    ));
    assert_eq!(texts(&html, "h1"), ["Failed jobs"]);
    assert_eq!(
        texts(&html, ".page-h > p:nth-of-type(1)"),
        ["4,871 jobs failed for good and stay until somebody acts."]
    );
    assert_eq!(texts(&html, ".page-h .cov"), ["exact, 2 s ago"]);
    assert_eq!(attr(&html, "[data-figure=failed]", "data-value"), ["4871"]);
    assert_eq!(texts(&html, ".tab[aria-current]"), ["Failed 4,871"]);
    assert_eq!(texts(&html, ".tab:not([class*=' '])"), ["All 87,810"]);
}

#[test]
fn pages_follow_rows() {
    let first = html(page(
        state(ListState::Failed),
        Ok(list(&[9, 7], false, true)),
    ));
    let older = attr(&first, ".pager a[rel=next]", "href");
    let cursor = older[0].split("after=").nth(1).unwrap();
    assert_eq!(
        Cursor::after(cursor, &state(ListState::Failed), None),
        Ok(Cursor::After(Place::Id(7)))
    );
    assert!(attr(&first, ".pager a[rel=prev]", "href").is_empty());
    assert_eq!(texts(&first, ".pager [aria-disabled]"), ["Newer"]);

    let mut second = page(state(ListState::Failed), Ok(list(&[5, 3], true, false)));
    second.cursor = Some(Cursor::After(Place::Id(7)));
    let second = html(second);
    assert!(attr(&second, ".pager a[rel=prev]", "href")[0].contains("before=1.5."));
    assert_eq!(texts(&second, ".pager .quiet"), ["Newest"]);
}

#[test]
fn each_filter_can_be_taken_away_alone() {
    let filter = JobFilter {
        queue: Some("mail".into()),
        attempts_min: Some(3),
        ..state(ListState::Failed)
    };
    let html = html(page(filter, Ok(list(&[1], false, false))));
    assert_eq!(
        attr(&html, ".chip-x", "href"),
        [
            "/ops/s/prod/jobs?queue=mail&attempts_min=3",
            "/ops/s/prod/jobs?state=failed&attempts_min=3",
            "/ops/s/prod/jobs?state=failed&queue=mail",
        ]
    );
    assert_eq!(
        attr(&html, "form.filter-f input[name=queue]", "value"),
        ["mail"]
    );
    assert_eq!(
        attr(&html, "form.filter-f option[selected]", "value"),
        ["failed"]
    );
    assert!(texts(&html, ".page-h p")[0].ends_with(" 1 match."));
}

#[test]
fn the_form_acts_on_ticked_rows_and_comes_back_here() {
    let html = html(page(
        state(ListState::Failed),
        Ok(list(&[2, 1], false, false)),
    ));
    assert_eq!(
        attr(&html, "form.joblist button[formaction]", "formaction"),
        ["/ops/api/requeue", "/ops/api/delete"]
    );
    assert_eq!(attr(&html, "form.joblist", "method"), ["post"]);
    assert_eq!(
        attr(&html, "input[name=back]", "value"),
        ["/ops/s/prod/jobs?state=failed"]
    );
    assert_eq!(attr(&html, "input[name=source]", "value"), ["prod"]);
    assert_eq!(
        attr(&html, "input[name=item]", "value"),
        ["2:20:Failed", "1:10:Failed"]
    );
}

#[test]
fn a_read_only_source_says_why_and_offers_no_form() {
    let mut page = page(state(ListState::Failed), Ok(list(&[1], false, false)));
    page.source.read_only = Some("Schema 18 is too old to act on.".into());
    let html = html(page);
    assert!(attr(&html, "form[method=post]", "action").is_empty());
    assert_eq!(texts(&html, "button[aria-disabled]"), ["Requeue", "Delete"]);
    assert_eq!(
        texts(&html, "#ro"),
        ["Read only: Schema 18 is too old to act on."]
    );
}

#[test]
fn five_reasons_for_no_table_are_five_messages() {
    let nothing = || Ok(list(&[], false, false));
    let filtered = JobFilter {
        queue: Some("x".into()),
        ..state(ListState::Failed)
    };
    let stopped = Err(StoreError::TimedOut(Duration::from_secs(5)));
    let denied = Err(StoreError::Forbidden(
        "The role may not read hangfire.job.".into(),
    ));
    let mut beyond = page(state(ListState::Failed), nothing());
    beyond.cursor = Some(Cursor::After(Place::Id(1)));
    let headlines: Vec<_> = [
        page(state(ListState::Enqueued), nothing()),
        page(filtered.clone(), nothing()),
        page(filtered, stopped),
        page(state(ListState::Failed), denied),
        beyond,
    ]
    .into_iter()
    .map(|page| texts(&html(page), ".msg h2").concat())
    .collect();
    assert_eq!(
        headlines,
        [
            "The queues are empty",
            "No job matches these filters",
            "This filter took longer than 5 s: narrow it",
            "The database does not allow this",
            "No jobs are left on this page",
        ]
    );
}

#[test]
fn a_stopped_query_keeps_the_rest_of_the_page() {
    let stopped = Err(StoreError::TimedOut(Duration::from_secs(5)));
    let html = html(page(state(ListState::Failed), stopped));
    assert_eq!(texts(&html, ".tab").len(), 9);
    assert_eq!(
        attr(&html, ".msg-a a", "href"),
        ["/ops/s/prod/jobs?state=failed&from=2026-11-26T14%3A05%3A48Z"]
    );
}

#[test]
fn without_counts_no_number_is_made_up() {
    let mut page = page(state(ListState::Failed), Ok(list(&[1], false, false)));
    page.counts = None;
    let html = html(page);
    assert_eq!(texts(&html, ".page-h p"), ["Not counted yet."]);
    assert!(texts(&html, ".tab-c").iter().all(|text| text == "–"));
    assert!(attr(&html, "[data-figure]", "data-value").is_empty());
}

fn key(seconds: i64, job: i64) -> ChangedKey {
    let changed_at = Instant::from_timestamp(1_795_788_000 + seconds, 0).unwrap();
    ChangedKey { changed_at, job }
}

#[test]
fn a_list_says_which_order_it_has_and_offers_the_other() {
    let failed = || state(ListState::Failed);
    let mut changed = page(failed(), Ok(list(&[3, 9], true, true)));
    let ends = Some((key(20, 3), key(10, 9)));
    changed.ordering = Ordering::Changed(ByChange {
        ends,
        matching: None,
    });
    let html_of_it = html(changed);
    assert_eq!(
        texts(&html_of_it, ".order [aria-current]"),
        ["latest change"]
    );
    assert_eq!(
        attr(&html_of_it, ".order a", "href"),
        [
            "/ops/s/prod/jobs?state=failed&order=changed",
            "/ops/s/prod/jobs?state=failed&order=id"
        ]
    );
    assert!(texts(&html_of_it, ".pager .sub")[0].starts_with("2 rows, latest change first."));
    assert_eq!(
        texts(&html_of_it, "caption"),
        ["Failed jobs, latest change first"]
    );
    let cursor = |rel: &str, side: &str| {
        let href = attr(&html_of_it, &format!(".pager a[rel={rel}]"), "href").remove(0);
        href.split(&format!("{side}=")).nth(1).unwrap().to_owned()
    };
    assert_eq!(
        Cursor::after(&cursor("next", "after"), &failed(), Some(Order::Changed)),
        Ok(Cursor::After(Place::Changed(key(10, 9))))
    );
    assert_eq!(
        Cursor::before(&cursor("prev", "before"), &failed(), Some(Order::Changed)),
        Ok(Cursor::Before(Place::Changed(key(20, 3))))
    );

    let mut by_id = page(failed(), Ok(list(&[9, 3], false, true)));
    by_id.asked = Some(Order::Id);
    let by_id = html(by_id);
    assert_eq!(texts(&by_id, ".order [aria-current]"), ["newest job"]);
    assert!(texts(&by_id, ".pager .sub")[0].starts_with("2 rows, newest job first."));
    assert!(attr(&by_id, ".pager a[rel=next]", "href")[0].contains("&order=id&after=1.3."));
    assert_eq!(attr(&by_id, "form input[name=order]", "value"), ["id"]);
    assert!(texts(&by_id, ".note").is_empty());

    let other = html(page(
        state(ListState::Enqueued),
        Ok(list(&[1], false, false)),
    ));
    assert!(texts(&other, ".order").is_empty());
}

#[test]
fn a_filtered_list_says_how_many_match_where_the_index_tells() {
    let filtered = || JobFilter {
        queue: Some("mail".to_owned()),
        ..state(ListState::Failed)
    };
    let sentence = |matching, has_older| {
        let mut page = page(filtered(), Ok(list(&[3, 9], false, has_older)));
        let ends = Some((key(20, 3), key(10, 9)));
        page.ordering = Ordering::Changed(ByChange { ends, matching });
        texts(&html(page), ".page-h p").remove(0)
    };
    assert!(sentence(Some(1_204), true).ends_with(" 1,204 of them match, as collected."));
    assert!(sentence(None, true).ends_with(" At least 3 of them match."));
    // What can be seen is newer than what was collected.
    assert!(sentence(Some(1), true).ends_with(" 3 of them match, as collected."));
    assert!(sentence(Some(1_204), false).ends_with(" 2 match."));
}

#[test]
fn a_list_that_has_not_the_order_of_change_says_why() {
    let since = key(0, 0).changed_at;
    let because = [
        (
            WhyById::NotReady(NotReady::Reading {
                watermark: 43,
                highest: 100,
            }),
            "43 % of the state rows are read",
        ),
        (
            WhyById::NotReady(NotReady::Reading {
                watermark: 100,
                highest: 100,
            }),
            "99 % of the state rows are read",
        ),
        (
            WhyById::NotReady(NotReady::NotBegun),
            "no state row was read yet",
        ),
        (WhyById::NotReady(NotReady::NoTables), "own tables"),
        (WhyById::NotReady(NotReady::Apart), "apart from the jobs"),
        (
            WhyById::NotReady(NotReady::Behind { since }),
            "waited since 27 Nov 2026, 14:00:00.000 UTC",
        ),
        (WhyById::NoIndex, "only failed and retrying jobs"),
    ];
    for (why, words) in because {
        let mut page = page(state(ListState::Failed), Ok(list(&[1], false, false)));
        page.ordering = Ordering::Id(Some(why));
        let said = texts(&html(page), ".note");
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("Newest job first"), "{said:?}");
        assert!(said[0].contains(words), "{said:?}");
    }
}
