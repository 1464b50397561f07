//! Rules: what a node kind means to extraction. A closed set; manifests choose among them and name the children that matter.

use super::Selector;
use super::case::When;
use super::import_form::ImportForm;
use crate::model::SymbolKind;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What a node means in statement or expression position.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "a language has one table of some hundred rules, which are read and never moved")]
pub(crate) enum Rule {
    /// Nothing inside matters.
    Skip {},
    /// What a node means depends on more than its kind: the first case holds whose conditions do. Written as a list of rules.
    #[serde(skip)]
    Cases { cases: Vec<(When, Rule)> },
    /// A part of a file with a name, and what is inside it: a section, a key, a block. Its name is put together from all that the
    /// selectors name; without one it is what is inside. Outside of `body`, if one is said, nothing is visited; in a `leaf` nothing
    /// at all.
    Item {
        #[serde(deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Vec<Selector>,
        #[serde(default = "dot")]
        join: String,
        body: Option<Selector>,
        /// What is inside is not its own: names there belong to what is around it.
        #[serde(default)]
        flat: bool,
        #[serde(default)]
        leaf: bool,
    },
    /// A call, or another node, that defines a symbol for each of the names that it lists.
    Defines {
        #[serde(deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        names: Selector,
    },
    /// Its value is that of its child (the first named one if not said); everything inside is visited.
    Pass { of: Option<Selector> },
    /// A statement: its value is that of its child unless it ends in this token.
    Statement { end: String },
    /// Owns the names declared in it.
    Block {},
    /// A branch of a language whose names belong to the function: owns narrowings only.
    Flow {},
    /// Leaves the block around it (return, raise, continue, …); `of` is what a return gives back.
    Jump {
        of: Option<Selector>,
        #[serde(default)]
        returns: bool,
    },
    /// Gives a value to the caller of a generator.
    Yield { of: Option<Selector> },

    /// A callable with a name.
    Function {
        #[serde(default = "function", deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        /// Where the name hides in a chain of declarators.
        declarator: Option<Selector>,
        params: Option<Selector>,
        returns: Option<Selector>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        receiver: Option<Selector>,
        /// The last expression of the body is what it returns.
        #[serde(default)]
        tail: bool,
    },
    /// A callable without a name, or with one that only it sees. `own_self`: the receiver around it is not its own.
    Lambda {
        name: Option<Selector>,
        params: Option<Selector>,
        returns: Option<Selector>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        #[serde(default)]
        tail: bool,
        #[serde(default)]
        own_self: bool,
    },
    /// A type with members.
    Type {
        #[serde(deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        #[serde(default)]
        bases: Vec<BaseRule>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        /// Positional fields written as parameters of the type (records).
        params: Option<Selector>,
    },
    /// A name for a type whose kind depends on what it is made of: node kind of `ty` -> kind of symbol; otherwise an alias.
    TypeName {
        name: Selector,
        ty: Selector,
        type_params: Option<Selector>,
        #[serde(deserialize_with = "symbol_kinds")]
        kinds: BTreeMap<String, SymbolKind>,
    },
    /// More members for a type that is defined elsewhere, possibly implementing an interface.
    Extend { ty: Selector, interface: Option<Selector>, body: Option<Selector>, type_params: Option<Selector> },
    /// A module or namespace with a body in this file; without a body it names a child module in another file.
    Module {
        #[serde(default = "namespace", deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        body: Option<Selector>,
    },
    /// The name of the package that the file belongs to; one inside of the body of another has its name after the other's.
    Package { name: Selector, body: Option<Selector> },
    /// The value that the file gives to those who import it.
    Exports { of: Selector },
    /// Another name for a type.
    Alias { name: Option<Selector>, declarator: Option<Selector>, ty: Option<Selector>, type_params: Option<Selector> },
    /// A base without a name of its own among the members.
    Embed {
        of: Selector,
        /// Several of them beside each other are bases all the same.
        #[serde(default)]
        several: bool,
    },
    /// Definitions under one keyword. One alone extends over the whole; with `repeats`, one without type and value has
    /// the type of the one before it.
    Group {
        #[serde(default)]
        repeats: bool,
    },
    /// Declarators that share a type.
    Declaration {
        #[serde(default, deserialize_with = "optional_symbol_kind")]
        kind: Option<SymbolKind>,
        ty: Option<Selector>,
        declarators: Selector,
        /// Values that stand beside their declarators; beside a callable one they leave its body to derived types.
        values: Option<Selector>,
        /// The names belong to the function, whatever block they stand in.
        #[serde(default)]
        hoisted: bool,
    },
    /// A variable, field, constant or variant.
    Variable {
        #[serde(default, deserialize_with = "optional_symbol_kind")]
        kind: Option<SymbolKind>,
        name: Selector,
        ty: Option<Selector>,
        value: Option<Selector>,
        /// Positional or named parts of a variant.
        params: Option<Selector>,
        /// Without a name, the type is a base of the type around it.
        #[serde(default)]
        embeds: bool,
        /// A variable of type `T` that repeats the value of its predecessor (constant groups) has no type of its own.
        #[serde(default)]
        body: Option<Selector>,
    },
    /// A body whose bare names are variants.
    Variants {},
    /// An assignment. `declares`: it binds names that are new. `reads`: it also reads its target.
    Assign {
        left: Selector,
        right: Option<Selector>,
        ty: Option<Selector>,
        #[serde(default)]
        declares: bool,
        #[serde(default)]
        reads: bool,
    },
    /// A parameter.
    Param {
        name: Option<Selector>,
        declarator: Option<Selector>,
        ty: Option<Selector>,
        value: Option<Selector>,
        #[serde(default)]
        variadic: bool,
        #[serde(default)]
        optional: bool,
    },
    /// A parameter that stands for the receiver.
    SelfParam { ty: Option<Selector> },
    /// Separates parameters without being one.
    ParamMark {},
    /// A type parameter.
    TypeParam { name: Selector, bound: Option<Selector> },
    /// Bounds of type parameters that are written after the header; each is a `Bound`.
    Bounds {},
    /// A bound of a type parameter, or of another type, named before.
    Bound { name: Selector, bound: Selector },
    /// A body whose fields are known by their position and have only types.
    Positions { ty: Selector },
    /// Names that belong to an outer scope although they are assigned here.
    Outer { of: Selector },
    /// A definition with decorators.
    Decorated { of: Selector, decorators: Selector },
    /// A decorator, annotation or attribute.
    Decorator { name: Selector, args: Option<Selector> },
    /// A definition or value that is visible to other files; see `ImportForm::Export` for re-exports. `whole_mark`: the value is
    /// all that the file exports.
    Export {
        declaration: Option<Selector>,
        value: Option<Selector>,
        default_mark: Option<Selector>,
        whole_mark: Option<Selector>,
        import: ImportForm,
    },
    /// An import.
    Import { form: ImportForm },
    /// A macro whose replacement is text.
    Macro { name: Selector, params: Option<Selector>, value: Option<Selector> },
    /// Sets the visibility of the members after it.
    Section {},

    /// A name.
    Name {},
    /// A member of a value, type or module. Without an object the node itself is a name.
    Member {
        object: Option<Selector>,
        name: Selector,
        #[serde(default)]
        scoped: bool,
    },
    /// A call. With `name`, the callee is that member of `object`, or that name.
    Call {
        callee: Option<Selector>,
        object: Option<Selector>,
        name: Option<Selector>,
        args: Option<Selector>,
        type_args: Option<Selector>,
    },
    /// Makes a value of a type; without `ty`, an item of the value around it. Children of `body` may be definitions, or
    /// `Initializer`s of members; `fields` holds only such.
    Construct {
        ty: Option<Selector>,
        args: Option<Selector>,
        body: Option<Selector>,
        fields: Option<Selector>,
        type_args: Option<Selector>,
    },
    /// A type where a value stands: its members are those of the type.
    TypeValue {},
    /// Types among values (`f::<A, B>`): each named child is one.
    Types {},
    /// An element of markup: a value made of the component that a path or a capital names; other names are builtin.
    Element { name: Selector },
    /// An item of a container.
    Index { object: Selector, key: Option<Selector> },
    /// The receiver.
    SelfValue {},
    /// The receiver as its base.
    SuperValue {},
    /// A value of a builtin type.
    Literal {
        ty: String,
        /// Ends of its text that make it a value of another type: text -> type.
        #[serde(default)]
        suffixes: BTreeMap<String, String>,
    },
    /// A container literal: its items have the first child's type.
    List { ty: String },
    /// A mapping literal.
    Mapping { ty: String, key: Option<Selector>, value: Option<Selector> },
    /// A tuple; a single member is a parenthesis.
    Tuple {},
    /// A value with members written in place.
    Object {},
    /// A member that has the name and the value of a variable.
    Shorthand {},
    /// The text of a string, with expressions inside.
    Text { ty: String },
    /// Awaits a value.
    Await { of: Option<Selector> },
    /// Takes a wrapper off (`?`, `!`, `.await` excepted).
    Unwrap { of: Option<Selector> },
    /// One of several values; the first one where `condition` holds.
    Choice { of: Vec<Selector>, condition: Option<Selector> },
    /// Stands for several arguments or items.
    Spread {},
    /// An operator: the value is that of the sides for words in `either`, that of the right for words in `last`, a truth
    /// value for words in `truth`, else that of the left.
    Operator {
        left: Option<Selector>,
        right: Option<Selector>,
        operator: Option<Selector>,
        #[serde(default)]
        either: Vec<String>,
        #[serde(default)]
        truth: Vec<String>,
        /// Words whose value is that of the right side.
        #[serde(default)]
        last: Vec<String>,
        /// The type of a truth value.
        #[serde(default)]
        truth_type: String,
        /// Words that compute with both sides, as `conversions` tells.
        #[serde(default)]
        arithmetic: Vec<String>,
        /// Words that take the next item out of the value.
        #[serde(default)]
        item: Vec<String>,
        /// Words that test whether the left side is of the type on the right.
        #[serde(default)]
        type_test: Vec<String>,
    },
    /// A test of a value against a type that may also bind a name; a value is narrowed only where no name can be bound.
    TypeTest { value: Selector, ty: Option<Selector>, name: Option<Selector> },
    /// A value seen as a type, or as an array of it.
    Cast {
        ty: Selector,
        value: Option<Selector>,
        #[serde(default)]
        array: bool,
    },
    /// A value made by going through others: scopes of its own; `container` names the result.
    Comprehension { value: Selector, container: String },
    /// Binds the items of a value one after the other.
    For {
        pattern: Option<Selector>,
        declarator: Option<Selector>,
        ty: Option<Selector>,
        iterable: Selector,
        body: Option<Selector>,
        #[serde(default)]
        value: Yielded,
        /// A token that makes it bind the keys.
        keys_mark: Option<Selector>,
    },
    /// Binds what entering a context gives.
    With { value: Selector, name: Option<Selector> },
    /// Binds a value to a name in the middle of an expression.
    As { value: Selector, name: Selector },
    /// Binds a caught error.
    Catch { ty: Option<Selector>, name: Option<Selector>, body: Option<Selector> },
    /// A branch whose condition may tell a type.
    If { condition: Selector, then: Selector, otherwise: Option<Selector> },
    /// Binds names by matching a value.
    Let { pattern: Selector, ty: Option<Selector>, value: Option<Selector>, otherwise: Option<Selector> },
    /// Cases that match one value; the node of a case has `Case`.
    Match { value: Option<Selector>, name: Option<Selector>, body: Option<Selector> },
    /// One case of a `Match`: a pattern, or types that the value is known to have in it; `guard` must hold as well.
    Case { pattern: Option<Selector>, types: Option<Selector>, value: Option<Selector>, guard: Option<Selector> },
    /// Applies a macro to tokens; `read` says what they look like. Where a definition may stand, tokens that start with one
    /// of the words in `items` are read as definitions if they parse as such.
    MacroCall {
        name: Selector,
        tokens: Selector,
        read: TokenWords,
        #[serde(default)]
        items: Vec<String>,
    },
    /// A test written as a call with a title and a closure.
    NamedArgument { value: Selector },
    /// A chain of declarators around a name.
    Declarator {
        of: Option<Selector>,
        params: Option<Selector>,
        #[serde(default)]
        wrap: Option<String>,
        /// The first value of what is declared.
        value: Option<Selector>,
        /// Arguments that the first value is made with.
        args: Option<Selector>,
        /// The result, written behind the parameters.
        returns: Option<Selector>,
        /// The node itself is the name, up to this child.
        up_to: Option<Selector>,
    },
    /// Type parameters of the definition in the same node.
    Generic { params: Selector },
    /// What is defined inside belongs to the scope around the type (friends).
    Outside {},
    /// Compiled under a condition. One on `name` whose first `guard` has the same name only keeps a file from being read twice.
    /// `alternative` is compiled where it does not hold; a first token in `negated` turns it round.
    Conditional {
        name: Option<Selector>,
        guard: Option<Selector>,
        condition: Option<Selector>,
        alternative: Option<Selector>,
        #[serde(default)]
        negated: Vec<String>,
    },
    /// A base or field that a constructor makes with arguments before its body runs.
    MemberInit { name: Selector, args: Selector },
    /// A callable named without being called (`Type::method`); without a name it is the constructor.
    MethodReference { object: Selector, name: Selector },
    /// Gives members of a constructed value, or of the receiver, their first values.
    Initializer { name: Selector, value: Option<Selector> },
}

/// The tokens by which expressions inside the tokens of a macro are recognised.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct TokenWords {
    /// Between a value or module and its member.
    pub(crate) joiners: Vec<String>,
    /// What the lists of arguments start with.
    pub(crate) call: String,
    /// Between arguments.
    pub(crate) separator: String,
    /// After a value that is unwrapped.
    pub(crate) unwrap: String,
    /// As a member: awaits the value.
    pub(crate) awaits: String,
    /// After a name that is a label of what follows, not a value.
    pub(crate) labels: Vec<String>,
    /// Around type arguments, after a joiner.
    pub(crate) open: String,
    /// Ends type arguments.
    pub(crate) close: String,
}

/// What a `For` binds of its iterable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Yielded {
    /// The items.
    #[default]
    Items,
    /// The keys.
    Keys,
    /// With two names, key and item; with one, the key.
    KeyAndItem,
}

/// A base of a type.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BaseRule {
    /// Where the bases are written.
    pub(crate) of: Selector,
    /// Whether they are interfaces to implement.
    #[serde(default)]
    pub(crate) implement: bool,
}

impl Rule {
    /// The rules that a node of the kind may have.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &Rule> {
        let cases = if let Self::Cases { cases } = self { cases.as_slice() } else { &[] };
        let alone = cases.is_empty().then_some(self);
        cases.iter().map(|(_, rule)| rule).chain(alone)
    }
}

fn dot() -> String {
    ".".to_owned()
}

fn function() -> SymbolKind {
    SymbolKind::Function
}

fn namespace() -> SymbolKind {
    SymbolKind::Namespace
}

fn kind_of_word<E: serde::de::Error>(word: &str) -> Result<SymbolKind, E> {
    SymbolKind::from_word(word).ok_or_else(|| E::custom(format!("no symbol kind `{word}`")))
}

fn symbol_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SymbolKind, D::Error> {
    kind_of_word(&String::deserialize(deserializer)?)
}

fn optional_symbol_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SymbolKind>, D::Error> {
    symbol_kind(deserializer).map(Some)
}

fn symbol_kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, SymbolKind>, D::Error> {
    BTreeMap::<String, String>::deserialize(deserializer)?
        .into_iter()
        .map(|(node, word)| Ok((node, kind_of_word(&word)?)))
        .collect()
}
