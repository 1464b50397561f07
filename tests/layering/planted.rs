//! Violations of the layers inside of a crate, planted into files that exist in these tests only.

use super::folders;
use super::graph::Graph;

/// Files with these texts.
fn planted(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn planted_arrows_are_seen_in_every_notation() {
    let layers: &[(&str, &[&[&str]])] = &[("store", &[&["format"], &["read", "build"]])];
    let with = |text: &str, upwards: &[(&str, &str, &str)]| {
        let files = planted(&[
            ("src/store/lib.rs", "pub use read::rows::Row; use crate::build;"),
            ("src/store/format.rs", "mod schema;"),
            ("src/store/format/schema.rs", text),
            ("src/store/read.rs", "pub(super) mod rows;"),
            ("src/store/read/rows.rs", "use super::super::format::schema; pub struct Row;"),
            ("src/store/build.rs", "fn f() { crate::format::schema::g() }"),
            ("src/store/novelty.rs", ""),
        ]);
        folders::second_level(&Graph::of(&files), layers, upwards)
    };
    for planted in [
        "use crate::read::rows;",
        "use crate::{build::Thing, format};",
        "use super::super::build;",
        "use crate::Row;",
        "use crate::build::Thing as Other;",
        "fn f() { super::super::read::rows::g() }",
        "use crate::Row; fn f() { Row::new() }",
        "mod inner { use super::super::super::read; }",
        "use crate::novelty;",
    ] {
        assert_eq!(with(planted, &[]).len(), 1, "{planted}");
    }
    for allowed in [
        "use super::Thing;",
        "use crate::Nothing;",
        "mod tests { use crate::read; }",
        "// crate::read::rows",
    ] {
        assert_eq!(with(allowed, &[]), Vec::<String>::new(), "{allowed}");
    }
    let exception = [("store", "format", "read")];
    assert_eq!(with("use crate::Row;", &exception), Vec::<String>::new());
    assert_eq!(with("", &exception).len(), 1, "an exception that is none any more");
    let neighbours =
        planted(&[("src/store/read.rs", "use crate::build::f;"), ("src/store/build.rs", "")]);
    assert_eq!(
        folders::second_level(&Graph::of(&neighbours), layers, &[]).len(),
        1,
        "neighbours of one layer are strangers"
    );
}

#[test]
fn planted_circles_are_seen() {
    let circle = |other: &str| {
        let files = planted(&[
            ("src/x/a.rs", "pub use inner::X; mod inner;"),
            ("src/x/a/inner.rs", "use crate::b::Z;"),
            ("src/x/b.rs", other),
            ("src/x/b/deep.rs", "use crate::c; #[cfg(test)] mod checks;"),
            ("src/x/b/deep/checks.rs", "use crate::b::deep::All;"),
            ("src/x/c.rs", "mod tests { use crate::a::inner; }"),
        ]);
        Graph::of(&files)
    };
    let known: &[(&[&str], &str)] = &[(&["src/x/a/inner.rs", "src/x/b.rs"], "one concept")];
    for planted in [
        "use crate::a::inner::X;",
        "use crate::a::X;",
        "fn f() { crate::a::X::g() }",
        "fn f() { crate::a::inner::g() }",
    ] {
        assert_eq!(folders::circles(&circle(planted), &[]).len(), 1, "{planted}");
        let allowed = folders::circles(&circle(planted), known);
        assert_eq!(allowed, Vec::<String>::new(), "{planted}");
    }
    for allowed in
        ["use deep::All;", "mod tests { use crate::a::X; }", "use crate::c;", "// crate::a::X"]
    {
        let none = folders::circles(&circle(allowed), &[]);
        assert_eq!(none, Vec::<String>::new(), "{allowed}");
        let stale = folders::circles(&circle(allowed), known);
        assert_eq!(stale.len(), 1, "a stale exception");
    }
}

#[test]
fn planted_imports_from_the_file_above_are_seen() {
    let with = |inner: &str| {
        let files = planted(&[
            ("src/x/lib.rs", "mod a; pub use a::f;"),
            ("src/x/a.rs", "mod inner; mod shared; pub use shared::T; fn f() { inner::g(T) }"),
            ("src/x/a/inner.rs", inner),
            ("src/x/a/shared.rs", "pub struct T;"),
        ]);
        folders::circles(&Graph::of(&files), &[])
    };
    for (planted, files) in [
        ("use super::f;", 2),
        ("use crate::a::f;", 2),
        ("fn g() { super::f() }", 2),
        ("use crate::run;", 3),
        ("fn g() { crate::run() }", 3),
    ] {
        let found = with(planted);
        assert_eq!(found.len(), 1, "{planted}");
        assert_eq!(found[0].matches(".rs").count(), files, "{planted}: {found:?}");
    }
    for allowed in ["use super::T;", "use super::shared::T;", "use crate::a::shared::T;"] {
        assert_eq!(with(allowed), Vec::<String>::new(), "{allowed}");
    }
}

#[test]
fn planted_crowds_are_seen() {
    let files = |count: usize| -> Vec<(String, String)> {
        let many = (0..count).map(|number| format!("src/store/file{number}.rs"));
        many.chain(["src/lib.rs".into(), "src/store/lib.rs".into(), "src/store/deep/x.rs".into()])
            .map(|path| (path, String::new()))
            .collect()
    };
    assert_eq!(folders::crowded(&files(folders::MAX_FILES)), Vec::<String>::new());
    assert_eq!(folders::crowded(&files(folders::MAX_FILES + 1)).len(), 1);
}

#[test]
fn planted_namesakes_are_seen() {
    let with = |last: &str| {
        let files = ["struct Same;", "pub(super) enum Same<'a> {}", "pub trait Same {}", last];
        let files: Vec<(String, String)> =
            files.iter().map(|text| ("src/x.rs".to_owned(), (*text).to_owned())).collect();
        folders::namesakes(&files)
    };
    for planted in [
        "struct Same(u32);",
        "mod inner { pub enum Same {} }",
        "mod tests { struct Other; } struct Same { a: u32 }",
    ] {
        assert_eq!(with(planted).len(), 1, "{planted}");
    }
    for allowed in [
        "mod tests { struct Same; }",
        "impl Same {}",
        "// struct Same",
        "struct Similar; fn f(_: Same) {}",
    ] {
        assert_eq!(with(allowed), Vec::<String>::new(), "{allowed}");
    }
}

#[test]
fn planted_types_that_are_spread_out_are_seen() {
    let with = |last: &str, known: &[(&str, &str)]| {
        let one = ("src/a/lib.rs", "impl Same { fn f(&self) {} }");
        let files = planted(&[
            one,
            ("src/a/b.rs", "struct X; impl<'a, F: Fn() -> u8> Same<'a, F> {}"),
            ("src/a/c.rs", "#[cfg(x)] impl super::Same {} impl From<Same> for Other {}"),
            ("src/a/d.rs", last),
        ]);
        folders::spread_out(&files, known)
    };
    for planted in ["impl Same {}", "mod x {} impl<T> Same<T> where T: Copy { fn g() {} }"] {
        assert_eq!(with(planted, &[]).len(), 1, "{planted}");
        assert_eq!(with(planted, &[("a", "Same")]), Vec::<String>::new(), "{planted}");
        assert_eq!(with(planted, &[("b", "Same")]).len(), 2, "of another crate");
    }
    for allowed in [
        "impl Clone for Same {}",
        "fn f() -> impl Same { g() }",
        "mod tests { impl Same {} }",
        "// impl Same {}",
        "impl Other<Same> {}",
    ] {
        assert_eq!(with(allowed, &[]), Vec::<String>::new(), "{allowed}");
        assert_eq!(with(allowed, &[("a", "Same")]).len(), 1, "a stale exception");
    }
}
