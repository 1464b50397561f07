//! Names by which facts refer to what has none in the source. No other file knows their texts.

/// Meaning of a synthetic name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synthetic {
    /// Results of a closure without a symbol, bound in its scope.
    Results,
    /// Callee without a name: the name of the site of its call.
    UnnamedCallee,
    /// Argument with which a callable calls the closure that is passed to it, by position, bound
    /// in the scope of the callable.
    PassedArgument(u8),
    /// Function type of a call of a value, bound in the scope of its type.
    CallSignature,
    /// Type of what a subscript of a value gives, bound in the scope of its type.
    IndexSignature,
    /// Declared type of the variable that holds a closure, bound in the closure's scope.
    ClosureHolder,
    /// Object literal whose type is stated by what is around it, bound with that type.
    StatedType,
    /// Builtin type of a type guard's result: its argument is the type that the guard implies.
    TypeGuard,
    /// Default export of a file.
    DefaultExport,
    /// Values that are spread in an object literal, bound in the scope of its members.
    Spread,
    /// Base of the part of a type with members of the type itself, bound in its scope.
    Statics,
}

/// The text of each name in the table of names. The first is part of rows.
const TEXTS: [(Synthetic, &str); 14] = [
    (Synthetic::UnnamedCallee, "()"),
    (Synthetic::Results, "(=)"),
    (Synthetic::PassedArgument(0), "()0"),
    (Synthetic::PassedArgument(1), "()1"),
    (Synthetic::PassedArgument(2), "()2"),
    (Synthetic::PassedArgument(3), "()3"),
    (Synthetic::CallSignature, "(..)"),
    (Synthetic::IndexSignature, "[..]"),
    (Synthetic::ClosureHolder, "=>"),
    (Synthetic::StatedType, ":"),
    (Synthetic::TypeGuard, "is"),
    (Synthetic::DefaultExport, "default"),
    (Synthetic::Spread, "..."),
    (Synthetic::Statics, "()::"),
];

impl Synthetic {
    /// Returns the meaning of the argument at a position; none behind the last that is kept.
    pub fn passed_argument(position: usize) -> Option<Self> {
        let name = Self::PassedArgument(u8::try_from(position).ok()?);
        TEXTS.iter().any(|(other, _)| *other == name).then_some(name)
    }

    /// Returns the text in the table of names.
    pub fn text(self) -> &'static str {
        let found = TEXTS.iter().find(|(name, _)| *name == self);
        found.expect("every meaning has a text, as a test holds").1
    }

    /// Returns the meaning of a text of the table of names.
    pub fn of(text: &str) -> Option<Self> {
        TEXTS.iter().find(|(_, other)| *other == text).map(|(name, _)| *name)
    }

    /// True for the text of this name.
    pub fn is(self, text: &str) -> bool {
        Self::of(text) == Some(self)
    }
}

/// End of the name of what a call of an external callable gives: the callable comes before it.
pub const CALL_SUFFIX: &str = "()";

/// Segment of the name of what an external value holds: an element of it. What has a position in
/// one, as in a tuple, has that as its segment.
pub const ELEMENT: &str = "[]";

/// True for the segment of what an external value holds.
pub fn is_held_part(segment: &str) -> bool {
    segment == ELEMENT || !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the external callable, if this is the name of what a call of it gives.
pub fn external_callable(result: &str) -> Option<&str> {
    result.strip_suffix(CALL_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_text_and_each_text_one_name() {
        for (name, text) in TEXTS {
            assert_eq!((Synthetic::of(text), name.text()), (Some(name), text));
            assert!(name.is(text));
        }
        let passed: Vec<Synthetic> = (0..300).filter_map(Synthetic::passed_argument).collect();
        assert_eq!(passed, [0, 1, 2, 3].map(Synthetic::PassedArgument));
        for other in ["", "(", "()4", "()00", "defaults", "x"] {
            assert_eq!(Synthetic::of(other), None, "{other}");
        }
    }

    #[test]
    fn the_result_of_an_external_callable_leads_back_to_it() {
        let result = ["json.load", CALL_SUFFIX].concat();
        assert_eq!(external_callable(&result), Some("json.load"));
        assert_eq!(external_callable("json.load"), None);
    }
}
