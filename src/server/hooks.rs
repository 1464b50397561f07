//! Hooks of agents: what the index adds to a search that a client has run, and one line at the
//! start of a session. Reads an existing index; never builds one, waits for one, or writes.
//!
//! ```text
//! JSON of a client ──> call ──> search ──> names ──> query::glance ──> lines ──> JSON of a client
//!                       shell, pattern
//! ```
//!
//! Without anything to add there is no output: an agent pays for every line.

mod call;
mod lines;
mod pattern;
mod search;
mod shell;

use call::HookCall;
use cograph_config::{Config, Repository};
use cograph_model::cancel::CancelToken;
use cograph_query::{GlanceName, GlanceParams, glance};
use cograph_store::{Location, Snapshot, Store};
use search::SymbolSearch;
use std::sync::Arc;

pub use call::{HookClient, HookEvent, MAX_INPUT};

/// Maximum number of names with a line of their own.
const MAX_NAMES: usize = 3;

/// Maximum number of names that are looked up.
const MAX_SOUGHT: usize = 12;

/// Answers a hook: the JSON that the client expects, or nothing.
pub fn run_hook(
    event: HookEvent,
    client: HookClient,
    input: &str,
    config: &Config,
) -> Option<String> {
    let call = HookCall::read(input)?;
    let cancel = CancelToken::new();
    let text = match event {
        HookEvent::SessionStart | HookEvent::SubagentStart => {
            lines::of_index(&snapshot(&call, config, &cancel)?)?
        }
        HookEvent::PostToolUse => {
            let searches = search::searches(&call.tool, &call.input);
            let names = sought(&searches);
            if names.is_empty() {
                return None;
            }
            let snapshot = snapshot(&call, config, &cancel)?;
            let params =
                GlanceParams { names, limit: MAX_NAMES, forgives: call.has_found_nothing() };
            let known = glance(&snapshot, &params, &cancel).ok()?;
            lines::of_names(&snapshot, &known, &config.limits, &cancel)?
        }
    };
    Some(client.reply(&call.event(event), &text))
}

/// The names of searches: marked ones before ordinary words.
fn sought(searches: &[SymbolSearch]) -> Vec<GlanceName> {
    let mut names: Vec<GlanceName> = Vec::new();
    for search in searches {
        for name in &search.names {
            if names.iter().all(|known| known.text != name.text) {
                names.push(GlanceName {
                    text: name.text.clone(),
                    is_plain: name.is_plain,
                    ignores_case: search.ignores_case,
                });
            }
        }
    }
    names.sort_by_key(|name| name.is_plain);
    names.truncate(MAX_SOUGHT);
    names
}

/// The newest readable index of the repository around the directory of the call, or else of the
/// project.
fn snapshot(call: &HookCall, config: &Config, cancel: &CancelToken) -> Option<Snapshot> {
    let around = call.directory.as_ref().and_then(|path| config.repository_around(path).ok());
    let open = |repository: Repository| {
        let location = Location::new(&repository.cache, &repository.root).under(repository.rules);
        Arc::new(Store::open_newest(&location).ok()?).snapshot(cancel).ok()
    };
    around.and_then(open).or_else(|| open(config.default_repository().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Cases: names (`?` after an ordinary word) or `-`, then a tool and its input, or a command.
    const CASES: &str = include_str!("../../tests/hooks/commands.txt");

    #[test]
    fn searches_for_symbols_are_told_from_others() {
        let (mut sought, mut found, mut others, mut wrong) = (0, 0, 0, 0);
        let mut report = String::new();
        for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            let (expected, call) = line.split_once(" | ").expect("names, then a call");
            let (tool, input) = match call.split_once(" {") {
                Some((tool, rest)) if !tool.contains(' ') => {
                    let input = serde_json::from_str(&format!("{{{rest}"));
                    (tool, input.expect("the input of a tool is JSON"))
                }
                _ => ("shell", json!({"command": call.replace("\\n", "\n")})),
            };
            let mut names: Vec<String> = search::searches(tool, &input)
                .into_iter()
                .flat_map(|search| search.names)
                .map(|name| name.text + if name.is_plain { "?" } else { "" })
                .collect();
            names.dedup();
            let names = if names.is_empty() { "-".to_owned() } else { names.join(" ") };
            match expected {
                "-" => others += 1,
                _ => sought += 1,
            }
            if names == expected {
                found += usize::from(expected != "-");
            } else {
                wrong += usize::from(names != "-");
                report += &format!("{names} instead of {line}\n");
            }
        }
        assert!(sought >= 50 && others >= 40, "{sought} {others}");
        assert!(found * 100 >= sought * 95, "{found} of {sought} answered:\n{report}");
        assert!(wrong * 100 <= (sought + others) * 2, "{wrong} wrong:\n{report}");
    }
}
