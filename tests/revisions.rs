//! The index of a revision that is not checked out is that of its checkout, row for row.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cograph::store::{Location, Store};
use tempfile::TempDir;

use crate::incremental::{difference, rows};

/// A repository of git, and a cache next to it.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(repository.root()).expect("created");
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    fn place(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn root(&self) -> PathBuf {
        self.place().join("repository")
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.root())
            .output()
            .expect("git starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs the program at the root of the repository.
    fn index(&self, cache: &str, arguments: &[&str]) {
        let output = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .arg("index")
            .args(arguments)
            .env("COGRAPH_CACHE_DIR", self.place().join(cache))
            .current_dir(self.root())
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Rows of the index of a directory.
    fn rows(&self, cache: &str, root: &Path) -> String {
        let location = Location::new(&self.place().join(cache), root);
        rows(Store::open_newest(&location).expect("a store").path())
    }
}

/// The files of one of the commits: some change in each, others come and go.
fn edit(repository: &Repository, number: usize) {
    for file in (0..14).filter(|file| (number + file).is_multiple_of(3)) {
        let next = (file + number) % 14;
        repository.write(
            &format!("app/m{file}.py"),
            &format!(
                "from app.m{next} import f{next}\n\n\ndef f{file}(a):\n    return f{next}(a) + \
                 {number}\n"
            ),
        );
    }
    repository
        .write("package.json", &format!("{{\"name\": \"web\", \"version\": \"{number}\"}}\n"));
    repository.write("web/a.ts", &format!("import {{b{number}}} from './b';\nb{number}();\n"));
    repository.write("web/b.ts", &format!("export function b{number}() {{ return {number}; }}\n"));
    let gone = repository.root().join(format!("app/m{}.py", number % 14));
    if number % 4 == 3 && gone.exists() {
        fs::remove_file(gone).expect("it exists");
    }
    if number.is_multiple_of(2) {
        repository.write("tool", "#!/usr/bin/env python3\nprint(1)\n");
        repository.write("data/notes.unknown", &"x".repeat(number + 1));
    }
    // Ignored, although it is in the repository.
    repository.write(".gitignore", if number % 5 == 4 { "generated/\n" } else { "" });
    repository.write("generated/g.py", &format!("def made_{number}():\n    pass\n"));
    repository.git(&["add", "-f", "generated/g.py"]);
}

#[test]
fn the_index_of_a_revision_is_that_of_its_checkout() {
    let repository = Repository::new();
    let commits: Vec<String> = (0..20)
        .map(|number| {
            edit(&repository, number);
            #[cfg(unix)]
            if number == 1 {
                let link = |to: &str, from: &str| {
                    std::os::unix::fs::symlink(to, repository.root().join(from)).expect("made");
                };
                link("app/m0.py", "link.py");
                link("app", "linked");
                link("/nowhere/at/all.py", "web/broken.ts");
            }
            repository.commit()
        })
        .collect();
    for (number, commit) in commits.iter().enumerate() {
        // By the whole name, by the start of it, and from the newest one.
        let back = format!("HEAD~{}", commits.len() - 1 - number);
        let named = [commit.as_str(), &commit[..12], &back][number % 3];
        repository.index("revisions", &["--rev", named]);
        let tree = repository.place().join("revisions/revisions").join(commit);
        let of_revision = repository.rows("revisions", &tree);
        let checkout = repository.place().join("checkout");
        let checkout = checkout.to_str().expect("a path of ours");
        repository.git(&["worktree", "add", "-q", "--detach", checkout, commit]);
        repository.index("checkouts", &["--force", checkout]);
        let of_checkout = repository.rows("checkouts", Path::new(checkout));
        repository.git(&["worktree", "remove", "--force", checkout]);
        assert!(
            of_revision == of_checkout,
            "commit {number}: {}",
            difference(&of_revision, &of_checkout)
        );
    }
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), commits[19], "nothing was checked out");
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}
