//! One change at a time, each to a repository of its own, and back again: what is known of other
//! files has to follow. Random edits share few names and mix their effects, so that one may hide
//! that another was left out.

use std::collections::BTreeMap;
use std::fs;

use super::{Repository, difference};

/// What is changed, the files before and those that are other ones after it. A file without a text
/// is removed.
const STEPS: [(&str, &str, &str); 27] = [
    (
        "a function is called once more from another file",
        "//- lib.py\ndef lonely():\n    pass\n\ndef other():\n    pass\n//- user.py\n\
         from lib import lonely, other\n\nlonely()\n",
        "//- user.py\nfrom lib import lonely, other\n\nlonely()\nother()\nlonely()\n",
    ),
    (
        "a name is used that nothing had, and by an import that leads nowhere",
        "//- a.py\ndef here():\n    pass\n",
        "//- a.py\nimport nowhere.at_all\n\ndef here():\n    unheard_of()\n    \
         nowhere.at_all.call()\n",
    ),
    (
        "a symbol has a name that was only used before",
        "//- a.py\nlater()\n",
        "//- b.py\ndef later():\n    pass\n//- a.py\nfrom b import later\n\nlater()\n",
    ),
    (
        "the last symbol of a name goes",
        "//- a.py\ndef only():\n    pass\n\ndef stays():\n    pass\n//- b.py\nfrom a import only\n\
         \nonly()\n",
        "//- a.py\ndef stays():\n    pass\n",
    ),
    (
        "a file comes before all others",
        "//- m.py\ndef f():\n    pass\n//- n.py\nfrom m import f\n\nf()\n",
        "//- a.py\nfrom n import f\n\ndef first():\n    f()\n",
    ),
    (
        "a file in the middle goes",
        "//- a.py\nfrom m import f\n\nf()\n//- m.py\ndef f():\n    g()\n\ndef g():\n    pass\n\
         //- z.py\nfrom a import f\nfrom m import g\n\ng()\nf()\n",
        "//- m.py\n",
    ),
    (
        "a file moves and what imports it follows",
        "//- pack/__init__.py\n\n//- pack/old.py\ndef f():\n    pass\n//- user.py\n\
         from pack.old import f\n\nf()\n",
        "//- pack/old.py\n//- pack/new.py\ndef f():\n    pass\n//- user.py\n\
         from pack.new import f\n\nf()\n",
    ),
    (
        "a function moves to another file behind an import of everything",
        "//- a.py\ndef f():\n    pass\n//- b.py\ndef g():\n    pass\n//- all.py\nfrom a import *\n\
         from b import *\n//- user.py\nfrom all import f\n\nf()\n",
        "//- a.py\nx = 1\n//- b.py\ndef g():\n    pass\n\ndef f():\n    g()\n",
    ),
    (
        "a base has another member",
        "//- base.ts\nexport class Base { draw() {} }\n//- round.ts\n\
         import { Base } from './base';\nexport class Round extends Base { draw() {} size() {} }\n\
         //- user.ts\nimport { Round } from './round';\nnew Round().draw();\nnew Round().size();\n",
        "//- base.ts\nexport class Base { size() {} more() {} }\n",
    ),
    (
        "a type with members in another file is declared elsewhere",
        "//- go.mod\nmodule example.org/p\n//- a.go\npackage p\n\ntype Till struct{}\n\n\
         func first() {}\n//- b.go\npackage p\n\nfunc (t *Till) Open() { first() }\n//- c.go\n\
         package p\n\nfunc use(t *Till) { t.Open() }\n",
        "//- a.go\npackage p\n\nfunc first() {}\n//- d.go\npackage p\n\nfunc before() {}\n\n\
         type Till struct{ open bool }\n",
    ),
    (
        "one more of several candidates, and one less",
        "//- a.c\nint width(void) { return 1; }\n//- b.c\nint width(void) { return 2; }\n\
         //- use.c\nint use(void) { return width() + width(); }\n",
        "//- b.c\nint height(void) { return 2; }\n//- c.c\nint width(void) { return 3; }\n//- d.c\n\
         int width(void) { return 4; }\n",
    ),
    (
        "a function that nothing declares takes no argument any more",
        "//- near.c\nint near(int x) { return 1; }\n//- far.c\n\
         int far(void) { return sum(1) + near(); }\n",
        "//- near.c\nint near(void) { return 1; }\n",
    ),
    (
        "candidates come to be one",
        "//- a.c\nint width(void) { return 1; }\n//- b.c\nint width(void) { return 2; }\n\
         //- use.c\nint use(void) { return width(); }\n",
        "//- b.c\n",
    ),
    (
        "the module of a project has another name",
        "//- go.mod\nmodule example.org/old\n//- store/store.go\npackage store\n\nfunc Open() {}\n\
         //- main.go\npackage main\n\nimport \"example.org/old/store\"\n\n\
         func main() { store.Open() }\n",
        "//- go.mod\nmodule example.org/new\n",
    ),
    (
        "settings lead to another folder",
        "//- tsconfig.json\n{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@lib/*\": \
         [\"one/*\"]}}}\n//- one/f.ts\nexport function f() {}\n//- two/f.ts\n\
         export function f() {}\n//- user.ts\nimport { f } from '@lib/f';\nf();\n",
        "//- tsconfig.json\n{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@lib/*\": \
         [\"two/*\"]}}}\n",
    ),
    (
        "an import for all files of a project is another",
        "//- a/A.csproj\n<Project />\n//- a/All.cs\nglobal using One;\n//- a/One.cs\n\
         namespace One;\nclass Till { }\n//- a/Two.cs\nnamespace Two;\nclass Till { }\n\
         //- a/Use.cs\nnamespace Use;\nclass Use { Till till; }\n",
        "//- a/All.cs\nglobal using Two;\n",
    ),
    (
        "a project file names an import for all its files",
        "//- a/A.csproj\n<Project />\n//- a/One.cs\nnamespace One;\nclass Till { }\n//- a/Use.cs\n\
         namespace Use;\nclass Use { Till till; }\n",
        "//- a/A.csproj\n<Project><Using Include=\"One\" /></Project>\n",
    ),
    (
        "settings under another name lead to another folder",
        "//- tsconfig.json\n{\"extends\": \"./conf/base.json\"}\n//- conf/base.json\n\
         {\"compilerOptions\": {\"paths\": {\"@/*\": [\"../one/*\"]}}}\n//- one/f.ts\n\
         export function f() {}\n//- two/f.ts\nexport function f() {}\n//- user.ts\n\
         import { f } from '@/f';\nf();\n",
        "//- conf/base.json\n{\"compilerOptions\": {\"paths\": {\"@/*\": [\"../two/*\"]}}}\n",
    ),
    (
        "a symbol of the configuration is on",
        "//- .gitignore\n.*\n//- .config\n# CONFIG_NET is not set\n//- net.h\n#ifdef CONFIG_NET\n\
         int send(int x);\n#else\nstatic inline int send(int x) { return 0; }\n#endif\n//- net.c\n\
         #include \"net.h\"\nint send(int x) { return x; }\n//- use.c\n#include \"net.h\"\n\
         int use(void) { return send(1); }\n",
        "//- .config\nCONFIG_NET=y\n",
    ),
    (
        "a build has other include directories",
        "//- .gitignore\nbuild\n//- build/compile_commands.json\n[{\"directory\": \"/r/build\", \
         \"file\": \"../use.c\", \"command\": \"cc -I../one ../use.c\"}]\n//- one/port.h\n\
         static int port(void) { return 1; }\n//- two/port.h\n\
         static int port(void) { return 2; }\n//- use.c\n#include <port.h>\n\
         int use(void) { return port(); }\n",
        "//- build/compile_commands.json\n[{\"directory\": \"/r/build\", \"file\": \"../use.c\", \
         \"command\": \"cc -I../two ../use.c\"}]\n",
    ),
    (
        "a build writes its commands for the first time",
        "//- .gitignore\nbuild\n//- one/port.h\nstatic int port(void) { return 1; }\n\
         //- two/port.h\nstatic int port(void) { return 2; }\n//- use.c\n#include <port.h>\n\
         int use(void) { return port(); }\n",
        "//- build/compile_commands.json\n[{\"directory\": \"/r/build\", \"file\": \"../use.c\", \
         \"arguments\": [\"cc\", \"-I\", \"../two\", \"../use.c\"]}]\n",
    ),
    (
        "the place of a build is known by a file that comes",
        "//- compile_commands.json\n[{\"directory\": \"/r\", \"file\": \"src/new.c\", \
         \"command\": \"cc -Itwo src/new.c\"}]\n//- one/port.h\n\
         static int port(void) { return 1; }\n//- two/port.h\n\
         static int port(void) { return 2; }\n//- one/other.h\n#include <port.h>\n\
         static int other(void) { return port(); }\n",
        "//- src/new.c\n#include <port.h>\nint use(void) { return port(); }\n",
    ),
    (
        "a variable holds a function no longer",
        "//- a.py\nfrom functools import partial\n\ndef f():\n    pass\n\nheld = partial(f)\n\
         //- b.py\nfrom a import held\n\ndef use():\n    held()\n    held()\n",
        "//- a.py\nfrom functools import partial\n\ndef f():\n    pass\n\nheld = partial()\n",
    ),
    (
        "a type has a field of a name that is read of what a library returned",
        "//- a.py\nimport lib\n\ndef use():\n    lib.make().size\n//- b.py\nclass Box:\n    \
         other = 1\n",
        "//- b.py\nclass Box:\n    other = 1\n    size = 2\n",
    ),
    (
        "one of two alternatives of an import goes",
        "//- fast.py\ndef f():\n    pass\n//- slow.py\ndef f():\n    pass\n//- both.py\ntry:\n    \
         from fast import f\nexcept ImportError:\n    from slow import f\n//- user.py\n\
         from both import f\n\nf()\n",
        "//- both.py\nfrom fast import f\n",
    ),
    (
        "a file cannot be read as text any more",
        "//- a.py\ndef f():\n    pass\n//- b.py\nfrom a import f\n\nf()\n",
        "//- a.py\ndef f():\0\n",
    ),
    (
        "a file comes to be ignored",
        "//- .gitignore\nnothing\n//- a.py\ndef f():\n    pass\n//- b.py\nfrom a import f\n\nf()\n",
        "//- .gitignore\na.py\n",
    ),
];

/// The same of types: other files know their members.
const STEPS_OF_TYPES: [(&str, &str, &str); 2] = [
    (
        "a type implements an interface in a file of neither",
        "//- Cargo.toml\n[package]\nname = \"p\"\n//- src/lib.rs\nmod draw;\nmod round;\n\
         mod both;\npub fn all(r: &round::Round) { use draw::Draw; r.draw(); }\n//- src/draw.rs\n\
         pub trait Draw { fn draw(&self); }\n//- src/round.rs\npub struct Round;\n//- src/both.rs\n\
         use crate::draw::Draw;\nuse crate::round::Round;\n",
        "//- src/both.rs\nuse crate::draw::Draw;\nuse crate::round::Round;\n\
         impl Draw for Round { fn draw(&self) {} }\n",
    ),
    (
        "a variable has a value of another type, whose member has the same name",
        "//- pets.py\nclass Cat:\n    def speak(self): pass\n\nclass Dog:\n    \
         def speak(self): pass\n\npet: Cat = None\n//- user.py\nfrom pets import pet\n\n\
         pet.speak()\n",
        "//- pets.py\nclass Cat:\n    def speak(self): pass\n\nclass Dog:\n    \
         def speak(self): pass\n\npet: Dog = None\n",
    ),
];

/// The files of a text, by path.
fn files(text: &str) -> BTreeMap<&str, &str> {
    let parts = text.split("//- ").skip(1);
    parts.map(|part| part.split_once('\n').expect("a path and a text")).collect()
}

/// Gives files other texts; those without one are removed.
fn write(repository: &Repository, files: &BTreeMap<&str, &str>) {
    for (path, text) in files {
        let path = repository.root().join(path);
        if text.is_empty() {
            fs::remove_file(path).expect("it was written");
            continue;
        }
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }
}

/// Takes a change in, by who knows the repository or by who knows only what is on disk.
fn holds(repository: &mut Repository, is_known: bool, what: &str) -> String {
    if !is_known {
        repository.forget();
    }
    repository.refresh();
    let (kept, fresh) = (repository.dump("kept"), repository.fresh());
    assert!(kept == fresh, "{what} (known: {is_known}):\n{}", difference(&kept, &fresh));
    kept
}

/// Makes each change and takes it back: the store stays what a fresh build gives, and in place.
fn follow(steps: &[(&str, &str, &str)]) {
    for &(what, before, after) in steps {
        let (before, after) = (files(before), files(after));
        // Each file that is changed has its text of before again, or is gone again.
        let back = after
            .keys()
            .map(|path| (*path, before.get(path).copied().unwrap_or_default()))
            .collect();
        for is_known in [true, false] {
            let mut repository = Repository::new();
            write(&repository, &before);
            let first = holds(&mut repository, is_known, what);
            let uid = repository.uid();
            write(&repository, &after);
            assert_ne!(
                holds(&mut repository, is_known, what),
                first,
                "{what}: it changes something"
            );
            write(&repository, &back);
            let last = holds(&mut repository, is_known, what);
            assert!(last == first, "{what}, and back:\n{}", difference(&last, &first));
            assert_eq!(repository.uid(), uid, "{what}: in place");
        }
    }
}

#[test]
fn what_one_change_concerns_follows_it_and_comes_back() {
    follow(&STEPS);
}

#[test]
fn what_knows_a_type_follows_a_change_of_it_and_comes_back() {
    follow(&STEPS_OF_TYPES);
}

#[test]
fn imports_follow_a_link_to_where_it_leads() {
    let link = |repository: &Repository, to: &str| {
        let path = repository.root().join("use/util.py");
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(to, path).expect("linked");
    };
    for is_known in [true, false] {
        let mut repository = Repository::new();
        let text = "//- one/util.py\ndef f():\n    pass\n//- two/util.py\ndef f():\n    pass\n\
            //- use/main.py\nfrom util import f\n\nf()\n";
        write(&repository, &files(text));
        link(&repository, "../one/util.py");
        let first = holds(&mut repository, is_known, "a link");
        link(&repository, "../two/util.py");
        let second = holds(&mut repository, is_known, "a link to another file");
        assert_ne!(second, first, "the import leads elsewhere");
        link(&repository, "../one/util.py");
        assert!(holds(&mut repository, is_known, "a link, and back") == first);
    }
}

#[test]
fn a_file_that_outgrows_its_place_is_followed_by_all_that_leads_to_it() {
    let users = "//- lib.ts\nimport { g } from './other';\nexport class Base { draw() { g(); } }\n\
                 export function f() {}\n\
                 //- other.ts\nexport function g() {}\nexport function f() {}\n\
                 //- round.ts\nimport { Base, f } from './lib';\n\
                 export class Round extends Base { draw() { f(); super.draw(); } }\n\
                 //- a.c\nint width(void) { return 1; }\n//- b.c\nint width(void) { return 2; }\n\
                 //- use.c\nint use(void) { return width(); }\n\
                 //- go.mod\nmodule example.org/p\n//- a.go\npackage p\n\ntype Till struct{}\n\
                 //- b.go\npackage p\n\nfunc (t *Till) Open() {}\n";
    let before = files(users);
    for is_known in [true, false] {
        let mut repository = Repository::new();
        write(&repository, &before);
        holds(&mut repository, is_known, "first");
        for (path, line) in [
            ("lib.ts", "export function more_NUMBER() { f(); }\n"),
            ("a.c", "int more_NUMBER(void) { return width(); }\n"),
            ("a.go", "func more_NUMBER() {}\n"),
            ("round.ts", "f();\n"),
            ("use.c", "int use_NUMBER(void) { return width(); }\n"),
        ] {
            // What comes stands before what was there, so that all of it has other numbers, or
            // behind it, so that it has the same numbers in another place.
            for (count, is_behind) in [(1, false), (300, false), (0, false), (300, true), (2, true)]
            {
                let more: String =
                    (0..count).map(|number| line.replace("NUMBER", &number.to_string())).collect();
                let (head, rest) = match before[path].split_once("\n\n") {
                    Some((head, rest)) => (format!("{head}\n\n"), rest),
                    None => (String::new(), before[path]),
                };
                let text = if is_behind {
                    format!("{head}{rest}{more}")
                } else {
                    format!("{head}{more}{rest}")
                };
                write(&repository, &BTreeMap::from([(path, text.as_str())]));
                holds(&mut repository, is_known, &format!("{path} with {count} more"));
            }
        }
    }
}
