//! Symbols and files that a text names explicitly, with strengths.

use rustc_hash::FxHashMap;

use super::question::{Question, QuestionLocation, QuestionName, Written};
use super::weight;
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use crate::locate::limits::{BEARERS, MEANINGS, NAMES};
use crate::names;
use cograph_model::facts::flags;
use cograph_store::{FileKey, SymbolHead, SymbolKey};

/// Maximum number of meanings of a word in a list of names, and the strength of each.
const MAX_LISTED_MEANINGS: usize = 4;
const LISTED: f64 = 1.7;
/// Minimum length of a word that may be misspelt.
const MIN_MISSPELT: usize = 4;

/// Named symbols and files.
#[derive(Default)]
pub(super) struct NamedItems {
    /// Strength by symbol: 1 for a line of a stack trace or the only symbol of a marked name.
    pub(super) symbols: FxHashMap<SymbolKey, f64>,
    /// Strength by file.
    pub(super) files: FxHashMap<FileKey, f64>,
}

/// Finds the named symbols and files.
pub(super) fn named(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    question: &Question,
) -> Result<NamedItems, QueryError> {
    let mut found = NamedItems::default();
    for name in question.names.iter().take(NAMES) {
        lookup.check()?;
        let Some(Meanings { symbols: meanings, sources }) = meanings(lookup, filter, name)? else {
            continue;
        };
        if meanings.is_empty() {
            if name.written == Written::Marked {
                modules(lookup, filter, &name.text, &mut found)?;
            }
            continue;
        }
        let own = match name.written {
            Written::Code => weight::AS_CODE,
            Written::Marked => weight::AS_MARKED,
            Written::Alone => weight::ALONE,
        };
        let own = own
            * if name.in_subject { weight::IN_SUBJECT } else { 1.0 }
            * (1.0 + 0.2 * f64::from(name.count.min(8)).ln());
        for (symbol, is_test) in meanings {
            let share = own / (sources.max(1) as f64).powf(weight::MEANINGS)
                * if is_test && !question.wants_tests { 0.2 } else { 1.0 };
            let entry = found.symbols.entry(symbol.key).or_default();
            *entry = (*entry + share).min(3.0);
            let entry = found.files.entry(symbol.file).or_default();
            *entry = (*entry + share * weight::TO_FILE).min(1.0);
        }
    }
    for word in &question.list {
        let meanings = names::heads(lookup, word)?;
        for symbol in meanings.iter().filter(|_| meanings.len() <= MAX_LISTED_MEANINGS) {
            if lookup.of_file(symbol.file, |file| filter.admits(file))?
                && symbol.flags & flags::LOCAL == 0
            {
                let entry = found.symbols.entry(symbol.key).or_default();
                *entry = entry.max(LISTED);
                let entry = found.files.entry(symbol.file).or_default();
                *entry = entry.max(LISTED * weight::TO_FILE);
            }
        }
    }
    let last = question.places.len();
    for (at, place) in question.places.iter().enumerate() {
        lookup.check()?;
        point(lookup, filter, place, (last - at) as f64, &mut found)?;
    }
    Ok(found)
}

/// Meanings of a name in the admitted files.
#[derive(Default)]
struct Meanings {
    /// Symbols, and whether each is in a test file.
    symbols: Vec<(SymbolHead, bool)>,
    /// Number of definitions outside of test files.
    sources: usize,
}

/// Returns the meanings of a name; `None` if there are more than `MEANINGS`: too ambiguous.
fn meanings(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    name: &QuestionName,
) -> Result<Option<Meanings>, QueryError> {
    let chain = names::segments(&name.text);
    let last = chain.last().copied().unwrap_or_default();
    let keys = names::keys_of(lookup, last)?;
    let mut bearers = 0;
    for &key in &keys {
        bearers += lookup.snapshot.bearers(key, BEARERS + 1)?;
    }
    let mut found = Meanings::default();
    if bearers > BEARERS {
        return Ok(Some(found));
    }
    let most = if name.written < Written::Alone { MEANINGS } else { usize::MAX };
    // Adds a symbol; false if there are too many.
    let mut add = |symbol: SymbolHead| {
        if symbol.flags & flags::LOCAL != 0 {
            return Ok(true);
        }
        let (is_in, is_test) =
            lookup.of_file(symbol.file, |file| (filter.admits(file), file.test))?;
        if is_in {
            let is_source = !is_test && symbol.flags & flags::DECLARATION == 0;
            found.sources += usize::from(is_source);
            found.symbols.push((symbol, is_test));
        }
        Ok::<_, QueryError>(found.sources <= most)
    };
    if chain.len() > 1 {
        for symbol in names::heads(lookup, &name.text)? {
            add(symbol)?;
        }
    } else {
        // Most names that occur in a text by chance are common: they are not read to the end.
        let mut added = Ok(true);
        for key in keys {
            lookup.snapshot.visit_symbol_heads(key, |symbol| {
                added = add(symbol);
                matches!(added, Ok(true))
            })?;
        }
        added?;
    }
    Ok((found.sources <= most).then_some(found))
}

/// Adds the files that a qualified name may refer to: `a.b.c` is `a/b/c.x`, or the files in the
/// directory `a/b/c`.
fn modules(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    name: &str,
    found: &mut NamedItems,
) -> Result<(), QueryError> {
    let wanted = name.replace('.', "/");
    let table = lookup.snapshot.path_table()?;
    let mut meant = Vec::new();
    for (key, _) in table.with_part(&wanted.to_ascii_lowercase()) {
        let Some(path) = table.path(key) else { continue };
        let Some(at) =
            path.find(wanted.as_str()).filter(|at| *at == 0 || path.as_bytes()[at - 1] == b'/')
        else {
            continue;
        };
        let rest = &path[at + wanted.len()..];
        let is_module =
            rest.starts_with('.') || rest.strip_prefix('/').is_some_and(|rest| !rest.contains('/'));
        if is_module && lookup.of_file(key, |file| filter.admits(file))? {
            meant.push(key);
        }
    }
    let share = weight::MODULE / meant.len().max(1) as f64;
    for key in meant {
        let entry = found.files.entry(key).or_default();
        *entry = (*entry + share).min(1.0);
    }
    Ok(())
}

/// Adds the symbols whose names resemble words without an occurrence: misspelt or abbreviated ones.
pub(super) fn nearest(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    missing: &[&str],
    found: &mut NamedItems,
) -> Result<(), QueryError> {
    for word in missing.iter().filter(|word| word.len() >= MIN_MISSPELT) {
        for (place, symbol) in names::near(lookup, word)?.into_iter().enumerate() {
            let row = lookup.symbol(symbol.key)?;
            if lookup.of_file(row.file, |file| filter.admits(file))?
                && row.flags & flags::LOCAL == 0
            {
                let share = 0.5 / (1.0 + place as f64);
                *found.symbols.entry(symbol.key).or_default() += share;
                *found.files.entry(row.file).or_default() += share * weight::TO_FILE;
            }
        }
    }
    Ok(())
}

/// Adds the symbol at a source location. `from_end` counts locations from the last one: in a stack
/// trace the last frames are nearest to the error.
fn point(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    place: &QuestionLocation,
    from_end: f64,
    found: &mut NamedItems,
) -> Result<(), QueryError> {
    let table = lookup.snapshot.path_table()?;
    let mut wanted = place.path.trim_start_matches('/');
    let mut files = Vec::new();
    loop {
        let is_end = |path: &str| {
            path.len() == wanted.len() || path.as_bytes()[path.len() - wanted.len() - 1] == b'/'
        };
        files.extend(
            table
                .ending_with(wanted)
                .into_iter()
                .filter(|(_, path)| is_end(path))
                .map(|(key, _)| key),
        );
        let Some((_, shorter)) = wanted.split_once('/').filter(|_| files.is_empty()) else { break };
        wanted = shorter;
    }
    if files.is_empty() || files.len() > 4 {
        return Ok(());
    }
    let share = 1.0 / files.len() as f64;
    for key in files {
        if !lookup.of_file(key, |file| filter.admits(file))? {
            continue;
        }
        let strength = (weight::PLACE * share) / (1.0 + weight::FRAMES * (from_end - 1.0));
        let entry = found.files.entry(key).or_default();
        *entry = (*entry + strength).min(1.0);
        let file = lookup.file(key)?;
        let mut meant = Vec::new();
        if let Some(function) = &place.function {
            let near = |line: u32| place.line.map_or(0, |wanted| wanted.abs_diff(line));
            let mut symbols = lookup.snapshot.symbols_of(&file)?;
            symbols.retain(|symbol| *symbol.name_text == **function);
            symbols.sort_by_key(|symbol| near(symbol.extent.start.line));
            meant.extend(symbols.first().map(|symbol| symbol.key));
        } else if let Some(line) = place.line {
            let symbols = lookup.snapshot.symbols_at(&file, line, line)?;
            let mut around = symbols.iter().filter(|symbol| {
                symbol.kind.is_callable()
                    && symbol.extent.start.line <= line
                    && line <= symbol.extent.end.line
            });
            meant.extend(around.next_back().map(|symbol| symbol.key));
        }
        for symbol in meant {
            let entry = found.symbols.entry(symbol).or_default();
            *entry = (*entry + strength).min(3.0);
        }
    }
    Ok(())
}
