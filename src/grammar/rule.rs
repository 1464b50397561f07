//! Rules: roles of node kinds in extraction, of which manifests choose, and the children of nodes.

pub(super) mod case;
pub(super) mod parts;

use crate::{import_form::ImportForm, selector::Selector};
pub use case::When;
use cograph_model::SymbolKind;
pub use parts::{BaseRule, Body, CastEffect, Listed, Signature, TokenWords, Yielded};
use parts::{dot, function, namespace, optional_symbol_kind, symbol_kind, symbol_kinds};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Role of a node in statement or expression position.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Rule {
    /// Ignored with everything inside.
    Skip {},
    /// A role by more than the node kind: the first case that fits. Written as a list of rules.
    #[serde(skip)]
    Cases { cases: Vec<(When, Rule)> },
    /// A named part of a file with its contents: a section, a key, a block. Its name is joined from
    /// all selected nodes; without one only the contents are visited. Nothing outside of `body` is
    /// visited, and nothing in a `leaf`. Names inside of a `flat` one belong to the item around it.
    Item {
        #[serde(deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Vec<Selector>,
        #[serde(default = "dot")]
        join: String,
        body: Option<Selector>,
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
        /// Text before a name that makes it that of the field whose value the symbol gives.
        field: Option<String>,
        /// The member of the receiver of which the symbol is another name.
        alias_of: Option<Selector>,
        /// The type whose member that is, if one is named.
        alias_in: Option<Selector>,
        /// Texts behind a name, with a symbol for each: one that is not empty is that of a setter.
        #[serde(default)]
        suffixes: Vec<String>,
    },
    /// Has the value of its child `of`, by default of the first named; all children are visited.
    Pass { of: Option<Selector> },
    /// A name that an expression gives (`[KEY]: 1`).
    Computed {},
    /// A declaration of what is defined elsewhere: in the global scope if it is behind the child
    /// `global`, or in a file of nothing but these and types, without imports and exports.
    Ambient { global: Selector },
    /// A statement: has the value of its child unless it ends in the token `end`.
    Statement { end: String },
    /// A lexical scope: owns the names that are declared in it.
    Block {},
    /// Code that writes the property around it: a scope in which `value` names what is written.
    Accessor { value: String },
    /// A branch in a language with function scope: owns type narrowings, but no names.
    Flow {},
    /// Leaves the enclosing block; with `returns`, `of` is the result of the callable.
    Jump {
        of: Option<Selector>,
        #[serde(default)]
        returns: bool,
    },
    /// A call, with these arguments, of the closure that callers pass behind the arguments.
    Gives { args: Option<Selector> },
    /// Yields a value from a generator.
    Yield { of: Option<Selector> },
    /// A callable with a name.
    Function {
        #[serde(default = "function", deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        /// Start of the chain of declarators that ends in the name.
        declarator: Option<Selector>,
        params: Option<Selector>,
        returns: Option<Selector>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        receiver: Option<Selector>,
        /// A member of the type itself, whatever its modifiers are.
        r#static: Option<bool>,
        /// The last expression of the body is the result.
        #[serde(default)]
        tail: bool,
        /// It is read like a field.
        property: Option<bool>,
        /// Text before the name that is part of it.
        prefix: Option<String>,
        /// Interface that it is a member of: its own type has no member of the name.
        implements: Option<Selector>,
        /// A clause: it continues the function before it with its name and number of parameters.
        clause: Option<bool>,
    },
    /// A closure; its name, if any, is visible inside only. `own-self`: the receiver around it is
    /// not. `flat`: its statements are the children that no other key selects. `signature`: a
    /// member of a type that says how its values are called, or what their subscripts give.
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
        #[serde(default)]
        flat: bool,
        signature: Option<Signature>,
    },
    /// A type with members. `params` are its fields (records), with the visibility `fields`.
    Type {
        #[serde(deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        #[serde(default)]
        bases: Vec<BaseRule>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        params: Option<Selector>,
        fields: Option<String>,
        /// Members that a list of names makes.
        members: Option<Listed>,
    },
    /// A type definition: node kind of `ty` -> symbol kind; any other is an alias.
    TypeName {
        name: Selector,
        ty: Selector,
        type_params: Option<Selector>,
        #[serde(deserialize_with = "symbol_kinds")]
        kinds: BTreeMap<String, SymbolKind>,
    },
    /// A block with members of a type that is defined elsewhere, possibly as the implementation of
    /// an interface. `receiver`: a name of the receiver that the members see.
    Extend {
        ty: Selector,
        interface: Option<Selector>,
        body: Option<Selector>,
        type_params: Option<Selector>,
        receiver: Option<Selector>,
    },
    /// A part of the body of a type with members of the type itself, not of its instances
    /// (`class << self`, a companion object), and those of its `bases`.
    Statics { body: Selector, bases: Option<Selector> },
    /// A module or namespace; without a body it declares a child module in another file.
    Module {
        #[serde(default = "namespace", deserialize_with = "symbol_kind")]
        kind: SymbolKind,
        name: Option<Selector>,
        body: Option<Selector>,
    },
    /// The package of the file; one in the body of another is qualified by the name of that.
    Package { name: Selector, body: Option<Selector> },
    /// The value that importers of the file get.
    Exports { of: Selector },
    /// A type alias. Without `ty` the node itself is the type.
    Alias {
        name: Option<Selector>,
        declarator: Option<Selector>,
        ty: Option<Selector>,
        type_params: Option<Selector>,
    },
    /// An embedded type among the members: a base without a field name; with `several` all types
    /// of a list; with `first` its members come before those of the type. `hooks`: callables whose
    /// parameter is a type that embeds the one around them; elsewhere the node is no embedding.
    Embed { of: Selector, several: Option<bool>, hooks: Option<Vec<String>>, first: Option<bool> },
    /// Definitions under one keyword. A single one has the extent of the group; with `repeats`, one
    /// without type and value has the type of its predecessor.
    Group {
        #[serde(default)]
        repeats: bool,
    },
    /// A declaration of one or several declarators that share a type.
    Declaration {
        #[serde(default, deserialize_with = "optional_symbol_kind")]
        kind: Option<SymbolKind>,
        ty: Option<Selector>,
        declarators: Selector,
        /// Initial values outside of the declarators; a callable with one is purely virtual.
        values: Option<Selector>,
        /// The names have function scope.
        #[serde(default)]
        hoisted: bool,
    },
    /// A variable, field, constant or variant. With `args` it constructs the type around it, by the
    /// constructor of the name `maker` if there is one.
    Variable {
        #[serde(default, deserialize_with = "optional_symbol_kind")]
        kind: Option<SymbolKind>,
        name: Selector,
        ty: Option<Selector>,
        value: Option<Selector>,
        /// The positional parts of a variant.
        params: Option<Selector>,
        /// Value whose members an object literal has as well.
        base: Option<Selector>,
        /// Without a name, the type is embedded in the enclosing type.
        #[serde(default)]
        embeds: bool,
        args: Option<Selector>,
        maker: Option<Selector>,
        /// The named parts of a variant: a body with fields.
        body: Option<Selector>,
        /// Type of the receiver of an extension.
        receiver: Option<Selector>,
        /// Closures behind a property; without a value, the first one gives its type.
        #[serde(default)]
        accessors: Vec<Selector>,
    },
    /// The body of an enumeration in which unadorned names are variants.
    Variants {},
    /// An assignment. `declares`: new names on the left are declared. `reads`: reads it (`+=`).
    Assign {
        left: Selector,
        right: Option<Selector>,
        ty: Option<Selector>,
        #[serde(default)]
        declares: bool,
        #[serde(default)]
        reads: bool,
    },
    /// A parameter; `of-variable`: it takes a variable. A field that it declares has `visibility`.
    Param {
        name: Option<Selector>,
        declarator: Option<Selector>,
        ty: Option<Selector>,
        value: Option<Selector>,
        #[serde(default)]
        variadic: bool,
        #[serde(default)]
        optional: bool,
        visibility: Option<String>,
        of_variable: Option<bool>,
    },
    /// The receiver as a parameter.
    SelfParam { ty: Option<Selector> },
    /// A separator of parameters.
    ParamMark {},
    /// A type parameter, with the type that it has by default.
    TypeParam { name: Selector, bound: Option<Selector>, default: Option<Selector> },
    /// A clause with bounds after the header; its children have the role `bound`.
    Bounds {},
    /// A bound of the type parameter or type `name`.
    Bound { name: Selector, bound: Selector },
    /// A body with positional fields, of which only the types are written.
    Positions { ty: Selector },
    /// Declares that names assigned here belong to an outer scope (`global`).
    Outer { of: Selector },
    /// A definition with decorators.
    Decorated { of: Selector, decorators: Selector },
    /// A decorator, annotation or attribute.
    Decorator { name: Selector, args: Option<Selector> },
    /// An export of a definition or a value; `import` has the form of re-exports. `whole-mark`:
    /// token of an export whose value is the whole module (`export =`).
    Export {
        declaration: Option<Selector>,
        value: Option<Selector>,
        default_mark: Option<Selector>,
        whole_mark: Option<Selector>,
        import: ImportForm,
    },
    /// An import.
    Import { form: ImportForm },
    /// A macro definition with textual replacement.
    Macro { name: Selector, params: Option<Selector>, value: Option<Selector>, body: Option<Body> },
    /// Sets the visibility `mark` of the following members (`public:`), or of those in `of`.
    Section { mark: Option<Selector>, of: Option<Selector> },
    /// A name. `calls`: a name that no variable has is a call without arguments.
    Name {
        #[serde(default)]
        calls: bool,
    },
    /// A path in one node: names between separators of modules, absolute after the root word.
    Path {},
    /// A field of the receiver, named by the node itself (`@name`).
    Field {},
    /// The type of a value as a value (`value.class`).
    TypeOf { of: Selector },
    /// Member access on a value, type or module. Where `object` is absent the node is a plain name.
    /// `scoped`: a path (`a::b`). `written`: it is written as well.
    Member {
        object: Option<Selector>,
        name: Selector,
        #[serde(default)]
        scoped: bool,
        written: Option<bool>,
    },
    /// A call of `callee`; or of the member `name` of `object`; or of `name`.
    Call {
        callee: Option<Selector>,
        object: Option<Selector>,
        name: Option<Selector>,
        args: Option<Selector>,
        /// A closure behind the arguments: the argument for the last parameter.
        trailing: Option<Selector>,
        type_args: Option<Selector>,
        /// A closure behind the arguments, not counted; if it `evaluates`, the receiver is its own.
        closure: Option<Selector>,
        /// Text behind the name of the member: that of a setter where the call is an assignment.
        suffix: Option<String>,
        evaluates: Option<bool>,
    },
    /// A construction of `ty`; without a type, of the element type of the enclosing construction.
    /// `body` may hold definitions (an anonymous subclass) or nodes with the role `initializer`;
    /// `fields` holds initializers only. `positional`: other elements of the body, or of the node
    /// if it has none, are the values of all fields in order.
    Construct {
        ty: Option<Selector>,
        args: Option<Selector>,
        body: Option<Selector>,
        fields: Option<Selector>,
        type_args: Option<Selector>,
        #[serde(default)]
        positional: bool,
    },
    /// A copy of the value `of`, with the members that nodes with the role `initializer` write.
    Copy { of: Selector },
    /// A type in expression position: its members are those of the type.
    TypeValue {},
    /// Type arguments in an expression (`f::<A, B>`): each named child is a type.
    Types {},
    /// A markup element: constructs the component `name`, a path or a capital; others are builtin.
    Element { name: Selector },
    /// A subscript: the element of a container.
    Index { object: Selector, key: Option<Selector> },
    /// The receiver of the method around it; with `of`, of the type or callable of that name.
    SelfValue { of: Option<Selector> },
    /// The receiver as a value of its base.
    SuperValue {},
    /// A call of the base's member that the callable around it overrides; by default with its args.
    SuperCall { args: Option<Selector> },
    /// A literal of the builtin type `ty`.
    Literal {
        ty: String,
        /// Suffix -> type, and that of numbers with a fraction or exponent. The longest decides.
        suffixes: Option<BTreeMap<String, String>>,
        fractions: Option<BTreeMap<String, String>>,
    },
    /// A container literal of the builtin type `ty`: the element type is that of the first child.
    List { ty: String },
    /// The type `of` as a value of the builtin type `ty` (`Item.class`).
    ClassObject { of: Selector, ty: String },
    /// A mapping literal of the builtin type `ty`.
    Mapping { ty: String, key: Option<Selector>, value: Option<Selector> },
    /// A tuple; with one child a parenthesised expression.
    Tuple {},
    /// An object literal. With `pairs`, a token, its children are names and values around that.
    Object { pairs: Option<String> },
    /// A member of an object literal with the name and the value of a variable (`{ a }`).
    Shorthand {},
    /// A string of the builtin type `ty`, possibly with interpolated expressions; with `mark`, the
    /// name at the start of a piece of text behind this one is one.
    Text { ty: String, mark: Option<String> },
    /// An await expression.
    Await { of: Option<Selector> },
    /// Unwraps an optional or a result (`?`).
    Unwrap { of: Option<Selector> },
    /// A choice of values: the first where `condition` holds.
    Choice { of: Vec<Selector>, condition: Option<Selector> },
    /// A spread: several arguments or elements.
    Spread {},
    /// An operator. The value is that of either side for operators in `either`, that of the right
    /// side for those in `last`, a truth value for those in `truth`, otherwise that of the left
    /// side.
    Operator {
        left: Option<Selector>,
        right: Option<Selector>,
        operator: Option<Selector>,
        #[serde(default)]
        either: Vec<String>,
        #[serde(default)]
        truth: Vec<String>,
        #[serde(default)]
        last: Vec<String>,
        /// Type of a truth value.
        #[serde(default)]
        truth_type: String,
        /// Arithmetic operators; the type of the result follows from `[conversions]`.
        #[serde(default)]
        arithmetic: Vec<String>,
        /// Operators that take the next element out of the operand.
        #[serde(default)]
        item: Vec<String>,
        /// Operators that test whether the left side has the type on the right side.
        #[serde(default)]
        type_test: Vec<String>,
    },
    /// A type test that may bind a name; the value is narrowed only where the rule has no `name`.
    TypeTest {
        value: Selector,
        ty: Option<Selector>,
        name: Option<Selector>,
        /// The test holds where the value does not have the type.
        #[serde(default)]
        negated: bool,
    },
    /// A cast to a type, with `array` to an array of it; `effect`: what becomes of its value.
    Cast { ty: Selector, value: Option<Selector>, array: Option<bool>, effect: Option<CastEffect> },
    /// A comprehension: a scope of its own; its value is a `container` of `value`.
    Comprehension { value: Selector, container: String },
    /// A loop over the elements of `iterable`.
    For {
        pattern: Option<Selector>,
        declarator: Option<Selector>,
        ty: Option<Selector>,
        iterable: Selector,
        body: Option<Selector>,
        #[serde(default)]
        value: Yielded,
        /// Token of a loop over keys.
        keys_mark: Option<Selector>,
    },
    /// A context manager: binds what entering `value` gives.
    With { value: Selector, name: Option<Selector> },
    /// Binds a value to a name inside of an expression.
    As { value: Selector, name: Selector },
    /// A handler: binds the caught error.
    Catch { ty: Option<Selector>, name: Option<Selector>, body: Option<Selector> },
    /// A branch whose condition may narrow types.
    If { condition: Selector, then: Selector, otherwise: Option<Selector> },
    /// Binds the names of a pattern by matching a value; `otherwise` is the branch for no match.
    Let {
        pattern: Selector,
        ty: Option<Selector>,
        value: Option<Selector>,
        otherwise: Option<Selector>,
    },
    /// Cases that match one value, bound to `name` if given: the children of `body`.
    Match { value: Option<Selector>, name: Option<Selector>, body: Option<Selector> },
    /// A case of a `match`: `labels` may name members of the value's type, `guard` must hold.
    Case {
        labels: Option<Selector>,
        pattern: Option<Selector>,
        types: Option<Selector>,
        value: Option<Selector>,
        guard: Option<Selector>,
    },
    /// An invocation of a macro on tokens; `read` describes the expressions among them. Where
    /// definitions are allowed, tokens that start with one of `items` are read as definitions if
    /// they parse as such, without lines that start with `mark`, which are words of the macro.
    MacroCall {
        name: Selector,
        tokens: Selector,
        read: TokenWords,
        items: Option<Vec<String>>,
        mark: Option<String>,
    },
    /// A named argument: `value` is for the parameter `name`; `of-variable`: for one that has it.
    NamedArgument { name: Option<Selector>, value: Selector, of_variable: Option<bool> },
    /// One declarator of the chain around a name; `wrap` is the type that it adds (`pointer`,
    /// `array` of a `size`, `reference`), `value` the initial value, `args` are those of the
    /// constructor, `returns` is a trailing result. The name is the text up to the child `up-to`.
    Declarator {
        of: Option<Selector>,
        params: Option<Selector>,
        wrap: Option<String>,
        size: Option<Selector>,
        value: Option<Selector>,
        args: Option<Selector>,
        returns: Option<Selector>,
        up_to: Option<Selector>,
    },
    /// A definition with type parameters: `params` are those of the definition in the same node.
    Generic { params: Selector },
    /// Definitions inside belong to the scope around the type (friends).
    Outside {},
    /// A region of conditional compilation, on `name` or `condition`; an include guard if the first
    /// `guard` has the same name. A first token in `negated` negates, `alternative` is the rest.
    Conditional {
        name: Option<Selector>,
        guard: Option<Selector>,
        condition: Option<Selector>,
        alternative: Option<Selector>,
        #[serde(default)]
        negated: Vec<String>,
    },
    /// An initializer of a base or field before the body of a constructor.
    MemberInit { name: Selector, args: Selector },
    /// A method reference (`Type::method`); where `name` is absent, of the constructor; where
    /// `object` is, of the receiver.
    MethodReference { object: Selector, name: Selector },
    /// Initializes a member of a constructed value or of the receiver.
    Initializer { name: Selector, value: Option<Selector> },
}
