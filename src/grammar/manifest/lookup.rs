//! What a manifest has under a name: modifiers, members, module roots, builtin types.

use crate::manifest::values::{FlowKind, TypeFlow};
use crate::manifest::words::{CallMeaning, DecoratorMeaning, ImplicitUse, ModifierMeaning};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the names of members of builtin types. A table that has the fields apart is of
/// one type, and its names say nothing of other types.
pub(crate) fn common_members(manifest: &crate::Manifest) -> FxHashSet<String> {
    let open = manifest.flow.values().filter(|flow| flow.fields.is_empty());
    let known = open.flat_map(|flow| flow.members.keys());
    known.chain(&manifest.builtins.common_members).cloned().collect()
}

/// Returns the names visible in every file without an import.
pub(crate) fn builtin_names(manifest: &crate::Manifest) -> FxHashSet<String> {
    let builtins = &manifest.builtins;
    builtins
        .functions
        .iter()
        .chain(&builtins.types)
        .chain(&manifest.modules.prelude)
        .cloned()
        .collect()
}

/// Returns the type flow table of each name and alias of a type.
pub(crate) fn flow_names(manifest: &crate::Manifest) -> FxHashMap<String, String> {
    let named = |(name, flow): (&String, &TypeFlow)| -> Vec<(String, String)> {
        std::iter::once(name)
            .chain(&flow.aliases)
            .map(|alias| (alias.clone(), name.clone()))
            .collect()
    };
    manifest.flow.iter().flat_map(named).collect()
}

/// Returns the type whose flow table has this kind.
pub(crate) fn of_kind(manifest: &crate::Manifest, kind: FlowKind) -> Option<String> {
    manifest.flow.iter().find(|(_, flow)| flow.kind == Some(kind)).map(|(name, _)| name.clone())
}

impl super::Names {
    /// Returns the members that this syntax calls.
    pub fn members_behind(&self, syntax: ImplicitUse) -> &[String] {
        self.implicit_members.get(&syntax).map_or(&[], Vec::as_slice)
    }

    /// True for a member that an operator, a subscript or an assignment to an element calls.
    pub fn is_operator(&self, name: &str) -> bool {
        let is_subscript = |member: &str| name.strip_suffix('=').unwrap_or(name) == member;
        self.operators.values().any(|member| member == name)
            || self.member_behind(ImplicitUse::Index).is_some_and(is_subscript)
    }

    /// True if calls of some function have this meaning.
    pub fn has_calls(&self, meaning: CallMeaning) -> bool {
        self.special_calls.values().any(|other| *other == meaning)
    }

    /// Returns the first member that this syntax calls.
    pub fn member_behind(&self, syntax: ImplicitUse) -> Option<&str> {
        self.members_behind(syntax).first().map(String::as_str)
    }
}

impl super::Modifiers {
    /// True if these words contain a modifier with this meaning.
    pub fn have(&self, words: &[&str], meaning: ModifierMeaning) -> bool {
        self.words.iter().any(|(modifier, meanings)| {
            meanings.contains(&meaning) && modifier.split(' ').all(|part| words.contains(&part))
        })
    }

    /// True if some modifier has this meaning.
    pub fn has_modifier(&self, meaning: ModifierMeaning) -> bool {
        self.words.values().any(|meanings| meanings.contains(&meaning))
    }

    /// True if a decorator of this name has this meaning.
    pub fn is_decorator(&self, name: &str, meaning: DecoratorMeaning) -> bool {
        self.decorators.get(name).is_some_and(|meanings| meanings.contains(&meaning))
    }

    /// True for a decorator that is known, and that neither registers nor calls its definition.
    pub(crate) fn registers_nothing(&self, path: &str) -> bool {
        let name = path.rsplit(['.', ':', '\\']).next().unwrap_or(path);
        let does = |meaning: &DecoratorMeaning| {
            use DecoratorMeaning::{Applying, ApplyingIf, Test};
            matches!(meaning, Test | Applying | ApplyingIf)
        };
        self.decorators.get(name).is_some_and(|meanings| !meanings.iter().any(does))
    }

    /// True if some decorator has this meaning.
    pub fn has_decorator(&self, meaning: DecoratorMeaning) -> bool {
        self.decorators.values().any(|meanings| meanings.contains(&meaning))
    }
}

/// Returns the token kinds of modifiers.
pub(crate) fn modifier_tokens(
    manifest: &super::Manifest,
    tokens: &[bool],
    grammar: &tree_sitter::Language,
) -> Vec<bool> {
    let marks = |meanings: &[ModifierMeaning]| {
        use ModifierMeaning::{Declaration, Extension, FieldDeclaration, ReadOnly};
        let of_another = |meaning: &ModifierMeaning| {
            matches!(meaning, Declaration | FieldDeclaration | ReadOnly | Extension)
        };
        meanings.iter().any(|meaning| !of_another(meaning))
    };
    let words = manifest.modifiers.words.iter().filter(|(_, meanings)| marks(meanings));
    let words = words.map(|(word, _)| word).chain(manifest.visibility.words.keys());
    let words: FxHashSet<&str> = words.map(String::as_str).collect();
    let is_word =
        |kind: u16| grammar.node_kind_for_id(kind).is_some_and(|text| words.contains(text));
    tokens.iter().zip(0..).map(|(is_token, kind)| *is_token && is_word(kind)).collect()
}
