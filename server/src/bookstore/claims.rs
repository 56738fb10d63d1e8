//! The Bookstore's idempotency claims, as its email job takes them.

use chrono::TimeDelta;
use rand::Rng;

use super::catalogue::Errand;
use super::job::Claim;
use super::life::Life;

/// The running attempt takes the claim, the moment it begins: its row
/// in the job system is written a little later.
pub(super) fn take(life: &mut Life<'_>, errand: &Errand) {
    if life.is_over() {
        return;
    }
    let claimed_at = life.at() - TimeDelta::microseconds(life.ms(100, 900));
    let claimed_ticks = life.ms(0, 10);
    life.claim(Claim {
        key: errand.key.clone(),
        sent: false,
        claimed_at,
        claimed_ticks,
        message_id: None,
    });
}

/// The provider has answered; nothing happens where the story did not come to that.
pub(super) fn sent(life: &mut Life<'_>) {
    let id: u32 = life.rng().random();
    life.claim_sent(format!("msg-{id:08x}"));
}

/// The age of the job's claim at the last row, in seconds.
pub(super) fn age_s(life: &Life<'_>) -> i64 {
    life.claimed_at()
        .map_or(0, |claimed_at| (life.at() - claimed_at).num_seconds())
}
