//! Table of requests in flight: the only way to respond. A request is in it from arrival until it
//! is answered or cancelled, so it gets exactly one response, or none after a cancellation. Pure:
//! returns bytes, sends nothing.

use super::message::{RequestId, RpcError};
use cograph_faults::{Fault, planted};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Request in flight. Unlike its id, a ticket is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Ticket(u64);

/// Batch of requests with a single response.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct BatchId(u64);

/// Response without its id: a result as JSON text, or an error.
pub(crate) type Answer = Result<String, RpcError>;

/// Requests in flight, each with its state `W`.
#[derive(Debug)]
pub(crate) struct Requests<W> {
    tickets: HashMap<RequestId, Ticket>,
    live: BTreeMap<Ticket, Live<W>>,
    batches: BTreeMap<BatchId, Batch>,
    /// Bytes of the responses in `batches`.
    batched: usize,
    next: u64,
}

#[derive(Debug)]
struct Live<W> {
    id: RequestId,
    batch: Option<BatchId>,
    work: W,
}

#[derive(Debug, Default)]
struct Batch {
    open: usize,
    /// While members still arrive, a batch without pending members is not complete.
    arriving: bool,
    answers: Vec<String>,
}

/// Closed request.
#[derive(Debug)]
pub(crate) struct Closed<W> {
    /// State of the request.
    pub(crate) work: W,
    /// Message to send, with its line end.
    pub(crate) frame: Option<Vec<u8>>,
}

impl<W> Requests<W> {
    /// Creates an empty table.
    pub(crate) fn new() -> Self {
        Self {
            tickets: HashMap::new(),
            live: BTreeMap::new(),
            batches: BTreeMap::new(),
            batched: 0,
            next: 0,
        }
    }

    /// Number of requests in flight.
    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }

    /// Bytes of responses that wait for other members of their batches.
    pub(crate) fn batched_bytes(&self) -> usize {
        self.batched
    }

    /// Adds a request. Returns `work` if the id is already in flight: the earlier request keeps its
    /// response.
    pub(crate) fn open(
        &mut self,
        id: RequestId,
        batch: Option<BatchId>,
        work: W,
    ) -> Result<Ticket, W> {
        if self.tickets.contains_key(&id) && !planted(Fault::MapOverwrite) {
            return Err(work);
        }
        let ticket = Ticket(self.number());
        if let Some(batch) = batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.open += 1;
        }
        self.tickets.insert(id.clone(), ticket);
        self.live.insert(ticket, Live { id, batch, work });
        Ok(ticket)
    }

    /// Ticket of an id in flight.
    pub(crate) fn ticket(&self, id: &RequestId) -> Option<Ticket> {
        self.tickets.get(id).copied()
    }

    /// State of a request in flight.
    pub(crate) fn work(&mut self, ticket: Ticket) -> Option<&mut W> {
        self.live.get_mut(&ticket).map(|live| &mut live.work)
    }

    /// Requests in flight, oldest first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Ticket, &W)> {
        self.live.iter().map(|(ticket, live)| (*ticket, &live.work))
    }

    /// Answers a request. None if it is no longer in flight: then nothing may be sent.
    pub(crate) fn answer(&mut self, ticket: Ticket, answer: Answer) -> Option<Closed<W>> {
        let live = self.remove(ticket)?;
        let message = message(Some(&live.id), answer);
        let frame = match live.batch {
            None => Some(line(message)),
            Some(batch) => self.close_member(batch, Some(message)),
        };
        Some(Closed { work: live.work, frame })
    }

    /// Removes a request without a response.
    pub(crate) fn cancel(&mut self, ticket: Ticket) -> Option<Closed<W>> {
        let live = self.remove(ticket)?;
        let frame = live.batch.and_then(|batch| self.close_member(batch, None));
        Some(Closed { work: live.work, frame })
    }

    /// Begins a batch; its members are opened, or rejected by `refuse`, before `close_batch`.
    pub(crate) fn open_batch(&mut self) -> BatchId {
        let batch = BatchId(self.number());
        self.batches.insert(batch, Batch { arriving: true, ..Batch::default() });
        batch
    }

    /// All members have arrived. Returns the response of the batch if it is complete.
    pub(crate) fn close_batch(&mut self, id: BatchId) -> Option<Vec<u8>> {
        self.batches.get_mut(&id)?.arriving = false;
        self.complete(id)
    }

    /// Answers a message that was never in flight: without a usable id, or with an id in use.
    pub(crate) fn refuse(
        &mut self,
        id: Option<&RequestId>,
        batch: Option<BatchId>,
        error: RpcError,
    ) -> Option<Vec<u8>> {
        let message = message(id, Err(error));
        match batch.and_then(|batch| self.batches.get_mut(&batch)) {
            Some(batch) => {
                self.batched += message.len();
                batch.answers.push(message);
                None
            }
            None => Some(line(message)),
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Live<W>> {
        let live = self.live.remove(&ticket)?;
        if !planted(Fault::RemoveAfterSend) {
            self.tickets.remove(&live.id);
        }
        Some(live)
    }

    fn close_member(&mut self, id: BatchId, answer: Option<String>) -> Option<Vec<u8>> {
        let batch = self.batches.get_mut(&id)?;
        batch.open -= 1;
        self.batched += answer.as_ref().map_or(0, String::len);
        batch.answers.extend(answer);
        self.complete(id)
    }

    fn complete(&mut self, id: BatchId) -> Option<Vec<u8>> {
        self.batches.get(&id).filter(|batch| batch.open == 0 && !batch.arriving)?;
        let answers = self.batches.remove(&id)?.answers;
        self.batched -= answers.iter().map(String::len).sum::<usize>();
        (!answers.is_empty()).then(|| line(format!("[{}]", answers.join(","))))
    }
}

/// Notification as a line.
pub(crate) fn notification(method: &str, params: Value) -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}

/// Response outside of a table, as a line.
pub(crate) fn answer_line(id: &RequestId, answer: Answer) -> Vec<u8> {
    line(message(Some(id), answer))
}

/// Error response without an id, which rejects a connection, as a line.
pub(crate) fn refusal_line(error: RpcError) -> Vec<u8> {
    line(message(None, Err(error)))
}

/// Response as JSON text. An error for a request with an unreadable id has no id.
fn message(id: Option<&RequestId>, answer: Answer) -> String {
    let none = if planted(Fault::IdZero) { "\"id\":0," } else { "" };
    let id = id.map_or_else(|| none.to_owned(), |id| format!("\"id\":{},", id.to_json()));
    match answer {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",{id}\"result\":{result}}}"),
        Err(RpcError { code, message, data }) => {
            let mut error = json!({"code": code, "message": message});
            if let Some(data) = data {
                error["data"] = data;
            }
            format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{error}}}")
        }
    }
}

fn line(mut message: String) -> Vec<u8> {
    message.push('\n');
    message.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u64) -> RequestId {
        RequestId::from_json(&Value::from(number)).expect("an integer is an id")
    }

    fn sent(frame: Option<Vec<u8>>) -> String {
        String::from_utf8(frame.unwrap_or_default()).expect("messages are text")
    }

    #[test]
    fn one_answer_and_none_after_a_cancellation() {
        let mut table = Requests::new();
        let first = table.open(id(1), None, "a").expect("the id is free");
        let second = table.open(id(2), None, "b").expect("the id is free");
        assert_eq!(table.open(id(1), None, "c"), Err("c"), "the id is in use");
        let closed = table.answer(first, Ok("{}".to_owned())).expect("it is in flight");
        assert_eq!(
            (closed.work, sent(closed.frame).as_str()),
            ("a", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
        );
        assert!(table.answer(first, Ok("{}".to_owned())).is_none());
        assert!(table.cancel(second).expect("it is in flight").frame.is_none());
        assert!(table.answer(second, Ok("{}".to_owned())).is_none());
        let again = table.open(id(1), None, "d").expect("the id is free again");
        assert_ne!(again, first);
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_batch_is_answered_in_one_array_without_its_cancelled_members() {
        let mut table = Requests::new();
        let batch = table.open_batch();
        let [one, two, three] = [1, 2, 3]
            .map(|number| table.open(id(number), Some(batch), ()).expect("the id is free"));
        assert!(table.answer(one, Ok("1".to_owned())).expect("it is in flight").frame.is_none());
        assert!(table.refuse(None, Some(batch), RpcError::new(-32600, "x")).is_none());
        assert!(table.close_batch(batch).is_none());
        assert!(table.cancel(two).expect("it is in flight").frame.is_none());
        let frame = sent(table.answer(three, Ok("3".to_owned())).expect("it is in flight").frame);
        let answers: Vec<Value> = serde_json::from_str(&frame).expect("it is one array");
        assert_eq!(
            answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(),
            [json!(1), Value::Null, json!(3)]
        );
        assert!(answers[1].get("id").is_none());
        let empty = table.open_batch();
        assert!(table.close_batch(empty).is_none(), "notifications alone are not answered");
    }

    proptest! {
        #[test]
        fn any_interleaving_gives_each_request_at_most_one_answer(
            steps in proptest::collection::vec((0u8..4, 0u64..6), 0..200)
        ) {
            let mut table = Requests::new();
            let mut open: HashMap<u64, Ticket> = HashMap::new();
            let mut old: Vec<Ticket> = Vec::new();
            for (step, number) in steps {
                match step {
                    0 => match table.open(id(number), None, number) {
                        Ok(ticket) => prop_assert!(open.insert(number, ticket).is_none()),
                        Err(_) => prop_assert!(open.contains_key(&number)),
                    },
                    1 => if let Some(ticket) = open.remove(&number) {
                        let closed = table.answer(ticket, Ok("{}".to_owned())).expect("it is in \
                            flight");
                        prop_assert_eq!(closed.work, number);
                        prop_assert!(closed.frame.is_some());
                        old.push(ticket);
                    },
                    2 => if let Some(ticket) = open.remove(&number) {
                        prop_assert!(
                            table.cancel(ticket).expect("it is in flight").frame.is_none()
                        );
                        old.push(ticket);
                    },
                    _ => for ticket in &old {
                        let late = table.answer(*ticket, Ok("{}".to_owned()));
                        prop_assert!(late.is_none());
                    },
                }
                prop_assert_eq!(table.len(), open.len());
            }
        }
    }
}
