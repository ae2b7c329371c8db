//! The requests that a gateway accepts.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header::HOST;

/// The header that has the token.
pub(super) const HEADER: &str = "x-lcp-token";

/// The beginning of a path with a token: `/~TOKEN/v1/messages`. All clients can set a base URL, but few
/// can set a header.
const PATH_MARK: &str = "/~";

/// A token that requests must have.
///
/// It is stored and compared as a hash: `Debug` does not show it, and the time of a comparison does
/// not depend on it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(blake3::Hash);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl FromStr for Token {
    type Err = &'static str;

    fn from_str(token: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if token.is_empty() || !token.bytes().all(is_plain) {
            return Err("a token has one or more ASCII letters, digits, and characters of -._~");
        }
        Ok(Self(blake3::hash(token.as_bytes())))
    }
}

/// The conditions for requests.
#[derive(Debug)]
pub(super) struct Access {
    hosts: Vec<String>,
    token: Option<Token>,
}

impl Access {
    pub(super) fn new(address: SocketAddr, token: Option<Token>) -> Self {
        let own = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = ["localhost", "127.0.0.1", "[::1]", &own].map(str::to_owned);
        let with_port = names.iter().map(|name| format!("{name}:{}", address.port()));
        let hosts = with_port.chain(names.clone()).collect();
        Self { hosts, token }
    }

    /// Returns the path of a request without the token, or the reason of a refusal.
    ///
    /// Without a token, the host must be a name of this gateway: a website can reach it through the
    /// browser of the user, by a domain name that resolves to the loopback address.
    pub(super) fn check<'p>(
        &self,
        path: &'p str,
        headers: &HeaderMap,
    ) -> Result<&'p str, &'static str> {
        let Some(token) = &self.token else {
            let host = headers.get(HOST).map_or(&b""[..], |host| host.as_bytes());
            let is_own = self.hosts.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(host));
            return if is_own {
                Ok(path)
            } else {
                Err(
                    "the Host header does not name this gateway; hint: use localhost, or start it with --token",
                )
            };
        };
        let is_right = |given: &str| given.parse().as_ref() == Ok(token);
        let (given, rest) = if let Some(marked) = path.strip_prefix(PATH_MARK) {
            let end = marked.find('/').unwrap_or(marked.len());
            (&marked[..end], if end < marked.len() { &marked[end..] } else { "/" })
        } else {
            let given = headers.get(HEADER).and_then(|token| token.to_str().ok());
            (given.unwrap_or_default(), path)
        };
        if is_right(given) { Ok(rest) } else { Err("the token is missing or wrong") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_host_is_needed_without_a_token() {
        let access = Access::new("127.0.0.1:8787".parse().unwrap(), None);
        for (host, is_own) in [
            ("localhost:8787", true),
            ("127.0.0.1:8787", true),
            ("evil.example:8787", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
            assert_eq!(access.check("/v1/messages", &headers).is_ok(), is_own, "{host}");
        }
    }

    #[test]
    fn token_is_in_a_header_or_in_the_path() {
        let token = "s3cret".parse().unwrap();
        let access = Access::new("0.0.0.0:8787".parse().unwrap(), Some(token));
        let (none, mut headers) = (HeaderMap::new(), HeaderMap::new());
        headers.insert(HEADER, "s3cret".parse().unwrap());
        assert_eq!(access.check("/v1/messages", &headers), Ok("/v1/messages"));
        assert_eq!(access.check("/~s3cret/v1/messages", &none), Ok("/v1/messages"));
        assert_eq!(access.check("/~s3cret", &none), Ok("/"));
        for path in ["/v1/messages", "/~other/v1/messages", "/~/v1", "/~s3cret2/v1"] {
            assert!(access.check(path, &none).is_err(), "{path}");
        }
        assert!("a b".parse::<Token>().is_err() && "".parse::<Token>().is_err());
        assert_eq!(format!("{access:?}").matches("s3cret").count(), 0);
    }
}
