//! Checks that a peer's result has the shape of its method. A result of another shape is an error:
//! read with defaults, it would be an empty success, which a model takes for "nothing found".

use serde_json::Value;

/// Checks the result of `tools/call`: a list of content, structured content, or both.
pub(super) fn check_call(result: &Value) -> Result<(), String> {
    if !result.is_object() {
        return Err(format!("the result is {}, not an object", kind(result)));
    }
    if !matches!(result.get("isError"), None | Some(Value::Bool(_))) {
        return Err(format!("`isError` is {}", kind(&result["isError"])));
    }
    let structured = result.get("structuredContent");
    if let Some(structured) = structured.filter(|structured| !structured.is_object()) {
        return Err(format!("`structuredContent` is {}, not an object", kind(structured)));
    }
    match result.get("content") {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(place, item)| check_item(item).map_err(|why| at(place, &why))),
        Some(other) => Err(format!("`content` is {}, not a list", kind(other))),
        None if structured.is_some() => Ok(()),
        None => Err("it has no `content`".to_owned()),
    }
}

/// Checks the result of `tools/list`. Its entries are checked one by one where they are used.
pub(super) fn check_list(page: &Value) -> Result<(), String> {
    match page.get("tools") {
        _ if !page.is_object() => Err(format!("the result is {}, not an object", kind(page))),
        Some(Value::Array(_)) => Ok(()),
        Some(other) => Err(format!("`tools` is {}, not a list", kind(other))),
        None => Err("it has no `tools`".to_owned()),
    }
}

/// Content of a type that is not known belongs to a later version, and is only counted.
fn check_item(item: &Value) -> Result<(), String> {
    if !item.is_object() {
        return Err(format!("is {}, not an object", kind(item)));
    }
    let Some(of_type) = item["type"].as_str() else { return Err("has no `type`".to_owned()) };
    let members: &[&str] = match of_type {
        "text" => &["text"],
        "image" | "audio" => &["data"],
        "resource_link" => &["uri"],
        "resource" if item["resource"]["uri"].is_string() => &[],
        "resource" => return Err("has no `resource` with a `uri`".to_owned()),
        _ => &[],
    };
    match members.iter().find(|member| !item[**member].is_string()) {
        None => Ok(()),
        Some(member) => Err(format!("has no `{member}` that is a text")),
    }
}

fn at(place: usize, why: &str) -> String {
    format!("part {} of `content` {why}", place + 1)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_of_a_call_has_content() {
        let text = json!({"type": "text", "text": ""});
        for right in [
            json!({"content": []}),
            json!({"content": [text], "isError": true, "_meta": 1, "other": null}),
            json!({"content": [], "structuredContent": {}}),
            json!({"structuredContent": {"n": 1}, "isError": false}),
            json!({"content": [
                {"type": "image", "data": "x", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "x:", "name": "x"},
                {"type": "resource", "resource": {"uri": "x:", "text": ""}},
                {"type": "of a later version"},
            ]}),
        ] {
            assert_eq!(check_call(&right), Ok(()), "{right}");
        }
        for (wrong, why) in [
            (json!("x"), "the result is a text, not an object"),
            (json!(5), "the result is a number, not an object"),
            (json!(null), "the result is null, not an object"),
            (json!([]), "the result is a list, not an object"),
            (json!({}), "it has no `content`"),
            (json!({"isError": true}), "it has no `content`"),
            (json!({"content": null}), "`content` is null, not a list"),
            (json!({"content": "x"}), "`content` is a text, not a list"),
            (json!({"content": text}), "`content` is an object, not a list"),
            (json!({"content": [], "isError": "true"}), "`isError` is a text"),
            (
                json!({"content": [], "structuredContent": []}),
                "`structuredContent` is a list, not an object",
            ),
            (json!({"content": [text, "x"]}), "part 2 of `content` is a text, not an object"),
            (json!({"content": [{}]}), "part 1 of `content` has no `type`"),
            (json!({"content": [{"text": "x"}]}), "part 1 of `content` has no `type`"),
            (
                json!({"content": [{"type": "text", "text": 5}]}),
                "part 1 of `content` has no `text` that is a text",
            ),
            (
                json!({"content": [{"type": "image"}]}),
                "part 1 of `content` has no `data` that is a text",
            ),
            (
                json!({"content": [{"type": "resource", "resource": "x"}]}),
                "part 1 of `content` has no `resource` with a `uri`",
            ),
        ] {
            assert_eq!(check_call(&wrong), Err(why.to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_list_has_tools() {
        assert_eq!(check_list(&json!({"tools": []})), Ok(()));
        for (wrong, why) in [
            (json!([]), "the result is a list, not an object"),
            (json!({}), "it has no `tools`"),
            (json!({"tools": {"name": "x"}}), "`tools` is an object, not a list"),
        ] {
            assert_eq!(check_list(&wrong), Err(why.to_owned()), "{wrong}");
        }
    }
}
