//! Table of languages: the built-in manifests, and those that a user gives in their place. Reads no
//! file.

use super::manifest::Manifest;
use super::parse;
pub(super) use crate::language::fits_pattern;
use crate::language::{BUILD_FILE, Language};
use cograph_grammars::{FOLDERS, Folder, Tier, merge};
use cograph_model::LanguageId;
use std::sync::OnceLock;

struct LanguageTable {
    folders: Vec<Folder>,
    loaded: Vec<OnceLock<Language>>,
    errors: Vec<String>,
}

static TABLE: OnceLock<LanguageTable> = OnceLock::new();

/// Uses these manifests, each with the name of its language, instead of the built-in ones of these
/// names. A manifest of another name is a further language, of a grammar that is linked. One that
/// does not fit is left out with its language; [`manifest_errors`] says why.
///
/// # Panics
///
/// If the table of languages is in use.
pub fn use_manifests(given: Vec<(String, String)>) {
    let is_first = TABLE.set(with_given(given)).is_ok();
    assert!(is_first, "manifests are given before the first use of a language");
}

/// Errors in the manifests that were given: directory and manifest, line and reason.
pub fn manifest_errors() -> &'static [String] {
    &table().errors
}

/// Names for people of the languages of a tier, sorted. Parses no manifest.
pub fn titles(tier: Tier) -> Vec<&'static str> {
    let folders = folders().iter().filter(|folder| folder.tier == tier);
    let mut titles: Vec<&str> = folders.map(|folder| folder.title).collect();
    titles.sort_unstable();
    titles
}

/// Rows by id of the language.
#[inline]
pub(super) fn folders() -> &'static [Folder] {
    &table().folders
}

/// Language by id. Its manifest is parsed on first use.
#[inline]
pub(super) fn loaded(id: LanguageId) -> &'static Language {
    let (table, position) = (table(), usize::from(id.0));
    table.loaded[position].get_or_init(|| Language::load(position, &table.folders[position]))
}

#[inline]
fn table() -> &'static LanguageTable {
    TABLE.get_or_init(|| with_given(Vec::new()))
}

fn with_given(mut given: Vec<(String, String)>) -> LanguageTable {
    given.sort();
    let mut folders = FOLDERS.to_vec();
    let mut errors = Vec::new();
    if !given.is_empty() {
        // Also those that extend a given manifest; these stay where they are in the table.
        let others = given.iter().filter(|(name, _)| FOLDERS.iter().all(|row| row.name != *name));
        let others = others.map(|(name, _)| name.as_str());
        folders = Vec::with_capacity(FOLDERS.len() + given.len());
        for name in FOLDERS.iter().map(|row| row.name).chain(others) {
            let (row, error) = row(name, &given);
            folders.extend(row);
            errors.extend(error);
        }
    }
    let loaded = folders.iter().map(|_| OnceLock::new()).collect();
    LanguageTable { folders, loaded, errors }
}

/// Returns the row of a language, and what is wrong with its manifest. A built-in language keeps
/// its row, as one without files, so that the ids of the others stay.
fn row(name: &str, given: &[(String, String)]) -> (Option<Folder>, Option<String>) {
    let built_in = FOLDERS.iter().find(|row| row.name == name);
    let chain = match chain(name, given) {
        Ok((_, false)) => return (built_in.copied(), None),
        Ok((texts, true)) => texts,
        Err(error) => return (built_in.map(without_files), Some(error)),
    };
    let texts: Vec<&str> = chain.iter().map(String::as_str).collect();
    match made(name, &texts) {
        Ok(row) => (Some(row), None),
        Err(errors) => {
            let error = format!("{name}/grammar.toml: {}", errors.join("; "));
            (built_in.map(without_files), Some(error))
        }
    }
}

fn without_files(row: &Folder) -> Folder {
    Folder {
        extensions: &[],
        file_names: &[],
        interpreters: &[],
        shared_extensions: &[],
        markers: &[],
        templates: &[],
        project_files: &[],
        ..*row
    }
}

/// Returns the manifest of a language after those that it extends, and whether one is given.
fn chain(name: &str, given: &[(String, String)]) -> Result<(Vec<String>, bool), String> {
    let (mut texts, mut has_given, mut seen) = (Vec::new(), false, Vec::new());
    let mut next = Some(name.to_owned());
    while let Some(at) = next {
        if seen.contains(&at) {
            return Err(format!("{name}/grammar.toml: {at} extends itself"));
        }
        let own = given.iter().find(|(name, _)| *name == at).map(|(_, text)| text.clone());
        has_given |= own.is_some();
        let built_in = FOLDERS.iter().find(|row| row.name == at);
        let text = own
            .or_else(|| Some((*built_in?.manifests.last()?).to_owned()))
            .ok_or_else(|| format!("{name}/grammar.toml: there is no manifest {at} to extend"))?;
        next = extended(&text);
        texts.insert(0, text);
        seen.push(at);
    }
    Ok((texts, has_given))
}

/// Makes the row of a given manifest. What it refers to stays until the process ends.
fn made(name: &str, texts: &[&str]) -> Result<Folder, Vec<String>> {
    let merged = merge(texts).map_err(|error| vec![error])?;
    let grammar = linked_grammar(&merged)?;
    let Manifest { title, tier, detect, modules, .. } = parse::parse(texts, &grammar())?.manifest;
    Ok(Folder {
        name: leaked(name),
        title: leaked(&title),
        manifests: list(texts.iter().map(|text| (*text).to_owned()).collect()),
        grammar,
        tier,
        extensions: list(detect.extensions),
        file_names: list(detect.file_names),
        interpreters: list(detect.interpreters),
        shared_extensions: list(detect.shared_extensions),
        markers: list(detect.markers),
        templates: list(detect.templates),
        project_files: list(modules.project_files),
        most_bytes: detect.most_bytes,
    })
}

/// Returns the grammar that a merged manifest names, if the program is linked with it.
pub(super) fn linked_grammar(
    merged: &toml::Table,
) -> Result<fn() -> tree_sitter::Language, Vec<String>> {
    let named = |table: &toml::Table| Some(table.get("grammar")?.as_str()?.to_owned());
    let name = named(merged).ok_or_else(|| {
        vec!["`grammar` must name the grammar, as in \"tree_sitter_x::LANGUAGE\"".to_owned()]
    })?;
    let row = FOLDERS.iter().find(|row| {
        merge(row.manifests).ok().and_then(|merged| named(&merged)).as_ref() == Some(&name)
    });
    row.map(|row| row.grammar).ok_or_else(|| {
        vec![format!(
            "this program is not linked with `{name}`: build it with the crate in \
             grammars/Cargo.toml and the manifest of the language"
        )]
    })
}

/// Returns the directory of the extended manifest, a sibling of its own; `None` if it extends none.
pub fn extended(text: &str) -> Option<String> {
    text.parse::<toml::Table>().ok()?.get("extends")?.as_str().map(str::to_owned)
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn list(texts: Vec<String>) -> &'static [&'static str] {
    Box::leak(texts.iter().map(|text| leaked(text)).collect::<Box<[_]>>())
}

/// Names of all project files; some are patterns, those that a build writes have a `!` before them.
pub fn project_files() -> impl Iterator<Item = &'static str> {
    folders().iter().flat_map(|folder| folder.project_files).copied()
}

/// True for the name of a project file.
pub fn is_project_file(name: &str) -> bool {
    project_files().any(|one| !one.contains(PROJECT_TEXT) && fits_pattern(one, name))
}

/// Names of project files that a build writes.
pub fn build_files() -> impl Iterator<Item = &'static str> {
    project_files().filter_map(|one| one.strip_prefix(BUILD_FILE))
}

/// True for a file of this name that is a project file by its text, which is read by need.
pub fn is_project_text<T: AsRef<str>>(name: &str, text: impl FnOnce() -> T) -> bool {
    let marked = project_files().filter_map(|one| one.split_once(PROJECT_TEXT));
    let mut wanted = marked.filter(|(pattern, _)| fits_pattern(pattern, name)).peekable();
    wanted.peek().is_some() && {
        let text = text();
        wanted.any(|(_, wanted)| text.as_ref().contains(wanted))
    }
}

/// Mark between the name of a project file and a text that it contains.
const PROJECT_TEXT: &str = ": ";

/// Languages that read one of these project files, by id.
pub fn of_project_files<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
) -> impl Iterator<Item = &'static Language> {
    let reads = move |folder: &Folder| {
        let reads = |name| folder.project_files.iter().any(|one| fits_pattern(one, name));
        names.clone().any(reads)
    };
    folders()
        .iter()
        .zip((0..).map(LanguageId))
        .filter(move |(folder, _)| reads(folder))
        .map(|(_, id)| loaded(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &Folder = &FOLDERS[0];

    fn own() -> &'static str {
        ROW.manifests.last().expect("it has a manifest")
    }

    fn given(manifests: &[(&str, &str)]) -> LanguageTable {
        let named = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        with_given(manifests.iter().map(named).collect())
    }

    fn has_files(row: &Folder) -> bool {
        [row.extensions, row.file_names, row.interpreters, row.shared_extensions]
            .iter()
            .any(|list| !list.is_empty())
    }

    #[test]
    fn a_given_manifest_replaces_the_built_in_one_and_adds_languages() {
        let extends =
            format!("extends = \"{}\"\n[detect]\nextensions = [\"given\", \"files\"]\n", ROW.name);
        let changed = own().replacen("[detect]\n", "[detect]\nmost-bytes = 7\n", 1);
        let table = given(&[("zz-new", &extends), (ROW.name, &changed)]);
        assert_eq!(table.errors, [""; 0]);
        assert_eq!(table.folders.len(), FOLDERS.len() + 1);
        assert_eq!(table.folders[0].most_bytes, Some(7));
        let new = table.folders.last().expect("the new one");
        assert_eq!((new.name, new.extensions), ("zz-new", &["given", "files"][..]));
        assert_eq!(new.manifests, [changed.as_str(), extends.as_str()]);
        for (row, built_in) in table.folders.iter().zip(FOLDERS).skip(1) {
            assert_eq!((row.name, row.manifests), (built_in.name, built_in.manifests));
        }
    }

    #[test]
    fn a_manifest_that_does_not_fit_costs_its_language_only() {
        let broken = format!("{}\n[no-such-section]\n", own());
        let table = given(&[
            (ROW.name, &broken),
            ("zz-unlinked", "grammar = \"tree_sitter_none::LANGUAGE\""),
            ("zz-orphan", "extends = \"none\""),
            ("zz-circle", "extends = \"zz-circle\""),
        ]);
        assert_eq!(table.folders.len(), FOLDERS.len());
        assert!(has_files(ROW) && !has_files(&table.folders[0]));
        for (row, built_in) in table.folders.iter().zip(FOLDERS).skip(1) {
            assert_eq!((row.name, has_files(row)), (built_in.name, has_files(built_in)));
        }
        for (error, expected) in table.errors.iter().zip([
            "unknown field `no-such-section`",
            "zz-circle/grammar.toml: zz-circle extends itself",
            "zz-orphan/grammar.toml: there is no manifest none to extend",
            "zz-unlinked/grammar.toml: this program is not linked with `tree_sitter_none",
        ]) {
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(table.errors.len(), 4);
    }
}
