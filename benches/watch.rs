//! What it costs to know the changes up to a question: the queue of the system, which the question
//! drains itself, beside the `notify` crate, whose thread reads ahead. The crate has reported
//! everything so far once it has reported a cookie: a file that the question makes in a directory
//! of the same watcher.
//!
//!     cargo bench --bench watch -- DIRECTORY [ROUNDS]
//!
//! Each round writes a file in the directory, which should be a copy of a repository, and asks both
//! in turn. A round fails the run if either misses the file.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark stands outside of the program: it prints and writes files"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cograph::model::cancel::CancelToken;
use cograph::watch::Watch;
use notify::{Config, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How long a cookie is waited for before everything would have to be looked at.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the thread of the crate has read ahead.
#[derive(Default)]
struct Ahead {
    paths: BTreeSet<PathBuf>,
    cookie: Option<PathBuf>,
}

/// The crate, watching the directories of a repository and one for cookies.
struct Crate {
    cookies: tempfile::TempDir,
    ahead: Arc<(Mutex<Ahead>, Condvar)>,
    _watcher: RecommendedWatcher,
}

fn main() -> Outcome<()> {
    // cargo adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let root = PathBuf::from(arguments.first().ok_or("which directory?")?).canonicalize()?;
    let rounds: usize = arguments.get(1).map_or(Ok(2_000), |rounds| rounds.parse())?;
    let cancel = CancelToken::new();
    let start = Instant::now();
    let mut queue = Watch::start(&root, 2, &cancel)?;
    println!("queue:  {} directories in {:.1} ms", queue.directories(), milliseconds(start));
    let start = Instant::now();
    let other = Crate::start(&root)?;
    println!("notify: all directories in {:.1} ms", milliseconds(start));

    let file = root.join("written-by-the-benchmark.txt");
    let (mut of_queue, mut of_crate, mut late) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds {
        fs::write(&file, round.to_string())?;
        let start = Instant::now();
        let hints = queue.drain(&cancel)?;
        of_queue.push(milliseconds(start));
        if !hints.paths.iter().any(|path| path.as_str() == "written-by-the-benchmark.txt") {
            return Err("the queue missed the file".into());
        }
        let start = Instant::now();
        match other.drain(round)? {
            Some(paths) if !paths.contains(&file) => return Err("notify missed the file".into()),
            Some(_) => {}
            None => late += 1,
        }
        of_crate.push(milliseconds(start));
    }
    fs::remove_file(&file)?;
    print("queue", &mut of_queue);
    print("notify with a cookie", &mut of_crate);
    println!("cookies that did not come in {PATIENCE:?}: {late} of {rounds}");
    Ok(())
}

impl Crate {
    fn start(root: &Path) -> Outcome<Self> {
        let cookies = tempfile::tempdir()?;
        let ahead: Arc<(Mutex<Ahead>, Condvar)> = Arc::default();
        let (writer, place) = (Arc::clone(&ahead), cookies.path().to_owned());
        let take_in = move |event: notify::Result<notify::Event>| {
            let mut ahead = writer.0.lock().unwrap_or_else(PoisonError::into_inner);
            for path in event.into_iter().flat_map(|event| event.paths.clone()) {
                if path.parent() == Some(&place) {
                    ahead.cookie = Some(path);
                    writer.1.notify_all();
                } else {
                    ahead.paths.insert(path);
                }
            }
        };
        // The mask leaves reads out, as the queue does.
        let config = Config::default().with_event_kinds(EventKindMask::CORE);
        let mut watcher = RecommendedWatcher::new(take_in, config)?;
        watcher.watch(cookies.path(), RecursiveMode::NonRecursive)?;
        let mut left = vec![root.to_owned()];
        while let Some(directory) = left.pop() {
            watcher.watch(&directory, RecursiveMode::NonRecursive)?;
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
                    left.push(entry.path());
                }
            }
        }
        Ok(Self { cookies, ahead, _watcher: watcher })
    }

    /// The paths reported up to now; none if the cookie did not come.
    fn drain(&self, round: usize) -> Outcome<Option<BTreeSet<PathBuf>>> {
        let cookie = self.cookies.path().join(round.to_string());
        fs::write(&cookie, "")?;
        let (lock, arrival) = &*self.ahead;
        let ahead = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = |ahead: &mut Ahead| ahead.cookie.as_ref() != Some(&cookie);
        let (mut ahead, waited) = arrival
            .wait_timeout_while(ahead, PATIENCE, is_due)
            .unwrap_or_else(PoisonError::into_inner);
        let paths = std::mem::take(&mut ahead.paths);
        drop(ahead);
        fs::remove_file(&cookie)?;
        Ok((!waited.timed_out()).then_some(paths))
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn print(name: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let most = times.last().copied().unwrap_or_default();
    println!("{name}: p50 {:.3} ms, p99 {:.3} ms, most {most:.3} ms", at(50), at(99));
}
