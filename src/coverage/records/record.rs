//! Records of the functions of files, and the names of tests.

use crate::records::functions::{FunctionRecord, Functions};
use cograph_model::RepoPath;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Maximum length of the name of a test, in bytes.
pub(crate) const MAX_NAME: usize = 1_000;

/// Recorded executions of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Records {
    pub(crate) tests: TestNames,
    pub(crate) files: BTreeMap<RepoPath, FileRecord>,
}

/// Functions of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileRecord {
    /// Hash of the content for which `FunctionRecord::line` is valid, as the index has it.
    pub(crate) hash: u128,
    /// The functions as bytes: a question reads those of a few files.
    encoded: Functions,
    pub(crate) functions: OnceLock<Vec<FunctionRecord>>,
}

/// How much is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// Number of tests that executed something.
    pub tests: u64,
    /// Number of files.
    pub files: u64,
    /// Number of functions.
    pub functions: u64,
    /// Number of pairs of a function and a test.
    pub pairs: u64,
}

/// Distinct names by position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TestNames {
    pub(crate) texts: Vec<Box<str>>,
    known: FxHashMap<Box<str>, u32>,
}

impl PartialEq for FileRecord {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.functions() == other.functions()
    }
}

impl Eq for FileRecord {}

impl TestNames {
    /// Position of a name; none if it is new and there are too many, or it is too long.
    pub(crate) fn add(&mut self, text: &str) -> Option<u32> {
        if let Some(&known) = self.known.get(text) {
            return Some(known);
        }
        if text.len() > MAX_NAME || self.texts.len() >= MAX_TESTS {
            return None;
        }
        let key = u32::try_from(self.texts.len()).ok()?;
        self.texts.push(text.into());
        self.known.insert(text.into(), key);
        Some(key)
    }
}

impl FileRecord {
    pub(crate) fn new(hash: u128, encoded: Functions) -> Self {
        Self { hash, encoded, functions: OnceLock::new() }
    }

    pub(crate) fn functions(&self) -> &[FunctionRecord] {
        self.functions.get_or_init(|| self.encoded.decoded())
    }

    pub(crate) fn functions_mut(&mut self) -> &mut Vec<FunctionRecord> {
        self.functions();
        self.functions.get_mut().expect("they were decoded a moment ago")
    }

    /// Records of a function of this name with this body.
    pub(crate) fn with_body(&mut self, name: &str, fingerprint: u64) -> &mut FunctionRecord {
        let is_one = |own: &FunctionRecord| own.name == name && own.fingerprint == fingerprint;
        let functions = self.functions_mut();
        let at = functions.iter().position(is_one).unwrap_or_else(|| {
            let name = name.to_owned();
            functions.push(FunctionRecord { name, line: 0, fingerprint, tests: Vec::new() });
            functions.len() - 1
        });
        &mut functions[at]
    }
}

/// Maximum number of tests.
pub const MAX_TESTS: usize = 500_000;
