//! Who may run: permits and one bounded queue per class of call, so that a cheap call never waits for an expensive one.
//! Pure bookkeeping; the dispatcher starts and stops the work.

use super::limits::Limits;
use super::requests::Ticket;
use crate::faults::{Fault, planted};
use std::collections::VecDeque;

/// How expensive a tool is; each class has its own permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Answered from what is in memory or nearly so; must work while everything else is busy.
    Control,
    /// A question to the store.
    Query,
    /// A question that reads much of the store or of the repository.
    Heavy,
}

impl Class {
    const ALL: [Class; 3] = [Class::Control, Class::Query, Class::Heavy];

    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Query => "query",
            Self::Heavy => "heavy",
        }
    }
}

/// What became of a call that asks to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It has a permit.
    Run,
    /// It waits; `release` will name it.
    Wait,
    /// There is no room.
    Busy,
}

/// Permits and queues.
#[derive(Debug)]
pub(super) struct Admission {
    lanes: [Lane; Class::ALL.len()],
    queued_calls: usize,
    queued_bytes: usize,
}

#[derive(Debug, Default)]
struct Lane {
    permits: usize,
    running: usize,
    waiting: VecDeque<(Ticket, usize)>,
}

/// One class's numbers, for `status`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneState {
    /// The class.
    pub class: Class,
    /// Calls that run.
    pub running: usize,
    /// Calls that wait.
    pub waiting: usize,
    /// Calls that may run at once.
    pub permits: usize,
}

impl Admission {
    /// All permits free.
    pub(super) fn new(limits: &Limits) -> Self {
        let lane = |permits| Lane { permits, ..Lane::default() };
        Self {
            lanes: [lane(limits.control_permits), lane(limits.query_permits), lane(limits.heavy_permits)],
            queued_calls: limits.queued_calls,
            queued_bytes: limits.queued_bytes,
        }
    }

    /// Asks for a permit; `bytes` is what the call keeps in memory while it waits.
    pub(super) fn admit(&mut self, class: Class, ticket: Ticket, bytes: usize) -> Verdict {
        let (calls, held) =
            self.lanes.iter().flat_map(|lane| &lane.waiting).fold((0, 0), |(calls, held), (_, bytes)| (calls + 1, held + bytes));
        let is_full = calls >= self.queued_calls || held + bytes > self.queued_bytes;
        let lane = self.lane(class);
        if lane.running < lane.permits {
            lane.running += 1;
            return Verdict::Run;
        }
        if is_full {
            return Verdict::Busy;
        }
        lane.waiting.push_back((ticket, bytes));
        Verdict::Wait
    }

    /// Asks for a permit again after giving it up in the middle of the work: goes before those that have not begun, and is
    /// never refused.
    pub(super) fn readmit(&mut self, class: Class, ticket: Ticket) -> Verdict {
        let lane = self.lane(class);
        if lane.running < lane.permits {
            lane.running += 1;
            return Verdict::Run;
        }
        lane.waiting.push_front((ticket, 0));
        Verdict::Wait
    }

    /// Gives a permit back. If a call waits for it, the permit passes to that call at once.
    pub(super) fn release(&mut self, class: Class) -> Option<Ticket> {
        let lane = self.lane(class);
        match lane.waiting.pop_front() {
            Some((ticket, _)) => Some(ticket),
            None => {
                lane.running -= 1;
                None
            }
        }
    }

    /// A waiting call does not want to run any more.
    pub(super) fn forget(&mut self, class: Class, ticket: Ticket) {
        self.lane(class).waiting.retain(|(waiting, _)| *waiting != ticket);
    }

    fn lane(&mut self, class: Class) -> &mut Lane {
        let class = if planted(Fault::OneLane) { Class::Query } else { class };
        &mut self.lanes[class as usize]
    }

    /// The numbers of every class.
    pub(super) fn state(&self) -> Vec<LaneState> {
        let state = |class: Class| {
            let lane = &self.lanes[class as usize];
            LaneState { class, running: lane.running, waiting: lane.waiting.len(), permits: lane.permits }
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
        let limits = Limits { query_permits: 1, heavy_permits: 1, queued_calls: 2, ..Limits::default() };
        let mut admission = Admission::new(&limits);
        let [a, b, c, d, e, f] = tickets();
        assert_eq!(admission.admit(Class::Query, a, 1), Verdict::Run);
        assert_eq!(admission.admit(Class::Query, b, 1), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, c, 1), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, d, 1), Verdict::Busy);
        assert_eq!(admission.admit(Class::Heavy, e, 1), Verdict::Run, "another class has its own permits");
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
        let mut admission = Admission::new(&limits);
        let [a, b, c] = tickets();
        assert_eq!(admission.admit(Class::Query, a, 1000), Verdict::Run, "what runs at once is not queued");
        assert_eq!(admission.admit(Class::Query, b, 100), Verdict::Wait);
        assert_eq!(admission.admit(Class::Query, c, 1), Verdict::Busy);
    }
}
