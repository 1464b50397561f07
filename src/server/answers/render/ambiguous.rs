//! Rendering of a query for an ambiguous name: one part per meaning with uses, best first, then one
//! entry per meaning without, within one budget.

use super::evidence::{json_of, left_out};
use super::{RAISE, name, path, plural};
use crate::answers::budget::Page;
use crate::answers::render::groups::Groups;
use crate::answers::{Answer, UnusedSymbol};
use crate::base::escape::SafeLine;
use cograph_query::{Elsewhere, Meanings, QueryError, SymbolInfo};
use serde_json::{Value, json};

/// Space below which a part consists of its first line only, in bytes.
const MIN_ROOM: usize = 200;
/// Divisor: share of the answer for meanings without uses, if others have some.
const UNUSED_PART: usize = 16;
/// Title of the meanings that are only listed.
const OTHERS: &str = "other meanings:";
/// Written in place of a list that an earlier meaning has too.
const SAME: &str = "as listed above";
/// Bytes per token.
const TOKEN: usize = 4;

/// Parts, and the remaining meanings.
pub(crate) struct Several {
    name: String,
    parts: Vec<Box<dyn Answer>>,
    others: Vec<SymbolInfo>,
    /// Lines with the name that the lists of uses leave out.
    evidence: Option<Elsewhere>,
}

/// Joins the results of all meanings of a name; a single one stays as it is.
pub(crate) fn about<T>(
    name: &str,
    meanings: Meanings<T>,
    evidence: Option<Elsewhere>,
    answer: impl FnMut(T) -> Result<Box<dyn Answer>, QueryError>,
) -> Result<Box<dyn Answer>, QueryError> {
    let Meanings { answers, others } = meanings;
    let mut parts: Vec<Box<dyn Answer>> =
        answers.into_iter().map(answer).collect::<Result<_, _>>()?;
    if parts.len() == 1 && others.is_empty() {
        return Ok(parts.swap_remove(0));
    }
    Ok(Box::new(Several { name: name.to_owned(), parts, others, evidence }))
}

impl Answer for Several {
    fn render(&self, page: &mut Page) -> String {
        let total = self.parts.len() + self.others.len();
        let (mut whole, mut unused) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part.unused() {
                Some(symbol) => unused.push((part, symbol)),
                None => whole.push(part),
            }
        }
        // Nothing is used: the evidence for the best meaning is the answer.
        let is_unused = whole.is_empty() && !unused.is_empty();
        if is_unused {
            whole.push(unused.remove(0).0);
        }
        let share = page.room() / whole.len().max(1);
        let least: Vec<usize> = whole.iter().map(|part| part.least().unwrap_or(share)).collect();
        let of_unused = if unused.is_empty() { 0 } else { page.limit() / UNUSED_PART };
        let (mut shown, mut lists) = (0, Vec::<String>::new());
        for part in &whole {
            let others = least[shown + 1..].iter().sum::<usize>() + of_unused;
            // Tests of the best parts come after the rest of all others.
            let own = page.room().saturating_sub(others).max(least[shown]);
            let room = own.max(if shown == 0 { MIN_ROOM } else { 0 }).min(page.room());
            if room < MIN_ROOM && shown > 0 {
                break;
            }
            let mut own = Page::part(room / TOKEN);
            let head =
                if is_unused { part.render(&mut own) } else { part.render_briefly(&mut own) };
            let mut text = own.finish(&head);
            // Variants of one definition have the same uses.
            if let Some((head, list)) = text.split_once('\n') {
                if lists.iter().any(|before| before == list) {
                    text = format!("{head}\n{SAME}");
                } else {
                    lists.push(list.to_owned());
                }
            }
            if !page.add(&text) {
                break;
            }
            shown += 1;
        }
        if shown == whole.len() {
            shown += list_unused(unused.into_iter().map(|(_, symbol)| symbol).collect(), page);
        }
        let mut groups = Groups::inline(page.room().saturating_sub(OTHERS.len() + 1));
        let listed = self
            .others
            .iter()
            .take_while(|symbol| groups.add(&path(&symbol.path).to_string(), &place(symbol)))
            .count();
        if listed > 0 {
            page.add(OTHERS);
        }
        groups.write(page);
        page.left_out(
            shown + listed,
            total as u64,
            "meanings",
            &format!("`search` lists them; name one as `path::Container.name`, or {RAISE}"),
        );
        // Evidence for an unused meaning has these lines.
        if let Some(evidence) = self.evidence.as_ref().filter(|_| !is_unused) {
            page.note(left_out(evidence, 0));
        }
        format!("`{}` means {total} symbols; best first", SafeLine::new(&self.name, 120))
    }

    fn json(&self) -> Value {
        let others: Vec<Value> =
            self.others.iter().map(|symbol| json!(symbol.full_name())).collect();
        let reply = json!({
            "meanings": self.parts.iter().map(|part| part.json()).collect::<Vec<_>>(),
            "others": others
        });
        match &self.evidence {
            Some(evidence) => json_of(reply, evidence, 0),
            None => reply,
        }
    }

    fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.is_empty())
    }
}

/// Lists meanings without uses, and returns their number.
fn list_unused(symbols: Vec<UnusedSymbol>, page: &mut Page) -> usize {
    let Some(UnusedSymbol { what, lines, .. }) = symbols.first() else { return 0 };
    let mut title = format!("0 {what} of these definitions");
    if *lines > 0 {
        let lines = plural(*lines as u64, "unaccounted line");
        title.push_str(&format!("; the name in {lines}"));
    }
    title.push(':');
    let most = page.room().min(page.limit() / UNUSED_PART);
    let mut groups = Groups::inline(most.saturating_sub(title.len() + 1));
    let listed =
        symbols.iter().take_while(|symbol| groups.add(&symbol.file, &symbol.entry)).count();
    if listed > 0 {
        page.add(&title);
    }
    groups.write(page);
    listed
}

fn place(symbol: &SymbolInfo) -> String {
    format!("{}:{}", name(symbol), symbol.name_at.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Callers of one meaning, some of them in tests.
    struct Fake {
        name: &'static str,
        callers: usize,
        in_tests: usize,
        values: usize,
    }

    impl Answer for Fake {
        fn render(&self, page: &mut Page) -> String {
            let callers = (0..self.callers).map(|at| format!("{}: caller_{at:09}", self.name));
            let tests = (0..self.in_tests).map(|at| format!("{}: test_{at:011}", self.name));
            let shown = page.add_all(callers.chain(tests));
            page.left_out(shown, (self.callers + self.in_tests) as u64, "callers", RAISE);
            format!("{} callers of {}", self.callers + self.in_tests, self.name)
        }
        fn least(&self) -> Option<usize> {
            Some(240 + self.callers * 24)
        }
        fn json(&self) -> Value {
            json!(self.name)
        }
        fn unused(&self) -> Option<UnusedSymbol> {
            let entry = format!("{}:1 ({} as a value)", self.name, self.values);
            let is_unused = self.callers + self.in_tests == 0;
            is_unused.then(|| UnusedSymbol {
                what: "callers",
                file: "a.x".to_owned(),
                entry,
                lines: 3,
            })
        }
    }

    #[test]
    fn a_list_that_two_meanings_share_is_written_once() {
        let variant = || Fake { name: "one", callers: 2, in_tests: 0, values: 0 };
        let text = rendered(vec![variant(), variant()]);
        assert_eq!(text.matches("one: caller_000000001").count(), 1, "{text}");
        assert!(text.ends_with("2 callers of one\nas listed above"), "{text}");
    }

    fn rendered(fakes: Vec<Fake>) -> String {
        rendered_within(500, fakes)
    }

    fn rendered_within(tokens: u64, fakes: Vec<Fake>) -> String {
        let parts = fakes.into_iter().map(|fake| Box::new(fake) as Box<dyn Answer>).collect();
        let mut page = Page::new(tokens);
        let several =
            Several { name: "name".to_owned(), parts, others: Vec::new(), evidence: None };
        let head = several.render(&mut page);
        page.finish(&head)
    }

    #[test]
    fn meanings_without_uses_are_one_entry_each_behind_the_others() {
        let fake = |name, callers, values| Fake { name, callers, in_tests: 0, values };
        let text = rendered(vec![fake("A", 0, 7), fake("B", 1, 0), fake("C", 0, 1)]);
        assert_eq!(
            text,
            "`name` means 3 symbols; best first\n1 callers of B\nB: caller_000000000\n\
             0 callers of these definitions; the name in 3 unaccounted lines:\n\
             a.x: A:1 (7 as a value), C:1 (1 as a value)"
        );
        let text = rendered(vec![fake("A", 0, 7), fake("C", 0, 1)]);
        assert!(
            text.contains("\n0 callers of A\n0 callers of these"),
            "one is shown whole: {text}"
        );
    }

    #[test]
    fn the_best_meaning_is_shown_in_the_smallest_room() {
        let fake = |name| Fake { name, callers: 50, in_tests: 0, values: 0 };
        let text = rendered_within(100, vec![fake("A"), fake("B")]);
        assert!(text.contains("\n50 callers of A"), "{text}");
        assert!(text.len() <= 400 && text.contains("1 more meanings"), "{text}");
    }

    #[test]
    fn results_that_do_not_tell_tests_apart_share_the_room() {
        struct Long(&'static str);
        impl Answer for Long {
            fn render(&self, page: &mut Page) -> String {
                page.add_all((0..500).map(|at| format!("{}: {at:04}", self.0)));
                format!("uses of {}", self.0)
            }
            fn json(&self) -> Value {
                json!(self.0)
            }
        }
        let parts: Vec<Box<dyn Answer>> = vec![Box::new(Long("A")), Box::new(Long("B"))];
        let mut page = Page::new(1000);
        let several =
            Several { name: "name".to_owned(), parts, others: Vec::new(), evidence: None };
        let head = several.render(&mut page);
        let text = page.finish(&head);
        let (one, other) = (text.matches("A: ").count(), text.matches("B: ").count());
        assert!(other > 100 && one.abs_diff(other) < 60, "{one} and {other}");
    }

    #[test]
    fn tests_of_one_meaning_come_after_the_rest_of_all() {
        let text = rendered(vec![
            Fake { name: "A", callers: 2, in_tests: 200, values: 0 },
            Fake { name: "B", callers: 9, in_tests: 200, values: 0 },
            Fake { name: "C", callers: 5, in_tests: 0, values: 0 },
        ]);
        let count = |what: &str| text.matches(what).count();
        assert_eq!(
            (count("A: caller"), count("B: caller"), count("C: caller")),
            (2, 9, 5),
            "{text}"
        );
        assert!(count("A: test") > 10, "{text}");
        assert!(text.len() <= 2000, "{}", text.len());
    }
}
