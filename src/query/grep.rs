//! `grep`: text or regular expression search over the current contents of the store's files, with
//! the enclosing symbol of each match.

pub(super) mod parallel;

use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};

use super::show::is_stale;
use crate::graph::answer::{SymbolInfo, Total};
use crate::graph::content::{Content, ReadFile};
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use cograph_model::cancel::CancelToken;
use cograph_model::{RepoPath, SkipReason};
use cograph_store::{FileRow, Snapshot};

/// Parameters of `grep`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepParams {
    /// Text or regular expression.
    pub pattern: String,
    /// True if `pattern` is a regular expression.
    pub regex: bool,
    /// True for a case-insensitive search.
    pub ignore_case: bool,
    /// True to match whole words only.
    pub word: bool,
    /// Path prefix or glob of the files to include.
    pub path: Option<String>,
    /// Language of the files to include.
    pub language: Option<String>,
    /// Number of context lines before and after each match.
    pub context: u32,
    /// Number of matching lines to skip.
    pub offset: usize,
    /// Maximum number of matching lines to return; all are counted.
    pub limit: usize,
}

impl Default for GrepParams {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            regex: false,
            ignore_case: false,
            word: false,
            path: None,
            language: None,
            context: 0,
            offset: 0,
            limit: 200,
        }
    }
}

/// Matching line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepHit {
    /// Line number.
    pub line: u32,
    /// Byte offset of the first match, from 0.
    pub column: u32,
    /// Line without its line ending.
    pub text: String,
    /// Lines before it.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
    /// Innermost enclosing symbol, if the file was indexed and has not changed since.
    pub enclosing: Option<SymbolInfo>,
}

/// Matches of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepFile {
    /// File.
    pub path: RepoPath,
    /// Matching lines in order, within `offset` and `limit`.
    pub hits: Vec<GrepHit>,
    /// Number of matching lines in this file.
    pub total: u64,
    /// True if the file differs from the indexed version.
    pub stale: bool,
}

/// Result of `grep`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrepResult {
    /// Files with returned matches, by path.
    pub files: Vec<GrepFile>,
    /// Number of matching lines in all files.
    pub total: Total,
    /// Number of files with matches.
    pub file_total: Total,
    /// Number of files searched.
    pub searched: u64,
    /// Files that pass the filters but were not searched: binary, links and special files.
    pub not_text: u64,
    /// Unreadable or too large files, with the reason.
    pub unreadable: Vec<(RepoPath, String)>,
}

/// Searches the files of the store.
pub fn grep(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &GrepParams,
    cancel: &CancelToken,
) -> Result<GrepResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let filter = FileFilter::new(&lookup, params.path.as_deref(), params.language.as_deref())?;
    let matcher = matcher(params)?;
    let mut result = GrepResult {
        files: Vec::new(),
        total: Total::Exact(0),
        file_total: Total::Exact(0),
        searched: 0,
        not_text: 0,
        unreadable: Vec::new(),
    };
    let mut rows = snapshot.files()?;
    rows.retain(|file| filter.admits(file.mark()));
    lookup.check()?;
    let not_text = rows.len();
    rows.retain(is_text);
    result.not_text = (not_text - rows.len()) as u64;
    // Once all lines to list are known, further ones are only counted.
    let is_full = AtomicBool::new(params.limit == 0);
    let searching = || {
        let (matcher, is_full) = (matcher.clone(), &is_full);
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(b'\0'))
            .build();
        move |file: &FileRow| {
            let content = files.content(&file.path).map_err(|error| error.to_string())?;
            let matches = search_file(&mut searcher, &matcher, &content.text, cancel, file);
            let keep =
                |matches: &Matches| !matches.places.is_empty() && !is_full.load(Ordering::Relaxed);
            let content =
                if matches.as_ref().is_ok_and(keep) { content } else { Content::default() };
            Ok((matches, content))
        }
    };
    let (mut total, mut file_total, mut listed) = (0_u64, 0_u64, 0_usize);
    let mut take = |file: &FileRow, searched: Searched| -> Result<(), QueryError> {
        lookup.check()?;
        let (matches, content) = match searched {
            Ok((matches, content)) => (matches?, content),
            Err(reason) => {
                result.unreadable.push((file.path.clone(), reason));
                return Ok(());
            }
        };
        if matches.is_binary {
            result.not_text += 1;
            return Ok(());
        }
        result.searched += 1;
        if matches.places.is_empty() {
            return Ok(());
        }
        let skip = params.offset.saturating_sub(usize::try_from(total).unwrap_or(usize::MAX));
        total += matches.places.len() as u64;
        file_total += 1;
        let wanted = matches.places.get(skip..).unwrap_or_default();
        let wanted = &wanted[..wanted.len().min(params.limit - listed)];
        if !wanted.is_empty() {
            listed += wanted.len();
            is_full.store(listed == params.limit, Ordering::Relaxed);
            let mut found = describe(&lookup, file, &content, wanted, params.context)?;
            found.total = matches.places.len() as u64;
            result.files.push(found);
        }
        Ok(())
    };
    parallel::in_order(&rows, cancel, searching, &mut take)?;
    result.total = Total::Exact(total);
    result.file_total = Total::Exact(file_total);
    Ok(result)
}

/// Matching lines of a file, with its contents if lines are listed; or the reason why it is
/// unreadable.
type Searched = Result<(Result<Matches, QueryError>, Content), String>;

/// True if the file can be searched. A file too large to be parsed may be small enough to be read.
pub(super) fn is_text(file: &FileRow) -> bool {
    !matches!(
        file.skipped,
        Some(SkipReason::Binary | SkipReason::Symlink | SkipReason::Special | SkipReason::Vanished)
    )
}

/// Compiles the pattern.
pub(super) fn matcher(params: &GrepParams) -> Result<RegexMatcher, QueryError> {
    let invalid = |reason: String| QueryError::InvalidParameter { parameter: "pattern", reason };
    if params.pattern.is_empty() {
        return Err(invalid("it is empty: every line would match".to_owned()));
    }
    if !params.regex && params.pattern.contains('\n') {
        return Err(invalid("it spans lines; lines are searched one by one".to_owned()));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(params.ignore_case)
        .word(params.word)
        .fixed_strings(!params.regex)
        .line_terminator(Some(b'\n'))
        .build(&params.pattern)
        .map_err(|error| invalid(error.to_string()))
}

/// Positions of the matching lines of a file: line number and column of the first match.
#[derive(Default)]
pub(super) struct Matches {
    pub(super) places: Vec<(u32, u32)>,
    pub(super) is_binary: bool,
}

struct Collector<'c> {
    matcher: &'c RegexMatcher,
    cancel: &'c CancelToken,
    matches: Matches,
}

impl Sink for Collector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let first = self.matcher.find(found.bytes()).map_err(std::io::Error::other)?;
        let line = u32::try_from(found.line_number().unwrap_or(1)).unwrap_or(u32::MAX);
        let column = u32::try_from(first.map_or(0, |first| first.start())).unwrap_or(u32::MAX);
        self.matches.places.push((line, column));
        Ok(!self.cancel.is_cancelled())
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), Self::Error> {
        self.matches.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Searches one file.
pub(super) fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    bytes: &[u8],
    cancel: &CancelToken,
    file: &FileRow,
) -> Result<Matches, QueryError> {
    let mut collector = Collector { matcher, cancel, matches: Matches::default() };
    searcher
        .search_slice(matcher, bytes, &mut collector)
        .map_err(|error| QueryError::Read { path: file.path.clone(), reason: error.to_string() })?;
    if cancel.is_cancelled() { Err(QueryError::Cancelled) } else { Ok(collector.matches) }
}

fn describe(
    lookup: &Lookup<'_>,
    file: &FileRow,
    content: &Content,
    places: &[(u32, u32)],
    context: u32,
) -> Result<GrepFile, QueryError> {
    let stale = is_stale(file, content);
    let symbols = match (places.first(), places.last()) {
        (Some(first), Some(last)) if !stale && file.symbols > 0 => {
            lookup.snapshot.symbols_at(file, first.0, last.0)?
        }
        _ => Vec::new(),
    };
    let text = String::from_utf8_lossy(&content.text);
    let lines: Vec<&str> = text.lines().collect();
    let run = |from: usize, to: usize| {
        lines[from.min(lines.len())..to.min(lines.len())]
            .iter()
            .map(|&line| line.to_owned())
            .collect()
    };
    let mut hits = Vec::with_capacity(places.len());
    for &(line, column) in places {
        let (at, around) = (line as usize - 1, context as usize);
        hits.push(GrepHit {
            line,
            column,
            text: lines.get(at).map(|&line| line.to_owned()).unwrap_or_default(),
            before: run(at.saturating_sub(around), at),
            after: run(at + 1, (at + 1).saturating_add(around)),
            enclosing: Lookup::at_line(&symbols, line)
                .map(|symbol| lookup.info(symbol))
                .transpose()?,
        });
    }
    Ok(GrepFile { path: file.path.clone(), hits, total: 0, stale })
}
