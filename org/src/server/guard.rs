//! Who may ask: the bearer of the token.

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use std::net::SocketAddr;
use subtle::ConstantTimeEq as _;

use crate::error::{OrgError, Result};

/// Environment variable of the token.
pub(crate) const TOKEN_VARIABLE: &str = "COGRAPH_ORG_TOKEN";
/// Minimum length of a token, in bytes.
const MIN_TOKEN: usize = 16;

/// The token that requests must have, if any.
#[derive(Clone)]
pub(crate) struct Guard {
    token: Option<String>,
}

impl Guard {
    /// Where the server listens on other addresses than loopback, a token is needed.
    pub(crate) fn new(token: Option<String>, address: SocketAddr) -> Result<Self> {
        match &token {
            Some(token) if token.len() < MIN_TOKEN || token.contains(char::is_whitespace) => {
                let message = format!(
                    "{TOKEN_VARIABLE} must have at least {MIN_TOKEN} characters and no spaces"
                );
                Err(OrgError::Server(message))
            }
            None if !address.ip().is_loopback() => {
                let message = format!("to listen on {address}, set {TOKEN_VARIABLE}");
                Err(OrgError::Server(message))
            }
            _ => Ok(Self { token }),
        }
    }

    /// Checks the headers of a request.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        let Some(token) = &self.token else { return Ok(()) };
        let mut found = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (found.next(), found.next()) else {
            return Err(StatusCode::UNAUTHORIZED);
        };
        let bytes = value.as_bytes();
        let (scheme, given) = bytes.split_at(bytes.len().min("Bearer ".len()));
        let is_right =
            scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.ct_eq(token.as_bytes()));
        if is_right { Ok(()) } else { Err(StatusCode::UNAUTHORIZED) }
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use http::HeaderMap;
    use http::header::AUTHORIZATION;

    const TOKEN: &str = "a-token-of-some-length";

    fn headers(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().expect("a header"));
        headers
    }

    #[test]
    fn only_the_token_opens() {
        let address = "0.0.0.0:80".parse().expect("an address");
        let guard = Guard::new(Some(TOKEN.to_owned()), address).expect("a guard");
        assert!(guard.check(&headers(&format!("Bearer {TOKEN}"))).is_ok());
        for wrong in ["", "Bearer", "Bearer a-token-of-some-lengtH", "Basic a", TOKEN] {
            assert!(guard.check(&headers(wrong)).is_err(), "{wrong}");
        }
        assert!(guard.check(&HeaderMap::new()).is_err());
        let mut twice = headers(&format!("Bearer {TOKEN}"));
        twice.append(AUTHORIZATION, "Bearer x".parse().expect("a header"));
        assert!(guard.check(&twice).is_err());
    }

    #[test]
    fn other_addresses_need_a_token() {
        let other = "10.0.0.1:80".parse().expect("an address");
        let own = "[::1]:80".parse().expect("an address");
        assert!(Guard::new(None, other).is_err());
        assert!(Guard::new(None, own).is_ok());
        assert!(Guard::new(Some("short".to_owned()), own).is_err());
    }
}
