//! How far a change reaches: how many files are resolved again for it, when what is left of them is
//! right.

use std::sync::atomic::{AtomicU64, Ordering};

use cograph::index::{Phase, Progress, Run, refresh};

use super::{PATIENCE, Repository, limits};

/// Takes a change in and gives the number of files that were resolved for it.
fn resolved_after(repository: &Repository, path: &str, text: &str) -> u64 {
    std::fs::write(repository.root().join(path), text).expect("written");
    let resolved = AtomicU64::new(0);
    let progress = |progress: Progress| {
        if progress.phase == Phase::Resolve {
            resolved.store(progress.total, Ordering::Relaxed);
        }
    };
    let residents = Some(&repository.residents);
    let run = Run { residents, progress: &progress, ..Run::quiet(limits(2), &repository.cancel) };
    refresh(&repository.location("kept"), PATIENCE, &run).expect("nothing stands in the way");
    assert_eq!(repository.dump("kept"), repository.fresh(), "{path}: {text}");
    resolved.into_inner()
}

#[test]
fn a_function_that_no_other_file_could_name_reaches_its_own_file_alone() {
    let repository = Repository::new();
    let one = "def one():\n    return 1\n";
    let two = "\n\ndef two():\n    return one()\n";
    std::fs::write(repository.root().join("a.py"), one).expect("written");
    for number in 0..9 {
        let user = format!("from a import one\n\n\ndef use_{number}():\n    return one()\n");
        std::fs::write(repository.root().join(format!("user_{number}.py")), user).expect("written");
    }
    repository.refresh();
    assert_eq!(
        resolved_after(&repository, "a.py", &format!("{one}{two}")),
        1,
        "a name that no file had"
    );
    assert_eq!(resolved_after(&repository, "a.py", one), 1, "a name that no file has any more");
    assert_eq!(
        resolved_after(&repository, "a.py", &format!("{two}\n\n{one}")),
        10,
        "what was there is elsewhere now"
    );
    assert_eq!(resolved_after(&repository, "a.py", one), 10, "and back");
    let caller = "from a import *\n\n\ndef use_0():\n    return one() + two()\n";
    assert_eq!(resolved_after(&repository, "user_0.py", caller), 1);
    assert_eq!(
        resolved_after(&repository, "a.py", &format!("{one}{two}")),
        2,
        "one file asked for a function of this name"
    );
    assert_eq!(
        resolved_after(&repository, "a.py", &format!("def one(more):\n    return more\n{two}")),
        10,
        "another signature"
    );
}
