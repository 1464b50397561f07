//! Files whose parse takes more time or memory than files of their size may take: they are left out
//! and named, others do not wait for them, and what may pass another time is tried again.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use cograph::extract::{Exhausted, Limits as ExtractLimits, extract};
use cograph::grammar;
use cograph::index::{Outcome, Run, retry_slow};
use cograph::model::cancel::CancelToken;
use cograph::model::{RepoPath, SkipReason};
use cograph::system::allocator::heap_bytes;
use cograph::system::clock::thread_cpu;

use super::setup::{Repository, file, limits, skipped, symbols};

const ORDINARY: &[u8] = b"def f():\n    return g()\n\ndef g():\n    pass\n";

fn extracted(path: &str, text: &str, limits: ExtractLimits) -> Result<usize, Exhausted> {
    let path = RepoPath::new(path).expect("well formed");
    let language = grammar::detect(&path, text.as_bytes(), &[]).expect("a known ending");
    extract(language, path.as_str(), text.as_bytes(), limits).map(|facts| facts.symbols.len())
}

#[test]
fn error_recovery_ends_at_the_budget() {
    let cases = [("a.py", "", "/*\n"), ("c.cs", "", "a<\n"), ("d.jl", "x = ", "| a\n")];
    for (path, start, unit) in cases {
        let text = format!("{start}{}", unit.repeat(20_000));
        let (cpu, heap) = (thread_cpu(), heap_bytes());
        assert!(extracted(path, &text, ExtractLimits::default()).is_err(), "{path}");
        let took = thread_cpu() - cpu;
        assert!(took < Duration::from_secs(4), "{path}: {took:?}");
        let kept = heap_bytes() - heap;
        assert!(kept < 8 << 20, "{path}: the abandoned parse keeps {kept} bytes");
        assert_eq!(extracted("ok.py", "def f(): pass\n", ExtractLimits::quick()), Ok(1));
    }
}

#[test]
fn slow_files_are_left_to_a_run_of_their_own() {
    let slow = format!("x = {}", "| a\n".repeat(15_000));
    let repository = Repository::with(&[
        ("slow.jl", slow.as_bytes()),
        ("ok.py", ORDINARY),
        ("other/slow.jl", slow.as_bytes()),
    ]);
    let cancel = CancelToken::new();
    let run = Run::quiet(limits(), &cancel);
    let store = repository.indexed(&run).expect("the run goes on");
    assert_eq!(symbols(&store, "ok.py"), ["f", "g"]);
    for path in ["slow.jl", "other/slow.jl"] {
        assert_eq!(skipped(&store, path), SkipReason::Deferred);
        assert_ne!(file(&store, path).hash, 0, "its contents are known: it is not read again");
    }
    assert_eq!(store.left_out().expect("readable"), (2, 0));
    drop(store);

    let patience = Duration::from_secs(60);
    let outcome = retry_slow(&repository.location(), patience, &run).expect("the run goes on");
    assert!(matches!(outcome, Some(Outcome::Published { .. })), "{outcome:?}");
    let store = repository.indexed(&run).expect("nothing has changed");
    for path in ["slow.jl", "other/slow.jl"] {
        assert_eq!(skipped(&store, path), SkipReason::TooSlow);
    }
    assert_eq!(store.left_out().expect("readable"), (0, 2));
    drop(store);

    repository.write("other/slow.jl", b"f(x) = x\n");
    let store = repository.indexed(&run).expect("the run goes on");
    assert_eq!(symbols(&store, "other/slow.jl"), ["f"]);
    assert_eq!(store.left_out().expect("readable"), (0, 1));
}

/// CPU time of a first index of a number of slow files and one ordinary file.
fn cpu_of_first_index(slow: usize) -> Duration {
    let text = format!("x = {}", "| a\n".repeat(20_000));
    let names: Vec<String> = (0..slow).map(|number| format!("slow{number}.jl")).collect();
    let slow = names.iter().map(|name| (name.as_str(), text.as_bytes()));
    let files: Vec<(&str, &[u8])> = slow.chain([("ok.py", ORDINARY)]).collect();
    let repository = Repository::with(&files);
    let cancel = CancelToken::new();
    let used = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.try_into().expect("below 1e9"))
    };
    let before = used();
    let store = repository.indexed(&Run::quiet(limits(), &cancel)).expect("the run goes on");
    let took = used() - before;
    assert_eq!(symbols(&store, "ok.py"), ["f", "g"]);
    assert!(names.iter().all(|name| skipped(&store, name) == SkipReason::Deferred));
    took
}

#[test]
fn many_slow_files_take_little_more_time_of_the_first_index_than_some() {
    let (some, many) = (cpu_of_first_index(3), cpu_of_first_index(36));
    assert!(many < some * 7, "3 files: {some:?}, 36 files: {many:?}");
}
