//! Posting lists of a full build: entries sorted by list, in 16 to 24 bytes each. A hash table of
//! lists would take twice as much, and three times while it grows.

use crate::units::footprint::Question;
use cograph_model::graph::SymbolRef;

/// Number of bits of a hash that tell the parts of [`SortedPostings`] apart.
const PART_BITS: u32 = 8;

/// Lists by their hashes, which are uniform: in parts by their first bits, so that no step of a
/// build needs all entries twice.
#[derive(Debug, Default)]
pub(crate) struct SortedPostings(Vec<ListRange>);

/// Lists whose hashes have their first bits in common.
#[derive(Debug)]
struct ListRange {
    /// Each list, in order.
    lists: Vec<Question>,
    /// First entry of each list, and the number of entries.
    starts: Vec<u32>,
    /// Entries, by list.
    symbols: Vec<SymbolRef>,
    /// First list of each value of the next bits of a hash, and the number of lists.
    prefixes: Vec<u32>,
    /// Number of those bits.
    bits: u32,
}

/// Entries that are collected for [`SortedPostings`].
#[derive(Debug)]
pub(crate) struct Collected(Vec<Vec<(Question, SymbolRef)>>);

impl Collected {
    /// Room for about this number of entries: a part that grows is in memory twice.
    pub(crate) fn with_room(entries: usize) -> Self {
        let of_part = entries / (1 << PART_BITS);
        Self((0..1 << PART_BITS).map(|_| Vec::with_capacity(of_part + of_part / 16)).collect())
    }

    /// Adds an entry to a list.
    pub(crate) fn push(&mut self, list: Question, symbol: SymbolRef) {
        self.0[bits_of(list, 0, PART_BITS)].push((list, symbol));
    }
}

impl SortedPostings {
    /// Sorts entries by list. Those of one list keep their order.
    pub(crate) fn of(Collected(parts): Collected) -> Self {
        Self(parts.into_iter().map(ListRange::of).collect())
    }

    /// Returns the entries of a list, in the order in which they were given.
    pub(crate) fn get(&self, list: Question) -> Option<&[SymbolRef]> {
        self.0.get(bits_of(list, 0, PART_BITS))?.get(list)
    }

    /// Returns every list, sorted by hash.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Question, &[SymbolRef])> {
        self.0.iter().flat_map(|part| {
            part.lists.iter().enumerate().map(|(place, list)| (*list, part.entries(place)))
        })
    }
}

impl ListRange {
    fn of(mut collected: Vec<(Question, SymbolRef)>) -> Self {
        collected.sort_by_key(|(list, _)| *list);
        let count = collected.chunk_by(|(before, _), (list, _)| before == list).count();
        let (mut lists, mut starts) = (Vec::with_capacity(count), Vec::with_capacity(count + 1));
        for (place, (list, _)) in (0..).zip(&collected) {
            if lists.last() != Some(list) {
                lists.push(*list);
                starts.push(place);
            }
        }
        starts.push(number(collected.len()));
        // Reserved apart: in place, a vector keeps the room of twice its items.
        let mut symbols = Vec::with_capacity(collected.len());
        symbols.extend(collected.into_iter().map(|(_, symbol)| symbol));
        let bits = count.max(2).ilog2();
        let first = |next| lists.partition_point(|list| bits_of(*list, PART_BITS, bits) < next);
        let prefixes = (0..=1 << bits).map(|next| number(first(next))).collect();
        Self { lists, starts, symbols, prefixes, bits }
    }

    fn get(&self, list: Question) -> Option<&[SymbolRef]> {
        let prefix = bits_of(list, PART_BITS, self.bits);
        let (first, end) = (self.prefixes[prefix] as usize, self.prefixes[prefix + 1] as usize);
        let place = self.lists[first..end].iter().position(|one| *one == list)?;
        Some(self.entries(first + place))
    }

    fn entries(&self, place: usize) -> &[SymbolRef] {
        &self.symbols[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// Bits of a hash behind its first `skipped` ones, as a number.
fn bits_of(Question(hash): Question, skipped: u32, count: u32) -> usize {
    let bits = (hash << skipped) >> (u64::BITS - count);
    usize::try_from(bits).expect("a prefix has few bits")
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("a repository has far fewer than 2^32 entries in posting lists")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::facts::LocalSymbol;
    use cograph_model::graph::FileId;

    fn symbol(file: u32, symbol: u32) -> SymbolRef {
        SymbolRef { file: FileId(file), symbol: LocalSymbol(symbol) }
    }

    fn sorted(entries: impl IntoIterator<Item = (Question, SymbolRef)>) -> SortedPostings {
        let mut collected = Collected::with_room(10);
        entries.into_iter().for_each(|(list, symbol)| collected.push(list, symbol));
        SortedPostings::of(collected)
    }

    #[test]
    fn the_entries_of_a_list_keep_their_order() {
        let lists: Vec<Question> =
            (0..100).map(|number| Question::members(&format!("name{number}"))).collect();
        let entries = (0..3_u32).flat_map(|file| {
            let own = lists.iter().enumerate().filter(move |(at, _)| at % 3 >= file as usize);
            own.flat_map(move |(_, list)| [(*list, symbol(file, 7)), (*list, symbol(file, 2))])
        });
        let postings = sorted(entries);
        for (at, list) in lists.iter().enumerate() {
            let expected: Vec<SymbolRef> =
                (0..=(at % 3) as u32).flat_map(|file| [symbol(file, 7), symbol(file, 2)]).collect();
            assert_eq!(postings.get(*list), Some(&expected[..]), "list {at}");
        }
        assert_eq!(postings.get(Question::members("another")), None);
        let in_order: Vec<Question> = postings.in_order().map(|(list, _)| list).collect();
        assert!(in_order.is_sorted());
        assert_eq!(in_order.len(), lists.len());
    }

    #[test]
    fn no_entries_are_no_lists() {
        for empty in [sorted([]), SortedPostings::default()] {
            assert_eq!(empty.get(Question(0)), None);
            assert_eq!(empty.get(Question(u64::MAX)), None);
            assert_eq!(empty.in_order().count(), 0);
        }
        let only = sorted([(Question(u64::MAX), symbol(0, 1))]);
        assert_eq!(only.get(Question(u64::MAX)), Some(&[symbol(0, 1)][..]));
        assert_eq!(only.get(Question(u64::MAX - 1)), None);
    }
}
