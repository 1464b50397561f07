//! Conditions of the preprocessor, evaluated with the macros of a build.

use super::macros::{MODULE, Macro, Macros};

/// Maximum nesting of a condition.
const MAX_DEPTH: u32 = 32;

/// Returns whether a condition holds, if the build decides it. The condition has no white space.
pub(super) fn holds(macros: &Macros, condition: &str) -> Option<bool> {
    let mut reader = ConditionReader { rest: condition, macros };
    let found = reader.either(0);
    found.filter(|_| reader.rest.is_empty())
}

fn is_defined(of: Macro) -> Option<bool> {
    match of {
        Macro::On | Macro::Zero => Some(true),
        Macro::Off => Some(false),
        Macro::Any => None,
    }
}

/// Reader of a condition, in Kleene's logic: what is not known may still not matter.
struct ConditionReader<'c> {
    rest: &'c str,
    macros: &'c Macros,
}

impl<'c> ConditionReader<'c> {
    fn either(&mut self, depth: u32) -> Option<bool> {
        let mut left = self.both(depth);
        while self.takes("||") {
            let right = self.both(depth);
            left = match (left, right) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        left
    }

    fn both(&mut self, depth: u32) -> Option<bool> {
        let mut left = self.one(depth);
        while self.takes("&&") {
            let right = self.one(depth);
            left = match (left, right) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        left
    }

    fn one(&mut self, depth: u32) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.takes("!") {
            let found = self.one(depth + 1);
            return found.map(|value| !value);
        }
        if self.takes("(") {
            let found = self.either(depth + 1);
            let is_closed = self.takes(")");
            return found.filter(|_| is_closed);
        }
        let word = self.word();
        match word {
            "" => None,
            "1" => Some(true),
            "0" => Some(false),
            // The tests of Linux for symbols: <include/linux/kconfig.h>.
            "IS_ENABLED" | "IS_REACHABLE" => self.symbol(&["", MODULE]),
            "IS_BUILTIN" => self.symbol(&[""]),
            "IS_MODULE" => self.symbol(&[MODULE]),
            "defined" if self.rest.starts_with('(') => self.definition(),
            // `defined X`, without its white space.
            word => match (self.macros.value(word), word.strip_prefix("defined")) {
                (Macro::On, _) => Some(true),
                (Macro::Off, _) => Some(false),
                (Macro::Any, Some(name)) => is_defined(self.macros.value(name)),
                (Macro::Zero | Macro::Any, _) => None,
            },
        }
    }

    /// Reads the argument of a test for a definition.
    fn definition(&mut self) -> Option<bool> {
        let name = self.takes("(").then(|| self.word())?;
        if self.takes(")") { is_defined(self.macros.value(name)) } else { None }
    }

    /// Reads the argument of a test for a symbol, which has the macro with one of these suffixes.
    fn symbol(&mut self, suffixes: &[&str]) -> Option<bool> {
        if !self.takes("(") {
            return None;
        }
        let name = self.word();
        let is_whole = self.takes(")");
        if !self.macros.is_configured || !is_whole {
            return None;
        }
        let is_on = |suffix: &&str| self.macros.value(&format!("{name}{suffix}")) == Macro::On;
        Some(suffixes.iter().any(is_on))
    }

    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        // `!=` is no negation.
        let rest = rest.filter(|rest| mark != "!" || !rest.starts_with('='));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> &'c str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}
