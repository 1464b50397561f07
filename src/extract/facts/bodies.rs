//! Bodies of what can be executed: their lines and a fingerprint of their text. Pure.

use cograph_model::facts::{FileFacts, LocalSymbol, Symbol, flags};
use cograph_model::{Position, SymbolKind};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum nesting of symbols.
const MAX_NESTING: usize = 100;

/// What is executed when a symbol is called, without the header, which is executed where it is
/// defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// Position of its symbol in the facts.
    pub symbol: usize,
    /// Qualified name of the symbol: names of the enclosing ones and its own, joined by dots.
    pub name: String,
    /// Position of the name.
    pub name_at: Position,
    /// First and last line.
    pub lines: (u32, u32),
    /// True if the first line has a part of the header too.
    pub shares_line: bool,
    /// Size of the text in bytes.
    pub bytes: u32,
    /// Hash of the text, the same for all forms of line ends.
    pub fingerprint: u64,
    /// True for a local definition inside of a function.
    pub is_local: bool,
}

/// Bodies of a file, in the order of their symbols.
pub(crate) fn of_file(
    facts: &FileFacts,
    headers: &[(LocalSymbol, u32)],
    source: &[u8],
) -> Vec<Body> {
    let headers: FxHashMap<usize, u32> =
        headers.iter().filter_map(|(symbol, end)| Some((symbol.get()?, *end))).collect();
    let lines: Vec<usize> = memchr::memchr_iter(b'\n', source).collect();
    let line_of = |byte: usize| {
        let before = lines.partition_point(|&end| end < byte);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    };
    let body = |(position, symbol): (usize, &Symbol)| {
        if !is_executed(symbol) {
            return None;
        }
        let header = *headers.get(&position)? as usize;
        let end = (symbol.end_byte as usize).min(source.len());
        let text = source.get(header..end)?;
        let is_mark = |byte: &u8| byte.is_ascii_whitespace() || b":{=>".contains(byte);
        let first = header + text.iter().position(|byte| !is_mark(byte))?;
        let text = text.trim_ascii();
        let last =
            end - source[header..end].iter().rev().position(|byte| !byte.is_ascii_whitespace())?;
        Some(Body {
            symbol: position,
            name: qualified_name(facts, position),
            name_at: facts.details[position].name_at,
            lines: (line_of(first), line_of(last.saturating_sub(1))),
            shares_line: source[..header].trim_ascii_end().len().checked_sub(1).map(line_of)
                == Some(line_of(first)),
            bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
            fingerprint: fingerprint(text),
            is_local: symbol.flags & flags::LOCAL != 0,
        })
    };
    facts.symbols.iter().enumerate().filter_map(body).collect()
}

/// Hash of a text, the same for all forms of line ends.
pub fn fingerprint(text: &[u8]) -> u64 {
    if memchr::memchr(b'\r', text).is_none() {
        return xxh3_64(text);
    }
    let text: Vec<u8> = text.iter().copied().filter(|&byte| byte != b'\r').collect();
    xxh3_64(&text)
}

fn is_executed(symbol: &Symbol) -> bool {
    let is_code = symbol.kind.is_callable() && !symbol.is_macro()
        || symbol.kind == SymbolKind::Test
        || symbol.flags & flags::FUNCTION_VALUE != 0;
    is_code && symbol.flags & flags::DECLARATION == 0
}

fn qualified_name(facts: &FileFacts, symbol: usize) -> String {
    let mut names = Vec::new();
    let mut next = Some(symbol);
    while let Some(position) = next.filter(|_| names.len() < MAX_NESTING) {
        let name = facts.symbols[position].name.get();
        names.push(name.map_or("", |name| &*facts.names[name]));
        next = facts.symbols[position].container.get();
    }
    names.reverse();
    names.join(".")
}
