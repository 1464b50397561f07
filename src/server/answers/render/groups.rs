//! Entries grouped by a heading, usually a path, which is written once.

use crate::answers::budget::Page;
use std::collections::HashMap;

/// Site before it is grouped.
pub(crate) struct Place {
    /// Heading, usually the path.
    pub(crate) heading: String,
    /// What holds of it, in words; empty for nothing.
    pub(crate) mark: String,
    /// Symbol around it.
    pub(crate) who: String,
    /// Line.
    pub(crate) line: u32,
}

/// Entry below a heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Heading, usually the path.
    pub(crate) heading: String,
    /// What holds of it, in words, as they stand before the entries of which it holds; empty for
    /// nothing.
    pub(crate) mark: String,
    /// Text.
    pub(crate) text: String,
    /// Number of sites.
    pub(crate) sites: usize,
}

impl From<(String, String)> for Entry {
    fn from((heading, text): (String, String)) -> Self {
        Self { heading, mark: String::new(), text, sites: 1 }
    }
}

/// Form of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    /// `heading: a, b; mark c, d`.
    Inline,
    /// `heading:12,34`.
    Lines,
    /// One line per entry below the heading, or `heading:entry` for a single one.
    Stacked,
}

impl Layout {
    fn separator(self) -> &'static str {
        match self {
            Self::Inline => ", ",
            Self::Lines => ",",
            Self::Stacked => "\n  ",
        }
    }
}

/// Heading, and its entries by mark.
type Group = (String, Vec<(String, Vec<String>)>);

/// Entries grouped by a heading in order of first appearance, as many as fit.
pub(crate) struct Groups {
    order: Vec<Group>,
    positions: HashMap<String, usize>,
    /// Whether only neighbours are grouped, so that the entries keep their order.
    is_ordered: bool,
    room: usize,
    layout: Layout,
}

impl Groups {
    fn new(room: usize, layout: Layout) -> Self {
        Self { order: Vec::new(), positions: HashMap::new(), is_ordered: false, room, layout }
    }

    /// One line per group: `heading: a, b`, then the entries of each mark: `; mark c, d`.
    pub(crate) fn inline(room: usize) -> Self {
        Self::new(room, Layout::Inline)
    }

    /// One line per group of line numbers: `path:12,34`.
    pub(crate) fn lines(room: usize) -> Self {
        Self::new(room, Layout::Lines)
    }

    /// One line per entry, which begins with its line number, below its path.
    pub(crate) fn stacked(room: usize) -> Self {
        Self::new(room, Layout::Stacked)
    }

    /// One line per entry, in the order of the entries: each run with the same heading has one.
    pub(crate) fn ranked(room: usize) -> Self {
        Self { is_ordered: true, ..Self::stacked(room) }
    }

    /// Adds an entry if it fits.
    pub(crate) fn add(&mut self, heading: &str, entry: &str) -> bool {
        self.add_marked(heading, "", entry)
    }

    /// Adds an entry of which the words of a mark hold, if it fits.
    pub(crate) fn add_marked(&mut self, heading: &str, mark: &str, entry: &str) -> bool {
        let known = self.positions.get(heading).copied();
        let is_marked = known.is_some_and(|at| self.order[at].1.iter().any(|(of, _)| of == mark));
        let cost = entry.len()
            + self.layout.separator().len()
            + if known.is_some() { 0 } else { heading.len() + 2 }
            + if is_marked || mark.is_empty() { 0 } else { mark.len() + 1 };
        if cost > self.room {
            return false;
        }
        self.room -= cost;
        let position = known.unwrap_or_else(|| {
            if self.is_ordered {
                self.positions.clear();
            }
            self.positions.insert(heading.to_owned(), self.order.len());
            self.order.push((heading.to_owned(), Vec::new()));
            self.order.len() - 1
        });
        let marked = &mut self.order[position].1;
        match marked.iter_mut().find(|(of, _)| of == mark) {
            Some((_, entries)) => entries.push(entry.to_owned()),
            // Entries without a mark come first: nothing stands before them.
            None if mark.is_empty() => marked.insert(0, (String::new(), vec![entry.to_owned()])),
            None => marked.push((mark.to_owned(), vec![entry.to_owned()])),
        }
        true
    }

    /// Adds entries as long as they fit. Returns their number, and the number of their sites.
    pub(crate) fn fill(&mut self, entries: &[Entry]) -> (usize, usize) {
        let fit = |entry: &&Entry| self.add_marked(&entry.heading, &entry.mark, &entry.text);
        let fitting = entries.iter().take_while(fit);
        fitting.fold((0, 0), |(count, sites), entry| (count + 1, sites + entry.sites))
    }

    /// Number of bytes of all groups.
    pub(crate) fn bytes(&self) -> usize {
        let separator = self.layout.separator().len();
        let of_group = |(heading, marked): &Group| {
            let of_mark = |(mark, entries): &(String, Vec<String>)| {
                let texts = entries.iter().map(|entry| entry.len() + separator);
                mark.len() + 1 + texts.sum::<usize>()
            };
            heading.len() + 2 + marked.iter().map(of_mark).sum::<usize>()
        };
        self.order.iter().map(of_group).sum()
    }

    /// Lines of the groups.
    pub(crate) fn texts(self) -> impl Iterator<Item = String> {
        let layout = self.layout;
        self.order.into_iter().map(move |(heading, marked)| text(layout, &heading, &marked))
    }

    /// Writes the groups, all of which fit.
    pub(crate) fn write(self, page: &mut Page) {
        for text in self.texts() {
            page.add(&text);
        }
    }
}

fn text(layout: Layout, heading: &str, marked: &[(String, Vec<String>)]) -> String {
    let separator = layout.separator();
    let parts: Vec<String> = marked
        .iter()
        .map(|(mark, entries)| {
            let entries = entries.join(separator);
            if mark.is_empty() { entries } else { format!("{mark} {entries}") }
        })
        .collect();
    let is_single = marked.iter().map(|(_, entries)| entries.len()).sum::<usize>() == 1;
    let first = match layout {
        _ if heading.is_empty() => "",
        Layout::Inline => ": ",
        Layout::Stacked if !is_single => separator,
        Layout::Stacked | Layout::Lines => ":",
    };
    format!("{heading}{first}{}", parts.join("; "))
}

/// Merges runs of sites with the same heading, mark and name into one entry, `name:12,34`. Sites of
/// other marks in between, as where a line reads and writes, do not end a run.
pub(crate) fn merged(places: impl IntoIterator<Item = Place>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // The last entry of each mark below the present heading, and its name.
    let mut last: Vec<(usize, String)> = Vec::new();
    for Place { heading, mark, who, line } in places {
        if entries.last().is_some_and(|entry| entry.heading != heading) {
            last.clear();
        }
        let known = last.iter().position(|(at, _)| entries[*at].mark == mark);
        if let Some((at, name)) = known.map(|known| &last[known])
            && *name == who
        {
            entries[*at].text.push_str(&format!(",{line}"));
            entries[*at].sites += 1;
            continue;
        }
        let next = (entries.len(), who.clone());
        match known {
            Some(known) => last[known] = next,
            None => last.push(next),
        }
        entries.push(Entry { heading, mark, text: format!("{who}:{line}"), sites: 1 });
    }
    entries
}

/// Adds entries with their headings, as many as fit, and returns their number.
pub(crate) fn grouped<E: Into<Entry>>(
    page: &mut Page,
    mut groups: Groups,
    entries: impl IntoIterator<Item = E>,
) -> usize {
    let entries: Vec<Entry> = entries.into_iter().map(Into::into).collect();
    let (count, _) = groups.fill(&entries);
    groups.write(page);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(heading: &str, mark: &str, text: &str) -> Entry {
        let (heading, mark) = (heading.to_owned(), mark.to_owned());
        Entry { heading, mark, text: text.to_owned(), sites: 1 }
    }

    fn written(groups: impl Fn(usize) -> Groups, room: usize, entries: &[Entry]) -> String {
        let mut page = Page::new(1000);
        grouped(&mut page, groups(room), entries.iter().cloned());
        page.finish("head")
    }

    #[test]
    fn groups_keep_the_order_of_first_appearance_and_the_room() {
        let entries = [("b", "1"), ("a", "2"), ("b", "3")].map(|(at, text)| entry(at, "", text));
        assert_eq!(written(Groups::inline, 500, &entries), "head\nb: 1, 3\na: 2");
        assert_eq!(written(Groups::lines, 500, &entries), "head\nb:1,3\na:2");
        assert_eq!(written(Groups::stacked, 14, &entries), "head\nb:1\na:2", "two fit");
        let with_a_run = [&entries[..], &[entry("b", "", "4")]].concat();
        assert_eq!(written(Groups::ranked, 500, &with_a_run), "head\nb:1\na:2\nb\n  3\n  4");
    }

    #[test]
    fn a_mark_is_written_once_in_a_group_behind_what_has_none() {
        let entries = [
            entry("a.x", "likely:", "f:1"),
            entry("a.x", "", "g:2"),
            entry("b.x", "likely:", "h:3"),
            entry("a.x", "likely:", "i:4"),
        ];
        let all = "head\na.x: g:2; likely: f:1, i:4\nb.x: likely: h:3";
        assert_eq!(written(Groups::inline, 500, &entries), all);
        let mut groups = Groups::inline(500);
        assert_eq!(groups.fill(&entries), (4, 4));
        assert!(groups.bytes() >= all.len() - "head\n".len(), "{}", groups.bytes());
        for room in 0..all.len() {
            let text = written(Groups::inline, room, &entries);
            assert!(text.len() <= "head".len() + room + 1, "{room}: {text}");
        }
    }

    #[test]
    fn runs_of_sites_in_one_symbol_are_one_entry() {
        let place = |mark: &str, who: &str, line| Place {
            heading: "a.x".to_owned(),
            mark: mark.to_owned(),
            who: who.to_owned(),
            line,
        };
        let entries = merged([place("", "f", 1), place("", "f", 2), place("read", "f", 3)]);
        assert_eq!(entries[0].text, "f:1,2");
        assert_eq!((entries[0].sites, &entries[1]), (2, &entry("a.x", "read", "f:3")));
    }
}
