//! What a process keeps in memory of other files: facts that resolution has read by need stay from
//! one change to the next, up to a limit. Above it they are forgotten, and a later change reads
//! them again, those of files that have changed since the whole build among them.

use std::fmt::Write as _;
use std::fs;

use cograph::index::MAX_LOADED_FILES;

use super::{Repository, difference};

/// Modules that one caller reads: two callers read more than the limit.
const MODULES: usize = MAX_LOADED_FILES / 2 + 1;

fn module(caller: char, number: usize) -> String {
    format!("{caller}/m{number:03}.py")
}

/// Calls a function of each module in a directory, which is known by the facts of the module.
fn caller(directory: char, called: &str, last: &str) -> String {
    let mut text = String::new();
    for number in 0..MODULES {
        let _ = writeln!(text, "from {directory}.m{number:03} import {called}_{number}");
    }
    let _ = writeln!(text, "\n\ndef call_all():");
    for number in 0..MODULES {
        let _ = writeln!(text, "    {called}_{number}().shown()");
    }
    text + last
}

fn definitions(name: &str, number: usize) -> String {
    format!(
        "class Kind_{number}:\n    def shown(self):\n        pass\n\n    \
         def alone_in_{name}_{number}(self):\n        pass\n\n\n\
         def {name}_{number}() -> Kind_{number}:\n    return Kind_{number}()\n"
    )
}

struct Watched {
    repository: Repository,
    uid: u64,
}

impl Watched {
    fn new() -> Self {
        let repository = Repository::new();
        for directory in ['a', 'b'] {
            fs::create_dir(repository.root().join(directory.to_string())).expect("created");
        }
        let this = Self { repository, uid: 0 };
        for directory in ['a', 'b'] {
            for number in 0..MODULES {
                this.write(&module(directory, number), &definitions("made", number));
            }
            this.write(&format!("use_{directory}.py"), &caller(directory, "made", ""));
        }
        this.indexed()
    }

    fn indexed(self) -> Self {
        self.repository.refresh();
        Self { uid: self.repository.uid(), ..self }
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.repository.root().join(path), text).expect("written");
    }

    /// Takes a change in, in place; gives the number of files whose facts are in memory after it.
    fn holds(&self, what: &str) -> usize {
        self.repository.refresh();
        let (kept, fresh) = (self.repository.dump("kept"), self.repository.fresh());
        assert!(kept == fresh, "{what}:\n{}", difference(&kept, &fresh));
        assert_eq!(self.repository.uid(), self.uid, "{what}: in place");
        let location = self.repository.location("kept");
        let files = self.repository.residents.loaded_files(&location).expect("it is kept");
        assert!(files <= MAX_LOADED_FILES, "{what}: facts of {files} files are in memory");
        files
    }
}

#[test]
fn facts_read_by_need_are_forgotten_above_a_limit_and_read_again() {
    let watched = Watched::new();
    watched.write("use_a.py", &caller('a', "made", "    call_all()\n"));
    let first = watched.holds("what one caller reads stays");
    assert!(first >= MODULES, "{first} files");
    watched.write("a/m001.py", &definitions("other", 1));
    watched.holds("a module has changed since the whole build");
    watched.write("use_b.py", &caller('b', "made", "    call_all()\n"));
    let both = watched.holds("what the other one reads is too much");
    assert!(both < MODULES, "{both} files");

    // The text of now, not that of the whole build, nor that of memory.
    let by_name = "\n\ndef call_one(of):\n    of.alone_in_other_1()\n    of.alone_in_made_1()\n";
    watched.write("use_a.py", &caller('a', "other", by_name));
    let again = watched.holds("the modules are read again, one of them as it has become");
    assert!(again >= MODULES, "{again} files");
    watched.write("a/m002.py", &definitions("other", 2));
    watched.holds("one more of them has the name that is called");
    watched.write("use_b.py", &caller('b', "other", ""));
    let both = watched.holds("again too much");
    assert!(both < MODULES, "{both} files");
    fs::remove_file(watched.repository.root().join("a/m001.py")).expect("removed");
    watched.holds("one is gone");
    watched.write("a/m001.py", &definitions("other", 1));
    watched.holds("and there again");
}

#[test]
fn a_search_for_definitions_reads_no_file_that_declares_or_hides_the_name() {
    let watched = Watched { repository: Repository::new(), uid: 0 };
    for number in 0..40 {
        let own = format!("int own_{number}(void) {{ return shared({number}); }}\n");
        let shared = if number % 2 == 0 {
            "int shared(int x);\n"
        } else {
            "static int shared(int x) { return x; }\n"
        };
        watched.write(&format!("user{number}.c"), &format!("{shared}{own}"));
    }
    watched.write("shared.c", "int shared(int x) { return x + 1; }\n");
    let main = "int shared(int x);\nint main(void) { return shared(1); }\n";
    watched.write("main.c", main);
    let watched = watched.indexed();
    watched.write("main.c", &format!("{main}int more(void) {{ return shared(2); }}\n"));
    let files = watched.holds("the definition is in one file");
    assert!(files <= 4, "facts of {files} files were read");
}
