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
    let broken_off = |why| Ok(Outcome::Unknown { why });
    whole(audit, broken_off, action).await
}

/// The same for an action with another kind of outcome: `broken_off` makes the one that says why
/// nobody knows what became of it.
pub(super) async fn whole<O: Send + 'static>(
    audit: Uuid,
    broken_off: impl FnOnce(String) -> O,
    action: impl Future<Output = O> + Send + 'static,
) -> O {
    tokio::spawn(action).await.unwrap_or_else(|error| {
        tracing::error!(%audit, %error, "an action broke off");
        broken_off(format!(
            "The action broke off. Look whether the audit holds {audit}: it does if and only if \
             the action happened."
        ))
    })
}
