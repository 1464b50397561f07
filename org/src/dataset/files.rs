//! Files of a table: those that the program exported, or those that `compact` made of them.

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore as _};

use super::location::Location;
use super::manifest::CompactFile;
use crate::error::Result;

/// File of a table.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    pub(crate) meta: ObjectMeta,
    pub(crate) rows: Option<u64>,
    /// Least and greatest value of the column that orders the rows.
    pub(crate) range: Option<(String, String)>,
}

impl DataFile {
    /// Name of the directory that the file is in.
    pub(crate) fn bucket(&self) -> Option<String> {
        let parts: Vec<_> = self.meta.location.parts().collect();
        let bucket = parts.len().checked_sub(2).and_then(|at| parts.get(at))?;
        bucket.as_ref().strip_prefix("bucket=").map(str::to_owned)
    }
}

impl From<ObjectMeta> for DataFile {
    fn from(meta: ObjectMeta) -> Self {
        Self { meta, rows: None, range: None }
    }
}

impl From<&CompactFile> for DataFile {
    fn from(file: &CompactFile) -> Self {
        let meta = ObjectMeta {
            location: file.path(),
            // It is named by its content.
            last_modified: Default::default(),
            size: file.size,
            e_tag: None,
            version: None,
        };
        Self { meta, rows: Some(file.rows), range: file.range.clone() }
    }
}

/// Lists the exported files of a table: `TABLE/bucket=NN/NAME.parquet`, in order of their paths.
pub(crate) async fn exported(location: &Location, table: &str) -> Result<Vec<DataFile>> {
    let prefix = Path::from(table);
    let found: Result<Vec<ObjectMeta>, _> = location.store.list(Some(&prefix)).try_collect().await;
    let found = match found {
        Ok(found) => found,
        Err(object_store::Error::NotFound { .. }) => Vec::new(),
        Err(error) => return Err(location.failed("listing", &prefix, &error)),
    };
    let mut files: Vec<DataFile> = found
        .into_iter()
        .filter(|meta| meta.location.extension() == Some("parquet"))
        .map(DataFile::from)
        .filter(|file| file.bucket().is_some() && file.meta.location.parts_count() == 3)
        .collect();
    files.sort_by(|left, right| left.meta.location.cmp(&right.meta.location));
    Ok(files)
}
