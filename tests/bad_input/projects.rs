//! Random project files, valid and invalid: configurations, package and crate manifests, module
//! files, lists of compile commands. A repository with any of them is indexed promptly, within a
//! bound of memory and without an error.
//!
//! `PROPTEST_CASES=10000` runs longer. What has failed once is kept in `projects.seeds` and tried
//! first.

use std::fs;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::FileFailurePersistence;

use super::setup::Repository;

/// Maximum CPU time of one case, and maximum memory of the process.
const TIME: Duration = Duration::from_secs(1);
const MEMORY_KIB: usize = 256 << 10;

/// Sources that lead through project files, in every language that has them.
const SOURCES: [(&str, &str); 9] = [
    (
        "src/a.ts",
        "import { f } from '@/b';\nimport g from 'pkg';\nimport h from 'pkg/sub/x';\n\
         import i from '#own';\nf(); g(); h(); i();\n",
    ),
    ("src/b.ts", "export function f() {}\nexport default f;\n"),
    ("pkg/index.js", "module.exports = function () {};\n"),
    (
        "src/lib.rs",
        "mod inner; use other_name::thing; pub fn f() { thing(); crate::inner::g(); }\n",
    ),
    ("src/inner.rs", "pub fn g() {}\n"),
    ("main.go", "package main\nimport \"example.org/m/sub\"\nfunc main() { sub.F() }\n"),
    ("sub/sub.go", "package sub\nfunc F() {}\n"),
    ("mod.py", "from pkg import thing\nthing()\n"),
    ("main.c", "#include <sub/x.h>\nint main(void) { return f(); }\n"),
];

/// The project files that are made, with what they usually say.
const FILES: [(&str, &str); 7] = [
    (
        "tsconfig.json",
        "{\"extends\": \"./base\", \"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@/*\": \
         [\"src/*\"]}}, \"references\": [{\"path\": \"./pkg\"}]}",
    ),
    ("pkg/tsconfig.json", "{\"extends\": [\"../tsconfig.json\"]}"),
    (
        "pkg/package.json",
        "{\"name\": \"pkg\", \"main\": \"dist/index.js\", \"exports\": {\".\": \"./index.js\", \
         \"./sub/*\": {\"import\": \"./*.js\"}}, \"imports\": {\"#own\": \"./index.js\"}}",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"own\"\n[lib]\npath = \"src/lib.rs\"\n[dependencies]\n\
         other_name = { package = \"own\" }\n[[bin]]\npath = \"src/inner.rs\"\n",
    ),
    (
        "pyproject.toml",
        "[project]\nname = \"own\"\n[tool.setuptools]\npackage-dir = {\"\" = \"src\"}\n",
    ),
    ("go.mod", "module example.org/m\n\ngo 1.22\nreplace example.org/x => ./sub\n"),
    (
        "compile_commands.json",
        "[{\"directory\": \".\", \"command\": \"cc -Isub -c main.c\", \"file\": \"main.c\"}]",
    ),
];

/// What is put in somewhere: what the readers look for, in places where it should not be.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "*",
    "**",
    "/",
    "../",
    "./",
    ".",
    "\\",
    "\n",
    "\u{0}",
    "\u{feff}",
    "é",
    "#",
    "//",
    "/*",
    "=",
    "[[",
    "]]",
    "\"extends\": \"./tsconfig.json\", ",
    "\"main\": ",
    "[dependencies]\n",
    "module ",
    "\"./*\": ",
    "\"@/*\": [\"*\"], ",
];

#[derive(Clone, Debug)]
struct Change {
    at: prop::sample::Index,
    gone: usize,
    piece: &'static str,
    times: usize,
}

fn change() -> impl Strategy<Value = Change> {
    // Most changes are small; some repeat a piece until it is as large as a large project file.
    let times = prop_oneof![6 => Just(1_usize), 2 => 1_usize..200, 1 => Just(100_000_usize)];
    (any::<prop::sample::Index>(), 0_usize..8, select(&PIECES[..]), times)
        .prop_map(|(at, gone, piece, times)| Change { at, gone, piece, times })
}

fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for Change { at, gone, piece, times } in changes {
        let at = at.index(bytes.len() + 1);
        let end = (at + gone).min(bytes.len());
        bytes.splice(at..end, piece.repeat(*times).into_bytes());
    }
    bytes
}

/// The most memory that this process has had, in KiB.
pub(super) fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("it runs");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system says it");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}

fn settings() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let failure_persistence =
        Some(Box::new(FileFailurePersistence::Direct("tests/bad_input/projects.seeds")) as Box<_>);
    ProptestConfig {
        cases: usual.cases.div_ceil(4),
        failure_persistence,
        max_shrink_iters: 100,
        ..usual
    }
}

/// CPU time of this process: a wall clock would count what else a busy machine does. The test
/// runner ends a test that waits forever.
pub(super) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("it is not negative")
}

/// Indexes the sources with these project files.
fn index(projects: &[(&str, Vec<u8>)]) -> Duration {
    let repository = Repository::new();
    for (path, text) in SOURCES {
        repository.write(path, text.as_bytes());
    }
    for (path, bytes) in projects {
        repository.write(path, bytes);
    }
    let before = cpu_time();
    let store = repository.store();
    assert!(store.meta().symbols >= 7, "the sources are read, whatever the projects say");
    cpu_time() - before
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn any_project_file_is_read_promptly(
        changes in proptest::collection::vec(
            (0..FILES.len(), proptest::collection::vec(change(), 1..5)), 1..4
        )
    ) {
        let mut projects: Vec<(&str, Vec<u8>)> = FILES.iter().map(
            |(path, text)| (*path, text.as_bytes().to_vec())
        ).collect();
        for (file, changes) in &changes {
            projects[*file].1 = changed(FILES[*file].1, changes);
        }
        let took = index(&projects);
        prop_assert!(took < TIME, "{took:?}");
        prop_assert!(peak() < MEMORY_KIB, "{} KiB", peak());
    }
}
