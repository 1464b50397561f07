//! What the edits of a call break, from the texts of both sides and the index.

use super::call::HookCall;
use super::disk::Disk;
use super::edit::{EditedFile, Sides};
use crate::hooks::opened::opened;
use cograph_config::Config;
use cograph_history::{Before, edited, is_in_body};
use cograph_model::ProblemKind;
use cograph_model::cancel::CancelToken;
use cograph_model::change::SymbolSide;
use cograph_model::facts::flags;
use cograph_query::impact::{Unfit, unfit};
use cograph_source::{self as source, ReadFile, Root};
use cograph_store::{FileRow, Snapshot, StoreError, SymbolKey};
use std::cell::Cell;

/// Maximum size of an edited file: both of its texts are parsed, in parallel, within the time that
/// a hook may take.
const MAX_TEXT: usize = 64 << 10;

/// What the edits of one call break.
#[derive(Default)]
pub(super) struct Broken {
    pub(super) symbols: Vec<Unfit>,
    /// Number of files with uses that have changed since the index was made.
    pub(super) changed: usize,
    /// True if not all files with uses were read.
    pub(super) is_cut: bool,
}

/// What edits break for certain.
pub(super) fn of_edits(
    call: &HookCall,
    files: &[EditedFile],
    config: &Config,
    cancel: &CancelToken,
) -> Broken {
    let mut broken = Broken::default();
    for file in files {
        // One that is not indexed says nothing about the others.
        let _ = of_file(call, file, config, &mut broken, cancel);
    }
    broken
}

fn of_file(
    call: &HookCall,
    file: &EditedFile,
    config: &Config,
    broken: &mut Broken,
    cancel: &CancelToken,
) -> Option<()> {
    let place = match (&call.directory, file.path.is_absolute()) {
        (_, true) => file.path.clone(),
        (Some(directory), false) => directory.join(&file.path),
        (None, false) => return None,
    };
    let place = source::canonical_place(&place)?;
    // Without a mark of its own the repository of a file is that of the client.
    let own = config.repository_around(place.parent()?).ok();
    let around = call.directory.as_ref().and_then(|path| config.repository_around(path).ok());
    let (snapshot, path, row) = [own, around].into_iter().flatten().find_map(|repository| {
        let path = source::repo_path(&repository.root, &place)?;
        let snapshot = opened(&repository, cancel)?;
        let row = snapshot.file_at(path.as_str()).ok()??;
        Some((snapshot, path, row))
    })?;
    let root = Root::new(&snapshot.meta().root);
    let ReadFile { stamp, text } = source::read(&root, &path, &config.limits);
    let disk = text.ok().map(|text| text.bytes);
    let Sides { before, after } = file.sides(disk.as_deref())?;
    if after.len() > MAX_TEXT || before.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
        return None;
    }
    let before = match before {
        // The most frequent edit costs no parse.
        Some(text)
            if source::hash(&text) == row.hash
                && is_in_body(&sides(&snapshot, &row).ok()?, &text, &after) =>
        {
            return None;
        }
        Some(text) => Before::Text(text),
        None => indexed(&snapshot, &row).ok()?,
    };
    let edit = edited(&path, before, &after)?;
    if edit.symbols.is_empty() {
        return None;
    }
    let is_indexed = disk.is_some_and(|text| text == after) && stamp.hash == row.hash;
    let disk = Disk {
        root: &root,
        snapshot: &snapshot,
        limits: &config.limits,
        path: &path,
        known: Default::default(),
        siblings: Default::default(),
        read: Cell::new(after.len() as u64),
        is_cut: Default::default(),
    };
    let found = unfit(&snapshot, &edit, is_indexed, &disk, cancel).ok()?;
    if !found.is_empty() {
        broken.changed += disk.changed();
        broken.is_cut |= disk.is_cut.get();
        broken.symbols.extend(found);
    }
    Some(())
}

/// What the index has of a file.
fn indexed(snapshot: &Snapshot, file: &FileRow) -> Result<Before, StoreError> {
    let problems = snapshot.problems_of(file.key)?.into_iter().map(|row| row.problem);
    let unparsed = problems.filter(|problem| problem.kind != ProblemKind::Encoding);
    let unparsed = unparsed.map(|problem| problem.last_line - problem.first_line + 1).sum();
    Ok(Before::Symbols { sides: sides(snapshot, file)?, unparsed })
}

/// Its symbols that are not local.
fn sides(snapshot: &Snapshot, file: &FileRow) -> Result<Vec<SymbolSide>, StoreError> {
    let mut sides: Vec<SymbolSide> = Vec::new();
    let rows = snapshot.symbols_of(file)?;
    let at = |key: SymbolKey| rows.binary_search_by_key(&key, |row| row.key).ok();
    for row in rows.iter().filter(|row| row.flags & flags::LOCAL == 0) {
        let (mut container, mut next) = (Vec::new(), row.container);
        while let Some(outer) = next.and_then(at).map(|at| &rows[at]) {
            container.push(outer.name_text.to_string());
            next = outer.container.filter(|key| *key < outer.key);
        }
        container.reverse();
        sides.push(SymbolSide {
            path: file.path.clone(),
            name: row.name_text.to_string(),
            container: container.join("."),
            kind: row.kind,
            visibility: row.visibility,
            is_exported: row.flags & flags::EXPORTED != 0,
            name_at: row.name_at,
            lines: (row.extent.start.line, row.extent.end.line),
            signature: row.signature.to_string(),
            arity: row.arity,
            parameters: Vec::new(),
            types: Vec::new(),
            takes_any_name: row.arity.1 == u16::MAX,
            bodies: Vec::new(),
        });
    }
    Ok(sides)
}
