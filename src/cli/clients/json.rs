//! Configurations in JSON. The text is parsed for positions, and edits are spliced in, so that
//! comments, order, whitespace and line ends are preserved.

pub(super) mod edit;
pub(crate) mod parsed;

use edit::{New, apply, span};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, JsonObject, JsonValue, ParseOptions, parse_to_ast,
    parse_to_value,
};

use crate::clients::entry::{Member, ServerEntry};
use parsed::arguments_of;
pub(super) use parsed::{Parsed, member};

/// Byte order mark, which some editors write.
const BYTE_ORDER_MARK: char = '\u{feff}';

fn options(relaxed: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: relaxed,
        allow_trailing_commas: relaxed,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses a text; none if it is empty.
pub(super) fn parse(text: &str, relaxed: bool) -> Result<Option<Parsed<'_>>, String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if body.trim().is_empty() {
        return Ok(None);
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(body, &collect, &options(relaxed))
        .map_err(|error| format!("it is not valid JSON: {error}"))?;
    let tokens = parsed.tokens.unwrap_or_default();
    // The parser accepts comments after the root value in any mode.
    if !relaxed
        && tokens
            .iter()
            .any(|token| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_)))
    {
        return Err("it is not valid JSON: it has comments".to_owned());
    }
    match parsed.value {
        Some(Value::Object(root)) => Ok(Some(Parsed { text: body, root, tokens })),
        _ => Err("it is JSON, but not an object".to_owned()),
    }
}

/// Byte order mark of a text, if it has one.
pub(super) fn mark<'t>(text: &'t str, parsed: &Parsed<'_>) -> &'t str {
    &text[..text.len() - parsed.text.len()]
}

/// Member by name, which must be an object.
pub(super) fn object<'p, 'a>(
    parent: &'p Object<'a>,
    name: &str,
) -> Result<Option<&'p Object<'a>>, String> {
    match member(parent, name)?.map(|member| &member.value) {
        None => Ok(None),
        Some(Value::Object(found)) => Ok(Some(found)),
        Some(_) => Err(format!("its member {name:?} is not an object")),
    }
}

/// Checks that the text is a configuration, or empty.
pub(super) fn check(text: &str, relaxed: bool, section: &str) -> Result<(), String> {
    let Some(parsed) = parse(text, relaxed)? else { return Ok(()) };
    if let Some(servers) = object(&parsed.root, section)? {
        member(servers, super::NAME)?;
    }
    Ok(())
}

/// Stdio servers in the object at a member path.
pub(super) fn entries(text: &str, relaxed: bool, path: &[&str]) -> Vec<(String, ServerEntry)> {
    let Ok(Some(parsed)) = parse(text, relaxed) else { return Vec::new() };
    let mut servers = &parsed.root;
    for name in path {
        let Ok(Some(inner)) = object(servers, name) else { return Vec::new() };
        servers = inner;
    }
    servers
        .properties
        .iter()
        .filter_map(|server| Some((server.name.as_str().to_owned(), entry(server)?)))
        .collect()
}

fn entry(server: &ObjectProp<'_>) -> Option<ServerEntry> {
    let Value::Object(members) = &server.value else { return None };
    let Ok(Some(Value::StringLit(command))) =
        member(members, "command").map(|found| found.map(|found| &found.value))
    else {
        return None;
    };
    let arguments = match member(members, "args").ok()?.map(|found| &found.value) {
        Some(Value::Array(arguments)) => arguments_of(arguments),
        _ => Vec::new(),
    };
    Some(ServerEntry { command: command.value.clone().into_owned(), arguments })
}

/// True if there is a server of this name, of any kind.
pub(super) fn has(text: &str, relaxed: bool, section: &str, name: &str) -> bool {
    let Ok(Some(parsed)) = parse(text, relaxed) else { return false };
    matches!(
        object(&parsed.root, section),
        Ok(Some(servers)) if matches!(member(servers, name), Ok(Some(_)))
    )
}

/// True if two texts have equal values except for this server. An empty list equals a missing one.
pub(super) fn agree(one: &str, other: &str, relaxed: bool, section: &str, name: &str) -> bool {
    let rest = |text| rest(text, relaxed, section, name);
    rest(one).is_some() && rest(one) == rest(other)
}

/// All values except this server, and the remaining servers, if any.
fn rest<'a>(
    text: &'a str,
    relaxed: bool,
    section: &str,
    name: &str,
) -> Option<(JsonObject<'a>, Option<JsonObject<'a>>)> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = if text.trim().is_empty() { "{}" } else { text };
    let Ok(Some(JsonValue::Object(mut root))) = parse_to_value(text, &options(relaxed)) else {
        return None;
    };
    let Some(mut servers) = root.take_object(section) else { return Some((root, None)) };
    // The server itself may differ.
    drop(servers.take(name));
    Some((root, Some(servers).filter(|servers| !servers.is_empty())))
}

/// The text with an entry of this server. In an existing entry only the command changes, arguments
/// that would not start a server, and the last of the further members.
pub(super) fn with(
    text: &str,
    relaxed: bool,
    section: &str,
    name: &str,
    new: &ServerEntry,
    (fixed, last): (&[Member], Option<Member>),
) -> Result<String, String> {
    let (kind, others) = fixed.split_at(fixed.len().min(1));
    let made = |(name, value): &Member| ((*name).to_owned(), New::from(*value));
    let mut members: Vec<(String, New)> = kind.iter().map(made).collect();
    members.push(("command".to_owned(), New::Text(new.command.clone())));
    members.push(("args".to_owned(), New::Texts(new.arguments.clone())));
    members.extend(others.iter().chain(&last).map(made));
    let Some(parsed) = parse(text, relaxed)? else {
        let servers = New::Members(vec![(name.to_owned(), New::Members(members))]);
        return Ok(format!(
            "{}\n",
            New::Members(vec![(section.to_owned(), servers)]).render("", "  ", Some("\n"))
        ));
    };
    let splices = match object(&parsed.root, section)? {
        None => {
            let servers = New::Members(vec![(name.to_owned(), New::Members(members))]);
            parsed.insert(&parsed.root, section, &servers)
        }
        Some(servers) => match member(servers, name)? {
            None => parsed.insert(servers, name, &New::Members(members)),
            Some(ObjectProp { value: Value::Object(known), .. }) => {
                parsed.correct(known, new, &New::Members(members), last)?
            }
            Some(other) => {
                vec![(span(other.value.range()), New::Members(members).render("", "", None))]
            }
        },
    };
    Ok(format!("{}{}", mark(text, &parsed), apply(parsed.text, splices)))
}

/// The text without this server.
pub(super) fn without(
    text: &str,
    relaxed: bool,
    section: &str,
    name: &str,
) -> Result<String, String> {
    let Some(parsed) = parse(text, relaxed)? else { return Ok(text.to_owned()) };
    let Some(servers) = object(&parsed.root, section)? else { return Ok(text.to_owned()) };
    let Some(server) = member(servers, name)? else { return Ok(text.to_owned()) };
    let splices = parsed.remove(servers, server);
    Ok(format!("{}{}", mark(text, &parsed), apply(parsed.text, splices)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::entry::Literal;

    fn new() -> ServerEntry {
        ServerEntry { command: "/bin/x".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    fn insert(text: &str) -> String {
        with(text, true, "s", "n", &new(), (&[], None)).expect("it is valid")
    }

    /// Adds the entry, then removes it, and checks both texts.
    fn check_both(text: &str, with_it: &str) {
        let changed = insert(text);
        assert_eq!(changed, with_it);
        assert_eq!(entries(&changed, true, &["s"]).last(), Some(&("n".to_owned(), new())));
        assert!(agree(text, &changed, true, "s", "n"), "{changed}");
        let back = without(&changed, true, "s", "n").expect("it is valid");
        assert!(!has(&back, true, "s", "n") && agree(text, &back, true, "s", "n"), "{back}");
        if object(&parse(text, true).expect("it is valid").expect("it is not empty").root, "s")
            .is_ok_and(|list| list.is_some())
        {
            assert_eq!(back, text, "what was there is as it was");
        }
    }

    #[test]
    fn an_entry_is_written_as_its_neighbours_are() {
        check_both(
            "{\n  \"s\": {\n    \"a\": {\"command\":   \"a\"}\n  }\n}\n",
            "{\n  \"s\": {\n    \"a\": {\"command\":   \"a\"},\n    \"n\": {\n      \
             \"command\": \"/bin/x\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
        );
        check_both(
            r#"{"s":{"a":1},"t":2}"#,
            r#"{"s":{"a":1, "n": {"command": "/bin/x", "args": ["mcp"]}},"t":2}"#,
        );
        check_both(
            "{\r\n\t\"s\": {},\r\n\t\"t\": [ 1,2 ]\r\n}",
            "{\r\n\t\"s\": {\r\n\t\t\"n\": {\r\n\t\t\t\"command\": \"/bin/x\",\r\n\
             \t\t\t\"args\": [\"mcp\"]\r\n\t\t}\r\n\t},\r\n\t\"t\": [ 1,2 ]\r\n}",
        );
    }

    #[test]
    fn comments_and_closing_commas_stay() {
        check_both(
            "// top\n{\n  \"s\": {\n    \"a\": 1, // of a\n    /* end */\n  }, /* after */\n}\n\
             // bottom",
            "// top\n{\n  \"s\": {\n    \"a\": 1, // of a\n    /* end */\n    \"n\": {\n      \
             \"command\": \"/bin/x\",\n      \"args\": [\"mcp\"]\n    },\n  }, /* after */\n}\n\
             // bottom",
        );
        check_both(
            "{\n  \"s\": {\n    \"a\": 1 // , of a\n  }\n}",
            "{\n  \"s\": {\n    \"a\": 1, // , of a\n    \"n\": {\n      \
             \"command\": \"/bin/x\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
        );
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line_comment() {
        let text = "{\"s\": {\"a\": 1 // of a\r}}";
        let changed = insert(text);
        assert_eq!(entries(&changed, true, &["s"]).last(), Some(&("n".to_owned(), new())));
    }

    #[test]
    fn a_list_that_is_missing_is_made() {
        check_both(
            "\u{feff}{\n    \"theme\": \"dark\"\n}\n",
            "\u{feff}{\n    \"theme\": \"dark\",\n    \"s\": {\n        \"n\": {\n            \
             \"command\": \"/bin/x\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}\n",
        );
        let fresh = insert("");
        assert_eq!(fresh, insert(" \n"));
        assert_eq!(
            fresh,
            "{\n  \"s\": {\n    \"n\": {\n      \"command\": \"/bin/x\",\n      \
             \"args\": [\"mcp\"]\n    }\n  }\n}\n"
        );
        assert!(agree("", &fresh, true, "s", "n"));
        assert_eq!(without(&fresh, true, "s", "n").as_deref(), Ok("{\n  \"s\": {}\n}\n"));
    }

    #[test]
    fn an_entry_from_the_middle_takes_its_comma_along() {
        let text = "{\"s\": {\n  \"a\": 1, // of a\n  \"n\": {\"command\": \"c\"}, // of n\n  \
                    \"z\": 2\n}}";
        assert_eq!(
            without(text, true, "s", "n").as_deref(),
            Ok("{\"s\": {\n  \"a\": 1, // of a // of n\n  \"z\": 2\n}}")
        );
        let behind_a_comment = "{\"s\": { // of s\n  \"n\": {}, \"z\": 2\n}}";
        assert_eq!(
            without(behind_a_comment, true, "s", "n").as_deref(),
            Ok("{\"s\": { // of s\n   \"z\": 2\n}}")
        );
        let last = "{\"s\": {\"a\": 1, // of a\n  \"n\": {}}}";
        assert_eq!(without(last, true, "s", "n").as_deref(), Ok("{\"s\": {\"a\": 1 // of a\n  }}"));
        let first = "{\"s\": {\"n\": {}, \"z\": 2}}";
        assert_eq!(without(first, true, "s", "n").as_deref(), Ok("{\"s\": { \"z\": 2}}"));
        assert_eq!(without("{}", true, "s", "n").as_deref(), Ok("{}"));
    }

    #[test]
    fn of_a_known_entry_only_what_is_wrong_changes() {
        let known = "{\"s\": {\"n\": {\"env\": {\"A\": \"b\"}, \"command\": \"old\", \"args\": \
                     [\"mcp\", \"--log\", \"x\"]}}}";
        assert_eq!(insert(known), known.replace("old", "/bin/x"));
        let other =
            known.replace("\"mcp\", \"--log\", \"x\"", "\"serve\"").replace("old", "/bin/x");
        assert_eq!(insert(&other), other.replace("serve", "mcp"));
        assert_eq!(
            insert("{\"s\": {\"n\": {\"url\": \"http\"}}}"),
            "{\"s\": {\"n\": {\"command\": \"/bin/x\", \"args\": [\"mcp\"]}}}"
        );
        assert_eq!(
            insert("{\"s\": {\"n\": null}}"),
            "{\"s\": {\"n\": {\"command\": \"/bin/x\", \"args\": [\"mcp\"]}}}"
        );
    }

    #[test]
    fn further_members_are_written_and_the_last_is_corrected() {
        let fixed = [("type", Literal::Text("local")), ("tools", Literal::Texts(&["*"]))];
        let write = |text: &str, last| {
            with(text, true, "s", "n", &new(), (&fixed, last)).expect("it is valid")
        };
        let eager = Some(("load", Literal::True));
        assert_eq!(
            write("{\"s\": {\"a\": 1}}", eager),
            "{\"s\": {\"a\": 1, \"n\": {\"type\": \"local\", \"command\": \"/bin/x\", \"args\": \
             [\"mcp\"], \"tools\": [\"*\"], \"load\": true}}}"
        );
        let known = "{\"s\": {\"n\": {\"command\": \"/bin/x\", \"args\": [\"mcp\"]}}}";
        assert_eq!(write(known, None), known);
        let loaded = known.replace("[\"mcp\"]", "[\"mcp\"], \"load\": true");
        assert_eq!(write(known, eager), loaded);
        assert_eq!(write(&loaded, None), loaded, "it is not taken back");
        assert_eq!(write(&loaded.replace("true", "false"), eager), loaded);
        assert_eq!(write(&loaded, eager), loaded);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, relaxed) in [
            ("{", true),
            ("[]", true),
            ("{\"s\": []}", true),
            ("{\"s\": {}, \"s\": {}}", true),
            ("{\"s\": {\"cograph\": {}, \"cograph\": {}}}", true),
            ("{'s': {}}", true),
            ("{s: {}}", true),
            ("{\"s\": {} \"t\": 1}", true),
            ("{\"s\": {},}", false),
            ("{} // c", false),
            ("{} {}", true),
        ] {
            assert!(check(text, relaxed, "s").is_err(), "{text}");
        }
        assert_eq!(check("{\"s\": {\"a\": {}, \"b\": 1}} // c", true, "s"), Ok(()));
        assert!(
            !agree("{\"a\": 1}", "{\"a\": 2}", true, "s", "n") && !agree("{", "{", true, "s", "n")
        );
    }
}
