//! State of a pool, and every decision taken under its lock. No I/O: stores to open or close are
//! returned to the caller.

use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use rustc_hash::FxHashMap;

use super::flight::{EntryId, Flight, OpenResult};
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, Version};
use crate::read::connection::{Spare, Store};
use cograph_faults::{Fault, planted};

/// Action for the caller.
pub(super) enum Plan {
    /// The store is open and leased to the caller.
    Take(EntryId, Arc<Store>),
    /// Another thread opens it: wait.
    Wait(Arc<Flight>),
    /// Close the victims, open the newest generation, publish the result.
    Open { flight: Arc<Flight>, newest: Version, victims: Vec<Arc<Store>> },
    /// There is nothing to open. Close the victims.
    Fail { error: StoreError, victims: Vec<Arc<Store>> },
}

/// Open store.
struct OpenEntry {
    id: EntryId,
    store: Arc<Store>,
    leases: usize,
}

/// State of one repository.
#[derive(Default)]
struct Slot {
    current: Option<OpenEntry>,
    /// Newest file when `current` was chosen; it may be unreadable.
    chosen_for: Option<Version>,
    flight: Option<Arc<Flight>>,
    used: Duration,
}

impl Slot {
    fn is_idle(&self) -> bool {
        self.current.as_ref().is_some_and(|entry| entry.leases == 0)
    }
}

/// See the module.
pub(super) struct PoolState {
    capacity: usize,
    // Unbounded: leased stores and stores being opened must stay, whatever the capacity.
    slots: LruCache<Location, Slot>,
    /// Superseded or forgotten stores with leases.
    retired: FxHashMap<EntryId, OpenEntry>,
    next: u64,
    ended: bool,
}

impl PoolState {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            slots: LruCache::unbounded(),
            retired: FxHashMap::default(),
            next: 0,
            ended: false,
        }
    }

    /// Decides how to lease the store at `location`, given its newest file.
    pub(super) fn plan(
        &mut self,
        location: &Location,
        newest: Result<Option<Version>, StoreError>,
        now: Duration,
    ) -> Plan {
        let slot = self.slots.get_or_insert_mut(location.clone(), Slot::default);
        slot.used = now;
        let newest = match newest {
            Ok(Some(newest)) => newest,
            Ok(None) => {
                let detail = "there is no store of this repository yet";
                let error = StoreError::new(
                    StoreErrorKind::Missing,
                    "opening store",
                    location.directory(),
                    detail,
                );
                return Plan::Fail { error, victims: self.forget(location) };
            }
            Err(error) => match &mut slot.current {
                // The directory is temporarily unreadable: use the open store.
                Some(entry) => return entry.take(),
                None => {
                    self.drop_empty(location);
                    return Plan::Fail { error, victims: Vec::new() };
                }
            },
        };
        match &mut slot.current {
            Some(entry) if slot.chosen_for == Some(newest) || planted(Fault::HandlePinned) => {
                return entry.take();
            }
            _ => {}
        }
        if let Some(flight) = &slot.flight {
            flight.join();
            return Plan::Wait(Arc::clone(flight));
        }
        let flight = Arc::new(Flight::default());
        slot.flight = Some(Arc::clone(&flight));
        let room = self.capacity - 1;
        Plan::Open { flight, newest, victims: self.evict_down_to(room) }
    }

    /// Records the result of an attempt, leases the store to the leader and all waiting threads,
    /// and publishes it to them.
    pub(super) fn publish_result(
        &mut self,
        location: &Location,
        flight: &Arc<Flight>,
        newest: Version,
        result: Result<Store, StoreError>,
        now: Duration,
    ) -> (OpenResult, Vec<Arc<Store>>) {
        let mut victims = Vec::new();
        let mut replaced = None;
        self.next += 1;
        let id = EntryId(self.next);
        let expected = self.slots.peek_mut(location).filter(|slot| slot.is_led_by(flight));
        let entry = match (expected, result) {
            (Some(slot), Ok(store)) => {
                slot.flight = None;
                slot.used = now;
                slot.chosen_for = Some(newest);
                match &mut slot.current {
                    // The newer file is unreadable, and this one is already open.
                    Some(current) if current.store.is_same_file(&store) => {
                        victims.push(Arc::new(store))
                    }
                    _ => {
                        replaced = slot.current.replace(OpenEntry {
                            id,
                            store: Arc::new(store),
                            leases: 0,
                        })
                    }
                }
                slot.current.as_mut()
            }
            (Some(slot), Err(error)) => {
                slot.flight = None;
                if planted(Fault::KeyBeforeFetch) {
                    slot.chosen_for = Some(newest);
                }
                // A failed replacement keeps the old store; the next lease tries again.
                if slot.current.is_none() {
                    flight.publish_result(Err(error.clone()));
                    self.drop_empty(location);
                    return (Err(error), victims);
                }
                slot.current.as_mut()
            }
            // Forgotten meanwhile: earlier requests still get it.
            (None, Ok(store)) => {
                let entry = OpenEntry { id, store: Arc::new(store), leases: 0 };
                Some(self.retired.entry(id).or_insert(entry))
            }
            (None, Err(error)) => {
                flight.publish_result(Err(error.clone()));
                return (Err(error), victims);
            }
        };
        let entry = entry.expect("each arm that goes on has a store");
        let landing = (entry.id, Arc::clone(&entry.store));
        entry.leases += 1 + flight.publish_result(Ok(landing.clone()));
        victims.extend(replaced.and_then(|entry| self.retire(entry)));
        (Ok(landing), victims)
    }

    /// Ends a lease.
    pub(super) fn give_back(
        &mut self,
        location: &Location,
        id: EntryId,
        now: Duration,
    ) -> Vec<Arc<Store>> {
        if let Some(slot) = self.slots.peek_mut(location)
            && let Some(entry) = slot.current.as_mut().filter(|entry| entry.id == id)
        {
            entry.leases -= 1;
            slot.used = now;
            if planted(Fault::CheckThenInsert) {
                return Vec::new();
            }
            return self.evict_down_to(self.capacity);
        }
        match self.retired.get_mut(&id) {
            Some(entry) if entry.leases > 1 => {
                entry.leases -= 1;
                Vec::new()
            }
            _ => self.retired.remove(&id).map(|entry| entry.store).into_iter().collect(),
        }
    }

    /// Removes a repository; leased stores are closed with their last lease.
    pub(super) fn forget(&mut self, location: &Location) -> Vec<Arc<Store>> {
        let entry = self.slots.pop(location).and_then(|slot| slot.current);
        entry.and_then(|entry| self.retire(entry)).into_iter().collect()
    }

    /// Removes every store that was idle for `idle`.
    pub(super) fn take_idle(&mut self, now: Duration, idle: Duration) -> Vec<Arc<Store>> {
        self.take_out(|slot| now.saturating_sub(slot.used) >= idle, usize::MAX)
    }

    /// Removes everything, at the end of the pool.
    pub(super) fn end(&mut self) -> Vec<Arc<Store>> {
        self.ended = true;
        self.take_out(|_| true, usize::MAX)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Unneeded connections of the current stores. They hold no reference to a store, which may be
    /// closed meanwhile.
    pub(super) fn take_spare(&self) -> Vec<Spare> {
        self.slots
            .iter()
            .filter_map(|(_, slot)| Some(slot.current.as_ref()?.store.take_spare()))
            .collect()
    }

    /// True if no open store could become idle.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(|(_, slot)| slot.current.is_none())
    }

    pub(super) fn counts(&self) -> PoolCounts {
        let current: Vec<&OpenEntry> =
            self.slots.iter().filter_map(|(_, slot)| slot.current.as_ref()).collect();
        let leases = current.iter().map(|entry| entry.leases).sum::<usize>()
            + self.retired.values().map(|entry| entry.leases).sum::<usize>();
        let opening = self.slots.iter().filter(|(_, slot)| slot.flight.is_some()).count();
        PoolCounts { open: current.len() + self.retired.len(), leases, opening }
    }

    fn evict_down_to(&mut self, room: usize) -> Vec<Arc<Store>> {
        let idle = self.slots.iter().filter(|(_, slot)| slot.is_idle()).count();
        self.take_out(|_| true, idle.saturating_sub(room))
    }

    /// Removes at most `limit` unleased stores that `choose` selects, least recently used first.
    fn take_out(&mut self, choose: impl Fn(&Slot) -> bool, limit: usize) -> Vec<Arc<Store>> {
        let chosen: Vec<Location> = self
            .slots
            .iter()
            .rev()
            .filter(|(_, slot)| slot.is_idle() && choose(slot))
            .take(limit)
            .map(|(location, _)| location.clone())
            .collect();
        let mut victims = Vec::with_capacity(chosen.len());
        for location in chosen {
            let slot = self
                .slots
                .peek_mut(&location)
                .expect("chosen from the slots a moment ago, under the same lock");
            victims.extend(slot.current.take().map(|entry| entry.store));
            self.drop_empty(&location);
        }
        victims
    }

    /// Keeps a replaced store while it has leases; returns it if it has none.
    fn retire(&mut self, entry: OpenEntry) -> Option<Arc<Store>> {
        if entry.leases == 0 {
            return Some(entry.store);
        }
        self.retired.insert(entry.id, entry);
        None
    }

    fn drop_empty(&mut self, location: &Location) {
        if self
            .slots
            .peek(location)
            .is_some_and(|slot| slot.current.is_none() && slot.flight.is_none())
        {
            self.slots.pop(location);
        }
    }
}

impl Slot {
    fn is_led_by(&self, flight: &Arc<Flight>) -> bool {
        self.flight.as_ref().is_some_and(|own| Arc::ptr_eq(own, flight))
    }
}

impl OpenEntry {
    fn take(&mut self) -> Plan {
        self.leases += 1;
        Plan::Take(self.id, Arc::clone(&self.store))
    }
}

/// State of a pool at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolCounts {
    /// Open stores: leased or not, current or superseded.
    pub open: usize,
    /// Current leases.
    pub leases: usize,
    /// Stores being opened.
    pub opening: usize,
}
