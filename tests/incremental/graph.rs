//! The graph of the files of a repository, computed without the index and without the writer of
//! stores: what rows are held against. Which files there are, and in which language, is taken from
//! the store.

use std::sync::Arc;

use cograph::config::Limits;
use cograph::extract::{self, extract};
use cograph::grammar;
use cograph::model::LanguageId;
use cograph::model::graph::{FileId, FileRecord, FileResolution, Graph, Relation};
use cograph::resolve::{ProjectFile, Tables};
use cograph::source::{self, Root, Text};
use cograph::store::{FileRow, Snapshot};

/// The graph of the files that a store has, as they are now.
pub(super) fn of(snapshot: &Snapshot) -> Graph {
    let root = Root::new(&snapshot.meta().root);
    let rows = snapshot.files().expect("the store can be read");
    let files: Vec<FileRecord> = rows.iter().map(|row| record(&root, row)).collect();
    let project_files: Vec<ProjectFile> = rows
        .iter()
        .filter_map(|row| {
            if let Some(target) = root.link(&row.path) {
                return Some(ProjectFile::link(row.path.clone(), &target));
            }
            let name = row.path.file_name();
            let text = source::read(&root, &row.path, &Limits::default()).text.ok()?;
            let text = text.as_str().into_owned();
            (grammar::is_project_file(name) || grammar::is_project_text(name, || &text))
                .then(|| ProjectFile { path: row.path.clone(), text })
        })
        .collect();
    let tables = Tables::of_all(&files, &project_files);
    let ids = || (0..).map(FileId).take(files.len());
    let mut resolutions: Vec<FileResolution> =
        ids().map(|file| tables.resolve_file(file).resolution).collect();
    let spoken: Vec<Relation> =
        resolutions.iter_mut().flat_map(|found| std::mem::take(&mut found.relations)).collect();
    for (file, found) in ids().zip(&mut resolutions) {
        found.relations =
            spoken.iter().copied().filter(|relation| relation.from.file == file).collect();
        found.relations.sort_unstable();
        found.relations.dedup();
    }
    Graph { files, resolutions }
}

fn record(root: &Root, row: &FileRow) -> FileRecord {
    let language = row.language.map(|key| LanguageId(u16::try_from(key.0).expect("few languages")));
    let content = match (row.skipped, language) {
        (Some(reason), _) => Err(reason),
        (None, None) => panic!("{} has facts and no language", row.path),
        (None, Some(language)) => {
            let Text { bytes, problems, .. } =
                source::read(root, &row.path, &Limits::default()).text.expect("it has a text");
            let mut facts =
                extract(language, row.path.as_str(), &bytes, extract::Limits::default())
                    .expect("it was within its budget before");
            facts.problems.extend(problems);
            facts.problems.sort_by_key(|problem| (problem.first_line, problem.last_line));
            Ok(Arc::new(facts))
        }
    };
    FileRecord { path: row.path.clone(), stamp: row.stamp(), language, content }
}
