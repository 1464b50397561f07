//! Limits of a whole process: of the system (`ulimit`) and of memory. What exceeds them takes
//! longer or is a reported error, and the index from before is as it was.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Functions in a file; a store of all files takes several megabytes.
const FUNCTIONS: usize = 400;

fn write(place: &Path, file: usize, name: &str) {
    let text: String = (0..FUNCTIONS)
        .map(|number| {
            format!(
                "def {name}_{file}_{number}(first, second):\n    return {name}_{file}_0(first)\n\n"
            )
        })
        .collect();
    fs::write(place.join("repository").join(format!("m{file}.py")), text).expect("written");
}

/// Runs the program in the repository; a limit bounds the size of files, in blocks of 512 bytes.
fn run(place: &Path, limit: Option<u32>, arguments: &[&str]) -> Output {
    let limit = limit.map_or(String::new(), |blocks| format!("ulimit -f {blocks}; "));
    run_under(place, &limit, arguments)
}

fn run_under(place: &Path, limit: &str, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{limit}exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_cograph")])
        .args(arguments)
        .current_dir(place.join("repository"))
        .env("COGRAPH_CACHE_DIR", place.join("cache"))
        .output()
        .expect("the program was built with the tests")
}

fn is_refused(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("File too large") || said.contains("disk I/O error"), "{said}");
    assert!(said.contains("file size limit") && said.contains("ulimit -f"), "{said}");
    assert!(!said.contains("signal") && !said.contains("memory"), "{said}");
}

fn finds(place: &Path, name: &str) -> String {
    let output = run(place, None, &["search", "--mode", "name", name]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("function {name}")), "{name}: {text} {output:?}");
    text
}

fn repository(files: usize) -> TempDir {
    let place = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(place.path().join("repository")).expect("created");
    (0..files).for_each(|file| write(place.path(), file, "old"));
    place
}

#[test]
fn a_build_beyond_the_file_size_limit_is_reported() {
    let place = repository(40);
    is_refused(&run(place.path(), Some(1000), &["index"]));
    assert!(run(place.path(), None, &["index"]).status.success(), "nothing is in its way");
    finds(place.path(), "old_7_7");
}

#[test]
fn a_change_beyond_the_file_size_limit_leaves_the_index_as_it_was() {
    let place = repository(40);
    assert!(run(place.path(), None, &["index"]).status.success());
    // An incremental change and a full build: both write next to the store.
    for rebuild in [&["index"][..], &["index", "--force"]] {
        (0..20).for_each(|file| write(place.path(), file, "new"));
        is_refused(&run(place.path(), Some(600), rebuild));
        let output = run(place.path(), Some(600), &["search", "--mode", "name", "old_30_7"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("function old_30_7"), "{rebuild:?}: {text} {output:?}");
    }
    assert!(run(place.path(), None, &["index"]).status.success());
    finds(place.path(), "new_7_7");
}

#[test]
fn a_repository_beyond_the_memory_limit_is_distinguished_from_a_file_that_is() {
    // Its build needs several times the limit.
    let repository = repository(200);
    let place = repository.path();
    const LIMIT: &str = "export COGRAPH_MEMORY_LIMIT=16777216; ";
    let is_refused = |output: Output| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("needs more than 16 MiB of memory"), "{said}");
        assert!(said.contains("raise COGRAPH_MEMORY_LIMIT"), "{said}");
        assert!(!said.contains("died") && !said.contains("left out;"), "{said}");
    };
    is_refused(run_under(place, LIMIT, &["index"]));
    finds(place, "old_199_0");
    is_refused(run_under(place, LIMIT, &["index", "--force"]));
    let whole = finds(place, "old_199_399");
    assert!(whole.contains("up to date") && !whole.contains("skipped"), "{whole}");
}

#[test]
fn threads_that_the_system_refuses_end_no_walk() {
    let place = tempfile::tempdir().expect("a temporary directory");
    for number in 0..20 {
        let directory = place.path().join("repository").join(format!("d{number}"));
        fs::create_dir_all(&directory).expect("created");
        fs::write(directory.join("a.py"), format!("def old_{number}():\n    return 1\n"))
            .expect("written");
    }
    assert!(run(place.path(), None, &["index"]).status.success());
    let (mut answers, mut smaller_walks) = (0, 0);
    for megabytes in (60..480).step_by(6) {
        let limit = format!("export COGRAPH_THREADS=64; ulimit -v {}; ", megabytes * 1024);
        let output = run_under(
            place.path(),
            &limit,
            &["search", "--mode", "name", "old_7", "--log-level", "warn"],
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("failed to spawn thread"), "{megabytes} MB: {said}");
        answers += usize::from(output.status.success());
        smaller_walks += usize::from(said.contains("fewer threads list the files"));
    }
    assert!(
        answers > 20 && smaller_walks > 5,
        "{answers} answers, {smaller_walks} walks by fewer threads"
    );
}
