//! Time limits for slow clients, and a delay for errors of responses.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// The error of a body.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A request that was sent too slowly.
#[derive(Debug)]
pub(super) struct TooSlow;

impl std::fmt::Display for TooSlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the body is too slow")
    }
}

impl std::error::Error for TooSlow {}

/// The delay of an error, in which hyper writes the bytes before it.
const FLUSH: Duration = Duration::from_millis(20);

/// A body that delays an error by [`FLUSH`], because hyper drops unwritten bytes at an error. A client that reads
/// slowly can still lose bytes.
pub(super) struct FlushedBody<B: Body> {
    body: B,
    error: Option<B::Error>,
    flush: Option<Pin<Box<Sleep>>>,
}

impl<B: Body> FlushedBody<B> {
    pub(super) const fn new(body: B) -> Self {
        Self { body, error: None, flush: None }
    }
}

impl<B: Body<Data = Bytes, Error = hyper::Error> + Unpin> Body for FlushedBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(flush) = &mut self.flush {
            ready!(flush.as_mut().poll(context));
            self.flush = None;
            // hyper polls the body before it writes, and this poll may be the first one after a stall.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error.into())));
        }
        match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Err(error)) => {
                self.error = Some(error);
                self.flush = Some(Box::pin(sleep(FLUSH)));
                self.poll_frame(context)
            }
            frame => Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.error.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body of a request that must arrive in time.
pub(super) struct TimedBody<B> {
    body: B,
    pause: Duration,
    /// The time of the next bytes, or that of the end, if it is earlier. It is set while the client is
    /// waited for, so that the time of a slow provider does not count.
    next: Option<Pin<Box<Sleep>>>,
    end: Instant,
}

impl<B> TimedBody<B> {
    /// Creates a body whose bytes may be `pause` apart, and that takes no longer than `total`.
    pub(super) fn new(body: B, pause: Duration, total: Duration) -> Self {
        Self { body, pause, next: None, end: Instant::now() + total }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TimedBody<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.next = None;
            return polled.map_err(Into::into);
        }
        let next = (Instant::now() + self.pause).min(self.end);
        let timer = self.next.get_or_insert_with(|| Box::pin(sleep_until(next)));
        match timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(TooSlow.into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use http_body_util::BodyExt as _;

    use super::*;

    fn run<F: Future>(test: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test)
    }

    /// A body of single bytes, each after a pause.
    struct Drip(Duration, Pin<Box<Sleep>>);

    impl Body for Drip {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            std::task::ready!(self.1.as_mut().poll(context));
            let next = Instant::now() + self.0;
            self.1.as_mut().reset(next);
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[test]
    fn bodies_must_arrive_in_time() {
        let millis = Duration::from_millis;
        run(async {
            // The first one pauses for too long, the second one never ends.
            for (drip, pause, total, has_bytes) in
                [(10_000, 30, 20_000, false), (5, 5_000, 100, true)]
            {
                let body = Drip(millis(drip), Box::pin(sleep(millis(drip))));
                let mut body = TimedBody::new(body, millis(pause), millis(total));
                let mut count = 0;
                let error = loop {
                    match body.frame().await.unwrap() {
                        Ok(_) => count += 1,
                        Err(error) => break error,
                    }
                };
                assert!(error.is::<TooSlow>(), "{error}");
                assert_eq!(count > 0, has_bytes);
            }
        });
    }

    #[test]
    fn time_of_a_slow_provider_does_not_count() {
        let millis = Duration::from_millis;
        run(async {
            let body = Drip(millis(5), Box::pin(sleep(millis(5))));
            let mut body = TimedBody::new(body, millis(500), millis(60_000));
            assert!(body.frame().await.unwrap().is_ok());
            sleep(millis(600)).await;
            body.body.1 = Box::pin(sleep(millis(20)));
            assert!(body.frame().await.unwrap().is_ok());
        });
    }
}
