//! The gateway as a server over HTTP.

mod access;
mod body;
mod decoding;
mod editor;
mod endpoint;
mod headers;
mod page;
mod patience;
mod recent;
mod text;
mod upstream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use lcp_app::server::serve_connections;
use lcp_app::{Error, ErrorKind, Result};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub use access::Token;
pub use editor::{EditOptions, read_stats};
pub use upstream::Upstream;

use access::Access;
use editor::Editor;
use endpoint::Endpoint;

/// The options of a gateway.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The address to bind. With port 0, the system chooses a free port. An address that is not a
    /// loopback address needs a token.
    pub address: SocketAddr,
    /// The token that each request must have.
    pub token: Option<Token>,
    /// The providers.
    pub upstream: Upstream,
    /// The options of edits.
    pub edits: EditOptions,
}

/// The limits of a gateway.
mod limits {
    use std::time::Duration;

    use lcp_app::server::ConnectionLimits;

    /// The limits of connections.
    pub(super) const CONNECTIONS: ConnectionLimits = ConnectionLimits {
        count: 512,
        header_bytes: 256 << 10,
        headers: Duration::from_secs(2 * 60),
        reads: Duration::from_secs(10 * 60),
    };
    /// The maximum size of a body of a request in bytes, as it is sent and when it is decoded.
    pub(super) const BODY_BYTES: usize = 100 << 20;
    /// The time in which some bytes of a body must arrive.
    pub(super) const BODY_PAUSE: Duration = Duration::from_secs(30);
    /// The time for a body.
    pub(super) const BODY: Duration = Duration::from_secs(10 * 60);
    /// The time for a body that is passed on as it arrives, such as a file.
    pub(super) const PASSED_BODY: Duration = Duration::from_secs(24 * 60 * 60);
}

/// The interval in which old originals and figures are deleted.
const CLEANING: Duration = Duration::from_secs(60 * 60);

/// The time for the end of requests and of records of usage when a gateway stops.
const STOPPING: Duration = Duration::from_secs(2);

/// A running gateway. It stops when it is dropped.
pub struct Gateway {
    address: SocketAddr,
    editor: Arc<Editor>,
    /// It is `None` only while the gateway stops.
    runtime: Option<Runtime>,
}

impl Gateway {
    /// Starts a gateway.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is in use or needs a token, if the store cannot be opened, or if
    /// the system has no certificates.
    pub fn start(options: ProxyOptions) -> Result<Self> {
        let ProxyOptions { address, token, upstream, edits } = options;
        if token.is_none() && !address.ip().is_loopback() {
            let message = format!("{address} can be reached from other machines");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("set LCP_TOKEN or pass --token, or listen on 127.0.0.1"));
        }
        let editor = Arc::new(Editor::new(edits)?);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot start: {error}")))?;
        let failed = |error| {
            Error::io("serve on", address, &error).with_hint("choose another port with --listen")
        };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let client = upstream.client()?;
        let access = Access::new(address, token);
        let endpoint = Endpoint::new(client, upstream, access, Arc::clone(&editor));
        runtime.spawn(answer(listener, Arc::new(endpoint)));
        runtime.spawn(clean(Arc::clone(&editor)));
        runtime.spawn_blocking(Editor::load_tokenizers);
        Ok(Self { address, editor, runtime: Some(runtime) })
    }

    /// Returns the base URL, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of requests that could not be edited or recorded. They were sent nevertheless.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.editor.failures()
    }

    /// Returns the folder of the originals.
    #[must_use]
    pub fn originals(&self) -> PathBuf {
        self.editor.originals().into()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // A response that a client has just read is recorded.
        std::thread::sleep(Duration::from_millis(50));
        runtime.shutdown_timeout(STOPPING);
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Runs a gateway until the process ends. Passes its URL to `listening`.
///
/// # Errors
///
/// The errors are those of [`Gateway::start`].
pub fn serve(options: ProxyOptions, listening: impl FnOnce(&str)) -> Result {
    let gateway = Gateway::start(options)?;
    listening(&gateway.url());
    loop {
        std::thread::park();
    }
}

/// Returns `lcp/gateway` in the user's data folder.
///
/// # Errors
///
/// Returns an error if the user has no data folder.
pub fn default_data_dir() -> Result<PathBuf> {
    let folder = lcp_app::user_data_dir().ok_or_else(|| {
        Error::new(ErrorKind::Io, "cannot find the user's data folder")
            .with_hint("pass --data, or set HOME")
    })?;
    Ok(folder.join("lcp").join("gateway"))
}

/// Answers requests until the gateway stops.
async fn answer(listener: TcpListener, endpoint: Arc<Endpoint>) {
    let service = service_fn(move |request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok(endpoint.answer(request).await) }
    });
    serve_connections(listener, limits::CONNECTIONS, service, |_| {}).await;
}

/// Deletes old data, at the start and then every hour.
async fn clean(editor: Arc<Editor>) {
    let mut interval = tokio::time::interval(CLEANING);
    loop {
        interval.tick().await;
        let editor = Arc::clone(&editor);
        let _ = tokio::task::spawn_blocking(move || editor.delete_old()).await;
    }
}
