//! What a compaction reads, named by its content, and what it leaves behind.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use xxhash_rust::xxh3::Xxh3;

use crate::dataset::Location;
use crate::dataset::files::{DataFile, exported};
use crate::dataset::manifest::{CompactFile, FOLDER, Manifest};
use crate::error::Result;
use crate::schema::Table;

/// Changes when the same input gives other files.
const LAYOUT: u32 = 1;
/// Age at which a file that the manifest does not name is removed: what reads it began before.
const MAX_AGE: chrono::TimeDelta = chrono::TimeDelta::days(1);
/// Tables that are small enough for one file.
const WHOLE: [&str; 2] = ["repositories", "packages"];

/// Files that become one.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Start of the name of what they become: the bucket, and the digest of the files.
    pub(crate) stem: String,
    pub(crate) files: Vec<DataFile>,
}

/// Inputs of a table: one for each bucket.
pub(crate) async fn inputs(location: &Location, table: &Table) -> Result<Vec<Input>> {
    let mut buckets: BTreeMap<String, Vec<DataFile>> = BTreeMap::new();
    for file in exported(location, table.name).await? {
        let bucket = match file.bucket() {
            Some(bucket) if !WHOLE.contains(&table.name) => bucket,
            _ => "all".to_owned(),
        };
        buckets.entry(bucket).or_default().push(file);
    }
    let named = buckets.into_iter().map(|(bucket, files)| {
        let lines = files.iter().map(|file| {
            let meta = &file.meta;
            let tag = meta.e_tag.clone().unwrap_or_else(|| meta.last_modified.to_rfc3339());
            format!("{} {} {tag}", meta.location, meta.size)
        });
        Input { stem: format!("{bucket}-{}", digest(lines)), files }
    });
    Ok(named.collect())
}

/// Digest of lines of text.
pub(crate) fn digest(lines: impl Iterator<Item = String>) -> String {
    let mut hash = Xxh3::new();
    hash.update(format!("{LAYOUT} {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    format!("{:032x}", hash.digest128())
}

/// Removes old files that the manifest does not name. Returns their number.
pub(crate) async fn remove_old(location: &Location, manifest: &Manifest) -> Result<usize> {
    let named: BTreeSet<Path> = manifest.tables.values().flatten().map(CompactFile::path).collect();
    let folder = Path::from(FOLDER);
    let found: Vec<_> = location
        .store
        .list(Some(&folder))
        .try_collect()
        .await
        .map_err(|error| location.failed("listing", &folder, &error))?;
    let is_old = |modified| chrono::Utc::now() - modified > MAX_AGE;
    let old = found.into_iter().filter(|meta| {
        let path = &meta.location;
        is_old(meta.last_modified) && !named.contains(path) && *path != Manifest::path()
    });
    let mut removed = 0;
    let mut old = futures::stream::iter(old);
    while let Some(meta) = old.next().await {
        match location.store.delete(&meta.location).await {
            Ok(()) => removed += 1,
            // Another run was faster.
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(location.failed("removing", &meta.location, &error)),
        }
    }
    Ok(removed)
}
