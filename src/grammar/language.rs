//! A language: its grammar and its manifest, as extraction and resolution read them.

use crate::manifest::values::{FlowKind, TypeFlow};
use crate::manifest::{ComplexityTable, Manifest};
use crate::pattern::Pattern;
use crate::preprocessor::WordClass;
use crate::rule::Rule;
use crate::type_rule::TypeRule;
use crate::{manifest, parse, sort};
use cograph_grammars::{Folder, Tier};
use cograph_model::{LanguageId, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Language: its grammar and its manifest.
#[derive(Debug)]
pub struct Language {
    /// Index in the table.
    pub id: LanguageId,
    /// Short name: that of its folder, also used in the store and in responses.
    pub name: &'static str,
    /// Names of project files read by module resolution (`package.json`, …).
    pub project_files: Vec<String>,
    /// Grammar.
    pub grammar: tree_sitter::Language,
    /// Sections of the manifest that are not about single node kinds.
    pub manifest: Manifest,
    /// Bit set of properties per node kind.
    pub(crate) sorts: Vec<u8>,
    /// Texts of anonymous tokens.
    token_words: FxHashSet<Box<str>>,
    roles: sort::Roles,
    /// What makes code complex.
    pub complexity: ComplexityTable,
    /// Characters to trim from names, by the kind of the name's node; empty if there are none.
    trims: Vec<Option<Box<str>>>,
    pub(crate) nodes: Vec<Option<Rule>>,
    types: Vec<Option<TypeRule>>,
    patterns: Vec<Option<Pattern>>,
    /// Member names of builtin types.
    common_members: FxHashSet<String>,
    /// Names that need no import: builtin functions and types, and the prelude.
    builtin_names: FxHashSet<String>,
    /// Type name -> name of its flow table.
    flows: FxHashMap<String, String>,
    /// Result type of callables without a result.
    nothing: Option<String>,
    /// Type of values that may be missing.
    optional: Option<String>,
}

impl Language {
    /// True for a keyword or the name of a builtin type.
    pub fn is_word(&self, text: &str) -> bool {
        self.token_words.contains(text)
            || self.manifest.builtins.types.iter().any(|name| name == text)
    }

    /// True if a signature starts with a keyword behind which alone the name means a type.
    pub fn has_tag(&self, signature: &str) -> bool {
        let word = signature.split(' ').next();
        let words = self.manifest.preprocessor.words_of(WordClass::Type);
        self.manifest.resolution.tagged_types
            && word.is_some_and(|word| words.iter().any(|other| other == word))
    }

    /// Result type of callables without a result, where the tables name it.
    pub fn nothing(&self) -> Option<&str> {
        self.nothing.as_deref()
    }

    /// Type of values that may be missing, where the tables name it.
    pub fn optional(&self) -> Option<&str> {
        self.optional.as_deref()
    }

    /// True for anonymous tokens: `(`, `if`, ….
    pub fn is_token(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::TOKEN)
    }

    /// True for modifier tokens of a definition: `static`, `export`, ….
    pub fn is_modifier(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::MODIFIER)
    }

    /// True for nodes that contain modifiers of a definition.
    pub fn is_modifier_node(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::MODIFIER_NODE)
    }

    /// True for comments.
    pub fn is_comment(&self, kind: u16) -> bool {
        self.is_of_sort(kind, sort::COMMENT)
    }

    /// True if there are decorator nodes.
    pub fn has_decorators(&self) -> bool {
        self.roles.decorators
    }

    /// True if there are nodes with bounds of type parameters.
    pub fn has_bounds(&self) -> bool {
        self.roles.bounds
    }

    /// True if a string may be a type.
    pub fn has_quoted_types(&self) -> bool {
        self.roles.quoted_types
    }

    /// True if there are rest patterns.
    pub fn has_rests(&self) -> bool {
        self.roles.rests
    }

    /// True if operators are methods with their sign as the name. They and subscripts then call
    /// members: those of `operators`, those behind the syntax, and for an assignment to an element
    /// the latter with `=` behind it. Such a call is a reference where the type of its receiver has
    /// the member.
    pub fn has_operator_methods(&self) -> bool {
        self.roles.operator_methods
    }

    /// True if elements are constructions of components, or the code is in markup.
    pub fn has_elements(&self) -> bool {
        self.roles.elements || self.manifest.markup.is_some()
    }

    #[inline]
    fn is_of_sort(&self, kind: u16, sort: u8) -> bool {
        self.sorts.get(usize::from(kind)).is_some_and(|sorts| sorts & sort != 0)
    }

    /// Rule of a node kind in statement or expression position.
    #[inline]
    pub fn rule(&self, kind: u16) -> Option<&Rule> {
        self.nodes.get(usize::from(kind))?.as_ref()
    }

    /// Trims a name according to its node kind.
    #[inline]
    pub fn trimmed<'n>(&self, kind: u16, name: &'n str) -> &'n str {
        match self.trims.get(usize::from(kind)) {
            Some(Some(around)) => name.trim_matches(|c| around.contains(c)),
            _ => name,
        }
    }

    /// Tier of analysis.
    pub fn tier(&self) -> Tier {
        self.manifest.tier
    }

    /// Display name.
    pub fn title(&'static self) -> &'static str {
        &self.manifest.title
    }

    /// True if the language or its run time calls functions of this name.
    pub fn is_called_by_runtime(&self, name: &str) -> bool {
        // A form of stars alone is an operator.
        let is_pattern = |form: &str| !form.trim_start_matches('*').is_empty();
        self.manifest.names.called_by_runtime.iter().any(|form| match is_pattern(form) {
            true => fits_pattern(form, name),
            false => form == name,
        })
    }

    /// True if the language calls the members of this name of a type for each type derived from it.
    pub fn is_called_for_derived(&self, name: &str) -> bool {
        self.manifest.names.called_for_derived.iter().any(|one| one == name)
    }

    /// True if a decorator outside of the repository is known to hand its definition to nothing.
    pub fn registers_nothing(&self, decorator: &str) -> bool {
        self.manifest.modifiers.registers_nothing(decorator)
    }

    /// Rule of a node kind in type position.
    #[inline]
    pub fn type_rule(&self, kind: u16) -> Option<&TypeRule> {
        self.types.get(usize::from(kind))?.as_ref()
    }

    /// Rule of a node kind in binding position.
    #[inline]
    pub fn pattern(&self, kind: u16) -> Option<&Pattern> {
        self.patterns.get(usize::from(kind))?.as_ref()
    }

    /// True if builtin types have members of this name, so that it is no evidence about a receiver.
    pub fn is_common_member(&self, name: &str) -> bool {
        // A setter is as common as what it sets.
        let set = name.strip_suffix('=').filter(|name| !name.is_empty());
        [Some(name), set].into_iter().flatten().any(|name| self.common_members.contains(name))
    }

    /// True if types implement all types of the kind interface by having their methods.
    pub fn has_structural_interfaces(&self) -> bool {
        self.manifest.resolution.structural.iter().any(|mark| mark == SymbolKind::Interface.word())
    }

    /// True if this name is defined in every file: builtin functions and types, and the prelude.
    pub fn is_builtin(&self, name: &str) -> bool {
        self.builtin_names.contains(name)
    }

    /// Flow table of a builtin type, with its name.
    pub fn flow(&self, name: &str) -> Option<(&str, &TypeFlow)> {
        let (name, flow) = self.manifest.flow.get_key_value(self.flows.get(name)?)?;
        Some((name, flow))
    }

    pub(crate) fn load(position: usize, folder: &Folder) -> Self {
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
            complexity: parsed.complexity,
            trims: if parsed.trims.iter().any(Option::is_some) { parsed.trims } else { Vec::new() },
            nodes: parsed.nodes,
            types: parsed.types,
            patterns: parsed.patterns,
            common_members: manifest::lookup::common_members(&parsed.manifest),
            builtin_names: manifest::lookup::builtin_names(&parsed.manifest),
            flows: manifest::lookup::flow_names(&parsed.manifest),
            nothing: manifest::lookup::of_kind(&parsed.manifest, FlowKind::Nothing),
            optional: manifest::lookup::of_kind(&parsed.manifest, FlowKind::Optional),
            manifest: parsed.manifest,
            grammar,
        }
    }

    /// Types of texts and of the other literals.
    pub fn literal_types(&self) -> (FxHashSet<&str>, FxHashSet<&str>) {
        let (mut texts, mut others) = (FxHashSet::default(), FxHashSet::default());
        let mut rules: Vec<&Rule> = self.nodes.iter().flatten().collect();
        while let Some(rule) = rules.pop() {
            match rule {
                Rule::Cases { cases } => rules.extend(cases.iter().map(|(_, rule)| rule)),
                Rule::Text { ty, .. } if !ty.is_empty() => drop(texts.insert(ty.as_str())),
                Rule::Literal { ty, .. } if !ty.is_empty() => drop(others.insert(ty.as_str())),
                _ => {}
            }
        }
        (texts, others)
    }
}

/// Mark before the name of a project file that a build writes.
pub(crate) const BUILD_FILE: char = '!';

/// True if a name is the pattern, in which one star matches any text.
pub(crate) fn fits_pattern(pattern: &str, name: &str) -> bool {
    let pattern = pattern.strip_prefix(BUILD_FILE).unwrap_or(pattern);
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| rest.ends_with(tail)),
    }
}
