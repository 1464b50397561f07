//! The manifest of a language: `grammars/<language>/grammar.toml` as data, checked against the grammar while it is read.

use super::tier::Tier;
use super::values::{Conditions, Conversions, Narrowing, TypeFlow};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a language declares besides the meaning of its node kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// The grammar, as a path in its crate.
    pub grammar: String,
    /// The name people use.
    pub title: String,
    /// How deep the language is read.
    pub tier: Tier,
    /// Languages of one family see each other's symbols.
    pub family: Option<String>,
    /// How files of the language are recognised.
    pub detect: Detection,
    /// How modules are found; not said where structure alone is read.
    #[serde(default)]
    pub modules: Modules,
    /// What is done to sources before they are parsed.
    #[serde(default)]
    pub preprocessor: super::preprocessor::Preprocessor,
    /// Special names.
    #[serde(default)]
    pub names: Names,
    /// How names and members are looked up.
    #[serde(default)]
    pub resolution: Resolution,
    /// Words before a definition and what they mean: word -> flag or visibility.
    #[serde(default)]
    pub modifiers: Modifiers,
    /// How conditions of compilation are written.
    #[serde(default)]
    pub conditions: Conditions,
    /// Who may use what.
    #[serde(default)]
    pub visibility: VisibilityRule,
    /// What other files see.
    #[serde(default)]
    pub exports: ExportRule,
    /// Where documentation is.
    #[serde(default)]
    pub documentation: Documentation,
    /// What is test code.
    #[serde(default)]
    pub tests: TestMarkers,
    /// Tests of a value's type.
    #[serde(default)]
    pub narrowing: Narrowing,
    /// Names that the language or its library defines.
    #[serde(default)]
    pub builtins: Builtins,
    /// What a value may be passed as besides its own type.
    #[serde(default)]
    pub conversions: Conversions,
    /// How types flow through builtin containers and wrappers.
    #[serde(default)]
    pub flow: BTreeMap<String, TypeFlow>,
}

/// How files of a language are recognised.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Detection {
    /// File name endings without the dot.
    pub extensions: Vec<String>,
    /// Whole file names.
    pub file_names: Vec<String>,
    /// Interpreters in a `#!` line.
    pub interpreters: Vec<String>,
    /// Endings shared with another language: this one is chosen if one of `markers` is found, or by the neighbours.
    pub shared_extensions: Vec<String>,
    /// Text at the start of a line (after white space) that only this language has.
    pub markers: Vec<String>,
    /// Files with more bytes are data that nobody navigates by names: they are left out, and listed as too large.
    pub most_bytes: Option<u64>,
}

/// How modules of a language are found. A closed set of systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleSystem {
    /// Dotted names are folders and files below source roots; a folder's own file is its index.
    DottedPackages,
    /// Quoted paths relative to the file, or names of packages with a manifest.
    #[default]
    RelativePaths,
    /// A tree of modules that starts at the root file of a crate.
    CrateTree,
    /// A folder is a package, named by a path from the module's root.
    PackageFolders,
    /// Files name the package they are in; types are found by package and name.
    DeclaredPackages,
    /// Files are pasted into each other.
    Includes,
}

/// How modules are found, with the parameters of the system.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Modules {
    /// The system.
    pub system: ModuleSystem,
    /// What joins segments of a module's name.
    pub separator: String,
    /// File stems that stand for their folder.
    #[serde(default)]
    pub index: Vec<String>,
    /// Endings tried, in order, for a module without one.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Endings that stand for another one in the sources (`.js` written, `.ts` meant): written -> tried.
    #[serde(default)]
    pub extension_aliases: BTreeMap<String, Vec<String>>,
    /// Files of the system besides sources.
    #[serde(default)]
    pub project_files: Vec<String>,
    /// Words that start a path: `crate`, `self`, `super`.
    #[serde(default)]
    pub root_word: Option<String>,
    /// The word for the module itself.
    #[serde(default)]
    pub self_word: Option<String>,
    /// The word for the module around.
    #[serde(default)]
    pub super_word: Option<String>,
    /// The decorator of a child module that gives the path of its file.
    #[serde(default)]
    pub path_decorator: Option<String>,
    /// Root files of a package's crates, by path in its folder; the first is its library.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Folders of a package in which every file is a crate -> the table of the package's manifest that names more of them.
    #[serde(default)]
    pub crate_folders: BTreeMap<String, String>,
    /// A module does not see the names of the module around it.
    #[serde(default)]
    pub closed: bool,
    /// Files of a folder see each other's top-level names.
    #[serde(default)]
    pub shared_folder: bool,
    /// Files whose declared package ends in this are a package of their own beside that of their folder.
    #[serde(default)]
    pub beside_suffix: Option<String>,
    /// Paths that do not begin with a dot are relative as well.
    #[serde(default)]
    pub plain_paths: bool,
    /// Endings of files that includes leave out.
    #[serde(default)]
    pub omitted_extensions: Vec<String>,
    /// Names visible in every file without an import, as external names.
    #[serde(default)]
    pub prelude: Vec<String>,
}

/// How constructors are told from other methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstructorNames {
    /// By the names listed.
    #[default]
    Listed,
    /// They have the name of their type.
    TypeName,
}

/// How a method gets at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelfRule {
    /// By a keyword or not at all.
    #[default]
    Keyword,
    /// The first parameter is the receiver.
    FirstParameter,
    /// By a parameter that has a word of its own; members without it belong to the type.
    Declared,
}

/// Special names of a language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Names {
    /// How constructors are told from other methods.
    pub constructor_rule: ConstructorNames,
    /// Names of constructors.
    pub constructors: Vec<String>,
    /// A constructor that begins with no other one begins with that of its base.
    pub implied_base_constructor: bool,
    /// How a method gets at its receiver.
    pub self_rule: SelfRule,
    /// Callables whose call without arguments is the receiver seen as its base.
    pub super_calls: Vec<String>,
    /// The word for the type around.
    pub self_type: Vec<String>,
    /// Functions whose call with a module's name imports it (`require`), and the wrapper in which they give it, if any.
    pub import_calls: BTreeMap<String, String>,
    /// Words in place of a type that leave it to the value (`var`).
    pub inferred_types: Vec<String>,
    /// Functions whose first type argument is the type of their result (casts).
    pub cast_calls: Vec<String>,
    /// Tokens in a parameter list that stand for any number of arguments.
    pub rest_words: Vec<String>,
    /// Words before a module's name that make its members visible around it.
    pub transparent_module_words: Vec<String>,
    /// Names that are never a binding (`_`).
    pub ignored: Vec<String>,
    /// Parameter lists that mean there are none (`void`).
    pub ignored_params: Vec<String>,
    /// Words that make a constructor's parameter a field as well.
    pub field_parameter_words: Vec<String>,
    /// Objects whose members are the file's exports (`module.exports`, `exports`).
    pub export_objects: Vec<String>,
    /// Member of a type or callable whose members are those of its values (`prototype`).
    pub values_member: Option<String>,
    /// What the names of macros end in where they are applied: macros have names of their own.
    pub macro_suffix: Option<String>,
    /// Member that makes a value callable.
    pub call_member: Option<String>,
    /// Member whose result a `with` binds.
    pub enter_member: Option<String>,
    /// Member whose result iterating gives, and the one that gives the next item.
    pub iterator_members: Vec<String>,
    /// Members that give what a value stands for: its members are found through it as well.
    pub deref_members: Vec<String>,
    /// Library types whose derived types have their values as members.
    pub enum_bases: Vec<String>,
    /// Member behind an index.
    pub index_member: Option<String>,
    /// Member of what a type holds that gives its value where it is read through a value of the type.
    pub descriptor_member: Option<String>,
    /// The variable that lists the names that a wildcard import takes.
    pub export_list: Option<String>,
    /// Functions that make a type parameter.
    pub type_variables: Vec<String>,
    /// Library types whose arguments, in a header, list the type parameters.
    pub type_variable_lists: Vec<String>,
    /// Operator -> member of its left side that gives its value.
    pub operators: BTreeMap<String, String>,
    /// Kind of node -> characters around a name that are no part of it: sigils, quotes, colons.
    pub trim: BTreeMap<String, String>,
}

/// How members of a type are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberLookup {
    /// The type, then its bases depth first, classes before interfaces.
    #[default]
    Chain,
    /// The C3 linearisation.
    C3,
    /// The type, then what it embeds, breadth first.
    Embedding,
    /// Inherent members first, then those of implemented and bounding traits, then through wrappers.
    InherentFirst,
}

/// How names and members are looked up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Resolution {
    /// How members of a type are looked up.
    pub members: MemberLookup,
    /// A bare name inside a type may be a member of it.
    pub implicit_receiver: bool,
    /// Members are only seen through a receiver, also directly inside their type or object.
    pub members_need_receiver: bool,
    /// Scopes of types are seen from the functions inside them.
    pub type_scope_visible: bool,
    /// Several callables of one name in one scope are overloads; otherwise the last one holds.
    pub overloads: bool,
    /// Calling a type makes a value of it.
    pub call_constructs: bool,
    /// Names are bound for the whole function, whatever block they stand in.
    pub function_scoped: bool,
    /// Declarations hold in their whole scope, before the place they stand at.
    pub hoisted: bool,
    /// A closure given to a variable or member is its value, not a definition of that name; types have declared members only.
    pub closures_are_values: bool,
    /// Callables have names of their own: a call never means a variable.
    pub separate_callables: bool,
    /// Members of a base are overloads beside those of the same name in derived types.
    pub inherited_overloads: bool,
    /// A variable keeps the type that it was declared with, whatever it is given.
    pub variables_keep_types: bool,
    /// Interfaces are satisfied by having their methods.
    pub structural: bool,
    /// Types and values have names of their own.
    pub separate_types: bool,
    /// Interfaces and classes of one name in one scope are one type.
    pub merged_types: bool,
    /// What stands before the separator of a path is a module or type, never a value.
    pub paths_name_types: bool,
    /// What a decorator returns takes the place of what it decorates.
    pub decorators_replace: bool,
    /// Functions without a declared result have the type of what they return.
    pub infer_returns: bool,
    /// A variant is named through its type only (`false`: its name is visible beside the type).
    pub variants_visible: bool,
    /// Declarations and definitions of one name are one thing (headers).
    pub declarations: bool,
    /// Indexing a pointer gives what it leads to.
    pub pointers_index: bool,
    /// In a function, a declarator with a list of bare names is a variable made with them, not a declared function.
    pub locals_construct: bool,
    /// A callable without anything in its body is defined all the same: what is empty has no node of its own.
    pub empty_bodies: bool,
    /// What files define at their top is seen in all files: a name that only one of them defines is likely that one.
    pub global_names: bool,
    /// An associated function may be called through a value.
    pub argument_lookup: bool,
}

/// What words before a definition mean.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Modifiers {
    /// Kinds of nodes whose text is modifiers.
    pub nodes: Vec<String>,
    /// Words that make a member belong to its type.
    pub r#static: Vec<String>,
    /// Words that leave a body to derived types.
    pub r#abstract: Vec<String>,
    /// Words that make a result a future.
    pub r#async: Vec<String>,
    /// Words that make a value constant; several words in one entry must all be there.
    pub constant: Vec<String>,
    /// Words that make a member read like a field.
    pub property: Vec<String>,
    /// Words that make a callable yield.
    pub generator: Vec<String>,
    /// Words that make a variable without a value a declaration; its definition is elsewhere.
    pub declaration: Vec<String>,
    /// Words that do the same to fields.
    pub declaration_fields: Vec<String>,
    /// Decorators that make a member belong to its type.
    pub static_decorators: Vec<String>,
    /// Decorators that give a method its type as first parameter.
    pub class_method_decorators: Vec<String>,
    /// Decorators that make a method read like a field.
    pub property_decorators: Vec<String>,
    /// Decorators that leave a body to derived types.
    pub abstract_decorators: Vec<String>,
    /// Decorators that mark one of several signatures of a callable.
    pub overload_decorators: Vec<String>,
    /// Decorators that mark what is deprecated.
    pub deprecated_decorators: Vec<String>,
    /// Decorators that compile what follows only under a condition.
    pub conditional_decorators: Vec<String>,
    /// Decorators that make what follows public.
    pub public_decorators: Vec<String>,
    /// Decorators whose arguments name what is applied.
    pub applying_decorators: Vec<String>,
}

/// Who may use what.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct VisibilityRule {
    /// Word -> visibility.
    pub words: BTreeMap<String, String>,
    /// Visibility without a word.
    pub default: Option<String>,
    /// Kind of type -> visibility of its members without a word.
    pub members: BTreeMap<String, String>,
    /// Visibility, without a word, of members that implement an interface outside of their type's body.
    pub implementing: Option<String>,
    /// A leading underscore is internal, two are private.
    pub underscore: bool,
    /// A capital is public, else internal.
    pub capital: bool,
    /// Prefix of private names.
    pub private_prefix: Option<String>,
}

/// What other files see of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportRule {
    /// Everything at the top that is not private.
    #[default]
    TopLevel,
    /// What says so.
    Marked,
    /// What is public or protected.
    Public,
    /// Everything at the top without a word that hides it.
    Linkage,
}

/// Where documentation is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Documentation {
    /// Kinds of comment nodes.
    pub comments: Vec<String>,
    /// Starts of comments that document what follows; all do when empty.
    pub prefixes: Vec<String>,
    /// The first string of a body documents it: kind of that statement's string node.
    pub body_string: Option<String>,
    /// Words in comments before the type, in braces, of a parameter that is named after it.
    pub param_tags: Vec<String>,
    /// Words in comments before the type, in braces, of a result.
    pub result_tags: Vec<String>,
    /// Words in comments before the type, in braces, of a variable.
    pub type_tags: Vec<String>,
    /// Types in comments that say nothing.
    pub vague_types: Vec<String>,
}

/// What is test code.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TestMarkers {
    /// Globs of test files.
    pub files: Vec<String>,
    /// Prefixes of names of test functions in test files.
    pub function_prefixes: Vec<String>,
    /// Decorators of tests (last segment).
    pub decorators: Vec<String>,
    /// Functions that take a title and a test.
    pub calls: Vec<String>,
    /// Macros whose call before a body defines a test named by its arguments, put together.
    pub macros: Vec<String>,
    /// Those among them whose first argument is a type that the test, named by the last one, is a member of.
    pub fixture_macros: Vec<String>,
}

/// Names that the language or its library defines.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Builtins {
    /// Functions and values.
    pub functions: Vec<String>,
    /// Types; a member of such a type is external.
    pub types: Vec<String>,
    /// Member names too common on builtin types for the unique-name heuristic.
    pub common_members: Vec<String>,
    /// What functions give: name -> type, in which `arg0` and `arg1` are types of arguments and `item0` and `item1` of their items;
    /// `callee0` is the first argument, to be called.
    pub results: BTreeMap<String, String>,
}
