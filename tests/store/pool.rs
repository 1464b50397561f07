//! The pool: one opening for all, bounds, idle closing by its own clock, swaps of generations.

use std::fs;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cograph::model::cancel::CancelToken;
use cograph::store::{
    Clock, Location, Opener, Pool, PoolSettings, Store, StoreError, StoreErrorKind, StoreOpener,
    Version,
};

use crate::sample::{Cache, functions};

/// A clock that advances only by `advance`.
#[derive(Default)]
struct HandClock(AtomicU64);

impl HandClock {
    fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// A gate that blocks threads while it is shut.
#[derive(Default)]
struct Gate {
    shut: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn set(&self, shut: bool) {
        *self.shut.lock().expect("a gate") = shut;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut shut = self.shut.lock().expect("a gate");
        while *shut {
            shut = self.changed.wait(shut).expect("a gate");
        }
    }
}

/// Opens for real, counts, and fails or panics on request.
struct Watched {
    opened: AtomicUsize,
    closed: AtomicUsize,
    fail: AtomicUsize,
    panic: AtomicUsize,
    gate: Gate,
    gated: Mutex<Option<Location>>,
    opening: SyncSender<()>,
    closing: SyncSender<()>,
}

impl Opener for Watched {
    fn newest(&self, location: &Location) -> Result<Option<Version>, StoreError> {
        StoreOpener.newest(location)
    }

    fn open(&self, location: &Location) -> Result<Store, StoreError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        self.opening.try_send(()).ok();
        if self.gated.lock().expect("a gate").as_ref() == Some(location) {
            self.gate.pass();
        }
        assert_eq!(self.panic.swap(0, Ordering::SeqCst), 0, "a planted panic");
        if self.fail.load(Ordering::SeqCst) > 0 {
            self.fail.fetch_sub(1, Ordering::SeqCst);
            return Err(StoreError {
                kind: StoreErrorKind::Other,
                attempt: "opening store",
                path: location.directory().to_owned(),
                detail: "a planted failure".to_owned(),
            });
        }
        StoreOpener.open(location)
    }

    fn close(&self, store: Store) {
        drop(store);
        self.closed.fetch_add(1, Ordering::SeqCst);
        self.closing.try_send(()).ok();
    }
}

struct Fixture {
    pool: Pool,
    opener: Arc<Watched>,
    clock: Arc<HandClock>,
    opening: Receiver<()>,
    closing: Receiver<()>,
}

fn fixture(capacity: usize) -> Fixture {
    let (opening_sender, opening) = sync_channel(1_000);
    let (closing_sender, closing) = sync_channel(1_000);
    let opener = Arc::new(Watched {
        opened: AtomicUsize::new(0),
        closed: AtomicUsize::new(0),
        fail: AtomicUsize::new(0),
        panic: AtomicUsize::new(0),
        gate: Gate::default(),
        gated: Mutex::new(None),
        opening: opening_sender,
        closing: closing_sender,
    });
    let clock = Arc::new(HandClock::default());
    let settings =
        PoolSettings { capacity, idle: Duration::from_secs(60), sweep: Duration::from_millis(1) };
    let pool = Pool::with(
        settings,
        Arc::clone(&opener) as Arc<dyn Opener>,
        Arc::clone(&clock) as Arc<dyn Clock>,
    )
    .expect("a thread");
    Fixture { pool, opener, clock, opening, closing }
}

fn cache_of(symbols: usize) -> Cache {
    let cache = Cache::new();
    cache.publish(&functions(symbols)).expect("a store");
    cache
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_hundred_first_calls_open_once_though_one_gives_up() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    *fixture.opener.gated.lock().expect("a gate") = Some(cache.location.clone());
    fixture.opener.gate.set(true);
    let cancelled = CancelToken::new();
    let barrier = Barrier::new(101);
    let answers = thread::scope(|scope| {
        let calls: Vec<_> = (0..100)
            .map(|number| {
                let token = if number == 0 { cancelled.clone() } else { CancelToken::new() };
                let (pool, location, barrier) = (&fixture.pool, &cache.location, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    pool.lease(location, &token).map(|lease| lease.meta().symbols)
                })
            })
            .collect();
        barrier.wait();
        fixture.opening.recv_timeout(PATIENCE).expect("somebody opens");
        cancelled.cancel();
        fixture.opener.gate.set(false);
        calls.into_iter().map(|call| call.join().expect("no call panics")).collect::<Vec<_>>()
    });
    assert_eq!(fixture.opener.opened.load(Ordering::SeqCst), 1);
    let given_up = answers
        .iter()
        .filter(|answer| answer.as_ref().is_err_and(StoreError::is_cancelled))
        .count();
    assert!(given_up <= 1, "only the cancelled one may give up");
    assert_eq!(answers.iter().filter(|answer| **answer == Ok(1)).count(), 100 - given_up);
    let counts = fixture.pool.counts();
    assert_eq!((counts.open, counts.leases, counts.opening), (1, 0, 0));
}

#[test]
fn a_failed_opening_fails_all_who_wait_and_the_next_call_tries_again() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    *fixture.opener.gated.lock().expect("a gate") = Some(cache.location.clone());
    fixture.opener.gate.set(true);
    fixture.opener.fail.store(1, Ordering::SeqCst);
    let token = CancelToken::new();
    thread::scope(|scope| {
        let first = scope.spawn(|| fixture.pool.lease(&cache.location, &token).map(|_| ()));
        fixture.opening.recv_timeout(PATIENCE).expect("the first opens");
        let second = scope.spawn(|| fixture.pool.lease(&cache.location, &token).map(|_| ()));
        fixture.opener.gate.set(false);
        let first = first.join().expect("no panic").expect_err("a planted failure");
        assert!(first.to_string().ends_with("a planted failure"), "{first}");
        // It shared the failure, or came so late that it tried again itself.
        let second = second.join().expect("no panic");
        assert!(second.is_ok() || second == Err(first));
    });
    fixture.pool.lease(&cache.location, &token).expect("the next call opens");
}

#[test]
fn an_opener_that_panics_leaves_no_caller_waiting() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    fixture.opener.panic.store(1, Ordering::SeqCst);
    let outcome = thread::scope(|scope| {
        scope
            .spawn(|| fixture.pool.lease(&cache.location, &CancelToken::new()).map(|_| ()))
            .join()
            .map_err(|_| "panicked")
    });
    assert_eq!(outcome, Err("panicked"));
    fixture.pool.lease(&cache.location, &CancelToken::new()).expect("the next call opens");
    assert_eq!(fixture.pool.counts().opening, 0);
}

#[test]
fn a_store_that_opens_slowly_blocks_no_other() {
    let fixture = fixture(16);
    let (slow, other) = (cache_of(1), cache_of(2));
    *fixture.opener.gated.lock().expect("a gate") = Some(slow.location.clone());
    fixture.opener.gate.set(true);
    let token = CancelToken::new();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| fixture.pool.lease(&slow.location, &token).map(|_| ()));
        fixture.opening.recv_timeout(PATIENCE).expect("it is being opened");
        let waiter = CancelToken::new();
        let gives_up = scope.spawn({
            let waiter = waiter.clone();
            let (pool, location) = (&fixture.pool, &slow.location);
            move || pool.lease(location, &waiter).map(|_| ())
        });
        // All of this ends while the gate is shut.
        assert_eq!(
            fixture.pool.lease(&other.location, &token).expect("another store").meta().symbols,
            2
        );
        assert_eq!(fixture.pool.counts().opening, 1);
        waiter.cancel();
        assert!(gives_up.join().expect("no panic").is_err_and(|error| error.is_cancelled()));
        fixture.opener.gate.set(false);
        waiting.join().expect("no panic").expect("it opened in the end");
    });
}

#[test]
fn idle_stores_are_closed_by_the_timer_and_leased_ones_stay() {
    let fixture = fixture(16);
    let (idle, leased) = (cache_of(1), cache_of(2));
    let token = CancelToken::new();
    drop(fixture.pool.lease(&idle.location, &token).expect("a lease"));
    let kept = fixture.pool.snapshot(&leased.location, &token).expect("a snapshot");
    fixture.clock.advance(59);
    assert_eq!(fixture.pool.counts().open, 2);
    fixture.clock.advance(2);
    fixture.closing.recv_timeout(PATIENCE).expect("the timer closes the idle one, without a call");
    assert_eq!(fixture.pool.counts().open, 1);
    assert_eq!(kept.files().expect("a leased store is read").len(), 1);
    drop(kept);
    fixture.clock.advance(61);
    fixture.closing.recv_timeout(PATIENCE).expect("the timer closes the other one");
    assert_eq!(fixture.pool.counts().open, 0);
}

#[test]
fn connections_that_a_burst_has_left_are_closed_by_the_timer() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    let ask = || fixture.pool.snapshot(&cache.location, &token).expect("a snapshot");
    let burst: Vec<_> = (0..4).map(|_| ask()).collect();
    assert!(connections(&cache) >= 4, "each question of a burst has a connection");
    drop(burst);
    let until = Instant::now() + PATIENCE;
    while connections(&cache) > 1 {
        assert!(Instant::now() < until, "{} are left", connections(&cache));
        thread::yield_now();
    }
    assert_eq!(ask().files().expect("the one that is kept reads").len(), 1);
    assert_eq!(
        (fixture.pool.counts().open, fixture.opener.opened.load(Ordering::SeqCst)),
        (1, 1),
        "the store stayed open"
    );
}

/// The connections of this process to the stores of a cache: each has opened the log of changes for
/// itself.
fn connections(cache: &Cache) -> usize {
    let opened = fs::read_dir("/proc/self/fd").expect("the system shows them").flatten();
    let files = opened.filter_map(|opened| fs::read_link(opened.path()).ok());
    let is_log =
        |file: &std::path::PathBuf| file.to_str().is_some_and(|name| name.ends_with(".db-wal"));
    files.filter(|file| file.starts_with(cache.location.directory()) && is_log(file)).count()
}

#[test]
fn the_least_recently_used_is_closed_when_there_are_too_many() {
    let fixture = fixture(2);
    let caches = [cache_of(1), cache_of(2), cache_of(3)];
    let token = CancelToken::new();
    for at in [0, 1, 0, 2] {
        drop(fixture.pool.lease(&caches[at].location, &token).expect("a lease"));
    }
    assert_eq!(fixture.pool.counts().open, 2);
    assert_eq!(fixture.opener.opened.load(Ordering::SeqCst), 3);
    drop(fixture.pool.lease(&caches[0].location, &token).expect("it is still open"));
    assert_eq!(fixture.opener.opened.load(Ordering::SeqCst), 3);
    let leases: Vec<_> = caches
        .iter()
        .map(|cache| fixture.pool.lease(&cache.location, &token).expect("a lease"))
        .collect();
    assert_eq!(fixture.pool.counts().open, 3, "what is leased stays, whatever the capacity");
    drop(leases);
    assert_eq!(fixture.pool.counts().open, 2);
}

#[test]
fn the_next_call_sees_a_new_generation_and_a_running_one_ends_on_the_old() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    let running = fixture.pool.snapshot(&cache.location, &token).expect("a snapshot");
    cache.publish(&functions(5)).expect("a new generation");
    let next = fixture.pool.snapshot(&cache.location, &token).expect("a snapshot");
    assert_eq!((next.identity().generation, next.files().expect("rows")[0].symbols), (2, 5));
    assert_eq!((running.identity().generation, running.files().expect("rows")[0].symbols), (1, 1));
    assert_eq!(fixture.pool.counts().open, 2);
    drop(running);
    fixture.closing.recv_timeout(PATIENCE).expect("the old one is closed with its last snapshot");
    assert_eq!(fixture.pool.counts().open, 1);
}

/// A file system that gives a new file the number of the one that it replaces.
struct SameNumber;

impl Opener for SameNumber {
    fn newest(&self, _location: &Location) -> Result<Option<Version>, StoreError> {
        Ok(Some(Version { generation: 1, device: 1, inode: 1 }))
    }

    fn open(&self, location: &Location) -> Result<Store, StoreError> {
        StoreOpener.open(location)
    }

    fn close(&self, store: Store) {
        drop(store);
    }
}

#[test]
fn a_file_replaced_by_one_of_the_same_number_is_noticed_when_it_is_read() {
    let settings = PoolSettings {
        capacity: 16,
        idle: Duration::from_secs(60),
        sweep: Duration::from_millis(1),
    };
    let pool = Pool::with(settings, Arc::new(SameNumber), Arc::new(HandClock::default()))
        .expect("a thread");
    let (cache, other, token) = (cache_of(1), cache_of(2), CancelToken::new());
    let path =
        |cache: &Cache| Store::open_newest(&cache.location).expect("a store").path().to_path_buf();
    let before = pool.snapshot(&cache.location, &token).expect("a store");
    fs::rename(path(&other), path(&cache)).expect("both are in one file system");
    let after = pool.snapshot(&cache.location, &token).expect("the new file is opened");
    assert_eq!((before.meta().symbols, after.meta().symbols), (1, 2));
}

#[test]
fn a_file_replaced_under_its_name_is_noticed() {
    let fixture = fixture(16);
    let (cache, other) = (cache_of(1), cache_of(7));
    let token = CancelToken::new();
    let before = fixture.pool.snapshot(&cache.location, &token).expect("a snapshot").identity();
    fs::rename(other.location.generation_path(1), cache.location.generation_path(1))
        .expect("a rename");
    let after = fixture.pool.snapshot(&cache.location, &token).expect("a snapshot");
    assert_eq!(after.meta().symbols, 7);
    assert_ne!(after.identity().uid, before.uid);
    assert_eq!(after.identity().generation, before.generation);
}

#[test]
fn a_swap_that_fails_keeps_the_old_store() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    drop(fixture.pool.lease(&cache.location, &token).expect("a lease"));
    cache.publish(&functions(2)).expect("a new generation");
    fixture.opener.fail.store(1, Ordering::SeqCst);
    let kept = fixture.pool.lease(&cache.location, &token).expect("the old one");
    assert_eq!(kept.identity().generation, 1);
    assert_eq!(
        fixture.pool.lease(&cache.location, &token).expect("the new one").identity().generation,
        2
    );
}

#[test]
fn a_newer_file_that_is_damaged_is_tried_once() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    drop(fixture.pool.lease(&cache.location, &token).expect("a lease"));
    fs::write(cache.location.generation_path(5), "nonsense").expect("a file");
    for _ in 0..3 {
        assert_eq!(
            fixture.pool.lease(&cache.location, &token).expect("the old one").identity().generation,
            1
        );
    }
    assert_eq!(fixture.opener.opened.load(Ordering::SeqCst), 2);
    assert_eq!(fixture.pool.counts().open, 1);
}

#[test]
fn a_deleted_repository_is_an_error_and_leaves_no_ghost() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    drop(fixture.pool.lease(&cache.location, &token).expect("a lease"));
    fs::remove_dir_all(cache.location.directory()).expect("own directory");
    let error = fixture.pool.lease(&cache.location, &token).expect_err("it is gone");
    assert_eq!(error.kind, StoreErrorKind::Missing);
    assert!(!cache.location.directory().exists());
    assert_eq!(fixture.pool.counts().open, 0);
}

#[test]
fn forgotten_stores_are_closed_at_once_or_after_their_last_lease() {
    let fixture = fixture(16);
    let cache = cache_of(1);
    let token = CancelToken::new();
    let lease = fixture.pool.lease(&cache.location, &token).expect("a lease");
    fixture.pool.forget(&cache.location);
    assert_eq!(fixture.opener.closed.load(Ordering::SeqCst), 0);
    drop(lease);
    assert_eq!(fixture.opener.closed.load(Ordering::SeqCst), 1);
    assert_eq!(fixture.pool.counts().open, 0);
}

#[test]
fn a_generation_that_is_gone_when_it_is_checked_hides_no_other() {
    let fixture = fixture(4);
    let cache = cache_of(3);
    // Listed, but not there: as one that is superseded and removed in between.
    let gone = cache.location.generation_path(7);
    std::os::unix::fs::symlink(cache.location.directory().join("removed"), &gone)
        .expect("a link can be made");
    let snapshot = fixture.pool.snapshot(&cache.location, &CancelToken::new()).expect("a snapshot");
    assert_eq!(snapshot.meta().symbols, 3);
}

#[test]
fn many_threads_leave_nothing_open_behind() {
    let fixture = fixture(4);
    let caches: Vec<Cache> = (1..=8).map(cache_of).collect();
    let most = AtomicUsize::new(0);
    thread::scope(|scope| {
        for worker in 0..16_usize {
            let (pool, caches, most) = (&fixture.pool, &caches, &most);
            scope.spawn(move || {
                for round in 0..60_usize {
                    let at = (worker * 7 + round * 5) % caches.len();
                    let cache = &caches[at];
                    if worker == 0 && round % 10 == 3 {
                        cache.publish(&functions(at + 1)).expect("only one thread publishes");
                    } else if worker == 1 && round % 15 == 7 {
                        pool.forget(&cache.location);
                    } else {
                        let snapshot = pool
                            .snapshot(&cache.location, &CancelToken::new())
                            .expect("a snapshot");
                        assert_eq!(snapshot.meta().symbols, at as u64 + 1);
                        assert_eq!(snapshot.files().expect("rows")[0].symbols, at as u32 + 1);
                    }
                    let counts = pool.counts();
                    most.fetch_max(counts.open.saturating_sub(counts.leases), Ordering::SeqCst);
                }
            });
        }
    });
    assert!(
        most.load(Ordering::SeqCst) <= 4,
        "{} stores were open without a lease",
        most.load(Ordering::SeqCst)
    );
    fixture.clock.advance(100);
    let counts = loop {
        fixture.closing.recv_timeout(PATIENCE).expect("idle stores are closed");
        let counts = fixture.pool.counts();
        if counts.open == 0 {
            break counts;
        }
    };
    assert_eq!((counts.leases, counts.opening), (0, 0));
    drop(fixture.pool);
    assert_eq!(
        fixture.opener.opened.load(Ordering::SeqCst),
        fixture.opener.closed.load(Ordering::SeqCst)
    );
}
