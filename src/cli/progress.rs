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

/// A bar for work that is measured in thousandths. It comes with the first report: most questions need none.
#[derive(Default)]
pub(super) struct Bar(Mutex<Option<ProgressBar>>);

impl Bar {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Shows how far the work is; nothing where stderr is no terminal.
    pub(super) fn show(&self, thousandths: u32, message: &str) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        let mut bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:32} {msg} {elapsed}");
            ProgressBar::new(1000).with_style(style.expect("the template is a constant that is well formed"))
        });
        bar.set_position(u64::from(thousandths));
        bar.set_message(message.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
            bar.finish_and_clear();
        }
    }
}
