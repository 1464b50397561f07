//! Resources: what a person or a host attaches by its address instead of asking a tool. An address
//! is a question to a tool and is answered by it; here is only which question. The lists are
//! complete before any repository is looked at.

use crate::query::complete::Wanted;
use crate::server::base::uri;
use crate::server::tools::tool::{DEFAULT_BUDGET, MOST_BUDGET, Tool};
use crate::server::tools::{outline, overview, show};
use serde_json::{Map, Value, json};

/// What every address begins with.
const SCHEME: &str = "cograph://";
/// The text that all answers are.
pub(super) const MIME_TYPE: &str = "text/plain";
/// Bytes of an address that are looked at: a path of 1,024 bytes with every byte escaped, and what
/// stands before it.
pub(in crate::server) const MOST_BYTES: usize = 4096;

/// The one resource that needs no name.
const OVERVIEW: &str = "overview";

/// Addresses that are made by filling in a name.
pub(super) struct Template {
    /// What stands behind the scheme, and the template's own name.
    pub(in crate::server) name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The variable.
    pub(super) variable: &'static str,
    /// What the variable is.
    pub(in crate::server) wanted: Wanted,
    tool: &'static Tool,
    /// The tool's parameter that takes the name.
    parameter: &'static str,
}

/// The templates, in the order in which they are listed. Paths and names of symbols have slashes
/// and colons that people want to read, so the variable is expanded without escaping them; escaped
/// ones are understood as well.
pub(super) static TEMPLATES: [Template; 2] = [
    Template {
        name: "outline",
        title: "Outline of a file or directory",
        about: "The symbols of a file with signatures and lines, or the files of a directory: what \
                the tool `outline` answers.",
        variable: "path",
        wanted: Wanted::Path,
        tool: &outline::TOOL,
        parameter: "path",
    },
    Template {
        name: "symbol",
        title: "Source of a symbol",
        about: "The source of a symbol, named `path::Container.name` or by any suffix that means \
                one: what the tool `show` answers.",
        variable: "name",
        wanted: Wanted::Symbol,
        tool: &show::TOOL,
        parameter: "targets",
    },
];

/// A question to a tool.
#[derive(Debug)]
pub(in crate::server) struct ResourceQuestion {
    /// The tool.
    pub(in crate::server) tool: &'static Tool,
    /// Its arguments, unchecked.
    pub(in crate::server) arguments: Map<String, Value>,
}

/// Why an address asks nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::server) enum BadAddress {
    /// Nothing of ours has such an address.
    Unknown,
    /// It is not well-formed, or it leads out of the repository.
    Invalid,
}

impl Template {
    /// The address with its variable, as RFC 6570 writes it.
    pub(in crate::server) fn address(&self) -> String {
        format!("{SCHEME}{}/{{+{}}}", self.name, self.variable)
    }
}

/// The resources as the protocol lists them.
pub(in crate::server) fn listing() -> Value {
    json!([{
        "uri": format!("{SCHEME}{OVERVIEW}"),
        "name": OVERVIEW,
        "title": overview::TOOL.title,
        "description": "Languages, modules and their dependencies, entry points, hot spots: what \
                        the tool `overview` answers.",
        "mimeType": MIME_TYPE,
    }])
}

/// The templates as the protocol lists them.
pub(super) fn templates() -> Value {
    let one = |template: &Template| {
        json!({
            "uriTemplate": template.address(),
            "name": template.name,
            "title": template.title,
            "description": template.about,
            "mimeType": MIME_TYPE,
        })
    };
    TEMPLATES.iter().map(one).collect()
}

/// Whether a resource that needs no name has this address.
pub(super) fn is_listed(address: &str) -> bool {
    address.strip_prefix(SCHEME) == Some(OVERVIEW)
}

/// The question that an address asks.
pub(in crate::server) fn question(address: &str) -> Result<ResourceQuestion, BadAddress> {
    if address.len() > MOST_BYTES {
        return Err(BadAddress::Invalid);
    }
    let rest = address.strip_prefix(SCHEME).ok_or(BadAddress::Unknown)?;
    if is_listed(address) {
        return Ok(asked(&overview::TOOL, DEFAULT_BUDGET, None));
    }
    let (name, variable) = rest.split_once('/').ok_or(BadAddress::Unknown)?;
    let template =
        TEMPLATES.iter().find(|template| template.name == name).ok_or(BadAddress::Unknown)?;
    let value = uri::decode_text(variable)
        .filter(|value| stays_inside(value))
        .ok_or(BadAddress::Invalid)?;
    let takes = template.tool.own.iter().find(|parameter| parameter.name == template.parameter);
    match (value.is_empty(), takes.is_some_and(|parameter| parameter.required)) {
        (true, true) => Err(BadAddress::Invalid),
        // No path: the directory that is the repository.
        (true, false) => Ok(asked(template.tool, MOST_BUDGET, None)),
        (false, _) => Ok(asked(template.tool, MOST_BUDGET, Some((template.parameter, value)))),
    }
}

/// A resource cannot be asked for more, so a named one comes with all the room there is.
fn asked(tool: &'static Tool, budget: u64, argument: Option<(&str, String)>) -> ResourceQuestion {
    let arguments = argument.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    ResourceQuestion {
        tool,
        arguments: arguments.chain([("budget".to_owned(), Value::from(budget))]).collect(),
    }
}

/// Names are looked up in the index and nowhere else; but one that points out of the repository is
/// not even looked up.
fn stays_inside(value: &str) -> bool {
    !value.starts_with('/') && value.split('/').all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::tools::arguments::Arguments;

    #[test]
    fn every_address_is_a_question_to_a_tool_or_an_error() {
        for (address, expected) in [
            ("cograph://overview", Ok(("overview", None))),
            ("cograph://outline/src/a.x", Ok(("outline", Some("src/a.x")))),
            ("cograph://outline/src%2Fa%20b.x", Ok(("outline", Some("src/a b.x")))),
            ("cograph://outline/", Ok(("outline", None))),
            ("cograph://symbol/a.x::C.m", Ok(("show", Some("a.x::C.m")))),
            ("cograph://outline/../a", Err(BadAddress::Invalid)),
            ("cograph://outline/a/%2e%2e/%2E%2e/b", Err(BadAddress::Invalid)),
            ("cograph://outline//etc/passwd", Err(BadAddress::Invalid)),
            ("cograph://outline/%2fetc", Err(BadAddress::Invalid)),
            ("cograph://symbol/../a.x::f", Err(BadAddress::Invalid)),
            ("cograph://outline/a%0", Err(BadAddress::Invalid)),
            ("cograph://outline/a%00", Err(BadAddress::Invalid)),
            ("cograph://outline", Err(BadAddress::Unknown)),
            ("cograph://symbol/", Err(BadAddress::Invalid)),
            ("cograph://nothing/a", Err(BadAddress::Unknown)),
            ("cograph://overview/", Err(BadAddress::Unknown)),
            ("file:///etc/passwd", Err(BadAddress::Unknown)),
            ("", Err(BadAddress::Unknown)),
        ] {
            let found = question(address).map(|question| {
                let name = question
                    .arguments
                    .get("path")
                    .or(question.arguments.get("targets"))
                    .and_then(Value::as_str);
                (question.tool.name, name.map(str::to_owned))
            });
            assert_eq!(
                found,
                expected.map(|(tool, name)| (tool, name.map(str::to_owned))),
                "{address}"
            );
        }
        assert_eq!(
            question(&format!("cograph://outline/{}", "a".repeat(MOST_BYTES))).err(),
            Some(BadAddress::Invalid)
        );
    }

    #[test]
    fn what_is_listed_can_be_asked() {
        for resource in listing().as_array().expect("it is a list") {
            assert!(question(resource["uri"].as_str().expect("it is text")).is_ok());
        }
        for template in &TEMPLATES {
            let address = template.address().replace(&format!("{{+{}}}", template.variable), "a.x");
            let ResourceQuestion { tool, arguments } =
                question(&address).expect("a template gives addresses");
            assert!(Arguments::check(tool, arguments).is_ok(), "{address}");
        }
    }
}
