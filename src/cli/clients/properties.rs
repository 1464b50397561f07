//! Property tests of configurations: the corpus in this folder, mutated at random. `PROPTEST_CASES`
//! sets the number of cases; failures are kept in `properties.seeds`.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::FileFailurePersistence;

use super::hooks::{self, HookFile};
use super::{CLIENTS, Client, Member, ServerEntry};
use cograph_config::program_path;

const CORPUS: [&str; 9] = [
    "",
    include_str!("corpus/plain.json"),
    include_str!("corpus/comments.json"),
    include_str!("corpus/mark.json"),
    include_str!("corpus/nested.json"),
    include_str!("corpus/plain.toml"),
    include_str!("corpus/tables.toml"),
    include_str!("corpus/inline.toml"),
    include_str!("corpus/dotted.toml"),
];

/// Settings with hooks of others.
const HOOKS: [&str; 4] = [
    "",
    include_str!("corpus/hooks.json"),
    include_str!("corpus/mixed.json"),
    include_str!("corpus/comments.json"),
];

/// Fragments with a meaning in one of the formats.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
    "\r\n",
    "\t",
    " ",
    "=",
    ".",
    "null",
    "\"cograph\"",
    "\"mcpServers\": {}",
    "\"servers\": {}",
    "\"command\": \"c\"",
    "[mcp_servers.cograph]",
    "[mcp_servers]",
    "\"\"\"",
    "\u{feff}",
    "\u{e9}",
    "\u{0}",
];

/// Mutation: offset, number of deleted characters, and inserted fragment.
type Change = (Index, usize, &'static str);

fn changed(text: &str, changes: &[Change]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (place, gone, piece) in changes {
        let at = place.index(letters.len() + 1);
        let end = (at + gone).min(letters.len());
        letters.splice(at..end, piece.chars());
    }
    letters.into_iter().collect()
}

fn texts() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..4_usize, select(&PIECES[..]));
    (select(&CORPUS[..]), proptest::collection::vec(change, 0..6))
        .prop_map(|(text, changes)| changed(text, &changes))
}

fn entries() -> impl Strategy<Value = ServerEntry> {
    "[ -~\u{e9}\n\t]{1,12}"
        .prop_map(|command| ServerEntry { command, arguments: vec!["mcp".to_owned()] })
}

fn check(
    client: &Client,
    text: &str,
    entry: &ServerEntry,
    eager: Option<Member>,
) -> Result<(), TestCaseError> {
    let Ok(list) = client.list(text) else { return Ok(()) };
    if !list.has() {
        let same = list.without();
        prop_assert_eq!(same.as_deref(), Ok(text), "there is nothing to take out");
    }
    let Ok(with) = list.with(entry, eager) else { return Ok(()) };
    let after = client.list(&with);
    prop_assert!(after.is_ok(), "{}: it cannot be read any more: {with:?}", client.word);
    let Ok(after) = after else { return Ok(()) };
    let found = after.entry();
    prop_assert_eq!(found.as_ref().map(|found| &found.command), Some(&entry.command), "{:?}", with);
    prop_assert_eq!(
        found.as_ref().and_then(|found| found.arguments.first()),
        entry.arguments.first(),
        "{:?}",
        with
    );
    prop_assert!(after.agrees_with(&list), "{}: something else has changed: {with:?}", client.word);
    prop_assert_eq!(after.with(entry, eager), Ok(with.clone()), "a second time changes nothing");
    let without = after.without();
    prop_assert!(without.is_ok(), "{}: {without:?}", client.word);
    let without = without.unwrap_or_default();
    let back = client.list(&without);
    prop_assert!(
        back.as_ref().is_ok_and(|back| !back.has() && back.agrees_with(&list)),
        "{}: {without:?}",
        client.word
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_entry_comes_and_goes_and_nothing_else_changes(text in texts(), entry in entries()) {
        for client in &CLIENTS {
            check(client, &text, &entry, None)?;
            check(client, &text, &entry, client.eager())?;
        }
    }

    #[test]
    fn text_that_is_no_list_is_refused(text in "\\PC{0,200}") {
        for client in &CLIENTS {
            check(
                client, &text,
                &ServerEntry { command: "c".to_owned(), arguments: vec!["mcp".to_owned()] }, None
            )?;
        }
    }
}

/// Hooks come and go; nothing else changes, and a second time nothing at all.
fn check_hooks(hooks: &HookFile, text: &str, program: &str) -> Result<(), TestCaseError> {
    let Ok(without) = hooks.without(text) else { return Ok(()) };
    if hooks::own_hooks(text).is_ok_and(|own| own.is_empty()) {
        prop_assert_eq!(&without, text, "there is nothing to take out");
    }
    let Ok(with) = hooks.with(&without, program) else { return Ok(()) };
    let own = hooks::own_hooks(&with);
    prop_assert!(own.as_ref().is_ok_and(|own| own.len() > 1), "{with:?}: {own:?}");
    prop_assert_eq!(hooks.with(&with, program), Ok(with.clone()), "a second time");
    let other = hooks.with(&with, "/other/cograph");
    prop_assert!(other.as_ref().is_ok_and(|other| other.contains("/other/cograph")), "{other:?}");
    let back = hooks.without(&with);
    prop_assert!(back.is_ok(), "{back:?}");
    let back = back.unwrap_or_default();
    prop_assert!(hooks::own_hooks(&back).is_ok_and(|own| own.is_empty()), "{back:?}");
    prop_assert_eq!(hooks.without(&back), Ok(back.clone()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn hooks_come_and_go_and_nothing_else_changes(text in hook_texts(), at in 0..5_usize) {
        let all: Vec<&HookFile> = CLIENTS.iter().filter_map(|client| client.hooks).collect();
        check_hooks(all[at % all.len()], &text, "/bin/cograph")?;
    }
}

fn hook_texts() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..4_usize, select(&PIECES[..]));
    (select(&HOOKS[..]), proptest::collection::vec(change, 0..4))
        .prop_map(|(text, changes)| changed(text, &changes))
}

#[test]
fn hooks_are_taken_out_byte_for_byte() {
    let renamed = program_path().expect("it runs").display().to_string();
    for client in &CLIENTS {
        let Some(hooks) = client.hooks else { continue };
        let texts = HOOKS.iter().filter(|text| text.contains("\"version\": 1"));
        for (text, program) in
            texts.flat_map(|text| ["/bin/cograph", &renamed].map(|it| (*text, it)))
        {
            let with = hooks.with(text, program).expect("it is valid");
            assert_ne!(with, text);
            assert_eq!(hooks.without(&with).as_deref(), Ok(text), "{}: {with}", client.word);
        }
        let fresh = hooks.with("", "cograph").expect("it is made");
        assert!(hooks.has_only_own(&fresh), "{fresh}");
        let mine = fresh.replacen('{', "{ // mine", 1);
        assert!(!hooks.has_only_own(&mine) && !hooks.has_only_own(HOOKS[2]));
    }
}

#[test]
fn nesting_ends_in_an_error() {
    for open in ["[", "{\"a\":", "{\"mcpServers\":{\"a\":", "a=[", "a={a="] {
        let text = open.repeat(100_000);
        for client in &CLIENTS {
            assert!(client.list(&text).is_err(), "{}: {open}", client.word);
        }
    }
}
