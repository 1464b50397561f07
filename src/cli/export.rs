//! `cograph export`: parts of the graph as JSON lines for other programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::json::Object;
use super::output::to_stdout;
use super::{RootArgument, Stop};
use crate::config::Config;
use crate::index::{self, Run};
use crate::model::cancel::CancelToken;
use crate::model::facts::{FileFacts, LocalSymbol, Site, Symbol, flags};
use crate::model::graph::{FileId, FileRecord, Graph, Resolution, SymbolRef, Target};
use crate::model::{SiteKind, SymbolKind, Verdict};

/// What is exported.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Every pair of caller and callee, one JSON object a line
    Calls(RootArgument),
}

pub(super) fn run(config: &Config, command: &Command) -> Result<(), Stop> {
    let Command::Calls(root) = command;
    let repository = root.repository(config)?;
    let (graph, _) = index::build_graph(&repository.root, &Run::quiet(config.limits, &CancelToken::new()))?;
    let calls = calls(&graph);
    to_stdout(|out| calls.iter().try_for_each(|(pair, call)| write_call(out, &graph, *pair, call)))
}

/// The function around a site, or the file where there is none; and what it calls.
type Pair = ((FileId, Option<LocalSymbol>), SymbolRef);

/// The best-proven call of a pair: the first site with the strongest verdict.
struct Call {
    kind: SiteKind,
    line: u32,
    verdict: Verdict,
    step: &'static str,
}

/// Calls and constructions that are resolved or likely, one entry a pair.
fn calls(graph: &Graph) -> BTreeMap<Pair, Call> {
    let mut calls = BTreeMap::new();
    for (position, (file, resolution)) in graph.files.iter().zip(&graph.resolutions).enumerate() {
        let Ok(facts) = &file.content else { continue };
        let id = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
        for (site, resolved) in facts.sites.list().iter().zip(&resolution.sites) {
            if let Some((callee, call)) = call(site, resolved) {
                let entry = calls.entry(((id, caller(facts, site)), callee));
                entry
                    .and_modify(|known: &mut Call| {
                        if call.verdict < known.verdict {
                            *known = call_copy(&call)
                        }
                    })
                    .or_insert(call);
            }
        }
    }
    calls
}

fn call(site: &Site, resolution: &Resolution) -> Option<(SymbolRef, Call)> {
    let Target::Symbol(callee) = resolution.target else { return None };
    let is_call = matches!(site.kind, SiteKind::Call | SiteKind::Construct);
    let is_known = matches!(resolution.verdict, Verdict::Resolved | Verdict::Likely);
    let call = Call { kind: site.kind, line: site.at.line, verdict: resolution.verdict, step: resolution.step.word() };
    (is_call && is_known).then_some((callee, call))
}

fn call_copy(call: &Call) -> Call {
    Call { ..*call }
}

/// The innermost function around a site: closures and local values belong to the named function around them.
fn caller(facts: &FileFacts, site: &Site) -> Option<LocalSymbol> {
    let mut around = site.enclosing;
    while let Some(position) = around.get() {
        let symbol = &facts.symbols[position];
        let is_code = symbol.kind.is_callable() || symbol.kind == SymbolKind::Test;
        if is_code || symbol.flags & flags::FUNCTION_VALUE != 0 {
            return Some(around);
        }
        around = symbol.container;
    }
    None
}

fn write_call(out: &mut impl Write, graph: &Graph, ((file, caller), callee): Pair, call: &Call) -> io::Result<()> {
    let caller_file = &graph.files[file.0 as usize];
    let callee_file = &graph.files[callee.file.0 as usize];
    let mut line = Object::new().text("caller_file", caller_file.path.as_str());
    line = match caller.and_then(|caller| symbol(caller_file, caller)) {
        Some((name, caller)) => line.text("caller_name", name).number("caller_line", u64::from(caller.name_at.line)),
        None => line.text("caller_name", "<module>").number("caller_line", 0).boolean("module", true),
    };
    let Some((name, target)) = symbol(callee_file, callee.symbol) else { return Ok(()) };
    let kind = if target.kind == SymbolKind::Macro { "macro" } else { call.kind.word() };
    let line = line
        .text("callee_file", callee_file.path.as_str())
        .text("callee_name", name)
        .number("callee_line", u64::from(target.name_at.line))
        .text("kind", kind)
        .number("site_line", u64::from(call.line))
        .text("verdict", call.verdict.word())
        .text("step", call.step);
    writeln!(out, "{}", line.finish())
}

fn symbol(file: &FileRecord, symbol: LocalSymbol) -> Option<(&str, &Symbol)> {
    let facts = file.content.as_ref().ok()?;
    let symbol = facts.symbols.get(symbol.get()?)?;
    Some((facts.names.get(symbol.name.get()?)?, symbol))
}
