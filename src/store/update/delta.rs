//! Update in place: replaces the rows of files that changed or resolve differently, in one
//! transaction.
//!
//! Readers see the generation before or after. The result equals that of a full build of the same
//! graph, except for keys: a file keeps its key range while it fits, and gets a new one otherwise.

use super::last_keys::LastKeys;
use std::cell::RefCell;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::key_assignment::{FileSites, Numbering, key, name_of, symbols_in};
use crate::build::keys::{FileKeys, Places, Range, fitted};
use crate::build::row::SqlRows;
use crate::build::row_encoder::{RowWriter, target};
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, WriterLock};
use crate::format::rows::Identity;
use crate::format::statements;
use crate::read::connection::wal_path;
use crate::update::amendment::{Amendment, KnownRows, WrittenFile};
use crate::update::existing_keys::{RemovedNames, Sets};
use crate::update::ref_counts::UpdatedCounts;
use cograph_faults::{Fault, planted};
use cograph_model::Verdict;
use cograph_model::facts::SiteId;
use cograph_model::graph::{FileId, FileResolution, SymbolRef, Target};

impl Amendment<'_> {
    /// Writes the change to the file `store`, whose files have the keys `places`. After an error
    /// neither the store nor `places` is changed; if the store's generation is not `before`, the
    /// error has the kind `Missing`.
    ///
    /// `known` returns the delta rows for the new keys and generation: they are part of the same
    /// transaction.
    pub fn write(
        &self,
        _lock: &WriterLock,
        store: &Path,
        before: Identity,
        places: &mut Places,
        known: impl FnOnce(&Places, Identity) -> KnownRows,
    ) -> Result<Identity, StoreError> {
        let failed =
            |error: rusqlite::Error| StoreError::from_sqlite("changing store", store, &error);
        let mut connection = open(store).map_err(failed)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let meta = crate::read::meta::meta(&transaction).map_err(failed)?;
        if meta.identity != before {
            let detail = "another process has changed it";
            return Err(StoreError::new(StoreErrorKind::Missing, "changing store", store, detail));
        }
        let too_large =
            |detail| StoreError::new(StoreErrorKind::TooLarge, "changing store", store, detail);
        let last = LastKeys::read(&transaction).map_err(failed)?.not_before(&meta);
        let (next, moved) = self.next_places(places, &last).map_err(too_large)?;
        let after = Identity { uid: before.uid, generation: before.generation + 1 };
        let (removed_names, symbol_names) = (RefCell::default(), meta.symbol_names);
        let counts = UpdatedCounts::new(&transaction, places, self).map_err(failed)?;
        Writer {
            amendment: self,
            connection: &transaction,
            old: places,
            new: &next,
            counts: &counts,
            last,
            symbol_names,
            removed_names,
        }
        .write(after, &moved)
        .map_err(failed)?;
        put_known(&transaction, known(&next, after)).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        *places = next;
        Ok(after)
    }

    /// New keys, and the symbol ranges that move: from, length, to.
    fn next_places(
        &self,
        Places(old): &Places,
        last: &LastKeys,
    ) -> Result<(Places, Vec<(Range, u32)>), String> {
        let end = |of: fn(&FileKeys) -> Range, last: u32| {
            old.iter().map(|keys| of(keys).first + of(keys).room).max().unwrap_or(1).max(last + 1)
        };
        let (mut next_symbol, mut next_site) =
            (end(|keys| keys.symbols, last.symbol), end(|keys| keys.sites, last.site));
        let mut next_file = last.file + 1;
        let rewritten: FxHashSet<FileId> = self.rewritten().collect();
        let mut files = Vec::with_capacity(self.origins.len());
        let mut moved = Vec::new();
        for (place, origin) in self.origins.iter().enumerate() {
            let id = FileId(key(place as u64, "files")?);
            let known = origin.map(|origin| old[origin]);
            if let Some(known) = known.filter(|_| !rewritten.contains(&id)) {
                files.push(known);
                continue;
            }
            let WrittenFile { record, found } = self.file(id);
            let symbols = symbols_in(record);
            let sites = FileSites::of(record, found).len();
            let known = known.unwrap_or_else(|| {
                next_file += 1;
                FileKeys { file: next_file - 1, ..FileKeys::default() }
            });
            let own = FileKeys {
                file: known.file,
                symbols: fitted(known.symbols, key(symbols as u64, "symbols")?, &mut next_symbol)?,
                sites: fitted(known.sites, sites, &mut next_site)?,
            };
            if own.symbols.first != known.symbols.first && known.symbols.len > 0 {
                moved.push((known.symbols, own.symbols.first));
            }
            files.push(own);
        }
        Ok((Places(files), moved))
    }

    /// Files whose rows are all rewritten: changed files, and files with other stored sites.
    fn rewritten(&self) -> impl Iterator<Item = FileId> + '_ {
        let others = self.resolved.iter().filter(|(file, before)| {
            let after = &self.file(*file).found;
            let is_stored = crate::build::key_assignment::is_stored;
            let sites = |found: &FileResolution| -> Vec<bool> {
                found.sites.iter().map(is_stored).collect()
            };
            let holders = |found: &FileResolution| -> Vec<SiteId> {
                found.holders.iter().map(|(site, _)| *site).collect()
            };
            sites(before) != sites(after)
                || holders(before) != holders(after)
                || before.containers != after.containers
        });
        self.changed.iter().copied().chain(others.map(|(file, _)| *file))
    }
}

fn put_known(connection: &Connection, rows: KnownRows) -> rusqlite::Result<()> {
    for (file, data) in rows {
        match data {
            Some(data) => connection
                .prepare_cached(statements::PUT_KNOWN.text())?
                .execute(params![file, data])?,
            None => connection.prepare_cached(statements::REMOVE_KNOWN.text())?.execute([file])?,
        };
    }
    Ok(())
}

/// Minimum size of the WAL for a checkpoint, because a checkpoint waits for the disk.
const MIN_CHECKPOINT_BYTES: u64 = 4 << 20;

/// Checkpoints the WAL of the newest store of a repository, if it is large. Does not block readers
/// and writers.
pub fn checkpoint(location: &Location) -> Result<(), StoreError> {
    let Some(&newest) = location.generations()?.first() else { return Ok(()) };
    let path = location.generation_path(newest);
    if std::fs::metadata(wal_path(&path)).map_or(0, |log| log.len()) < MIN_CHECKPOINT_BYTES {
        return Ok(());
    }
    let carried = open(&path).and_then(|connection| {
        connection.query_row(statements::PASSIVE_CHECKPOINT, [], |_| Ok(()))
    });
    carried.map_err(|error| StoreError::from_sqlite("carrying changes over to", &path, &error))
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(statements::UPDATE_SETTINGS)?;
    Ok(connection)
}

struct Writer<'w> {
    amendment: &'w Amendment<'w>,
    connection: &'w Connection,
    old: &'w Places,
    new: &'w Places,
    counts: &'w UpdatedCounts,
    last: LastKeys,
    /// Number of sorted names.
    symbol_names: u32,
    removed_names: RefCell<RemovedNames>,
}

impl Writer<'_> {
    fn run(
        &self,
        statement: statements::Statement,
        parameters: impl rusqlite::Params,
    ) -> rusqlite::Result<usize> {
        let is_left_out = |fault, marking: statements::Statement| {
            planted(fault) && statement.text() == marking.text()
        };
        if is_left_out(Fault::UnmarkedNames, statements::MARK_NAMES)
            || is_left_out(Fault::UnmarkedWords, statements::MARK_WORDS)
        {
            return Ok(0);
        }
        self.connection.prepare_cached(statement.text())?.execute(parameters)
    }

    fn write(&self, after: Identity, moved: &[(Range, u32)]) -> rusqlite::Result<()> {
        let rewritten: FxHashSet<FileId> = self.amendment.rewritten().collect();
        let mut places: Vec<usize> = rewritten.iter().map(|file| file.0 as usize).collect();
        places.sort_unstable();
        let mut lists = Vec::new();
        self.remove_files(&places, &mut lists)?;
        for (from, to) in moved.iter().filter(|_| !planted(Fault::StaleKey)) {
            let parameters =
                params![from.first, from.end(), i64::from(*to) - i64::from(from.first)];
            for statement in [
                statements::MOVE_SITE_TARGETS,
                statements::MOVE_CANDIDATES,
                statements::MOVE_RELATION_TARGETS,
                statements::MOVE_CONTAINERS,
            ] {
                self.run(statement, parameters)?;
            }
        }
        let updated: Vec<&(FileId, FileResolution)> =
            self.amendment.resolved.iter().filter(|(file, _)| !rewritten.contains(file)).collect();
        for (file, _) in &updated {
            let sites = self.new.0[file.0 as usize].sites;
            self.lists_of(sites, &mut lists)?;
        }
        let numbering = self.number(&places, &updated)?;
        let mut rows = RowWriter { rows: SqlRows::new(self.connection), figures: Vec::new() };
        rows.names(&numbering.names).and_then(|()| rows.other_names(&numbering))?;
        rows.candidates(&numbering)?;
        for &place in &places {
            let WrittenFile { record, found } = self.amendment.file(FileId::at(place));
            rows.file(&numbering, place, record, found, &FileSites::of(record, found))?;
            let symbols = self.new.0[place].symbols;
            self.run(statements::MARK_NAMES, params![symbols.first, symbols.end()])?;
        }
        for (file, before) in &updated {
            self.update(&mut rows, &numbering, file.0 as usize, before)?;
        }
        let related = self.amendment.related.iter();
        for (file, relations) in related.filter(|(file, _)| !rewritten.contains(file)) {
            let symbols = self.new.0[file.0 as usize].symbols;
            self.run(statements::REMOVE_RELATIONS, params![symbols.first, symbols.end()])?;
            rows.relations(relations, &numbering)?;
        }
        self.references(&rewritten)?;
        self.remove_unused(lists)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let total = |of: fn(&FileKeys) -> u32| {
            self.new.0.iter().map(|keys| u64::from(of(keys))).sum::<u64>()
        };
        self.run(
            statements::SET_META,
            params![
                after.generation,
                i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
                self.new.0.len(),
                total(|keys| keys.symbols.len),
                total(|keys| keys.sites.len),
            ],
        )?;
        Ok(())
    }

    /// Deletes all rows of deleted and rewritten files.
    fn remove_files(&self, places: &[usize], lists: &mut Vec<u32>) -> rusqlite::Result<()> {
        let origins = self.amendment.origins;
        let mut is_left = vec![false; self.old.0.len()];
        origins.iter().flatten().for_each(|&origin| is_left[origin] = true);
        let gone = (0..self.old.0.len()).filter(|&origin| !is_left[origin]);
        for origin in gone.chain(places.iter().filter_map(|&place| origins[place])) {
            let keys = self.old.0[origin];
            self.lists_of(keys.sites, lists)?;
            let ranges =
                [keys.symbols.first, keys.symbols.end(), keys.sites.first, keys.sites.end()];
            self.removed_names.borrow_mut().record(self.connection, ranges)?;
            self.run(statements::REMOVE_FILE, [keys.file])?;
            self.run(statements::REMOVE_FILE_WORDS, [keys.file])?;
            self.run(statements::MARK_WORDS, [keys.file])?;
            self.run(
                statements::REMOVE_RELATIONS,
                params![keys.symbols.first, keys.symbols.end()],
            )?;
            self.run(statements::MARK_NAMES, params![keys.symbols.first, keys.symbols.end()])?;
            self.run(statements::REMOVE_SYMBOLS, params![keys.symbols.first, keys.symbols.end()])?;
            self.run(statements::REMOVE_SITES, params![keys.sites.first, keys.sites.end()])?;
            self.run(statements::REMOVE_SITE_FILES, params![keys.sites.first, keys.sites.end()])?;
            for statement in [
                statements::REMOVE_IMPORTS,
                statements::REMOVE_PROBLEMS,
                statements::REMOVE_FILE_EDGES,
            ] {
                self.run(statement, [keys.file])?;
            }
        }
        Ok(())
    }

    fn lists_of(&self, sites: Range, lists: &mut Vec<u32>) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(statements::LISTS_OF_SITES.text())?;
        let rows =
            statement.query_map(params![sites.first, sites.end()], |row| row.get::<_, u32>(0))?;
        for list in rows {
            lists.push(list?);
        }
        Ok(())
    }

    /// Assigns keys to new names and candidate sets.
    fn number<'g>(
        &'g self,
        places: &[usize],
        updated: &[&'g (FileId, FileResolution)],
    ) -> rusqlite::Result<Numbering<'g>> {
        let of = |part: fn(&FileKeys) -> u32| self.new.0.iter().map(part).collect();
        let mut numbering = Numbering {
            names: Vec::new(),
            symbol_names: 0,
            files: of(|keys| keys.file),
            first_symbols: of(|keys| keys.symbols.first),
            first_sites: of(|keys| keys.sites.first),
            references: vec![Vec::new(); self.new.0.len()],
            candidate_sets: Vec::new(),
            name_keys: FxHashMap::default(),
            set_keys: FxHashMap::default(),
            next_site: 0,
        };
        let mut sets = Sets::default();
        for &place in places {
            numbering.references[place] = self.counts.get(place).to_vec();
            let WrittenFile { record, found } = self.amendment.file(FileId::at(place));
            let Ok(facts) = &record.content else { continue };
            for symbol in &facts.symbols {
                self.name(&mut numbering, name_of(facts, symbol.name))?;
            }
            for site in FileSites::of(record, found).in_order() {
                self.name(&mut numbering, name_of(facts, site.facts.name))?;
                self.target(&mut numbering, &mut sets, &site.resolution.target)?;
            }
            for import in &facts.imports {
                self.name(&mut numbering, &import.module)?;
                self.name(&mut numbering, name_of(facts, import.item))?;
            }
        }
        for (file, before) in updated {
            let after = &self.amendment.file(*file).found;
            for (_, site) in
                before.sites.iter().zip(&after.sites).filter(|(before, after)| before != after)
            {
                self.target(&mut numbering, &mut sets, &site.target)?;
            }
        }
        Ok(numbering)
    }

    fn target<'g>(
        &self,
        numbering: &mut Numbering<'g>,
        sets: &mut Sets,
        target: &'g Target,
    ) -> rusqlite::Result<()> {
        match target {
            Target::External(name) => self.name(numbering, name),
            Target::Candidates(symbols) => self.set(numbering, sets, symbols),
            Target::None | Target::Symbol(_) | Target::File(_) => Ok(()),
        }
    }

    fn name<'g>(&self, numbering: &mut Numbering<'g>, name: &'g str) -> rusqlite::Result<()> {
        if numbering.name_keys.contains_key(name) {
            return Ok(());
        }
        let known = self.removed_names.borrow().key_of(self.connection, self.symbol_names, name)?;
        let key = known.unwrap_or(self.last.name + 1 + numbering.names.len() as u32);
        if known.is_none() {
            numbering.names.push((key, name));
        }
        numbering.name_keys.insert(name, key);
        Ok(())
    }

    fn set<'g>(
        &self,
        numbering: &mut Numbering<'g>,
        sets: &mut Sets,
        symbols: &'g [SymbolRef],
    ) -> rusqlite::Result<()> {
        if numbering.set_keys.contains_key(symbols) {
            return Ok(());
        }
        let mut wanted: Vec<u32> = symbols.iter().map(|symbol| numbering.symbol(*symbol)).collect();
        wanted.sort_unstable();
        let known = sets.find(self.connection, &wanted)?;
        let key = known.unwrap_or(self.last.list + 1 + numbering.candidate_sets.len() as u32);
        if known.is_none() {
            numbering.candidate_sets.push((key, symbols));
        }
        numbering.set_keys.insert(symbols, key);
        Ok(())
    }

    /// Updates changed columns of a file with unchanged facts and stored sites.
    fn update(
        &self,
        rows: &mut RowWriter<SqlRows<'_>>,
        numbering: &Numbering<'_>,
        place: usize,
        before: &FileResolution,
    ) -> rusqlite::Result<()> {
        let WrittenFile { record, found: after } = self.amendment.file(FileId::at(place));
        if before == after {
            return Ok(());
        }
        let file = numbering.file(place);
        let mut counts = [0_u32; Verdict::ALL.len()];
        let stored = FileSites::of(record, after);
        for ((site, key), before) in
            stored.in_order().zip(numbering.first_sites[place]..).zip(stored.like(before))
        {
            counts[site.resolution.verdict as usize] += 1;
            if site.resolution == before || planted(Fault::KeptTarget) {
                continue;
            }
            let (target, target_file) = target(numbering, site.resolution);
            self.run(statements::SET_SITE, params![key, site.mark().pack(), target])?;
            self.run(statements::REMOVE_SITE_FILES, params![key, key + 1])?;
            if let Some(target) = target_file {
                self.run(statements::ADD_SITE_FILE, params![key, target])?;
            }
        }
        self.run(
            statements::SET_COUNTS,
            params![file, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]],
        )?;
        for (number, (before, target)) in before.imports.iter().zip(&after.imports).enumerate() {
            if before != target && !planted(Fault::KeptImports) {
                let target = target.map(|target| numbering.file(target.0 as usize));
                self.run(statements::SET_IMPORT, params![file, number, target])?;
            }
        }
        if planted(Fault::KeptEdges) {
            return Ok(());
        }
        self.run(statements::REMOVE_FILE_EDGES, [file])?;
        let imports = record.content.as_ref().map_or(&[][..], |facts| &facts.imports);
        rows.file_edges(after, numbering, place, &stored, imports)
    }

    /// Updates the reference counts of symbols, except those whose rows are rewritten anyway.
    fn references(&self, rewritten: &FxHashSet<FileId>) -> rusqlite::Result<()> {
        for place in self.counts.places() {
            if rewritten.contains(&FileId(place as u32)) {
                continue;
            }
            for ((old, new), symbol) in self
                .counts
                .before(place)
                .iter()
                .zip(self.counts.get(place))
                .zip(self.new.0[place].symbols.first..)
            {
                if old != new {
                    self.run(statements::SET_REFERENCES, params![symbol, new])?;
                    self.run(statements::MARK_NAMES, params![symbol, symbol + 1])?;
                }
            }
        }
        Ok(())
    }

    fn remove_unused(&self, mut lists: Vec<u32>) -> rusqlite::Result<()> {
        lists.sort_unstable();
        lists.dedup();
        for list in lists {
            let mut used = self.connection.prepare_cached(statements::IS_LIST_USED.text())?;
            if !used.exists([list])? {
                self.run(statements::REMOVE_LIST, [list])?;
            }
        }
        Ok(())
    }
}
