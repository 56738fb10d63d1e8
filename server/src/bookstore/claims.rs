//! The Bookstore's idempotency claims, as its email job takes them.

use chrono::TimeDelta;
use rand::Rng;

use super::catalogue::Errand;
use super::job::Claim;
use super::life::Life;

/// How the demo's claims table is described, as it would stand below `[[source.claims]]`. The email
/// job takes a claim back by itself once it is ten minutes old.
pub const TABLE: &str = r#"
name = "emails"
table = "OutgoingEmails"
key = "IdempotencyKey"
status = "Status"
claimed_at = "ClaimedAtUtc"
provider_id = "ProviderMessageId"
sending = 0
sent = 1
cutoff = "10m"
window = "30m"
jobs = "self-reclaim"
nothing_sent_on = ["ProviderRejectedException"]
keys = [{ pattern = "invoice-email:{0}", type = "InvoiceEmailJob", methods = ["SendAsync"] }]
"#;

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
