//! The graph of a repository as Parquet tables, for engines that query many repositories at once.

mod columns;
mod references;
pub(crate) mod schema;
mod symbols;
mod tables;
mod texts;
mod writer;

use std::path::Path;

use crate::export::ExportError;
use crate::names::SymbolNames;
use crate::packages::ReadText;
use cograph_store::Snapshot;
pub use tables::Written;
use tables::{Destination, Rows};

/// What identifies the rows of a repository.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Name of the repository, unique in the dataset.
    pub repository: String,
    /// Commit, if there is one.
    pub revision: Option<String>,
    /// Version of this program.
    pub version: &'static str,
}

/// Writes the tables of a repository below `directory`, each to
/// `TABLE/bucket=NN/REPOSITORY.parquet`, in place of those of an earlier run. SCIP symbols and
/// references are in memory until these are sorted; everything else is written as it is read. The
/// rows depend on the repository and `origin` alone. The table of repositories is the last.
pub fn export_dataset(
    snapshot: &Snapshot,
    origin: &Origin,
    read: ReadText<'_>,
    directory: &Path,
) -> Result<Written, ExportError> {
    let mut names = SymbolNames::new(snapshot, read)?;
    let destination = Destination { directory, repository: &origin.repository };
    let mut written = Written::default();
    let mut tables = symbols::Tables::create(&destination)?;
    let (texts, own) = tables.write(snapshot, &mut names, &origin.repository)?;
    let mut references = references::References::new(snapshot, &mut names, texts);
    references.read()?;
    let (mut rows, used) = references.write(&destination)?;
    rows.extend(tables.into_rows());
    Rows::finish(rows, &mut written)?;
    let mut rows = Rows::create(&schema::PACKAGES, &destination)?;
    let own = own.into_iter().map(|package| ((package, "own"), 0));
    let used = used.into_iter().map(|(package, references)| ((package, "used"), references));
    let packages: std::collections::BTreeMap<_, u64> = own.chain(used).collect();
    for (([manager, name, version], role), references) in &packages {
        // What is built in, and files without a manifest, are in no package.
        if name.is_empty() {
            continue;
        }
        rows.add(&[
            origin.repository.as_str().into(),
            manager.as_str().into(),
            name.as_str().into(),
            Some(version.as_str()).filter(|version| !version.is_empty()).into(),
            (*role).into(),
            (*references).into(),
        ])?;
    }
    Rows::finish(vec![rows], &mut written)?;
    let mut rows = Rows::create(&schema::REPOSITORIES, &destination)?;
    rows.add(&[
        origin.repository.as_str().into(),
        origin.revision.as_deref().into(),
        written.rows_of(&schema::FILES).into(),
        written.rows_of(&schema::SYMBOLS).into(),
        written.rows_of(&schema::REFERENCES).into(),
        origin.version.into(),
    ])?;
    Rows::finish(vec![rows], &mut written)?;
    Ok(written)
}
