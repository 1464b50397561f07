//! What the compiler does not hold, held against every file: direction of imports inside of a
//! crate, owners of what the standard library offers to all, names of languages and types, words
//! of comments, size and shape of files and folders. Each rule is also shown a planted violation,
//! so that a rule that sees nothing is found out.

mod features;
mod folders;
mod graph;
mod lexer;
mod planted;
mod prose;
mod rules;
mod words;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use graph::Graph;
use rules::{Languages, Violation};

/// Every file of these places, which are folders or files, with one of these extensions (empty for
/// none), with its path from the project's root.
fn files(places: &[&str], extensions: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pending: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        let extension = path.extension().unwrap_or_default();
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the project's folders are readable");
            let paths = entries.map(|entry| entry.expect("its entries are readable").path());
            pending
                .extend(paths.filter(|path| path.file_name().is_none_or(|name| !is_foreign(name))));
        } else if extensions.iter().any(|known| extension == *known) {
            let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
            let inner = path.strip_prefix(root).expect("the walk started at the root");
            let inner = inner.to_str().expect("sources have plain names").replace('\\', "/");
            found.push((inner, text));
        }
    }
    found.sort();
    found
}

/// Whether an entry is no text of the project: input in any language, which may break every rule,
/// installed packages, or a hidden file of an editor or a system.
fn is_foreign(name: &OsStr) -> bool {
    let hidden = |name: &str| name.starts_with('.');
    name == "fixtures" || name == "node_modules" || name.to_str().is_none_or(hidden)
}

/// Every `.rs` file below the folders.
fn sources(folders: &[&str]) -> Vec<(String, String)> {
    files(folders, &["rs"])
}

/// Every script in Python or shell.
fn scripts() -> Vec<(String, String)> {
    files(&["scripts"], &["", "py"])
}

/// Holds a rule against files; fails with every violation at once.
fn hold(files: &[(String, String)], rule: impl Fn(&str, &str) -> Vec<Violation>) {
    assert!(!files.is_empty(), "there is something to hold the rule against");
    let found: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| {
            rule(path, text).into_iter().map(move |violation| (path, violation))
        })
        .map(|(path, violation)| format!("{path}:{}: {}", violation.line, violation.what))
        .collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

/// The manifest of a package, by its folder.
fn manifest(folder: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml");
    std::fs::read_to_string(path).expect("there is a manifest")
}

/// The folders of the packages: that at the top is the first.
fn packages() -> Vec<String> {
    let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let crates =
        crates.expect("src is readable").map(|entry| entry.expect("it is readable").path());
    let folders = crates.filter(|path| path.join("Cargo.toml").is_file());
    let names = folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let crates = names.map(|name| format!("src/{name}"));
    [String::new(), "grammars".to_owned()].into_iter().chain(crates).collect()
}

/// Formats that this program itself reads and writes, and words that are more than the name of a
/// language. They say nothing about how sources are read.
const SPOKEN: &[&str] =
    &["json", "sql", "toml", "make", "markdown", "scheme", "html", "sh", "ss", "inc"];

/// What no file of `src` may say, from the folders and manifests in `grammars/`.
fn languages() -> Languages {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
    let crates = packages().into_iter().flat_map(|folder| rules::dependencies(&manifest(&folder)));
    let crates = crates.map(|name| name.replace('-', "_"));
    let crates = crates.filter(|name| !name.starts_with("tree_sitter_")).collect();
    let mut languages = Languages {
        names: ["c++", "golang"].map(String::from).to_vec(),
        marks: Vec::new(),
        crates,
    };
    for entry in std::fs::read_dir(folder).expect("grammars/ is readable") {
        let path = entry.expect("grammars/ is readable").path();
        let Ok(manifest) = std::fs::read_to_string(path.join("grammar.toml")) else { continue };
        let manifest: toml::Table = manifest.parse().expect("manifests are TOML");
        languages
            .names
            .extend(path.file_name().and_then(|name| name.to_str()).map(str::to_lowercase));
        languages
            .names
            .extend(manifest.get("title").and_then(toml::Value::as_str).map(str::to_lowercase));
        let detect =
            manifest["detect"].as_table().expect("a manifest says how its files are detected");
        for list in ["extensions", "file-names", "interpreters"] {
            let words = detect.get(list).and_then(toml::Value::as_array).into_iter().flatten();
            languages.marks.extend(words.filter_map(toml::Value::as_str).map(str::to_lowercase));
        }
    }
    languages.names.retain(|name| !SPOKEN.contains(&name.as_str()));
    languages.marks.retain(|mark| !SPOKEN.contains(&mark.as_str()));
    languages
}

#[test]
fn the_system_has_owners() {
    hold(&sources(&["src"]), rules::owners);
}

#[test]
fn no_language_is_named_in_src() {
    let languages = languages();
    assert!(languages.names.len() > 2 && languages.marks.len() > 2, "the manifests were found");
    hold(&sources(&["src"]), |path, text| rules::language_names(path, text, &languages));
}

#[test]
fn every_file_says_what_it_is_and_can_be_read_in_one_sitting() {
    hold(&sources(&["src", "tests", "benches", "grammars"]), rules::shape);
}

#[test]
fn every_line_fits_next_to_another() {
    hold(&sources(&["src", "tests", "benches", "grammars"]), rules::width);
}

#[test]
fn nothing_is_left_for_later_and_nothing_sleeps() {
    hold(&sources(&["src", "tests", "benches", "grammars"]), rules::leftovers);
}

/// Fails with everything that was found.
fn nothing(found: &[String]) {
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[test]
fn imports_go_downwards_inside_of_crates() {
    let graph = Graph::of(&sources(&["src"]));
    assert!(graph.arrows().len() > 100, "the arrows were found");
    nothing(&folders::second_level(&graph, folders::SECOND, folders::UPWARDS));
}

#[test]
fn files_do_not_import_in_circles() {
    let graph = Graph::of(&sources(&["src"]));
    nothing(&folders::circles(&graph, folders::CIRCLES));
}

#[test]
fn folders_have_few_files() {
    nothing(&folders::crowded(&sources(&["src"])));
}

#[test]
fn names_of_types_tell_them_apart() {
    nothing(&folders::namesakes(&sources(&["src"])));
}

#[test]
fn functions_say_what_they_depend_on() {
    nothing(&folders::spread_out(&sources(&["src"]), folders::SPREAD));
}

/// The lines that a rule complains about.
fn lines(found: Vec<Violation>) -> Vec<usize> {
    let mut lines: Vec<usize> = found.into_iter().map(|violation| violation.line).collect();
    lines.dedup();
    lines
}

#[test]
fn planted_uses_of_what_has_an_owner_are_seen() {
    for (path, planted) in [
        ("src/index/lib.rs", "use std::{env, fs};"),
        ("src/extract/lib.rs", "fn f() { std::fs::metadata(path) }"),
        ("src/server/lib.rs", "use ::std::env::var;"),
        ("src/model/lib.rs", "fn f() -> std::io::Result<()> {}"),
        ("src/model/lib.rs", "mod tests {} use std::thread;"),
        ("src/store/lib.rs", "use std::os::unix::fs::MetadataExt;"),
        ("src/model/ids.rs", "mod tests { use rustix::fs::open; }"),
    ] {
        assert_eq!(lines(rules::owners(path, planted)), [1], "{path}: {planted}");
    }
    for (path, allowed) in [
        ("src/config/lib.rs", "fn f() { std::env::var_os(name) }"),
        ("src/source/walk.rs", "use std::fs;"),
        ("src/server/lib.rs", "mod ignore_me; fn f() { self::env::all() }"),
        ("src/model/lib.rs", "mod tests { use std::{env, thread}; }"),
        ("src/model/lib.rs", "// use std::env;"),
        ("src/model/lib.rs", "const TEXT: &str = r#\"use std::env::\"quoted\";\"#;"),
        ("src/model/lib.rs", "fn f<'a>(name: &'a str) { name::std::env::run() }"),
        ("src/main.rs", "use std::env;"),
    ] {
        assert_eq!(rules::owners(path, allowed), [], "{path}: {allowed}");
    }
}

#[test]
fn planted_language_names_are_seen() {
    let names = ["python", "go", "c", "java"].map(String::from).to_vec();
    let marks = ["py", "makefile"].map(String::from).to_vec();
    let languages = Languages { names, marks, crates: vec!["hash_java".into()] };
    for planted in [
        "f(\"py\")",
        "f(\".py\")",
        "f(\"Makefile\")",
        "fn python_rules() {}",
        "struct PythonRules;",
        "fn f() { g(\"go\") }",
        "// as in Java",
        "const A: &str = \"a.java\";",
    ] {
        assert_eq!(lines(rules::language_names("src/x.rs", planted, &languages)), [1], "{planted}");
    }
    for allowed in [
        "// go on",
        "let c = 'd'; go(c);",
        "javascripted()",
        "\"go to\"",
        "fn f<C>() {}",
        "use hash_java::f;",
        "f(\"C\")",
    ] {
        assert_eq!(rules::language_names("src/x.rs", allowed, &languages), [], "{allowed}");
    }
}

#[test]
fn every_dependency_is_used() {
    let packages = packages();
    let unused = packages.iter().flat_map(|folder| {
        let mut files = match folder.as_str() {
            "" => sources(&["tests", "benches"]),
            own => sources(&[own]),
        };
        if folder.is_empty() {
            let top = sources(&["src"]).into_iter();
            files.extend(top.filter(|(path, _)| rules::crate_of(path).is_none()));
        }
        if folder == "grammars" {
            files.extend(grammars());
        }
        let unused = rules::unused_dependencies(&manifest(folder), &files);
        unused.into_iter().map(move |name| format!("{folder}/Cargo.toml: {name}"))
    });
    nothing(&unused.collect::<Vec<_>>());
    let manifests: Vec<String> = packages.iter().map(|folder| manifest(folder)).collect();
    nothing(&rules::unshared_dependencies(&manifests[0], &manifests));
}

/// The manifests of languages, by their paths.
fn grammars() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
    let folders = std::fs::read_dir(folder).expect("grammars/ is readable");
    let paths = folders.map(|one| one.expect("grammars/ is readable").path().join("grammar.toml"));
    let texts = paths.filter_map(|path| {
        Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?))
    });
    texts.collect()
}

#[test]
fn a_planted_dependency_is_seen() {
    let manifest = "[features]\nx = [\"lent/x\"]\n[dependencies]\nused-one = \"1\"\nidle = \"1\"\n\
                    lent = \"1\"\n[dev-dependencies]\nlazy = \"2\"";
    let files = [(
        "src/x.rs".to_owned(),
        "//! idle is only spoken of.\nuse used_one::Thing;\nconst A: &str = \"lazy\";".to_owned(),
    )];
    assert_eq!(rules::unused_dependencies(manifest, &files), ["idle", "lazy"]);
    let workspace = "[workspace.dependencies]\nlazy = \"2\"\nforgotten = \"1\"";
    assert_eq!(rules::unshared_dependencies(workspace, &[manifest.to_owned()]), ["forgotten"]);
}

#[test]
fn planted_shapes_are_seen() {
    assert_eq!(lines(rules::shape("src/x.rs", "use std::fs;\n")), [1]);
    assert_eq!(lines(rules::shape("src/x.rs", "//! Short.\n")), [1]);
    let head = "//! A file of lines that say nothing at all.\n";
    assert_eq!(
        rules::shape("src/x.rs", &(head.to_owned() + &"\n".repeat(rules::MAX_LINES - 1))),
        []
    );
    assert_eq!(
        lines(rules::shape("src/x.rs", &(head.to_owned() + &"\n".repeat(rules::MAX_LINES)))),
        [rules::MAX_LINES + 1]
    );
}

#[test]
fn planted_wide_lines_are_seen() {
    let wide = "ab ".repeat(rules::MAX_COLUMNS / 3 + 1);
    for planted in [
        format!("// {wide}"),
        format!("f({wide});"),
        format!("f(\"{wide} or\");"),
        format!("f(\"{wide}\\\n b\");"),
        format!("f(\"a\nb\"); f();\n// {wide}"),
    ] {
        let last = planted.lines().position(|line| line.len() > rules::MAX_COLUMNS);
        let found = lines(rules::width("src/x.rs", &planted));
        assert_eq!(found.first().copied(), last.map(|at| at + 1), "{planted}");
    }
    for allowed in [
        "é".repeat(rules::MAX_COLUMNS),
        format!("f(r#\"{wide}\"#);"),
        format!("f(\"a\n{wide}\");"),
        format!("    /// https://{}", "a".repeat(rules::MAX_COLUMNS)),
    ] {
        assert_eq!(rules::width("src/x.rs", &allowed), [], "{allowed}");
    }
}

#[test]
fn planted_leftovers_are_seen() {
    for planted in [
        concat!("// TO", "DO: later"),
        concat!("/* FIX", "ME */"),
        "fn f() { todo!() }",
        "fn f() { std::thread::sleep(second) }",
        "async fn f() { tokio::time::sleep(second).await }",
        "fn f() { sleep(second) }",
        "#[ignore]",
        "#[ignore = \"slow\"]",
        "#[should_panic(expected = \"x\")]",
    ] {
        assert_eq!(lines(rules::leftovers("src/x.rs", planted)), [1], "{planted}");
    }
    for allowed in [
        "fn f() { g(\"todo!()\") }",
        "// sleeps never",
        "fn todo_list() { asleep(1) }",
        "use ignore::Walk;",
    ] {
        assert_eq!(rules::leftovers("src/x.rs", allowed), [], "{allowed}");
    }
}
