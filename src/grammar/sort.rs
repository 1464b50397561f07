//! Classification of node kinds in addition to their rules: tokens, modifiers, comments. Computed
//! once for each kind of a language.

use super::parse::Parsed;
use super::pattern::Pattern;
use super::rule::Rule;
use super::type_rule::TypeRule;
use rustc_hash::FxHashSet;

/// Anonymous token.
pub(super) const TOKEN: u8 = 1;
/// Token that is a modifier of the definition that contains it.
pub(super) const MODIFIER: u8 = 1 << 1;
/// Node that contains modifiers.
pub(super) const MODIFIER_NODE: u8 = 1 << 2;
/// Comment.
pub(super) const COMMENT: u8 = 1 << 3;

/// Roles used by a language: children are not searched for unused ones.
#[derive(Debug)]
pub(super) struct Roles {
    pub(super) decorators: bool,
    pub(super) bounds: bool,
    pub(super) rests: bool,
    pub(super) elements: bool,
    pub(super) operator_methods: bool,
    pub(super) quoted_types: bool,
}

impl Roles {
    pub(super) fn of(parsed: &Parsed) -> Self {
        let has_rule =
            |is: fn(&Rule) -> bool| parsed.nodes.iter().flatten().flat_map(Rule::cases).any(is);
        Self {
            decorators: has_rule(|rule| matches!(rule, Rule::Decorator { .. })),
            bounds: has_rule(|rule| matches!(rule, Rule::Bounds {} | Rule::Bound { .. })),
            operator_methods: parsed
                .manifest
                .names
                .operators
                .iter()
                .any(|(sign, name)| sign == name),
            quoted_types: parsed
                .types
                .iter()
                .flatten()
                .any(|rule| matches!(rule, TypeRule::Quoted {})),
            elements: has_rule(|rule| matches!(rule, Rule::Element { .. })),
            rests: parsed
                .patterns
                .iter()
                .flatten()
                .any(|pattern| matches!(pattern, Pattern::Rest { .. })),
        }
    }
}

/// Returns the classification of each kind, by id.
pub(super) fn of_kinds(parsed: &Parsed, grammar: &tree_sitter::Language) -> Vec<u8> {
    let modifiers =
        crate::manifest::lookup::modifier_tokens(&parsed.manifest, &parsed.tokens, grammar);
    let bit = |is: &bool, bit: u8| if *is { bit } else { 0 };
    let mut sorts: Vec<u8> = parsed
        .tokens
        .iter()
        .zip(&modifiers)
        .map(|(token, modifier)| bit(token, TOKEN) | bit(modifier, MODIFIER))
        .collect();
    let manifest = &parsed.manifest;
    for (names, bit) in
        [(&manifest.modifiers.nodes, MODIFIER_NODE), (&manifest.documentation.comments, COMMENT)]
    {
        for name in names {
            let id = grammar.id_for_node_kind(name, true);
            // 0 is the end of the file, which is no node.
            if let Some(sorts) = sorts.get_mut(usize::from(id)).filter(|_| id != 0) {
                *sorts |= bit;
            }
        }
    }
    sorts
}

/// Returns the texts of all anonymous tokens.
pub(super) fn token_words(grammar: &tree_sitter::Language) -> FxHashSet<Box<str>> {
    let count =
        u16::try_from(grammar.node_kind_count()).expect("grammars have fewer than 65536 kinds");
    let is_token = |id: &u16| grammar.node_kind_is_visible(*id) && !grammar.node_kind_is_named(*id);
    (0..count)
        .filter(is_token)
        .filter_map(|id| grammar.node_kind_for_id(id))
        .map(Box::from)
        .collect()
}
