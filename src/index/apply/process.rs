//! Worker process: reads orders from standard input, executes them in sequence, and reports on
//! standard output. It exits with its parent, after a full build, and when a file exceeds the time
//! limit.

use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

use rustc_hash::FxHashMap;

use crate::apply::{Run, apply, if_readable, newest, prepare};
use crate::fingerprint::fingerprint_at;
use crate::outcome::{IndexError, Outcome};
#[cfg(feature = "faults")]
use crate::progress::Phase;
use crate::progress::{Progress, profile};
use crate::quarantine::{Isolation, LeftOut};
use crate::state::change_set::ChangeSet;
use crate::state::residents::Residents;
use crate::worker::confinement;
#[cfg(feature = "faults")]
use crate::worker::faults;
use crate::worker::message::{Message, Order};
use crate::worker::watchdog::{self, Reports};
use cograph_config::Limits;
use cograph_model::cancel::CancelToken;
use cograph_model::{RepoPath, SkipReason};
use cograph_store::Snapshot;
use cograph_system::limits::{Bounded, set_bound};
use cograph_system::{allocator, streams};

/// Executes the orders of the parent process. Owns standard input and output until it returns.
pub fn serve_worker() -> io::Result<()> {
    let input = BufReader::new(streams::own_input()?);
    let output = streams::own_output()?;
    // Output of libraries must not interleave with messages.
    streams::output_to_errors()?;
    let orders = orders(input)?;
    let by_hand = |_| io::Error::other("a worker is started by this program, not by hand");
    let first = orders.recv().map_err(by_hand)?;
    bound_memory(&first.limits)?;
    allocator::give_back_soon();
    let reports = Arc::new(Reports::to(output, first.location.root(), first.limits.memory_bytes));
    let watching = Arc::clone(&reports);
    let limit = first.limits.file_time;
    Builder::new().name("worker-watchdog".to_owned()).spawn(move || watching.watch(limit))?;
    let residents = Residents::without_timeout();
    for order in std::iter::once(first).chain(orders) {
        let ended = carry_out(&order, &residents, &reports);
        let last = match &ended {
            Ok(Outcome::Unchanged { .. }) => Message::Finished { changed: false },
            Ok(Outcome::Published { timings, .. }) => {
                timings.iter().for_each(|timing| reports.send(&Message::Timing(*timing)));
                Message::Finished { changed: true }
            }
            Err(error) => Message::failed(error),
        };
        for (name, total) in profile::take() {
            reports.send(&Message::Spans { name, total });
        }
        reports.reach(None);
        reports.send(&last);
        if !order.changes.is_of_some() || ended.is_err() {
            break;
        }
        // The files are being edited: prepare, so that the next change is incremental.
        let cancel = CancelToken::new();
        if let Err(error) = prepare(&order.location, &residents, &Run::quiet(order.limits, &cancel))
        {
            tracing::info!(%error, "the next changes mean a whole build");
        }
    }
    // What a change that never came was prepared with.
    drop(profile::take());
    Ok(())
}

/// Reads orders. End of input, which follows the death of the parent, ends the process in any
/// state; so does the end of this thread.
fn orders(mut input: BufReader<File>) -> io::Result<Receiver<Order>> {
    let (sender, orders) = sync_channel(1);
    let read = move || {
        // Without a first order nothing runs: the closed channel ends the main thread.
        let Some(first) = Order::read(&mut input) else { return };
        let mut next = Some(first);
        while let Some(order) = next {
            if sender.send(order).is_err() {
                break;
            }
            next = Order::read(&mut input);
        }
        watchdog::exit_now()
    };
    Builder::new().name("worker-orders".to_owned()).spawn(read)?;
    Ok(orders)
}

/// Executes an order. What to apply was found by the parent, and is not compared again before the
/// lock of the writer is held.
fn carry_out(
    order: &Order,
    residents: &Residents,
    reports: &Arc<Reports>,
) -> Result<Outcome, IndexError> {
    let Order { location, changes, limits, .. } = order;
    let forced = matches!(changes, ChangeSet::Everything { forced: true });
    let cancel = CancelToken::new();
    let known = if_readable(newest(location, &Run::quiet(*limits, &cancel)))?.flatten();
    let mut left_out = match &known {
        Some(snapshot) if !forced => {
            if_readable(quarantined(snapshot, limits))?.unwrap_or_default()
        }
        _ => FxHashMap::default(),
    };
    let known_here = |paths: &[RepoPath], reason| {
        let left_out = LeftOut { hash: None, reason };
        paths.iter().map(|path| (path.clone(), left_out)).collect::<Vec<_>>()
    };
    left_out.extend(known_here(&order.quarantined, SkipReason::Quarantined));
    left_out.extend(known_here(&order.slow, SkipReason::TooSlow));
    for (path, reason) in &order.exhausted {
        left_out.extend(known_here(std::slice::from_ref(path), *reason));
    }
    let caution = Isolation::new(left_out, order.suspicion.clone(), Box::new(Arc::clone(reports)));
    let progress = |progress: Progress| {
        reports.reach(Some(progress));
        #[cfg(feature = "faults")]
        if progress.phase == Phase::Tables {
            faults::at_tables(location.root());
        }
    };
    let residents = changes.is_of_some().then_some(residents);
    let run = Run {
        progress: &progress,
        caution: Some(&caution),
        residents,
        ..Run::quiet(*limits, &cancel)
    };
    #[cfg(feature = "faults")]
    let run = Run { extract: faults::extract, ..run };
    #[cfg(feature = "faults")]
    faults::at_start(location.root());
    drop(known);
    apply(location, changes, order.patience, &run)
}

/// Files quarantined by an earlier build because of their contents. They are tried again when the
/// contents or the fingerprint change.
fn quarantined(
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<FxHashMap<RepoPath, LeftOut>, IndexError> {
    if snapshot.meta().fingerprint != fingerprint_at(snapshot, limits) {
        return Ok(FxHashMap::default());
    }
    let files = snapshot.files_skipped(SkipReason::Quarantined)?;
    let left_out = |hash| LeftOut { hash: Some(hash), reason: SkipReason::Quarantined };
    Ok(files.into_iter().map(|file| (file.path, left_out(file.hash))).collect())
}

/// Makes an allocation fail, which ends the worker, before the machine runs out of memory: the
/// watchdog bounds what is resident, but not at once.
fn bound_memory(limits: &Limits) -> io::Result<()> {
    let bound = confinement::bound(limits, confinement::inherited());
    set_bound(Bounded::AddressSpace, Some(bound))
}
