//! Markdown of an answer, for a comment in a review. Text of the repository stands in code spans,
//! where it is no markup, no mention and no link.

use crate::answers::render::plural;
use crate::tools::impact::report::items::{items, text};
use serde_json::Value;
use std::fmt::Write;

/// Maximum numbers of breaks, changed symbols, tests and commands; hosts bound the size of a
/// comment.
const BREAKS: usize = 50;
const CHANGED: usize = 60;
const TESTS: usize = 40;
const COMMANDS: usize = 10;
/// Maximum length of a command that is shown, in bytes.
const COMMAND: usize = 2_000;
/// Maximum length of a code span, in bytes.
const SPAN: usize = 200;
/// Maximum length of a sentence, in bytes.
const SENTENCE: usize = 600;

/// Comment of an answer.
pub(super) fn markdown(answer: &Value) -> String {
    let mut out = String::from("### Impact");
    match text(answer, "between") {
        "" => {}
        between => drop(write!(out, " of {}", code(between))),
    }
    let breaks = items(answer, "breaks");
    let sure = breaks.iter().filter(|found| is_sure(found)).count();
    let totals = &answer["totals"];
    let known = |name: &str| totals["dependents"][name].as_u64().unwrap_or(0);
    let tests = items(answer, "tests");
    let _ = write!(
        out,
        "\n\n**{}**, {} possible · {}, {} possible · {}\n",
        plural(sure as u64, "break"),
        breaks.len() - sure,
        plural(known("certain"), "dependent"),
        known("possible"),
        plural(tests.len() as u64, "test")
    );
    if breaks.is_empty() {
        out.push_str("\nNothing that is known breaks.\n");
    } else {
        out.push_str("\n| site | changed symbol | reason | certainty |\n|---|---|---|---|\n");
        for found in breaks.iter().take(BREAKS) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                code(&format!("{}:{}", text(found, "path"), found["line"])),
                code(text(found, "symbol")),
                code(text(found, "reason")),
                plain(text(found, "certainty")),
            );
        }
        rest(&mut out, breaks.len(), BREAKS);
    }
    let changed = items(answer, "changed");
    details(&mut out, &plural(changed.len() as u64, "changed symbol"), changed, CHANGED, |one| {
        let place = format!("{}:{}", text(one, "path"), one["line"]);
        format!("- {} {} {}", plain(text(one, "change")), code(text(one, "name")), code(&place))
    });
    if !tests.is_empty() {
        details(
            &mut out,
            &format!("{}, best first", plural(tests.len() as u64, "test")),
            tests,
            TESTS,
            |one| {
                let name = format!("{}:{} {}", text(one, "path"), one["line"], text(one, "name"));
                format!("- {} {}", plain(text(one, "class")), code(&name))
            },
        );
    }
    commands(&mut out, items(answer, "commands"));
    let forces = items(answer, "forces");
    if !forces.is_empty() {
        let all: Vec<String> = forces.iter().take(10).map(|one| code(text(one, "path"))).collect();
        let _ = write!(out, "\nMay affect every test: {}\n", all.join(", "));
    }
    let unknown: Vec<String> =
        items(answer, "unknown").iter().filter_map(Value::as_str).map(plain).collect();
    if !unknown.is_empty() {
        let _ = write!(out, "\n_Not known: {}._\n", unknown.join("; "));
    }
    out
}

fn is_sure(found: &Value) -> bool {
    matches!(text(found, "certainty"), "certain" | "likely")
}

/// A list that a reader opens.
fn details(
    out: &mut String,
    title: &str,
    list: &[Value],
    most: usize,
    line: impl Fn(&Value) -> String,
) {
    let _ = write!(out, "\n<details><summary>{title}</summary>\n\n");
    for one in list.iter().take(most) {
        let _ = writeln!(out, "{}", line(one));
    }
    rest(out, list.len(), most);
    out.push_str("\n</details>\n");
}

fn rest(out: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = write!(out, "\n… and {} more\n", all - most);
    }
}

/// Commands in a block; its fence is longer than every run of backticks in them.
fn commands(out: &mut String, commands: &[Value]) {
    let lines: Vec<String> = commands
        .iter()
        .map(|command| text(command, "line"))
        .filter(|line| line.len() <= COMMAND)
        .take(COMMANDS)
        .map(|line| line.replace(['\n', '\r'], " "))
        .collect();
    if lines.is_empty() {
        return;
    }
    let longest = lines.iter().flat_map(|line| line.split(|sign| sign != '`')).map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let _ = write!(out, "\nRun the tests:\n\n{fence}sh\n{}\n{fence}\n", lines.join("\n"));
    rest(out, commands.len(), lines.len());
}

/// Code span on one line, also in a table.
fn code(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(SPAN)];
    let line: String = cut
        .chars()
        .map(|sign| if sign.is_control() { ' ' } else { sign })
        .map(|sign| if sign == '`' { '\'' } else { sign })
        .collect();
    // A table takes a bar for its own even in a code span.
    let line = line.replace('|', "\\|");
    if line.trim().is_empty() { String::new() } else { format!("`{line}`") }
}

/// Text without markup.
fn plain(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(SENTENCE)];
    let one = |sign: char| match sign {
        sign if sign.is_control() => " ".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        // A mention needs its name right behind the sign.
        '@' => "@\u{200b}".to_owned(),
        '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' => format!("\\{sign}"),
        sign => sign.to_string(),
    };
    cut.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_of_the_repository_is_no_markup() {
        let evil = "`</details>@team [x](http://y) | <img>\nnext";
        let answer = json!({
            "between": evil,
            "breaks": [{"path": evil, "line": 1, "symbol": evil, "reason": evil,
                        "certainty": "certain"}],
            "changed": [{"path": "a", "line": 1, "name": evil, "change": "removed"}],
            "tests": [{"path": "t", "line": 2, "name": evil, "class": "calls"}],
            "commands": [{"line": "run '```'"}],
            "unknown": [evil],
            "totals": {"dependents": {"certain": 3, "possible": 1}},
        });
        let text = markdown(&answer);
        let outside: String = text
            .lines()
            .filter(|line| !line.contains("</summary>"))
            .flat_map(|line| line.split('`').step_by(2).collect::<Vec<_>>())
            .collect();
        for forbidden in ["<img", "@team", "[x](", "details>@"] {
            assert!(!outside.contains(forbidden), "{forbidden}: {text}");
        }
        assert!(text.contains("**1 break**, 0 possible · 3 dependents, 1 possible · 1 test"));
        assert!(text.contains("\n````sh\nrun '```'\n````\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), 1, "{text}");
    }

    #[test]
    fn lists_are_cut_and_say_so() {
        let one =
            json!({"path": "a", "line": 1, "symbol": "f", "reason": "r", "certainty": "likely"});
        let answer = json!({"breaks": vec![one; BREAKS + 3], "totals": {}});
        let text = markdown(&answer);
        assert!(text.contains("… and 3 more"), "{text}");
        assert!(text.len() < 60_000);
    }
}
