//! Words of a language and their meanings, as manifests state them: path keywords, modifiers,
//! decorators, macros of tests, and members that syntax calls.

use rustc_hash::FxHashSet;
use serde::Deserialize;

/// Syntax that calls a member by a fixed name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImplicitUse {
    /// A call of an instance (`__call__`).
    Call,
    /// A subscript (`__getitem__`).
    Index,
    /// An iteration: the member that returns the iterator, and the one that returns the next item.
    Iterate,
    /// The entry of a context manager: the result is the value that is bound (`__enter__`).
    Enter,
    /// An implicit dereference: members of the result type are members of the receiver as well
    /// (`deref`).
    Dereference,
    /// The parts of a value that a pattern takes apart: the beginning of names that end in a
    /// position from 1 on (`component`).
    Part,
    /// A call that makes an instance of the type before it (`new`).
    Make,
    /// A conversion to the type that has the member.
    Convert,
    /// An element between braces behind a construction, which is added to what is made (`Add`).
    Element,
    /// The read of a field through an instance, where the value of the field has the member:
    /// descriptors (`__get__`).
    Read,
    /// The use of a member that the type does not have: another object may have it
    /// (`__getattr__`).
    Missing,
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

/// Meaning of a call of a function by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallMeaning {
    /// A cast: the result has the type of the first type argument (`static_cast<T>(value)`).
    Cast,
    /// Without arguments: the receiver as a value of its base (`super()`).
    Base,
    /// A construction of the first type argument with the arguments (`make_unique<T>(value)`).
    Construct,
    /// A value of the type before the name of the callee: of the awaited items of the list that is
    /// the argument, by position (`Promise.all([…])`).
    Gather,
    /// A type parameter (`TypeVar`).
    TypeParameter,
    /// A test of the first argument for the type that is the second (`isinstance(value, T)`).
    TypeTest,
}

/// Arguments of a macro that defines a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestMacroKind {
    /// The joined arguments are the name.
    Case,
    /// The first argument is the fixture type of which the test is a member.
    Fixture,
}

/// Meaning of a modifier for its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModifierMeaning {
    /// Static member.
    Static,
    /// Abstract member.
    Abstract,
    /// Asynchronous callable.
    Async,
    /// Constant.
    Constant,
    /// Method that is read like a field (`get`).
    Property,
    /// Generator.
    Generator,
    /// Part of a type that has others in its package.
    Partial,
    /// First parameter of an extension: the function is called like a member of the parameter's
    /// type, where that has none of its name.
    Extension,
    /// Constant target of a pointer or reference, and a method that is called on one.
    ReadOnly,
    /// A variable without a value is a declaration (`extern`).
    Declaration,
    /// A field without a value is a declaration.
    FieldDeclaration,
    /// A definition exists only under the condition of its folder.
    Conditional,
    /// A declaration that `conditional` definitions define.
    Expected,
}

/// Meaning of a decorator for its definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoratorMeaning {
    /// Static member.
    Static,
    /// Class method: its first parameter is the type.
    ClassMethod,
    /// Method that is read like a field.
    Property,
    /// Abstract member.
    Abstract,
    /// One of several signatures of a callable.
    Overload,
    /// Deprecated.
    Deprecated,
    /// Conditional compilation: the arguments are the condition.
    Conditional,
    /// Public, whatever its modifiers are.
    Public,
    /// The arguments name the decorators to apply (`derive`).
    Applying,
    /// The first argument is a condition, the others are decorators to apply where it holds
    /// (`cfg_attr`).
    ApplyingIf,
    /// The argument is the path of the file of a child module.
    Path,
    /// Test.
    Test,
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
