//! Traversal of a directory tree by several threads. A thread that the system does not provide
//! makes it slower, nothing else: the traversal ends whatever fails.

use std::path::PathBuf;

/// Calls `list` once for `top`, and once for every directory that a call returns.
pub(super) fn traverse(
    top: PathBuf,
    threads: usize,
    list: &(impl Fn(&PathBuf) -> Vec<PathBuf> + Sync),
) {
    if threads > 1 {
        let started = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("walk-{number}"))
            .build();
        match started {
            Ok(pool) => return pool.scope(|scope| spread(scope, &top, list)),
            Err(error) => tracing::warn!(%error, "one thread lists the files: it takes longer"),
        }
    }
    let mut directories = vec![top];
    while let Some(directory) = directories.pop() {
        directories.extend(list(&directory));
    }
}

fn spread<'s>(
    scope: &rayon::Scope<'s>,
    directory: &PathBuf,
    list: &'s (impl Fn(&PathBuf) -> Vec<PathBuf> + Sync),
) {
    for below in list(directory) {
        scope.spawn(move |scope| spread(scope, &below, list));
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// Directories visited of a tree of two levels.
    fn visited(threads: usize) -> Vec<String> {
        let seen = Mutex::new(Vec::new());
        traverse(PathBuf::from("top"), threads, &|directory: &PathBuf| {
            seen.lock().push(directory.display().to_string());
            let depth = directory.components().count();
            (0..3).filter(|_| depth < 3).map(|number| directory.join(number.to_string())).collect()
        });
        let mut seen = seen.into_inner();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn every_directory_is_listed_once() {
        let alone = visited(1);
        assert_eq!((alone.len(), &*alone[5]), (13, "top/1"));
        assert_eq!(visited(4), alone);
    }
}
