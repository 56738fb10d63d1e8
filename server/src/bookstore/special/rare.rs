//! What is rare: interrupted, throttled, renamed; and claims left in Sending.

use super::super::catalogue::{Kind, Policy};
use super::super::claims;
use super::super::faults::{feed_refused, mail_timeout, mailbox_unknown, method_gone};
use super::super::life::BY_DASHBOARD;
use super::super::stage::Stage;
use super::super::traffic::wait_for_own_claim;
use super::HOUR;

/// What a throttling filter writes.
const THROTTLED: &str = "Throttled: limit of 2 exceeded";

impl Stage {
    /// What is rare.
    pub(super) fn oddities(&mut self) {
        let errand = self.errand(Kind::Search);
        self.tell("interrupted", errand, self.ago(20 * HOUR + 40), |life| {
            life.enqueue(4, None);
            life.take(60);
            life.interrupted(31 * 60_000);
            life.succeed(22_000, None);
        });
        let errand = self.errand(Kind::Nightly);
        let fault = errand.usual_fault(&mut self.rng);
        self.tell(
            "interrupted, then failed",
            errand,
            self.ago(9 * HOUR),
            |life| {
                life.enqueue(4, None);
                life.take(60);
                life.interrupted(30 * 60_000);
                life.fail(610_000, &fault);
            },
        );
        let errand = self.errand(Kind::Feed);
        self.tell("throttled", errand, self.ago(2 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(20);
            for _ in 0..2 {
                life.schedule(15, 30_000, Some(THROTTLED));
                life.release();
                life.take(20);
            }
            life.succeed(1_500, None);
        });
        for hours in [1, 5] {
            let errand = self.errand(Kind::Legacy);
            let fault = method_gone();
            self.tell(
                "class was renamed",
                errand,
                self.ago(hours * HOUR),
                |life| {
                    life.enqueue(4, None);
                    let mut after = 230;
                    for number in 1..=10 {
                        life.fail_to_begin(after, &fault);
                        let delay = Policy::Formula(10).delay(number, life.rng());
                        life.retry(10, delay.unwrap_or_default(), &fault.message);
                        life.release();
                        after = 40;
                    }
                    life.fail_to_begin(after, &fault);
                },
            );
        }
        let mut errand = self.errand(Kind::Feed);
        errand.call.own_queue = Some("critical");
        errand.queue = "default";
        self.tell(
            "own queue, delayed, done",
            errand,
            self.ago(3 * HOUR),
            |life| {
                life.schedule(5, HOUR * 1000, None);
                life.take_when_due(1_900);
                life.succeed(1_000, None);
            },
        );
        let mut errand = self.errand(Kind::Search);
        let isbns: Vec<String> = (0..1_200).map(|n| format!("978-3-16-{n:06}-0")).collect();
        errand.call.arguments = vec![Some(super::super::format::json(&isbns))];
        let fault = errand.usual_fault(&mut self.rng);
        self.tell(
            "long arguments, long trace",
            errand,
            self.ago(90 * 60),
            |life| {
                life.enqueue(4, None);
                life.take(60);
                life.fail(31_000, &fault);
                life.retry(10, 25, &fault.message);
                life.release();
                life.take(50);
                life.succeed(36_000, None);
            },
        );
        let errand = self.errand(Kind::Feed);
        self.tell("aggregate exception", errand, self.ago(50 * 60), |life| {
            life.enqueue(4, None);
            life.take(60);
            life.fail(950, &feed_refused());
            life.retry(10, 0, &feed_refused().message);
            life.take(15);
            life.fail(940, &feed_refused());
        });
    }

    /// Claims that were left in Sending.
    pub(super) fn claims_left(&mut self) {
        let errand = self.errand(Kind::Email);
        self.tell("claim in flight", errand, self.ago(15 * 60), |life| {
            let errand = life.errand().clone();
            life.enqueue(4, None);
            life.take(5_800);
            claims::take(life, &errand);
            life.fail(30_200, &mail_timeout());
            let policy = Policy::Delays(10, &[30, 300, 900]);
            wait_for_own_claim(life, &errand, policy, &mail_timeout().message, 3);
        });
        let errand = self.errand(Kind::Email);
        self.tell("stale claim, deleted", errand, self.ago(28 * 60), |life| {
            let errand = life.errand().clone();
            life.enqueue(4, None);
            life.take(900);
            claims::take(life, &errand);
            life.fail(30_150, &mail_timeout());
            life.retry(10, 36, &mail_timeout().message);
            life.delete(4_000, BY_DASHBOARD);
        });
        let errand = self.errand(Kind::Email);
        self.tell(
            "stale claim, still running",
            errand,
            self.ago(16 * 60),
            |life| {
                let errand = life.errand().clone();
                life.enqueue(4, None);
                life.take(900);
                claims::take(life, &errand);
            },
        );
        let errand = self.errand(Kind::Email);
        self.tell("stale claim, refused", errand, self.ago(43 * 60), |life| {
            let errand = life.errand().clone();
            life.enqueue(4, None);
            life.take(900);
            claims::take(life, &errand);
            life.fail(800, &mailbox_unknown());
        });
        let errand = self.errand(Kind::Email);
        self.tell(
            "stale claim, skipped",
            errand,
            self.ago(26 * HOUR),
            |life| {
                let errand = life.errand().clone();
                life.enqueue(4, None);
                life.take(700);
                claims::take(life, &errand);
                life.interrupted(31 * 60_000);
                life.succeed(12, None);
            },
        );
    }
}
