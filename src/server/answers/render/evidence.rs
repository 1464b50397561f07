//! Rendering of what a list of uses leaves out, and of a result without uses: other evidence of
//! use, such as uses as a value and occurrences of the name in text.

use super::{around, like_it, name, path, place, plural};
use crate::answers::budget::Page;
use crate::answers::render::groups::{Groups, Place, grouped, merged};
use crate::answers::{Answer, UnusedSymbol, reply};
use crate::base::escape::SafeLine;
use cograph_model::RepoPath;
use cograph_query::references::evidence::{self, Reason};
use cograph_query::{Elsewhere, SymbolInfo};
use serde_json::Value;

/// Divisor: share of the answer for lines with the name. More of them are rarely more evidence.
const LINES_PART: usize = 8;

/// Result without uses of a symbol, and other evidence of use.
pub(crate) struct Unused<A> {
    /// Kind of the uses, in the plural.
    pub(crate) what: &'static str,
    /// Symbol.
    pub(crate) symbol: SymbolInfo,
    /// Number of symbols that share the result.
    pub(crate) alike: usize,
    /// Number of uses with an uncertain target.
    pub(crate) possible: u64,
    /// Result.
    pub(crate) answer: A,
    /// Other evidence of use.
    pub(crate) elsewhere: Elsewhere,
}

impl<A: Answer> Answer for Unused<A> {
    fn render(&self, page: &mut Page) -> String {
        let first = self.answer.render(page);
        let Elsewhere { values, lines, outside, aliases, unsearched, not_read, .. } =
            &self.elsewhere;
        let mut said: Vec<String> = self.elsewhere.reasons.iter().map(reason).collect();
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
            let places = values.iter().map(|value| Place {
                heading: path(&value.site.path).to_string(),
                mark: value.site.kind.word().to_owned(),
                who: around(value.enclosing.as_ref()),
                line: value.site.at.line,
            });
            let places = merged(places);
            let sites: Vec<usize> = places.iter().map(|entry| entry.sites).collect();
            let shown = grouped(page, Groups::inline(page.room()), places);
            let shown = sites.iter().take(shown).sum();
            page.left_out(shown, values.len() as u64, "places", "`references` lists them");
        }
        if !aliases.is_empty() {
            let places = plural(aliases.len() as u64, "place");
            said.push(format!("its name leads to another symbol at {places}"));
            page.add("its name leads to another symbol, of which it may be an alias:");
            let places = aliases.iter().map(|alias| Place {
                heading: path(&alias.path).to_string(),
                mark: "to".to_owned(),
                who: name(&alias.symbol).to_string(),
                line: alias.line,
            });
            let shown = grouped(page, Groups::inline(page.room()), merged(places));
            page.left_out(shown, aliases.len() as u64, "places", "`trace` the other symbol");
        }
        if !outside.is_empty() {
            said.push(outside_of(outside));
        }
        if !lines.is_empty() {
            said.push(format!(
                "its name stands in {} that no reference accounts for: {}",
                plural(lines.len() as u64, "line"),
                counted(&by_place(&self.elsewhere))
            ));
            page.add("the name in text that no reference accounts for:");
            let entries =
                lines.iter().map(|line| (path(&line.path).to_string(), line.line.to_string()));
            let most = page.room().min(page.limit() / LINES_PART);
            let shown = grouped(page, Groups::lines(most), entries);
            page.left_out(shown, lines.len() as u64, "lines", "`grep` with `word` shows them");
        }
        if *unsearched > 0 {
            said.push(format!("{} not searched for its name", plural(*unsearched, "file")));
            page.note("`grep` with `word` searches all files");
        }
        if is_accounted(&self.elsewhere) {
            said.push(ACCOUNTED.to_owned());
        }
        if said.is_empty() {
            return first;
        }
        format!("{first}; {}", said.join("; "))
    }

    fn render_briefly(&self, page: &mut Page) -> String {
        let Elsewhere { values, lines, aliases, unsearched, not_read, .. } = &self.elsewhere;
        if *unsearched > 0 || not_read.is_some() {
            return self.render(page);
        }
        let mut first = self.answer.render(page);
        for reason in self.elsewhere.reasons.iter().map(reason) {
            first.push_str(&format!("; {reason}"));
        }
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
        json_of(self.answer.json(), &self.elsewhere, 0)
    }

    fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.elsewhere.is_nowhere()
    }

    fn unused(&self) -> Option<UnusedSymbol> {
        let Elsewhere { values, lines, aliases, unsearched, not_read, .. } = &self.elsewhere;
        // Uncertain uses may be all that there are: their lines are worth more than a number.
        if self.possible > 0 || *unsearched > 0 || not_read.is_some() {
            return None;
        }
        let (symbol, alike) = (&self.symbol, like_it(self.alike));
        let mut entry = format!("{}:{}{alike}", name(symbol), symbol.name_at.line);
        if !values.is_empty() {
            entry.push_str(&format!(" ({} as a value)", values.len()));
        }
        if let Some(first) = self.elsewhere.reasons.first() {
            entry.push_str(&format!(" ({})", reason(first)));
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

/// Result with uses of a symbol, and what their list leaves out.
pub(crate) struct Accounted<A> {
    /// Result.
    pub(crate) answer: A,
    /// Number of references of kinds that it does not list.
    pub(crate) other_uses: u64,
    /// What it leaves out.
    pub(crate) elsewhere: Elsewhere,
}

impl<A: Answer> Answer for Accounted<A> {
    fn render(&self, page: &mut Page) -> String {
        let first = self.answer.render(page);
        page.note(left_out(&self.elsewhere, self.other_uses));
        first
    }

    fn render_briefly(&self, page: &mut Page) -> String {
        self.answer.render_briefly(page)
    }

    fn least(&self) -> Option<usize> {
        self.answer.least()
    }

    fn json(&self) -> Value {
        json_of(self.answer.json(), &self.elsewhere, self.other_uses)
    }

    fn is_empty(&self) -> bool {
        self.answer.is_empty()
    }
}

/// Statement that nothing is left out, where there is nothing else.
const ACCOUNTED: &str =
    "every other line with its name belongs to a symbol or reference that is known";

/// Maximum number of places in a line about what is left out.
const PLACES: usize = 2;

/// True if every line with the name that is not listed belongs to a symbol, or to a reference whose
/// target is known and in the repository.
fn is_accounted(elsewhere: &Elsewhere) -> bool {
    elsewhere.values.is_empty()
        && elsewhere.lines.is_empty()
        && elsewhere.outside.is_empty()
        && elsewhere.aliases.is_empty()
        && elsewhere.ambiguous == 0
        && elsewhere.unsearched == 0
        && elsewhere.not_read.is_none()
}

/// Result as JSON, with what it leaves out, in words too.
pub(crate) fn json_of(answer: Value, elsewhere: &Elsewhere, other_uses: u64) -> Value {
    let mut reply = reply::unused(answer, elsewhere);
    let reasons = elsewhere.reasons.iter().map(reason);
    let words: Vec<String> = reasons.chain([left_out(elsewhere, other_uses)]).collect();
    reply["elsewhere"]["words"] = Value::from(words.join("; "));
    reply
}

/// One line that says which lines with the name a list leaves out.
pub(crate) fn left_out(elsewhere: &Elsewhere, other_uses: u64) -> String {
    let mut said = Vec::new();
    if other_uses > 0 {
        said.push(format!("{other_uses} of other kinds"));
    }
    if is_accounted(elsewhere) && said.is_empty() {
        return "left out: nothing".to_owned();
    }
    let Elsewhere { lines, outside, ambiguous, unsearched, not_read, .. } = elsewhere;
    if *ambiguous > 0 {
        said.push(format!("{} with several candidates", plural(*ambiguous, "line")));
    }
    if !outside.is_empty() {
        said.push(outside_of(outside));
    }
    if !lines.is_empty() {
        let more = plural(lines.len() as u64, "line");
        said.push(match &by_place(elsewhere)[..] {
            [(_, only)] => format!("{more} more with the word {only}"),
            all => format!("{more} more with the word: {}", counted(all)),
        });
    }
    if let Some(language) = not_read {
        said.push(format!("references of {} are not read", SafeLine::new(language, 40)));
    }
    if *unsearched > 0 {
        let files = plural(*unsearched, "file");
        said.push(format!("{files} not searched"));
    }
    if said.is_empty() {
        said.push("lines of symbols and references that are known".to_owned());
    }
    format!("left out: {}", said.join("; "))
}

/// `2 whose target is thought to be outside (a.x:3, b.x:4)`.
fn outside_of(places: &[(RepoPath, u32)]) -> String {
    let some = some_places(places.iter().map(|(file, line)| (file, *line)));
    format!("{} whose target is thought to be outside ({some})", places.len())
}

/// `3 in text, 1 in code`.
fn counted(places: &[(usize, String)]) -> String {
    let places: Vec<String> =
        places.iter().map(|(count, place)| format!("{count} {place}")).collect();
    places.join(", ")
}

/// `3 in comments, strings or templates, 1 in a part not understood (a.x:3)`.
fn by_place(elsewhere: &Elsewhere) -> Vec<(usize, String)> {
    let lines = &elsewhere.lines;
    let of = |place: evidence::Place| {
        let these = lines.iter().filter(move |line| line.place == place);
        let count = these.clone().count();
        let what = match place {
            evidence::Place::Unresolved => "in a reference that is not resolved",
            evidence::Place::Code => "in code that no reference accounts for",
            evidence::Place::Text => "in comments, strings, templates or data",
            evidence::Place::Unread => "in a part that is not understood",
        };
        let some = match place {
            evidence::Place::Text => String::new(),
            _ => format!(" ({})", some_places(these.map(|line| (&line.path, line.line)))),
        };
        (count > 0).then(|| (count, format!("{what}{some}")))
    };
    evidence::Place::ALL.into_iter().filter_map(of).collect()
}

/// `a.x:3, b.x:4 and 2 more`: the first ones.
fn some_places<'p>(mut places: impl Iterator<Item = (&'p RepoPath, u32)>) -> String {
    let first = places.by_ref().take(PLACES).map(|(file, line)| format!("{}:{line}", path(file)));
    let mut some = first.collect::<Vec<_>>().join(", ");
    match places.count() {
        0 => {}
        more => some.push_str(&format!(" and {more} more")),
    }
    some
}

/// `decorated with register (tool/registry.py:6), which may call it`.
fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Decorated { name, line, symbol } => {
            let place = symbol.as_deref().map_or_else(|| format!("line {line}"), place);
            format!(
                "decorated with {} ({place}): what handles that may call it",
                SafeLine::new(name, 120)
            )
        }
        Reason::BaseOutside { base } => format!(
            "its type derives from {}, which is outside: a library may call it",
            SafeLine::new(base, 120)
        ),
        Reason::Runtime { language } => {
            format!("a special name: the language ({language}) or its run time calls it")
        }
        Reason::Test => "a test: the test runner calls it".to_owned(),
    }
}
