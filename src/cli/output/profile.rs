//! What `--profile` prints: time by step, the largest first.

use comfy_table::{CellAlignment, Table, presets};

use crate::output::numbers::{grouped, percent};
use crate::output::streams::note;
use cograph_index::profile;

/// Prints the profile of this process and of the workers that it had, if it has one.
pub(crate) fn print() {
    let totals = profile::take();
    if totals.is_empty() {
        return;
    }
    let microseconds =
        |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let all: u64 = totals.values().map(|total| microseconds(total.own_cpu)).sum();
    let mut rows: Vec<_> = totals.into_iter().collect();
    rows.sort_by_key(|(_, total)| std::cmp::Reverse(total.own_cpu));
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["step", "times", "CPU ms, own", "share", "wall ms"]);
    for (name, total) in rows {
        let milliseconds =
            |time: std::time::Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
        table.add_row([
            name,
            grouped(total.count),
            milliseconds(total.own_cpu),
            percent(microseconds(total.own_cpu), all),
            milliseconds(total.elapsed),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    note(&table.trim_fmt());
}
