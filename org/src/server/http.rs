//! MCP over streamable HTTP. Sessions are not needed: each request has its answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::guard::Guard;
use super::tools::Tools;
use crate::error::{OrgError, Result};
use crate::session::Session;

/// Path of the endpoint.
const PATH: &str = "/mcp";
/// Connections at a time; others wait.
const CONNECTIONS: usize = 256;
/// Time for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time for a whole request, in addition to that of its question: it may wait for its turn.
const EXTRA_TIME: Duration = Duration::from_secs(60);
/// Maximum size of a request, in bytes.
const BODY_BYTES: usize = 256 << 10;

type Body = BoxBody<Bytes, Infallible>;
type Service = StreamableHttpService<Tools, NeverSessionManager>;

/// Serves all clients until a signal ends the process.
pub(crate) async fn over_http(
    session: Arc<Session>,
    address: SocketAddr,
    token: Option<String>,
    origins: Vec<String>,
) -> Result<()> {
    let guard = Guard::new(token, address)?;
    let failed =
        |error: std::io::Error| OrgError::Server(format!("listening on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    crate::report(&format!("serving http://{address}{PATH}"));
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    if !address.ip().is_loopback() {
        // Names of the machine are not known here; the token is what a web page does not have.
        config = config.disable_allowed_hosts();
    }
    let timeout = session.timeout() + EXTRA_TIME;
    let tools = Tools::new(session);
    let service: Service =
        StreamableHttpService::new(move || Ok(tools.clone()), Arc::default(), config);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(turn) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        // A connection that is gone before it is accepted is no error of the server.
        let Ok((stream, _)) = accepted else { continue };
        let (service, guard) = (service.clone(), guard.clone());
        tokio::spawn(async move {
            let respond = service_fn(move |request| {
                let (service, guard) = (service.clone(), guard.clone());
                async move {
                    let response = respond(&service, &guard, timeout, request).await;
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), respond);
            // A client may end its connection at any time.
            let _ = connection.await;
            drop(turn);
        });
    }
}

async fn respond(
    service: &Service,
    guard: &Guard,
    timeout: Duration,
    request: Request<Incoming>,
) -> Response<Body> {
    if request.uri().path() != PATH {
        return short(StatusCode::NOT_FOUND, "the endpoint is /mcp\n");
    }
    if let Err(status) = guard.check(request.headers()) {
        let mut response = short(status, "the token is missing or wrong\n");
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    match tokio::time::timeout(timeout, service.handle(request)).await {
        Ok(response) => response,
        Err(_) => short(StatusCode::GATEWAY_TIMEOUT, "the time is over\n"),
    }
}

fn short(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}
