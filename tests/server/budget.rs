//! Answers stay within their budget for any repository and any arguments, and report what they
//! leave out.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Client, place};

/// Budgets that callers give, from the smallest to the largest.
const BUDGETS: [u64; 6] = [100, 150, 400, 1000, 2000, 10_000];
/// A client shows no more characters of an answer to its model; longer ones become a file that the
/// model has to open.
const SHOWN: usize = 50_000;
/// An error is reported in one or two sentences, also where the budget is smaller.
const SENTENCES: usize = 1000;

/// Names, documentation, lines and paths that are as long as they can be, and many of everything.
fn excessive() -> TempDir {
    let long = |number: usize| format!("name_{number}_{}", "very_long_".repeat(300));
    let invisible = "\u{200b}\u{202e}".repeat(2000);
    let mut text = String::new();
    for number in 0..60 {
        let (name, next) = (long(number), long((number + 1) % 60));
        text.push_str(&format!(
            "def {name}({name}_parameter):\n    \"\"\"{}{invisible}\"\"\"\n    \
             return {next}({name}_parameter)\n\n\n",
            "Documentation. ".repeat(300)
        ));
    }
    let many: String = (0..400)
        .map(|number| format!("class C{number}:\n    def twin(self):\n        return twin()\n\n\n"))
        .collect();
    let callers: String = (0..300)
        .map(|number| format!("def caller_{number}(x):\n    return hub(x)\n\n\n"))
        .collect();
    let tests: String = (0..80)
        .map(|number| format!("def test_{number}():\n    assert C{number}().twin()\n\n\n"))
        .collect();
    let deep = "directory_with_a_long_name_for_a_path_component_that_goes_on_and_on/".repeat(8);
    let mut files = vec![
        ("excess.py".to_owned(), text),
        ("many.py".to_owned(), many.clone()),
        ("test_many.py".to_owned(), format!("from many import *\n\n\n{tests}")),
        ("hub.py".to_owned(), format!("def hub(x):\n    return x\n\n\n{callers}")),
        ("one_line.txt".to_owned(), "needle ".repeat(100_000)),
        ("broken.py".to_owned(), "def (:\n".repeat(300)),
        (format!("{deep}many.py"), many),
    ];
    for number in 0..80 {
        files.push((
            format!("package_{number}/\u{202e}odd\u{200b}name{}.py", "x".repeat(150)),
            format!("import package_{}\n# needle\n", (number + 1) % 80),
        ));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    place(&files)
}

/// Calls of every tool: those that find much, those that find nothing, and those that cannot be
/// answered.
fn calls() -> Vec<(&'static str, Value)> {
    let long = "x".repeat(900);
    vec![
        ("explore", json!({"query": "twin documentation name"})),
        ("explore", json!({"query": "C1.twin test_1"})),
        ("explore", json!({"query": "nothing_like_this"})),
        ("search", json!({"query": "name"})),
        ("search", json!({"query": "twin"})),
        ("search", json!({"query": long, "mode": "name"})),
        ("search", json!({"query": "(", "mode": "regex"})),
        (
            "show",
            json!({
                "targets": ["excess.py", "many.py", "one_line.txt:1", "C1.twin", "nowhere", "twin"]
            }),
        ),
        ("show", json!({"targets": ["excess.py:1-300"]})),
        ("outline", json!({})),
        ("outline", json!({"path": "excess.py"})),
        ("outline", json!({"path": "many.py"})),
        ("outline", json!({"path": "broken.py"})),
        ("outline", json!({"path": long})),
        ("trace", json!({"symbol": "test_many.py::test_1", "direction": "callees", "depth": 9})),
        ("trace", json!({"symbol": "hub"})),
        ("trace", json!({"symbol": "twin"})),
        ("trace", json!({"symbol": "nam"})),
        ("trace", json!({"symbol": long})),
        ("references", json!({"symbol": "hub"})),
        ("references", json!({"symbol": "C1.twin", "certainty": "textual"})),
        ("references", json!({"symbol": "many.py::C1", "certainty": "textual"})),
        ("impact", json!({"symbol": "hub"})),
        ("impact", json!({"symbol": long})),
        ("overview", json!({})),
        ("overview", json!({"depth": 5})),
        ("grep", json!({"pattern": "needle"})),
        ("grep", json!({"pattern": "e", "context": 3})),
        ("grep", json!({"pattern": long})),
        ("sql", json!({"statement": "SELECT * FROM symbols, files LIMIT 5000"})),
        ("sql", json!({"statement": "SELECT nothing FROM symbols"})),
        ("sql", json!({"statement": format!("SELECT '{}' FROM symbols", "y".repeat(15_000))})),
        ("status", json!({})),
        ("search", json!({"query": "x", "root": format!("/nowhere/{long}")})),
        ("search", json!({"query": "x", long: 1})),
    ]
}

#[test]
fn every_answer_and_every_error_is_within_its_budget() {
    let mut client = Client::start_in(excessive(), &[], &[]);
    client.hello("2025-11-25");
    let mut answered = BTreeMap::new();
    for (tool, arguments) in calls() {
        for budget in BUDGETS {
            let mut arguments = arguments.clone();
            arguments["budget"] = json!(budget);
            let (text, is_error) = client.outcome(tool, arguments.clone());
            let most = usize::try_from(budget * 4).expect("budgets are small");
            let most = if is_error { most.max(SENTENCES) } else { most };
            let what: String = arguments.to_string().chars().take(150).collect();
            assert!(text.len() <= most, "{tool} {what}: {} bytes:\n{text}", text.len());
            assert!(text.chars().count() < SHOWN && !text.trim().is_empty(), "{tool} {what}");
            if let Some(structured) = client.structured(tool, arguments.clone()) {
                let structured = structured.to_string();
                assert!(
                    structured.len() <= most.max(SENTENCES),
                    "{tool} {what}: {} bytes:\n{structured}",
                    structured.len()
                );
            }
            let first = text.lines().next().unwrap_or_default();
            assert!(
                is_error || budget < 1000 || first.contains("up to date"),
                "{tool} {what}: {first}"
            );
            // One that fills most of its budget was cut to it.
            if !is_error && text.len() * 2 > most {
                *answered.entry(tool).or_insert(0) += 1;
            }
        }
    }
    let cut: Vec<&str> = answered.into_keys().collect();
    assert_eq!(
        cut.len(),
        cograph::server::TOOLS.len(),
        "every tool has answers that fill a budget: {cut:?}"
    );
}

#[test]
fn what_a_small_budget_leaves_out_is_reported() {
    let mut client = Client::start_in(excessive(), &[], &[]);
    client.hello("2025-11-25");
    let mut shortened = 0;
    for (tool, arguments) in calls() {
        let text = |client: &mut Client, budget: u64| {
            let mut arguments = arguments.clone();
            arguments["budget"] = json!(budget);
            client.outcome(tool, arguments)
        };
        let (whole, is_error) = text(&mut client, 10_000);
        let (part, _) = text(&mut client, 300);
        if part.len() < whole.len() && !is_error && tool != "status" {
            shortened += 1;
            assert!(
                part.contains('…') || part.contains("left out"),
                "{tool} {arguments}: {} of {} bytes, and nothing says so:\n{part}",
                part.len(),
                whole.len()
            );
        }
    }
    assert!(shortened >= 12, "{shortened} answers were cut");
}

#[test]
fn an_answer_that_is_not_asked_to_be_larger_is_about_two_thousand_tokens() {
    let mut client = Client::start_in(excessive(), &[], &[]);
    client.hello("2025-11-25");
    let usual = client.ask("grep", json!({"pattern": "e"}));
    assert!((6_000..=8_000).contains(&usual.len()), "{} bytes", usual.len());
}

#[test]
fn the_smallest_answer_of_explore_has_the_named_symbol_and_nothing_of_hidden_ones() {
    let path = "library/src/main/java/org/example/internal/bind/TreeReaderOfWholeDocuments.java";
    let body = "  /** Returns the next token of the document, without consuming it. */\n  \
                public TokenOfTheDocument peek(String theNameOfTheExpectedToken, \
                int theDepthOfTheDocument, boolean isTolerant) { return expect(); }\n  \
                private TokenOfTheDocument expect() { return stack(); }\n  \
                private TokenOfTheDocument stack() { return null; }\n";
    let source = format!("public final class TreeReaderOfWholeDocuments {{\n{body}}}\n");
    let mut client = Client::start_in(place(&[(path, &source)]), &[], &[]);
    client.hello("2025-11-25");
    for budget in [100, 150, 300] {
        let query = "TreeReaderOfWholeDocuments.peek";
        let answer = client.ask("explore", json!({"query": query, "budget": budget}));
        assert!(answer.contains("method TreeReaderOfWholeDocuments.peek"), "{budget}: {answer}");
        let is_connected = answer.contains("how they connect");
        assert!(!is_connected || answer.contains(".stack:5"), "{budget}: {answer}");
    }
}
