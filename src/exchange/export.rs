//! Writes the graph of a repository as a SCIP index, document by document.

use std::io::{self, Write};

use scip::types::{Metadata, ProtocolVersion, TextEncoding, ToolInfo};

use crate::document::{Documents, Exported};
use crate::names::SymbolNames;
use crate::packages::ReadText;
use crate::wire;
use cograph_store::{Snapshot, StoreError};

/// Why an index is not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes all indexed files to `out`. `read` has their texts, for the ends of names; `version` is
/// that of this program. The bytes depend on the repository alone.
pub fn export(
    snapshot: &Snapshot,
    version: &str,
    read: ReadText<'_>,
    out: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let root = snapshot.meta().root.to_string_lossy().into_owned();
    let tool =
        ToolInfo { name: "cograph".to_owned(), version: version.to_owned(), ..ToolInfo::default() };
    let metadata = Metadata {
        version: ProtocolVersion::UnspecifiedProtocolVersion.into(),
        tool_info: Some(tool).into(),
        project_root: file_url(&root),
        text_document_encoding: TextEncoding::UTF8.into(),
        ..Metadata::default()
    };
    wire::write(out, wire::METADATA, &metadata)?;
    let mut documents = Documents::new(snapshot, SymbolNames::new(snapshot, read)?);
    for place in 0..documents.names.files.len() {
        let file = &documents.names.files[place];
        if file.skipped.is_some() {
            continue;
        }
        let text = read(&file.path);
        let (document, outside) = documents.document(place, text.as_deref())?;
        wire::write(out, wire::DOCUMENT, &document)?;
        for symbol in &outside {
            wire::write(out, wire::EXTERNAL_SYMBOL, symbol)?;
        }
    }
    Ok(documents.sums)
}

/// URL of an absolute path.
fn file_url(path: &str) -> String {
    let mut url = "file://".to_owned();
    let path = path.replace('\\', "/");
    if !path.starts_with('/') {
        url.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                url.push(byte.into());
            }
            byte => url += &format!("%{byte:02X}"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_urls() {
        assert_eq!(file_url("/a b/ä"), "file:///a%20b/%C3%A4");
        assert_eq!(file_url("C:\\x"), "file:///C:/x");
    }
}
