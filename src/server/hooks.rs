//! Hooks of agents: what the index adds to a search that a client has run, what an edit breaks, and
//! one line at the start of a session. Reads an existing index; never builds one, waits for one, or
//! writes.
//!
//! ```text
//! JSON of a client ──> call ──> search ──> names ──> query::glance ──> lines ──> JSON of a client
//!                       │       shell, pattern                           │
//!                       └─────> edit, patch ──> both texts ──> broken ───┘
//! ```
//!
//! Without anything to add there is no output: an agent pays for every line.

mod broken;
mod call;
mod disk;
mod edit;
mod lines;
mod opened;
mod patch;
mod pattern;
mod search;
mod shell;

use call::HookCall;
use cograph_config::{Config, Repository};
use cograph_model::cancel::CancelToken;
use cograph_query::{GlanceName, GlanceParams, glance};
use cograph_store::Snapshot;
use search::SymbolSearch;

pub use call::{HookClient, HookEvent, MAX_INPUT};
use opened::opened;

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
            let edited = edit::files(&call);
            match edited.is_empty() {
                true => of_search(&call, config, &cancel)?,
                false => lines::of_broken(&broken::of_edits(&call, &edited, config, &cancel))?,
            }
        }
    };
    Some(client.reply(&call.event(event), &text))
}

/// What is known of the names of a search.
fn of_search(call: &HookCall, config: &Config, cancel: &CancelToken) -> Option<String> {
    let names = sought(&search::searches(&call.tool, &call.input));
    if names.is_empty() {
        return None;
    }
    let snapshot = snapshot(call, config, cancel)?;
    let params = GlanceParams { names, limit: MAX_NAMES, forgives: call.has_found_nothing() };
    let known = glance(&snapshot, &params, cancel).ok()?;
    lines::of_names(&snapshot, &known, &config.limits, cancel)
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
    let open = |repository: Repository| opened(&repository, cancel);
    around.and_then(open).or_else(|| open(config.default_repository().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Cases: names (`?` after an ordinary word) or `-`, then a tool and its input, or a command.
    const CASES: &str = include_str!("../../tests/hooks/commands.txt");

    /// Calls of public transcripts. A name in front is looked for, one with `~` may be.
    const TRANSCRIPTS: &str = include_str!("../../tests/hooks/transcripts.txt");

    /// What is expected of each call, its text, and the names that are found.
    fn cases(
        text: &'static str,
    ) -> impl Iterator<Item = (&'static str, &'static str, Vec<String>)> {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(|line| {
            let (expected, call) = line.split_once(" | ").expect("names, then a call");
            let (tool, input) = match call.split_once(" {") {
                Some((tool, rest)) if !tool.contains(' ') => {
                    let input = serde_json::from_str(&format!("{{{rest}"));
                    (tool, input.expect("the input of a tool is JSON"))
                }
                _ => ("shell", json!({"command": call.replace("\\n", "\n")})),
            };
            let names = search::searches(tool, &input).into_iter().flat_map(|search| search.names);
            let mut names: Vec<String> =
                names.map(|name| name.text + if name.is_plain { "?" } else { "" }).collect();
            names.dedup();
            (expected, call, names)
        })
    }

    #[test]
    fn searches_for_symbols_are_distinguished_from_others() {
        let (mut sought, mut found, mut others, mut wrong) = (0, 0, 0, 0);
        let mut report = String::new();
        for (expected, call, names) in cases(CASES) {
            let names = if names.is_empty() { "-".to_owned() } else { names.join(" ") };
            match expected {
                "-" => others += 1,
                _ => sought += 1,
            }
            if names == expected {
                found += usize::from(expected != "-");
            } else {
                wrong += usize::from(names != "-");
                report += &format!("{names} instead of {expected} | {call}\n");
            }
        }
        assert!(sought >= 50 && others >= 40, "{sought} {others}");
        assert!(found * 100 >= sought * 95, "{found} of {sought} answered:\n{report}");
        assert!(wrong * 100 <= (sought + others) * 2, "{wrong} wrong:\n{report}");
    }

    #[test]
    fn searches_in_transcripts_are_answered_and_nothing_else_is() {
        let (mut sought, mut found, mut all, mut wrong) = (0, 0, 0, 0);
        let mut report = String::new();
        for (expected, call, names) in cases(TRANSCRIPTS) {
            let last = |name: &str| {
                let name = name.trim_end_matches('?');
                name.rsplit('.').next().unwrap_or(name).to_owned()
            };
            let names: Vec<String> = names.iter().map(|name| last(name)).collect();
            let labels: Vec<&str> = expected.split(' ').filter(|label| *label != "-").collect();
            let mut wanted = labels.iter().filter(|label| !label.starts_with('~')).peekable();
            all += 1;
            if wanted.peek().is_some() {
                sought += 1;
                let missing = wanted.find(|label| !names.iter().any(|name| name == **label));
                match missing {
                    Some(label) => report += &format!("no {label} in {names:?}: {call}\n"),
                    None => found += 1,
                }
            }
            let is_known =
                |name: &&String| labels.iter().any(|label| label.trim_start_matches('~') == **name);
            if let Some(name) = names.iter().find(|name| !is_known(name)) {
                wrong += 1;
                report += &format!("{name} is in no label: {call}\n");
            }
        }
        println!("{found} of {sought} searches, {wrong} of {all} wrong:\n{report}");
        assert!(all >= 100 && sought >= 80, "{sought} of {all}");
        assert!(found * 100 >= sought * 95, "{found} of {sought} answered:\n{report}");
        assert!(wrong * 100 <= all * 2, "{wrong} of {all} wrong:\n{report}");
    }
}
