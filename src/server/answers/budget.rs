//! Fits a response into a budget: whole entries, best first, and a last line with what was left out
//! and how to get it. The text never exceeds the budget, whatever is added to the page.

use cograph_faults::{Fault, planted};

/// Bytes per token.
const TOKEN: usize = 4;
/// Bytes reserved for the first line and the notes about omitted entries.
const RESERVED: usize = 360;

/// Bytes reserved for the first line of a part and its notes about omitted entries.
const PART_HEAD: usize = 160;

/// Bytes of a typical first line without the freshness.
const HEAD: usize = 240;
/// Replaces notes that do not fit, or marks an omission without a note.
const MORE: &str = "\nmore is left out: raise `budget`";

/// Precedes the freshness in a first line.
const FRESHNESS: &str = " · ";
/// Most bytes of the mark of a text that is cut.
const MARK_BYTES: usize = 16;

/// Response text, filled entry by entry up to its limit.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    /// Total limit in bytes.
    most: usize,
    /// Limit of the entries in bytes.
    room: usize,
    /// True once an entry did not fit.
    is_full: bool,
    /// True if a note says that something is missing.
    is_partial: bool,
    notes: Vec<String>,
}

impl Page {
    /// Creates an empty page of this many tokens.
    pub(crate) fn new(tokens: u64) -> Self {
        let tokens = if planted(Fault::NoCap) { 1 << 30 } else { tokens };
        let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN);
        Self {
            text: String::new(),
            most,
            room: most.saturating_sub(reserved(most, RESERVED)),
            is_full: false,
            is_partial: false,
            notes: Vec::new(),
        }
    }

    /// Creates an empty page for a part of a response, whose first line has no freshness.
    pub(crate) fn part(tokens: usize) -> Self {
        let most = tokens.saturating_mul(TOKEN);
        Self { room: most.saturating_sub(PART_HEAD), most, ..Self::new(0) }
    }

    /// Reserves this many additional bytes for the first line.
    pub(crate) fn with_head_of(mut self, bytes: usize) -> Self {
        self.room = self.most.saturating_sub(reserved(self.most, RESERVED.max(HEAD + bytes)));
        self
    }

    /// Total limit in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.most
    }

    /// Remaining bytes.
    pub(crate) fn room(&self) -> usize {
        self.room - self.text.len()
    }

    /// Adds an entry of one or more lines if it fits completely.
    pub(crate) fn add(&mut self, entry: &str) -> bool {
        if entry.len() + 1 > self.room() {
            self.is_full = true;
            return false;
        }
        self.text.push('\n');
        self.text.push_str(entry);
        true
    }

    /// Adds entries in order until one does not fit. Returns the number of entries added.
    pub(crate) fn add_all<T: AsRef<str>>(&mut self, entries: impl IntoIterator<Item = T>) -> usize {
        entries.into_iter().take_while(|entry| self.add(entry.as_ref())).count()
    }

    /// Adds a title and entries below it; no title without an entry. Returns the number of entries
    /// added.
    pub(crate) fn section<T: AsRef<str>>(
        &mut self,
        title: &str,
        entries: impl IntoIterator<Item = T>,
    ) -> usize {
        let mut entries = entries.into_iter();
        let Some(first) = entries.next() else { return 0 };
        if !self.add(&format!("{title}\n{}", first.as_ref())) {
            return 0;
        }
        1 + self.add_all(entries)
    }

    /// Adds a note at the end.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a note about missing entries and how to get them.
    pub(crate) fn omit(&mut self, note: impl Into<String>) {
        self.is_partial = true;
        self.note(note);
    }

    /// Marks the response as incomplete: a part of it has a note about what is missing.
    pub(crate) fn mark_cut(&mut self) {
        self.is_partial = true;
    }

    /// True if the response is incomplete.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_full || self.is_partial
    }

    /// Adds a note if entries were left out.
    pub(crate) fn left_out(&mut self, shown: usize, total: u64, what: &str, how: &str) {
        let missing = total.saturating_sub(shown as u64);
        if missing > 0 {
            self.omit(format!("… {missing} more {what}: {how}"));
        }
    }

    /// Builds the text from the first line and the page. A first line that exceeds its reserve,
    /// such as one that lists many files, is truncated before its freshness; notes that do not fit
    /// are replaced by a short one.
    pub(crate) fn finish(mut self, head: &str) -> String {
        if self.is_full && self.notes.is_empty() {
            self.notes.push(MORE.trim_start().to_owned());
        }
        let kept = if self.notes.is_empty() { 0 } else { MORE.len() };
        let mut text = cut_head(head, self.most.saturating_sub(self.text.len() + kept));
        text.push_str(&self.text);
        for (at, note) in self.notes.iter().enumerate() {
            let last = at + 1 == self.notes.len();
            if text.len() + note.len() + 1 + if last { 0 } else { MORE.len() } > self.most {
                text.push_str(MORE);
                break;
            }
            text.push('\n');
            text.push_str(note);
        }
        text
    }
}

/// Bytes of a page that are reserved: at most half of it, so that a small one has entries too.
fn reserved(most: usize, wanted: usize) -> usize {
    wanted.min(most / 2)
}

/// A first line, or as much of it as fits: its end, which says how fresh the answer is, is kept.
fn cut_head(head: &str, most: usize) -> String {
    let Some(end) = head.rfind(FRESHNESS).filter(|_| head.len() > most) else {
        return cut(head, most);
    };
    let (front, freshness) = head.split_at(end);
    match most.checked_sub(freshness.len()).filter(|room| *room > MARK_BYTES) {
        Some(room) => format!("{}{freshness}", cut(front, room)),
        None => cut(head, most),
    }
}

/// The text, or its longest prefix that fits, with a mark.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(MARK_BYTES));
    let mark = format!("…(+{})", text[end..].chars().count());
    // A place for the mark is no place for anything else.
    if mark.len() > most { String::new() } else { format!("{}{mark}", &text[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_does_not_fit_keeps_its_end() {
        let mut page = Page::new(100);
        page.add_all((0..20).map(|_| "x".repeat(20)));
        let fresh = "generation 3, made 2 s ago; stale: 1 file pending (a.py): indexing: parse";
        let text = page.finish(&format!("{} · {fresh}", "used in many places ".repeat(40)));
        let head = text.lines().next().expect("a first line");
        assert!(head.starts_with("used in many") && head.ends_with(fresh), "{text}");
        assert!(head.contains("…(+") && text.len() <= 400, "{text}");
    }

    #[test]
    fn whatever_is_put_into_a_page_it_stays_within_its_budget() {
        for tokens in [100, 150, 1000] {
            for (head, entry, notes) in
                [(10, 50, 0), (90, 37, 1), (5000, 37, 3), (200, 3000, 1), (90, 10, 40)]
            {
                let mut page = Page::new(tokens).with_head_of(head / 2);
                page.add_all((0..200).map(|_| "é".repeat(entry / 2)));
                for _ in 0..notes {
                    page.note("n".repeat(60));
                }
                let text = page.finish(&"ü".repeat(head / 2));
                assert!(
                    text.len() as u64 <= tokens * 4,
                    "{tokens} {head} {entry} {notes}: {} bytes",
                    text.len()
                );
                assert!(
                    text.contains("raise `budget`") || text.ends_with('n'),
                    "something is left out, and that is reported: {text}"
                );
            }
        }
    }

    #[test]
    fn entries_are_whole_and_what_is_missing_is_reported() {
        let mut page = Page::new(200);
        let entries: Vec<String> =
            (0..100).map(|number| format!("entry {number:03} {}", "x".repeat(20))).collect();
        let shown = page.add_all(&entries);
        page.left_out(shown, 100, "entries", "raise `budget`");
        let text = page.finish("100 entries");
        assert!(text.len() <= 800, "{}", text.len());
        assert!(shown > 5 && text.lines().count() == shown + 2);
        assert!(text.ends_with(&format!("… {} more entries: raise `budget`", 100 - shown)));
    }

    #[test]
    fn the_smallest_page_has_an_entry() {
        let mut page = Page::new(100).with_head_of(300);
        let shown = page.add_all(["e".repeat(150), "e".repeat(150)]);
        page.left_out(shown, 2, "entries", "raise `budget`");
        let text = page.finish(&"h".repeat(100));
        assert!(shown == 1 && text.len() <= 400, "{text}");
        assert!(text.ends_with("raise `budget`"), "{text}");
    }

    #[test]
    fn a_section_without_entries_has_no_title() {
        let mut page = Page::new(1000);
        assert_eq!(page.section("title", Vec::<String>::new()), 0);
        assert_eq!(page.section("title", ["a", "b"]), 2);
        assert_eq!(page.finish("head"), "head\ntitle\na\nb");
    }
}
