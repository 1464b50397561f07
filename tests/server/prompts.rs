//! Prompts: the list, what they say, and what is wrong with arguments.

use serde_json::{Value, json};

use super::client::{Client, meta};

fn get(client: &mut Client, params: Value) -> Value {
    let id = json!(format!("prompt-{}", client.seen.len()));
    client.request(id.clone(), "prompts/get", params);
    client.answer(&id)
}

#[test]
fn the_list_says_which_arguments_there_are() {
    let mut client = Client::connected(&[]);
    client.request(1, "prompts/list", json!({}));
    let prompts = client.answer(&json!(1))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|prompt| prompt["name"].as_str())
        .collect();
    assert_eq!(names, ["explore", "review"]);
    for prompt in prompts.as_array().into_iter().flatten() {
        assert!(prompt["description"].is_string() && prompt["title"].is_string(), "{prompt}");
        for argument in prompt["arguments"].as_array().expect("they take arguments") {
            assert!(
                argument["description"].is_string() && argument["required"].is_boolean(),
                "{argument}"
            );
        }
    }
    client.request(2, "prompts/list", json!({"_meta": meta("2026-07-28")}));
    let result = client.answer(&json!(2))["result"].clone();
    assert_eq!((&result["prompts"], &result["cacheScope"]), (&prompts, &json!("public")));
    client.request(3, "prompts/list", json!({"cursor": "2"}));
    assert_eq!(client.answer(&json!(3))["error"]["code"], json!(-32602));
}

#[test]
fn a_prompt_holds_its_arguments_and_reads_nothing() {
    let mut client = Client::connected(&[]);
    let arguments = json!({"topic": "how calls\nare \u{1b}[31mqueued", "path": "src"});
    let result =
        get(&mut client, json!({"name": "explore", "arguments": arguments}))["result"].clone();
    let message = &result["messages"][0];
    assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")));
    let text = message["content"]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(text.contains("Topic: how calls\\nare \\u{1b}[31mqueued\nOnly below: src\n"), "{text}");
    assert!(result.get("resultType").is_none());

    let params = json!({"_meta": meta("2026-07-28"), "name": "review"});
    let result = get(&mut client, params)["result"].clone();
    assert_eq!(result["resultType"], json!("complete"));
    let text =
        result["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(text.contains("Change: the uncommitted changes of the working tree\n"), "{text}");
    assert!(!client.place.path().join("cache").exists());
}

#[test]
fn mistakes_are_errors_of_the_protocol_that_name_the_argument() {
    let mut client = Client::connected(&[]);
    for (params, expected) in [
        (json!({}), "`name` must be"),
        (json!({"name": "nothing"}), "unknown prompt `nothing`"),
        (json!({"name": "explore"}), "`topic` is missing"),
        (json!({"name": "explore", "arguments": {"path": "x"}}), "`topic` is missing"),
        (
            json!({"name": "explore", "arguments": {"topic": "x", "files": "y"}}),
            "no argument `files`; it takes: topic, path",
        ),
        (json!({"name": "explore", "arguments": {"topic": ["x"]}}), "`topic` must be a string"),
        (json!({"name": "explore", "arguments": "x"}), "`arguments` must be an object"),
    ] {
        let error = get(&mut client, params.clone())["error"].clone();
        assert_eq!(error["code"], json!(-32602), "{params}: {error}");
        assert!(
            error["message"].as_str().is_some_and(|message| message.contains(expected)),
            "{params}: {error}"
        );
    }
}
