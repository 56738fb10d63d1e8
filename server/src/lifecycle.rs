//! Starting, and stopping within two seconds.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Open pages and streams get this long after the signal; then they are cut.
pub const DRAIN: Duration = Duration::from_millis(1_500);

/// A token that is cancelled by the first SIGTERM or SIGINT.
///
/// # Errors
/// Where the system does not let us listen for signals.
pub fn stop_on_signal() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let token = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        token.cancel();
    });
    Ok(stop)
}
