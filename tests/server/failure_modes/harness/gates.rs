//! Gates and announcements, and a look at what the process holds: for tests that are built with the
//! feature `faults`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Bench, Client, assert_prompt, fifo, work_of};

impl Bench {
    /// A client of a process that was started raw: nothing is known of its standard error.
    pub(in crate::server::failure_modes) fn adopt(client: Client) -> Self {
        Self { client, notes: sync_channel(1).1, noted: Vec::new() }
    }

    /// Waits until the server announces that it is somewhere, for the `nth` time.
    pub(in crate::server::failure_modes) fn announced(&mut self, what: &str, nth: usize) {
        let until = Instant::now() + self.patience;
        while self.announcements(what) < nth {
            match self.notes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(note) => self.noted.push(note),
                Err(error) => panic!("`{what}` is not announced: {error}; {:?}", self.noted),
            }
        }
    }

    /// How often the server has announced it.
    pub(in crate::server::failure_modes) fn announcements(&mut self, what: &str) -> usize {
        self.noted.extend(self.notes.try_iter());
        let line = format!("@{what}");
        self.noted.iter().filter(|note| **note == line).count()
    }

    /// Asks a tool; the answer must come within a time of a quiet machine.
    pub(in crate::server::failure_modes) fn prompt_ask(
        &mut self,
        tool: &str,
        arguments: Value,
        quiet: u64,
    ) -> String {
        let start = Instant::now();
        let text = self.ask(tool, arguments);
        assert_prompt(start.elapsed(), quiet, tool);
        text
    }

    /// Cancels a request.
    pub(in crate::server::failure_modes) fn cancel(&mut self, id: impl Into<Value>) {
        self.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id.into()}
        }));
    }

    /// Waits until nothing runs and nothing waits but the question itself.
    pub(in crate::server::failure_modes) fn at_rest(&mut self) {
        let mut state = String::new();
        let until = Instant::now() + self.patience;
        while Instant::now() < until {
            state = self.ask("status", json!({}));
            let is_idle = |class: &str| state.contains(&format!("{class} 0/"));
            if state.contains("1 request in flight")
                && is_idle("query")
                && is_idle("heavy")
                && state.contains("0 calls not stopped")
            {
                return;
            }
        }
        panic!("not at rest: {state}");
    }

    /// Time that the process has worked, in hundredths of a second.
    pub(in crate::server::failure_modes) fn work(&self) -> u64 {
        work_of(self.pid())
    }

    /// Descriptors open on files of stores below a directory.
    pub(in crate::server::failure_modes) fn open_stores(&self, below: &Path) -> usize {
        let entries = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).expect("it runs");
        let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        targets
            .filter(|target| target.starts_with(below) && target.to_string_lossy().contains(".db"))
            .count()
    }

    /// The cache.
    pub(in crate::server::failure_modes) fn cache(&self) -> PathBuf {
        self.place.path().join("cache").canonicalize().expect("the server has made it")
    }
}

/// A gate at which the server is held while it is shut.
pub(in crate::server::failure_modes) struct Gate {
    path: PathBuf,
    open: Option<File>,
}

impl Gate {
    /// A gate that is shut.
    pub(in crate::server::failure_modes) fn shut(place: &TempDir, name: &str) -> Self {
        Self { path: fifo(place.path(), name), open: None }
    }

    /// The setting that puts it where the server announces to be.
    pub(in crate::server::failure_modes) fn at(&self, position: &str) -> String {
        format!("{}={}", position.replace(' ', ":"), self.path.display())
    }

    /// Lets everybody through.
    pub(in crate::server::failure_modes) fn open(&mut self) {
        // For both, so that this does not wait for a reader at the gate.
        self.open =
            Some(File::options().read(true).write(true).open(&self.path).expect("it was made"));
    }

    /// Holds who comes from now on.
    pub(in crate::server::failure_modes) fn close(&mut self) {
        self.open = None;
    }
}
