//! Parallel map over files with results consumed in the order of the files. Independent of the
//! work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::graph::error::QueryError;
use cograph_model::cancel::CancelToken;
use cograph_store::FileRow;

/// Maximum number of threads: one question must not occupy a large machine.
const MAX_THREADS: usize = 8;
/// Files per work item.
const BATCH: usize = 32;

/// Applies a function, created for each thread by `worker`, to every file and passes the results to
/// `take` on this thread, in the order of the files. Ends early if the question is cancelled or
/// `take` fails.
pub(crate) fn in_order<T: Send, W: FnMut(&FileRow) -> T>(
    files: &[FileRow],
    cancel: &CancelToken,
    worker: impl Fn() -> W + Sync,
    take: &mut impl FnMut(&FileRow, T) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS)
        .min(files.len().div_ceil(BATCH));
    if threads <= 1 {
        let mut work = worker();
        return files.iter().try_for_each(|file| take(file, work(file)));
    }
    let next = AtomicUsize::new(0);
    // Bounded: a thread far ahead blocks until the consumer catches up.
    let (results, taken) = sync_channel::<(usize, Vec<T>)>(threads * 2);
    let run = |results: SyncSender<(usize, Vec<T>)>| {
        let mut work = worker();
        while !cancel.is_cancelled() {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(part) =
                files.get(first..files.len().min(first + BATCH)).filter(|part| !part.is_empty())
            else {
                break;
            };
            // The consumer has stopped.
            if results.send((first, part.iter().map(&mut work).collect())).is_err() {
                break;
            }
        }
    };
    let expected = thread::scope(|scope| {
        for number in 0..threads {
            let (results, run) = (results.clone(), &run);
            let spawned = thread::Builder::new()
                .name(format!("grep-{number}"))
                .spawn_scoped(scope, move || run(results));
            if let Err(error) = spawned {
                tracing::warn!(%error, "a thread that searches files could not be started: it \
                                        takes longer");
            }
        }
        drop(results);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        // Consumed by value: the channel closes on an early end, which stops the threads.
        for (first, part) in taken {
            early.insert(first, part);
            while let Some(part) = early.remove(&expected) {
                for (file, result) in files[expected..].iter().zip(part) {
                    take(file, result)?;
                }
                expected += BATCH;
            }
        }
        Ok::<usize, QueryError>(expected)
    })?;
    if cancel.is_cancelled() {
        return Err(QueryError::Cancelled);
    }
    // Nothing is left unless no thread could be started.
    let mut work = worker();
    files.get(expected..).unwrap_or_default().iter().try_for_each(|file| take(file, work(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::RepoPath;
    use cograph_store::FileKey;

    fn files(count: u32) -> Vec<FileRow> {
        let file = |number: u32| FileRow {
            key: FileKey(number),
            path: RepoPath::new(&format!("f{number}")).expect("a path"),
            language: None,
            size: 0,
            modified_ns: 0,
            changed_ns: 0,
            inode: 0,
            hash: 0,
            lines: 0,
            skipped: None,
            generated: false,
            test: false,
            first_symbol: 0,
            symbols: 0,
            first_site: 0,
            sites: 0,
            verdicts: [0; cograph_model::Verdict::ALL.len()],
            package: None,
        };
        (0..count).map(file).collect()
    }

    #[test]
    fn results_come_in_order_and_each_once() {
        for count in [0, 1, 15, 16, 17, 1_000] {
            let files = files(count);
            let mut taken = Vec::new();
            in_order(
                &files,
                &CancelToken::new(),
                || |file: &FileRow| file.key.0 * 2,
                &mut |file, double| {
                    assert_eq!(double, file.key.0 * 2);
                    taken.push(file.key.0);
                    Ok(())
                },
            )
            .expect("nothing fails");
            assert_eq!(taken, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_ends_it_and_so_does_the_token() {
        let files = files(5_000);
        let mut taken = 0;
        let result = in_order(&files, &CancelToken::new(), || |_: &FileRow| (), &mut |_, ()| {
            taken += 1;
            if taken == 3 { Err(QueryError::Sql { reason: "enough".to_owned() }) } else { Ok(()) }
        });
        assert!(matches!(result, Err(QueryError::Sql { .. })) && taken == 3, "{taken}");
        let cancel = CancelToken::new();
        let result = in_order(
            &files,
            &cancel,
            || {
                |file: &FileRow| {
                    if file.key.0 == 100 {
                        cancel.cancel()
                    }
                }
            },
            &mut |_, ()| Ok(()),
        );
        assert!(matches!(result, Err(QueryError::Cancelled)));
    }
}
