//! Filter for the words of a text: says of most words that the text does not have them, in a byte
//! or two for each distinct word of it, so that it need not be read again.

use rustc_hash::FxHashSet;

/// Bits for one distinct word: with three functions, of a hundred other words two are taken for one
/// of the text. A text repeats its words: a header of registers of a megabyte has 12,000.
const BITS_PER_WORD: usize = 10;

/// Least size in bits.
const MIN_BITS: usize = 512;

/// Words of a text: maximal runs of ASCII letters, digits and `_`. A Bloom filter of three
/// functions.
#[derive(Clone, Debug)]
pub struct WordFilter {
    bits: Box<[u64]>,
}

impl WordFilter {
    /// Filter of the words of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut words = FxHashSet::default();
        visit_words(text, |hash| {
            words.insert(hash);
            true
        });
        let bits = (words.len() * BITS_PER_WORD).max(MIN_BITS);
        let mut filter = Self { bits: vec![0; bits.div_ceil(64)].into() };
        for hash in words {
            for (word, bit) in filter.places(hash) {
                filter.bits[word] |= bit;
            }
        }
        filter
    }

    /// False if no word of `name` that is bounded by its own characters or by a word boundary is in
    /// the text, and so neither is the name as a whole word.
    pub fn may_have(&self, name: &[u8]) -> bool {
        visit_words(name, |hash| {
            self.places(hash).iter().all(|(word, bit)| self.bits[*word] & bit != 0)
        })
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bits.len() * 8
    }

    fn places(&self, hash: u64) -> [(usize, u64); 3] {
        // The high half of a product is below its second factor, whatever that is.
        let bits = self.bits.len() as u64 * 64;
        let place = |half: u64| {
            let bit = (half * bits) >> 32;
            ((bit / 64) as usize, 1 << (bit % 64))
        };
        [hash, hash.rotate_left(21), hash.rotate_left(43)].map(|hash| place(hash >> 32))
    }
}

/// Passes the hashes of all words to `visit` until it returns false; true if it never did.
fn visit_words(text: &[u8], mut visit: impl FnMut(u64) -> bool) -> bool {
    const SEED: u64 = 0xcbf2_9ce4_8422_2325;
    let mut hash = SEED;
    for &byte in text.iter().chain(b" ") {
        if IS_OF_WORD[usize::from(byte)] {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            continue;
        }
        // The low bits of a product depend on low bits only.
        let mixed = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        if hash != SEED && !visit(mixed ^ mixed >> 32) {
            return false;
        }
        hash = SEED;
    }
    true
}

const IS_OF_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || letter == b'_';
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_text_is_never_excluded() {
        let text =
            "see parse_url(x), `Base::area`, naïve and “quoted” #evict $scope a-b".as_bytes();
        let filter = WordFilter::of(text);
        for name in
            ["parse_url", "x", "Base::area", "naïve", "quoted", "#evict", "$scope", "a-b", "=="]
        {
            assert!(filter.may_have(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn most_other_names_are_excluded() {
        let words = |from: u32| (from..from + 2_000).map(|number| format!("w{number}x ordinary "));
        let text: String = words(0).collect();
        let filter = WordFilter::of(text.as_bytes());
        assert!(filter.bytes() <= 2_001 * BITS_PER_WORD / 8 + 8, "{}", filter.bytes());
        let excluded =
            (5_000..6_000).filter(|number| !filter.may_have(format!("w{number}x").as_bytes()));
        assert!(excluded.count() > 970);
        assert_eq!(WordFilter::of(text.repeat(3).as_bytes()).bytes(), filter.bytes());
        // Parts of a word are no words.
        assert!(!WordFilter::of(b"parse_url").may_have(b"parse"));
        assert!(!WordFilter::of(b"").may_have(b"a"));
    }
}
