//! The fixtures that the official conformance suite of the protocol asks a server for, behind the
//! loop of the real server. Run by `scripts/clients conformance`; needs the feature `faults`.

use std::sync::Arc;
use std::time::Duration;

use cograph::model::cancel::CancelToken;
use cograph::server::{FixtureError, Fixtures, Host, Limits, ProgressReport, run_fixtures};
use serde_json::{Map, Value, json};

/// A picture of one point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8\
                   z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const INVALID_PARAMS: i32 = -32602;
const MISSING_CAPABILITY: i32 = -32021;
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn main() -> std::io::Result<()> {
    // The suite wants to see three steps of progress within a tenth of a second.
    let limits = Limits { progress_interval: Duration::ZERO, ..Limits::default() };
    run_fixtures(Arc::new(Suite), limits)
}

struct Suite;

impl Fixtures for Suite {
    fn list(&self, name: &str) -> Value {
        match name {
            "tools" => tools(),
            "resources" => json!([
                {
                    "uri": "test://static-text", "name": "static-text", "description": "A text",
                    "mimeType": "text/plain"
                },
                {"uri": "test://static-binary", "name": "static-binary", "description": "A \
                    picture", "mimeType": "image/png"},
                {"uri": "test://watched-resource", "name": "watched", "description": "A text to \
                    follow", "mimeType": "text/plain"},
            ]),
            "resourceTemplates" => json!([{
                "uriTemplate": "test://template/{id}/data", "name": "template",
                "description": "Data of an id",
                "mimeType": "application/json",
            }]),
            _ => prompts(),
        }
    }

    fn answer(
        &self,
        method: &str,
        params: &Map<String, Value>,
        host: &dyn Host,
    ) -> Result<Value, FixtureError> {
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        match method {
            "tools/call" => call(text("name"), params, host),
            "resources/read" => read(text("uri")),
            "prompts/get" => prompt(text("name"), params.get("arguments").unwrap_or(&Value::Null)),
            _ => Ok(json!({
                "completion": {
                    "values": ["paris", "park", "party"], "total": 3, "hasMore": false
                }
            })),
        }
    }
}

fn tools() -> Value {
    let plain = |name: &str| {
        json!({
            "name": name, "description": "A fixture", "inputSchema": {"type": "object"}
        })
    };
    let mut tools: Vec<Value> = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_progress",
        "test_error_handling",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
    ]
    .map(plain)
    .into();
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {
                "properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]
            },
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        },
    }));
    Value::Array(tools)
}

fn call(name: &str, params: &Map<String, Value>, host: &dyn Host) -> Result<Value, FixtureError> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let content = match name {
        // It asks in its result and not with a request of its own, and without a level asked for it
        // logs nothing.
        "test_streaming_elicitation" => {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let params = json!({"message": "What is your name?", "requestedSchema": schema});
            let wanted = json!({"name": {"method": "elicitation/create", "params": params}});
            return Ok(json!({"resultType": "input_required", "inputRequests": wanted}));
        }
        "test_simple_text" | "test_logging_tool" | "json_schema_2020_12_tool" => {
            json!([text("This is a simple text response for testing.")])
        }
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([{"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an \
                embedded resource content.",
        }}]),
        "test_multiple_content_types" => {
            json!([text("Multiple content types test:"), image, {"type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            }}])
        }
        "test_tool_with_progress" => {
            for thousandths in [1, 500, 1000] {
                host.progress(&ProgressReport { thousandths, message: "a step".to_owned() });
                CancelToken::new().wait(Duration::from_millis(50));
            }
            json!([text("done")])
        }
        "test_error_handling" => {
            let reported = text("This tool intentionally returns an error for testing");
            return Ok(json!({"isError": true, "content": [reported]}));
        }
        "test_missing_capability" => {
            let declared = params.get("_meta").and_then(|meta| meta.get(CAPABILITIES));
            if declared.and_then(|declared| declared.get("sampling")).is_none() {
                return Err(FixtureError {
                    code: MISSING_CAPABILITY,
                    message: "it needs a client that samples".to_owned(),
                    data: Some(json!({"requiredCapabilities": {"sampling": {}}})),
                });
            }
            json!([text("the client samples")])
        }
        _ => return Err(invalid("no such tool", None)),
    };
    Ok(json!({"content": content}))
}

fn read(uri: &str) -> Result<Value, FixtureError> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text" | "test://watched-resource", _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the \
                static text resource."})
        }
        ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        (_, Some(id)) => {
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
                    .to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
        _ => return Err(invalid("Resource not found", Some(json!({"uri": uri})))),
    };
    Ok(json!({"contents": [content], "ttlMs": 0, "cacheScope": "private"}))
}

fn prompts() -> Value {
    let argument =
        |name: &str| json!({"name": name, "description": "An argument", "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "A prompt"},
        {
            "name": "test_prompt_with_arguments", "description": "One with arguments",
            "arguments": [argument("arg1"), argument("arg2")]
        },
        {
            "name": "test_prompt_with_embedded_resource", "description": "One with a resource",
            "arguments": [argument("resourceUri")]
        },
        {"name": "test_prompt_with_image", "description": "One with a picture"},
    ])
}

fn prompt(name: &str, arguments: &Value) -> Result<Value, FixtureError> {
    let says = |content: Value| json!({"role": "user", "content": content});
    let text = |text: String| says(json!({"type": "text", "text": text}));
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let value = |name: &str| {
                arguments[name]
                    .as_str()
                    .ok_or_else(|| invalid(&format!("`{name}` is missing"), None))
            };
            vec![text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                value("arg1")?,
                value("arg2")?
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": arguments["resourceUri"], "mimeType": "text/plain", "text": "Embedded \
                    resource content for testing.",
            });
            let resource = says(json!({"type": "resource", "resource": resource}));
            vec![resource, text("Please process the embedded resource above.".to_owned())]
        }
        "test_prompt_with_image" => {
            let image = says(json!({"type": "image", "data": PNG, "mimeType": "image/png"}));
            vec![image, text("Please analyze the image above.".to_owned())]
        }
        _ => return Err(invalid("no such prompt", None)),
    };
    Ok(json!({"messages": messages}))
}

fn invalid(message: &str, data: Option<Value>) -> FixtureError {
    FixtureError { code: INVALID_PARAMS, message: message.to_owned(), data }
}
