//! What a loss of power, a full disk or a clock that jumps leaves of changes that were indexed in
//! place: one of the states that were published, never a mixture, and the next run goes on from
//! there.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use cograph::index::{Run, refresh};
use cograph::store::{Location, Store};

use super::{PATIENCE, Repository, dump, limits};

fn write(repository: &Repository, path: &str, text: &str) {
    fs::write(repository.root().join(path), text).expect("written");
}

fn functions(count: usize, word: &str) -> String {
    (0..count)
        .map(|number| format!("def {word}_{number}():\n    return {word}_{number}()\n\n"))
        .collect()
}

#[test]
fn any_part_of_a_log_is_one_of_the_states() {
    let repository = Repository::new();
    write(&repository, "a.py", "from b import g\n\ndef f():\n    return g()\n");
    write(&repository, "b.py", &functions(40, "first"));
    repository.refresh();
    // The log of a store stays while a reader has it open.
    let reader = Store::open_newest(&repository.location("kept")).expect("there is a store");
    let mut states = vec![repository.dump("kept")];
    for text in [
        "def g():\n    return 1\n",
        "def h(x):\n    return g\n\ndef g():\n    return h\n",
        "g = 1\n",
    ] {
        write(&repository, "c.py", text);
        write(&repository, "a.py", &format!("from c import g\n\n{text}\ng()\n"));
        repository.refresh();
        states.push(repository.dump("kept"));
    }
    let log = fs::read(reader.path().with_extension("db-wal")).expect("it exists");
    let segment = reader.path().with_extension("db-facts");
    let mut met = [false; 4];
    // Whole pages and parts of them, of the last bytes each of some.
    for length in (0..log.len()).step_by(log.len() / 40).chain(log.len() - 3..=log.len()) {
        let lost = repository.directory.path().join(format!("lost{length}"));
        fs::create_dir(&lost).expect("created");
        let location = Location::at(repository.root(), lost.clone());
        let store = lost.join(reader.path().file_name().expect("it has a name"));
        fs::copy(reader.path(), &store).expect("copied");
        fs::copy(&segment, store.with_extension("db-facts")).expect("copied");
        fs::write(store.with_extension("db-wal"), &log[..length]).expect("written");
        let found = dump::of(&store);
        let state = states.iter().position(|state| *state == found);
        met[state
            .unwrap_or_else(|| panic!("after {length} of {} bytes it is a mixture", log.len()))] =
            true;
        refresh(&location, PATIENCE, &Run::quiet(limits(2), &repository.cancel))
            .expect("nothing stands in the way");
        let mended = dump::of(Store::open_newest(&location).expect("there is a store").path());
        assert!(
            mended == states[3],
            "after {length} bytes: {}",
            super::difference(&mended, &states[3])
        );
    }
    assert_eq!(met, [true; 4], "each state has been met");
}

/// The program with a limit of the size of files, in blocks of 512 bytes: writing fails as on a
/// full disk. The signal that comes with it is ignored.
fn index_with_room_for(blocks: u64, repository: &Repository) -> Output {
    Command::new("sh")
        .args([
            "-c",
            &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" index \"$1\""),
            env!("CARGO_BIN_EXE_cograph"),
        ])
        .arg(repository.root())
        .env("COGRAPH_CACHE_DIR", repository.directory.path().join("kept"))
        .output()
        .expect("there is a shell")
}

#[test]
fn a_disk_that_fills_up_while_a_change_is_applied_leaves_the_state_before() {
    let mut repository = Repository::new();
    write(&repository, "a.py", &functions(4_000, "first"));
    write(&repository, "b.py", "x = 1\n");
    repository.refresh();
    repository.forget();
    let before = repository.dump("kept");
    write(&repository, "b.py", &functions(3_000, "second"));
    let mut failures = 0;
    for blocks in [8, 64, 256, 1_024] {
        let output = index_with_room_for(blocks, &repository);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.signal(), None, "{blocks}: {message}");
        if output.status.success() {
            break;
        }
        failures += 1;
        assert!(
            output.status.code() == Some(3) && message.contains("hint:"),
            "{blocks}: {message}"
        );
        assert!(repository.dump("kept") == before, "{blocks}: what was there is still there");
    }
    assert!(failures >= 2, "little room is not enough");
    repository.refresh();
    let (kept, fresh) = (repository.dump("kept"), repository.fresh());
    assert!(kept == fresh, "{}", super::difference(&kept, &fresh));
}

fn set_time(path: &Path, time: SystemTime) {
    File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .expect("it is ours");
}

#[test]
fn a_clock_that_jumps_hides_no_edit() {
    const YEAR: Duration = Duration::from_secs(365 * 86_400);
    let mut repository = Repository::new();
    let path = repository.root().join("a.py");
    let now = SystemTime::now();
    // Of equal length, so that the time alone could tell; two in a row have the same one that is
    // yet to come.
    let edits = [
        ("a", now),
        ("b", now - YEAR),
        ("c", now + YEAR),
        ("d", now + YEAR),
        ("e", now - 2 * YEAR),
        ("f", now),
    ];
    for (name, time) in edits {
        write(&repository, "a.py", &format!("def {name}():\n    pass\n"));
        set_time(&path, time);
        repository.refresh();
        let (kept, fresh) = (repository.dump("kept"), repository.fresh());
        assert!(kept == fresh, "{name}: {}", super::difference(&kept, &fresh));
        repository.forget();
    }
}
