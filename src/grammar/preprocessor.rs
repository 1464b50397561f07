//! Manifest section of the preprocessor, which runs over sources before they are parsed.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Vocabulary that distinguishes declarations from macros around them. Without `directive` there is
/// no preprocessor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Preprocessor {
    /// Keyword that may start a line, behind modifiers, although it continues the header of a
    /// definition -> keywords of such definitions. For grammars that end a header at a line break.
    pub joined_words: BTreeMap<String, Vec<String>>,
    /// Prefix of directives.
    pub directive: Option<String>,
    /// Keywords before a body that is a list of names (`enum`).
    pub list_words: Vec<String>,
    /// Keywords before the name of a type.
    pub type_words: Vec<String>,
    /// Keywords before a body of declarations that is no type (`namespace`).
    pub block_words: Vec<String>,
    /// Specifiers and qualifiers in a declaration.
    pub qualifiers: Vec<String>,
    /// Those of `qualifiers` that can start a declaration.
    pub start_words: Vec<String>,
    /// Keywords before type parameters (`template`).
    pub parameter_words: Vec<String>,
    /// Keywords that start a name (`operator`).
    pub name_words: Vec<String>,
    /// Builtin types; several in a row are one type.
    pub builtin_types: Vec<String>,
    /// Keywords that start statements.
    pub statement_words: Vec<String>,
    /// Those of `statement-words` that a statement follows directly.
    pub clause_words: Vec<String>,
    /// Those of `statement-words` that a statement follows after parentheses.
    pub head_words: Vec<String>,
    /// Keywords before assembler text.
    pub assembler_words: Vec<String>,
    /// Keywords for the type of a value (`typeof`).
    pub value_type_words: Vec<String>,
    /// Keywords for the type of an expression, which may have several operands (`decltype`).
    pub operand_type_words: Vec<String>,
    /// Words that are masked wherever they occur.
    pub ignored_words: Vec<String>,
    /// Macros whose arguments are a type and a path to a member of it (`offsetof`).
    pub member_words: Vec<String>,
    /// Keywords before the arguments of an attribute.
    pub attribute_words: Vec<String>,
    /// All words of the language.
    #[serde(skip)]
    pub(super) keywords: Vec<String>,
    /// Word lists by word, computed on first access.
    #[serde(skip)]
    lists: OnceLock<FxHashMap<Box<[u8]>, WordLists>>,
}

/// Set of word lists that contain a word: computed once for each word of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct WordLists(u32);

impl WordLists {
    pub(crate) const LIST: Self = Self(1);
    pub(crate) const TYPE: Self = Self(1 << 1);
    pub(crate) const BLOCK: Self = Self(1 << 2);
    pub(crate) const QUALIFIER: Self = Self(1 << 3);
    pub(crate) const START: Self = Self(1 << 4);
    pub(crate) const PARAMETER: Self = Self(1 << 5);
    pub(crate) const NAME: Self = Self(1 << 6);
    pub(crate) const BUILTIN: Self = Self(1 << 7);
    pub(crate) const STATEMENT: Self = Self(1 << 8);
    pub(crate) const CLAUSE: Self = Self(1 << 9);
    pub(crate) const HEAD: Self = Self(1 << 10);
    pub(crate) const ASSEMBLER: Self = Self(1 << 11);
    pub(crate) const VALUE_TYPE: Self = Self(1 << 12);
    pub(crate) const KEYWORD: Self = Self(1 << 13);
    pub(crate) const IGNORED: Self = Self(1 << 16);
    pub(crate) const MEMBER: Self = Self(1 << 15);
    pub(crate) const ATTRIBUTE: Self = Self(1 << 14);

    pub(crate) const OPERAND_TYPE: Self = Self(1 << 17);

    /// True if the word is in one of `lists`.
    pub(crate) fn is_in(self, lists: Self) -> bool {
        self.0 & lists.0 != 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Preprocessor {
    /// Returns the lists that contain a word.
    pub(crate) fn lists_with(&self, word: &[u8]) -> WordLists {
        let lists = self.lists.get_or_init(|| {
            let mut lists = FxHashMap::<_, WordLists>::default();
            for (words, list) in [
                (&self.list_words, WordLists::LIST),
                (&self.type_words, WordLists::TYPE),
                (&self.block_words, WordLists::BLOCK),
                (&self.qualifiers, WordLists::QUALIFIER),
                (&self.start_words, WordLists::START),
                (&self.parameter_words, WordLists::PARAMETER),
                (&self.name_words, WordLists::NAME),
                (&self.builtin_types, WordLists::BUILTIN),
                (&self.statement_words, WordLists::STATEMENT),
                (&self.clause_words, WordLists::CLAUSE),
                (&self.head_words, WordLists::HEAD),
                (&self.assembler_words, WordLists::ASSEMBLER),
                (&self.value_type_words, WordLists::VALUE_TYPE),
                (&self.operand_type_words, WordLists::OPERAND_TYPE),
                (&self.ignored_words, WordLists::IGNORED),
                (&self.member_words, WordLists::MEMBER),
                (&self.keywords, WordLists::KEYWORD),
                (&self.attribute_words, WordLists::ATTRIBUTE),
            ] {
                for word in words {
                    let entry = lists.entry(word.as_bytes().into()).or_default();
                    *entry = entry.and(list);
                }
            }
            lists
        });
        lists.get(word).copied().unwrap_or_default()
    }
}
