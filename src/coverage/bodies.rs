//! Bodies of the functions of a file, and which of them a line belongs to. Pure.

use cograph_extract::{self as extract, Body};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use std::io;

/// Bodies of the present text of a file.
#[derive(Debug, Default)]
pub(super) struct FileBodies {
    /// In the order of their symbols.
    pub(super) bodies: Vec<Body>,
    /// Number of lines.
    pub(super) lines: u32,
}

impl FileBodies {
    /// Extracts them; none of a file in no language, or one that takes too much to parse. Needs a
    /// thread with the stack that extraction needs.
    pub(super) fn of(path: &RepoPath, text: &[u8]) -> Option<Self> {
        if memchr::memchr(0, text).is_some() {
            return None;
        }
        let language = grammar::detect(path, text, &[])?;
        if grammar::most_bytes(language).is_some_and(|most| text.len() as u64 > most) {
            return None;
        }
        let limits = extract::Limits::quick();
        let extracted = extract::extract_with_bodies(language, path.as_str(), text, limits);
        let (facts, bodies) = extracted.ok()?;
        Some(Self { bodies, lines: facts.lines })
    }

    /// The bodies that the execution of a line is evidence for: the innermost one, and the next one
    /// too if the innermost begins on the line of its own header, for a line of a header is
    /// executed by what it is in.
    pub(super) fn at(&self, line: u32) -> impl Iterator<Item = usize> {
        let around = |(position, body): (usize, &Body)| {
            (body.lines.0 <= line && line <= body.lines.1).then_some((body.bytes, position))
        };
        let mut found: Vec<(u32, usize)> =
            self.bodies.iter().enumerate().filter_map(around).collect();
        found.sort_unstable();
        let is_shared = |position: usize| {
            let body = &self.bodies[position];
            body.shares_line && body.lines.0 == line
        };
        let shared = found.iter().take_while(|(_, position)| is_shared(*position)).count();
        found.truncate(shared + 1);
        found.into_iter().map(|(_, position)| position)
    }
}

/// Reads a file of the repository.
pub type ReadTree<'r> = &'r (dyn Fn(&RepoPath) -> io::Result<Vec<u8>> + Sync);

/// Stack of the thread that extracts bodies.
pub(crate) const STACK: usize = 64 << 20;

/// Runs what extracts symbols, which needs a large stack; none if it panicked.
pub(crate) fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("coverage".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        thread.ok()?.join().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_member_is_executed_and_a_macro_is_not() {
        for (path, text, names) in [
            ("a.js", "class A {\n  #run() {\n    step();\n  }\n}\n", &["A.#run"][..]),
            ("a.c", "#define RUN(x) step(x)\n#define STOP\n", &[]),
        ] {
            let file = RepoPath::new(path).expect("a plain path");
            let found = FileBodies::of(&file, text.as_bytes()).expect("it is parsed");
            let found: Vec<&str> = found.bodies.iter().map(|body| body.name.as_str()).collect();
            assert_eq!(found, names, "{path}");
        }
    }
}
