//! Multiplexes HTTP requests over the stream of one session. Routes the session's output: responses
//! by id, progress by token, server-initiated messages to any open stream.

use crate::jsonrpc::framing::{Piece, Splitter};
use crate::jsonrpc::message::{self, Message};
use crate::protocol;
use crate::runtime::sessions::Sessions;
use crate::transport::{local, write_all};
use cograph_system::sockets;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Capacity of a request's queue, in messages; further notifications are dropped.
pub(crate) const WAITING: usize = 256;
/// Capacity of the queue to the session, in messages.
const SENDING: usize = 16;

/// See the module. The session ends when the last owner drops this: the session table, a request in
/// flight, or the stream of its response. A request whose client disconnects leaks nothing.
pub(super) struct Bridge {
    routes: Mutex<Routes>,
    sender: Sender<Vec<u8>>,
    ending: Arc<Notify>,
}

struct Routes {
    is_open: bool,
    /// The client has sent more than its first message, so it knows the session id.
    is_known: bool,
    used: Instant,
    next: u64,
    /// Requests in flight, by local number.
    posts: BTreeMap<u64, Post>,
    /// Stream of server-initiated messages.
    listening: Option<Sender<(Vec<u8>, bool)>>,
}

struct Post {
    /// Ids of its JSON-RPC requests, as JSON.
    ids: Vec<String>,
    /// Its progress token, as JSON.
    token: Option<String>,
    streams: bool,
    frames: Sender<(Vec<u8>, bool)>,
    /// Stateless: the session serves this request only, and its whole output belongs to it.
    whole: bool,
}

/// Messages for one request, in order; the flag marks the last one.
pub(super) struct Delivery {
    frames: Receiver<(Vec<u8>, bool)>,
    /// Removes the request's route on drop.
    _place: Option<RouteGuard>,
}

struct RouteGuard {
    bridge: Arc<Bridge>,
    number: u64,
}

impl Drop for RouteGuard {
    fn drop(&mut self) {
        let mut routes = self.bridge.routes();
        routes.used = Instant::now();
        // A stateless session ends with its request, answered or disconnected.
        let was_whole = routes.posts.remove(&self.number).is_some_and(|post| post.whole);
        drop(routes);
        if was_whole {
            self.bridge.end();
        }
    }
}

impl Delivery {
    /// Next message; none after the end of the session.
    pub(super) async fn next(&mut self) -> Option<(Vec<u8>, bool)> {
        self.frames.recv().await
    }
}

impl Bridge {
    /// Begins a session.
    pub(super) fn begin(sessions: &Sessions) -> io::Result<Arc<Self>> {
        let (ours, theirs) = sockets::pair()?;
        sessions.begin_http(theirs)?;
        let (read, write) = local::split(ours)?;
        let (sender, mut sent) = channel(SENDING);
        let (posts, used) = (BTreeMap::new(), Instant::now());
        let routes = Mutex::new(Routes {
            is_open: true,
            is_known: false,
            used,
            next: 0,
            posts,
            listening: None,
        });
        let bridge = Arc::new(Self { routes, sender, ending: Arc::default() });
        let (own, ending) = (Arc::downgrade(&bridge), Arc::clone(&bridge.ending));
        tokio::spawn(async move {
            tokio::select! {
                () = listen_to(&read, &own) => {}
                // The channel closes when the bridge, which owns a sender, is dropped.
                () = write_all(&write, &mut sent) => {}
                () = ending.notified() => {}
            }
            if let Some(own) = own.upgrade() {
                let mut routes = own.routes();
                routes.is_open = false;
                routes.posts.clear();
                routes.listening = None;
            }
        });
        Ok(bridge)
    }

    /// Marks the session as known to its client.
    pub(super) fn mark_known(&self) {
        let mut routes = self.routes();
        (routes.is_known, routes.used) = (true, Instant::now());
    }

    /// Forwards a message. Returns the delivery of its response, unless it has none; the route
    /// exists before the message is sent.
    pub(super) async fn post(
        self: &Arc<Self>,
        parsed: &Message,
        line: Vec<u8>,
        streams: bool,
    ) -> Option<Delivery> {
        let members = match parsed {
            Message::Batch(members) => members.as_slice(),
            single => std::slice::from_ref(single),
        };
        let requests: Vec<_> = members
            .iter()
            .filter_map(
                |member| if let Message::Request(request) = member { Some(request) } else { None },
            )
            .collect();
        let delivery = (!requests.is_empty()).then(|| {
            let token = requests
                .iter()
                .find_map(|request| protocol::progress_token(request.params.as_ref().ok()?));
            let ids = requests.iter().map(|request| request.id.to_json().to_string()).collect();
            let (frames, received) = channel(WAITING);
            let post = Post {
                ids,
                token: token.map(|token| token.to_string()),
                streams,
                frames,
                whole: protocol::is_stateless(parsed),
            };
            let mut routes = self.routes();
            routes.next += 1;
            let number = routes.next;
            routes.posts.insert(number, post);
            Delivery {
                frames: received,
                _place: Some(RouteGuard { bridge: Arc::clone(self), number }),
            }
        });
        self.routes().used = Instant::now();
        // A failed send means an ended session, which the receiver notices.
        let mut line = line;
        line.push(b'\n');
        let _ = self.sender.send(line).await;
        delivery
    }

    /// Opens the stream of server-initiated messages; replaces an earlier one.
    pub(super) fn listen(&self) -> Delivery {
        let (frames, received) = channel(WAITING);
        self.routes().listening = Some(frames);
        Delivery { frames: received, _place: None }
    }

    /// Ends the session.
    pub(super) fn end(&self) {
        self.ending.notify_one();
    }

    pub(super) fn is_open(&self) -> bool {
        self.routes().is_open
    }

    /// Idle time of the session, and whether its client seems disconnected: it closed its stream,
    /// or sent nothing after its first message. None while a request or a stream is open.
    pub(super) fn idle(&self, now: Instant) -> Option<(Duration, bool)> {
        let routes = self.routes();
        if !routes.posts.is_empty()
            || routes.listening.as_ref().is_some_and(|listening| !listening.is_closed())
        {
            return None;
        }
        Some((
            now.saturating_duration_since(routes.used),
            routes.listening.is_some() || !routes.is_known,
        ))
    }

    /// Routes a message. Never blocks: a receiver with a full queue is disconnected.
    fn route(&self, line: Vec<u8>) {
        let (parsed, kind) = match message::answered_id(&line) {
            Some(id) => (None, Kind::Answer(id.to_json().to_string())),
            None => {
                let parsed = message::parse(&line);
                let kind = kind(&parsed);
                (Some(parsed), kind)
            }
        };
        let mut routes = self.routes();
        match kind {
            Kind::Answer(id) => {
                let found = routes
                    .posts
                    .iter()
                    .find(|(_, post)| post.whole || post.ids.contains(&id))
                    .map(|(number, _)| *number);
                if let Some(post) = found.and_then(|number| routes.posts.get_mut(&number)) {
                    let _ = post.frames.try_send((line, true));
                }
            }
            Kind::Progress(token) => {
                let post = routes.posts.values().find(|post| {
                    post.streams && (post.whole || post.token.as_ref() == Some(&token))
                });
                if let Some(post) = post {
                    offer(&post.frames, line);
                }
            }
            Kind::Other => {
                let listening =
                    routes.listening.as_ref().filter(|listening| !listening.is_closed());
                let whole = routes.posts.values().find(|post| post.whole).map(|post| &post.frames);
                let asks = matches!(parsed, Some(Message::Request(_)));
                let any = routes
                    .posts
                    .values()
                    .filter(|post| asks && post.streams)
                    .map(|post| &post.frames)
                    .next_back();
                if let Some(frames) = listening.or(whole).or(any) {
                    offer(frames, line);
                }
            }
        }
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock()
    }
}

/// Sends a message that is no response, if capacity remains: the last slot is reserved for the
/// response.
fn offer(frames: &Sender<(Vec<u8>, bool)>, line: Vec<u8>) {
    if frames.capacity() > 1 {
        // The receiver has disconnected.
        let _ = frames.try_send((line, false));
    }
}

/// Reads the output of a session to its end.
async fn listen_to(read: &local::ReadHalf, bridge: &Weak<Bridge>) {
    // The length of own responses is bounded elsewhere.
    let mut splitter = Splitter::new(usize::MAX / 2);
    let mut buffer = vec![0; 64 << 10];
    loop {
        if read.readable().await.is_err() {
            return;
        }
        match read.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut pieces = Vec::new();
                splitter.push(&buffer[..count], &mut pieces);
                let Some(bridge) = bridge.upgrade() else { return };
                for piece in pieces {
                    if let Piece::Line(line) = piece {
                        bridge.route(line);
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Route of a message.
enum Kind {
    /// To the request with this id.
    Answer(String),
    /// To the request with this progress token.
    Progress(String),
    /// Server-initiated.
    Other,
}

fn kind(parsed: &Message) -> Kind {
    match parsed {
        Message::Response { id: Some(id), .. } => Kind::Answer(id.to_json().to_string()),
        Message::Batch(members) => members
            .iter()
            .map(kind)
            .find(|kind| matches!(kind, Kind::Answer(_)))
            .unwrap_or(Kind::Other),
        Message::Notification { method, params } if &**method == "notifications/progress" => {
            Kind::Progress(params.get("progressToken").map(Value::to_string).unwrap_or_default())
        }
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_is_kept_for_the_answer() {
        let (frames, mut received) = channel(WAITING);
        (0..2 * WAITING).for_each(|_| offer(&frames, b"progress".to_vec()));
        frames.try_send((b"answer".to_vec(), true)).expect("there is a place");
        drop(frames);
        let all: Vec<_> = std::iter::from_fn(|| received.try_recv().ok()).collect();
        assert_eq!((all.len(), all.last()), (WAITING, Some(&(b"answer".to_vec(), true))));
    }

    #[test]
    fn a_session_is_idle_when_no_client_waits_and_its_client_has_gone_when_it_does_not_come_back() {
        let begun = Instant::now();
        let (sender, _sent) = channel(1);
        let routes = Routes {
            is_open: true,
            is_known: false,
            used: begun,
            next: 0,
            posts: BTreeMap::new(),
            listening: None,
        };
        let bridge = Bridge { routes: Mutex::new(routes), sender, ending: Arc::default() };
        let after = Duration::from_secs(5);
        assert_eq!(
            bridge.idle(begun + after),
            Some((after, true)),
            "it has had the answer to its first message"
        );
        bridge.mark_known();
        assert!(
            bridge
                .idle(Instant::now() + after)
                .is_some_and(|(idle, is_gone)| idle >= after && !is_gone)
        );
        let stream = bridge.listen();
        assert_eq!(bridge.idle(begun + after), None, "it listens");
        drop(stream);
        assert!(bridge.idle(Instant::now() + after).is_some_and(|(_, is_gone)| is_gone));
    }
}
