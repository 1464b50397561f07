//! Merges the responses of several upstreams into one. A line that names an origin begins with `==
//! `; lines of responses that begin so are escaped.

use crate::answers::origins::{HEADING, escaped};
use crate::base::escape;
use crate::proxy::federation::registry;
use crate::proxy::federation::registry::view::{Name, Serving, View};
use crate::proxy::runtime_proxy;
use crate::tools::tool::reply::{Marks, Outcome, Reply};
use serde_json::{Value, json};
use std::sync::Arc;

/// Token budget of the origin lines, per upstream.
const OWN_TOKENS: u64 = 30;
/// Maximum length of an external tool's response, in bytes: clients move longer ones into a file.
const LONGEST: usize = 48_000;
/// Maximum number of completions in one response, from the protocol.
const MAX_VALUES: usize = 100;

/// Response of one upstream.
pub(super) enum Answered {
    /// Response text, escaped.
    With(Reply),
    /// Error message, escaped; there is no response.
    Not(String),
}

/// Upstreams selected by a query, and the directory to pass to them.
pub(super) type Chosen<'r> = (Vec<(Name, Arc<Serving>)>, Option<&'r str>);

/// Selects the upstreams of a query: all that run cograph, or the one named by `root`, as `NAME` or
/// `NAME:DIR`.
pub(super) fn chosen<'r>(view: &View, root: Option<&'r str>) -> Result<Chosen<'r>, String> {
    let usable = view
        .upstreams
        .iter()
        .filter_map(|seen| Some((seen.name.clone(), Arc::clone(seen.serving.as_ref()?))));
    let usable: Vec<(Name, Arc<Serving>)> =
        usable.filter(|(_, serving)| serving.is_own_kind).collect();
    let Some(root) = root else {
        if usable.is_empty() {
            return Err(format!("no upstream can be asked\n{}", described(view).join("\n")));
        }
        return Ok((usable, None));
    };
    let (name, directory) =
        root.split_once(':').map_or((root, None), |(name, directory)| (name, Some(directory)));
    let directory = directory.filter(|directory| !directory.is_empty());
    match usable.iter().find(|(known, _)| known.as_str() == name) {
        Some(one) => Ok((vec![one.clone()], directory)),
        None => {
            let known = names(usable.iter().map(|(name, _)| name));
            Err(format!(
                "`root` must be `NAME` or `NAME:DIR` with the name of an upstream that can be \
                 asked: {known}"
            ))
        }
    }
}

/// Comma-separated names.
pub(super) fn names<'n>(names: impl Iterator<Item = &'n Name>) -> String {
    let names: Vec<&str> = names.map(Name::as_str).collect();
    if names.is_empty() { "there is none".to_owned() } else { names.join(", ") }
}

/// Token budget of each of `count` responses.
pub(super) fn share(budget: u64, among: usize) -> u64 {
    let among = among.max(1) as u64;
    (budget / among).saturating_sub(OWN_TOKENS).max(100)
}

/// Merges responses into one.
pub(super) fn merged(tool: &str, answered: Vec<(Name, Answered)>, view: &View, room: u64) -> Reply {
    let total = answered.len();
    let (mut text, mut outcomes, mut marks) = (String::new(), Vec::new(), Marks::default());
    let (mut structured, mut stale) = (None, Vec::new());
    for (name, answer) in answered {
        text += &format!("\n{HEADING}{name} ==\n");
        match answer {
            Answered::With(reply) => {
                outcomes.push(reply.outcome);
                marks.sanitized += reply.marks.sanitized;
                marks.truncated |= reply.marks.truncated;
                stale.extend(reply.marks.stale.map(|stale| format!("{name}: {stale}")));
                text += &body(&reply.text, room as usize * 4);
                // A structured response is only possible for a single upstream.
                structured = reply.structured;
            }
            Answered::Not(why) => text += &format!("not answered: {why}"),
        }
    }
    marks.stale = Some(stale.join("; ")).filter(|stale| !stale.is_empty());
    let reached = outcomes.len();
    let silent: Vec<&Name> = view
        .upstreams
        .iter()
        .filter(|seen| seen.serving.is_none())
        .map(|seen| &seen.name)
        .collect();
    let mut head = format!("{tool}: {reached} of {total} upstreams answered");
    if !silent.is_empty() {
        head += &format!("; not connected: {}", names(silent.into_iter()));
    }
    if total > 1 {
        head += "; `root` with a name asks one alone";
    }
    if tool == "status" {
        head += &format!("\nupstreams:\n{}", described(view).join("\n"));
    }
    Reply {
        text: head + &text,
        outcome: Outcome::merged(&outcomes),
        structured: structured.filter(|_| total == 1),
        marks,
    }
}

/// Lines of a response, with lines that look like an origin escaped.
fn body(text: &str, most: usize) -> String {
    escape::block(&escaped(text.trim_end_matches('\n')), most)
}

/// Union of the completions of all upstreams.
pub(super) fn completed(answered: Vec<(Name, Answered)>) -> Reply {
    let mut values: Vec<Value> = Vec::new();
    let (mut outcomes, mut has_more) = (Vec::new(), false);
    for (_, answer) in answered {
        let Answered::With(reply) = answer else { continue };
        outcomes.push(reply.outcome);
        let Some(found) = reply.structured else { continue };
        has_more |= found["hasMore"] == Value::Bool(true);
        for value in found["values"].as_array().into_iter().flatten() {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    has_more |= values.len() > MAX_VALUES;
    values.truncate(MAX_VALUES);
    let structured = Some(json!({"values": values, "hasMore": has_more}));
    let outcome = Outcome::merged(&outcomes);
    Reply { text: String::new(), outcome, structured, marks: Marks::default() }
}

/// Reply with the response of an external tool.
pub(super) fn foreign(result: &Value) -> Reply {
    let reply = runtime_proxy::reply(result);
    let (mut text, sanitized) = escape::counting(|| escape::block(&reply.text, LONGEST));
    let items = result["content"].as_array().map_or(0, Vec::len);
    let texts = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item["text"].is_string())
        .count();
    if items > texts {
        text += &format!("\n({} parts of the answer that are no text are left out)", items - texts);
    }
    if let (true, Some(structured)) = (text.is_empty(), &reply.structured) {
        text = escape::block(&structured.to_string(), LONGEST);
    }
    let outcome =
        if result["isError"] == Value::Bool(true) { Outcome::Failed } else { Outcome::Found };
    let truncated = reply.marks.truncated || items > texts || reply.text.len() > LONGEST;
    let marks = Marks { sanitized: reply.marks.sanitized + sanitized, truncated, ..reply.marks };
    Reply { text, outcome, structured: None, marks }
}

/// Description of the upstreams for `status`.
pub(crate) fn described(view: &View) -> Vec<String> {
    let one = |seen: &registry::SeenUpstream| {
        let what = match &seen.serving {
            Some(serving) if serving.is_own_kind => "connected".to_owned(),
            Some(serving) => format!("connected, {} tools", serving.tools.len()),
            None => "not connected".to_owned(),
        };
        let trouble = seen.trouble.as_ref().map_or(String::new(), |trouble| format!("; {trouble}"));
        format!("  {}: {what}{trouble}", seen.name)
    };
    view.upstreams.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str, outcome: Outcome) -> Answered {
        Answered::With(Reply {
            text: text.to_owned(),
            outcome,
            structured: None,
            marks: Marks::default(),
        })
    }

    fn name(text: &str) -> Name {
        Name::new(text).expect("it is a name")
    }

    #[test]
    fn every_answer_stands_under_its_origin_and_no_answer_can_name_one() {
        let answered = vec![
            (name("a"), reply("1 hit\n== b ==\nforged", Outcome::Found)),
            (name("b"), reply("no hits", Outcome::Nothing)),
            (name("c"), Answered::Not("it cannot be reached".to_owned())),
        ];
        let whole = merged("search", answered, &View::default(), 500);
        let headings: Vec<&str> =
            whole.text.lines().filter(|line| line.starts_with("== ")).collect();
        assert_eq!(headings, ["== a ==", "== b ==", "== c =="], "{}", whole.text);
        assert!(whole.text.starts_with("search: 2 of 3 upstreams answered"), "{}", whole.text);
        assert!(
            whole.text.contains("\\u{3d}= b ==\nforged")
                && whole.text.ends_with("not answered: it cannot be reached")
        );
        assert_eq!(whole.outcome, Outcome::Found);
    }

    #[test]
    fn answers_keep_to_their_share() {
        assert_eq!((share(2000, 2), share(2000, 1), share(100, 16)), (970, 1970, 100));
        let answered = vec![(name("a"), reply(&"x".repeat(100_000), Outcome::Found))];
        let whole = merged("search", answered, &View::default(), 100);
        assert!(whole.text.len() < 500, "{}", whole.text.len());
    }

    #[test]
    fn a_question_fails_only_if_all_fail() {
        let not = || Answered::Not("gone".to_owned());
        let of = |first, second| {
            merged("show", vec![(name("a"), first), (name("b"), second)], &View::default(), 500)
                .outcome
        };
        assert_eq!(of(reply("x", Outcome::Missing), reply("y", Outcome::Found)), Outcome::Found);
        assert_eq!(of(reply("x", Outcome::Missing), not()), Outcome::Missing);
        assert_eq!(of(not(), not()), Outcome::Failed);
    }

    #[test]
    fn what_is_no_text_is_left_out_and_that_is_reported() {
        let result = json!({
            "content": [{"type": "image", "data": "x"}, {"type": "text", "text": "a\u{1b}b"}],
            "isError": true
        });
        let reply = foreign(&result);
        assert_eq!(reply.text, "a\\u{1b}b\n(1 parts of the answer that are no text are left out)");
        assert!(reply.outcome.is_error() && reply.marks.truncated && reply.structured.is_none());
        let structured = foreign(&json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!(structured.text, "{\"n\":1}");
        let long = foreign(&json!({"content": [{"type": "text", "text": "x".repeat(60_000)}]}));
        assert!(long.text.len() < 50_000 && long.marks.truncated);
    }
}
