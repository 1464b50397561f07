//! Language table generated from `grammars/`: properties of each language, and language detection.
//!
//! ```text
//! cograph-grammars ──> FOLDERS ──┬─ name, first bytes ──> detect ──> LanguageId
//! use_manifests ──> (checked) ───┘                                        │ first use
//!    Manifest, Rule, Pattern, TypeRule of a node kind <── Language <── parse, check
//! ```
//!
//! Properties needed for all languages (file names, tier) are in a table generated at build time. A
//! manifest is parsed and checked against its grammar on first use; a built-in manifest that does
//! not fit is a bug (a test reads them all) and aborts the program with the manifest's name and
//! line. One that a user gives ([`use_manifests`]) is checked before, and costs its language only.

mod check;
mod detect;
#[expect(missing_docs, reason = "the comment of a variant describes its keys")]
mod import_form;
mod language;
mod manifest;
mod parse;
#[expect(missing_docs, reason = "the comment of a variant describes its keys")]
mod pattern;
mod preprocessor;
#[expect(missing_docs, reason = "the comment of a variant describes its keys")]
mod rule;
mod selector;
mod sort;
mod table;
#[expect(missing_docs, reason = "the comment of a variant describes its keys")]
mod type_rule;

pub use check::{Fits, Roles, check, errors};
pub use cograph_grammars::Tier;
pub use detect::{detect, filled};
pub use import_form::ImportForm;
pub use language::Language;
pub use manifest::values::{Conditions, Conversions, EndingOf, FlowKind, Narrowing, TypeFlow};
pub use manifest::words::{
    CallMeaning, DecoratorMeaning, ImplicitUse, ModifierMeaning, TestMacroKind,
};
pub use manifest::{
    Builtins, ComplexityRules, ComplexityTable, ConstructorNames, Cost, Documentation,
    ErasedImports, ExportRule, Form, GeneratedMember, Manifest, MarkMeaning, Markup, MemberLookup,
    ModuleSystem, Modules, Names, PathWord, Repairs, Resolution, SelfRule, TestMarkers, TestRunner,
    VisibilityRule, Weight,
};
pub use pattern::{Gathers, Pattern};
pub use preprocessor::{Preprocessor, WordClass, WordLists};
pub use rule::{BaseRule, Body, CastEffect, Listed, Rule, Signature, TokenWords, When, Yielded};
pub use selector::Selector;
pub use table::{
    build_files, extended, is_project_file, is_project_text, manifest_errors, of_project_files,
    project_files, titles, use_manifests,
};
pub use type_rule::TypeRule;

use cograph_model::LanguageId;
use std::hash::{Hash, Hasher};
use table::folders;

/// Short names of all languages, by id.
pub fn names() -> Vec<&'static str> {
    folders().iter().map(|folder| folder.name).collect()
}

/// Number of languages.
pub fn count() -> usize {
    folders().len()
}

/// All languages, by id: parses all manifests.
pub fn all() -> Vec<&'static Language> {
    (0..).take(folders().len()).map(|id| language(LanguageId(id))).collect()
}

/// Language by id. Its manifest is parsed on first use.
pub fn language(id: LanguageId) -> &'static Language {
    table::loaded(id)
}

/// Id by short name.
pub fn id_of(name: &str) -> Option<LanguageId> {
    let position = folders().iter().position(|folder| folder.name == name)?;
    Some(LanguageId(u16::try_from(position).expect("there are few languages")))
}

/// Language by short name.
pub fn by_name(name: &str) -> Option<&'static Language> {
    id_of(name).map(language)
}

/// Tier by short name.
pub fn tier_of(name: &str) -> Option<Tier> {
    folders().iter().find(|folder| folder.name == name).map(|folder| folder.tier)
}

/// Maximum size of a file that counts as code, in bytes, for languages of mixed use; none without a
/// limit.
pub fn most_bytes(id: LanguageId) -> Option<u64> {
    folders()[usize::from(id.0)].most_bytes
}

/// True for languages of mixed use without references: the fields of their files are data.
pub fn has_data(name: &str) -> bool {
    let folder = folders().iter().find(|folder| folder.name == name);
    folder.is_some_and(|folder| folder.tier == Tier::Structure && folder.most_bytes.is_some())
}

/// Fingerprint of everything that determines the graph of given sources: manifests and grammar
/// versions. The code has a number of its own.
pub fn fingerprint() -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    for folder in folders() {
        folder.name.hash(&mut hasher);
        folder.manifests.hash(&mut hasher);
        let grammar = (folder.grammar)();
        grammar.node_kind_count().hash(&mut hasher);
        grammar.parse_state_count().hash(&mut hasher);
    }
    manifest_errors().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_fits_its_grammar() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammars");
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
            let (folder, detect) = (&folders()[position], &manifest.detect);
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
            assert!(folder.templates == detect.templates, "{name}");
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
        let (language, base) = (&all()[0], folders()[0].manifests);
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
            (
                "[nodes]\nKIND = { role = \"pass\", of = \"^/0\" }",
                "line 2: nodes.KIND: `^` stands alone, in a condition",
            ),
            ("nodes = 1", "`nodes` must be a table"),
            ("[no-such-section]", "unknown field `no-such-section`"),
            ("[detect]\nno-such-key = 1", "unknown field `no-such-key`"),
            ("[modules]\nsystem = \"no-such-system\"", "unknown variant `no-such-system`"),
        ] {
            // As the last of a chain of manifests.
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
        let (language, base) = (&all()[0], folders()[0].manifests);
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
