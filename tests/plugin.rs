//! The plugin folder against what it repeats: the version, the languages and their extensions, the
//! commands, and the closed schemas of manifests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cograph::grammar::{self, Tier};
use cograph::server;
use serde_json::Value;

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it exists")
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn versions_and_descriptions_are_those_of_the_program() {
    let marketplace = json(".claude-plugin/marketplace.json");
    let manifests = [
        json("plugin/.claude-plugin/plugin.json"),
        json("plugin/plugin.json"),
        json("plugin/gemini/gemini-extension.json"),
        marketplace["plugins"][0].clone(),
    ];
    for manifest in &manifests {
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{manifest}");
        assert_eq!(manifest["description"], manifests[0]["description"], "{manifest}");
        assert_eq!(manifest["name"], "cograph", "{manifest}");
    }
    let source = marketplace["plugins"][0]["source"].as_str().expect("it is a path");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(source).is_dir(), "{source}");
}

#[test]
fn every_server_is_started_in_the_same_way() {
    for path in ["plugin/.mcp.json", "plugin/mcp.json", "plugin/gemini/gemini-extension.json"] {
        let server = &json(path)["mcpServers"]["cograph"];
        assert_eq!(server["command"], "cograph", "{path}");
        assert_eq!(server["args"], serde_json::json!(["mcp"]), "{path}");
    }
}

#[test]
fn manifests_with_a_closed_schema_have_no_other_fields() {
    let fields = |value: &Value| -> Vec<String> {
        value.as_object().expect("it is an object").keys().cloned().collect()
    };
    let known = [
        "$schema",
        "name",
        "version",
        "description",
        "author",
        "homepage",
        "repository",
        "license",
        "keywords",
        "extensions",
    ];
    let (plugin, servers) = (json("plugin/plugin.json"), json("plugin/mcp.json"));
    assert!(fields(&plugin).iter().all(|field| known.contains(&field.as_str())), "{plugin}");
    assert_eq!(fields(&servers), ["$schema", "mcpServers"]);
    let server = &servers["mcpServers"]["cograph"];
    assert_eq!(fields(server), ["type", "command", "args"]);
    for (manifest, name) in [(&plugin, "plugin"), (&servers, "mcp")] {
        let schema = format!("https://agent-plugins.org/schemas/1.0.0/{name}.schema.json");
        assert_eq!(manifest["$schema"], schema);
    }
}

#[test]
fn languages_are_those_of_the_manifests() {
    let instructions = server::instructions();
    let languages = instructions.lines().last().expect("it ends with the languages");
    assert!(
        text("plugin/skills/cograph/SKILL.md").contains(languages),
        "plugin/skills/cograph/SKILL.md has the languages in this line: {languages}"
    );
    let mut extensions = BTreeMap::new();
    for language in grammar::all() {
        if language.tier() != Tier::Structure {
            for extension in &language.manifest.detect.extensions {
                extensions.insert(format!(".{extension}"), Value::from(language.name));
            }
        }
    }
    let listed = json("plugin/.lsp.json")["cograph"]["extensionToLanguage"].clone();
    let listed: BTreeMap<String, Value> =
        listed.as_object().expect("it is an object").clone().into_iter().collect();
    assert_eq!(
        listed, extensions,
        "plugin/.lsp.json has the extensions of each language whose references are read"
    );
}

#[test]
fn every_command_of_the_skill_is_one() {
    let skill = text("plugin/skills/cograph/SKILL.md");
    let mut commands = 0;
    for part in skill.split("`cograph ").skip(1) {
        let name = part.split([' ', '`']).next().unwrap_or_default();
        assert!(server::tool(name).is_some(), "{name}");
        commands += 1;
    }
    assert!(commands >= 10, "{commands}");
}

#[test]
fn hooks_ask_for_events_that_have_an_answer() {
    for path in [
        "plugin/hooks/hooks.json",
        "plugin/gemini/hooks/hooks.json",
        "plugin/clients/cursor.json",
        "plugin/clients/copilot.json",
    ] {
        let hooks = text(path);
        let commands: Vec<&str> = hooks.split("\"cograph hook ").skip(1).collect();
        assert!(commands.len() >= 2, "{path}");
        for command in commands {
            let event = command.split(' ').next().unwrap_or_default();
            assert!(server::HookEvent::from_word(event).is_some(), "{path}: {event}");
        }
        // Patterns of tools that all clients read: names and bars.
        let matchers: Vec<&str> = hooks.split("\"matcher\": \"").skip(1).collect();
        for matcher in matchers {
            let matcher = matcher.split('"').next().unwrap_or_default();
            let is_plain = |letter: char| letter.is_alphabetic() || "|_".contains(letter);
            assert!(matcher.contains('|') && matcher.chars().all(is_plain), "{path}: {matcher}");
        }
    }
}
