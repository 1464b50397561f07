//! Rendering of a result without uses: other evidence of use, such as uses as a value and
//! occurrences of the name in text.

use super::{Groups, grouped, like_it, merged, name, path, plural};
use crate::query::{Elsewhere, SymbolInfo};
use crate::server::answers::budget::Page;
use crate::server::answers::reply;
use crate::server::answers::{Answer, UnusedSymbol};
use crate::server::base::escape::SafeLine;
use serde_json::Value;

/// Divisor: share of the answer for lines with the name. More of them are rarely more evidence.
const LINES_PART: usize = 8;

/// Result without uses of a symbol, and other evidence of use.
pub(in crate::server) struct Unused<A> {
    /// Kind of the uses, in the plural.
    pub(in crate::server) what: &'static str,
    /// Symbol.
    pub(in crate::server) symbol: SymbolInfo,
    /// Number of symbols that share the result.
    pub(in crate::server) alike: usize,
    /// Number of uses with an uncertain target.
    pub(in crate::server) possible: u64,
    /// Result.
    pub(in crate::server) answer: A,
    /// Other evidence of use.
    pub(in crate::server) elsewhere: Elsewhere,
}

impl<A: Answer> Answer for Unused<A> {
    fn render(&self, page: &mut Page) -> String {
        let first = self.answer.render(page);
        let Elsewhere { values, lines, aliases, unsearched, not_read } = &self.elsewhere;
        let mut said: Vec<String> = Vec::new();
        if let Some(language) = not_read {
            said.push(format!(
                "references of {} are not read, only definitions",
                SafeLine::new(language, 40)
            ));
            page.note("`grep` with `word` finds the name in all files");
        }
        if !values.is_empty() {
            said.push(format!("used without a call at {}", plural(values.len() as u64, "place")));
            page.add("used without a call; what takes the value may call it:");
            let places = values.iter().map(|value| {
                let around = value
                    .enclosing
                    .as_ref()
                    .map_or_else(|| "(top)".to_owned(), |symbol| name(symbol).to_string());
                (
                    path(&value.site.path).to_string(),
                    format!("{} {around}", value.site.kind.word()),
                    value.site.at.line,
                )
            });
            let entries = merged(places);
            let shown = grouped(
                page,
                Groups::inline(page.room()),
                entries.into_iter().map(|(file, entry, _)| (file, entry)),
            );
            page.left_out(shown, values.len() as u64, "places", "`references` lists them");
        }
        if !aliases.is_empty() {
            let places = plural(aliases.len() as u64, "place");
            said.push(format!("its name leads to another symbol at {places}"));
            page.add("its name leads to another symbol, of which it may be an alias:");
            let places = aliases.iter().map(|alias| {
                let file = path(&alias.path).to_string();
                (file, format!("→ {}", name(&alias.symbol)), alias.line)
            });
            let entries = merged(places).into_iter().map(|(file, entry, _)| (file, entry));
            let shown = grouped(page, Groups::inline(page.room()), entries);
            page.left_out(shown, aliases.len() as u64, "places", "`trace` the other symbol");
        }
        if !lines.is_empty() {
            said.push(format!(
                "its name stands in {} that no reference accounts for",
                plural(lines.len() as u64, "line")
            ));
            page.add("the name in text that no reference accounts for:");
            let entries =
                lines.iter().map(|(file, line)| (path(file).to_string(), line.to_string()));
            let most = page.room().min(page.whole() / LINES_PART);
            let shown = grouped(page, Groups::inline(most), entries);
            page.left_out(shown, lines.len() as u64, "lines", "`grep` with `word` shows them");
        }
        if *unsearched > 0 {
            said.push(format!("{} not searched for its name", plural(*unsearched, "file")));
            page.note("`grep` with `word` searches all files");
        }
        if said.is_empty() {
            said.push(
                "every other line with its name belongs to a symbol or reference that is known"
                    .to_owned(),
            );
        }
        format!("{first}; {}", said.join("; "))
    }

    fn render_briefly(&self, page: &mut Page) -> String {
        let Elsewhere { values, lines, aliases, unsearched, not_read } = &self.elsewhere;
        if *unsearched > 0 || not_read.is_some() {
            return self.render(page);
        }
        let mut first = self.answer.render(page);
        if !values.is_empty() {
            let places = plural(values.len() as u64, "place");
            first.push_str(&format!("; used without a call at {places}"));
        }
        if !aliases.is_empty() {
            let places = plural(aliases.len() as u64, "place");
            first.push_str(&format!("; its name leads to another symbol at {places}"));
        }
        if !lines.is_empty() {
            let lines = plural(lines.len() as u64, "line");
            first.push_str(&format!("; its name in {lines} that no reference accounts for"));
        }
        first
    }

    fn least(&self) -> Option<usize> {
        self.answer.least()
    }

    fn json(&self) -> Value {
        reply::unused(self.answer.json(), &self.elsewhere)
    }

    fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.elsewhere.is_nowhere()
    }

    fn unused(&self) -> Option<UnusedSymbol> {
        let Elsewhere { values, lines, aliases, unsearched, not_read } = &self.elsewhere;
        // Uncertain uses may be all that there are: their lines are worth more than a number.
        if self.possible > 0 || *unsearched > 0 || not_read.is_some() {
            return None;
        }
        let (symbol, alike) = (&self.symbol, like_it(self.alike));
        let mut entry = format!("{}:{}{alike}", name(symbol), symbol.first_line);
        if !values.is_empty() {
            entry.push_str(&format!(" ({} as a value)", values.len()));
        }
        if !aliases.is_empty() {
            entry.push_str(&format!(" ({} of another symbol by its name)", aliases.len()));
        }
        Some(UnusedSymbol {
            what: self.what,
            file: path(&self.symbol.path).to_string(),
            entry,
            lines: lines.len(),
        })
    }
}
