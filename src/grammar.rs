//! The language table made from `grammars/`: what each language declares, and which language a file
//! is in.
//!
//! What is asked of every language is in a table that is made while the program is built: which
//! files it claims, and its tier. A manifest is read when its language is first needed and is
//! checked against its grammar then; a manifest that does not fit is a defect of this program (a
//! test reads them all), so it ends the program with the manifest's name and line.

mod check;
mod detect;
mod import_form;
mod inherit;
mod manifest;
mod parse;
mod pattern;
mod position;
mod preprocessor;
mod rule;
mod selector;
mod sort;
mod tier;
mod type_rule;

pub use check::{Fits, Roles, check, errors, extended};
pub use detect::detect;
pub(crate) use import_form::ImportForm;
pub use manifest::values::{Conditions, Conversions, FlowKind, Narrowing, TypeFlow};
pub use manifest::{
    Builtins, ConstructorNames, Documentation, ExportRule, Manifest, MemberLookup, ModuleSystem,
    Names, Resolution, SelfRule, TestMarkers, VisibilityRule,
};
pub(crate) use pattern::{Gathers, Pattern};
pub use preprocessor::Preprocessor;
pub(crate) use preprocessor::WordLists;
pub(crate) use rule::{BaseRule, Rule, TokenWords, Yielded};
pub(crate) use selector::Selector;
pub use tier::Tier;
pub(crate) use type_rule::TypeRule;

use crate::model::LanguageId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

struct Folder {
    name: &'static str,
    /// Its manifest, after those that it extends.
    manifests: &'static [&'static str],
    grammar: fn() -> tree_sitter::Language,
    tier: Tier,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
    interpreters: &'static [&'static str],
    shared_extensions: &'static [&'static str],
    markers: &'static [&'static str],
    project_files: &'static [&'static str],
    most_bytes: Option<u64>,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A language: its grammar and what its manifest declares.
#[derive(Debug)]
pub struct Language {
    /// Its position in the table.
    pub id: LanguageId,
    /// Its short name: the folder's name, and the word in the store and in replies.
    pub name: &'static str,
    /// Files that its module system reads besides sources (`package.json`, …), by file name.
    pub project_files: Vec<String>,
    /// The grammar.
    pub grammar: tree_sitter::Language,
    /// The manifest's sections that are not about single node kinds.
    pub manifest: Manifest,
    /// What each kind is, in bits.
    sorts: Vec<u8>,
    /// The texts of tokens without a name.
    token_words: FxHashSet<Box<str>>,
    roles: sort::Roles,
    /// Characters around names that are no part of them, by the kind of the name's node; empty
    /// where no kind has any.
    trims: Vec<Option<Box<str>>>,
    nodes: Vec<Option<Rule>>,
    types: Vec<Option<TypeRule>>,
    patterns: Vec<Option<Pattern>>,
    /// Names of members that builtin types have.
    common_members: FxHashSet<String>,
    /// Words that need no import: builtin functions and types, and what the language imports by
    /// itself.
    builtin_names: FxHashSet<String>,
    /// Every name of a type with a table of type flow -> the name of the table.
    flows: FxHashMap<String, String>,
}

impl Language {
    /// Whether a text is a word of the language itself: a keyword or the name of a builtin type.
    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.token_words.contains(text)
            || self.manifest.builtins.types.iter().any(|name| name == text)
    }

    /// The keyword that a signature starts with, if the name behind it only means a type there.
    pub(crate) fn tag_word<'t>(&self, signature: &'t str) -> Option<&'t str> {
        if !self.manifest.resolution.tagged_types {
            return None;
        }
        let word = signature.split(' ').next()?;
        self.manifest.preprocessor.type_words.iter().any(|other| other == word).then_some(word)
    }

    /// Whether nodes of this kind are tokens without a name: `(`, `if`, ….
    pub(crate) fn is_token(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::TOKEN)
    }

    /// Whether tokens of this kind say something about the definition that they stand in: `static`,
    /// `export`, ….
    pub(crate) fn is_modifier(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::MODIFIER)
    }

    /// Whether nodes of this kind hold words that say something about a definition.
    pub(crate) fn is_modifier_node(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::MODIFIER_NODE)
    }

    /// Whether nodes of this kind are comments.
    pub(crate) fn is_comment(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::COMMENT)
    }

    /// Whether there are nodes that decorate others.
    pub(crate) fn has_decorators(&self) -> bool {
        self.roles.decorators
    }

    /// Whether there are nodes that hold bounds of type parameters.
    pub(crate) fn has_bounds(&self) -> bool {
        self.roles.bounds
    }

    /// Whether there are patterns for all the rest.
    pub(crate) fn has_rests(&self) -> bool {
        self.roles.rests
    }

    #[inline]
    fn is_of_sort(&self, kind: u16, sort: u8) -> bool {
        self.sorts.get(usize::from(kind)).is_some_and(|sorts| sorts & sort != 0)
    }

    /// The rule for nodes of this kind in statement or expression position.
    #[inline]
    pub(crate) fn rule(&self, kind: u16) -> Option<&Rule> {
        self.nodes.get(usize::from(kind))?.as_ref()
    }

    /// A name without the characters around it that nodes of this kind have.
    #[inline]
    pub(crate) fn trimmed<'n>(&self, kind: u16, name: &'n str) -> &'n str {
        match self.trims.get(usize::from(kind)) {
            Some(Some(around)) => name.trim_matches(|c| around.contains(c)),
            _ => name,
        }
    }

    /// How deep the language is read.
    pub fn tier(&self) -> Tier {
        self.manifest.tier
    }

    /// The rule for nodes of this kind in type position.
    #[inline]
    pub(crate) fn type_rule(&self, kind: u16) -> Option<&TypeRule> {
        self.types.get(usize::from(kind))?.as_ref()
    }

    /// The rule for nodes of this kind in binding position.
    #[inline]
    pub(crate) fn pattern(&self, kind: u16) -> Option<&Pattern> {
        self.patterns.get(usize::from(kind))?.as_ref()
    }

    /// Whether builtin types have members of this name, so that it tells nothing about a receiver.
    pub(crate) fn is_common_member(&self, name: &str) -> bool {
        self.common_members.contains(name)
    }

    /// Whether the language knows this name in every file: a builtin function or type, or one of
    /// its prelude.
    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        self.builtin_names.contains(name)
    }

    /// The table of type flow for a builtin type, with the name it stands under.
    pub(crate) fn flow(&self, name: &str) -> Option<(&str, &TypeFlow)> {
        let (name, flow) = self.manifest.flow.get_key_value(self.flows.get(name)?)?;
        Some((name, flow))
    }

    fn load(position: usize, folder: &'static Folder) -> Self {
        let grammar = (folder.grammar)();
        let mut parsed = parse::parse(folder.manifests, &grammar).unwrap_or_else(|errors| {
            panic!("grammars/{}/grammar.toml: {}", folder.name, errors.join("; "))
        });
        let token_words = sort::token_words(&grammar);
        if parsed.manifest.preprocessor.directive.is_some() {
            parsed.manifest.preprocessor.keywords =
                token_words.iter().map(|word| word.to_string()).collect();
        }
        Self {
            id: LanguageId(u16::try_from(position).expect("there are few languages")),
            name: folder.name,
            project_files: parsed.manifest.modules.project_files.clone(),
            sorts: sort::of_kinds(&parsed, &grammar),
            token_words,
            roles: sort::Roles::of(&parsed),
            trims: if parsed.trims.iter().any(Option::is_some) { parsed.trims } else { Vec::new() },
            nodes: parsed.nodes,
            types: parsed.types,
            patterns: parsed.patterns,
            common_members: manifest::values::common_members(&parsed.manifest),
            builtin_names: manifest::values::builtin_names(&parsed.manifest),
            flows: manifest::values::flow_names(&parsed.manifest),
            manifest: parsed.manifest,
            grammar,
        }
    }
}

/// The short names of all languages, in order of id.
pub fn names() -> Vec<&'static str> {
    FOLDERS.iter().map(|folder| folder.name).collect()
}

/// How many languages there are.
pub fn count() -> usize {
    FOLDERS.len()
}

/// Every language, in order of id: all manifests are read.
pub fn all() -> Vec<&'static Language> {
    (0..).take(FOLDERS.len()).map(|id| language(LanguageId(id))).collect()
}

/// The language with this id. Its manifest is read when it is first asked for.
pub fn language(id: LanguageId) -> &'static Language {
    static LOADED: [OnceLock<Language>; FOLDERS.len()] = [const { OnceLock::new() }; FOLDERS.len()];
    let position = usize::from(id.0);
    LOADED[position].get_or_init(|| Language::load(position, &FOLDERS[position]))
}

/// The id of the language with this short name.
pub fn id_of(name: &str) -> Option<LanguageId> {
    let position = FOLDERS.iter().position(|folder| folder.name == name)?;
    Some(LanguageId(u16::try_from(position).expect("there are few languages")))
}

/// The language with this short name.
pub fn by_name(name: &str) -> Option<&'static Language> {
    id_of(name).map(language)
}

/// How deep the language with this short name is read.
pub fn tier_of(name: &str) -> Option<Tier> {
    FOLDERS.iter().find(|folder| folder.name == name).map(|folder| folder.tier)
}

/// How deep a language is read.
pub fn tier(id: LanguageId) -> Tier {
    FOLDERS[usize::from(id.0)].tier
}

/// The most bytes that a file of a language may have beyond which it is data; none for a language
/// of code.
pub fn most_bytes(id: LanguageId) -> Option<u64> {
    FOLDERS[usize::from(id.0)].most_bytes
}

/// The names of files that module systems read besides sources.
pub fn project_files() -> impl Iterator<Item = &'static str> {
    FOLDERS.iter().flat_map(|folder| folder.project_files).copied()
}

/// The languages whose module systems read one of these files, in order of id.
pub fn of_project_files<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
) -> impl Iterator<Item = &'static Language> {
    let reads =
        move |folder: &Folder| names.clone().any(|name| folder.project_files.contains(&name));
    FOLDERS
        .iter()
        .zip((0..).map(LanguageId))
        .filter(move |(folder, _)| reads(folder))
        .map(|(_, id)| language(id))
}

/// Changes whenever the graph that the same bytes give may change: manifests, grammar versions, the
/// code that extracts and resolves.
pub fn fingerprint() -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    RULES.hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    for folder in FOLDERS {
        folder.name.hash(&mut hasher);
        folder.manifests.hash(&mut hasher);
        let grammar = (folder.grammar)();
        grammar.node_kind_count().hash(&mut hasher);
        grammar.parse_state_count().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_fits_its_grammar() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
        for (position, language) in all().into_iter().enumerate() {
            let name = language.name;
            assert!(
                root.join(name).join("grammar.toml").is_file(),
                "{name} is a folder of grammars/"
            );
            assert_eq!(
                (usize::from(language.id.0), by_name(name).map(|found| found.id)),
                (position, Some(language.id)),
                "{name}"
            );
            let manifest = &language.manifest;
            let has = |is: fn(&Rule) -> bool| {
                language.nodes.iter().flatten().flat_map(Rule::cases).any(is)
            };
            let (folder, detect) = (&FOLDERS[position], &manifest.detect);
            assert_eq!(
                (folder.tier, folder.most_bytes),
                (manifest.tier, detect.most_bytes),
                "{name}"
            );
            assert!(
                folder.extensions == detect.extensions && folder.file_names == detect.file_names,
                "{name}"
            );
            assert!(
                folder.interpreters == detect.interpreters && folder.markers == detect.markers,
                "{name}"
            );
            assert!(folder.shared_extensions == detect.shared_extensions, "{name}");
            assert!(folder.project_files == language.project_files, "{name}");
            match manifest.tier {
                Tier::Structure => {
                    let defines = |rule: &Rule| {
                        matches!(
                            rule,
                            Rule::Item { .. } | Rule::Function { .. } | Rule::Type { .. }
                        )
                    };
                    assert!(has(defines), "{name}: definitions");
                }
                Tier::Shared | Tier::Full => {
                    assert!(has(|rule| matches!(rule, Rule::Function { .. })), "{name}: functions");
                    assert!(
                        language.sorts.iter().any(|sorts| sorts & sort::COMMENT != 0),
                        "{name}: comments"
                    );
                }
            }
        }
        let folders = root
            .read_dir()
            .expect("grammars/ is part of the package")
            .map(|entry| entry.expect("it can be listed").path());
        assert_eq!(
            folders.filter(|folder| folder.join("grammar.toml").exists()).count(),
            all().len(),
            "every folder is a language"
        );
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_its_line() {
        let (language, base) = (&all()[0], FOLDERS[0].manifests);
        let ruled =
            |id: &u16| language.rule(*id).is_some() || !language.grammar.node_kind_is_named(*id);
        let known = (1..)
            .find(|id| !ruled(id))
            .and_then(|id| language.grammar.node_kind_for_id(id))
            .expect("a kind without a rule");
        for (text, expected) in [
            (
                "[nodes]\nno_such_kind = { role = \"skip\" }",
                "line 2: nodes.no_such_kind: the grammar has no such node kind",
            ),
            (
                "\n[types]\nno_such_kind = { role = \"skip\" }",
                "line 3: types.no_such_kind: the grammar has no such node kind",
            ),
            (
                "[patterns]\nno_such_kind = {}",
                "line 2: patterns.no_such_kind: the grammar has no such node kind",
            ),
            (
                "[nodes]\nKIND = { role = \"no-such-role\" }",
                "line 2: nodes.KIND: unknown variant `no-such-role`",
            ),
            (
                "[nodes]\nKIND = { role = \"skip\", more = 1 }",
                "line 2: nodes.KIND: unknown field `more`",
            ),
            (
                "[nodes]\nKIND = { role = \"pass\", of = \"no_such_field\" }",
                "line 2: nodes.KIND: the grammar has no field `no_such_field`",
            ),
            (
                "[nodes]\nKIND = { role = \"pass\", of = \"<no_such_kind>\" }",
                "line 2: nodes.KIND: the grammar has no node kind `no_such_kind`",
            ),
            ("nodes = 1", "`nodes` must be a table"),
            ("[no-such-section]", "unknown field `no-such-section`"),
            ("[detect]\nno-such-key = 1", "unknown field `no-such-key`"),
            ("[modules]\nsystem = \"no-such-system\"", "unknown variant `no-such-system`"),
        ] {
            // As the last of manifests that extend each other.
            let text = text.replace("KIND", known);
            let errors = parse::parse(&[base, &[text.as_str()]].concat(), &language.grammar).err();
            let errors = errors.unwrap_or_else(|| panic!("it fits: {text}"));
            assert!(
                errors.len() == 1 && errors[0].contains(&expected.replace("KIND", known)),
                "{errors:?}"
            );
        }
    }

    #[test]
    fn all_errors_of_a_manifest_are_listed() {
        let (language, base) = (&all()[0], FOLDERS[0].manifests);
        let text = "[detect]\nno-such-key = 1\n[nodes]\nno_such_kind = { role = \"skip\" }\n\
                    [modules]\nsystem = \"no-such-system\"\n\
                    [types]\nno_such_kind = { role = \"skip\" }";
        let errors = parse::parse(&[base, &[text]].concat(), &language.grammar)
            .err()
            .expect("nothing of it fits");
        let begins = |start: &str| errors.iter().any(|error| error.starts_with(start));
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(begins("line 1: detect: unknown field `no-such-key`"), "{errors:?}");
        assert!(begins("line 5: modules: unknown variant `no-such-system`"), "{errors:?}");
        assert!(
            begins("line 4: nodes.no_such_kind") && begins("line 8: types.no_such_kind"),
            "{errors:?}"
        );
    }
}
