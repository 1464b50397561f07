//! Checks the environment: cache, store of the repository, watches.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::doctor::finding::{Finding, Verdict};
use crate::output::numbers::{bytes, grouped};
use cograph_config::{Config, Repository};
use cograph_model::cancel::CancelToken;
use cograph_store::{Location, Store, StoreError, StoreErrorKind, bytes_taken, check_owner};
use cograph_system::{machine, owner};
use cograph_watch::{Watch, WatchError};
use {cograph_index as index, cograph_source as source};

/// Free disk space below which there is a warning, in bytes.
const LOW_DISK_SPACE: u64 = 200 << 20;

/// All checks of the environment.
pub(super) fn all(config: &Config, repository: &Repository, patience: Duration) -> Vec<Finding> {
    let location = Location::new(&repository.cache, &repository.root).under(repository.rules);
    let cache = cache(config, &repository.cache);
    // With a broken cache every store is broken.
    let store = (cache.verdict != Verdict::Problem).then(|| store(config, &location, patience));
    let watches = watches(config, &repository.root, patience);
    [Some(cache), store, Some(watches)].into_iter().flatten().collect()
}

/// Runs `work` with a token that is cancelled after a timeout.
fn within<T>(time: Duration, work: impl FnOnce(&CancelToken) -> T) -> T {
    let (token, done) = (CancelToken::new(), CancelToken::new());
    std::thread::scope(|scope| {
        let timer =
            std::thread::Builder::new().name("timer".to_owned()).spawn_scoped(scope, || {
                if !done.wait(time) {
                    token.cancel();
                }
            });
        let result = work(&token);
        done.cancel();
        // Without a timer thread there is no timeout.
        drop(timer);
        result
    })
}

fn cache(config: &Config, directory: &Path) -> Finding {
    let area = "cache";
    let shown = directory.display();
    let fix = "make it writable for this user, or set COGRAPH_CACHE_DIR to a directory that is";
    if let Err(error) = check_owner(directory) {
        return Finding::problem(
            area,
            error.to_string(),
            "set COGRAPH_CACHE_DIR to a directory of this user's",
        );
    }
    if let Err(why) = try_writing(directory) {
        return Finding::problem(area, format!("{shown} cannot be written: {why}"), fix);
    }
    let existing = directory.ancestors().find(|path| path.is_dir()).unwrap_or(directory);
    let free = machine::free_bytes(existing);
    let taken = bytes_taken(directory).unwrap_or_default();
    let text = format!(
        "{shown}: {} taken of {}{}",
        bytes(taken),
        bytes(config.limits.cache_bytes),
        free.map(|free| format!(", {} free", bytes(free))).unwrap_or_default()
    );
    let remote = source::remote_kind(existing);
    let finding = if let Some(kind) = remote {
        let text = format!(
            "{text}; it is on {kind}, where two machines that write the same index can damage it"
        );
        Finding::note(
            area,
            text,
            "set COGRAPH_CACHE_DIR to a directory of this machine, or use it from one machine only",
        )
    } else if free.is_some_and(|free| free < LOW_DISK_SPACE) {
        Finding::problem(
            area,
            text,
            "make room on the device, or set COGRAPH_CACHE_DIR to another one",
        )
    } else {
        Finding::good(area, text)
    };
    let finding = finding.with("taken_bytes", taken);
    match free {
        Some(free) => finding.with("free_bytes", free),
        None => finding,
    }
}

/// Checks that files can be created in a directory, or that the directory can be created.
fn try_writing(directory: &Path) -> Result<(), String> {
    if !directory.exists() {
        let above = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        if !above.is_dir() {
            return Err(format!("{} is not a directory", above.display()));
        }
        return owner::may_create_in(above)
            .map_err(|error| format!("{}: {error}", above.display()));
    }
    let trial = directory.join(format!(".doctor-{}", std::process::id()));
    File::create(&trial).map_err(|error| error.to_string())?;
    // Best effort: an empty file that remains is harmless.
    let _ = std::fs::remove_file(trial);
    Ok(())
}

fn store(config: &Config, location: &Location, patience: Duration) -> Finding {
    let area = "store";
    let store = match Store::open_newest(location) {
        Ok(store) => Arc::new(store),
        Err(error) if error.kind == StoreErrorKind::Missing => {
            return Finding::note(
                area,
                "there is no index of this repository yet",
                "the first question makes it, or `cograph index`",
            );
        }
        Err(error) => return broken(area, &error),
    };
    let begun = Instant::now();
    let checked = match within(patience, |token| store.verify(token)) {
        Ok(()) => format!("whole (checked in {:.1} s)", begun.elapsed().as_secs_f32()),
        Err(error) if error.kind == StoreErrorKind::Cancelled || begun.elapsed() >= patience => {
            format!("not checked to the end in {} s", patience.as_secs())
        }
        Err(error) => return broken(area, &error),
    };
    let (meta, identity) = (store.meta(), store.identity());
    let text = format!(
        "generation {}, {}, {}; {} files, {} symbols; made by rules {:016x}",
        identity.generation,
        bytes(store.bytes()),
        checked,
        grouped(meta.files),
        grouped(meta.symbols),
        meta.fingerprint,
    );
    let finding = if meta.fingerprint == index::fingerprint(&config.limits, location.directory()) {
        Finding::good(area, text)
    } else {
        Finding::note(
            area,
            format!("{text}, which are not those of this program"),
            "the next question builds it again",
        )
    };
    finding.with("generation", identity.generation).with("store_bytes", store.bytes())
}

fn broken(area: &str, error: &StoreError) -> Finding {
    let hint = match error.kind {
        StoreErrorKind::Permission => "make the file readable for this user",
        StoreErrorKind::Foreign => "move the file away: it is not ours",
        _ => "build it again with `cograph index --force`",
    };
    Finding::problem(area, error.to_string(), hint)
}

fn watches(config: &Config, root: &Path, patience: Duration) -> Finding {
    let area = "watcher";
    let limit = system_limit("max_user_watches")
        .map(|limit| format!("; the system allows {}", grouped(limit)))
        .unwrap_or_default();
    match within(patience, |token| Watch::start(root, config.limits.threads, token)) {
        Ok(watch) => {
            let text =
                format!("{} directories are watched{limit}", grouped(watch.directories() as u64));
            Finding::good(area, text).with("directories", watch.directories() as u64)
        }
        Err(error @ WatchError::Limit { .. }) => Finding::problem(
            area,
            format!("{error}; every question compares all files instead{limit}"),
            "raise it: sysctl fs.inotify.max_user_watches=1048576 \
             fs.inotify.max_user_instances=1024",
        ),
        Err(error) => Finding::problem(
            area,
            format!("{error}; every question compares all files instead"),
            "nothing, if the file system cannot be watched; questions take longer in large \
             repositories",
        ),
    }
}

/// System limit on inotify watches.
fn system_limit(name: &str) -> Option<u64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "reads a number of the system, not a repository's source"
    )]
    let text = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
    text.trim().parse().ok()
}
