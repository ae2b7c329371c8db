//! The server over HTTP, on the loopback interface only.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::server::{Server, start_runtime};
use super::state::ServerState;
use access::Access;
use endpoint::Endpoint;
use lcp_app::server::{ConnectionLimits, serve_connections};
use lcp_app::{Error, Result};
use sessions::LimitedSessions;

mod access;
mod endpoint;
mod metrics;
mod sessions;

pub use access::{Token, loopback};

/// The options of a server over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The loopback address to bind. With port 0, the system chooses a free port.
    pub address: SocketAddr,
    /// The token that each request must have.
    pub token: Option<Token>,
}

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The limits of connections.
    connections: ConnectionLimits,
    /// The maximum number of sessions. A new session ends the one that was idle for the longest
    /// time.
    sessions: usize,
    /// The time limit for the body of a request.
    body: Duration,
}

const LIMITS: Limits = Limits {
    connections: ConnectionLimits {
        count: 256,
        header_bytes: 408 << 10,
        headers: Duration::from_secs(10),
        reads: Duration::from_secs(30),
    },
    sessions: 128,
    body: Duration::from_secs(30),
};

/// Runs the server until the process ends.
///
/// Passes the URL of the server to `listening`, which matters if the port is 0 and the system
/// chooses one.
///
/// # Errors
///
/// Returns an error if the address is in use, or if the server fails.
pub fn serve_http(
    state: ServerState,
    options: &HttpOptions,
    listening: impl FnOnce(&str),
) -> Result {
    let runtime = start_runtime()?;
    runtime.block_on(async {
        let (listener, address) = bind(options.address).await?;
        metrics::recorder();
        tokio::spawn(metrics::maintain());
        listening(&format!("http://{address}{}", endpoint::PATH));
        let endpoint = endpoint(Server::new(state), address, options.token.clone(), LIMITS);
        serve(listener, endpoint, LIMITS.connections).await;
        Ok(())
    })
}

async fn serve<S>(listener: TcpListener, endpoint: Endpoint<S>, limits: ConnectionLimits)
where
    S: ServerHandler + Send + 'static,
{
    let endpoint = Arc::new(endpoint);
    let answer = service_fn(move |request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok(endpoint.answer(request).await) }
    });
    serve_connections(listener, limits, answer, metrics::set_connections).await;
}

/// Binds an address. Returns the listener and the address that it has.
async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let failed = |error| Error::io("serve on", address, &error).with_hint("choose another port");
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

fn endpoint(
    server: Server,
    address: SocketAddr,
    token: Option<Token>,
    limits: Limits,
) -> Endpoint<Server> {
    // `Access` checks the hosts and origins of all requests, not only those of the protocol.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(endpoint::REQUEST_BYTES_MAX);
    let sessions = Arc::new(LimitedSessions::new(limits.sessions));
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    Endpoint::new(protocol, Access::new(address, token), limits.body)
}

#[cfg(test)]
mod tests;
