//! HTTP client of the object stores: the one that the program has, with limits of its own.

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use object_store::client::{
    HttpClient, HttpConnector as Connector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};

use crate::manifest::MAX_MANIFEST;

/// Time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time until the head of a response.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a response: that of the largest object, and of a page of a listing.
const MAX_RESPONSE: usize = MAX_MANIFEST + (1 << 20);

/// Makes clients.
#[derive(Debug)]
pub(crate) struct HyperConnector {
    /// True if the address itself is `http://`.
    pub allows_http: bool,
}

impl Connector for HyperConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            object_store::Error::Generic { store: "HTTP", source: error }
        };
        let allowed = options.get_config_value(&ClientConfigKey::AllowHttp);
        let allows_http = self.allows_http || allowed.as_deref() == Some("true");
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        connector.enforce_http(false);
        let builder = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| failed(error.into()))?;
        let builder = if allows_http { builder.https_or_http() } else { builder.https_only() };
        let client = Client::builder(TokioExecutor::new())
            .build(builder.enable_http1().wrap_connector(connector));
        Ok(HttpClient::new(HyperService(client)))
    }
}

/// Client.
#[derive(Debug)]
struct HyperService(Client<HttpsConnector<HttpConnector>, HttpRequestBody>);

#[async_trait::async_trait]
impl HttpService for HyperService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = tokio::time::timeout(HEAD_TIMEOUT, self.0.request(request))
            .await
            .map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?
            .map_err(|error| {
                let kind = if error.is_connect() {
                    HttpErrorKind::Connect
                } else {
                    HttpErrorKind::Request
                };
                HttpError::new(kind, error)
            })?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_RESPONSE)
            .map_err(|error| HttpError::new_boxed(HttpErrorKind::Decode, error));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }
}
