//! The `git` program: the only module that runs it. One child at a time, which reads the repository
//! and runs nothing that the repository names: no hook, no monitor, no external diff, no
//! conversion, no filter, no download of missing objects. `safe.directory` stays in force. Output,
//! time and memory are bounded.

use std::io::Write;
use std::net::Shutdown;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cograph_config::process::{ChildProcess, EndPatience, Ended, Started};
use cograph_model::cancel::CancelToken;
use cograph_system::streams::TimedReader;

/// Maximum time of one command.
pub const TIMEOUT: Duration = Duration::from_secs(20);
/// Interval at which cancellation is checked while a command writes nothing.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum length of a message of git in an error, in bytes.
const MAX_MESSAGE: usize = 300;

/// Options of every command: they switch off what a repository or its configuration could run.
const OPTIONS: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
    "-c",
    "core.alternateRefsCommand=true",
    "-c",
    "protocol.allow=never",
    "-c",
    "diff.external=",
    "-c",
    "log.showSignature=false",
];

/// Variables that would lead git to another repository, configuration, program or file.
const CLEARED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_PAGER",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_ATTR_SOURCE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TRACE",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_REDIRECT_STDOUT",
    "GIT_REDIRECT_STDERR",
];

/// Why git gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GitError {
    /// There is no such program.
    #[error("the program `git` is not there")]
    Missing,
    /// The directory is in no repository that git reads.
    #[error("git reads no repository here: {0}")]
    NoRepository(String),
    /// No commit has this name.
    #[error("git knows no commit `{0}`")]
    NoRevision(String),
    /// The command failed; its message.
    #[error("git failed: {0}")]
    Failed(String),
    /// The command took too long.
    #[error("git took longer than {} s", TIMEOUT.as_secs())]
    Late,
    /// The command wrote more than may be kept.
    #[error("the output of git is larger than {} MiB", .0 >> 20)]
    TooMuch(usize),
    /// The question was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Repository as git reads it from a directory.
pub(super) struct Git<'g> {
    root: &'g Path,
    cancel: &'g CancelToken,
    /// Options that switch off the filters of its configuration.
    filters: Vec<String>,
}

impl<'g> Git<'g> {
    /// Finds the repository around a directory.
    pub(super) fn open(root: &'g Path, cancel: &'g CancelToken) -> Result<Self, GitError> {
        let mut git = Self { root, cancel, filters: Vec::new() };
        match git.line(&["rev-parse", "--is-inside-work-tree"]) {
            Ok(_) => {}
            Err(GitError::Failed(message)) => return Err(GitError::NoRepository(message)),
            Err(error) => return Err(error),
        }
        // Exit code 1 means that no filter is configured.
        let listed = git.read(
            &[
                "config",
                "-z",
                "--name-only",
                "--get-regexp",
                r"^filter\..*\.(clean|smudge|process)$",
            ],
            b"",
            1 << 20,
        );
        for name in listed.unwrap_or_default().split(|&byte| byte == 0) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let Some((driver, _)) = name.rsplit_once('.') else { continue };
            git.filters.push(format!("{name}="));
            git.filters.push(format!("{driver}.required=false"));
        }
        Ok(git)
    }

    /// Object name of a commit.
    pub(super) fn commit(&self, revision: &str) -> Result<String, GitError> {
        let asked = format!("{revision}^{{commit}}");
        match self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &asked]) {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) | Err(GitError::Failed(_)) => Err(GitError::NoRevision(revision.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// First line of the output of a command.
    pub(super) fn line(&self, arguments: &[&str]) -> Result<String, GitError> {
        let output = self.read(arguments, b"", 1 << 16)?;
        let line = output.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Ok(String::from_utf8_lossy(line).trim().to_owned())
    }

    /// Lines of the output of a command.
    pub(super) fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, GitError> {
        let output = self.read(arguments, b"", 1 << 20)?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    /// Whole output of a command, at most this many bytes.
    pub(super) fn read(
        &self,
        arguments: &[&str],
        input: &[u8],
        most: usize,
    ) -> Result<Vec<u8>, GitError> {
        let mut output = Vec::new();
        let mut is_whole = true;
        self.stream(arguments, input, TIMEOUT, &mut |bytes| {
            is_whole = output.len() + bytes.len() <= most;
            if is_whole {
                output.extend_from_slice(bytes);
            }
            is_whole
        })?;
        if is_whole { Ok(output) } else { Err(GitError::TooMuch(most)) }
    }

    /// Runs a command and passes its output to `visit` until it returns false, which ends the
    /// command. Returns true if the output was read to its end within the time.
    pub(super) fn stream(
        &self,
        arguments: &[&str],
        input: &[u8],
        at_most: Duration,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, GitError> {
        let started = ChildProcess::start(self.command(arguments));
        let Started { process, input: mut to_child, output } =
            started.map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => GitError::Missing,
                _ => GitError::Failed(error.to_string()),
            })?;
        // A child that ends early closes its input; its exit status says why.
        let _ = to_child.write_all(input).and_then(|()| to_child.shutdown(Shutdown::Write));
        drop(to_child);
        let mut output =
            TimedReader::new(output).map_err(|error| GitError::Failed(error.to_string()))?;
        let until = Instant::now() + at_most;
        let mut buffer = vec![0_u8; 64 << 10];
        let ended = loop {
            if self.cancel.is_cancelled() {
                break Err(GitError::Cancelled);
            }
            if Instant::now() >= until {
                break Ok(false);
            }
            match output.read(&mut buffer, CHECK_INTERVAL) {
                Ok(None) => {}
                Ok(Some(0)) => break Ok(true),
                Ok(Some(count)) if visit(&buffer[..count]) => {}
                Ok(Some(_)) => break Ok(false),
                Err(error) => break Err(GitError::Failed(error.to_string())),
            }
        };
        let patience = match ended {
            Ok(true) => EndPatience::default(),
            _ => EndPatience { after_end_of_input: Duration::ZERO, ..EndPatience::default() },
        };
        let status = process.end(patience);
        match (ended?, status) {
            (true, Some(Ended::Itself(status))) if !status.success() => {
                Err(GitError::Failed(first_line(&process.errors())))
            }
            (is_whole, _) => Ok(is_whole),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(self.root).args(OPTIONS);
        for option in &self.filters {
            command.args(["-c", option]);
        }
        command.args(arguments);
        for name in CLEARED {
            command.env_remove(name);
        }
        command
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_FLUSH", "0")
            .env("LC_ALL", "C");
        command
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    let line = line.trim().trim_start_matches("fatal: ").trim_start_matches("error: ");
    line[..line.floor_char_boundary(MAX_MESSAGE)].to_owned()
}
