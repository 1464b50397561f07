//! Answers for programs: only from the tool that promises them, always then, in the promised shape
//! and within the budget.

use serde_json::{Value, json};

use super::client::{Client, place};

fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let id = json!(format!("call-{}", client.seen.len()));
    client.call(id.clone(), tool, arguments);
    client.answer(&id)["result"].clone()
}

#[test]
fn a_table_comes_with_its_values_and_not_a_second_time_as_text() {
    let mut client = Client::connected(&[]);
    let statement = "SELECT name, line, NULL AS absent, 1.5 AS half FROM symbols ORDER BY line";
    let result = call(&mut client, "sql", json!({"statement": statement}));
    let table = &result["structuredContent"];
    assert_eq!(table["columns"], json!(["name", "line", "absent", "half"]));
    assert_eq!(table["rows"], json!([["helper", 1, null, 1.5], ["main", 6, null, 1.5]]));
    assert_eq!(
        (&table["total"], &table["exact"], &table["left_out"]),
        (&json!(2), &json!(true), &json!(0))
    );
    assert_eq!(table["index"], json!("up to date"));
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(
        text.contains("helper | 1 | null | 1.5") && !text.contains(&table.to_string()),
        "{text}"
    );
}

#[test]
fn what_does_not_fit_is_counted_and_hostile_values_are_escaped() {
    let mut client = Client::connected(&[]);
    let statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
        SELECT i, 'value' || char(27) || char(8238) || '| x' AS v FROM n";
    for budget in [100, 300, 2000] {
        let result = call(&mut client, "sql", json!({"statement": statement, "budget": budget}));
        let table = &result["structuredContent"];
        let shown = table["rows"].as_array().map_or(0, Vec::len);
        assert!(
            table.to_string().len() <= budget * 4 + 400,
            "{budget}: {}",
            table.to_string().len()
        );
        assert_eq!(table["left_out"], json!(table["total"].as_u64().unwrap_or(0) - shown as u64));
        assert!(
            table["note"].as_str().is_some_and(|note| note.contains("LIMIT and OFFSET")),
            "{table}"
        );
        assert!(
            shown == 0 || table["rows"][0] == json!([1, "value\\u{1b}\\u{202e}| x"]),
            "{table}"
        );
        assert!(shown > 0 || budget < 300, "{budget}");
    }
}

#[test]
fn the_promise_is_made_by_one_tool_and_kept() {
    let mut client = Client::connected(&[]);
    client.request(1, "tools/list", json!({}));
    let tools = client.answer(&json!(1))["result"]["tools"].clone();
    let mut promising = Vec::new();
    for tool in tools.as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        let arguments = match name {
            "sql" => json!({"statement": "SELECT count(*) AS n FROM files"}),
            "trace" | "references" => json!({"symbol": "helper"}),
            "show" => json!({"targets": ["helper"]}),
            "grep" => json!({"pattern": "helper"}),
            "explore" | "search" => json!({"query": "helper"}),
            _ => json!({}),
        };
        let result = call(&mut client, name, arguments);
        let Some(schema) = tool.get("outputSchema") else {
            assert!(result.get("structuredContent").is_none(), "{name}: hosts would hide the text");
            continue;
        };
        promising.push(name.to_owned());
        let given =
            result["structuredContent"].as_object().unwrap_or_else(|| panic!("{name}: {result}"));
        for required in schema["required"].as_array().expect("it requires something") {
            assert!(
                given.contains_key(required.as_str().unwrap_or_default()),
                "{name}: {required}"
            );
        }
        for (member, value) in given {
            let is_right = match schema["properties"][member]["type"].as_str() {
                Some("array") => value.is_array(),
                Some("integer") => value.is_u64(),
                Some("boolean") => value.is_boolean(),
                Some("string") => value.is_string(),
                other => panic!("{name}.{member}: {other:?}"),
            };
            assert!(is_right, "{name}.{member}: {value}");
        }
    }
    assert_eq!(promising, ["sql"]);
    let failed = call(&mut client, "sql", json!({"statement": "SELECT nothing FROM symbols"}));
    assert_eq!((&failed["isError"], failed.get("structuredContent")), (&json!(true), None));
}

#[test]
fn without_an_index_there_is_no_table_and_that_is_an_error() {
    let many: Vec<(String, String)> = (0..300)
        .map(|number| (format!("f{number}.py"), "def helper(x):\n    return x\n\n\n".repeat(100)))
        .collect();
    let many: Vec<(&str, &str)> =
        many.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut client = Client::start_in(place(&many), &["--index-wait-ms", "0"], &[]);
    client.hello("2025-11-25");
    let result = call(&mut client, "sql", json!({"statement": "SELECT 1"}));
    assert_eq!(
        (&result["isError"], result.get("structuredContent")),
        (&json!(true), None),
        "{result}"
    );
    assert!(
        result["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("indexed for the first time")),
        "{result}"
    );
    client.request(1, "resources/read", json!({"uri": "cograph://overview"}));
    assert_eq!(client.answer(&json!(1))["error"]["code"], json!(-32603), "nor are there contents");
    let result = call(&mut client, "search", json!({"query": "helper"}));
    assert!(result.get("isError").is_none(), "a model reads how far it is: {result}");
}
