//! Time in `tracing` spans, added up by name over all threads: where a run or a request went. Off
//! unless a profile is started, and then a disabled span costs a comparison.

use cograph_system::clock::thread_cpu;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tracing::Subscriber;
use tracing::span::Id;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

static IS_ON: AtomicBool = AtomicBool::new(false);
static TOTALS: Mutex<BTreeMap<String, Total>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Spans that this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

/// What the spans of one name took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Total {
    /// Number of times that a span of the name was entered.
    pub count: u64,
    /// Wall-clock time between entry and exit, of all threads together.
    pub elapsed: Duration,
    /// CPU time of the threads in it, without that of the spans within.
    pub own_cpu: Duration,
}

struct Entered {
    began: Instant,
    cpu: Duration,
    /// CPU time of the spans within that have ended.
    within: Duration,
}

/// Layer of a subscriber that adds up all spans. There is one profile in a process.
#[derive(Debug)]
pub struct Profile(());

impl Profile {
    /// Starts the profile of this process.
    pub fn start() -> Self {
        IS_ON.store(true, Ordering::Relaxed);
        Self(())
    }
}

/// True if this process has a profile.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Takes what was added up, by name, and begins anew.
pub fn take() -> BTreeMap<String, Total> {
    std::mem::take(&mut TOTALS.lock())
}

/// Adds spans of a name, of another process too.
pub fn add(name: &str, total: Total) {
    let mut totals = TOTALS.lock();
    if !totals.contains_key(name) {
        totals.insert(name.to_owned(), Total::default());
    }
    let sum = totals.get_mut(name).expect("it was just added");
    sum.count += total.count;
    sum.elapsed += total.elapsed;
    sum.own_cpu += total.own_cpu;
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Profile {
    fn on_enter(&self, _: &Id, _: Context<'_, S>) {
        let entered = Entered { began: Instant::now(), cpu: thread_cpu(), within: Duration::ZERO };
        ENTERED.with_borrow_mut(|spans| spans.push(entered));
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(entered) = ENTERED.with_borrow_mut(Vec::pop) else { return };
        let cpu = thread_cpu().saturating_sub(entered.cpu);
        ENTERED.with_borrow_mut(|spans| {
            if let Some(around) = spans.last_mut() {
                around.within += cpu;
            }
        });
        if let Some(metadata) = context.metadata(id) {
            let own_cpu = cpu.saturating_sub(entered.within);
            add(metadata.name(), Total { count: 1, elapsed: entered.began.elapsed(), own_cpu });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt;

    fn work(time: Duration) {
        let begun = thread_cpu();
        while thread_cpu() - begun < time {}
    }

    #[test]
    fn a_span_has_its_own_time_and_not_that_of_the_spans_within() {
        const OUTER: Duration = Duration::from_millis(20);
        const INNER: Duration = Duration::from_millis(60);
        let subscriber = tracing_subscriber::registry().with(Profile::start());
        tracing::subscriber::with_default(subscriber, || {
            let _outer = tracing::trace_span!("outer").entered();
            work(OUTER);
            for _ in 0..2 {
                let _inner = tracing::trace_span!("inner").entered();
                work(INNER / 2);
            }
        });
        assert!(is_on());
        add("inner", Total { count: 5, ..Total::default() });
        let totals = take();
        let (outer, inner) = (totals["outer"], totals["inner"]);
        assert_eq!((outer.count, inner.count), (1, 7), "{totals:?}");
        assert!(outer.own_cpu >= OUTER && outer.own_cpu < INNER, "{totals:?}");
        assert!(inner.own_cpu >= INNER && inner.own_cpu < INNER + OUTER, "{totals:?}");
        assert!(outer.elapsed >= OUTER + INNER, "{totals:?}");
        assert!(take().is_empty());
    }
}
