//! What operators do, and jobs that wait for other jobs.

use chrono::TimeDelta;

use super::super::catalogue::Kind;
use super::super::claims;
use super::super::faults::feed_refused;
use super::super::life::BY_DASHBOARD;
use super::super::stage::Stage;
use super::HOUR;

impl Stage {
    /// What people do.
    pub(super) fn operators(&mut self) {
        let errand = self.errand(Kind::Import);
        let fault = errand.usual_fault(&mut self.rng);
        self.tell("requeued twice", errand, self.ago(8 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(400);
            for delay in [2, 5, 10] {
                life.fail(10_020, &fault);
                life.retry(3, delay, &fault.message);
                life.release();
                life.take(35);
            }
            life.fail(10_013, &fault);
            life.enqueue(35 * 60_000, Some(BY_DASHBOARD));
            life.take(120);
            life.fail(10_018, &fault);
            life.enqueue(
                50 * 60_000,
                Some("Requeued by m.keller via Redrive: supplier is back"),
            );
            life.take(90);
            life.succeed(2_140, None);
        });
        let errand = self.errand(Kind::Stock);
        let fault = errand.usual_fault(&mut self.rng);
        self.tell("released by hand", errand, self.ago(4 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(30);
            for (number, delay) in [(1, 22), (2, 61), (3, 88), (4, 150)] {
                life.fail(70, &fault);
                life.retry(10, delay, &fault.message);
                if number < 4 {
                    life.release();
                } else {
                    life.release_by_hand(48_000, BY_DASHBOARD);
                }
                life.take(25);
            }
            life.succeed(310, None);
        });
        let errand = self.errand(Kind::Export);
        self.tell("deleted while it ran", errand, self.ago(5 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(300);
            life.delete(14_200, BY_DASHBOARD);
        });
        let errand = self.errand(Kind::Feed);
        self.tell(
            "deleted by an operator",
            errand,
            self.ago(7 * HOUR),
            |life| {
                life.enqueue(4, None);
                life.take(50);
                life.fail(900, &feed_refused());
                life.retry(10, 31, &feed_refused().message);
                life.delete(9_000, "Deleted by m.keller via Redrive: offers are gone");
            },
        );
        let errand = self.errand(Kind::Cover);
        self.tell(
            "run again after success",
            errand,
            self.ago(11 * HOUR),
            |life| {
                life.enqueue(4, None);
                life.take(50);
                life.succeed(2_100, None);
                life.enqueue(3_000_000, Some(BY_DASHBOARD));
                life.take(45);
                life.succeed(1_900, None);
            },
        );
        let errand = self.errand(Kind::Search);
        self.tell(
            "requeued while it ran",
            errand,
            self.ago(12 * HOUR),
            |life| {
                life.enqueue(4, None);
                life.take(50);
                life.enqueue(20_000, Some(BY_DASHBOARD));
                life.take(60);
                life.succeed(18_000, None);
            },
        );
    }

    /// Jobs that wait for other jobs.
    pub(super) fn continuations(&mut self) {
        for hours in [1, 4, 10] {
            let email = self.errand(Kind::Email);
            let number: u32 = email.subject.parse().unwrap_or(1);
            let created = self.ago(hours * HOUR);
            let parent = self.tell("email with a continuation", email, created, |life| {
                let errand = life.errand().clone();
                life.enqueue(4, None);
                life.take(700);
                claims::take(life, &errand);
                life.succeed(800, None);
                claims::sent(life);
            });
            let timeline = Kind::Timeline.errand_for(&mut self.rng, number);
            let created = created + TimeDelta::milliseconds(20);
            let child = self.tell("continued", timeline, created, |life| {
                life.wait_for(parent, 1);
                // The parent's worker releases it a moment before it writes its own row.
                life.enqueue(1_470, None);
                life.take(40);
                life.succeed(60, None);
            });
            self.continue_with(parent, child, 1);
        }
        let export = self.errand(Kind::Export);
        let fault = export.usual_fault(&mut self.rng);
        let created = self.ago(3 * HOUR);
        let parent = self.tell("failed parent", export, created, |life| {
            life.enqueue(4, None);
            life.take(300);
            life.fail(1_200, &fault);
        });
        for (after, options) in [(15, 1), (22, 0), (31, 2)] {
            let feed = self.errand(Kind::Feed);
            let created = created + TimeDelta::milliseconds(after);
            let child = self.tell("waits for a failed parent", feed, created, |life| {
                life.wait_for(parent, options);
            });
            self.continue_with(parent, child, options);
        }
    }
}
