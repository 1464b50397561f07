//! Memory bound of HTTP requests before a session has them: one budget for the buffers of all
//! connections and all bodies in transit, and reading a body within it.

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Budget of all connections and bodies, in bytes.
pub(crate) const BUDGET: usize = 64 << 20;
/// Share of a connection for its lifetime, in bytes: read and write buffers.
pub(crate) const CONNECTION: usize = 64 << 10;
/// Maximum size of each of a connection's two buffers, and thereby of a request's head, in bytes.
pub(crate) const BUFFER: usize = CONNECTION / 2;
/// Maximum length of a body outside of a session, in bytes.
pub(crate) const BEFORE_SESSION: usize = 1 << 20;

/// Length up to which an oversized body is read and discarded, in bytes: closing a connection with
/// unread data would discard the error response.
pub(crate) const DROPPED: usize = 16 << 20;

/// Memory budget. Clones share it.
#[derive(Clone)]
pub(super) struct Budget(Arc<Semaphore>);

/// Share of the budget; released on drop.
pub(super) type Share = OwnedSemaphorePermit;

/// Bytes per semaphore permit: a semaphore counts to 2^29.
const UNIT: usize = 1 << 10;

impl Budget {
    /// The whole budget.
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(BUDGET / UNIT)))
    }

    /// Acquires this number of bytes, if available.
    pub(super) fn take(&self, bytes: usize) -> Option<Share> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(units).ok()
    }
}

/// Reads a body as one line, of at most `most` bytes and `within` the timeout. It occupies the
/// budget until its share is dropped.
pub(super) async fn read(
    mut body: Incoming,
    most: usize,
    within: Duration,
    budget: &Budget,
) -> Result<(Vec<u8>, Option<Share>), (StatusCode, &'static str)> {
    const TOO_LONG: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the message is too long");
    let (mut line, mut share) = (Vec::new(), None::<Share>);
    let collect = async {
        if body.size_hint().lower() > most as u64 {
            drop_rest(&mut body).await;
            return Err(TOO_LONG);
        }
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, "the message was cut off"))?;
            let Some(data) = frame.data_ref() else { continue };
            if line.len() + data.len() > most {
                drop_rest(&mut body).await;
                return Err(TOO_LONG);
            }
            let before = line.capacity();
            line.reserve(data.len());
            if let Some(grown) = line.capacity().checked_sub(before).filter(|&grown| grown > 0) {
                let more = budget.take(grown).ok_or((
                    StatusCode::SERVICE_UNAVAILABLE,
                    "busy: too many messages are on their way",
                ))?;
                match &mut share {
                    Some(share) => share.merge(more),
                    None => share = Some(more),
                }
            }
            // Replaces line ends by spaces: in JSON they occur between tokens only.
            line.extend(
                data.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
            );
        }
        Ok(())
    };
    timeout(within, collect)
        .await
        .map_err(|_| (StatusCode::REQUEST_TIMEOUT, "the message does not come"))??;
    Ok((line, share))
}

/// Reads and discards the rest of a body, up to a limit.
async fn drop_rest(body: &mut Incoming) {
    let mut left = DROPPED;
    if body.size_hint().lower() > left as u64 {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, |data| data.len())) {
            Some(less) => left = less,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_one_for_all_and_comes_back() {
        let budget = Budget::new();
        let most = BUDGET / CONNECTION;
        let connections: Vec<Share> = (0..most).map_while(|_| budget.take(CONNECTION)).collect();
        assert_eq!(connections.len(), most);
        assert!(budget.clone().take(1).is_none(), "clones share it, and a byte counts as one unit");
        drop(connections);
        assert!(budget.take(BUDGET).is_some() && budget.take(BUDGET + 1).is_none());
    }
}
