//! Fits an answer into a budget: whole entries, best first, and a last line that says what was left out and how to get it.

/// Bytes of a token.
const TOKEN: usize = 4;
/// Bytes that are kept free for the first line and for what is said about entries that were left out.
const RESERVED: usize = 360;

/// An answer that grows line by line until its room is used up.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    room: usize,
    notes: Vec<String>,
}

impl Page {
    /// An empty page of so many tokens.
    pub(crate) fn new(tokens: u64) -> Self {
        let bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN);
        Self { text: String::new(), room: bytes.saturating_sub(RESERVED).max(TOKEN), notes: Vec::new() }
    }

    /// Bytes that are left.
    pub(crate) fn room(&self) -> usize {
        self.room - self.text.len()
    }

    /// Adds an entry of one or several lines if there is room for the whole of it.
    pub(crate) fn add(&mut self, entry: &str) -> bool {
        if entry.len() + 1 > self.room() {
            return false;
        }
        self.text.push('\n');
        self.text.push_str(entry);
        true
    }

    /// Adds entries in order until one does not fit. Gives the number of those that were added.
    pub(crate) fn add_all<T: AsRef<str>>(&mut self, entries: impl IntoIterator<Item = T>) -> usize {
        entries.into_iter().take_while(|entry| self.add(entry.as_ref())).count()
    }

    /// Adds a title and entries below it; no title without an entry. Gives the number of entries that were added.
    pub(crate) fn section<T: AsRef<str>>(&mut self, title: &str, entries: impl IntoIterator<Item = T>) -> usize {
        let mut entries = entries.into_iter();
        let Some(first) = entries.next() else { return 0 };
        if !self.add(&format!("{title}\n{}", first.as_ref())) {
            return 0;
        }
        1 + self.add_all(entries)
    }

    /// Something that the reader must know at the end.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes that entries were left out, if any were.
    pub(crate) fn left_out(&mut self, shown: usize, total: u64, what: &str, how: &str) {
        let missing = total.saturating_sub(shown as u64);
        if missing > 0 {
            self.note(format!("… {missing} more {what}: {how}"));
        }
    }

    /// The whole answer below its first line.
    pub(crate) fn finish(self, head: &str) -> String {
        let mut text = format!("{head}{}", self.text);
        for note in &self.notes {
            text.push('\n');
            text.push_str(note);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_whole_and_what_is_missing_is_said() {
        let mut page = Page::new(200);
        let entries: Vec<String> = (0..100).map(|number| format!("entry {number:03} {}", "x".repeat(20))).collect();
        let shown = page.add_all(&entries);
        page.left_out(shown, 100, "entries", "raise `budget`");
        let text = page.finish("100 entries");
        assert!(text.len() <= 800, "{}", text.len());
        assert!(shown > 5 && text.lines().count() == shown + 2);
        assert!(text.ends_with(&format!("… {} more entries: raise `budget`", 100 - shown)));
    }

    #[test]
    fn a_section_without_entries_has_no_title() {
        let mut page = Page::new(1000);
        assert_eq!(page.section("title", Vec::<String>::new()), 0);
        assert_eq!(page.section("title", ["a", "b"]), 2);
        assert_eq!(page.finish("head"), "head\ntitle\na\nb");
    }
}
