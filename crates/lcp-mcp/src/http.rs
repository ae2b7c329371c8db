//! The server over HTTP, on the loopback interface only.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::{Server, start_runtime};
use super::state::ServerState;
use lcp_app::{Error, ErrorKind, Result};

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The default port of HTTP.
const HTTP_PORT: u16 = 80;

/// The maximum size of a request in bytes, the same as for a line of standard input.
const REQUEST_BYTES_MAX: usize = 16 << 20;

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

/// Runs the server until the process ends.
///
/// Passes the URL of the server to `listening`, which matters if the port is 0 and the system
/// chooses one.
///
/// # Errors
///
/// Returns an error if the address is in use, or if the server fails.
pub fn serve_http(state: ServerState, address: SocketAddr, listening: impl FnOnce(&str)) -> Result {
    let runtime = start_runtime()?;
    runtime.block_on(async {
        let failed =
            |error| Error::io("serve on", address, &error).with_hint("choose another port");
        let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let server = Server::new(state);
        let transport = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            config(address),
        );
        let router = axum::Router::new().nest_service(PATH, transport);
        listening(&format!("http://{address}{PATH}"));
        let ended = axum::serve(listener, router).await;
        ended.map_err(|error| Error::new(ErrorKind::Io, format!("the server failed: {error}")))
    })
}

/// Returns a configuration that accepts only the names of this server as `Host` and `Origin`.
///
/// Websites can reach a loopback server through the browser of the user, even by a domain name that
/// resolves to the loopback address (DNS rebinding). Both headers then contain a foreign name.
fn config(address: SocketAddr) -> StreamableHttpServerConfig {
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
    let origins: Vec<_> = hosts.iter().map(|host| format!("http://{host}")).collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(REQUEST_BYTES_MAX)
}

#[cfg(test)]
mod tests;
