//! Streamable HTTP transport, adapted to a stream of lines: each line is a POST request, and
//! messages of responses become lines. An undeliverable message or a broken response ends the
//! stream, as for a socket.

use super::connection::LINE;
use super::wire::{NoWire, Wire, wire_of};
use crate::jsonrpc::framing::{Piece, Splitter};
use crate::jsonrpc::message::{self, Message, RequestId, RpcError};
use crate::jsonrpc::requests;
use crate::protocol;
use crate::runtime::BearerToken;
use crate::transport::{local, write_all};
use cograph_system::sockets::{self, LocalStream};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use parking_lot::Mutex;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;

/// Capacity of the input queue, in lines.
pub(crate) const WAITING: usize = 4;
/// Protocol version and the header that carries it.
const VERSION: (&str, &str) = ("mcp-protocol-version", super::question::VERSION);
const SESSION: &str = "mcp-session-id";

/// HTTP session with a peer.
struct Peer {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    address: Uri,
    authorization: Option<HeaderValue>,
    /// Session id assigned by the peer.
    session: Mutex<Option<HeaderValue>>,
    lines: Sender<Vec<u8>>,
    /// A request failed: the stream ends.
    broken: Sender<()>,
}

/// Opens the transport.
pub(super) fn connect(
    address: &Uri,
    token: Option<&BearerToken>,
    within: Duration,
) -> Result<Wire, NoWire> {
    reach(address, within)?;
    let connector =
        HttpsConnectorBuilder::new().with_native_roots()?.https_or_http().enable_http1().build();
    let authorization = token.map(|token| HeaderValue::from_str(&token.header())).transpose();
    let authorization =
        authorization.map_err(|_| NoWire::Refused("the token cannot be sent".to_owned()))?;
    let (ours, theirs) = sockets::pair()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let address = address.clone();
    let (done, ended) = sync_channel(1);
    let (closing, closes) = oneshot::channel();
    std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        if let Err(error) =
            runtime.block_on(carry(theirs, connector, address, authorization, closes))
        {
            tracing::info!(%error, "the way to a peer could not be opened");
        }
        // Ends requests in flight with the stream.
        runtime.shutdown_background();
        // The receiver may have stopped waiting.
        let _ = done.try_send(());
    })?;
    let Wire { stream, end, process } = wire_of(ours)?;
    let end = Box::new(move || {
        // Before the stream ends: lines that it still holds do not delay the end of the session.
        let _ = closing.send(());
        end();
        // Ends the session at the peer, if it is reachable.
        let _ = ended.recv_timeout(super::question::CLOSE_TIMEOUT);
    });
    Ok(Wire { stream, end, process })
}

/// Checks that the address accepts connections, for an actionable error before any other.
fn reach(address: &Uri, within: Duration) -> io::Result<()> {
    let port =
        address.port_u16().unwrap_or(if address.scheme_str() == Some("https") { 443 } else { 80 });
    let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name means no address");
    for place in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, within) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn carry(
    stream: LocalStream,
    connector: HttpsConnector<HttpConnector>,
    address: Uri,
    authorization: Option<HeaderValue>,
    closes: oneshot::Receiver<()>,
) -> io::Result<()> {
    let (read, write) = local::split(stream)?;
    let (lines, mut said) = channel(WAITING);
    let (broken, mut breaks) = channel(1);
    let client =
        Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build(connector);
    let peer =
        Arc::new(Peer { client, address, authorization, session: Mutex::default(), lines, broken });
    tokio::select! {
        _ = closes => {}
        () = send_all(&peer, &read) => {}
        () = write_all(&write, &mut said) => {}
        _ = breaks.recv() => {}
    }
    peer.remove_pending().await;
    Ok(())
}

/// Sends every line as a POST request; the first response is awaited before others are sent.
async fn send_all(peer: &Arc<Peer>, read: &local::ReadHalf) {
    let (mut splitter, mut buffer, mut is_first) =
        (Splitter::new(usize::MAX / 2), vec![0; 64 << 10], true);
    loop {
        if read.readable().await.is_err() {
            return;
        }
        let mut pieces = Vec::new();
        match read.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => splitter.push(&buffer[..count], &mut pieces),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        for piece in pieces {
            let Piece::Line(line) = piece else { continue };
            let parsed = message::parse(&line);
            let opens = matches!(
                &parsed,
                Message::Notification { method, .. } if &**method == "notifications/initialized"
            );
            let own = Arc::clone(peer);
            let sending = async move { own.post(line).await };
            // A notification completes before the next message is sent, which keeps their order.
            if std::mem::take(&mut is_first) || !matches!(parsed, Message::Request(_)) {
                sending.await;
            } else {
                tokio::spawn(sending);
            }
            if opens {
                let own = Arc::clone(peer);
                tokio::spawn(async move { own.listen().await });
            }
        }
    }
}

impl Peer {
    fn request(&self, method: Method, body: Vec<u8>) -> Option<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(method).uri(self.address.clone());
        request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(session) = self.session.lock().clone() {
            request = request.header(SESSION, session).header(VERSION.0, VERSION.1);
        }
        request.body(Full::new(Bytes::from(body))).ok()
    }

    /// Sends one message and handles its response.
    async fn post(&self, line: Vec<u8>) {
        let said = message::parse(&line);
        let asked = match &said {
            Message::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let Some(mut request) = self.request(Method::POST, line) else { return };
        if protocol::is_stateless(&said) {
            repeat(&said, request.headers_mut());
        }
        let said = match self.client.request(request).await {
            Ok(answer) => self.take(answer, asked.as_ref()).await,
            Err(error) => Err(reason(&error)),
        };
        if let Err(why) = said {
            tracing::info!(%why, "a message was lost on the way to a peer");
            // The stream may have ended already.
            let _ = self.broken.try_send(());
        }
    }

    /// Opens the peer's server-to-client stream (GET), if it has one.
    async fn listen(&self) {
        let Some(request) = self.request(Method::GET, Vec::new()) else { return };
        if let Ok(answer) = self.client.request(request).await
            && answer.status() == StatusCode::OK
        {
            // The end of this stream loses notifications only; requests still get responses.
            let _ = self.read(answer.into_body(), true, None).await;
        }
    }

    /// Handles the response to a message, which is the request `asked` or none.
    async fn take(
        &self,
        answer: Response<Incoming>,
        asked: Option<&RequestId>,
    ) -> Result<(), String> {
        if let Some(session) = answer.headers().get(SESSION) {
            *self.session.lock() = Some(session.clone());
        }
        let kind = answer
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let status = answer.status();
        if kind.starts_with("text/event-stream") {
            self.read(answer.into_body(), true, asked).await
        } else if kind.starts_with("application/json") {
            self.read(answer.into_body(), false, asked).await
        } else if status.is_success() && asked.is_none() {
            Ok(())
        } else if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let why = format!("it answers {status}: is the token right?");
            self.say(
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"error\":{{\"code\":-32603,\"message\":\"{why}\"}}}}"
                )
                .into_bytes(),
            )
            .await
        } else {
            Err(format!("it answers {status}"))
        }
    }

    /// Forwards the messages of a response body: the response to the request `asked`, or others.
    async fn read(
        &self,
        mut body: Incoming,
        is_events: bool,
        asked: Option<&RequestId>,
    ) -> Result<(), String> {
        const TOO_LONG: &str = "an answer is longer than a message may be";
        let mut splitter = Splitter::new(LINE);
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| error.to_string())?;
            let Some(data) = frame.data_ref() else { continue };
            if is_events {
                let mut pieces = Vec::new();
                splitter.push(data, &mut pieces);
                for piece in pieces {
                    match piece {
                        Piece::Line(line) => self.say_event(&line, asked).await?,
                        Piece::Oversize(prefix) => {
                            self.say(prefix).await?;
                            return Err(TOO_LONG.to_owned());
                        }
                    }
                }
            } else if whole.len() + data.len() > LINE {
                return Err(TOO_LONG.to_owned());
            } else {
                whole.extend_from_slice(data);
            }
        }
        if !is_events {
            return self.say(message_or_failure(whole, asked, Origin::Body)).await;
        }
        // A stream that was cut off within a line.
        let mut pieces = Vec::new();
        splitter.finish(&mut pieces);
        match pieces.first() {
            Some(Piece::Line(line)) => self.say_event(line, asked).await,
            _ => Ok(()),
        }
    }

    /// Forwards the message of an event, if the line has one.
    async fn say_event(&self, line: &[u8], asked: Option<&RequestId>) -> Result<(), String> {
        let Some(data) = line.strip_prefix(b"data:") else { return Ok(()) };
        let data = data.trim_ascii_start().to_vec();
        self.say(message_or_failure(data, asked, Origin::Event)).await
    }

    async fn say(&self, message: Vec<u8>) -> Result<(), String> {
        let mut line: Vec<u8> = message
            .iter()
            .map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte })
            .collect();
        line.push(b'\n');
        self.lines.send(line).await.map_err(|_| "closed".to_owned())
    }

    /// Sends DELETE for the session.
    async fn remove_pending(&self) {
        if let Some(request) = self
            .request(Method::DELETE, Vec::new())
            .filter(|request| request.headers().contains_key(SESSION))
        {
            // The result is irrelevant: the peer expires idle sessions.
            let _ =
                tokio::time::timeout(super::question::CLOSE_TIMEOUT, self.client.request(request))
                    .await;
        }
    }
}

/// Where a message of a response comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// A whole body: one message.
    Body,
    /// The data of an event, which may be something else than a message.
    Event,
}

/// The message; instead of one that cannot be read, an error response to the request whose response
/// it was to be.
fn message_or_failure(message: Vec<u8>, asked: Option<&RequestId>, origin: Origin) -> Vec<u8> {
    let Some(asked) = asked else { return message };
    let why = match message::parse_lossy(&message) {
        // One with an id fails the request of that id.
        Message::Invalid(None, error)
            if origin == Origin::Body
                || error.code == message::PARSE_ERROR && message.starts_with(b"{") =>
        {
            error.message
        }
        Message::Batch(_) if origin == Origin::Body => "it is an array of messages".to_owned(),
        _ => return message,
    };
    let error = RpcError::new(message::INTERNAL_ERROR, format!("the answer cannot be read: {why}"));
    requests::answer_line(asked, Err(error))
}

/// Stateless requests repeat method and name in headers.
fn repeat(message: &Message, headers: &mut HeaderMap) {
    let Message::Request(request) = message else { return };
    headers.insert(VERSION.0, HeaderValue::from_static(protocol::STATELESS));
    let name = request.params.as_ref().ok().and_then(|params| params.get("name")?.as_str());
    for (header, value) in [("mcp-method", Some(&*request.method)), ("mcp-name", name)] {
        // Tool names are validated before they are called: they need no encoding.
        if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
            headers.insert(header, value);
        }
    }
}

/// Error message with the source chain, down to the operating system's.
fn reason(error: &hyper_util::client::legacy::Error) -> String {
    let mut source = std::error::Error::source(error);
    let mut why = error.to_string();
    while let Some(cause) = source {
        why = cause.to_string();
        source = cause.source();
    }
    why
}
