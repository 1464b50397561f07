//! Lookup of qualified names: which symbols `path::Container.name`, or any suffix of it, may name.

use std::rc::Rc;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names::files::files;
use cograph_store::{NameKey, SymbolHead, SymbolRow};

/// Returns every symbol that `wanted` may name, case-sensitive.
pub(crate) fn all(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<Rc<SymbolRow>>, QueryError> {
    heads(lookup, wanted)?.iter().map(|head| lookup.symbol(head.key)).collect()
}

/// Returns the ranking columns of every symbol that `wanted` may name, case-sensitive.
pub(crate) fn heads(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<SymbolHead>, QueryError> {
    // The part before the first `::` is a path if such a file exists, else part of the name.
    if let Some((path, name)) = wanted.split_once("::") {
        let files = files(lookup, path)?;
        if !files.is_empty() {
            let mut found = named(lookup, name)?;
            found.retain(|symbol| files.contains(&symbol.file));
            return prefer_whole(lookup, found, name);
        }
    }
    let found = named(lookup, wanted)?;
    // `file:name`, as compilers and test runners print it.
    if found.is_empty()
        && let Some((path, name)) = wanted.split_once(':')
        && !name.starts_with(':')
    {
        let files = files(lookup, path)?;
        if !files.is_empty() {
            return heads(lookup, &format!("{path}::{name}"));
        }
    }
    Ok(found)
}

/// Returns the symbols that `name` names in any file: as one name, or as a qualified one.
fn named(lookup: &Lookup<'_>, name: &str) -> Result<Vec<SymbolHead>, QueryError> {
    let mut found = exactly(lookup, name)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let (mut reached, mut declared) = (Vec::new(), Vec::new());
    for (before, last) in splits(name) {
        for symbol in exactly(lookup, last)? {
            let (places, containers) = surroundings(lookup, &symbol)?;
            let whole: Vec<&str> = places.iter().chain(&containers).map(String::as_str).collect();
            if whole.ends_with(&before) || is_in_package(lookup, &symbol, &containers, &before)? {
                found.push(symbol);
            } else if is_reached(&places, &containers, &before) {
                reached.push(symbol);
            } else if let [qualifier] = before[..]
                && declares(&lookup.symbol(symbol.key)?.signature, qualifier, last)
            {
                declared.push(symbol);
            }
        }
        if !found.is_empty() {
            return without_containers(lookup, found, &before);
        }
    }
    Ok(if reached.is_empty() { declared } else { reached })
}

/// Drops types whose name is found in a file of the same name, where a member of the type has that
/// name too: `Type.Type` is its constructor.
fn without_containers(
    lookup: &Lookup<'_>,
    found: Vec<SymbolHead>,
    before: &[&str],
) -> Result<Vec<SymbolHead>, QueryError> {
    if found.len() < 2 {
        return Ok(found);
    }
    let mut around = Vec::new();
    for symbol in &found {
        let containers = surroundings(lookup, symbol)?.1;
        let containers: Vec<&str> = containers.iter().map(String::as_str).collect();
        if containers.ends_with(before) {
            around.extend(symbol.container);
        }
    }
    Ok(found.into_iter().filter(|symbol| !around.contains(&symbol.key)).collect())
}

/// True if a header declares a name of a qualifier: `function M.open(x)`.
fn declares(signature: &str, qualifier: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    [".", ":", "::"].iter().any(|separator| {
        let whole = format!("{qualifier}{separator}{name}");
        signature.match_indices(&whole).any(|(at, _)| {
            let before = &signature[..at];
            !before.contains('(')
                && !before.chars().next_back().is_some_and(is_of_name)
                && !signature[at + whole.len()..].chars().next().is_some_and(is_of_name)
        })
    })
}

/// Splits a qualified name at the separators of any language. A `#` after a separator belongs to
/// the name: `Class.#private`.
pub(crate) fn segments(name: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = name;
    loop {
        let mark = usize::from(rest.starts_with('#') && !rest.starts_with("##"));
        let end = rest[mark..].find(SEPARATORS).map(|end| end + mark);
        let (segment, after) = end.map_or((rest, None), |end| (&rest[..end], Some(end)));
        if segment.len() > mark {
            found.push(segment);
        }
        let Some(end) = after else { return found };
        rest = &rest[end + 1..];
    }
}

/// Separators of qualified names.
const SEPARATORS: [char; 5] = ['.', '#', '/', '\\', ':'];

/// Maximum number of ways to split a name.
const MAX_SPLITS: usize = 6;

/// Ways to split a qualified name into its qualifiers and the name: at the last separator, then at
/// earlier ones, for names with separators in them (`Class.operator/`).
fn splits(name: &str) -> Vec<(Vec<&str>, &str)> {
    let chain = segments(name);
    let mut found = Vec::new();
    if let Some((last, before)) = chain.split_last().filter(|(_, before)| !before.is_empty()) {
        found.push((before.to_vec(), *last));
    }
    for (at, separator) in name.rmatch_indices(SEPARATORS).take(MAX_SPLITS) {
        let (before, last) = (segments(&name[..at]), &name[at + separator.len()..]);
        if !before.is_empty() && !last.is_empty() && found.iter().all(|(_, known)| *known != last) {
            found.push((before, last));
        }
    }
    found
}

/// Returns the possible qualifiers of a symbol: directories and the file's name without extension;
/// containers.
fn surroundings(
    lookup: &Lookup<'_>,
    symbol: &SymbolHead,
) -> Result<(Vec<String>, Vec<String>), QueryError> {
    let file = lookup.place(symbol.file)?;
    let path = file.path.as_str();
    let stem = match file.path.extension() {
        Some(extension) => &path[..path.len() - extension.len() - 1],
        None => path,
    };
    let containers = lookup.containers(symbol.container)?;
    let containers = containers.iter().map(|container| container.name_text.to_string()).collect();
    Ok((stem.split('/').map(str::to_owned).collect(), containers))
}

/// True if the qualifiers are the end of the package that the file declares and the containers.
fn is_in_package(
    lookup: &Lookup<'_>,
    symbol: &SymbolHead,
    containers: &[String],
    wanted: &[&str],
) -> Result<bool, QueryError> {
    let Some(around) = wanted.len().checked_sub(containers.len()) else { return Ok(false) };
    if around == 0 || wanted[around..].iter().zip(containers).any(|(wanted, own)| wanted != own) {
        return Ok(false);
    }
    let file = lookup.file(symbol.file)?;
    let package = file.package.as_deref().map(segments).unwrap_or_default();
    Ok(package.ends_with(&wanted[..around]))
}

/// True if `wanted` is a qualified name of the symbol with directories or files omitted, because
/// packages re-export their contents. Containers cannot be omitted.
fn is_reached(places: &[String], containers: &[String], wanted: &[&str]) -> bool {
    let Some(modules) =
        wanted.len().checked_sub(containers.len()).map(|modules| &wanted[..modules])
    else {
        return false;
    };
    if modules.is_empty()
        || wanted[modules.len()..].iter().zip(containers).any(|(wanted, own)| wanted != own)
    {
        return false;
    }
    let mut places = places.iter();
    modules.iter().all(|module| places.any(|place| place == module))
}

fn exactly(lookup: &Lookup<'_>, name: &str) -> Result<Vec<SymbolHead>, QueryError> {
    let mut found = Vec::new();
    for key in keys_of(lookup, name)? {
        found.extend(lookup.snapshot.symbol_heads(key)?);
    }
    Ok(found)
}

/// Returns the keys of a name, case-sensitive.
pub(crate) fn keys_of(lookup: &Lookup<'_>, name: &str) -> Result<Vec<NameKey>, QueryError> {
    let names = lookup.snapshot.names_ignoring_case(name)?.into_iter();
    Ok(names.filter(|(_, text)| text == name).map(|(key, _)| key).collect())
}

/// Prefers symbols for which a name with a path is complete from the top level of the file:
/// otherwise a function could not be distinguished from a method of the same name.
fn prefer_whole(
    lookup: &Lookup<'_>,
    found: Vec<SymbolHead>,
    name: &str,
) -> Result<Vec<SymbolHead>, QueryError> {
    let wanted = segments(name);
    let is_one_name = !keys_of(lookup, name)?.is_empty();
    let mut whole = Vec::new();
    for symbol in &found {
        let depth = lookup.containers(symbol.container)?.len();
        if depth + 1 == wanted.len() || (depth == 0 && is_one_name) {
            whole.push(*symbol);
        }
    }
    Ok(if whole.is_empty() { found } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_the_separators_of_any_language() {
        for (name, expected) in [
            ("a.b::C#d", vec!["a", "b", "C", "d"]),
            ("Graph.#grow", vec!["Graph", "#grow"]),
            ("Graph##grow", vec!["Graph", "#grow"]),
            ("#grow", vec!["#grow"]),
            ("a\\b/c", vec!["a", "b", "c"]),
            ("M:f", vec!["M", "f"]),
            ("::a::", vec!["a"]),
        ] {
            assert_eq!(segments(name), expected, "{name}");
        }
        assert!(splits("a.C.operator/").contains(&(vec!["a", "C"], "operator/")));
        assert!(splits("plain").is_empty());
    }
}
