//! Occurrences of a name that are none of it: parts of a longer name (`evict` in `#evict`), and the
//! closing tags of elements, whose opening tags have the references.

use super::parts::Lines;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar as grammar;
use cograph_store::{FileRow, NameKey};
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Texts of the names that contain the name, and `None` for others: as far as they are needed.
pub(super) type LongerNames = FxHashMap<NameKey, Option<Rc<str>>>;

/// Names in a file by their positions.
pub(super) struct OtherNames<'o, 'q> {
    lookup: &'o Lookup<'q>,
    file: &'o FileRow,
    lines: &'o Lines<'o>,
    name: NameKey,
    /// Memo for all files.
    longer: &'o mut LongerNames,
    /// Read with the first line that needs them.
    read: Option<Names>,
}

struct Names {
    /// Text of the name.
    own: Rc<str>,
    /// Line -> columns and texts of other names.
    others: FxHashMap<u32, Vec<(u32, Rc<str>)>>,
    has_elements: bool,
}

impl<'o, 'q> OtherNames<'o, 'q> {
    pub(super) fn new(
        lookup: &'o Lookup<'q>,
        file: &'o FileRow,
        lines: &'o Lines<'o>,
        name: NameKey,
        longer: &'o mut LongerNames,
    ) -> Self {
        Self { lookup, file, lines, name, longer, read: None }
    }

    /// True if no occurrence of the name in a line is one of it.
    pub(super) fn are_all(&mut self, line: u32) -> Result<bool, QueryError> {
        let names = match self.read.take() {
            Some(names) => names,
            None => self.read()?,
        };
        let names = self.read.insert(names);
        let row = &self.lines.text()[self.lines.range(line)];
        let others = names.others.get(&line).map(Vec::as_slice).unwrap_or_default();
        let own = names.own.as_bytes();
        let mut places = memmem::find_iter(row, own).filter(|&at| is_word(row, at, own.len()));
        Ok(places.all(|at| {
            let is_part = |(column, other): &(u32, Rc<str>)| {
                let (column, other) = (*column as usize, other.as_bytes());
                let is_other = row.get(column..).is_some_and(|rest| rest.starts_with(other));
                is_other && column <= at && at + own.len() <= column + other.len()
            };
            others.iter().any(is_part) || names.has_elements && is_closing(&row[..at])
        }))
    }

    fn read(&mut self) -> Result<Names, QueryError> {
        let own: Rc<str> = self.lookup.name(self.name)?;
        let mut others: FxHashMap<u32, Vec<(u32, Rc<str>)>> = FxHashMap::default();
        let mut places = Vec::new();
        self.lookup.snapshot.visit_other_names(self.file, self.name, |name, at| {
            places.push((name, at));
        })?;
        for (name, at) in places {
            let text = match self.longer.get(&name) {
                Some(known) => known.clone(),
                None => {
                    let text = self.lookup.name(name)?;
                    let text = is_longer(&text, &own).then_some(text);
                    self.longer.insert(name, text.clone());
                    text
                }
            };
            if let Some(text) = text {
                others.entry(at.line).or_default().push((at.column, text));
            }
        }
        for symbol in self.lookup.snapshot.symbols_of(self.file)? {
            if is_longer(&symbol.name_text, &own) {
                let at = symbol.name_at;
                others.entry(at.line).or_default().push((at.column, Rc::from(symbol.name_text)));
            }
        }
        let language = self.lookup.language(self.file.language);
        Ok(Names {
            own,
            others,
            has_elements: grammar::by_name(language)
                .is_some_and(|language| language.has_elements()),
        })
    }
}

fn is_longer(other: &str, own: &str) -> bool {
    other.len() > own.len() && other.contains(own)
}

/// True for an occurrence that is a whole word.
fn is_word(row: &[u8], at: usize, length: usize) -> bool {
    let is_letter = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
    };
    let before = at.checked_sub(1).and_then(|before| row.get(before));
    let is_joined = is_letter(before) && is_letter(row.get(at))
        || is_letter(row.get(at + length)) && is_letter(row.get(at + length - 1));
    !is_joined
}

/// True if a closing tag has begun and its name, or the path to it, has not ended.
fn is_closing(before: &[u8]) -> bool {
    let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let length = before.iter().rev().take_while(|byte| is_path(byte)).count();
    before[..before.len() - length].ends_with(b"</")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_tags_and_words_are_distinguished() {
        for (before, expected) in
            [("  </", true), ("</Theme.", true), ("<", false), ("</A><", false), ("a < /", false)]
        {
            assert_eq!(is_closing(before.as_bytes()), expected, "{before}");
        }
        assert!(is_word(b"#evict()", 1, 5) && is_word(b"evict", 0, 5));
        assert!(!is_word(b"evicted", 0, 5) && !is_word(b"re_evict", 3, 5));
        assert!(is_word(b"a<=>b", 1, 3), "an operator ends at a letter");
    }
}
