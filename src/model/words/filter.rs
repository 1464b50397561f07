//! Filter for the words of a text: says of most words that the text does not have them, in a byte
//! or two for each distinct word of it, so that it need not be read again.

/// Bits for one distinct word: with four functions, of a thousand other words four are taken for
/// one of the text. A text repeats its words: a header of registers of a megabyte has 12,000.
const BITS_PER_WORD: usize = 14;

/// Number of functions.
const FUNCTIONS: usize = 4;

/// Least size in bits.
const MIN_BITS: usize = 512;

/// Words of a text: maximal runs of ASCII letters, digits and `_`. A Bloom filter.
#[derive(Clone, Debug)]
pub struct WordFilter {
    bits: Box<[u64]>,
}

/// Words of a name that is looked for in many texts.
#[derive(Debug)]
pub struct NameWords(Vec<u64>);

impl NameWords {
    /// Words of a name.
    pub fn of(name: &str) -> Self {
        let mut words = Vec::new();
        visit_words(name.as_bytes(), |hash| words.push(hash));
        Self(words)
    }
}

impl WordFilter {
    /// Filter of the words of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut words = Vec::new();
        visit_words(text, |hash| words.push(hash));
        words.sort_unstable();
        words.dedup();
        let bits = (words.len() * BITS_PER_WORD).max(MIN_BITS);
        let mut filter = Self { bits: vec![0; bits.div_ceil(64)].into() };
        for hash in words {
            for (word, bit) in filter.places(hash) {
                filter.bits[word] |= bit;
            }
        }
        filter
    }

    /// False if a word of the name is not in the text, and so neither is the name as a whole word.
    pub fn may_have(&self, name: &NameWords) -> bool {
        let has = |(word, bit): &(usize, u64)| self.bits[*word] & bit != 0;
        name.0.iter().all(|&hash| self.places(hash).iter().all(has))
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bits.len() * 8
    }

    fn places(&self, hash: u64) -> [(usize, u64); FUNCTIONS] {
        // The high half of a product is below its second factor, whatever that is.
        let bits = self.bits.len() as u64 * 64;
        let place = |half: u64| {
            let bit = (half * bits) >> 32;
            ((bit / 64) as usize, 1 << (bit % 64))
        };
        [0, 16, 32, 48].map(|rotation| place(hash.rotate_left(rotation) >> 32))
    }
}

/// Passes the hashes of all words to `visit`.
fn visit_words(text: &[u8], mut visit: impl FnMut(u64)) {
    const SEED: u64 = 0xcbf2_9ce4_8422_2325;
    let mut hash = SEED;
    for &byte in text.iter().chain(b" ") {
        if IS_OF_WORD[usize::from(byte)] {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            continue;
        }
        // The low bits of a product depend on low bits only.
        let mixed = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        if hash != SEED {
            visit(mixed ^ mixed >> 32);
        }
        hash = SEED;
    }
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

    fn has(filter: &WordFilter, name: &str) -> bool {
        filter.may_have(&NameWords::of(name))
    }

    #[test]
    fn a_name_of_the_text_is_never_excluded() {
        let text =
            "see parse_url(x), `Base::area`, naïve and “quoted” #evict $scope a-b".as_bytes();
        let filter = WordFilter::of(text);
        for name in
            ["parse_url", "x", "Base::area", "naïve", "quoted", "#evict", "$scope", "a-b", "=="]
        {
            assert!(has(&filter, name), "{name}");
        }
    }

    #[test]
    fn most_other_names_are_excluded() {
        let words = |from: u32| (from..from + 2_000).map(|number| format!("w{number}x ordinary "));
        let text: String = words(0).collect();
        let filter = WordFilter::of(text.as_bytes());
        assert!(filter.bytes() <= 2_001 * BITS_PER_WORD / 8 + 8, "{}", filter.bytes());
        let excluded = (5_000..6_000).filter(|number| !has(&filter, &format!("w{number}x")));
        assert!(excluded.count() > 985);
        assert_eq!(WordFilter::of(text.repeat(3).as_bytes()).bytes(), filter.bytes());
        // Parts of a word are no words.
        assert!(!has(&WordFilter::of(b"parse_url"), "parse"));
        assert!(!has(&WordFilter::of(b""), "a"));
    }
}
