//! Commands of a compilation database: what is compiled where and with which options. The format is
//! that of Clang: <https://clang.llvm.org/docs/JSONCompilationDatabase.html>.

use super::macros::Macro;
use crate::imports::json::Json;
use crate::imports::paths::normal;
use std::collections::BTreeMap;

/// Returns the path, with its slash, before the paths of files in most commands.
pub(super) fn root_of(
    commands: &[CompileCommand],
    is_file: &impl Fn(&str) -> bool,
) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for command in commands {
        let Some(path) = absolute(&command.directory, &command.file) else { continue };
        let mut ends = path.match_indices('/').map(|(at, _)| at + 1);
        if let Some(end) = ends.find(|&end| is_file(&path[end..])) {
            *counts.entry(path[..end].to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(root, count)| (*count, root.len())).map(|(root, _)| root)
}

/// Returns an absolute path in normal form.
pub(super) fn absolute(directory: &str, path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
    let base = if is_absolute { "" } else { directory };
    Some(format!("/{}", normal(base, &path)?))
}

/// Command of a compilation database.
pub(super) struct CompileCommand {
    pub(super) directory: String,
    pub(super) file: String,
    words: Vec<String>,
}

impl CompileCommand {
    /// Reads an entry; none if it is no command.
    pub(super) fn read(entry: &Json) -> Option<Self> {
        let text = |key| entry.get(key).and_then(Json::text);
        let words = match (entry.get("arguments"), text("command")) {
            (Some(list), _) => list.texts().into_iter().map(str::to_owned).collect(),
            (None, Some(line)) => shlex::split(line)?,
            (None, None) => return None,
        };
        let directory = text("directory")?.replace('\\', "/");
        Some(Self { directory, file: text("file")?.to_owned(), words })
    }
}

/// Include directories and macros of a command.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) directories: Vec<String>,
    pub(super) macros: BTreeMap<String, Macro>,
}

impl Flags {
    /// Reads the options of GCC and Clang, or those of MSVC, which begin with a slash as well.
    pub(super) fn of(command: &CompileCommand) -> Self {
        let mut flags = Self::default();
        let mut words = command.words.iter().map(String::as_str);
        let is_slashed = command.words.iter().any(|word| word == "/c");
        while let Some(word) = words.next() {
            let mut value = |option: &str| {
                let rest = word.strip_prefix(option)?;
                let value = if rest.is_empty() { words.next()? } else { rest };
                Some(value.trim_start_matches('=').to_owned())
            };
            let mut either = |options: &[&str]| {
                let usable = options.iter().filter(|option| is_slashed || !option.starts_with('/'));
                usable.copied().find_map(&mut value)
            };
            if let Some(found) = either(&["-isystem", "-iquote", "-idirafter", "-I", "/I"]) {
                flags.directories.push(found);
            } else if let Some(found) = either(&["-D", "/D"]) {
                let (name, value) = found.split_once('=').unwrap_or((&found, "1"));
                let is_zero = value == "0";
                let value = if is_zero { Macro::Zero } else { Macro::On };
                flags.macros.insert(name.to_owned(), value);
            } else if let Some(found) = either(&["-U", "/U"]) {
                flags.macros.insert(found, Macro::Off);
            }
        }
        flags
    }
}
