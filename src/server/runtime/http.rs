//! Clients over HTTP: one address that takes messages by POST, streams by GET and farewells by DELETE. Behind it are the same
//! sessions as behind the socket; a request of the stateless era is a session of one request. Checks who may come (`guard`),
//! then moves messages between requests and sessions (`bridge`); knows nothing of what they say.

mod bridge;
mod guard;

use super::sessions::Sessions;
use crate::server::message::{self, METHOD_NOT_FOUND, Message, RequestId, RpcError, UNSUPPORTED_VERSION};
use crate::server::{protocol, requests};
use bridge::{Bridge, Delivery};
pub(super) use guard::Guard;
pub use guard::{BearerToken, HttpListening};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Channel, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The path of the address.
const ENDPOINT: &str = "/mcp";
/// Connections that may be open at once.
const MOST_CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request, and for its body.
const READ: Duration = Duration::from_secs(30);
/// A session without a request or an open stream for so long is ended.
const IDLE: Duration = Duration::from_secs(600);
/// The same for a session whose client had a stream and has let it go.
const LEFT: Duration = Duration::from_secs(30);
/// Time between two looks for those.
pub(super) const SWEEP: Duration = Duration::from_secs(5);
/// A stream on which nothing was sent for so long gets a sign of life.
const ALIVE: Duration = Duration::from_secs(15);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// Headers of a request that say something else than its body.
const HEADER_MISMATCH: i32 = -32020;

type Body = BoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

/// See the module.
pub(super) struct Http {
    sessions: Sessions,
    guard: Guard,
    longest: usize,
    connections: Arc<Semaphore>,
    open: Mutex<BTreeMap<String, Arc<Bridge>>>,
}

impl Http {
    /// Takes clients in for these sessions.
    pub(super) fn new(sessions: Sessions, guard: Guard, longest: usize) -> Arc<Self> {
        let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        Arc::new(Self { sessions, guard, longest, connections, open: Mutex::default() })
    }

    /// Takes the next client that comes.
    pub(super) async fn accept(self: &Arc<Self>, listener: &TcpListener) -> io::Result<()> {
        let (stream, _) = listener.accept().await?;
        match Arc::clone(&self.connections).try_acquire_owned() {
            Ok(permit) => {
                let own = Arc::clone(self);
                tokio::spawn(async move {
                    own.connection(stream).await;
                    drop(permit);
                });
            }
            Err(_) => tracing::warn!("a client is turned away: {MOST_CONNECTIONS} connections are open"),
        }
        Ok(())
    }

    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let own = Arc::clone(&self);
        let serve = service_fn(move |request| {
            let own = Arc::clone(&own);
            async move { Ok::<_, Infallible>(own.serve(request).await) }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        let served = http.timer(TokioTimer::new()).header_read_timeout(READ).serve_connection(TokioIo::new(stream), serve);
        if let Err(error) = served.await {
            tracing::debug!(%error, "a connection has ended");
        }
    }

    async fn serve(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        if let Err((status, why)) = self.guard.admit(request.headers()) {
            return plain(status, why);
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
        let collected = tokio::time::timeout(READ, Limited::new(body, self.longest).collect()).await;
        let body = match collected {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => return Err(Box::new(plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long, or was cut off"))),
            Err(_) => return Err(Box::new(plain(StatusCode::REQUEST_TIMEOUT, "the message does not come"))),
        };
        // Line ends are blanks between the parts of a message: within text they are escaped.
        let line: Vec<u8> = body.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }).collect();
        let parsed = message::parse(&line);
        if let Message::Invalid(id, error) = parsed {
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, id.as_ref(), error)));
        }
        let streams = accepts(&head.headers, "text/event-stream");
        let declared = head.headers.get(VERSION).and_then(|version| version.to_str().ok());
        if protocol::is_stateless(&parsed) || declared == Some(protocol::STATELESS) {
            if let (Message::Request(request), Err(error)) = (&parsed, check_headers(&parsed, &head.headers)) {
                return Err(Box::new(refusal(StatusCode::BAD_REQUEST, Some(&request.id), error)));
            }
            let bridge = Bridge::begin(&self.sessions).map_err(|error| Box::new(busy(&error)))?;
            return Ok(deliver(bridge.post(&parsed, line, true).await, streams, Some(bridge)).await);
        }
        if declared.is_some_and(|version| !protocol::is_known(version)) {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "this version of the protocol is not spoken")));
        }
        let first = matches!(&parsed, Message::Request(request) if &*request.method == "initialize");
        if first {
            let bridge = Bridge::begin(&self.sessions).map_err(|error| Box::new(busy(&error)))?;
            let name = guard::random_name().map_err(|error| Box::new(busy(&error)))?;
            let mut answer = deliver(bridge.post(&parsed, line, streams).await, streams, None).await;
            if let Ok(value) = HeaderValue::from_str(&name) {
                answer.headers_mut().insert(SESSION, value);
            }
            self.open().insert(name, bridge);
            return Ok(answer);
        }
        let (_, bridge) = self.known(&head.headers)?;
        Ok(deliver(bridge.post(&parsed, line, streams).await, streams, None).await)
    }

    /// The stream for what the session says by itself.
    fn get(&self, headers: &HeaderMap) -> Result<Answer, Box<Answer>> {
        let (_, bridge) = self.known(headers)?;
        if !accepts(headers, "text/event-stream") {
            return Err(Box::new(plain(StatusCode::NOT_ACCEPTABLE, "the answer is a stream of events")));
        }
        Ok(stream(None, bridge.listen(), None))
    }

    /// The session that a request belongs to.
    fn known(&self, headers: &HeaderMap) -> Result<(String, Arc<Bridge>), Box<Answer>> {
        let Some(name) = headers.get(SESSION).and_then(|name| name.to_str().ok()) else {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "no session: send `initialize` first")));
        };
        let found = self.open().get(name).filter(|bridge| bridge.is_open()).cloned();
        found.map(|bridge| (name.to_owned(), bridge)).ok_or_else(|| Box::new(plain(StatusCode::NOT_FOUND, "no such session")))
    }

    /// Ends the sessions that nobody uses, and forgets those that have ended.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        self.open().retain(|_, bridge| {
            let stays = bridge.is_open() && !bridge.is_idle(now, IDLE, LEFT);
            if !stays {
                bridge.end();
            }
            stays
        });
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Bridge>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a POST: nothing, one message, or a stream that ends with it.
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

/// A stream of events until the last message of a delivery. When the client leaves, `whole` goes with it.
fn stream(first: Option<Vec<u8>>, mut delivery: Delivery, whole: Option<Arc<Bridge>>) -> Answer {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(16);
    tokio::spawn(async move {
        let _whole = whole;
        let mut next = first.map(|frame| (frame, false));
        loop {
            let event = match next.take() {
                Some((frame, _)) => event(&frame),
                None => match tokio::time::timeout(ALIVE, delivery.next()).await {
                    Err(_) => Bytes::from_static(b":\n\n"),
                    Ok(None) => return,
                    Ok(Some((frame, true))) => {
                        // A client that is gone misses it.
                        let _ = sender.send_data(event(&frame)).await;
                        return;
                    }
                    Ok(Some((frame, false))) => event(&frame),
                },
            };
            if sender.send_data(event).await.is_err() {
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

/// The stateless era says by the status, too, what is wrong with a request.
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

/// What the headers of a request of the stateless era say must be what its body says.
fn check_headers(parsed: &Message, headers: &HeaderMap) -> Result<(), RpcError> {
    let Message::Request(request) = parsed else { return Ok(()) };
    let params = request.params.as_ref().ok();
    let of = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let named = match &*request.method {
        "tools/call" | "prompts/get" => params.and_then(|params| params.get("name")?.as_str()),
        "resources/read" => params.and_then(|params| params.get("uri")?.as_str()),
        _ => None,
    };
    let version = params.and_then(|params| params.get("_meta")?.get(protocol::VERSION_KEY)).and_then(Value::as_str);
    let wrong = [
        (VERSION, of(VERSION) == version),
        (METHOD, of(METHOD) == Some(&*request.method)),
        (NAME, named.is_none() || guard::decoded(of(NAME)) == named.map(str::to_owned)),
    ];
    match wrong.into_iter().find(|(_, fits)| !fits) {
        None => Ok(()),
        Some((name, _)) => {
            let error =
                RpcError::new(HEADER_MISMATCH, format!("the header `{name}` is missing or does not say what the body says"));
            Err(error)
        }
    }
}
