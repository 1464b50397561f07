//! Which file is to blame for an error of the engine, which often does not name one.

use std::error::Error;
use std::time::Duration;

use datafusion::error::DataFusionError;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::dataset::Fault;
use crate::dataset::{FileError, Location, Opened};
use crate::error::{OrgError, reason};

/// Time to look for a damaged file.
const SEARCH: Duration = Duration::from_secs(20);

/// The error as the user sees it.
pub(crate) async fn explained(
    error: &DataFusionError,
    opened: &Opened,
    location: &Location,
) -> OrgError {
    if let Some(found) = cause::<FileError>(error) {
        return of_file(found.clone());
    }
    if let Some(OrgError::Remote { attempt, object, detail }) = cause::<OrgError>(error) {
        let (object, detail) = (object.clone(), detail.clone());
        return OrgError::Remote { attempt, object, detail };
    }
    match error.find_root() {
        DataFusionError::ResourcesExhausted(message) => OrgError::Memory(first_line(message)),
        DataFusionError::Plan(_)
        | DataFusionError::SQL(..)
        | DataFusionError::SchemaError(..)
        | DataFusionError::NotImplemented(_)
        | DataFusionError::Diagnostic(..)
        | DataFusionError::Collection(_) => {
            OrgError::Statement(first_line(&error.strip_backtrace()))
        }
        // Others too: where a task of the engine panics, its error is of any kind.
        _ => {
            let found = damaged(opened, location).await;
            found.unwrap_or_else(|| OrgError::Engine(reason(error)))
        }
    }
}

/// The error after a panic of the engine.
pub(crate) async fn panicked(opened: &Opened, location: &Location) -> OrgError {
    let unknown = || OrgError::Engine("the engine failed at this question".to_owned());
    damaged(opened, location).await.unwrap_or_else(unknown)
}

/// Error that is a file's.
pub(crate) fn of_file(FileError { object, fault, reason }: FileError) -> OrgError {
    match fault {
        Fault::Damaged => OrgError::Damaged { object, reason },
        Fault::Schema => OrgError::Schema { object, reason },
        Fault::Unreadable => OrgError::Remote { attempt: "reading", object, detail: reason },
    }
}

/// The first of the opened files that cannot be read to its end.
async fn damaged(opened: &Opened, location: &Location) -> Option<OrgError> {
    let search = async {
        for path in opened.paths() {
            let (location, object) = (location.clone(), path.to_string());
            let mut reading = tokio::task::JoinSet::new();
            reading.spawn(async move { read_all(&location, path).await });
            let reason = match reading.join_next().await {
                Some(Ok(Ok(()))) | None => continue,
                Some(Ok(Err(reason))) => reason,
                Some(Err(_)) => "the reader of the format panics".to_owned(),
            };
            return Some(OrgError::Damaged { object, reason });
        }
        None
    };
    tokio::time::timeout(SEARCH, search).await.ok().flatten()
}

async fn read_all(location: &Location, path: Path) -> Result<(), String> {
    let text = |error: &dyn Error| reason(error);
    let found = location.store.get(&path).await.map_err(|error| text(&error))?;
    let bytes = found.bytes().await.map_err(|error| text(&error))?;
    let opened = ParquetRecordBatchReaderBuilder::try_new(bytes);
    let rows = opened.and_then(ParquetRecordBatchReaderBuilder::build);
    for batch in rows.map_err(|error| text(&error))? {
        batch.map_err(|error| text(&error))?;
    }
    Ok(())
}

/// A cause of a type, somewhere below an error.
fn cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(here) = next {
        if let Some(found) = here.downcast_ref::<E>() {
            return Some(found);
        }
        next = here.source();
    }
    None
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
