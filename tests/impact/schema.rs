//! `docs/impact.schema.json` describes the JSON of the answers: each is checked against it, with
//! the few keywords that it uses.

use super::{changed_cart, shop};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../docs/impact.schema.json");

/// What does not fit the schema at a place.
pub(crate) fn errors(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => panic!("{place}: the schema has no type"),
    };
    if !kinds.iter().any(|kind| is_of(kind)) {
        found.push(format!("{place}: {value} is no {}", kinds.join(" or ")));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        found.push(format!("{place}: {value} is none of the words"));
    }
    if let Some(object) = value.as_object() {
        let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in names.filter(|name| !object.contains_key(*name)) {
            found.push(format!("{place}: `{name}` is missing"));
        }
        for (name, inner) in object {
            match schema["properties"].get(name) {
                Some(schema) => errors(schema, inner, &format!("{place}.{name}"), found),
                None if schema["additionalProperties"].is_object() => {
                    let rest = &schema["additionalProperties"];
                    errors(rest, inner, &format!("{place}.{name}"), found);
                }
                None if schema["additionalProperties"] == false => {
                    found.push(format!("{place}: `{name}` is not described"));
                }
                None => {}
            }
        }
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        errors(&schema["items"], item, &format!("{place}[{at}]"), found);
    }
}

#[test]
fn answers_have_the_documented_shape() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    repository.write("data.bin", "a\0b");
    let answers = [repository.json(&["impact"]), repository.json(&["impact", "add"])];
    for answer in &answers {
        let mut found = Vec::new();
        errors(&schema, answer, "answer", &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }
    assert!(answers[0]["breaks"].as_array().is_some_and(|breaks| breaks.len() == 11));
    let mut broken = answers[0].clone();
    broken["breaks"][0]["certainty"] = Value::from("perhaps");
    broken["tests"][0].as_object_mut().expect("an object").remove("class");
    let mut found = Vec::new();
    errors(&schema, &broken, "answer", &mut found);
    assert_eq!(found.len(), 2, "{found:?}");
}
