//! One edited file: which of its symbols are gone or have another header, from its texts before and
//! after the edit. Pure.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::symbols::{self, FileSide, SideSymbol};
use crate::symbols::STACK;
use cograph_model::change::{ChangeKind, ChangedSymbol, Edit, SameLines, SymbolSide};
use cograph_model::facts::{FileFacts, ImportKind};
use cograph_model::{ProblemKind, RepoPath};

/// What is known of a file before an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Before {
    /// Its text.
    Text(Vec<u8>),
    /// Its symbols, without the names and types of parameters.
    Symbols {
        /// Symbols by position.
        sides: Vec<SymbolSide>,
        /// Number of lines that could not be parsed.
        unparsed: u32,
    },
}

/// Compares a file with its text after an edit. None if nothing differs or the edit leaves more
/// lines that cannot be parsed: what is half-written says nothing about symbols.
pub fn edited(path: &RepoPath, before: Before, after: &[u8]) -> Option<Edit> {
    if matches!(&before, Before::Text(text) if text == after) {
        return None;
    }
    let (old, new) = std::thread::scope(|scope| {
        let named =
            |name: &str| std::thread::Builder::new().name(format!("edit-{name}")).stack_size(STACK);
        let new = named("after").spawn_scoped(scope, || EditSide::of(path, after)).ok()?;
        let old = match &before {
            Before::Text(text) => {
                let old = named("before").spawn_scoped(scope, || EditSide::of(path, text)).ok()?;
                old.join().ok()??
            }
            Before::Symbols { sides, unparsed } => EditSide {
                facts: None,
                own: FileSide::without_text(sides.clone()),
                unparsed: *unparsed,
            },
        };
        Some((old, new.join().ok()??))
    })?;
    if new.unparsed > old.unparsed {
        return None;
    }
    let facts = new.facts?;
    let none = FxHashSet::default();
    let (mut found, removed, added) = symbols::compared(&old.own, &new.own, &none, &none);
    found.extend(symbols::paired(removed, added));
    found.retain(|symbol| !matches!(symbol.kind, ChangeKind::Added | ChangeKind::Body));
    let same = match &before {
        Before::Text(text) => Some(same_lines(text, after)),
        Before::Symbols { .. } => {
            found.iter_mut().for_each(with_parameters);
            None
        }
    };
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let name = |symbol: &SideSymbol| symbol.side.qualified_name();
    old.own.symbols.iter().for_each(|symbol| counts.entry(name(symbol)).or_default().0 += 1);
    new.own.symbols.iter().for_each(|symbol| counts.entry(name(symbol)).or_default().1 += 1);
    Some(Edit {
        path: path.clone(),
        symbols: found,
        counts,
        imported: imported(&facts),
        has_wildcard: facts
            .imports
            .iter()
            .any(|import| import.kind == ImportKind::Wildcard && import.scope.0 == 0),
        calls: symbols::calls_of(&facts, after),
        text: after.to_vec(),
        same,
    })
}

struct EditSide {
    /// None without a text.
    facts: Option<FileFacts>,
    own: FileSide,
    /// Number of lines that could not be parsed.
    unparsed: u32,
}

impl EditSide {
    fn of(path: &RepoPath, text: &[u8]) -> Option<Self> {
        let (facts, bodies) = symbols::facts_of(path, text).ok()?;
        let own = FileSide::of_facts(path, text, &facts, &bodies);
        let unparsed =
            facts.problems.iter().filter(|problem| problem.kind != ProblemKind::Encoding);
        let unparsed = unparsed.map(|problem| problem.last_line - problem.first_line + 1).sum();
        Some(Self { facts: Some(facts), own, unparsed })
    }
}

/// Names that a file imports, or hands on from another one.
fn imported(facts: &FileFacts) -> Vec<String> {
    let names = facts.imports.iter().flat_map(|import| [import.alias.get(), import.item.get()]);
    names.flatten().map(|name| facts.names[name].to_string()).collect()
}

/// Parameters that are not known are those after the edit: their number decides.
fn with_parameters(symbol: &mut ChangedSymbol) {
    if let (Some(old), Some(new)) = (&mut symbol.old, &symbol.new) {
        old.parameters.clone_from(&new.parameters);
    }
}

/// True if the lines that differ from the text before are in the body of one function, and in the
/// header of none of its symbols: such an edit breaks no use, without a look at the text after it.
pub fn is_in_body(sides: &[SymbolSide], before: &[u8], after: &[u8]) -> bool {
    let same = same_lines(before, after);
    // What is inserted between two lines touches both.
    let (first, last) = match same.first + same.last == same.all.0 {
        true => (same.first, same.first + 1),
        false => (same.first + 1, same.all.0 - same.last),
    };
    let headed = |side: &&SymbolSide| side.kind.is_callable() || side.kind.is_type();
    let text = String::from_utf8_lossy(before);
    let lines: Vec<&str> = text.lines().collect();
    let mut is_inside = false;
    for side in sides.iter().filter(headed) {
        let (start, end) = side.lines;
        let header = header_end(side, &lines).unwrap_or(end);
        if first <= header && start <= last {
            return false;
        }
        is_inside |= side.kind.is_callable() && header < first && last <= end;
    }
    is_inside
}

/// Last line of the header of a symbol; none if the text does not have its signature.
fn header_end(side: &SymbolSide, lines: &[&str]) -> Option<u32> {
    let rest = |text: &str| text.find(&side.name).map(|at| at + side.name.len());
    let wanted = &side.signature[rest(&side.signature)?..];
    let mut wanted = wanted.chars().filter(|letter| !letter.is_whitespace()).peekable();
    let first = side.name_at.line as usize;
    let mut from = rest(lines.get(first.checked_sub(1)?)?)?;
    for (line, text) in lines.iter().enumerate().skip(first - 1) {
        for letter in text[from..].chars().filter(|letter| !letter.is_whitespace()) {
            match wanted.peek() {
                None => return u32::try_from(line + 1).ok(),
                Some(next) if *next == letter => drop(wanted.next()),
                Some(_) => return None,
            }
        }
        from = 0;
    }
    None
}

/// Lines at both ends that the texts have in common.
fn same_lines(old: &[u8], new: &[u8]) -> SameLines {
    let lines =
        |text| -> Vec<&[u8]> { <[u8]>::split_inclusive(text, |&byte| byte == b'\n').collect() };
    let (old, new) = (lines(old), lines(new));
    let first = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.iter().rev().zip(new.iter().rev());
    let last = rest.take_while(|(one, other)| one == other).count();
    let last = last.min(old.len().min(new.len()) - first);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    SameLines {
        first: number(first),
        last: number(last),
        all: (number(old.len()), number(new.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        "from x import y\n\ndef one(a):\n    return y(a)\n\ndef two():\n    return one(1)\n";

    fn check(new: &str) -> Option<(Edit, Vec<String>)> {
        let path = RepoPath::new("a.py").expect("a path");
        let edit = edited(&path, Before::Text(OLD.as_bytes().to_vec()), new.as_bytes())?;
        let name = |symbol: &ChangedSymbol| {
            let old = symbol.old.as_ref().expect("it was there");
            format!("{} {}", symbol.kind.word(), old.qualified_name())
        };
        let names = edit.symbols.iter().map(name).collect();
        Some((edit, names))
    }

    #[test]
    fn headers_and_names_count_and_bodies_do_not() {
        let names = |new: &str| check(new).map(|(_, names)| names);
        assert_eq!(names(OLD), None);
        let body = OLD.replace("y(a)", "y(a + 1)") + "\ndef three():\n    pass\n";
        assert_eq!(names(&body), Some(vec![]));
        assert_eq!(
            names(&OLD.replace("one(a)", "one(a, b)")),
            Some(vec!["signature one".to_owned()])
        );
        let gone = OLD.replace("def one(a):\n    return y(a)\n\n", "");
        let (edit, found) = check(&gone).expect("it differs");
        assert_eq!(found, ["removed one"]);
        assert_eq!(edit.counts["one"], (1, 0));
        assert_eq!(edit.same.and_then(|same| same.moved(7)), Some(4));
        assert!(!edit.mentions("one") && edit.imported.contains(&"y".to_owned()));
    }

    #[test]
    fn an_edit_inside_of_one_body_is_recognized_without_the_text_after_it() {
        let text = "import y\n\n\nclass A:\n    def one(\n        self, a,\n    ):\n        \
                    b = a\n\n        def inner(c):\n            return c\n        \
                    return y(a)\n\n    x = 1\n\n\ndef two():\n    z = 1\n    return z\n";
        let path = RepoPath::new("a.py").expect("a path");
        let side = EditSide::of(&path, text.as_bytes()).expect("it is parsed");
        let sides: Vec<SymbolSide> = side.own.symbols.into_iter().map(|one| one.side).collect();
        let check = |old: &str, new: &str| {
            assert_eq!(text.matches(old).count(), 1, "{old}");
            is_in_body(&sides, text.as_bytes(), text.replace(old, new).as_bytes())
        };
        for (old, new) in [
            ("b = a", "b = a + 1"),
            ("return y(a)", "d = 1\n        return y(d)"),
            ("        return y(a)\n", ""),
            ("    return z", "    z += 1\n    return z"),
            ("z = 1\n", "z = 1\n    print(z)\n"),
        ] {
            assert!(check(old, new), "{old} -> {new}");
        }
        for (old, new) in [
            ("self, a,", "self, a, e,"),
            ("self, a,\n", "self, a,\n        e,\n"),
            ("    ):\n", "    ) -> int:\n"),
            ("    def one(\n", "    @property\n    def one(\n"),
            ("class A:", "class B:"),
            ("x = 1", "x = 2"),
            ("import y", "import z as y"),
            ("def two():", "def three():"),
            ("        return y(a)\n\n    x = 1\n\n\ndef two", "        return 1\n\n\ndef two"),
        ] {
            assert!(!check(old, new), "{old} -> {new}");
        }
    }

    #[test]
    fn what_is_half_written_says_nothing() {
        assert!(check(&OLD.replace("def one(a):", "def one(a")).is_none());
    }

    #[test]
    fn without_the_text_before_the_number_of_parameters_decides() {
        let path = RepoPath::new("a.py").expect("a path");
        let old = EditSide::of(&path, OLD.as_bytes()).expect("it is parsed");
        let mut sides: Vec<SymbolSide> = old.own.symbols.into_iter().map(|one| one.side).collect();
        sides.iter_mut().for_each(|side| side.parameters.clear());
        let before = Before::Symbols { sides, unparsed: 0 };
        let new = OLD.replace("one(a)", "one(a, b)");
        let edit = edited(&path, before, new.as_bytes()).expect("it differs");
        let [symbol] = &edit.symbols[..] else { unreachable!("one: {:?}", edit.symbols) };
        let side = |side: &Option<SymbolSide>| side.clone().expect("both sides are known");
        assert_eq!(side(&symbol.old).arity, (1, 1));
        assert_eq!(side(&symbol.old).parameters, side(&symbol.new).parameters);
        assert!(edit.same.is_none() && edit.mentions("one"));
    }
}
