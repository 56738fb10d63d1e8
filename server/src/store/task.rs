//! Actions in tasks of their own.

use app::actions::Outcome;
use app::ports::error::StoreError;
use uuid::Uuid;

/// Runs an action to its end, whatever becomes of whoever waits for it: a browser that goes away
/// drops the handler's future, and must not leave an action half-way.
///
/// # Errors
/// The action's.
pub(super) async fn to_its_end(
    audit: Uuid,
    action: impl Future<Output = Result<Outcome, StoreError>> + Send + 'static,
) -> Result<Outcome, StoreError> {
    tokio::spawn(action).await.unwrap_or_else(|error| {
        tracing::error!(%audit, %error, "an action broke off");
        Ok(Outcome::Unknown {
            why: format!(
                "The action broke off. Look whether the audit holds {audit}: it does if and only \
                 if the action happened."
            ),
        })
    })
}
