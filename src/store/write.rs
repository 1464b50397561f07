//! A graph becomes the next generation: written beside the others under a temporary name, synced, renamed into place.
//!
//! Nobody sees the file before it is whole, so that it needs no journal; whoever reads an older generation keeps reading it.

mod amend;
mod counted;
mod known;
mod numbering;

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{CachedStatement, Connection, params};

pub use self::amend::{Amendment, Keys, Places, carry_over};
pub use self::numbering::Outline;
use self::numbering::{FileNames, FileSites, Numbering, Texts, name_of};
use super::blocks;
use super::connection::Store;
use super::error::{StoreError, StoreErrorKind};
use super::location::{Location, WriterLock};
use super::packed::{Traits, pack_signature};
use super::rows::Identity;
use super::schema::{APPLICATION_ID, FORMAT, INDEXES, TABLES, file_flags, words};
use super::statements::{self, Statement};
use super::views::VIEWS;
use crate::model::Verdict;
use crate::model::facts::{FileFacts, LocalSymbol};
use crate::model::graph::{FileRecord, FileResolution, Graph, Resolution, SymbolRef, Target};

const PAGE_SIZE: u64 = 4_096;

/// What a build says about itself.
#[derive(Clone, Copy, Debug)]
pub struct BuildInfo<'a> {
    /// The names of the languages, by `LanguageId`.
    pub languages: &'a [&'a str],
    /// Stands for the rules that made the facts.
    pub fingerprint: u64,
    /// When the build began: its duration is stored.
    pub started: Instant,
    /// The largest file that may be made, if there is a bound: beyond it the build fails as on a full disk.
    pub max_bytes: Option<u64>,
}

/// A generation that is in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Published {
    /// Which store and state it is.
    pub identity: Identity,
    /// Its file.
    pub path: PathBuf,
    /// Size of the file.
    pub bytes: u64,
}

impl Published {
    /// A store that was changed in place.
    pub fn in_place(identity: Identity, path: PathBuf) -> Result<Self, StoreError> {
        let file = fs::metadata(&path).map_err(|error| StoreError::from_io("looking at store", &path, &error))?;
        Ok(Self { identity, path, bytes: file.len() })
    }

    /// Whether the file was made for this state; else an earlier one was changed in place.
    pub fn is_whole(&self, location: &Location) -> bool {
        self.path == location.generation_path(self.identity.generation)
    }
}

/// Writes `graph` as the repository's next generation; see [`publish_files`].
pub fn publish(lock: &WriterLock, graph: &Graph, info: &BuildInfo<'_>) -> Result<Published, StoreError> {
    lock.remove_leftovers();
    let files = graph.files.iter().enumerate().map(|(place, record)| {
        let found = graph.resolutions.get(place).cloned().unwrap_or_default();
        Ok((record.clone(), found))
    });
    publish_files(lock, Outline::of(graph), files, info)
}

/// Writes files as the repository's next generation and removes those that it supersedes. On failure everything is as before.
/// The files come in order, one at a time: more than one is not needed.
pub fn publish_files(
    lock: &WriterLock,
    outline: Outline,
    files: impl Iterator<Item = Result<(FileRecord, FileResolution), StoreError>>,
    info: &BuildInfo<'_>,
) -> Result<Published, StoreError> {
    let location = lock.location();
    let generation = next_generation(location)?;
    let temporary = location.temporary_path(generation);
    let identity = Identity { uid: random_number(), generation };
    let path = location.generation_path(generation);
    let result = build((&temporary, location.root()), identity, (outline, files), info).and_then(|bytes| {
        put_in_place(&temporary, &path, location.directory())?;
        Ok(Published { identity, path, bytes })
    });
    if result.is_ok() {
        lock.remove_superseded(generation);
    } else {
        // The failure is what the caller must hear of; a leftover is removed by the next writer.
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Higher than that of every file, and than the state that the newest one is in.
fn next_generation(location: &Location) -> Result<u64, StoreError> {
    let newest = location.generations()?.first().copied().unwrap_or(0);
    let state = Store::open_newest(location).map_or(0, |store| store.identity().generation);
    Ok(newest.max(state) + 1)
}

pub(super) fn put_in_place(temporary: &Path, path: &Path, directory: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_io("publishing store", path, &error);
    fs::rename(temporary, path).map_err(failed)?;
    // The name is durable only when the directory is.
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(failed)
}

/// Writes everything and gives the size of the file, which is on the disk by then.
fn build(
    (path, root): (&Path, &Path),
    identity: Identity,
    (outline, files): (Outline, impl Iterator<Item = Result<(FileRecord, FileResolution), StoreError>>),
    info: &BuildInfo<'_>,
) -> Result<u64, StoreError> {
    let io = |error| StoreError::from_io(WRITING, path, &error);
    let sqlite = |error| StoreError::from_sqlite(WRITING, path, &error);
    // Created here rather than by SQLite, which does not say why it cannot.
    let file = File::options().create(true).truncate(true).read(true).write(true).open(path).map_err(io)?;
    let connection = begin(path, info).map_err(sqlite)?;
    let too_large = |detail: String| StoreError::new(StoreErrorKind::TooLarge, WRITING, path, detail);
    let texts = Texts::default();
    let mut numbering = Numbering::new(outline, &texts).map_err(too_large)?;
    let mut rows = RowWriter { connection: &connection, figures: vec![(0, 0); numbering.symbol_names] };
    rows.vocabulary(info.languages).map_err(sqlite)?;
    rows.names(&numbering.names).map_err(sqlite)?;
    let (mut site_total, mut written) = (0_u64, numbering.names.len());
    for (place, file) in files.enumerate() {
        let (record, found) = file?;
        let sites = FileSites::of(&record, &found);
        numbering.take_in(&texts, (&record, &found), &sites).map_err(too_large)?;
        rows.names(&numbering.names[written..]).map_err(sqlite)?;
        written = numbering.names.len();
        site_total += u64::from(rows.file(&numbering, place, (&record, &found), &sites).map_err(sqlite)?);
    }
    finish(rows, (root, identity), (&numbering, site_total), info).map_err(sqlite)?;
    connection.close().map_err(|(_, error)| sqlite(error))?;
    file.sync_all().map_err(io)?;
    Ok(file.metadata().map_err(io)?.len())
}

const WRITING: &str = "writing store";

/// Makes the tables, in a transaction.
fn begin(path: &Path, info: &BuildInfo<'_>) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(statements::WRITER_SETTINGS)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    if let Some(bytes) = info.max_bytes {
        let pages = i64::try_from(bytes / PAGE_SIZE).unwrap_or(i64::MAX).max(1);
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    connection.execute_batch("BEGIN")?;
    connection.execute_batch(TABLES)?;
    for view in VIEWS {
        connection.execute_batch(&view.create())?;
    }
    Ok(connection)
}

/// Writes what all files together say, and ends the transaction.
fn finish(
    rows: RowWriter<'_>,
    (root, identity): (&Path, Identity),
    (numbering, site_total): (&Numbering<'_>, u64),
    info: &BuildInfo<'_>,
) -> rusqlite::Result<()> {
    let connection = rows.connection;
    rows.other_names(numbering)?;
    rows.candidates(numbering)?;
    rows.name_runs(numbering)?;
    connection.execute_batch(INDEXES)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rows.prepare(statements::ADD_META)?.execute(params![
        signed(identity.uid),
        identity.generation,
        signed(info.fingerprint),
        root.as_os_str().as_bytes(),
        i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
        i64::try_from(info.started.elapsed().as_nanos()).unwrap_or(i64::MAX),
        numbering.files.len(),
        numbering.symbol_total(),
        site_total,
        numbering.symbol_names,
    ])?;
    connection.execute_batch("COMMIT")?;
    // From here on the file may be changed while it is read.
    connection.execute_batch(statements::SHARED_SETTINGS)
}

/// Puts rows into the tables.
struct RowWriter<'c> {
    connection: &'c Connection,
    /// By key: how many symbols have a name, and how often the one that is used most is referred to. As far as it is wanted.
    figures: Vec<(u32, u32)>,
}

impl<'c> RowWriter<'c> {
    fn prepare(&self, statement: Statement) -> rusqlite::Result<CachedStatement<'c>> {
        self.connection.prepare_cached(statement.text())
    }

    fn vocabulary(&self, languages: &[&str]) -> rusqlite::Result<()> {
        let mut add = self.prepare(statements::ADD_WORD)?;
        for (id, word) in words() {
            add.execute(params![id, word])?;
        }
        let mut add = self.prepare(statements::ADD_LANGUAGE)?;
        for (id, name) in languages.iter().enumerate() {
            add.execute(params![id, name])?;
        }
        Ok(())
    }

    fn names(&self, names: &[(u32, &str)]) -> rusqlite::Result<()> {
        let mut add = self.prepare(statements::ADD_NAME)?;
        for (key, name) in names {
            add.execute(params![key, name])?;
        }
        Ok(())
    }

    /// Writes once more the names that no symbol has.
    fn other_names(&self, numbering: &Numbering<'_>) -> rusqlite::Result<()> {
        let mut others: Vec<_> = numbering.names[numbering.symbol_names..].iter().collect();
        // In the order of the table.
        others.sort_unstable_by(|(_, one), (_, other)| blocks::order(one, other));
        let mut add = self.prepare(statements::ADD_OTHER_NAME)?;
        for (key, name) in others {
            add.execute(params![name, key])?;
        }
        Ok(())
    }

    /// Writes the names of symbols once more, as a search goes through them.
    fn name_runs(&self, numbering: &Numbering<'_>) -> rusqlite::Result<()> {
        let mut add = self.prepare(statements::ADD_NAME_RUN)?;
        let mut packer = blocks::Packer::default();
        let mut full = 0_u32;
        let mut write = |run: Option<Vec<u8>>| -> rusqlite::Result<()> {
            if let Some(run) = run {
                full += 1;
                add.execute(params![full, run])?;
            }
            Ok(())
        };
        for ((_, name), &(symbols, references)) in numbering.names.iter().zip(&self.figures) {
            write(packer.add(name, symbols, references))?;
        }
        write(packer.finish_run())?;
        let mut add = self.prepare(statements::ADD_NAME_GRAM)?;
        for (letters, runs) in packer.into_grams() {
            add.execute(params![letters, runs])?;
        }
        Ok(())
    }

    fn candidates(&self, numbering: &Numbering<'_>) -> rusqlite::Result<()> {
        let mut add = self.prepare(statements::ADD_CANDIDATE)?;
        for (set, symbols) in &numbering.candidate_sets {
            for &symbol in *symbols {
                add.execute(params![set, numbering.symbol(symbol)])?;
            }
        }
        Ok(())
    }

    /// Writes a file with everything in it; gives the number of its sites.
    fn file(
        &mut self,
        numbering: &Numbering<'_>,
        place: usize,
        (record, found): (&FileRecord, &FileResolution),
        sites: &FileSites<'_>,
    ) -> rusqlite::Result<u32> {
        let file = numbering.file(place);
        let first_site = numbering.first_sites[place];
        let mut verdicts = [0_u32; Verdict::ALL.len()];
        for site in sites.in_order() {
            verdicts[site.resolution.verdict as usize] += 1;
        }
        let (facts, skipped) = match &record.content {
            Ok(facts) => (Some(facts), None),
            Err(reason) => (None, Some(*reason as u8)),
        };
        let flags = facts
            .map_or(0, |facts| i64::from(facts.generated) * file_flags::GENERATED + i64::from(facts.test) * file_flags::TEST);
        let hash = Some(record.stamp.hash).filter(|&hash| hash != 0).map(u128::to_be_bytes);
        self.prepare(statements::ADD_FILE)?.execute(params![
            file,
            record.path.as_str(),
            record.language.map(|language| language.0),
            record.stamp.size,
            record.stamp.modified_ns,
            hash,
            facts.map_or(0, |facts| facts.lines),
            skipped,
            flags,
            numbering.first_symbols[place],
            facts.map_or(0, |facts| facts.symbols.len()),
            first_site,
            sites.len(),
            verdicts[0],
            verdicts[1],
            verdicts[2],
            verdicts[3],
            verdicts[4],
        ])?;
        let Some(facts) = facts else { return Ok(0) };
        let mut names = FileNames::new(facts);
        self.symbols(numbering, place, (facts, &found.containers), sites, &mut names)?;
        self.sites(numbering, place, sites, &mut names)?;
        self.imports_and_problems(found, numbering, place, (facts, &mut names))?;
        relations(self, found, numbering)?;
        file_edges(self, found, numbering, place, sites)?;
        Ok(sites.len())
    }

    /// Writes the symbols of a file. `containers` has the types of members that are defined outside of their type's body.
    fn symbols(
        &mut self,
        numbering: &Numbering<'_>,
        place: usize,
        (facts, containers): (&FileFacts, &[(LocalSymbol, SymbolRef)]),
        sites: &FileSites<'_>,
        names: &mut FileNames<'_>,
    ) -> rusqlite::Result<()> {
        let first = numbering.first_symbols[place];
        let spans = sites.spans(facts.symbols.len());
        let mut add = self.prepare(statements::ADD_SYMBOL)?;
        for ((key, symbol), span) in (first..).zip(&facts.symbols).zip(spans) {
            let written_in = symbol.container.get().map(|container| first + u32::try_from(container).unwrap_or(u32::MAX));
            let member = LocalSymbol(key - first);
            let container = match containers.binary_search_by_key(&member, |&(member, _)| member) {
                Ok(found) => Some(numbering.symbol(containers[found].1)),
                Err(_) => written_in,
            };
            let (name, references) = (numbering.name_in(names, symbol.name), numbering.references(place, member));
            if let Some((symbols, most)) = self.figures.get_mut(name as usize - 1) {
                *symbols += 1;
                *most = references.max(*most);
            }
            let traits = Traits { visibility: symbol.visibility, kind: symbol.kind, flags: symbol.flags };
            let extent = &symbol.extent;
            add.execute(params![
                key,
                numbering.file(place),
                name,
                traits.pack(),
                container,
                symbol.arity.0,
                symbol.arity.1,
                extent.start.line,
                extent.start.column,
                i64::from(extent.end.line) - i64::from(extent.start.line),
                extent.end.column,
                extent.start_byte,
                extent.end_byte.saturating_sub(extent.start_byte),
                i64::from(symbol.name_at.line) - i64::from(extent.start.line),
                symbol.name_at.column,
                pack_signature(&symbol.signature, name_of(facts, symbol.name)),
                &*symbol.doc,
                references,
                // Most symbols have no sites of their own: nothing takes less room than 0.
                if span.len == 0 { 0 } else { numbering.first_sites[place] + span.start },
                span.len,
            ])?;
        }
        Ok(())
    }

    fn sites(
        &self,
        numbering: &Numbering<'_>,
        place: usize,
        sites: &FileSites<'_>,
        names: &mut FileNames<'_>,
    ) -> rusqlite::Result<()> {
        let first_symbol = numbering.first_symbols[place];
        let mut add = self.prepare(statements::ADD_SITE)?;
        let mut add_file = self.prepare(statements::ADD_SITE_FILE)?;
        for (key, site) in (numbering.first_sites[place]..).zip(sites.in_order()) {
            let (target, target_file) = self.target(numbering, site.resolution);
            add.execute(params![
                key,
                numbering.file(place),
                site.facts.enclosing.get().map(|enclosing| first_symbol as usize + enclosing),
                numbering.name_in(names, site.facts.name),
                site.mark().pack(),
                site.facts.at.column,
                target,
            ])?;
            if let Some(target) = target_file {
                add_file.execute(params![key, target])?;
            }
        }
        Ok(())
    }

    /// The key of what a site leads to, and of the file that it leads to as a whole.
    fn target(&self, numbering: &Numbering<'_>, resolution: &Resolution) -> (Option<i64>, Option<u32>) {
        match &resolution.target {
            Target::None => (None, None),
            Target::File(file) => (None, Some(numbering.file(file.0 as usize))),
            Target::Symbol(symbol) => (Some(numbering.symbol(*symbol).into()), None),
            Target::Candidates(symbols) => (Some(-i64::from(numbering.candidate_set(symbols))), None),
            Target::External(name) => (Some(numbering.name(name).into()), None),
        }
    }

    fn imports_and_problems(
        &self,
        found: &FileResolution,
        numbering: &Numbering<'_>,
        place: usize,
        (facts, names): (&FileFacts, &mut FileNames<'_>),
    ) -> rusqlite::Result<()> {
        let file = numbering.file(place);
        let mut add = self.prepare(statements::ADD_IMPORT)?;
        for (number, import) in facts.imports.iter().enumerate() {
            let target = found.imports.get(number).copied().flatten().map(|target| numbering.file(target.0 as usize));
            let module = numbering.name(&import.module);
            let (level, line, column) = (import.level, import.at.line, import.at.column);
            let item = import.item.is_some().then(|| numbering.name_in(names, import.item));
            add.execute(params![file, number, module, level, item, line, column, target])?;
        }
        let mut add = self.prepare(statements::ADD_PROBLEM)?;
        for (number, problem) in facts.problems.iter().enumerate() {
            add.execute(params![file, number, problem.kind as u8, problem.first_line, problem.last_line])?;
        }
        Ok(())
    }
}

/// Writes the relations that start in a file.
fn relations(rows: &RowWriter<'_>, found: &FileResolution, numbering: &Numbering<'_>) -> rusqlite::Result<()> {
    let mut add = rows.prepare(statements::ADD_RELATION)?;
    let mut relations = found.relations.clone();
    relations.dedup();
    for relation in relations {
        let ends = (numbering.symbol(relation.from), numbering.symbol(relation.to));
        add.execute(params![ends.0, relation.kind as u8, ends.1])?;
    }
    Ok(())
}

/// Writes which other files a file leads to.
fn file_edges(
    rows: &RowWriter<'_>,
    found: &FileResolution,
    numbering: &Numbering<'_>,
    place: usize,
    sites: &FileSites<'_>,
) -> rusqlite::Result<()> {
    let mut add = rows.prepare(statements::ADD_FILE_EDGE)?;
    for (target, weight) in sites.file_edges(found, place) {
        add.execute(params![numbering.file(place), numbering.file(target), weight])?;
    }
    Ok(())
}

/// SQLite's integers are signed: the same bits.
fn signed(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

/// A number that no other store has. The standard library seeds its hashers from the system's randomness.
fn random_number() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
