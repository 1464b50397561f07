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
    /// Headers of definitions that the grammar takes for something else.
    pub headers: Headers,
    /// Prefix of directives. Without words of macros only conditions that cut through statements
    /// are masked.
    pub directive: Option<String>,
    /// Class of words -> its words.
    pub words: BTreeMap<WordClass, Vec<String>>,
    /// All words of the language.
    #[serde(skip)]
    pub(super) keywords: Vec<String>,
    /// Word lists by word, computed on first access.
    #[serde(skip)]
    lists: OnceLock<FxHashMap<Box<[u8]>, WordLists>>,
}

/// Headers of definitions that a grammar takes for something else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Headers {
    /// Keyword that may start a line, behind modifiers, although it continues the header of a
    /// definition -> keywords of such definitions. For grammars that end a header at a line break.
    pub continued: BTreeMap<String, Vec<String>>,
    /// Keywords of types before which the grammar takes several annotations for an expression.
    pub annotated: Vec<String>,
}

/// Class of words before the parser runs. A word may be in several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordClass {
    /// Keywords before a body that is a list of names (`enum`).
    List,
    /// Keywords before the name of a type.
    Type,
    /// Keywords before a body of declarations that is no type (`namespace`).
    Block,
    /// Specifiers and qualifiers in a declaration.
    Qualifier,
    /// Those of `qualifier` that can start a declaration.
    Start,
    /// Keywords before type parameters (`template`).
    Parameters,
    /// Keywords that start a name (`operator`).
    Name,
    /// Builtin types; several in a row are one type.
    BuiltinType,
    /// Keywords that start statements.
    Statement,
    /// Those of `statement` that a statement follows directly.
    Clause,
    /// Those of `statement` that a statement follows after parentheses.
    Head,
    /// Keywords before assembler text.
    Assembler,
    /// Keywords for the type of a value (`typeof`).
    ValueType,
    /// Keywords for the type of an expression, which may have several operands (`decltype`).
    OperandType,
    /// Words that are masked wherever they occur.
    Ignored,
    /// Macros whose arguments are a type and a path to a member of it (`offsetof`).
    Member,
    /// Keywords before the arguments of an attribute.
    Attribute,
    /// Starts of strings in which a doubled quote is one, and nothing else is special.
    Verbatim,
}

impl WordClass {
    fn list(self) -> WordLists {
        match self {
            Self::List => WordLists::LIST,
            Self::Type => WordLists::TYPE,
            Self::Block => WordLists::BLOCK,
            Self::Qualifier => WordLists::QUALIFIER,
            Self::Start => WordLists::START,
            Self::Parameters => WordLists::PARAMETER,
            Self::Name => WordLists::NAME,
            Self::BuiltinType => WordLists::BUILTIN,
            Self::Statement => WordLists::STATEMENT,
            Self::Clause => WordLists::CLAUSE,
            Self::Head => WordLists::HEAD,
            Self::Assembler => WordLists::ASSEMBLER,
            Self::ValueType => WordLists::VALUE_TYPE,
            Self::OperandType => WordLists::OPERAND_TYPE,
            Self::Ignored => WordLists::IGNORED,
            Self::Member => WordLists::MEMBER,
            Self::Attribute => WordLists::ATTRIBUTE,
            Self::Verbatim => WordLists::default(),
        }
    }
}

/// Set of word lists that contain a word: computed once for each word of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WordLists(u32);

#[expect(missing_docs, reason = "each is the list of the word class of its name")]
impl WordLists {
    pub const LIST: Self = Self(1);
    pub const TYPE: Self = Self(1 << 1);
    pub const BLOCK: Self = Self(1 << 2);
    pub const QUALIFIER: Self = Self(1 << 3);
    pub const START: Self = Self(1 << 4);
    pub const PARAMETER: Self = Self(1 << 5);
    pub const NAME: Self = Self(1 << 6);
    pub const BUILTIN: Self = Self(1 << 7);
    pub const STATEMENT: Self = Self(1 << 8);
    pub const CLAUSE: Self = Self(1 << 9);
    pub const HEAD: Self = Self(1 << 10);
    pub const ASSEMBLER: Self = Self(1 << 11);
    pub const VALUE_TYPE: Self = Self(1 << 12);
    pub(crate) const KEYWORD: Self = Self(1 << 13);
    pub const IGNORED: Self = Self(1 << 16);
    pub const MEMBER: Self = Self(1 << 15);
    pub const ATTRIBUTE: Self = Self(1 << 14);

    pub const OPERAND_TYPE: Self = Self(1 << 17);

    /// True if the word is in one of `lists`.
    pub fn is_in(self, lists: Self) -> bool {
        self.0 & lists.0 != 0
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Preprocessor {
    /// Returns the words of a class.
    pub fn words_of(&self, class: WordClass) -> &[String] {
        self.words.get(&class).map_or(&[], Vec::as_slice)
    }

    /// True if the language has macros with values or arguments.
    pub fn has_macros(&self) -> bool {
        self.words.keys().any(|class| *class != WordClass::Verbatim)
    }

    /// Returns the lists that contain a word.
    pub fn lists_with(&self, word: &[u8]) -> WordLists {
        let lists = self.lists.get_or_init(|| {
            let classes = self.words.iter().map(|(class, words)| (words, class.list()));
            let mut lists = FxHashMap::<_, WordLists>::default();
            for (words, list) in classes.chain([(&self.keywords, WordLists::KEYWORD)]) {
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
