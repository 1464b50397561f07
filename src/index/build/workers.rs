//! Thread pool of a run. Items are processed in the given order, largest files first, so that no
//! core is idle at the end.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::build::context::RunContext;
use crate::outcome::IndexError;
use cograph_config::Limits;
use cograph_model::panics::guarded;

/// A pool of its own: it needs large stacks and an empty queue.
pub(crate) struct Workers {
    pool: rayon::ThreadPool,
}

impl Workers {
    pub(crate) fn start(root: &Path, limits: &Limits) -> Result<Self, IndexError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(limits.threads)
            .stack_size(limits.stack_bytes)
            .start_handler({
                let bytes = limits.stack_bytes;
                move |_| cograph_resolve::limit_stack(bytes)
            })
            .thread_name(|number| format!("index-{number}"))
            .build();
        let failed = |error: rayon::ThreadPoolBuildError| IndexError::Threads {
            threads: limits.threads,
            root: root.into(),
            reason: error.to_string(),
        };
        pool.map(|pool| Self { pool }).map_err(failed)
    }

    /// Runs `work` on one of the threads, for its stack size. A panic becomes its message.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        self.pool.install(|| guarded(work))
    }

    /// Applies `work` to every item of `order` and returns the results with their items, unordered.
    /// Returns fewer results when the run is cancelled.
    pub(crate) fn map<T: Send>(
        &self,
        order: &[usize],
        run: &RunContext,
        work: impl Fn(usize) -> T + Sync,
    ) -> Vec<(usize, T)> {
        let next = AtomicUsize::new(0);
        let parts = self.pool.broadcast(|_| {
            let mut results = Vec::new();
            while let Some(&item) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                if run.cancel.is_cancelled() {
                    break;
                }
                results.push((item, work(item)));
            }
            results
        });
        parts.into_iter().flatten().collect()
    }
}
