//! Who may come over HTTP: pages of a browser may not, whatever name they have given this machine; strangers need the token.

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use subtle::ConstantTimeEq;

/// A secret that clients show. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

/// Where to listen for clients over HTTP.
#[derive(Clone, Debug)]
pub struct HttpListening {
    /// The address.
    pub address: SocketAddr,
    /// What clients must show; none is asked for on this machine's own address unless there is one.
    pub token: Option<BearerToken>,
}

impl BearerToken {
    /// The shortest that is taken, in characters.
    const SHORTEST: usize = 16;

    /// A token, unless it can be guessed or cannot be sent.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= Self::SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The header that shows it.
    pub(in crate::server) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
        shown.ct_eq(self.header().as_bytes()).into()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(…)")
    }
}

/// The rules for one address.
pub(in crate::server::runtime) struct Guard {
    is_local: bool,
    token: Option<BearerToken>,
}

impl Guard {
    /// None if strangers could come without showing anything.
    pub(in crate::server::runtime) fn new(listening: &HttpListening) -> Option<Self> {
        let is_local = listening.address.ip().is_loopback();
        let token = listening.token.clone();
        (is_local || token.is_some()).then_some(Self { is_local, token })
    }

    /// Whether a request may be looked at.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(HOST.as_str()).unwrap_or_default();
        if self.is_local && !is_local_name(host) {
            return Err((StatusCode::FORBIDDEN, "this address is for names of this machine"));
        }
        if let Some(origin) = text(ORIGIN.as_str()) {
            let name = origin.split_once("://").map_or("", |(_, name)| name);
            if !(if self.is_local { is_local_name(name) } else { name == host }) {
                return Err((StatusCode::FORBIDDEN, "pages of other origins may not come here"));
            }
        }
        match &self.token {
            Some(token) if !token.is_shown(headers) => Err((StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong")),
            _ => Ok(()),
        }
    }
}

/// Whether a host, perhaps with a port, is this machine whoever asks.
fn is_local_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name.to_ascii_lowercase().as_str())
}

/// A name that nobody can guess.
pub(super) fn random_name() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if got < bytes.len() {
        return Err(io::Error::other("the system gives no random numbers"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A header's value, which may be encoded.
pub(super) fn decoded(value: Option<&str>) -> Option<String> {
    let value = value?;
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(base64(encoded)?).ok(),
    }
}

/// The bytes behind base64 with its padding.
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
    use hyper::header::{HeaderName, HeaderValue};

    fn headers(given: &[(HeaderName, &'static str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn guard(address: &str, token: Option<&str>) -> Option<Guard> {
        let token = token.map(|token| BearerToken::new(token).expect("it is long enough"));
        Guard::new(&HttpListening { address: address.parse().expect("an address"), token })
    }

    #[test]
    fn pages_and_names_from_elsewhere_are_turned_away() {
        let guard = guard("127.0.0.1:80", None).expect("it is this machine");
        let status = |given: &[(HeaderName, &'static str)]| guard.admit(&headers(given)).map_err(|(status, _)| status.as_u16());
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:80", "[::1]:80", "[::1]"] {
            assert_eq!(status(&[(HOST, host)]), Ok(()), "{host}");
        }
        for host in ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "127.0.0.1:80@evil"] {
            assert_eq!(status(&[(HOST, host)]), Err(403), "{host}");
        }
        assert_eq!(status(&[(HOST, "localhost"), (ORIGIN, "http://localhost:3000")]), Ok(()));
        for origin in ["http://evil.example", "null", "", "http://localhost.evil"] {
            assert_eq!(status(&[(HOST, "localhost"), (ORIGIN, origin)]), Err(403), "{origin}");
        }
    }

    #[test]
    fn strangers_need_the_token_and_it_is_never_printed() {
        const TOKEN: &str = "a-token-of-some-length";
        assert!(guard("0.0.0.0:80", None).is_none());
        assert!(BearerToken::new("short").is_none() && BearerToken::new("with blanks in the middle").is_none());
        let guard = guard("0.0.0.0:80", Some(TOKEN)).expect("there is a token");
        let status = |given: &[(HeaderName, &'static str)]| guard.admit(&headers(given)).map_err(|(status, _)| status.as_u16());
        assert_eq!(status(&[(HOST, "far.example")]), Err(401));
        assert_eq!(status(&[(HOST, "far.example"), (AUTHORIZATION, "Bearer a-token-of-some-lengtH")]), Err(401));
        assert_eq!(status(&[(HOST, "far.example"), (AUTHORIZATION, "Bearer a-token-of-some-length")]), Ok(()));
        assert!(!format!("{:?}", BearerToken::new(TOKEN)).contains(TOKEN));
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
        assert_ne!(random_name().expect("the system gives some"), random_name().expect("the system gives some"));
    }
}
