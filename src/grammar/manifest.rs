//! The manifest of a language: `grammars/<language>/grammar.toml` as data, checked against the
//! grammar while it is read.

mod comments;
mod complexity;
pub(crate) mod lookup;
mod markup;
mod modules;
pub(super) mod position;
mod repairs;
pub(super) mod values;
pub(super) mod words;

pub use comments::{Documentation, TestMarkers, TestRunner};
pub use complexity::{ComplexityRules, ComplexityTable, Cost, Weight};
pub use markup::{MarkMeaning, Markup};
pub use modules::{ErasedImports, ModuleSystem, Modules, PathWord};
pub use repairs::{Form, Repairs};
pub use values::Builtins;

use cograph_grammars::Tier;
use cograph_model::SymbolKind;
use serde::Deserialize;
use std::collections::BTreeMap;
pub use values::MemberLookup;
use values::{Conditions, Conversions, Narrowing, TypeFlow};
use words::{CallMeaning, DecoratorMeaning, ImplicitUse, ModifierMeaning};

/// A language manifest without its tables of node kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// Path of the grammar constant in its crate (`tree_sitter_x::LANGUAGE`).
    pub grammar: String,
    /// Display name of the language.
    pub title: String,
    /// Tier of analysis.
    pub tier: Tier,
    /// Children that the rule of a node leaves out are visited as well, as always in the tier
    /// `shared`.
    #[serde(default)]
    pub visit_rest: bool,
    /// Family of languages that share one symbol table: name resolution crosses files of different
    /// languages within it.
    pub family: Option<String>,
    /// Language detection: file names, extensions and content.
    pub detect: Detection,
    /// Module system: how imports are mapped to files and packages. Omitted in the structure tier.
    #[serde(default)]
    pub modules: Modules,
    /// Vocabulary of the preprocessor, for languages that have one: source that only it understands
    /// is masked before parsing.
    #[serde(default)]
    pub preprocessor: super::preprocessor::Preprocessor,
    /// Repairs of a source whose tree has errors. In every language the innermost lines that the
    /// grammar does not understand are masked then, so that what is around them is read.
    #[serde(default)]
    pub repairs: Repairs,
    /// Markup around the code of a file.
    #[serde(default)]
    pub markup: Option<Markup>,
    /// Names with a built-in meaning.
    #[serde(default)]
    pub names: Names,
    /// Rules of name resolution and member lookup.
    #[serde(default)]
    pub resolution: Resolution,
    /// Modifiers and decorators of definitions, and the flags that they set.
    #[serde(default)]
    pub modifiers: Modifiers,
    /// Syntax of conditional compilation.
    #[serde(default)]
    pub conditions: Conditions,
    /// Visibility of symbols.
    #[serde(default)]
    pub visibility: VisibilityRule,
    /// Rule for the symbols that a file exports.
    #[serde(default)]
    pub exports: ExportRule,
    /// Syntax of documentation.
    #[serde(default)]
    pub documentation: Documentation,
    /// What makes code complex.
    #[serde(default)]
    pub complexity: ComplexityRules,
    /// Patterns of test code.
    #[serde(default)]
    pub tests: TestMarkers,
    /// Type narrowing: tests that imply the type of a value.
    #[serde(default)]
    pub narrowing: Narrowing,
    /// Builtin functions and types, and names of the standard library that need no import.
    #[serde(default)]
    pub builtins: Builtins,
    /// Implicit conversions of arguments, for overload resolution.
    #[serde(default)]
    pub conversions: Conversions,
    /// Type flow through a builtin type, by its name: type parameters, elements, and the types of
    /// members.
    #[serde(default)]
    pub flow: BTreeMap<String, TypeFlow>,
}

/// Language detection.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Detection {
    /// File name extensions, without the dot.
    pub extensions: Vec<String>,
    /// Complete file names.
    pub file_names: Vec<String>,
    /// Interpreters in a `#!` line, without version numbers.
    pub interpreters: Vec<String>,
    /// Extensions shared with another language: this language is chosen where one of `markers` is
    /// found, else by the majority of the other files in the directory.
    pub shared_extensions: Vec<String>,
    /// Text at the start of a line, after white space, that occurs in this language only.
    pub markers: Vec<String>,
    /// Extensions of templates, behind one of the language: a build makes `x.h` of `x.h.in`, and
    /// puts values in place of `@NAME@`.
    pub templates: Vec<String>,
    /// Maximum size of a file in bytes: a larger one is data and is not indexed, but listed as too
    /// large.
    pub most_bytes: Option<u64>,
}

/// Recognition of constructors among methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstructorNames {
    /// By the names in `constructors`.
    #[default]
    Listed,
    /// By the name of their type.
    TypeName,
}

/// Syntax of the receiver in a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelfRule {
    /// A keyword, or implicit.
    #[default]
    Keyword,
    /// The first parameter is the receiver.
    FirstParameter,
    /// A parameter with a keyword of its own; members without it are associated functions.
    Declared,
}

/// Names with a built-in meaning.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Names {
    /// Recognition of constructors among methods.
    pub constructor_rule: ConstructorNames,
    /// Names of constructors.
    pub constructors: Vec<String>,
    /// A constructor that calls no other one calls that of the base.
    pub implied_base_constructor: bool,
    /// Syntax of the receiver in a method.
    pub self_rule: SelfRule,
    /// Names of the enclosing type (`Self`).
    pub self_type: Vec<String>,
    /// Function that imports the module named by its argument (`require`) -> generic type that
    /// wraps the result, or an empty text.
    pub import_calls: BTreeMap<String, String>,
    /// Function -> meaning of its call.
    pub special_calls: BTreeMap<String, CallMeaning>,
    /// Words in type position that request inference from the value (`var`).
    pub inferred_types: Vec<String>,
    /// Tokens in a parameter list that accept any number of further arguments.
    pub rest_words: Vec<String>,
    /// Words before a module that make its members visible in the enclosing scope
    /// (`inline namespace`).
    pub transparent_module_words: Vec<String>,
    /// Names of functions and members that the language or its run time calls; `*` represents any
    /// letters (`__*__`).
    pub called_by_runtime: Vec<String>,
    /// Names of the members of a type that the language calls for each type derived from it, which
    /// they may register.
    pub called_for_derived: Vec<String>,
    /// Names that bind nothing (`_`).
    pub ignored: Vec<String>,
    /// Parameter lists that mean no parameters (`void`).
    pub ignored_params: Vec<String>,
    /// Modifiers that make a parameter of a constructor a field as well. Where there are any,
    /// other parameters of a type are no fields.
    pub field_parameter_words: Vec<String>,
    /// Name of the part of a type with members of the type itself (`Companion`).
    pub statics: Option<String>,
    /// Names of the parameters of a closure that declares none, by position (`it`).
    pub implicit_params: Vec<String>,
    /// Names whose value is the place of the constant in its list (`iota`, `auto()`).
    pub place_values: Vec<String>,
    /// Objects whose members are the exports of the file (`module.exports`, `exports`).
    pub export_objects: Vec<String>,
    /// Member of a type or callable that holds the members of its instances (`prototype`).
    pub values_member: Option<String>,
    /// Suffix of a macro name where the macro is applied (`!`). With it, macros have a namespace of
    /// their own.
    pub macro_suffix: Option<String>,
    /// Library types whose derived types are enumerations: their fields are instances.
    pub enum_bases: Vec<String>,
    /// Variable that lists the names of a wildcard import (`__all__`).
    pub export_list: Option<String>,
    /// Library types whose arguments, among the bases of a type, list its type parameters
    /// (`Generic`).
    pub type_variable_lists: Vec<String>,
    /// Suffix that the name of a decorator may omit (`Attribute`).
    pub decorator_suffix: Option<String>,
    /// Syntax -> members that it calls.
    pub implicit_members: BTreeMap<ImplicitUse, Vec<String>>,
    /// Operator -> method of the left operand whose result is the value.
    pub operators: BTreeMap<String, String>,
    /// Node kind -> characters around a name that are not part of it: sigils, quotes, colons.
    pub trim: BTreeMap<String, String>,
}

/// Rules of name resolution and member lookup.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Resolution {
    /// Order of member lookup in a type and its bases.
    pub members: MemberLookup,
    /// An unqualified name inside a type may be a member of it.
    pub implicit_receiver: bool,
    /// Functions are members of types: modules have none of their own.
    pub functions_in_types: bool,
    /// Members need a receiver, also directly inside their type or object.
    pub members_need_receiver: bool,
    /// Functions see the scope of the type that they are in.
    pub type_scope_visible: bool,
    /// Callables of one name in one scope are overloads; otherwise the last definition wins.
    pub overloads: bool,
    /// A scope has one definition of a name: several definitions and imports of it are alternatives
    /// of conditional compilation, whether or not their conditions are known.
    pub one_definition: bool,
    /// A call of a type constructs an instance.
    pub call_constructs: bool,
    /// The scope of a local name is the whole function, not the enclosing block.
    pub function_scoped: bool,
    /// Declarations are visible in their whole scope, also before their position.
    pub hoisted: bool,
    /// The scope of a local name begins behind its declaration: on the right side the name has its
    /// outer meaning.
    pub scope_after_declaration: bool,
    /// The scope of a parameter is the body: in the header its name has its outer meaning.
    pub parameters_in_body: bool,
    /// The body of a type, and a file, are statements that run in order: on the right side of the
    /// definition of a variable its name has the meaning that it had before.
    pub runs_in_order: bool,
    /// A closure assigned to a variable or member is its value, not a definition of that name.
    pub closures_are_values: bool,
    /// Types have declared members only: an assignment to a member of the receiver makes none.
    pub declared_members: bool,
    /// The call that a closure is passed to may give it a receiver, whose members are names of the
    /// closure.
    pub closure_receivers: bool,
    /// Callables have a namespace of their own: a call never refers to a variable.
    pub separate_callables: bool,
    /// A type and its instances have separate members: one name may mean a static member and one of
    /// instances.
    pub separate_statics: bool,
    /// A type may be opened again, in any file: declarations of one qualified name are one type.
    pub open_types: bool,
    /// Callables of the types around a type are not visible in it: its receiver is its own.
    pub own_receiver: bool,
    /// Members of a base and members of the same name in derived types are overloads of each other.
    pub inherited_overloads: bool,
    /// The declared type of a variable is not refined by assignments.
    pub variables_keep_types: bool,
    /// Structural interfaces, which a type implements by having their members: `interface`, all
    /// types of that kind; others, the types that derive directly from this one of a library.
    pub structural: Vec<String>,
    /// Types and values have separate namespaces.
    pub separate_types: bool,
    /// The name of a type is separate from names of values and follows a keyword, unless it is
    /// declared as an alias.
    pub tagged_types: bool,
    /// Type arguments of a call choose among overloads and are those of the callee's type
    /// parameters.
    pub type_arguments: bool,
    /// A member of a library type that is not called is its value, not a callable.
    pub library_properties: bool,
    /// Type arguments that a call leaves out come from its arguments alone.
    pub arguments_infer: bool,
    /// Declaration merging: interfaces and classes of one name in one scope are one type.
    pub merged_types: bool,
    /// A name in the position of a type or of a constructed type means a type: members and
    /// variables of that name are passed over. So it does before a member of the type itself,
    /// where a value has the name of its type.
    pub typed_positions: bool,
    /// The qualifier of a path is a module or a type, never a value.
    pub paths_name_types: bool,
    /// The result of a decorator replaces the decorated definition.
    pub decorators_replace: bool,
    /// The result type of a function without a declared one is inferred from its returns.
    pub infer_returns: bool,
    /// The variants of an enumeration are names of the enclosing scope.
    pub variants_visible: bool,
    /// Words of an enumeration whose variants are members only (`enum class`).
    pub scoped_enum_words: Vec<String>,
    /// Declarations and definitions of one name are the same entity (headers).
    pub declarations: bool,
    /// Indexing a pointer gives its target.
    pub pointers_index: bool,
    /// Inside a function, a declarator with a list of bare names constructs a variable and declares
    /// no function.
    pub locals_construct: bool,
    /// A callable without a body node is a definition: empty bodies have no node of their own.
    pub empty_bodies: bool,
    /// Top-level names are visible in all files: a name with a single definition likely refers to
    /// it.
    pub global_names: bool,
    /// A receiver of unknown type is likely an instance of the type with its name (`context`).
    pub names_tell_types: bool,
    /// The receiver of a method may have members of the types that derive from its own: methods of
    /// a mixin call those of the types that it is mixed into.
    pub derived_members: bool,
    /// Definitions are statements: of those of one name in the branches of a condition, outside of
    /// callables, a program has one.
    pub conditional_definitions: bool,
    /// Argument-dependent lookup: an unqualified call that finds no other declaration is looked up
    /// next to the types of its arguments.
    pub argument_lookup: bool,
}

impl Resolution {
    /// True where neither results nor variables have declared types that say all about them.
    pub fn is_dynamic(&self) -> bool {
        self.infer_returns && !self.variables_keep_types
    }
}

/// Modifiers and decorators of definitions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Modifiers {
    /// Node kinds whose text is a list of modifiers.
    pub nodes: Vec<String>,
    /// Modifier -> its meanings. The words of a modifier of several words must all be present.
    pub words: BTreeMap<String, Vec<ModifierMeaning>>,
    /// Decorator -> its meaning for its definition; one without a meaning is known to register
    /// nothing. A decorator is named by its last segment, its path, or its whole text without white
    /// space.
    pub decorators: BTreeMap<String, Vec<DecoratorMeaning>>,
    /// Decorator of a type or of a field -> members that a compiler plugin makes for it.
    pub generates: BTreeMap<String, Vec<GeneratedMember>>,
}

/// Member that is made of each field of a type, or of a field; with a `name`, of the type.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GeneratedMember {
    /// What comes before the name of the field, which then begins with a capital.
    #[serde(default)]
    pub prefix: String,
    /// Whole name of a member that is made of the type.
    pub name: Option<String>,
    /// Argument of the decorator with the whole name of a member that is made of the type: without
    /// it none is made.
    pub named_by: Option<String>,
    /// Argument of the decorator with which none is made.
    pub off: Option<String>,
    /// Kind of the member.
    #[serde(default = "method", deserialize_with = "crate::rule::parts::symbol_kind")]
    pub kind: SymbolKind,
    /// True for a method with one parameter, the new value of the field.
    #[serde(default)]
    pub takes: bool,
    /// A member of the type, not of its instances.
    #[serde(default, rename = "static")]
    pub is_static: bool,
    /// Declared type of the fields that it is made of, if only those.
    pub only: Option<String>,
    /// Declared type of fields that it is not made of.
    pub unless: Option<String>,
}

fn method() -> SymbolKind {
    SymbolKind::Method
}

/// Visibility of symbols.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct VisibilityRule {
    /// Modifier -> visibility.
    pub words: BTreeMap<String, String>,
    /// Visibility without a modifier.
    pub default: Option<String>,
    /// Kind of type -> visibility of its members without a modifier.
    pub members: BTreeMap<String, String>,
    /// Kind of type -> visibility of its constructors without a modifier.
    pub constructors: BTreeMap<String, String>,
    /// Visibility, without a modifier, of members that implement an interface outside of the body
    /// of their type.
    pub implementing: Option<String>,
    /// A name with one leading underscore is internal, with two it is private.
    pub underscore: bool,
    /// A name with a leading capital is public, any other is internal.
    pub capital: bool,
    /// Prefix of private names.
    pub private_prefix: Option<String>,
}

/// Rule for the symbols that a file exports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportRule {
    /// All top-level symbols that are not private.
    #[default]
    TopLevel,
    /// Symbols with an export mark.
    Marked,
    /// Public and protected symbols.
    Public,
    /// Top-level symbols with external linkage: all without a modifier of internal linkage.
    Linkage,
}
