//! Every way to an end.

use super::super::catalogue::{Kind, Policy};
use super::super::faults::not_in_catalogue;
use super::super::stage::Stage;
use super::HOUR;

impl Stage {
    /// The two jobs of the article: two time-outs, then success; and a permanent error.
    pub(super) fn article(&mut self) {
        let import = self.errand(Kind::Import);
        let fault = import.usual_fault(&mut self.rng);
        self.tell("third time lucky", import, self.ago(3 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(180);
            for (ran, delay) in [(10_017, 2), (10_007, 5)] {
                life.fail(ran, &fault);
                life.retry(3, delay, &fault.message);
                life.release();
                life.take(20);
            }
            life.succeed(1_310, None);
        });
        let reconcile = self.errand(Kind::Reconcile);
        let fault = reconcile.usual_fault(&mut self.rng);
        self.tell("not retried", reconcile, self.ago(2 * HOUR + 40), |life| {
            life.enqueue(5, None);
            life.take(150);
            life.fail(210, &fault);
        });
    }

    /// Every way to an end.
    pub(super) fn endings(&mut self) {
        for (story, failures) in [("first time", 0), ("second time", 1)] {
            let errand = self.errand(Kind::Stock);
            let fault = errand.usual_fault(&mut self.rng);
            self.tell(story, errand, self.ago(5 * HOUR), |life| {
                life.enqueue(3, None);
                life.take(40);
                for _ in 0..failures {
                    life.fail(95, &fault);
                    life.retry(10, 21, &fault.message);
                    life.release();
                    life.take(12);
                }
                life.succeed(240, None);
            });
        }
        for minutes in [4, 11, 26] {
            let errand = self.errand(Kind::Import);
            let fault = errand.usual_fault(&mut self.rng);
            self.tell("gave up", errand, self.ago(minutes * 60), |life| {
                life.enqueue(4, None);
                life.take(2_300);
                for delay in [2, 5, 10] {
                    life.fail(10_020, &fault);
                    life.retry(3, delay, &fault.message);
                    life.release();
                    life.take(35);
                }
                life.fail(10_011, &fault);
            });
        }
        let errand = self.errand(Kind::Stock);
        let fault = not_in_catalogue(&errand);
        self.tell("ten retries", errand, self.ago(9 * HOUR), |life| {
            life.enqueue(4, None);
            life.take(44);
            for number in 1..=10 {
                life.fail(61, &fault);
                let delay = Policy::Formula(10).delay(number, life.rng());
                life.retry(10, delay.unwrap_or_default(), &fault.message);
                life.release();
                life.take(20);
            }
            life.fail(58, &fault);
        });
        let errand = self.errand(Kind::Recommend);
        let fault = errand.usual_fault(&mut self.rng);
        self.tell("deleted by policy", errand, self.ago(6 * HOUR), |life| {
            life.enqueue(3, None);
            life.take(70);
            for delay in [60, 300] {
                life.fail(10_030, &fault);
                life.retry(2, delay, &fault.message);
                life.release();
                life.take(25);
            }
            life.fail(10_044, &fault);
            life.delete_exceeded(&fault);
        });
    }
}
