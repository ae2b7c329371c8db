//! A server of connections that limits their number and the time of slow clients.

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

/// The pause after a failed accept, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// The maximum number of open connections. Further connections wait in the queue of the system.
    pub count: usize,
    /// The maximum size of the headers of a request in bytes, at least 8,192.
    pub header_bytes: usize,
    /// The time limit for the headers of a request, and for the wait for the next request.
    pub headers: Duration,
    /// The time in which a client must read something of its response.
    pub reads: Duration,
}

/// Answers the requests of all connections, over HTTP/1.1, until the runtime ends. Passes the number
/// of open connections to `on_change` before it waits for the next one.
pub async fn serve_connections<S, B>(
    listener: TcpListener,
    limits: ConnectionLimits,
    service: S,
    on_change: impl Fn(usize),
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let free = Arc::new(Semaphore::new(limits.count));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        on_change(limits.count - free.available_permits() - 1);
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Events of a stream are small.
        let _ = stream.set_nodelay(true);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // The time begins when the connection is idle, so it also limits the wait for a request.
            .header_read_timeout(limits.headers)
            .max_buf_size(limits.header_bytes)
            .serve_connection(
                TokioIo::new(TimedWrites::new(stream, limits.reads)),
                service.clone(),
            );
        tokio::spawn(async move {
            let _place = place;
            // An error means that the client is gone, is too slow or does not speak HTTP, or that the
            // body of the response failed.
            let _ = connection.await;
        });
    }
}

/// A connection whose writes fail if the client reads nothing for some time.
struct TimedWrites {
    stream: TcpStream,
    limit: Duration,
    /// The end of the time. It is set while a write waits.
    end: Option<Pin<Box<Sleep>>>,
}

impl TimedWrites {
    const fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, end: None }
    }

    /// Returns the result of a write, or an error if it has waited for too long.
    fn check<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let limit = self.limit;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedWrites {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for TimedWrites {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.check(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_end_if_nobody_reads() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let _idle = TcpStream::connect(address).await.unwrap();
            let accepted = listener.accept().await.unwrap().0;
            let mut stream = TimedWrites::new(accepted, Duration::from_millis(50));
            let bytes = vec![0; 64 << 10];
            loop {
                let written =
                    std::future::poll_fn(|it| Pin::new(&mut stream).poll_write(it, &bytes));
                if let Err(error) = written.await {
                    break error;
                }
            }
        });
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
