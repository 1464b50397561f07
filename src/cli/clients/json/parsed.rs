//! The parsed text of a configuration in JSON, and its members.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::tokens::TokenAndRange;

/// Parsed text: root value, and tokens including comments.
pub(crate) struct Parsed<'a> {
    pub(crate) text: &'a str,
    pub(crate) root: Object<'a>,
    pub(crate) tokens: Vec<TokenAndRange<'a>>,
}

/// Member by name. A duplicate name is an error, because parsers differ in which one they use.
pub(crate) fn member<'p, 'a>(
    object: &'p Object<'a>,
    name: &str,
) -> Result<Option<&'p ObjectProp<'a>>, String> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(_) => Err(format!("it has the member {name:?} twice")),
        None => Ok(first),
    }
}

pub(crate) fn arguments_of(list: &Array<'_>) -> Vec<String> {
    let texts = list.elements.iter().map(|element| match element {
        Value::StringLit(text) => text.value.clone().into_owned(),
        // Only strings are valid; others are shown as a placeholder.
        _ => "?".to_owned(),
    });
    texts.collect()
}
