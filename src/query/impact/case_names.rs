//! Test cases by the names that test runners and coverage tools give them.

use rustc_hash::FxHashMap;

use super::cases::{Case, TestFiles};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, Snapshot, SymbolKey};

/// Maximum number of test files whose cases are found by their names alone.
const MAX_FILES: usize = 20_000;

/// Test case of the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestCase {
    /// Symbol.
    pub symbol: SymbolKey,
    /// File.
    pub path: RepoPath,
    /// Qualified name.
    pub name: String,
    /// Line of its name.
    pub line: u32,
}

/// The cases that names mean; none for a name that means no case, or several.
pub fn test_cases<'n>(
    snapshot: &Snapshot,
    names: impl Iterator<Item = &'n str>,
    cancel: &CancelToken,
) -> Result<Vec<Option<TestCase>>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut files = TestFiles::default();
    let mut known = CaseNames::new(&lookup, &files)?;
    let mut found = Vec::new();
    for name in names {
        lookup.check()?;
        let case = known.find(&mut files, name)?;
        found.push(case.map(|case| test_case(&lookup, &mut files, case)).transpose()?);
    }
    Ok(found)
}

/// Every test case of the index, by path and line.
pub fn all_test_cases(
    snapshot: &Snapshot,
    cancel: &CancelToken,
) -> Result<Vec<TestCase>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (mut files, mut found) = (TestFiles::default(), Vec::new());
    for &file in files.all(&lookup)?.iter() {
        lookup.check()?;
        for case in files.get(&lookup, file)?.cases.clone() {
            found.push(test_case(&lookup, &mut files, (file, case))?);
        }
    }
    found.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    Ok(found)
}

fn test_case(
    lookup: &Lookup<'_>,
    files: &mut TestFiles,
    (file, at): Case,
) -> Result<TestCase, QueryError> {
    let symbol = &files.get(lookup, file)?.symbols[at];
    let info = lookup.info(symbol)?;
    Ok(TestCase {
        symbol: info.key,
        name: info.qualified_name(),
        line: info.name_at.line,
        path: info.path,
    })
}

/// Names of the cases of a snapshot.
pub(super) struct CaseNames<'l, 'q> {
    lookup: &'l Lookup<'q>,
    /// Test files by the last segment of their paths without an extension.
    by_stem: FxHashMap<String, Vec<(FileKey, String)>>,
    /// Cases by their own names; read on first use.
    by_name: Option<FxHashMap<Box<str>, Vec<Case>>>,
}

impl<'l, 'q> CaseNames<'l, 'q> {
    pub(super) fn new(lookup: &'l Lookup<'q>, files: &TestFiles) -> Result<Self, QueryError> {
        let mut by_stem: FxHashMap<String, Vec<(FileKey, String)>> = FxHashMap::default();
        for &file in files.all(lookup)?.iter() {
            let path = lookup.place(file)?.path.clone();
            let whole = stem(path.as_str()).to_owned();
            let last = whole.rsplit('/').next().unwrap_or_default().to_owned();
            by_stem.entry(last).or_default().push((file, whole));
        }
        Ok(Self { lookup, by_stem, by_name: None })
    }

    /// The case that a name means: `path::Class::name`, `package.module.Class.name`, or the name of
    /// one case alone.
    pub(super) fn find(
        &mut self,
        files: &mut TestFiles,
        name: &str,
    ) -> Result<Option<Case>, QueryError> {
        if let Some((path, inner)) = name.split_once("::")
            && let Some(file) = self.file(stem(path))
        {
            return self.inside(files, file, &inner.replace("::", "."));
        }
        let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
        for &at in dots.iter().rev() {
            if let Some(file) = self.file(&name[..at].replace('.', "/"))
                && let Some(case) = self.inside(files, file, &name[at + 1..])?
            {
                return Ok(Some(case));
            }
        }
        self.by_own_name(files, name)
    }

    /// The one test file whose path without an extension ends with these segments.
    fn file(&self, segments: &str) -> Option<FileKey> {
        let alike = self.by_stem.get(segments.rsplit('/').next()?)?;
        if let Some((file, _)) = alike.iter().find(|(_, stem)| stem == segments) {
            return Some(*file);
        }
        let ends = |own: &&(FileKey, String)| {
            let (long, short) = match own.1.len() > segments.len() {
                true => (own.1.as_str(), segments),
                false => (segments, own.1.as_str()),
            };
            long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
        };
        let mut found = alike.iter().filter(ends);
        found.next().filter(|_| found.next().is_none()).map(|(file, _)| *file)
    }

    /// The case of a file with this qualified name, or the only one with its last part: an
    /// inherited test is in another class.
    fn inside(
        &self,
        files: &mut TestFiles,
        file: FileKey,
        name: &str,
    ) -> Result<Option<Case>, QueryError> {
        let read = files.get(self.lookup, file)?;
        let last = name.rsplit('.').next().unwrap_or(name);
        let mut alike = Vec::new();
        for &at in &read.cases {
            let symbol = &read.symbols[at];
            if *symbol.name_text == *name || *symbol.name_text == *last {
                let qualifier = self.lookup.qualifier(symbol.container)?;
                let is_whole = *symbol.name_text == *name
                    || name.strip_suffix(last).and_then(|rest| rest.strip_suffix('.'))
                        == Some(&*qualifier);
                if is_whole {
                    return Ok(Some((file, at)));
                }
                alike.push(at);
            }
        }
        Ok(match alike[..] {
            [one] => Some((file, one)),
            _ => None,
        })
    }

    fn by_own_name(
        &mut self,
        files: &mut TestFiles,
        name: &str,
    ) -> Result<Option<Case>, QueryError> {
        if self.by_name.is_none() {
            let mut by_name: FxHashMap<Box<str>, Vec<Case>> = FxHashMap::default();
            for &file in files.all(self.lookup)?.iter().take(MAX_FILES) {
                self.lookup.check()?;
                let read = files.get(self.lookup, file)?;
                for &at in &read.cases {
                    by_name.entry(read.symbols[at].name_text.clone()).or_default().push((file, at));
                }
            }
            self.by_name = Some(by_name);
        }
        let known = self.by_name.as_ref().expect("it was made above");
        if let Some([case]) = known.get(name).map(Vec::as_slice) {
            return Ok(Some(*case));
        }
        let parts: Vec<&str> =
            name.split(['.', ':', '#', '/', ' ']).filter(|part| !part.is_empty()).collect();
        let Some((last, outer)) = parts.split_last() else { return Ok(None) };
        let all = known.get(*last).map(Vec::as_slice).unwrap_or_default();
        if let [case] = all {
            return Ok(Some(*case));
        }
        let mut fitting = Vec::new();
        for &(file, at) in all {
            let container = files.get(self.lookup, file)?.symbols[at].container;
            let qualifier = self.lookup.qualifier(container)?;
            if qualifier.rsplit('.').next() == outer.last().copied() && !qualifier.is_empty() {
                fitting.push((file, at));
            }
        }
        Ok(match fitting[..] {
            [one] => Some(one),
            _ => None,
        })
    }
}

/// A path without the extension of its file.
fn stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].rfind('.').filter(|&at| at > 0).map_or(path, |at| &path[..name + at])
}
