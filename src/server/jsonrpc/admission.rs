//! Admission control: permits and one bounded queue per class of call, so that a cheap call never
//! waits for an expensive one. Permits are shared by the sessions of a process: each may hold a
//! limited number and has one place in the fair queue of the semaphore, whatever the length of its
//! own queue. Bookkeeping only; the dispatcher starts and stops the work.

use super::requests::Ticket;
use crate::base::limits::Limits;
use cograph_faults::{Fault, planted};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Cost class of a tool; each class has its own permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Answered from memory; must work under full load.
    Control,
    /// Query of the store.
    Query,
    /// Query that reads much of the store or of the repository.
    Heavy,
}

impl Class {
    const ALL: [Class; 3] = [Class::Control, Class::Query, Class::Heavy];

    /// Stable name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Query => "query",
            Self::Heavy => "heavy",
        }
    }
}

/// Result of admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Admitted, with a permit.
    Run,
    /// Queued; `release` returns it later.
    Wait,
    /// Rejected: the queue is full.
    Busy,
}

/// Permits of a process, by class. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Permits([Arc<Semaphore>; Class::ALL.len()]);

impl Permits {
    /// Permits for a process with a single session.
    pub(crate) fn of_one(limits: &Limits) -> Self {
        Self::times(limits, 1)
    }

    /// More permits than one session may hold, so that none can starve the others.
    pub(crate) fn of_many(limits: &Limits) -> Self {
        Self::times(limits, 2)
    }

    fn times(limits: &Limits, factor: usize) -> Self {
        let counts = [
            limits.control_permits * factor * factor,
            limits.query_permits * factor,
            limits.heavy_permits * factor,
        ];
        Self(counts.map(|count| Arc::new(Semaphore::new(count))))
    }
}

/// Permits and queues of a session.
pub(crate) struct Admission {
    lanes: [Lane; Class::ALL.len()],
    queued_calls: usize,
    queued_bytes: usize,
}

/// Place of a session in the semaphore's fair queue; dropping it leaves the queue.
type QueuePlace = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

struct Lane {
    /// Maximum number of permits of the session.
    most: usize,
    shared: Arc<Semaphore>,
    held: Vec<OwnedSemaphorePermit>,
    waiting: VecDeque<(Ticket, usize)>,
    /// Set while calls wait and the session is below its maximum: a permit must come from another
    /// session.
    place: Option<QueuePlace>,
}

impl Lane {
    /// Acquires a permit if one is free for this session.
    fn take(&mut self) -> bool {
        let free = if self.held.len() < self.most {
            Arc::clone(&self.shared).try_acquire_owned().ok()
        } else {
            None
        };
        let taken = free.is_some();
        self.held.extend(free);
        taken
    }

    /// Joins or leaves the semaphore's queue, as needed.
    fn queue(&mut self) {
        if self.waiting.is_empty() || self.held.len() >= self.most {
            self.place = None;
        } else if self.place.is_none() {
            self.place = Some(Box::pin(Arc::clone(&self.shared).acquire_owned()));
        }
    }

    /// Polls the semaphore; returns the call that got the permit.
    fn poll(&mut self, context: &mut Context<'_>) -> Option<Ticket> {
        let Poll::Ready(permit) = self.place.as_mut()?.as_mut().poll(context) else { return None };
        self.place = None;
        // The semaphore is never closed.
        self.held.extend(permit.ok());
        let (ticket, _) = self.waiting.pop_front()?;
        self.queue();
        Some(ticket)
    }
}

/// State of a class, for `status`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneState {
    /// Class.
    pub class: Class,
    /// Running calls.
    pub running: usize,
    /// Waiting calls.
    pub waiting: usize,
    /// Maximum number of running calls.
    pub permits: usize,
}

impl Admission {
    /// Admission for a new session, which holds no permit.
    pub(crate) fn new(limits: &Limits, permits: &Permits) -> Self {
        let most = if planted(Fault::GreedySession) {
            [usize::MAX; Class::ALL.len()]
        } else {
            [limits.control_permits, limits.query_permits, limits.heavy_permits]
        };
        let lane = |class: Class| Lane {
            most: most[class as usize],
            shared: Arc::clone(&permits.0[class as usize]),
            held: Vec::new(),
            waiting: VecDeque::new(),
            place: None,
        };
        Self {
            lanes: Class::ALL.map(lane),
            queued_calls: limits.queued_calls,
            queued_bytes: limits.queued_bytes,
        }
    }

    /// Requests a permit; `bytes` is the memory of the call while it waits.
    pub(crate) fn admit(&mut self, class: Class, ticket: Ticket, bytes: usize) -> Verdict {
        let (calls, held) = self
            .lanes
            .iter()
            .flat_map(|lane| &lane.waiting)
            .fold((0, 0), |(calls, held), (_, bytes)| (calls + 1, held + bytes));
        let is_full = calls >= self.queued_calls || held + bytes > self.queued_bytes;
        let lane = self.lane(class);
        if lane.waiting.is_empty() && lane.take() {
            return Verdict::Run;
        }
        if is_full {
            return Verdict::Busy;
        }
        lane.waiting.push_back((ticket, bytes));
        lane.queue();
        Verdict::Wait
    }

    /// Requests a permit for a paused call: ahead of calls that have not started, and never
    /// rejected.
    pub(crate) fn readmit(&mut self, class: Class, ticket: Ticket) -> Verdict {
        let lane = self.lane(class);
        if lane.take() {
            return Verdict::Run;
        }
        lane.waiting.push_front((ticket, 0));
        lane.queue();
        Verdict::Wait
    }

    /// Releases a permit. Unless another session waits for it, it goes to the next waiting call of
    /// this one, which is returned.
    pub(crate) fn release(&mut self, class: Class) -> Option<Ticket> {
        let lane = self.lane(class);
        if planted(Fault::GreedySession)
            && let Some((ticket, _)) = lane.waiting.pop_front()
        {
            return Some(ticket);
        }
        drop(lane.held.pop());
        let next =
            if !lane.waiting.is_empty() && lane.take() { lane.waiting.pop_front() } else { None };
        lane.queue();
        next.map(|(ticket, _)| ticket)
    }

    /// Waits for a permit from the shared semaphore, and returns the call that got it. Cancel-safe.
    pub(crate) async fn turn(&mut self) -> Ticket {
        poll_fn(|context| match self.lanes.iter_mut().find_map(|lane| lane.poll(context)) {
            Some(ticket) => Poll::Ready(ticket),
            None => Poll::Pending,
        })
        .await
    }

    /// Removes a waiting call.
    pub(crate) fn forget(&mut self, class: Class, ticket: Ticket) {
        let lane = self.lane(class);
        lane.waiting.retain(|(waiting, _)| *waiting != ticket);
        lane.queue();
    }

    fn lane(&mut self, class: Class) -> &mut Lane {
        let class = if planted(Fault::OneLane) { Class::Query } else { class };
        &mut self.lanes[class as usize]
    }

    /// State of every class.
    pub(crate) fn state(&self) -> Vec<LaneState> {
        let state = |class: Class| {
            let lane = &self.lanes[class as usize];
            LaneState {
                class,
                running: lane.held.len(),
                waiting: lane.waiting.len(),
                permits: lane.most,
            }
        };
        Class::ALL.into_iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::RequestId;
    use super::super::requests::Requests;
    use super::*;
    use serde_json::Value;

    fn tickets<const N: usize>() -> [Ticket; N] {
        let mut table = Requests::new();
        std::array::from_fn(|number| {
            let id = RequestId::from_json(&Value::from(number)).expect("an integer is an id");
            table.open(id, None, ()).expect("the id is free")
        })
    }

    #[test]
    fn permits_pass_to_those_who_wait_and_classes_do_not_mix() {
        let limits =
            Limits { query_permits: 1, heavy_permits: 1, queued_calls: 2, ..Limits::default() };
        let mut admission = Admission::new(&limits, &Permits::of_one(&limits));
        let [a, b, c, d, e, f] = tickets();
        assert_eq!(admission.admit(Class::Query, a, 1), Verdict::Run);
        assert_eq!(admission.admit(Class::Query, b, 1), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, c, 1), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, d, 1), Verdict::Busy);
        assert_eq!(
            admission.admit(Class::Heavy, e, 1),
            Verdict::Run,
            "another class has its own permits"
        );
        admission.forget(Class::Query, b);
        assert_eq!(admission.readmit(Class::Query, f), Verdict::Wait);
        assert_eq!(admission.release(Class::Query), Some(f), "one that had begun goes first");
        assert_eq!(admission.release(Class::Query), Some(c));
        assert_eq!(admission.release(Class::Query), None);
        assert_eq!(admission.release(Class::Heavy), None);
        assert!(admission.state().iter().all(|lane| lane.running == 0 && lane.waiting == 0));
    }

    #[test]
    fn the_queue_is_bounded_in_bytes_too() {
        let limits = Limits { query_permits: 1, queued_bytes: 100, ..Limits::default() };
        let mut admission = Admission::new(&limits, &Permits::of_one(&limits));
        let [a, b, c] = tickets();
        assert_eq!(
            admission.admit(Class::Query, a, 1000),
            Verdict::Run,
            "what runs at once is not queued"
        );
        assert_eq!(admission.admit(Class::Query, b, 100), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, c, 1), Verdict::Busy);
    }

    #[test]
    fn a_session_with_a_long_queue_waits_its_turn_among_the_sessions() {
        let limits = Limits { query_permits: 1, ..Limits::default() };
        let permits = Permits::of_many(&limits);
        let (mut first, mut second, mut third) = (
            Admission::new(&limits, &permits),
            Admission::new(&limits, &permits),
            Admission::new(&limits, &permits),
        );
        let [a, b, c, d, e, f] = tickets();
        assert_eq!(
            [a, b, c].map(|call| first.admit(Class::Query, call, 1)),
            [Verdict::Run, Verdict::Wait, Verdict::Wait]
        );
        assert_eq!(
            second.admit(Class::Query, d, 1),
            Verdict::Run,
            "one session has not got all of them"
        );
        assert_eq!(third.admit(Class::Query, e, 1), Verdict::Wait);
        let runtime =
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be built");
        let turn_of = |session: &mut Admission| {
            let mut context = Context::from_waker(std::task::Waker::noop());
            let _entered = runtime.enter();
            match Box::pin(session.turn()).as_mut().poll(&mut context) {
                Poll::Ready(ticket) => Some(ticket),
                Poll::Pending => None,
            }
        };
        assert_eq!(turn_of(&mut third), None);
        assert_eq!(first.release(Class::Query), None, "the third session was in line before");
        assert_eq!((turn_of(&mut first), turn_of(&mut third)), (None, Some(e)));
        assert_eq!(third.admit(Class::Query, f, 1), Verdict::Wait);
        assert_eq!(second.release(Class::Query), None);
        assert_eq!(turn_of(&mut first), Some(b));
        first.forget(Class::Query, c);
        assert_eq!(third.release(Class::Query), Some(f), "no other call waits");
    }
}
