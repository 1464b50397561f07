//! The names of a store as a search comes to them, held against the rows of symbols: every way to a
//! name must lead to it, whatever was changed since the runs of names were made.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use cograph::store::{NameKey, NameParts, Snapshot};
use rusqlite::Connection;

/// The most names that are searched one by one.
const LOOKED_FOR: usize = 400;

/// One line for each name that symbols have: how many have it, and how often the one that is used
/// most is referred to.
pub(super) fn of(connection: &Connection, snapshot: &Snapshot) -> Vec<String> {
    let names = pairs(connection, "SELECT id, text FROM name ORDER BY id");
    let in_order = snapshot.meta().symbol_names as usize;
    assert!(
        names.iter().take(in_order).map(|(key, _)| *key).eq(1..=in_order as u32),
        "the names in order have the first keys"
    );
    let folded = |name: &(u32, String)| (name.1.to_ascii_lowercase(), name.1.clone());
    assert!(
        names[..in_order].is_sorted_by(|one, next| folded(one) < folded(next)),
        "and are in order, each once"
    );
    let texts: BTreeSet<&str> = names.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts.len(), names.len(), "a name has one key");
    assert_eq!(
        pairs(connection, "SELECT name, text FROM other_name ORDER BY name"),
        names[in_order..],
        "those that are not in order"
    );

    let reported = figures(connection);
    let text_of: BTreeMap<u32, &str> =
        names.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let looked_for = reported.keys().step_by(reported.len().div_ceil(LOOKED_FOR).max(1));
    looked_for.for_each(|key| is_found(snapshot, NameKey(*key), text_of[key], in_order));
    walked(snapshot, &reported)
}

fn pairs(connection: &Connection, statement: &str) -> Vec<(u32, String)> {
    let mut statement = connection.prepare(statement).expect("the tables of names");
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("they can be read");
    rows.collect::<Result<_, _>>().expect("a key and a name")
}

/// What the rows of symbols say of each name.
fn figures(connection: &Connection) -> BTreeMap<u32, (u32, u32)> {
    let mut statement = connection
        .prepare("SELECT name, count(*), max(refs) FROM symbol GROUP BY name")
        .expect("symbols");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
        .expect("they can be read");
    rows.collect::<Result<_, _>>().expect("numbers")
}

/// What a walk through all names says of each.
fn walked(snapshot: &Snapshot, reported: &BTreeMap<u32, (u32, u32)>) -> Vec<String> {
    let mut walk = snapshot.walk_names(usize::MAX).expect("names");
    let wanted = NameParts::every();
    let runs = walk.runs_with(&wanted).expect("runs");
    let (bound, mut lines) = (Cell::new(u32::MAX), Vec::new());
    let mut note = |key: NameKey, text: &str, figures: Option<(u32, u32)>| {
        let rows = reported.get(&key.0).copied().unwrap_or_default();
        assert!(
            rows.1 <= bound.get(),
            "{text} is used {} times, where {} was to be the most",
            rows.1,
            bound.get()
        );
        let (symbols, references) = figures.unwrap_or(rows);
        lines.push(format!("name|{text}|{symbols}|{references}"));
        true
    };
    let is_enough = |most| {
        bound.set(most);
        false
    };
    let is_whole = walk
        .visit(&wanted, &runs, is_enough, |entry| note(entry.key, entry.text, entry.figures))
        .expect("names");
    assert!(is_whole, "no name is left out");
    bound.set(u32::MAX);
    walk.visit_later(|entry| note(entry.key, entry.text, entry.figures))
        .expect("names that came later");
    lines.sort_unstable();
    lines
}

/// A name is found by its letters, by its beginning and by its text.
fn is_found(snapshot: &Snapshot, key: NameKey, text: &str, in_order: usize) {
    let is_among = |wanted: &NameParts| {
        let mut found = false;
        let visited = snapshot.visit_names(wanted, |entry| {
            found |= entry.key == key && entry.text == text;
            true
        });
        visited.expect("names");
        found
    };
    let upper = text.to_ascii_uppercase();
    let middle: String = text.chars().skip(1).take(4).collect();
    for wanted in [
        NameParts::none().or_all_of([text]),
        NameParts::none().or_all_of([upper.as_str(), middle.as_str()]),
        NameParts::none().or_beginning_with(&upper),
    ] {
        assert!(is_among(&wanted), "{text:?} is not found by {wanted:?}");
    }
    if key.0 as usize <= in_order {
        let (wanted, lower) = (NameParts::none().or_all_of([text]), text.to_ascii_lowercase());
        let mut walk = snapshot.walk_names(usize::MAX).expect("names");
        let runs = walk.runs_with(&wanted).expect("runs");
        let runs = walk.beginning(&runs, |beginning, _| lower.starts_with(beginning));
        let mut found = false;
        let visited = walk.visit(
            &wanted,
            &runs,
            |_| false,
            |entry| {
                found |= entry.key == key;
                true
            },
        );
        assert!(visited.expect("names") && found, "{text:?} is in no run that begins like it");
    }
    let same = snapshot.names_ignoring_case(&upper).expect("names");
    assert!(same.contains(&(key, text.to_owned())), "{text:?} is not found by its text: {same:?}");
    let typed: String = text.chars().take(3).collect();
    let mut found = false;
    let visited = snapshot.visit_symbol_names_from(&typed, |other, _| {
        found |= other == key;
        true
    });
    visited.expect("names");
    assert!(found, "{text:?} is not found by {typed:?}");
}
