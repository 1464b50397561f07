//! Validates the tools that an upstream lists: client-safe names, escaped text, bounded sizes.
//! Rejected tools are reported.

use crate::base::escape;
use crate::proxy::upstream::Listing;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Separator between the upstream's name and the tool's name. Names of upstreams cannot contain it.
pub(super) const BETWEEN: &str = "__";
/// Maximum length of a tool name. Clients prepend `mcp__cograph__`, and models accept at most 64
/// characters.
pub(crate) const NAME: usize = 50;
/// Maximum length of a description, in bytes.
pub(crate) const DESCRIPTION: usize = 1024;
/// Maximum size of an input schema, in bytes.
pub(crate) const SCHEMA: usize = 8 << 10;
/// Number of rejected tools that are named; the others are only counted.
const NAMED: usize = 5;

/// Tool of an upstream.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ForeignTool {
    /// Name in the local list.
    pub(super) merged: String,
    /// Name at the upstream.
    pub(super) name: String,
    /// Annotated by the upstream as read-only.
    pub(super) only_reads: bool,
    /// Tool description for clients.
    pub(super) listing: Value,
}

/// Accepted tools of an upstream.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Checked {
    /// Tools, in the upstream's order.
    pub(super) tools: Vec<ForeignTool>,
    /// Why tools are missing.
    pub(super) missing: Option<String>,
}

/// Validates the listed tools.
pub(super) fn check(upstream: &str, listing: &Listing) -> Checked {
    let mut names = BTreeSet::new();
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    for entry in &listing.tools {
        match tool(upstream, entry) {
            Ok(tool) if names.insert(tool.merged.clone()) => tools.push(tool),
            Ok(tool) => left_out.push(format!("{} occurs twice", tool.merged)),
            Err(why) => left_out.push(why),
        }
    }
    let mut missing: Vec<String> = left_out.iter().take(NAMED).cloned().collect();
    if left_out.len() > NAMED {
        missing.push(format!("{} more are left out", left_out.len() - NAMED));
    }
    missing.extend(listing.incomplete.iter().map(|why| format!("the list is incomplete: {why}")));
    Checked { tools, missing: (!missing.is_empty()).then(|| missing.join("; ")) }
}

fn tool(upstream: &str, entry: &Value) -> Result<ForeignTool, String> {
    let name = entry["name"].as_str().ok_or("an entry has no name")?;
    let shown = escape::SafeLine::new(name, 80);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if name.is_empty() || !name.bytes().all(fits) {
        return Err(format!("the name `{shown}` has other letters than A-Z a-z 0-9 _ - ."));
    }
    // Several clients reject dots in names.
    let merged = format!("{upstream}{BETWEEN}{}", name.replace('.', "_"));
    if merged.len() > NAME {
        return Err(format!(
            "the name `{shown}` is too long: with that of its upstream more than {NAME} letters"
        ));
    }
    let schema = &entry["inputSchema"];
    if schema["type"] != "object" || schema.to_string().len() > SCHEMA {
        return Err(format!(
            "`{shown}` has no schema of its arguments that can be used: an object of at most \
             {SCHEMA} bytes"
        ));
    }
    let described = entry["description"].as_str().unwrap_or_default();
    let only_reads = entry["annotations"]["readOnlyHint"] == Value::Bool(true);
    let listing = json!({
        "name": merged,
        "description": format!("[{upstream}] {}", escape::block(described, DESCRIPTION)),
        "inputSchema": escape::value(schema, DESCRIPTION),
        "annotations": {"readOnlyHint": only_reads},
    });
    Ok(ForeignTool { merged, name: name.to_owned(), only_reads, listing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(tools: Vec<Value>, incomplete: Option<&str>) -> Checked {
        check("up", &Listing { tools, incomplete: incomplete.map(str::to_owned) })
    }

    fn entry(name: &str) -> Value {
        json!({"name": name, "description": "d", "inputSchema": {"type": "object"}})
    }

    #[test]
    fn tools_come_under_the_name_of_their_upstream() {
        let reads = json!({
            "name": "a.b", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
            "title": "x"
        });
        let found = checked(vec![reads, entry("c-d")], None);
        let names: Vec<(&str, &str, bool)> = found
            .tools
            .iter()
            .map(|tool| (tool.merged.as_str(), tool.name.as_str(), tool.only_reads))
            .collect();
        assert_eq!(names, [("up__a_b", "a.b", true), ("up__c-d", "c-d", false)]);
        assert_eq!(found.missing, None);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_by_name() {
        let found = checked(
            vec![
                entry("ok"),
                entry("ok"),
                entry("a.b"),
                entry("a_b"),
                entry("two words"),
                entry(""),
                json!({"description": "no name"}),
                json!({"name": 5}),
                entry(&"x".repeat(60)),
                json!({"name": "no_schema"}),
                json!({
                    "name": "large", "inputSchema": {"type": "object", "x": "y".repeat(SCHEMA)}
                }),
            ],
            Some("it has more than 100 pages"),
        );
        assert_eq!(
            found.tools.iter().map(|tool| tool.merged.as_str()).collect::<Vec<_>>(),
            ["up__ok", "up__a_b"]
        );
        let missing = found.missing.expect("much is missing");
        for part in [
            "up__ok occurs twice",
            "up__a_b occurs twice",
            "`two words`",
            "4 more",
            "more than 100 pages",
        ] {
            assert!(missing.contains(part), "{part}: {missing}");
        }
    }

    #[test]
    fn what_an_upstream_says_cannot_deceive_and_has_a_bound() {
        let hostile = json!({
            "name": "t", "description": format!("a\u{1b}[31m\u{202e}{}", "x".repeat(1 << 20)),
            "inputSchema": {
                "type": "object", "properties": {"p\u{200b}": {"description": "y\u{7}"}}
            },
        });
        let listing = checked(vec![hostile], None).tools.remove(0).listing.to_string();
        assert!(
            listing.len() < 2 * DESCRIPTION && listing.contains("[up] a\\\\u{1b}[31m\\\\u{202e}x"),
            "{listing}"
        );
        assert!(listing.contains("p\\\\u{200b}") && listing.contains("y\\\\u{7}"), "{listing}");
    }
}
