//! Progress display of a run: a bar on a terminal, otherwise one line per phase, or nothing for
//! machine-readable output.

use parking_lot::Mutex;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output::numbers::grouped;
use crate::output::streams::note;
use cograph_index::Progress;

/// State of the display of one run.
pub(crate) struct Display {
    bar: Option<ProgressBar>,
    last_line: Mutex<&'static str>,
    quiet: bool,
}

impl Display {
    /// Shows nothing if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let template = "{msg:>10} {bar:32} {human_pos}/{human_len} files, {rate}/s, {left}";
            ProgressBar::no_length().with_style(style(template))
        });
        Self { bar, last_line: Mutex::new(""), quiet }
    }

    /// Shows progress.
    pub(crate) fn show(&self, progress: Progress) {
        if let Some(bar) = &self.bar {
            let phase = progress.phase.word();
            if bar.message() != phase {
                // Each phase has a rate of its own.
                bar.reset_eta();
                bar.set_message(phase);
            }
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            return;
        }
        let mut last = self.last_line.lock();
        if !self.quiet && *last != progress.phase.word() {
            *last = progress.phase.word();
            let files = if progress.total == 0 {
                String::new()
            } else {
                format!(" {} files", grouped(progress.total))
            };
            note(&format!("{}{files}", progress.phase.word()));
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
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

/// Style of a bar, with the keys `rate`, steps in a second, and `left`, the time since the start
/// and the time that the rest will take at that rate.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the template is a constant that is well formed")
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{:.0}", state.per_sec());
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{} s", state.elapsed().as_secs());
            if state.pos() > 0 {
                let _ = write!(out, ", {} s left", state.eta().as_secs());
            }
        })
}

/// Progress display of a query that waits for an index: a bar on a terminal; otherwise one line
/// after a delay, so that most queries print nothing.
pub(crate) struct Bar {
    created: Instant,
    shown: Mutex<Option<ProgressBar>>,
}

const SILENT_EXIT: Duration = Duration::from_secs(1);

impl Bar {
    pub(crate) fn new() -> Self {
        Self { created: Instant::now(), shown: Mutex::new(None) }
    }

    /// Shows progress.
    pub(crate) fn show(&self, thousandths: u32, message: &str) {
        let is_terminal = std::io::stderr().is_terminal();
        let mut shown = self.shown.lock();
        if !is_terminal {
            if shown.is_none() && self.created.elapsed() > SILENT_EXIT {
                *shown = Some(ProgressBar::hidden());
                note(message);
            }
            return;
        }
        let bar = shown.get_or_insert_with(|| {
            ProgressBar::new(1000).with_style(style("{bar:32} {msg}, {left}"))
        });
        bar.set_position(u64::from(thousandths));
        bar.set_message(message.to_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.shown.get_mut() {
            bar.finish_and_clear();
        }
    }
}
