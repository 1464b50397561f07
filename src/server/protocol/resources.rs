//! Resources: URIs that a user or a host attaches. A URI maps to a tool call; this file has only
//! that mapping. The lists are constant and independent of any repository.

use crate::base::uri;
use crate::tools::tool::{DEFAULT_BUDGET, MAX_BUDGET, Tool};
use crate::tools::{outline, overview, show};
use cograph_query::complete::Wanted;
use serde_json::{Map, Value, json};

/// Scheme of all URIs.
const SCHEME: &str = "cograph://";
/// MIME type of all resources.
pub(super) const MIME_TYPE: &str = "text/plain";
/// Maximum length of a URI, in bytes: a path of 1,024 bytes with every byte percent-encoded, and
/// its prefix.
pub(crate) const MAX_BYTES: usize = 4096;

/// The one resource without a variable.
const OVERVIEW: &str = "overview";

/// URI template.
pub(super) struct Template {
    /// Path after the scheme, and name of the template.
    pub(crate) name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Variable.
    pub(super) variable: &'static str,
    /// Kind of the variable.
    pub(crate) wanted: Wanted,
    tool: &'static Tool,
    /// Tool parameter that gets the value.
    parameter: &'static str,
}

/// Templates, in listing order. Paths and symbol names contain slashes and colons, so the variable
/// uses reserved expansion (no escaping); percent-encoded values are accepted too.
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

/// Tool call of a URI.
#[derive(Debug)]
pub(crate) struct ResourceQuestion {
    /// Tool.
    pub(crate) tool: &'static Tool,
    /// Arguments, unvalidated.
    pub(crate) arguments: Map<String, Value>,
}

/// Why a URI has no resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadAddress {
    /// Unknown scheme or path.
    Unknown,
    /// Malformed, or leads out of the repository.
    Invalid,
}

impl Template {
    /// The URI template in RFC 6570 syntax.
    pub(crate) fn address(&self) -> String {
        format!("{SCHEME}{}/{{+{}}}", self.name, self.variable)
    }
}

/// Result of `resources/list`.
pub(crate) fn listing() -> Value {
    json!([{
        "uri": format!("{SCHEME}{OVERVIEW}"),
        "name": OVERVIEW,
        "title": overview::TOOL.title,
        "description": "Languages, modules and their dependencies, entry points, hot spots: what \
                        the tool `overview` answers.",
        "mimeType": MIME_TYPE,
    }])
}

/// Result of `resources/templates/list`.
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

/// True if a listed resource has this URI.
pub(super) fn is_listed(address: &str) -> bool {
    address.strip_prefix(SCHEME) == Some(OVERVIEW)
}

/// Maps a URI to a tool call.
pub(crate) fn question(address: &str) -> Result<ResourceQuestion, BadAddress> {
    if address.len() > MAX_BYTES {
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
        // An empty path is the root directory.
        (true, false) => Ok(asked(template.tool, MAX_BUDGET, None)),
        (false, _) => Ok(asked(template.tool, MAX_BUDGET, Some((template.parameter, value)))),
    }
}

/// A resource has no budget parameter, so a named one gets the maximum.
fn asked(tool: &'static Tool, budget: u64, argument: Option<(&str, String)>) -> ResourceQuestion {
    let arguments = argument.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    ResourceQuestion {
        tool,
        arguments: arguments.chain([("budget".to_owned(), Value::from(budget))]).collect(),
    }
}

/// Rejects names that point out of the repository, although they are only looked up in the index.
fn stays_inside(value: &str) -> bool {
    !value.starts_with('/') && value.split('/').all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::arguments::Arguments;

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
            question(&format!("cograph://outline/{}", "a".repeat(MAX_BYTES))).err(),
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
