//! Whether the arguments of a call fit a callable: number, names, order, and types where the file
//! of the call shows them. Pure.

use rustc_hash::FxHashSet;

use crate::graph::answer::Certainty;
use cograph_grammar::Language;
use cograph_model::change::{CallShape, SymbolSide};

/// Why the arguments do not fit a callable; none if they do, or may.
pub(super) fn misfit(shape: &CallShape, callable: &SymbolSide) -> Option<String> {
    let (least, most) = callable.arity;
    if let Some(name) = shape.named.iter().find(|name| !callable.parameters.contains(name))
        && !callable.takes_any_name
        && !callable.parameters.is_empty()
    {
        return Some(format!("no parameter `{name}`"));
    }
    let given = usize::from(shape.positional) + shape.named.len();
    if most != u16::MAX && given > usize::from(most) {
        return Some(count_misfit(given, least, most));
    }
    if !shape.is_open && given < usize::from(least) {
        return Some(count_misfit(given, least, most));
    }
    None
}

fn count_misfit(given: usize, least: u16, most: u16) -> String {
    let noun = if given == 1 { "argument" } else { "arguments" };
    format!("{given} {noun}, {} taken", range(least, most))
}

fn range(least: u16, most: u16) -> String {
    match (least, most) {
        (least, u16::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// True if an argument by position is for another parameter now.
pub(super) fn reordered(shape: &CallShape, old: &SymbolSide, new: &SymbolSide) -> bool {
    let same_names: FxHashSet<&String> = old.parameters.iter().collect();
    old.parameters.len() == new.parameters.len()
        && new.parameters.iter().all(|name| same_names.contains(name))
        && old
            .parameters
            .iter()
            .zip(&new.parameters)
            .take(usize::from(shape.positional))
            .any(|(before, after)| before != after)
}

/// Types of a language that literals have.
pub(super) struct Types<'l> {
    language: &'l Language,
    texts: FxHashSet<&'l str>,
    others: FxHashSet<&'l str>,
}

impl<'l> Types<'l> {
    pub(super) fn of(language: &'l Language) -> Self {
        let (texts, others) = language.literal_types();
        Self { language, texts, others }
    }

    /// Why an argument does not have the type of its parameter any more, and how certain that is.
    pub(super) fn misfit(
        &self,
        shape: &CallShape,
        old: &SymbolSide,
        new: &SymbolSide,
    ) -> Option<(String, Certainty)> {
        let names = (0..shape.positional).map(|_| None).chain(shape.named.iter().map(Some));
        for (at, (name, given)) in names.zip(&shape.types).enumerate() {
            let place = |side: &SymbolSide| match name {
                Some(name) => side.parameters.iter().position(|own| own == name),
                None => Some(at),
            };
            let ty = |side: &'_ SymbolSide| place(side).and_then(|at| side.types.get(at).cloned());
            let (Some(before), Some(now)) = (ty(old), ty(new)) else { continue };
            if before == now {
                continue;
            }
            if let Some(certainty) = self.excludes(given, &before, &now) {
                let given = given.trim_end_matches('"');
                return Some((format!("{given} for a parameter of type {now}"), certainty));
            }
        }
        None
    }

    /// How certainly a value of one type, which was taken as `before`, is not taken as `now`.
    fn excludes(&self, given: &str, before: &str, now: &str) -> Option<Certainty> {
        let is_quoted = given.ends_with('"');
        let given = given.trim_end_matches('"');
        let rules = &self.language.manifest.conversions;
        let is_any = self.language.manifest.builtins.any.iter().any(|any| any == now);
        if given.is_empty()
            || now.is_empty()
            || is_any
            || given == now
            || self.converts(given, now, is_quoted)
        {
            return None;
        }
        let is_listed =
            |name: &str| rules.widening.contains_key(name) || rules.supertypes.contains_key(name);
        let is_library = |name: &str| {
            let is_literal = self.texts.contains(name) || self.others.contains(name);
            is_literal || self.language.is_builtin(name) || is_listed(name)
        };
        // Where characters have the type of texts, only the quotes tell them apart.
        let is_text = |name: &str| {
            self.texts.contains(name) && (!self.others.contains(name) || is_quoted && name == given)
        };
        match (is_library(given), is_library(now)) {
            (true, true) if is_listed(given) && is_listed(now) => Some(Certainty::Certain),
            // A text and what is none exclude each other; numbers may convert.
            (true, true) if is_text(given) != is_text(now) => Some(Certainty::Certain),
            (true, true) => None,
            // Another type may be an alias, or be constructed.
            (true, false) if !rules.constructs.is_empty() => Some(Certainty::Possible),
            (true, false) if is_text(given) || given == before => Some(Certainty::Likely),
            (false, true) if given == before => Some(Certainty::Likely),
            (false, false) if given == before => Some(Certainty::Possible),
            _ => None,
        }
    }

    /// True if a library type converts to another one, in any number of steps. A text in quotes
    /// does so only by what it constructs, if characters have its type.
    fn converts(&self, given: &str, now: &str, is_quoted: bool) -> bool {
        let rules = &self.language.manifest.conversions;
        let has = |types: Option<&Vec<String>>| types.into_iter().flatten().any(|ty| ty == now);
        if rules.top.as_deref() == Some(now) || has(rules.constructs.get(given)) {
            return true;
        }
        if is_quoted && self.others.contains(given) {
            return false;
        }
        let (mut known, mut next) = (vec![given], 0);
        while let Some(&from) = known.get(next) {
            next += 1;
            if from == now {
                return true;
            }
            let direct = [&rules.widening, &rules.supertypes].into_iter();
            let direct = direct.filter_map(|table| table.get(from)).flatten();
            let boxed =
                rules.boxes.iter().filter(|(plain, boxed)| *plain == from || *boxed == from);
            let boxed = boxed.flat_map(|(plain, boxed)| [plain, boxed]);
            for name in direct.chain(boxed) {
                if !known.contains(&name.as_str()) {
                    known.push(name);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::{Position, RepoPath, SymbolKind, Visibility};

    fn callable(parameters: &[&str], arity: (u16, u16)) -> SymbolSide {
        SymbolSide {
            path: RepoPath::new("a.x").expect("a path"),
            name: "f".to_owned(),
            container: String::new(),
            kind: SymbolKind::Function,
            visibility: Visibility::Public,
            is_exported: true,
            name_at: Position { line: 1, column: 0 },
            lines: (1, 2),
            signature: String::new(),
            arity,
            parameters: parameters.iter().map(|&name| name.to_owned()).collect(),
            types: Vec::new(),
            takes_any_name: arity.1 == u16::MAX,
            bodies: Vec::new(),
        }
    }

    fn call(positional: u16, named: &[&str], is_open: bool) -> CallShape {
        let named = named.iter().map(|&name| name.to_owned()).collect();
        CallShape { positional, named, is_open, types: Vec::new() }
    }

    #[test]
    fn arguments_fit_by_number_and_name() {
        let two = callable(&["a", "b"], (1, 2));
        assert_eq!(misfit(&call(1, &[], false), &two), None);
        assert_eq!(misfit(&call(1, &["b"], false), &two), None);
        assert_eq!(
            misfit(&call(3, &[], false), &two).as_deref(),
            Some("3 arguments, 1 to 2 taken")
        );
        assert_eq!(
            misfit(&call(0, &[], false), &two).as_deref(),
            Some("0 arguments, 1 to 2 taken")
        );
        assert_eq!(misfit(&call(0, &[], true), &two), None, "others may be spread");
        assert_eq!(misfit(&call(0, &["c"], false), &two).as_deref(), Some("no parameter `c`"));
        let any = callable(&["a"], (0, u16::MAX));
        assert_eq!(misfit(&call(9, &["z"], false), &any), None);
    }

    #[test]
    fn the_order_matters_for_arguments_by_position() {
        let (old, new) = (callable(&["a", "b"], (2, 2)), callable(&["b", "a"], (2, 2)));
        assert!(reordered(&call(1, &["b"], false), &old, &new));
        assert!(!reordered(&call(0, &["a", "b"], false), &old, &new));
        assert!(!reordered(&call(2, &[], false), &old, &old));
    }
}
