//! Macros of a build, and the symbols of Kconfig among them.

use std::collections::BTreeMap;

/// Prefix of the macros that Kconfig makes of its symbols: all others with it are undefined.
const SYMBOL: &str = "CONFIG_";
/// Suffix of the macro of a symbol with the value `m`.
pub(super) const MODULE: &str = "_MODULE";

/// What is known of a macro.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Macro {
    /// Defined, and no zero.
    On,
    /// Defined as zero: a test for the definition holds, one of the value does not.
    Zero,
    /// Not defined.
    Off,
    /// Not known: compiled files differ.
    Any,
}

/// Macros by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Macros {
    pub(super) by_name: BTreeMap<String, Macro>,
    /// True if the symbols of Kconfig are known.
    pub(super) is_configured: bool,
}

impl Macros {
    /// Adds the symbols in a file of Kconfig.
    pub(super) fn add_symbols(&mut self, text: &str) {
        for line in text.lines() {
            // A symbol that is off is a comment, `# CONFIG_X is not set`, and like one not listed.
            let Some((name, value)) = line.trim().split_once('=') else { continue };
            if !name.starts_with(SYMBOL) {
                continue;
            }
            self.is_configured = true;
            match value {
                "m" => self.by_name.insert(format!("{name}{MODULE}"), Macro::On),
                "0" => self.by_name.insert(name.to_owned(), Macro::Zero),
                _ => self.by_name.insert(name.to_owned(), Macro::On),
            };
        }
    }

    pub(super) fn value(&self, name: &str) -> Macro {
        match self.by_name.get(name) {
            Some(value) => *value,
            None if self.is_configured && name.starts_with(SYMBOL) => Macro::Off,
            None => Macro::Any,
        }
    }
}
