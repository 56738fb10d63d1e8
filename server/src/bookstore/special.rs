//! The jobs that are told one by one, so that the demo holds every kind of life a job can have,
//! whatever its size.

mod endings;
mod people;
mod queues;
mod rare;

use super::stage::Stage;

const HOUR: i64 = 3_600;

impl Stage {
    /// Tells all of them.
    pub(super) fn specials(&mut self) {
        self.article();
        self.endings();
        self.pending();
        self.waiting();
        self.running();
        self.operators();
        self.continuations();
        self.oddities();
        self.claims_left();
    }
}
