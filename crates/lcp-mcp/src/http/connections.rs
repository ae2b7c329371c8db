//! The connections of a server: their number and their time limits are bounded.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

use super::endpoint::Endpoint;
use super::{Limits, metrics};
use lcp_app::{Error, ErrorKind, Result};

/// The pause after a failed accept, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// Accepts connections until the process ends. If the limit is reached, further connections wait in
/// the queue of the system until one ends.
pub(super) async fn serve<S>(listener: TcpListener, endpoint: Endpoint<S>, limits: Limits) -> Result
where
    S: ServerHandler + Send + 'static,
{
    let endpoint = Arc::new(endpoint);
    let free = Arc::new(Semaphore::new(limits.connections));
    loop {
        let place = Arc::clone(&free).acquire_owned().await;
        let place = place
            .map_err(|error| Error::new(ErrorKind::Io, format!("the server failed: {error}")))?;
        metrics::set_connections(limits.connections - free.available_permits() - 1);
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let endpoint = Arc::clone(&endpoint);
        tokio::spawn(async move {
            let _place = place;
            handle(stream, &endpoint, limits).await;
        });
    }
}

/// Answers the requests of a connection until it ends.
async fn handle<S>(stream: TcpStream, endpoint: &Endpoint<S>, limits: Limits)
where
    S: ServerHandler + Send + 'static,
{
    let answer = service_fn(async |request| Ok::<_, Infallible>(endpoint.answer(request).await));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // The time begins when the connection is idle, so it also limits the wait for a request.
        .header_read_timeout(limits.headers)
        .serve_connection(TokioIo::new(Connection::new(stream, limits.writes)), answer);
    // An error means that the client is gone, too slow, or does not speak HTTP.
    let _ = connection.await;
}

/// A connection whose writes fail if the client reads nothing for some time.
struct Connection {
    stream: TcpStream,
    time: Duration,
    /// The end of the time. It is set while a write waits.
    end: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    fn new(stream: TcpStream, time: Duration) -> Self {
        Self { stream, time, end: None }
    }

    /// Returns the result of a write, or an error if it has waited for too long.
    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let time = self.time;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.limit(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
