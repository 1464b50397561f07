//! Positions and addresses of the protocol: lines from 0 and columns in the units that the client
//! has agreed to, where the index has lines from 1 and columns in bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::{Location, Position, PositionEncodingKind, Range, Uri};

use crate::base::uri::decode;
use cograph_model::{self as model, RepoPath};
use cograph_query::ReadFile;
use cograph_system::names;

/// Unit of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client understands.
    #[default]
    Utf16,
}

impl Encoding {
    /// Bytes if the client knows them: no text is read then.
    pub(super) fn of(known: Option<&[PositionEncodingKind]>) -> Self {
        let has_bytes = known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
        if has_bytes { Self::Utf8 } else { Self::Utf16 }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }
}

/// Path of a `file:` address.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let text = uri.as_str().strip_prefix("file://")?;
    let (host, path) = text.split_at(text.find('/')?);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    is_local.then(|| decode(path)).flatten().map(names::from_address)
}

/// Address of a path.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    Uri::from_str(&format!("file://{}", names::percent_encoded(&names::to_address(path)))).ok()
}

/// Conversion of positions in the files of one repository. Keeps the texts that it reads.
pub(super) struct Positions<'f> {
    root: &'f Path,
    files: &'f dyn ReadFile,
    encoding: Encoding,
    texts: HashMap<RepoPath, Option<Vec<u8>>>,
}

impl<'f> Positions<'f> {
    pub(super) fn new(root: &'f Path, files: &'f dyn ReadFile, encoding: Encoding) -> Self {
        Self { root, files, encoding, texts: HashMap::new() }
    }

    /// Position in the index.
    pub(super) fn inner(&mut self, path: &RepoPath, at: Position) -> model::Position {
        let line = at.line.saturating_add(1);
        let column = match self.encoding {
            Encoding::Utf8 => at.character,
            Encoding::Utf16 => {
                self.line(path, line).map_or(at.character, |text| bytes_of(text, at.character))
            }
        };
        model::Position { line, column }
    }

    /// Position of the protocol.
    pub(super) fn outer(&mut self, path: &RepoPath, at: model::Position) -> Position {
        let character = match self.encoding {
            Encoding::Utf8 => at.column,
            Encoding::Utf16 => {
                self.line(path, at.line).map_or(at.column, |text| units_of(text, at.column))
            }
        };
        Position { line: at.line.saturating_sub(1), character }
    }

    /// Range of a name.
    pub(super) fn name(&mut self, path: &RepoPath, at: model::Position, name: &str) -> Range {
        let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let end = model::Position { line: at.line, column: at.column.saturating_add(length) };
        Range { start: self.outer(path, at), end: self.outer(path, end) }
    }

    /// Place of a name.
    pub(super) fn location(
        &mut self,
        path: &RepoPath,
        at: model::Position,
        name: &str,
    ) -> Option<Location> {
        let range = self.name(path, at, name);
        uri_of(&self.root.join(path.as_str())).map(|uri| Location { uri, range })
    }

    fn line(&mut self, path: &RepoPath, line: u32) -> Option<&[u8]> {
        let (files, text) = (self.files, self.texts.entry(path.clone()));
        let text = text.or_insert_with(|| files.read(path).ok()).as_deref()?;
        text.split(|byte| *byte == b'\n').nth(line.checked_sub(1)? as usize)
    }
}

/// Column in bytes of a column in UTF-16 code units; the end of the line if it is beyond.
fn bytes_of(line: &[u8], units: u32) -> u32 {
    let (mut bytes, mut left) = (0, units as usize);
    for letter in String::from_utf8_lossy(line).chars() {
        if left < letter.len_utf16() {
            break;
        }
        left -= letter.len_utf16();
        bytes += letter.len_utf8();
    }
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Column in UTF-16 code units of a column in bytes.
fn units_of(line: &[u8], bytes: u32) -> u32 {
    let before = &line[..line.len().min(bytes as usize)];
    let units = String::from_utf8_lossy(before).chars().map(char::len_utf16).sum::<usize>();
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_converted_in_both_directions() {
        let line = "é𝕏 = f()".as_bytes();
        for (bytes, units) in [(0, 0), (2, 1), (6, 3), (7, 4), (9, 6)] {
            assert_eq!((units_of(line, bytes), bytes_of(line, units)), (units, bytes));
        }
        assert_eq!(
            (bytes_of(line, 99), bytes_of(line, 2)),
            (12, 2),
            "beyond, and inside of a pair"
        );
    }

    #[test]
    fn addresses_are_read_and_written() {
        let uri = |text| Uri::from_str(text).expect("an address");
        assert_eq!(path_of(&uri("file:///a%20b/c.py")), Some("/a b/c.py".into()));
        assert_eq!(path_of(&uri("file://localhost/a")), Some("/a".into()));
        assert_eq!(path_of(&uri("file://elsewhere/a")), None);
        assert_eq!(path_of(&uri("untitled:Untitled-1")), None);
        assert_eq!(uri_of(Path::new("/a b")).expect("a path").as_str(), "file:///a%20b");
    }
}
