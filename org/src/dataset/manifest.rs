//! `_org/current.json`: which files make up the compacted tables. It is swapped as a whole, and the
//! files that it names never change.

use std::collections::BTreeMap;

use object_store::path::Path;
use object_store::{GetOptions, ObjectStoreExt as _, PutPayload};
use serde::{Deserialize, Serialize};

use super::location::Location;
use crate::error::{OrgError, Result};

/// Version of the layout.
const FORMAT: u32 = 1;
/// Directory of what `compact` writes.
pub(crate) const FOLDER: &str = "_org";
/// Maximum size of the manifest, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Files of the compacted tables.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// Version of the tables' schema.
    schema: String,
    /// Version of the program that wrote it.
    program: String,
    pub(crate) tables: BTreeMap<String, Vec<CompactFile>>,
}

/// File of a compacted table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct CompactFile {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) rows: u64,
    /// Least and greatest value of the column that orders the rows, where both are known and short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<(String, String)>,
}

impl CompactFile {
    /// Its path in the object store.
    pub(crate) fn path(&self) -> Path {
        // A manifest with others is refused.
        Path::parse(&self.path).unwrap_or_default()
    }
}

/// Manifest as it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadManifest {
    pub(crate) manifest: Manifest,
    /// When it was written, in minutes.
    pub(crate) written: String,
    tag: Option<String>,
}

impl Manifest {
    pub(crate) fn new(tables: BTreeMap<String, Vec<CompactFile>>) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT, schema: crate::schema::VERSION.to_owned(), program, tables }
    }

    /// Path of the manifest.
    pub(crate) fn path() -> Path {
        Path::from_iter([FOLDER, "current.json"])
    }

    /// Reads it, if there is one. What was read before is kept while it has not changed.
    pub(crate) async fn read(
        location: &Location,
        known: Option<&ReadManifest>,
    ) -> Result<Option<ReadManifest>> {
        let path = Self::path();
        let if_none_match = known.and_then(|known| known.tag.clone());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let found = match location.store.get_opts(&path, options).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(object_store::Error::NotModified { .. }) => return Ok(known.cloned()),
            Err(error) => return Err(location.failed("reading", &path, &error)),
        };
        let damaged = |reason: String| OrgError::Damaged { object: path.to_string(), reason };
        if found.meta.size > MAX_BYTES {
            return Err(damaged(format!("{} bytes are too many", found.meta.size)));
        }
        let written = found.meta.last_modified.format("%Y-%m-%d %H:%M UTC").to_string();
        let tag = found.meta.e_tag.clone();
        let bytes = found.bytes().await;
        let bytes = bytes.map_err(|error| location.failed("reading", &path, &error))?;
        let manifest: Self =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        manifest.check().map_err(|reason| OrgError::Schema { object: path.to_string(), reason })?;
        Ok(Some(ReadManifest { manifest, written, tag }))
    }

    fn check(&self) -> Result<(), String> {
        if self.format != FORMAT || self.schema != crate::schema::VERSION {
            let (format, schema) = (self.format, &self.schema);
            return Err(format!("format {format} and schema {schema} are not known"));
        }
        for file in self.tables.values().flatten() {
            let is_own = file.path.starts_with("_org/") && !file.path.contains("..");
            if !is_own || Path::parse(&file.path).is_err() {
                return Err(format!("`{}` is no path of a compacted file", file.path));
            }
        }
        Ok(())
    }

    /// Writes it in place of the one before.
    pub(crate) async fn write(&self, location: &Location) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|error| OrgError::Engine(error.to_string()))?;
        let path = Self::path();
        let written = location.store.put(&path, PutPayload::from(text)).await;
        written.map(drop).map_err(|error| location.failed("writing", &path, &error))
    }
}
