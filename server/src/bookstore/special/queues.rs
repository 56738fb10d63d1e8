//! What waits and runs now.

use super::super::catalogue::Kind;
use super::super::stage::Stage;
use super::HOUR;

impl Stage {
    /// Retries that are due soon, and over the coming hours.
    pub(super) fn pending(&mut self) {
        // (failures so far, seconds since the last one, delay of the pending retry)
        for (failures, since, delay) in [
            (1, 9, 38),
            (2, 25, 71),
            (3, 20, 95),
            (4, 60, 202),
            (5, 30, 371),
            (6, 240, 790),
            (7, 300, 1_466),
            (8, 900, 2_604),
            (9, 2_000, 4_303),
            (10, 1_500, 6_801),
            (10, 5_700, 6_710),
        ] {
            let errand = self.errand(Kind::Stock);
            let fault = errand.usual_fault(&mut self.rng);
            let delays = earlier_delays(failures);
            // Two seconds a run: each wait is up to five seconds longer than its delay.
            let told: i64 = delays.iter().sum::<i64>() + 7 * i64::from(failures);
            self.tell("retry pending", errand, self.ago(since + told), |life| {
                life.enqueue(3, None);
                life.take(30);
                for earlier in delays {
                    life.fail(80, &fault);
                    life.retry(10, earlier, &fault.message);
                    life.release();
                    life.take(14);
                }
                life.fail(80, &fault);
                life.retry(10, delay, &fault.message);
            });
        }
    }

    /// Jobs in queues, and delayed ones.
    pub(super) fn waiting(&mut self) {
        for seconds in [1, 2, 3, 5, 8, 11, 15, 19, 24, 31, 37, 48] {
            let errand = self.errand(Kind::Import);
            self.tell("in queue", errand, self.ago(seconds), |life| {
                life.enqueue(4, None);
            });
        }
        for (kind, seconds) in [(Kind::Stock, 2), (Kind::Email, 4), (Kind::Export, 12)] {
            let errand = self.errand(kind);
            self.tell("in queue", errand, self.ago(seconds), |life| {
                life.enqueue(4, None);
            });
        }
        for hours in [2, 9, 30] {
            let errand = self.errand(Kind::Map);
            self.tell(
                "queue without server",
                errand,
                self.ago(hours * HOUR),
                |life| {
                    life.enqueue(4, None);
                },
            );
        }
        let mut errand = self.errand(Kind::Stock);
        errand.call.own_queue = Some("critical");
        errand.queue = "default";
        self.tell("own queue", errand, self.ago(6), |life| {
            life.enqueue(4, None);
        });
        for (kind, minutes) in [
            (Kind::Email, 25),
            (Kind::Feed, 90),
            (Kind::Search, 60 * 7),
            (Kind::Export, 60 * 26),
            (Kind::Feed, 60 * 75),
        ] {
            let errand = self.errand(kind);
            self.tell("delayed", errand, self.ago(HOUR), |life| {
                life.schedule(5, (minutes * 60 + HOUR) * 1000, None);
            });
        }
        let mut errand = self.errand(Kind::Feed);
        errand.call.own_queue = Some("critical");
        self.tell("delayed, own queue", errand, self.ago(HOUR), |life| {
            life.schedule(5, 3 * HOUR * 1000, None);
        });
    }

    /// Jobs that run now, and jobs whose server is gone.
    pub(super) fn running(&mut self) {
        for (kind, seconds) in [
            (Kind::Import, 2),
            (Kind::Import, 4),
            (Kind::Import, 7),
            (Kind::Import, 9),
            (Kind::Search, 25),
            (Kind::Export, 14),
            (Kind::Cover, 5),
            (Kind::Nightly, 640),
        ] {
            let errand = self.errand(kind);
            self.tell("running", errand, self.ago(seconds), |life| {
                life.enqueue(3, None);
                life.take(80);
            });
        }
        let errand = self.errand(Kind::Export);
        let fault = errand.usual_fault(&mut self.rng);
        self.tell("running, second attempt", errand, self.ago(70), |life| {
            life.enqueue(3, None);
            life.take(60);
            life.fail(1_090, &fault);
            life.retry(10, 33, &fault.message);
            life.release();
            life.take(30);
        });
        for (kind, minutes) in [(Kind::Import, 7), (Kind::Search, 9), (Kind::Stock, 24)] {
            let errand = self.errand(kind);
            self.tell("orphaned", errand, self.ago(minutes * 60), |life| {
                life.enqueue(3, None);
                life.take_on_dead_server(50);
            });
        }
    }
}

/// Delays of the retries before the last failure, from the middle of the formula's bands.
fn earlier_delays(failures: u32) -> Vec<i64> {
    (1..i64::from(failures))
        .map(|n| (n - 1).pow(4) + 15 + 14 * n)
        .collect()
}
