//! HTTP access control: validation of `Host` and `Origin` (DNS rebinding, pages of other origins)
//! and the bearer token.

use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::{StatusCode, Uri};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::{fmt, io};
use subtle::ConstantTimeEq;

/// Bearer token. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

/// HTTP listener configuration.
#[derive(Clone, Debug)]
pub struct HttpListening {
    /// Address to listen on.
    pub address: SocketAddr,
    /// Bearer token of clients. If none is given, one is generated for a loopback address; any
    /// other address requires an explicit token.
    pub token: Option<BearerToken>,
    /// Allowed workspace roots, as canonical paths: these directories and all below them.
    pub within: Vec<PathBuf>,
}

impl BearerToken {
    /// Minimum length of a token, in characters.
    const SHORTEST: usize = 16;

    /// Validates a token: long enough, and valid in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= Self::SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// Value of the `Authorization` header.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Generates a token; also returns its text for the token file.
    pub fn random() -> io::Result<(Self, String)> {
        let text = random_name()?;
        Ok((Self(text.clone()), text))
    }

    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = only(headers, &AUTHORIZATION).ok().flatten().unwrap_or_default();
        shown.as_bytes().ct_eq(self.header().as_bytes()).into()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(…)")
    }
}

/// Access rules of one address.
pub(crate) struct Guard {
    is_local: bool,
    token: BearerToken,
}

impl Guard {
    /// Rules for this address and token.
    pub(crate) fn new(address: SocketAddr, token: BearerToken) -> Self {
        Self { is_local: address.ip().is_loopback(), token }
    }

    /// Checks `Host` and `Origin`. Ambiguous headers are rejected: a reverse proxy may have parsed
    /// them differently.
    pub(super) fn admit_place(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let several = |name| (StatusCode::BAD_REQUEST, name);
        let host =
            only(headers, &HOST).map_err(|()| several("there is more than one `Host` header"))?;
        let host = host.ok_or((StatusCode::BAD_REQUEST, "there is no `Host` header"))?;
        if uri.authority().is_some_and(|authority| !authority.as_str().eq_ignore_ascii_case(host)) {
            return Err((
                StatusCode::BAD_REQUEST,
                "the address and the `Host` header name different hosts",
            ));
        }
        if self.is_local && !is_local_name(host) {
            return Err((StatusCode::FORBIDDEN, "this address is for names of this machine"));
        }
        if let Some(origin) = only(headers, &ORIGIN)
            .map_err(|()| several("there is more than one `Origin` header"))?
        {
            let name = origin.split_once("://").map_or("", |(_, name)| name);
            if !(if self.is_local { is_local_name(name) } else { name == host }) {
                return Err((StatusCode::FORBIDDEN, "pages of other origins may not come here"));
            }
        }
        Ok(())
    }

    /// Checks the token.
    pub(super) fn admit_token(
        &self,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        if !self.token.is_shown(headers) {
            return Err((StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong"));
        }
        Ok(())
    }
}

/// Challenge of a response with status 401 (RFC 6750, 3). A request without a token is no error.
pub(super) fn challenge(headers: &HeaderMap) -> HeaderValue {
    HeaderValue::from_static(if headers.contains_key(AUTHORIZATION) {
        "Bearer realm=\"cograph\", error=\"invalid_token\""
    } else {
        "Bearer realm=\"cograph\""
    })
}

/// Value of a header that must not be repeated. A value that is not text counts as empty text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(()),
        (value, None) => Ok(value),
    }
}

/// True if the content type is JSON. A page of another origin cannot send it without a CORS
/// preflight.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &CONTENT_TYPE).ok().flatten().unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// True if a host, with or without a port, resolves to this machine for every client.
fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name.to_ascii_lowercase().as_str())
}

/// Random session id.
pub(super) fn random_name() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Decodes a header value that may be base64.
pub(super) fn decoded(value: Option<&str>) -> Option<String> {
    let value = value?;
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(base64(encoded)?).ok(),
    }
}

/// Decodes base64 with padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(digits.len() * 3 / 4), 0u32, 0);
    for letter in digits.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers
    }

    const TOKEN: &str = "a-token-of-some-length";
    const SHOWN: (HeaderName, &str) = (AUTHORIZATION, "Bearer a-token-of-some-length");

    /// Status with which the guard of this address responds.
    fn status(address: &str, uri: &str, given: &[(HeaderName, &'static str)]) -> Result<(), u16> {
        let guard = Guard::new(
            address.parse().expect("an address"),
            BearerToken::new(TOKEN).expect("it is long enough"),
        );
        let (uri, headers) = (uri.parse().expect("a target"), headers(given));
        let admitted = guard.admit_place(&uri, &headers).and_then(|()| guard.admit_token(&headers));
        admitted.map_err(|(status, _)| status.as_u16())
    }

    #[test]
    fn pages_and_names_from_elsewhere_are_turned_away() {
        let local = |given: &[(HeaderName, &'static str)]| {
            status("127.0.0.1:80", "/mcp", &[given, &[SHOWN]].concat())
        };
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:80", "[::1]:80", "[::1]"] {
            assert_eq!(local(&[(HOST, host)]), Ok(()), "{host}");
        }
        for host in
            ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "127.0.0.1:80@evil"]
        {
            assert_eq!(local(&[(HOST, host)]), Err(403), "{host}");
        }
        assert_eq!(local(&[(HOST, "localhost"), (ORIGIN, "http://localhost:3000")]), Ok(()));
        for origin in ["http://evil.example", "null", "", "http://localhost.evil"] {
            assert_eq!(local(&[(HOST, "localhost"), (ORIGIN, origin)]), Err(403), "{origin}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let local = |uri, given: &[(HeaderName, &'static str)]| {
            status("127.0.0.1:80", uri, &[given, &[SHOWN]].concat())
        };
        assert_eq!(local("/mcp", &[]), Err(400), "no host");
        assert_eq!(local("/mcp", &[(HOST, "localhost"), (HOST, "localhost")]), Err(400));
        assert_eq!(
            local(
                "/mcp",
                &[(HOST, "localhost"), (ORIGIN, "http://localhost"), (ORIGIN, "http://localhost")]
            ),
            Err(400)
        );
        assert_eq!(local("http://evil.example/mcp", &[(HOST, "localhost")]), Err(400));
        assert_eq!(local("http://localhost/mcp", &[(HOST, "localhost")]), Ok(()));
        assert_eq!(
            local("/mcp", &[(HOST, "localhost"), (AUTHORIZATION, "Bearer another")]),
            Err(401),
            "two tokens"
        );
    }

    #[test]
    fn a_body_says_that_it_is_json() {
        for (kind, is) in [
            (Some("application/json"), true),
            (Some("Application/JSON; charset=utf-8"), true),
            (Some("text/plain"), false),
            (Some("application/jsonp"), false),
            (Some("text/plain; application/json"), false),
            (None, false),
        ] {
            assert_eq!(
                is_json(&headers(
                    &kind.map(|kind| (CONTENT_TYPE, kind)).into_iter().collect::<Vec<_>>()
                )),
                is,
                "{kind:?}"
            );
        }
        assert!(!is_json(&headers(&[
            (CONTENT_TYPE, "application/json"),
            (CONTENT_TYPE, "text/plain")
        ])));
    }

    #[test]
    fn the_token_is_required_everywhere_and_never_printed() {
        assert!(
            BearerToken::new("short").is_none()
                && BearerToken::new("with blanks in the middle").is_none()
        );
        for address in ["0.0.0.0:80", "127.0.0.1:80", "[::1]:80"] {
            let status = |given: &[(HeaderName, &'static str)]| {
                status(address, "/mcp", &[&[(HOST, "localhost")], given].concat())
            };
            assert_eq!(status(&[]), Err(401), "{address}");
            assert_eq!(
                status(&[(AUTHORIZATION, "Bearer a-token-of-some-lengtH")]),
                Err(401),
                "{address}"
            );
            assert_eq!(status(&[SHOWN]), Ok(()), "{address}");
        }
        let (token, text) = BearerToken::random().expect("the system gives some");
        assert!(
            BearerToken::new(&text) == Some(token.clone()) && !format!("{token:?}").contains(&text)
        );
    }

    #[test]
    fn encoded_headers_are_read_and_broken_ones_are_not() {
        for (value, expected) in [
            ("search", Some("search")),
            ("=?base64?bGluZTEKbGluZTI=?=", Some("line1\nline2")),
            ("=?base64?w6k=?=", Some("é")),
            ("=?base64?w6k?=", None),
            ("=?base64?????=?=", None),
        ] {
            assert_eq!(decoded(Some(value)).as_deref(), expected, "{value}");
        }
        assert_ne!(
            random_name().expect("the system gives some"),
            random_name().expect("the system gives some")
        );
    }
}
