//! `cograph export`: parts of the graph for other programs, read from the store.

mod drawing;
mod parquet;
mod scip;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::json;

use crate::ask;
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_index::IndexError;
use cograph_model::facts::flags;
use cograph_model::{SiteKind, Span, SymbolKind, Verdict};
use cograph_server::Unavailable;
use cograph_store::{FileKey, FileRow, SiteRow, Snapshot, StoreError, SymbolKey, SymbolRow};

/// Subcommand.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Every pair of caller and callee, one JSON object a line
    Calls(RootArgument),
    /// Modules, the neighbourhood of a symbol, or a path, for Graphviz
    Dot(drawing::DrawingArguments),
    /// The same for Mermaid, which draws it inside of Markdown
    Mermaid(drawing::DrawingArguments),
    /// Files, symbols, references, calls, imports, relations and packages as Parquet tables
    Parquet(parquet::ParquetArguments),
    /// Definitions, references, relations and names outside of the repository as a SCIP index
    Scip(scip::ScipArguments),
}

pub(crate) fn run(config: &Config, command: &Command) -> Result<(), Stop> {
    let root = match command {
        Command::Calls(root) => root,
        Command::Dot(arguments) => {
            return drawing::run(config, arguments, drawing::Language::Dot);
        }
        Command::Mermaid(arguments) => {
            return drawing::run(config, arguments, drawing::Language::Mermaid);
        }
        Command::Parquet(arguments) => return parquet::run(config, arguments),
        Command::Scip(arguments) => return scip::run(config, arguments),
    };
    let repositories = ask::repositories(config, root.repository(config)?.root);
    let person = ask::TerminalHost::new();
    let snapshot = repositories.up_to_date_snapshot(&person)?;
    drop(person);
    let mut calls = Calls::new(&snapshot)?;
    for place in 0..calls.files.len() {
        let lines = calls.of_file(place)?;
        to_stdout(|out| out.write_all(lines.as_bytes()))?;
    }
    Ok(())
}

/// Reads caller-callee pairs from a store, in the order of files and positions.
struct Calls<'s> {
    snapshot: &'s Snapshot,
    /// By path; keys of later files are not in this order.
    files: Vec<FileRow>,
    places: BTreeMap<FileKey, usize>,
    /// Memo of callees: most are called from several files.
    callees: BTreeMap<SymbolKey, Callee>,
}

/// Callee.
struct Callee {
    /// Index of its file.
    file: usize,
    name: Box<str>,
    line: u32,
    kind: SymbolKind,
}

/// Enclosing function of a call, none at the top level; and the callee, with the index of its file.
type Pair = (Option<SymbolKey>, (usize, SymbolKey));

impl<'s> Calls<'s> {
    fn new(snapshot: &'s Snapshot) -> Result<Self, StoreError> {
        let files = snapshot.files()?;
        let places = files.iter().enumerate().map(|(place, file)| (file.key, place)).collect();
        Ok(Self { snapshot, files, places, callees: BTreeMap::new() })
    }

    /// Output lines of the callers in a file.
    fn of_file(&mut self, place: usize) -> Result<String, StoreError> {
        let file = &self.files[place];
        let mut sites = self.snapshot.sites_of(file)?;
        sites.retain(is_call);
        if sites.is_empty() {
            return Ok(String::new());
        }
        let symbols = Symbols { first: file.first_symbol, rows: self.snapshot.symbols_of(file)? };
        let best = self.best_of_each_pair(&symbols, sites)?;
        let mut lines = String::new();
        for ((caller, (_, callee)), call) in best {
            let (caller, callee) =
                (caller.and_then(|caller| symbols.get(caller)), &self.callees[&callee]);
            // An unnamed symbol cannot be identified.
            if !callee.name.is_empty() {
                let _ = writeln!(lines, "{}", self.line(place, caller, callee, &call));
            }
        }
        Ok(lines)
    }

    /// The best call of each pair: the first site with the strongest verdict.
    fn best_of_each_pair(
        &mut self,
        symbols: &Symbols,
        sites: Vec<SiteRow>,
    ) -> Result<BTreeMap<Pair, SiteRow>, StoreError> {
        let mut best: BTreeMap<Pair, SiteRow> = BTreeMap::new();
        for site in sites {
            for callee in self.snapshot.targets(&site)? {
                let Some(callee_file) = self.meet(callee)? else { continue };
                let pair = (symbols.caller(&site), (callee_file, callee));
                match best.get_mut(&pair) {
                    Some(known) if known.verdict <= site.verdict => {}
                    Some(known) => *known = site.clone(),
                    None => drop(best.insert(pair, site.clone())),
                }
            }
        }
        Ok(best)
    }

    /// Looks up a callee; returns the index of its file.
    fn meet(&mut self, callee: SymbolKey) -> Result<Option<usize>, StoreError> {
        if let Some(known) = self.callees.get(&callee) {
            return Ok(Some(known.file));
        }
        let Some(row) = self.snapshot.symbol(callee)? else { return Ok(None) };
        let Some(&file) = self.places.get(&row.file) else { return Ok(None) };
        // A conversion to an alias calls nothing.
        if row.kind == SymbolKind::TypeAlias {
            return Ok(None);
        }
        self.callees.insert(
            callee,
            Callee { file, name: row.name_text, line: row.name_at.line, kind: row.kind },
        );
        Ok(Some(file))
    }

    fn line(
        &self,
        caller_file: usize,
        caller: Option<&SymbolRow>,
        callee: &Callee,
        call: &SiteRow,
    ) -> String {
        let caller = caller.filter(|caller| !caller.name_text.is_empty());
        let mut line = json!({
            "caller_file": self.files[caller_file].path.as_str(),
            "caller_name": caller.map_or("<module>", |caller| &caller.name_text),
            "caller_line": caller.map_or(0, |caller| caller.name_at.line),
        });
        if caller.is_none() {
            line["module"] = true.into();
        }
        let kind = if callee.kind == SymbolKind::Macro { "macro" } else { call.kind.word() };
        line["callee_file"] = self.files[callee.file].path.as_str().into();
        line["callee_name"] = callee.name.as_ref().into();
        line["callee_line"] = callee.line.into();
        line["kind"] = kind.into();
        line["site_line"] = call.at.line.into();
        line["verdict"] = call.verdict.word().into();
        line["step"] = call.step.word().into();
        line.to_string()
    }
}

/// True for a resolved or likely call or construction.
fn is_call(site: &SiteRow) -> bool {
    let is_call = matches!(site.kind, SiteKind::Call | SiteKind::Construct);
    is_call && matches!(site.verdict, Verdict::Resolved | Verdict::Likely)
}

/// Symbols of one file, by start position.
struct Symbols {
    /// Key of the first.
    first: u32,
    rows: Vec<SymbolRow>,
}

impl Symbols {
    fn place(&self, key: SymbolKey) -> Option<usize> {
        let place = key.0.checked_sub(self.first)? as usize;
        (place < self.rows.len()).then_some(place)
    }

    fn get(&self, key: SymbolKey) -> Option<&SymbolRow> {
        self.place(key).map(|place| &self.rows[place])
    }

    /// Innermost named function around a site, which includes closures and local values.
    fn caller(&self, site: &SiteRow) -> Option<SymbolKey> {
        let mut around = self.place(site.enclosing?);
        while let Some(place) = around {
            let symbol = &self.rows[place];
            let is_code = symbol.kind.is_callable() || symbol.kind == SymbolKind::Test;
            if is_code || symbol.flags & flags::FUNCTION_VALUE != 0 {
                return Some(symbol.key);
            }
            around = self.written_in(place);
        }
        None
    }

    /// Lexically enclosing symbol. Differs from the container for a member defined outside of its
    /// type's body.
    fn written_in(&self, place: usize) -> Option<usize> {
        let symbol = &self.rows[place];
        let is_around =
            |outer: &usize| *outer < place && encloses(&self.rows[*outer].extent, &symbol.extent);
        let container = self.place(symbol.container?);
        container.filter(is_around).or_else(|| (0..place).rev().find(is_around))
    }
}

fn encloses(outer: &Span, inner: &Span) -> bool {
    outer.start_byte <= inner.start_byte && inner.end_byte <= outer.end_byte
}

impl From<Unavailable> for Stop {
    fn from(Unavailable { what, hint }: Unavailable) -> Self {
        Self::Failure { message: what, hint }
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        IndexError::from(error).into()
    }
}
