//! Words of a language and their meanings, as manifests state them: path keywords, modifiers,
//! decorators, macros of tests, and members that syntax calls.

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
    /// The first argument derives from the second (`inherits(Derived, Base)`).
    Derive,
    /// A prototype that derives from the one that is the argument (`Object.create(..)`).
    Prototype,
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
