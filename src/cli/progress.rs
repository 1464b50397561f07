//! How a run shows itself to people: a bar on a terminal, a line a phase elsewhere, nothing where the output is for programs.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{grouped, note};
use crate::index::Progress;

/// What has been shown so far. One a run.
pub(super) struct Display {
    bar: Option<ProgressBar>,
    last_line: Mutex<&'static str>,
    quiet: bool,
}

impl Display {
    /// Shows nothing if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{msg:>10} {bar:32} {human_pos}/{human_len} files {elapsed}");
            ProgressBar::no_length().with_style(style.expect("the template is a constant that is well formed"))
        });
        Self { bar, last_line: Mutex::new(""), quiet }
    }

    /// Shows how far the run is.
    pub(super) fn show(&self, progress: Progress) {
        if let Some(bar) = &self.bar {
            bar.set_message(progress.phase.word());
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            return;
        }
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && *last != progress.phase.word() {
            *last = progress.phase.word();
            let files = if progress.total == 0 { String::new() } else { format!(" {} files", grouped(progress.total)) };
            note(&format!("{}{files}", progress.phase.word()));
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.finish();
    }
}
