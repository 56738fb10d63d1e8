//! Everyday traffic: many jobs over two weeks, and the incident of the last day.

use app::model::state::Instant;
use chrono::{TimeDelta, Timelike};
use rand::Rng;

use super::catalogue::{Errand, Kind, Policy};
use super::claims;
use super::faults::{claim_in_flight, mailbox_unknown, not_in_catalogue};
use super::fleet::Fleet;
use super::life::Life;
use super::stage::Stage;

/// How long the demo's history is.
pub(super) const DAYS: i64 = 14;

impl Stage {
    /// Tells `count` everyday jobs.
    pub(super) fn traffic(&mut self, count: usize) {
        for _ in 0..count {
            let at = self.moment();
            let kind = self.kind();
            let errand = self.errand_at(kind, at);
            let now = self.now;
            if kind == Kind::Email {
                self.tell("everyday email", errand, at, everyday_email);
            } else {
                self.tell("everyday", errand, at, |life| everyday(life, kind, now));
            }
        }
    }

    /// A moment of the two weeks: more by day than by night, and the last day in double detail.
    fn moment(&mut self) -> Instant {
        let start = self.now - TimeDelta::days(DAYS);
        let length = TimeDelta::days(DAYS).num_milliseconds() - 1_500;
        loop {
            let at = start + TimeDelta::microseconds(self.rng.random_range(0..length * 1000));
            let by_day = if (7..22).contains(&at.hour()) {
                1.0
            } else {
                0.4
            };
            let last_day = if at > self.now - TimeDelta::days(1) {
                1.0
            } else {
                0.5
            };
            if self.rng.random_bool(by_day * last_day) {
                return at;
            }
        }
    }

    fn kind(&mut self) -> Kind {
        let total: u32 = Kind::TRAFFIC.iter().map(|kind| kind.spec().weight).sum();
        let mut drawn = self.rng.random_range(0..total);
        for kind in Kind::TRAFFIC {
            let weight = kind.spec().weight;
            if drawn < weight {
                return kind;
            }
            drawn -= weight;
        }
        Kind::Import
    }
}

/// The chance that a supplier import's first attempt fails: one in ten, rising from the last deploy
/// on to six in ten.
fn import_fails(at: Instant, now: Instant) -> f64 {
    let since = at - Fleet::last_deploy(now);
    let hours = f64::from(i32::try_from(since.num_minutes().max(0)).unwrap_or(i32::MAX)) / 60.0;
    0.10 + 0.025 * hours
}

fn everyday(life: &mut Life<'_>, kind: Kind, now: Instant) {
    let spec = kind.spec();
    let errand = life.errand().clone();
    let incident = kind == Kind::Import && life.at() > Fleet::last_deploy(now);
    let first = if incident {
        import_fails(life.at(), now)
    } else {
        spec.fails
    };
    // One stock job in two hundred asks for a book that is gone from the catalogue.
    let hopeless = kind == Kind::Stock && life.chance(0.005);
    let mut fault = errand.usual_fault(life.rng());
    if hopeless {
        fault = not_in_catalogue(&errand);
    }
    let after = life.ms(2, 9);
    life.enqueue(after, None);
    let wait = life.ms(15, if incident { 9_000 } else { 1_400 });
    life.take(wait);
    let mut number = 0;
    loop {
        let chance = if number == 0 { first } else { spec.fails_again };
        if life.is_over() {
            return;
        }
        if !hopeless && !life.chance(chance) {
            let ran = life.ms(spec.run_ms.0, spec.run_ms.1);
            life.succeed(ran, None);
            return;
        }
        let ran = failed_run(life, kind);
        life.fail(ran, &fault);
        number += 1;
        let Some(delay) = spec.policy.delay(number, life.rng()) else {
            if kind == Kind::Recommend && !life.is_over() {
                life.delete_exceeded(&fault);
            }
            return;
        };
        life.retry(spec.policy.of(), delay, &fault.message);
        life.release();
        let wait = life.ms(10, 900);
        life.take(wait);
    }
}

/// How long a failing run takes: time-outs take their ten seconds, refusals come at once.
fn failed_run(life: &mut Life<'_>, kind: Kind) -> i64 {
    match kind {
        Kind::Import | Kind::Recommend => life.ms(10_004, 10_090),
        Kind::Export => life.ms(1_010, 1_300),
        _ => life.ms(20, 600),
    }
}

/// An email claims its key first, so that a provider that does not answer leaves a claim in
/// Sending; later attempts wait until it is ten minutes old, then take it over.
pub(super) fn everyday_email(life: &mut Life<'_>) {
    let errand = life.errand().clone();
    let after = life.ms(2, 9);
    life.enqueue(after, None);
    let wait = life.ms(15, 2_400);
    life.take(wait);
    if life.is_over() {
        return;
    }
    claims::take(life, &errand);
    if life.chance(0.006) {
        let ran = life.ms(700, 1_900);
        life.fail(ran, &mailbox_unknown());
        life.unclaim();
        return;
    }
    if life.chance(1.0 - Kind::Email.spec().fails) {
        let ran = life.ms(300, 1_400);
        life.succeed(ran, None);
        claims::sent(life);
        return;
    }
    let ran = life.ms(30_005, 30_200);
    let fault = errand.usual_fault(life.rng());
    life.fail(ran, &fault);
    wait_for_own_claim(life, &errand, Kind::Email.spec().policy, &fault.message, 10);
}

/// Plans retries that find the job's own claim in flight, up to retry `most`; the first one that
/// finds it older than ten minutes takes it over and sends.
pub(super) fn wait_for_own_claim(
    life: &mut Life<'_>,
    errand: &Errand,
    policy: Policy,
    first_message: &str,
    most: u32,
) {
    let mut message = first_message.to_owned();
    for number in 1..=most {
        let Some(delay) = policy.delay(number, life.rng()) else {
            return;
        };
        life.retry(policy.of(), delay, &message);
        life.release();
        let wait = life.ms(10, 900);
        life.take(wait);
        if life.is_over() {
            return;
        }
        let age = claims::age_s(life);
        if age >= 600 {
            claims::take(life, errand);
            let ran = life.ms(300, 1_400);
            life.succeed(ran, None);
            claims::sent(life);
            return;
        }
        let fault = claim_in_flight(errand, age);
        let ran = life.ms(12, 400);
        life.fail(ran, &fault);
        message = fault.message;
    }
}
