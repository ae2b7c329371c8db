//! Bodies of requests and responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::decoding::ResponseReader;
use super::limits;
use super::patience::{BoxError, TimedBody, TooSlow};
use super::recent::Arriving;
use crate::usage::ReportedUsage;

/// The maximum number of bytes that are reserved for a body before it arrives.
const RESERVED_BYTES: usize = 4 << 20;

/// A body of a request or a response.
pub(super) type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// Returns a complete body.
pub(super) fn full(bytes: impl Into<Bytes>) -> AnyBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Returns a body of several parts, which are not copied.
pub(super) fn joined(parts: Vec<Bytes>) -> AnyBody {
    Joined { left: parts.iter().map(|part| part.len() as u64).sum(), parts: parts.into_iter() }
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// A body in several parts with a known length.
struct Joined {
    parts: std::vec::IntoIter<Bytes>,
    /// The number of bytes that are left.
    left: u64,
}

impl Body for Joined {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.parts.next();
        self.left -= part.as_ref().map_or(0, |part| part.len() as u64);
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Returns the body of a request that is passed on as it arrives. Uploads of files can be large.
pub(super) fn passed(body: Incoming) -> AnyBody {
    TimedBody::new(body, limits::BODY_PAUSE, limits::PASSED_BODY).boxed_unsync()
}

/// The reason why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadError {
    TooLarge,
    TooSlow,
    Broken,
}

/// Reads the body of a request.
pub(super) async fn read(body: Incoming, arriving: &mut Arriving<'_>) -> Result<(), ReadError> {
    if body.size_hint().lower() > limits::BODY_BYTES as u64 {
        return Err(ReadError::TooLarge);
    }
    // A length that a client claims is not reserved in full until its bytes arrive.
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or_default();
    let expected = expected.min(RESERVED_BYTES);
    let mut body = TimedBody::new(body, limits::BODY_PAUSE, limits::BODY);
    while let Some(frame) = body.frame().await {
        let failed = |error: BoxError| {
            if error.is::<TooSlow>() { ReadError::TooSlow } else { ReadError::Broken }
        };
        if let Ok(data) = frame.map_err(failed)?.into_data() {
            if arriving.len() + data.len() > limits::BODY_BYTES {
                return Err(ReadError::TooLarge);
            }
            arriving.add(&data, expected);
        }
    }
    Ok(())
}

/// Decodes a body that is compressed with zstd. Returns `None` if that fails, or if it is too large.
pub(super) fn decode_zstd(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read as _;

    let limit = limits::BODY_BYTES as u64;
    let mut decoded = Vec::new();
    let source = zstd::stream::read::Decoder::new(bytes).ok()?;
    source.take(limit + 1).read_to_end(&mut decoded).ok()?;
    (decoded.len() as u64 <= limit).then_some(decoded)
}

/// The function that gets the usage at the end of a response.
type OnEnd = Box<dyn FnOnce(Option<ReportedUsage>) + Send>;

/// A response that is passed on as it arrives, while its usage is read from a copy.
pub(super) struct Tee {
    body: Incoming,
    /// It is `None` for a response that cannot be read.
    reader: Option<ResponseReader>,
    on_end: Option<OnEnd>,
}

impl Tee {
    pub(super) fn new(
        body: Incoming,
        reader: Option<ResponseReader>,
        on_end: impl FnOnce(Option<ReportedUsage>) + Send + 'static,
    ) -> Self {
        Self { body, reader, on_end: Some(Box::new(on_end)) }
    }

    fn end(&mut self) {
        let usage = self.reader.take().and_then(ResponseReader::finish);
        if let Some(on_end) = self.on_end.take() {
            on_end(usage);
        }
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
            && let Some(reader) = &mut self.reader
        {
            reader.read(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response ends when nothing more of it is sent, even if the client is gone.
impl Drop for Tee {
    fn drop(&mut self) {
        self.end();
    }
}
