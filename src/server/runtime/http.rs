//! Streamable HTTP endpoint: POST delivers messages, GET opens a stream, DELETE ends a session.
//! Sessions are the same as over the socket; a stateless request is a session of one request.
//! Checks access (`guard`), reads bodies within a memory budget (`body`), and moves messages
//! between requests and sessions (`bridge`); does not interpret the messages.

pub(crate) mod body;
pub(crate) mod bridge;
pub(crate) mod guard;
pub(crate) mod unauthenticated;

use super::sessions::Sessions;
use crate::jsonrpc::message::{
    self, INVALID_REQUEST, METHOD_NOT_FOUND, Message, RequestId, RpcError, UNSUPPORTED_VERSION,
};
use crate::{jsonrpc::requests, protocol};
use body::Budget;
use bridge::{Bridge, Delivery};
pub(super) use guard::Guard;
pub use guard::{BearerToken, HttpListening};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Channel, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue,
    REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use unauthenticated::{Entry, Unauthenticated};

/// Path of the endpoint.
const ENDPOINT: &str = "/mcp";
/// Path of the page.
const PAGE: &str = "/";
/// Maximum number of open connections.
pub(crate) const MAX_CONNECTIONS: usize = 512;
/// Timeout of reading a request's head, of reading its body, and of a write to a stream.
pub(crate) const READ: Duration = Duration::from_secs(30);
/// Idle timeout of a session without a request or an open stream.
pub(crate) const IDLE: Duration = Duration::from_secs(600);
/// Idle timeout of a session whose client closed its stream, or sent nothing after its first
/// message.
pub(crate) const LEFT: Duration = Duration::from_secs(30);
/// How long a new client waits for the eviction of an idle session.
const EVICTION_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of the idle sweep.
pub(super) const SWEEP: Duration = Duration::from_secs(5);
/// Keep-alive interval of an event stream.
const STREAM_KEEP_ALIVE: Duration = Duration::from_secs(15);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// Error code: a request's headers contradict its body.
const HEADER_MISMATCH: i32 = -32020;

type Body = BoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

/// HTTP endpoint. See the module.
pub(super) struct Http {
    sessions: Sessions,
    guard: Guard,
    longest: usize,
    connections: Arc<Semaphore>,
    unauthenticated: Unauthenticated,
    budget: Budget,
    open: Mutex<BTreeMap<String, Arc<Bridge>>>,
}

impl Http {
    /// Creates the endpoint.
    pub(super) fn new(sessions: Sessions, guard: Guard, longest: usize) -> Arc<Self> {
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Arc::new(Self {
            sessions,
            guard,
            longest,
            connections,
            unauthenticated: Unauthenticated::default(),
            budget: Budget::new(),
            open: Mutex::default(),
        })
    }

    /// Accepts the next connection.
    pub(super) async fn accept(self: &Arc<Self>, listener: &TcpListener) -> io::Result<()> {
        let (stream, _) = listener.accept().await?;
        let permit = Arc::clone(&self.connections).try_acquire_owned().ok();
        match permit.zip(self.budget.take(body::CONNECTION)) {
            Some(held) => {
                let own = Arc::clone(self);
                tokio::spawn(async move {
                    own.connection(stream).await;
                    drop(held);
                });
            }
            None => tracing::warn!(
                "a client is turned away: too many connections, or too much under way in them"
            ),
        }
        Ok(())
    }

    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let (entry, closing) = self.unauthenticated.enter();
        let (own, entry) = (Arc::clone(&self), Arc::new(entry));
        let serve = service_fn(move |request| {
            let (own, entry) = (Arc::clone(&own), Arc::clone(&entry));
            async move { Ok::<_, Infallible>(own.serve(request, &entry).await) }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(READ).max_buf_size(body::BUFFER);
        let served = http.serve_connection(TokioIo::new(stream), serve);
        tokio::select! {
            served = served => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection has ended");
                }
            }
            () = closing.wait() => tracing::debug!("a connection has not shown the token in time"),
        }
    }

    async fn serve(self: Arc<Self>, request: Request<Incoming>, entry: &Entry) -> Answer {
        let place = self.guard.admit_place(request.uri(), request.headers());
        // The document is the same for everyone and has no data: its script shows the token.
        if place.is_ok() && request.uri().path() == PAGE && *request.method() == Method::GET {
            return page();
        }
        match place.and_then(|()| self.guard.admit_token(request.headers())) {
            Ok(()) => entry.admit(),
            Err((status, why)) => {
                let mut answer = plain(status, why);
                if status == StatusCode::UNAUTHORIZED {
                    let challenge = guard::challenge(request.headers());
                    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
                return answer;
            }
        }
        if request.uri().path() != ENDPOINT {
            return plain(StatusCode::NOT_FOUND, "the address ends in /mcp");
        }
        match *request.method() {
            Method::POST => self.post(request).await.unwrap_or_else(|answer| *answer),
            Method::GET => self.get(request.headers()).unwrap_or_else(|answer| *answer),
            Method::DELETE => match self.known(request.headers()) {
                Ok((name, bridge)) => {
                    bridge.end();
                    self.open().remove(&name);
                    plain(StatusCode::NO_CONTENT, "")
                }
                Err(answer) => *answer,
            },
            _ => plain(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE"),
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Result<Answer, Box<Answer>> {
        let (head, body) = request.into_parts();
        if !guard::is_json(&head.headers) {
            return Err(Box::new(plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the message is application/json",
            )));
        }
        let longest = if self.known(&head.headers).is_ok() {
            self.longest
        } else {
            body::BEFORE_SESSION.min(self.longest)
        };
        let read = body::read(body, longest, READ, &self.budget).await;
        // The memory share is released once the session has the message.
        let (line, _share) = read.map_err(|(status, why)| Box::new(plain(status, why)))?;
        let parsed = message::parse(&line);
        if let Message::Invalid(id, error) = parsed {
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, id.as_ref(), error)));
        }
        let streams = accepts(&head.headers, "text/event-stream");
        let declared = head.headers.get(VERSION).and_then(|version| version.to_str().ok());
        if protocol::is_stateless(&parsed) || declared == Some(protocol::STATELESS) {
            if let (Message::Request(request), Err(error)) =
                (&parsed, check_headers(&parsed, &head.headers))
            {
                return Err(Box::new(refusal(StatusCode::BAD_REQUEST, Some(&request.id), error)));
            }
            return match parsed {
                Message::Request(_) => {
                    let bridge = self.begin().await?;
                    Ok(deliver(bridge.post(&parsed, line, true).await, streams, Some(bridge)).await)
                }
                Message::Batch(_) => {
                    let error = RpcError::new(
                        INVALID_REQUEST,
                        "arrays of messages belong to version 2025-03-26 only",
                    );
                    Err(Box::new(refusal(StatusCode::BAD_REQUEST, None, error)))
                }
                // Without a session there is no request to cancel or to respond to.
                _ => Ok(plain(StatusCode::ACCEPTED, "")),
            };
        }
        if declared.is_some_and(|version| !protocol::is_known(version)) {
            return Err(Box::new(plain(
                StatusCode::BAD_REQUEST,
                "this version of the protocol is not spoken",
            )));
        }
        let first =
            matches!(&parsed, Message::Request(request) if &*request.method == "initialize");
        if first {
            let bridge = self.begin().await?;
            let name = guard::random_name().map_err(|error| Box::new(busy(&error)))?;
            let mut answer =
                deliver(bridge.post(&parsed, line, streams).await, streams, None).await;
            if let Ok(value) = HeaderValue::from_str(&name) {
                answer.headers_mut().insert(SESSION, value);
            }
            // Inserted last: a client that disconnects before leaves no session behind.
            self.open().insert(name, bridge);
            return Ok(answer);
        }
        let (_, bridge) = self.known(&head.headers)?;
        bridge.mark_known();
        Ok(deliver(bridge.post(&parsed, line, streams).await, streams, None).await)
    }

    /// GET: the stream of server-initiated messages.
    fn get(&self, headers: &HeaderMap) -> Result<Answer, Box<Answer>> {
        let (_, bridge) = self.known(headers)?;
        bridge.mark_known();
        if !accepts(headers, "text/event-stream") {
            return Err(Box::new(plain(
                StatusCode::NOT_ACCEPTABLE,
                "the answer is a stream of events",
            )));
        }
        Ok(stream(None, bridge.listen(), None))
    }

    /// The session named by a request.
    fn known(&self, headers: &HeaderMap) -> Result<(String, Arc<Bridge>), Box<Answer>> {
        let Some(name) = headers.get(SESSION).and_then(|name| name.to_str().ok()) else {
            return Err(Box::new(plain(
                StatusCode::BAD_REQUEST,
                "no session: send `initialize` first",
            )));
        };
        let found = self.open().get(name).filter(|bridge| bridge.is_open()).cloned();
        found
            .map(|bridge| (name.to_owned(), bridge))
            .ok_or_else(|| Box::new(plain(StatusCode::NOT_FOUND, "no such session")))
    }

    /// Begins a session, with idle eviction at the limit.
    async fn begin(&self) -> Result<Arc<Bridge>, Box<Answer>> {
        self.sessions.room_over_http(EVICTION_TIMEOUT, || self.evict_idle()).await;
        Bridge::begin(&self.sessions).map_err(|error| Box::new(busy(&error)))
    }

    /// Evicts the session that was idle longest, disconnected clients first. A session that was
    /// active a moment ago is never evicted.
    fn evict_idle(&self) {
        let now = Instant::now();
        let mut open = self.open();
        let idle = open.iter().filter_map(|(name, bridge)| {
            bridge.idle(now).map(|(idle, is_gone)| (is_gone, idle, name))
        });
        let longest = idle
            .filter(|(is_gone, idle, _)| *is_gone || *idle >= LEFT)
            .max()
            .map(|(_, _, name)| name.clone());
        if let Some(bridge) = longest.and_then(|name| open.remove(&name)) {
            bridge.end();
        }
    }

    /// Ends idle sessions and removes those that have ended.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        self.open().retain(|_, bridge| {
            let is_over = bridge
                .idle(now)
                .is_some_and(|(idle, is_gone)| idle > if is_gone { LEFT } else { IDLE });
            if is_over {
                bridge.end();
            }
            bridge.is_open() && !is_over
        });
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Bridge>>> {
        self.open.lock()
    }
}

/// Response to a POST: empty, one message, or an event stream that ends with it.
async fn deliver(delivery: Option<Delivery>, streams: bool, whole: Option<Arc<Bridge>>) -> Answer {
    let Some(mut delivery) = delivery else { return plain(StatusCode::ACCEPTED, "") };
    match delivery.next().await {
        None => plain(StatusCode::BAD_GATEWAY, "the session has ended"),
        Some((frame, true)) => json(status_of(&frame, whole.is_some()), frame),
        Some((frame, false)) if streams => stream(Some(frame), delivery, whole),
        Some(_) => loop {
            match delivery.next().await {
                None => return plain(StatusCode::BAD_GATEWAY, "the session has ended"),
                Some((frame, true)) => return json(status_of(&frame, whole.is_some()), frame),
                Some(_) => {}
            }
        },
    }
}

/// Event stream up to the last message of a delivery. `whole` is dropped when the client
/// disconnects.
fn stream(first: Option<Vec<u8>>, mut delivery: Delivery, whole: Option<Arc<Bridge>>) -> Answer {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(16);
    tokio::spawn(async move {
        let _whole = whole;
        let mut next = first.map(|frame| (frame, false));
        loop {
            let event = match next.take() {
                Some((frame, _)) => event(&frame),
                None => match tokio::time::timeout(STREAM_KEEP_ALIVE, delivery.next()).await {
                    Err(_) => Bytes::from_static(b":\n\n"),
                    Ok(None) => return,
                    Ok(Some((frame, true))) => {
                        // The send fails if the client has disconnected.
                        let _ = tokio::time::timeout(READ, sender.send_data(event(&frame))).await;
                        return;
                    }
                    Ok(Some((frame, false))) => event(&frame),
                },
            };
            // A client that does not read within the timeout is disconnected.
            if !matches!(tokio::time::timeout(READ, sender.send_data(event)).await, Ok(Ok(()))) {
                return;
            }
        }
    });
    let mut answer = Response::new(body.boxed());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

fn event(frame: &[u8]) -> Bytes {
    [b"data: ", frame.trim_ascii_end(), b"\n\n"].concat().into()
}

fn json(status: StatusCode, frame: Vec<u8>) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(frame)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// The page, which may request nothing from elsewhere and which no other page may frame.
fn page() -> Answer {
    let mut answer = plain(StatusCode::OK, cograph_page::served());
    let policy = HeaderValue::from_str(&cograph_page::policy());
    let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let fixed = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    for (name, value) in fixed {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

fn refusal(status: StatusCode, id: Option<&RequestId>, error: RpcError) -> Answer {
    let frame = match id {
        Some(id) => requests::answer_line(id, Err(error)),
        None => requests::refusal_line(error),
    };
    json(status, frame)
}

fn busy(error: &io::Error) -> Answer {
    tracing::warn!(%error, "a session could not begin");
    plain(StatusCode::SERVICE_UNAVAILABLE, "busy: too many sessions")
}

/// HTTP status of a response: stateless errors have one of their own.
fn status_of(frame: &[u8], stateless: bool) -> StatusCode {
    match message::parse(frame) {
        Message::Response { error: Some(error), .. } if stateless => {
            match error["code"].as_i64().and_then(|code| code.try_into().ok()) {
                Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
                Some(UNSUPPORTED_VERSION | message::INVALID_PARAMS) => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            }
        }
        _ => StatusCode::OK,
    }
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let accepted = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains(kind) || value.contains("*/*"))
}

/// Checks that the headers of a stateless request match its body.
fn check_headers(parsed: &Message, headers: &HeaderMap) -> Result<(), RpcError> {
    let Message::Request(request) = parsed else { return Ok(()) };
    let params = request.params.as_ref().ok();
    let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let named = match &*request.method {
        "tools/call" | "prompts/get" => params.and_then(|params| params.get("name")?.as_str()),
        "resources/read" => params.and_then(|params| params.get("uri")?.as_str()),
        _ => None,
    };
    let version = params
        .and_then(|params| params.get("_meta")?.get(protocol::VERSION_KEY))
        .and_then(Value::as_str);
    let wrong = [
        (VERSION, of(VERSION) == version),
        (METHOD, of(METHOD) == Some(&*request.method)),
        (NAME, named.is_none() || guard::decoded(of(NAME)) == named.map(str::to_owned)),
    ];
    match wrong.into_iter().find(|(_, fits)| !fits) {
        None => Ok(()),
        Some((name, _)) => {
            let error = RpcError::new(
                HEADER_MISMATCH,
                format!("the header `{name}` is missing or does not say what the body says"),
            );
            Err(error)
        }
    }
}
