//! What the parts of a question cost, each by itself: names by their letters, symbols by name and
//! by line, sites that lead to a symbol, edges between files. Then the questions that are made of
//! them.
//!
//!     cargo bench --bench query -- [DIRECTORY [CACHE]]
//!
//! Indexes the directory (default: this project) into a temporary cache, or takes what CACHE holds.
//! The arguments of each part are drawn from the store, the same in every run. Nothing is printed
//! before what was answered has been checked.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark stands outside of the program: it prints and reads files"
)]

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cograph::config::Config;
use cograph::index::{self, Run};
use cograph::model::RepoPath;
use cograph::model::cancel::CancelToken;
use cograph::query::{
    OutlineParams, OverviewParams, ReadFile, ReferencesParams, SearchParams, ShowParams,
    TraceParams, outline, overview, references, search, show, trace,
};
use cograph::store::{FileRow, Location, NameParts, Snapshot, Store, SymbolRow};

/// The one of the program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How many different arguments each part gets.
const ROUNDS: usize = 200;

fn main() -> Outcome<()> {
    // cargo adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let root = arguments
        .first()
        .map_or(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new)
        .canonicalize()?;
    let scratch = tempfile::tempdir()?;
    let cache = arguments.get(1).map_or_else(|| scratch.path().to_owned(), PathBuf::from);
    let location = Location::new(&cache, &root);
    let cancel = CancelToken::new();
    if arguments.len() < 2 {
        index::refresh(
            &location,
            Duration::ZERO,
            &Run::quiet(Config::from_environment()?.limits, &cancel),
        )?;
    }
    let start = Instant::now();
    let store = Arc::new(Store::open_newest(&location)?);
    let snapshot = store.snapshot(&cancel)?;
    let opened = start.elapsed();
    let drawn = Drawn::from(&snapshot)?;
    println!(
        "{}: {} symbols, {} references",
        root.display(),
        snapshot.meta().symbols,
        snapshot.meta().sites
    );
    println!("{:<44} {:>10} {:>10} {:>10}", "microseconds", "p50", "p99", "most");
    println!("{:<44} {:>10.1}", "opening the store", micros(opened));
    parts(&snapshot, &drawn)?;
    questions(&snapshot, &drawn, &Disk(&root), &cancel)
}

/// Reads files as they are.
struct Disk<'r>(&'r Path);

impl ReadFile for Disk<'_> {
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path.as_str()))
    }
}

/// The symbols that the queries name.
struct Drawn {
    symbols: Vec<(SymbolRow, FileRow)>,
}

impl Drawn {
    /// Symbols at places that look like chance and are the same in every run.
    fn from(snapshot: &Snapshot) -> Outcome<Self> {
        let files: Vec<FileRow> =
            snapshot.files()?.into_iter().filter(|file| file.symbols > 0).collect();
        let total: u64 = files.iter().map(|file| u64::from(file.symbols)).sum();
        assert!(total > 0, "there are symbols to ask about");
        let (mut state, mut symbols) = (1_u64, Vec::with_capacity(ROUNDS));
        while symbols.len() < ROUNDS {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let mut at = (state >> 33) % total;
            let file = files.iter().find(|file| {
                let is_here = at < u64::from(file.symbols);
                at -= if is_here { 0 } else { u64::from(file.symbols) };
                is_here
            });
            let file = file.ok_or("a place among all symbols is in a file")?;
            let symbol = snapshot
                .symbols_of(file)?
                .into_iter()
                .nth(usize::try_from(at)?)
                .ok_or("a file has its symbols")?;
            // What has no name cannot be asked for by name.
            if !symbol.name_text.trim().is_empty() {
                symbols.push((symbol, file.clone()));
            }
        }
        Ok(Self { symbols })
    }
}

/// Times one call for each of the symbols that were drawn, and prints the figures. `ask` gives how
/// much it found.
fn time(
    what: &str,
    drawn: &Drawn,
    at_least: usize,
    mut ask: impl FnMut(&SymbolRow, &FileRow) -> Outcome<usize>,
) -> Outcome<()> {
    let (mut times, mut found) = (Vec::with_capacity(drawn.symbols.len()), 0);
    for (symbol, file) in &drawn.symbols {
        let start = Instant::now();
        found += black_box(ask(symbol, file)?);
        times.push(start.elapsed());
    }
    assert!(found >= at_least, "{what}: found {found}, expected at least {at_least}");
    times.sort_unstable();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "{what:<44} {:>10.1} {:>10.1} {:>10.1}",
        micros(p50),
        micros(p99),
        micros(times[times.len() - 1])
    );
    Ok(())
}

fn parts(snapshot: &Snapshot, drawn: &Drawn) -> Outcome<()> {
    println!("parts");
    let every = drawn.symbols.len();
    time("names with the letters of a name", drawn, every, |symbol, _| {
        let mut seen = 0;
        snapshot.visit_names(&NameParts::none().or_all_of([&*symbol.name_text]), |name| {
            seen += usize::from(name.text == &*symbol.name_text);
            true
        })?;
        Ok(seen)
    })?;
    time("a name in any case", drawn, every, |symbol, _| {
        Ok(snapshot.names_ignoring_case(&symbol.name_text)?.len())
    })?;
    time("the symbols of a name", drawn, every, |symbol, _| {
        Ok(snapshot.symbol_heads(symbol.name)?.len())
    })?;
    time("a symbol by its key", drawn, every, |symbol, _| {
        Ok(usize::from(snapshot.symbol(symbol.key)?.is_some()))
    })?;
    time("the symbols of a file", drawn, every, |_, file| Ok(snapshot.symbols_of(file)?.len()))?;
    time("the symbols at a line", drawn, every, |symbol, file| {
        Ok(snapshot.symbols_at(file, symbol.name_at.line, symbol.name_at.line)?.len())
    })?;
    time("the sites that lead to a symbol", drawn, 1, |symbol, _| {
        Ok(snapshot.sites_to(symbol.key)?.len())
    })?;
    time("the sites in a symbol", drawn, 1, |symbol, _| Ok(snapshot.sites_in(symbol)?.len()))?;
    time("a file by its path", drawn, every, |_, file| {
        Ok(usize::from(snapshot.file_at(file.path.as_str())?.is_some()))
    })?;
    time("files by the ending of their path", drawn, every, |_, file| {
        Ok(snapshot.path_table()?.ending_with(file.path.as_str()).len())
    })
}

fn questions(
    snapshot: &Snapshot,
    drawn: &Drawn,
    files: &Disk<'_>,
    cancel: &CancelToken,
) -> Outcome<()> {
    println!("questions");
    let every = drawn.symbols.len();
    let place =
        |symbol: &SymbolRow, file: &FileRow| format!("{}:{}", file.path, symbol.name_at.line);
    let search_for = |text: String| -> Outcome<usize> {
        Ok(search(snapshot, &SearchParams { text, ..SearchParams::default() }, cancel)?.hits.len())
    };
    time("search: a name", drawn, every, |symbol, _| search_for(symbol.name_text.to_string()))?;
    time("search: the middle of a name", drawn, every, |symbol, _| {
        let letters: Vec<char> = symbol.name_text.chars().collect();
        let middle: String = letters[letters.len() / 4..letters.len().div_ceil(2)].iter().collect();
        search_for(if middle.trim().is_empty() { symbol.name_text.to_string() } else { middle })
    })?;
    time("search: a name and a directory", drawn, 1, |symbol, file| {
        search_for(format!(
            "{} {}",
            symbol.name_text,
            file.path.as_str().split('/').next().unwrap_or_default()
        ))
    })?;
    time("show: by place", drawn, every, |symbol, file| {
        Ok(show(
            snapshot,
            files,
            &ShowParams { targets: vec![place(symbol, file)], ..ShowParams::default() },
            cancel,
        )?
        .items
        .len())
    })?;
    time("references: by place", drawn, 0, |symbol, file| {
        let params =
            ReferencesParams { symbol: place(symbol, file), ..ReferencesParams::default() };
        Ok(references(snapshot, &params, cancel)?.files.len())
    })?;
    for depth in [1, 3, 5] {
        time(&format!("trace: callers, depth {depth}"), drawn, 0, |symbol, file| {
            let params =
                TraceParams { symbol: place(symbol, file), depth, ..TraceParams::default() };
            trace(snapshot, &params, cancel).map(|_| 1).map_err(Into::into)
        })?;
    }
    time("outline: a file", drawn, every, |_, file| {
        let params = OutlineParams { path: file.path.to_string(), ..OutlineParams::default() };
        outline(snapshot, &params, cancel).map(|_| 1).map_err(Into::into)
    })?;
    let start = Instant::now();
    let whole = overview(snapshot, &OverviewParams::default(), cancel)?;
    assert!(!whole.languages.is_empty(), "code has a language");
    println!("{:<44} {:>10.1}", "overview", micros(start.elapsed()));
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
