//! `compact`: what has not changed is kept, and readers have the state before or the one after.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::data::{Data, program};

fn files(below: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(below).expect("a directory") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_second_run_changes_nothing() {
    let data = Data::exported();
    let first = data.answer(&["compact"]);
    assert!(first.contains(" 0 kept"), "{first}");
    let written = files(&data.tables().join("_org"));
    let second = data.answer(&["compact"]);
    assert!(second.contains(": 0 written"), "{second}");
    assert_eq!(files(&data.tables().join("_org")), written);
}

#[test]
fn a_changed_repository_is_compacted_again() {
    let data = Data::exported();
    data.answer(&["compact"]);
    let more = "from shop.sums import total\n\n\ndef more():\n    return total(3)\n";
    data.change("shop", "shop/more.py", more);
    let before = data.answer(&["callers", "total", "--package", "shop"]);
    assert!(before.contains("2 calls in 1 repository"), "{before}");
    let text = data.answer(&["compact"]);
    assert!(!text.contains(" 0 kept"), "{text}");
    let after = data.answer(&["callers", "total", "--package", "shop"]);
    assert!(after.contains("3 calls in 1 repository"), "{after}");
    assert!(after.contains("  shop/more.py:5  more\n"), "{after}");
}

#[test]
fn a_killed_run_leaves_the_state_before() {
    let data = Data::exported();
    data.answer(&["compact"]);
    let before = data.answer(&["callers", "total"]);
    let more = "from shop.sums import total\n\n\ndef more():\n    return total(3)\n";
    data.change("shop", "shop/more.py", more);
    let compacted = data.tables().join("_org");
    let manifest = compacted.join("current.json");
    let known = fs::read(&manifest).expect("readable");
    let mut unswapped = 0;
    // Each run is killed a few files later than the one before.
    for least in (0..40).step_by(2) {
        let present = files(&compacted);
        let mut running = program(&["compact", "--again", "--data"])
            .arg(data.tables())
            .spawn()
            .expect("the program runs");
        while files(&compacted).difference(&present).count() <= least {
            if running.try_wait().expect("a child").is_some() {
                break;
            }
        }
        running.kill().expect("killed");
        running.wait().expect("ended");
        let answer = data.answer(&["callers", "total"]);
        if fs::read(&manifest).expect("readable") == known {
            unswapped += 1;
            assert_eq!(answer, before);
        } else {
            assert!(answer.contains("  shop/more.py:5  more\n"), "{answer}");
            break;
        }
    }
    assert!(unswapped > 0, "no run was killed before it swapped the manifest");
    data.answer(&["compact"]);
    let after = data.answer(&["callers", "total"]);
    assert!(after.contains("  shop/more.py:5  more\n"), "{after}");
}

#[test]
fn files_that_are_not_named_go_after_a_day() {
    let data = Data::exported();
    data.answer(&["compact"]);
    let old = data.tables().join("_org/calls/07-old.parquet");
    let young = data.tables().join("_org/calls/07-young.parquet");
    for path in [&old, &young] {
        fs::write(path, "x").expect("written");
    }
    let file = fs::File::options().write(true).open(&old).expect("writable");
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 86_400);
    file.set_modified(then).expect("set");
    let text = data.answer(&["compact"]);
    assert!(text.contains(", 1 old ones removed"), "{text}");
    assert!(!old.exists() && young.exists());
    assert!(data.answer(&["callers", "total"]).contains("calls in"));
}

#[test]
fn more_than_fits_into_memory_is_sorted_on_disk() {
    let data = Data::empty();
    let number = |at: usize| (at * 7_919) % 120_000;
    let names: Vec<[String; 2]> = (0..120_000)
        .map(|at| {
            let callee = format!("cograph pip lib 1.0.0 deep/place/function{:06}().", number(at));
            [callee, format!("cograph pip app 1.0.0 somewhere/caller_of_much{at}().")]
        })
        .collect();
    let rows: Vec<[&str; 4]> =
        names.iter().map(|[callee, caller]| ["app", callee, caller, "app/main.py"]).collect();
    data.write_calls("large.parquet", "1", &rows);
    data.answer(&["compact", "--memory", "16"]);
    let text = data.answer(&["callers", "function000007"]);
    assert!(text.contains("1 call in 1 repository"), "{text}");
}
