//! The requests that a server accepts: from this machine, for this server, with its token.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{StatusCode, Uri};

use lcp_app::Result;

/// The default port of HTTP.
const HTTP_PORT: u16 = 80;

/// Parses a loopback address with a port, such as `127.0.0.1:8765`.
///
/// # Errors
///
/// Returns a message if the value is not a socket address, or not a loopback address.
pub fn loopback(value: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = value
        .replace("localhost:", "127.0.0.1:")
        .parse()
        .map_err(|_| "expected an address and a port, such as 127.0.0.1:8765".to_owned())?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let message = "must be a loopback address (127.0.0.1, [::1] or localhost), so that other \
                   machines cannot read the roots";
    Err(message.into())
}

/// A token that requests must have (`Authorization: Bearer TOKEN`).
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
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token has one or more ASCII characters, and no spaces");
        }
        Ok(Self(blake3::hash(token.as_bytes())))
    }
}

/// The conditions for requests.
#[derive(Debug)]
pub(super) struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
}

impl Access {
    /// Accepts requests whose `Host` and `Origin` are names of this server.
    ///
    /// Websites can reach a loopback server through the browser of the user, even by a domain name
    /// that resolves to the loopback address (DNS rebinding). Both headers then contain a foreign
    /// name.
    pub(super) fn new(address: SocketAddr, token: Option<Token>) -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        let own = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = names.into_iter().chain([own]);
        let port = address.port();
        let hosts: Vec<_> = names
            // Clients omit the default port of HTTP.
            .flat_map(|name| {
                let bare = (port == HTTP_PORT).then(|| name.clone());
                std::iter::once(format!("{name}:{port}")).chain(bare)
            })
            .collect();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Self { hosts, origins, token }
    }

    /// Returns the status and the reason if a request is refused.
    pub(super) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let is_in = |list: &[String], name: &[u8]| {
            list.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name))
        };
        let mut hosts = headers.get_all(HOST).iter();
        let is_own_host = match (hosts.next(), hosts.next(), uri.authority()) {
            (Some(host), None, None) => is_in(&self.hosts, host.as_bytes()),
            // The target of a request to a proxy has a host, too.
            (Some(host), None, Some(target)) => {
                is_in(&self.hosts, host.as_bytes())
                    && is_in(&self.hosts, target.as_str().as_bytes())
            }
            _ => false,
        };
        if !is_own_host {
            return Err((StatusCode::FORBIDDEN, "Forbidden: the host is not this server"));
        }
        if !headers.get_all(ORIGIN).iter().all(|origin| is_in(&self.origins, origin.as_bytes())) {
            return Err((StatusCode::FORBIDDEN, "Forbidden: the origin is not this server"));
        }
        match &self.token {
            Some(token) if bearer(headers).as_ref() != Some(token) => {
                Err((StatusCode::UNAUTHORIZED, "Unauthorized: the token is missing or wrong"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the token of a request.
fn bearer(headers: &HeaderMap) -> Option<Token> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| token.trim().parse().ok()).flatten()
}
