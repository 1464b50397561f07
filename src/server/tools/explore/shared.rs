//! Prefix that the names of all listed symbols share: a namespace, a package, a type. The first
//! line contains it once.

use crate::answers::render::name;
use crate::base::escape::SafeLine;
use cograph_query::SymbolInfo;

/// Minimum length of a prefix that is worth a notice.
const LEAST: usize = 6;

/// Container of all listed symbols; empty if they share none.
pub(super) struct Shared(String);

impl Shared {
    /// Finds the longest container that is around all symbols.
    pub(super) fn of<'s>(mut symbols: impl Iterator<Item = &'s SymbolInfo>) -> Self {
        let Some(first) = symbols.next() else { return Self(String::new()) };
        let mut shared = first.container.as_str();
        let mut count = 1;
        for symbol in symbols {
            shared = common(shared, &symbol.container);
            count += 1;
        }
        let is_worth = count > 1 && shared.len() >= LEAST;
        Self(if is_worth { shared.to_owned() } else { String::new() })
    }

    /// The symbol without the shared part of its name.
    pub(super) fn short(&self, symbol: &SymbolInfo) -> SymbolInfo {
        let mut short = symbol.clone();
        if !self.0.is_empty() && common(&self.0, &symbol.container) == self.0 {
            short.container = symbol.container[self.0.len()..].trim_start_matches('.').to_owned();
        }
        short
    }

    /// `Container.name` without the shared part.
    pub(super) fn name(&self, symbol: &SymbolInfo) -> String {
        name(&self.short(symbol)).to_string()
    }

    /// `, all in a.b`: for the first line.
    pub(super) fn notice(&self) -> String {
        match self.0.as_str() {
            "" => String::new(),
            shared => format!(", all in {}", SafeLine::new(shared, 120)),
        }
    }
}

/// Segments, separated by dots, that two containers begin with.
fn common<'c>(one: &'c str, other: &str) -> &'c str {
    let pairs = one.split('.').zip(other.split('.'));
    let segments = pairs.take_while(|(one, other)| one == other);
    let length: usize = segments.map(|(segment, _)| segment.len() + 1).sum();
    &one[..length.saturating_sub(1)]
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn whole_segments_are_shared() {
        for (one, other, expected) in [
            ("a.b.C", "a.b.D.E", "a.b"),
            ("a.b", "a.b", "a.b"),
            ("a.bc", "a.b", "a"),
            ("a", "b", ""),
            ("", "a", ""),
        ] {
            assert_eq!(common(one, other), expected, "{one} {other}");
        }
    }
}
