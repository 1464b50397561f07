//! What is kept: for each function, by path, qualified name and fingerprint of its body, the tests
//! that executed it. Bounded. Pure.

mod codec;
pub(crate) mod functions;
pub(crate) mod record;

pub(super) use record::{FileRecord, TestNames};
pub use record::{MAX_TESTS, Records, Sums};

/// Name of the file next to the store.
pub const FILE: &str = "coverage";

/// Maximum number of pairs of a function and a test.
pub const MAX_PAIRS: u64 = 20_000_000;

impl Records {
    /// The records in the bytes that [`Records::encoded`] made; none if they are others.
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        codec::decoded(bytes)
    }

    /// The records as bytes.
    pub fn encoded(&self) -> Vec<u8> {
        codec::encoded(self)
    }

    /// How much there is, with what has expired.
    pub fn sums(&self) -> Sums {
        let functions = self.files.values().flat_map(FileRecord::functions);
        let mut sums = Sums { files: self.files.len() as u64, ..Sums::default() };
        let mut used = vec![false; self.tests.texts.len()];
        for function in functions {
            sums.functions += u64::from(!function.name.is_empty());
            sums.pairs += function.tests.len() as u64;
            function.tests.iter().for_each(|&test| used[test as usize] = true);
        }
        sums.tests = used.iter().filter(|is_used| **is_used).count() as u64;
        sums
    }

    /// TestNames of the tests by position.
    pub fn test_names(&self) -> impl Iterator<Item = &str> {
        self.tests.texts.iter().map(|name| &**name)
    }

    /// Name of the test at a position; empty for none.
    pub fn test_name(&self, position: u32) -> &str {
        self.tests.texts.get(position as usize).map_or("", |name| &**name)
    }

    /// Drops the names of tests that nothing refers to.
    pub(super) fn compact(&mut self) {
        let functions = self.files.values_mut().flat_map(FileRecord::functions_mut);
        let mut names = TestNames::default();
        for function in functions {
            for test in &mut function.tests {
                let name = &self.tests.texts[*test as usize];
                *test = names.add(name).expect("fewer than before");
            }
            function.tests.sort_unstable();
        }
        self.tests = names;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::functions::FunctionRecord;
    use crate::records::record::MAX_NAME;
    use cograph_model::RepoPath;

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_else() {
        let mut records = Records::default();
        let tests: Vec<u32> =
            ["a::b", "c"].iter().filter_map(|name| records.tests.add(name)).collect();
        let path = RepoPath::new("src/ä.py").expect("a path");
        let file = records.files.entry(path).or_default();
        file.hash = u128::MAX - 7;
        *file.with_body("A.f", u64::MAX) =
            FunctionRecord { name: "A.f".to_owned(), line: 7, fingerprint: 3, tests };
        file.with_body("", 9);
        let bytes = records.encoded();
        assert_eq!(Records::decoded(&bytes), Some(records.clone()));
        assert_eq!(records.sums(), Sums { tests: 2, files: 1, functions: 1, pairs: 2 });
        for cut in [0, 1, 9, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(Records::decoded(&bytes[..cut]), None);
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Records::decoded(&other), None, "byte {at}");
        }
    }

    #[test]
    fn functions_of_a_file_are_decoded_when_they_are_read() {
        let mut records = Records::default();
        for name in ["a.py", "b.py"] {
            let path = RepoPath::new(name).expect("a path");
            records.files.entry(path).or_default().with_body("f", 1);
        }
        let kept = Records::decoded(&records.encoded()).expect("it was encoded");
        let read = |kept: &Records| {
            kept.files.values().map(|file| file.functions.get().is_some()).collect::<Vec<_>>()
        };
        assert_eq!(read(&kept), [false, false]);
        assert_eq!(kept.files.values().next().map(|file| file.functions().len()), Some(1));
        assert_eq!(read(&kept), [true, false]);
    }

    #[test]
    fn names_have_bounds() {
        let mut names = TestNames::default();
        assert_eq!(names.add(&"x".repeat(MAX_NAME)), Some(0));
        assert_eq!(names.add(&"x".repeat(MAX_NAME + 1)), None);
    }
}
