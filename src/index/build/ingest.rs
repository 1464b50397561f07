//! Ingestion: reads files and extracts their facts, in parallel. Errors are local: a file that is
//! missing, unreadable or makes the extraction panic is skipped with a reason.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::plan::Plan;
use super::workers::Workers;
use crate::build::context::RunContext;
use crate::progress::{Counter, Phase};
use crate::quarantine::{Isolation, Suspects};
use cograph_config::Limits;
use cograph_extract::{self as extract, Exhausted};
use cograph_grammar as grammar;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileRecord, FileStamp};
use cograph_model::panics::guarded;
use cograph_model::{LanguageId, RepoPath, SkipReason};
use cograph_resolve::{ProjectFile, Shared};
use cograph_source::{self as source, Root, Text, WalkedFile};
use cograph_system::clock::thread_cpu;

/// Prefix of a file that may contain a `#!` line, in bytes.
const SHEBANG_BYTES: usize = 512;
/// Prefix of a file that is searched for language markers, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Files with facts, sorted by path, and project files read by module resolution only.
pub(crate) struct Ingested {
    /// Each file with its exported facts, if any.
    pub(crate) files: Vec<(FileRecord, Option<Shared>)>,
    pub(crate) project_files: Vec<ProjectFile>,
}

pub(crate) fn ingest(root: &Path, plan: &Plan, run: &RunContext, workers: &Workers) -> Ingested {
    let taking = Ingestion::start(root, plan, Pace::Thorough, run, workers);
    let mut results = workers.map(&plan.largest_first, run, |position| {
        taking.announce(position..position + 1);
        let (mut record, project_file, shared) = taking.file(position);
        if let Ok(facts) = &mut record.content {
            Arc::make_mut(facts).shrink();
        }
        ((record, shared), project_file)
    });
    results.sort_unstable_by_key(|(position, _)| *position);
    let mut taken =
        Ingested { files: Vec::with_capacity(results.len()), project_files: Vec::new() };
    for (_, (file, project_file)) in results {
        taken.files.push(file);
        taken.project_files.extend(project_file);
    }
    taken
}

/// Ingested file, the project file if it is one, and its exported facts.
pub(crate) type IngestedFile = (FileRecord, Option<ProjectFile>, Option<Shared>);

/// How long a run may take for a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pace {
    /// Others wait for the run: slow files are deferred.
    Quick,
    /// Each file gets its whole budget.
    Thorough,
}

impl Pace {
    fn limits(self, is_late: bool) -> extract::Limits {
        match self {
            Self::Quick if is_late => extract::Limits::quicker(),
            Self::Quick => extract::Limits::quick(),
            Self::Thorough => extract::Limits::default(),
        }
    }

    /// Reason for leaving out a file that exhausts these limits.
    fn reason(self, exhausted: Exhausted) -> SkipReason {
        match (self, exhausted) {
            (Self::Quick, Exhausted::Time) => SkipReason::Deferred,
            (Self::Quick | Self::Thorough, exhausted) => exhausted.reason(),
        }
    }
}

/// Ingestion of the files of a plan, on any thread.
pub(super) struct Ingestion<'t> {
    root: Root,
    plan: &'t Plan,
    pace: Pace,
    run: &'t RunContext<'t>,
    counter: Counter<'t>,
    effort: Effort,
}

/// CPU time of a run, in nanoseconds.
#[derive(Default)]
struct Effort {
    /// For all files.
    all: AtomicU64,
    /// For files that were left to a later run.
    lost: AtomicU64,
}

/// Slow files may cost a run this CPU time, in nanoseconds, and a share of what all files cost.
const MOST_LOST: u64 = 1_000_000_000;
const LOST_SHARE: u64 = 8;

impl Effort {
    fn add(&self, took: Duration, is_lost: bool) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.all.fetch_add(took, Ordering::Relaxed);
        if is_lost {
            self.lost.fetch_add(took, Ordering::Relaxed);
        }
    }

    /// True if slow files have cost more than they may.
    fn is_late(&self) -> bool {
        let share = self.all.load(Ordering::Relaxed) / LOST_SHARE;
        self.lost.load(Ordering::Relaxed) > MOST_LOST + share
    }
}

impl<'t> Ingestion<'t> {
    /// Starts with the suspected files.
    pub(crate) fn start(
        root: &Path,
        plan: &'t Plan,
        pace: Pace,
        run: &'t RunContext<'t>,
        workers: &Workers,
    ) -> Self {
        let (root, counter) =
            (Root::new(root), Counter::start(Phase::Extract, plan.files.len(), run.progress));
        if let Some(caution) = run.caution {
            try_suspects(&root, plan, pace, run, workers, caution);
        }
        Self { root, plan, pace, run, counter, effort: Effort::default() }
    }

    /// Announces the files that this thread will process next.
    pub(crate) fn announce(&self, positions: Range<usize>) {
        if let Some(caution) = self.run.caution {
            caution.announce(
                self.plan.files[positions].iter().map(|file| file.path.clone()).collect(),
            );
        }
    }

    /// Ingests the file at a position: its record, the project file if it is one, and its exported
    /// facts.
    pub(crate) fn file(&self, position: usize) -> IngestedFile {
        let file = &self.plan.files[position];
        let is_project_file = grammar::is_project_file(file.path.file_name());
        let is_late = self.effort.is_late();
        let one = One { is_project_file, pace: self.pace, is_late, alone: false };
        let begun = thread_cpu();
        let taken = ingest_file(&self.root, file, one, self.plan, self.run);
        let is_lost = matches!(taken.0.content, Err(SkipReason::Deferred));
        self.effort.add(thread_cpu().saturating_sub(begun), is_lost);
        self.counter.add_one();
        taken
    }
}

/// Parses suspected files one at a time, to find the one that crashes. Their results are discarded.
fn try_suspects(
    root: &Root,
    plan: &Plan,
    pace: Pace,
    run: &RunContext,
    workers: &Workers,
    caution: &Isolation,
) {
    let try_alone = |file: &WalkedFile| {
        // A panic occurs again in the regular pass, which reports it.
        let one = One { is_project_file: false, pace, is_late: false, alone: true };
        let _ = workers.run(|| ingest_file(root, file, one, plan, run));
    };
    match caution.suspicion() {
        Suspects::Of(suspects) => {
            let find = |suspect| plan.files.binary_search_by(|file| file.path.cmp(suspect)).ok();
            suspects.iter().filter_map(find).for_each(|position| try_alone(&plan.files[position]));
        }
        Suspects::AllAfter(last) => {
            let begin = last
                .as_ref()
                .map_or(0, |last| plan.files.partition_point(|file| file.path <= *last));
            plan.files[begin..].iter().for_each(try_alone);
        }
    }
}

/// How one file is ingested.
#[derive(Clone, Copy)]
struct One {
    is_project_file: bool,
    pace: Pace,
    /// Slow files have cost the run more than they may.
    is_late: bool,
    /// No other file is parsed meanwhile.
    alone: bool,
}

fn ingest_file(
    root: &Root,
    file: &WalkedFile,
    one: One,
    plan: &Plan,
    run: &RunContext,
) -> IngestedFile {
    let is_project_file = one.is_project_file;
    let reading = tracing::trace_span!("read").entered();
    let Examined { stamp, language, text } =
        examine(root, file, is_project_file, &run.limits, |path, head| plan.language(path, head));
    drop(reading);
    let mut record = FileRecord {
        path: file.path.clone(),
        stamp,
        language,
        content: Err(SkipReason::NoLanguage),
    };
    let text = match text {
        Ok(text) => text,
        Err(reason) => {
            record.content = Err(reason);
            let link = (reason == SkipReason::Symlink).then(|| root.link(&file.path)).flatten();
            let link = link.map(|target| ProjectFile::link(file.path.clone(), &target));
            return (record, link, None);
        }
    };
    let is_project_file =
        is_project_file || grammar::is_project_text(file.path.file_name(), || text.as_str());
    let project_file = is_project_file
        .then(|| ProjectFile { path: file.path.clone(), text: text.as_str().into_owned() });
    if let Some(language) = language {
        match facts(&file.path, record.stamp.hash, language, text, run, one) {
            Ok((facts, shared)) => {
                record.content = Ok(Arc::new(facts));
                return (record, project_file, Some(shared));
            }
            Err(reason) => record.content = Err(reason),
        }
    }
    (record, project_file, None)
}

/// File before extraction.
pub(crate) struct Examined {
    pub(crate) stamp: FileStamp,
    pub(crate) language: Option<LanguageId>,
    /// Text of a source or project file, or the reason for skipping it.
    pub(crate) text: Result<Text, SkipReason>,
}

/// Determines the language of a file and reads its text. `detect` maps a path and a prefix to a
/// language.
pub(crate) fn examine(
    root: &Root,
    file: &WalkedFile,
    is_project_file: bool,
    limits: &Limits,
    detect: impl Fn(&RepoPath, &[u8]) -> Option<LanguageId>,
) -> Examined {
    let skipped = |reason| Examined { stamp: file.stamp, language: None, text: Err(reason) };
    if let Some(reason) = file.skipped {
        return skipped(reason);
    }
    let language = match language_by_name(root, &file.path, &detect) {
        Ok(language) => language,
        Err(reason) => return skipped(reason),
    };
    let is_data =
        |language| grammar::most_bytes(language).is_some_and(|most| file.stamp.size > most);
    if language.is_some_and(is_data) && !is_project_file {
        return skipped(SkipReason::TooLarge);
    }
    let language = language.filter(|language| !is_data(*language));
    if language.is_none() && !is_project_file {
        return skipped(SkipReason::NoLanguage);
    }
    let source::ReadFile { mut stamp, text } = source::read(root, &file.path, limits);
    if !is_project_file
        && language.and_then(grammar::most_bytes).is_some_and(|most| stamp.size > most)
    {
        // It has grown since the walk.
        stamp.hash = 0;
        return Examined { stamp, language: None, text: Err(SkipReason::TooLarge) };
    }
    let language = match (&text, language) {
        (Ok(text), Some(_)) => detect(&file.path, &text.bytes[..text.bytes.len().min(HEAD_BYTES)]),
        (_, language) => language,
    };
    Examined { stamp, language, text }
}

/// Language of a file without reading all of it: only a file without an extension is opened.
fn language_by_name(
    root: &Root,
    path: &RepoPath,
    detect: &impl Fn(&RepoPath, &[u8]) -> Option<LanguageId>,
) -> Result<Option<LanguageId>, SkipReason> {
    let by_name = detect(path, &[]);
    if by_name.is_some() || path.extension().is_some() {
        return Ok(by_name);
    }
    Ok(detect(path, &source::read_head(root, path, SHEBANG_BYTES)?))
}

fn facts(
    path: &RepoPath,
    hash: u128,
    language: LanguageId,
    text: Text,
    run: &RunContext,
    one: One,
) -> Result<(FileFacts, Shared), SkipReason> {
    let limits = one.pace.limits(one.is_late);
    let extract = || guarded(|| (run.extract)(language, path.as_str(), &text.bytes, limits));
    if let Some(reason) = run.caution.and_then(|caution| caution.leaves_out(path, hash)) {
        return Err(reason);
    }
    let extracted = match run.caution {
        Some(caution) => caution.working(path, Some(text.bytes.len() as u64), one.alone, extract),
        None => extract(),
    };
    let extracted = match extracted {
        Ok(Err(exhausted)) => {
            let reason = one.pace.reason(exhausted);
            tracing::info!(path = path.as_str(), reason = reason.word(), "a file is left out");
            if let Some(caution) = run.caution {
                caution.exhausts(path, reason);
            }
            return Err(reason);
        }
        Ok(Ok(facts)) => Ok(facts),
        Err(message) => Err(message),
    };
    let arranged = extracted.and_then(|mut facts| {
        guarded(|| {
            let _span = tracing::trace_span!("arrange facts").entered();
            let shared = Shared::first(&mut facts);
            (facts, shared)
        })
    });
    match arranged {
        Ok((mut facts, shared)) => {
            facts.problems.extend(text.problems);
            facts.problems.sort_by_key(|problem| (problem.first_line, problem.last_line));
            Ok((facts, shared))
        }
        Err(message) => {
            tracing::error!(
                path = path.as_str(),
                message,
                "extraction failed; the file is left out"
            );
            Err(SkipReason::Quarantined)
        }
    }
}
