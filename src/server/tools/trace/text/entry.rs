//! Entries of a trace: names, sites, and how a caller or callee is written.

use crate::answers::render::TOP;
use crate::answers::render::{name, path, place};
use crate::base::escape::SafeLine;
use cograph_query::trace::{TraceEnd, TraceNode};
use cograph_query::{SiteInfo, SymbolInfo};

/// `Container.name (path:12)`.
pub(crate) fn named(symbol: &SymbolInfo) -> String {
    format!("{} ({})", name(symbol), place(symbol))
}

/// File and text of a node: a caller as `name:line,line`, a callee as `name:line at line`.
pub(crate) fn entry_text(node: &TraceNode, callers: bool, most: usize) -> (String, String) {
    let at = site_lines(&node.sites, most);
    match &node.end {
        TraceEnd::Symbol(symbol) => {
            let (file, who) = (path(&symbol.path).to_string(), name(symbol));
            let text = if callers {
                format!("{who}:{at}")
            } else {
                format!("{who}:{} at {at}", symbol.name_at.line)
            };
            (file, text)
        }
        TraceEnd::File(file) => (path(file).to_string(), format!("{TOP}:{at}")),
        TraceEnd::External(external) => {
            ("outside".to_owned(), format!("{} at {at}", SafeLine::new(external, 160)))
        }
    }
}

/// `12,34`, with ` +5 more` for the lines beyond `most`.
pub(crate) fn site_lines(sites: &[SiteInfo], most: usize) -> String {
    let mut lines: Vec<String> = sites.iter().map(|site| site.at.line.to_string()).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(most);
    lines.truncate(most);
    let first = lines.join(",");
    if more > 0 { format!("{first} +{more} more") } else { first }
}
