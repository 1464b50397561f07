//! Names that a repository gives to its symbols where it hands them on: `pub use a as b`.

use std::collections::BTreeSet;

use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::SiteKind;
use cograph_store::{FileKey, SiteRow, SymbolKey};

/// Maximum number of files with imports of one symbol that are read.
pub const MAX_READ: usize = 64;

/// Word between a name and the new one.
const AS: &str = "as";

/// Import of a symbol by another name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// Symbol.
    pub symbol: SymbolKey,
    /// The other name.
    pub name: String,
    pub(super) site: SiteRow,
}

/// Imports of a symbol by other names, by file and position; and the number of files with imports
/// of it that were not read.
pub(super) fn renamed(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    symbol: SymbolKey,
) -> Result<(Vec<Renamed>, usize), QueryError> {
    let (mut sites, mut read, mut unread) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    lookup.snapshot.visit_sites_to(symbol, |site| {
        match site.kind == SiteKind::Import {
            true if read.len() < MAX_READ || read.contains(&site.file) => {
                read.insert(site.file);
                sites.push(site);
            }
            true => {
                unread.insert(site.file);
            }
            false => {}
        }
        true
    })?;
    let (mut found, mut text): (Vec<Renamed>, Option<(FileKey, Vec<u8>)>) = (Vec::new(), None);
    for site in sites {
        lookup.check()?;
        if text.as_ref().is_none_or(|(file, _)| *file != site.file) {
            let place = lookup.place(site.file)?;
            // A file that is gone renames nothing.
            text = Some((site.file, files.read(&place.path).unwrap_or_default()));
        }
        let Some((_, text)) = &text else { continue };
        let written = lookup.name(site.name)?;
        let line = text.split(|byte| *byte == b'\n').nth((site.at.line as usize).saturating_sub(1));
        let rest = line.and_then(|line| line.get(site.at.column as usize..));
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(written.as_bytes())) else {
            continue;
        };
        if let Some(name) = other_name(&String::from_utf8_lossy(rest)) {
            found.push(Renamed { symbol, name, site });
        }
    }
    Ok((found, unread.len()))
}

/// Name behind the word for it.
fn other_name(rest: &str) -> Option<String> {
    let rest = rest.trim_start().strip_prefix(AS)?;
    let name = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let end = name.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let name = &name[..end.unwrap_or(name.len())];
    (!name.is_empty() && name != "_").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::other_name;

    #[test]
    fn another_name_is_behind_its_word() {
        for (rest, expected) in [
            (" as hello;", Some("hello")),
            (" as  Hello }", Some("Hello")),
            (", other as hello", None),
            (" assume", None),
            (" as _;", None),
            ("", None),
        ] {
            assert_eq!(other_name(rest).as_deref(), expected, "{rest}");
        }
    }
}
