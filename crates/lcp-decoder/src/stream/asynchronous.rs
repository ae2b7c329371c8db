//! Packs from an [`AsyncRead`].

use std::fmt;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lcp_types::{Block, ContentStore};
use tokio::io::{AsyncRead, ReadBuf};

use super::StreamError;
use super::buffer::{Buffer, Progress};
use crate::error::{Error, Warning};
use crate::events::{Event, Frame, Header};
use crate::options::DecodeOptions;

/// [`PackStream`](crate::PackStream) for readers of tokio.
///
/// It holds as much, and gives the same blocks, warnings, errors and offsets.
/// Everything that was read is kept here, not in the futures: they may be dropped at
/// any time, by a timeout or a `select!`, and asking again goes on where they were.
///
/// Bodies are decompressed where the future runs, 16 MiB of one block at most. A store
/// of references is asked there too, and must not block for long.
///
/// # Example: a block or a timeout
///
/// ```
/// use std::time::Duration;
///
/// use lcp_decoder::{AsyncPackStream, DecodeOptions};
/// use tokio::io::AsyncRead;
///
/// async fn print(socket: impl AsyncRead + Unpin) -> Result<(), Box<dyn std::error::Error>> {
///     let mut stream = AsyncPackStream::new(socket, DecodeOptions::default());
///     loop {
///         match tokio::time::timeout(Duration::from_secs(1), stream.next_block()).await {
///             Ok(Ok(Some(block))) => println!("{}", block.block_type()),
///             Ok(Ok(None)) => return Ok(()),
///             Ok(Err(error)) => return Err(error.into()),
///             // Nothing is lost.
///             Err(_) => println!("still waiting at byte {}", stream.offset()),
///         }
///     }
/// }
/// # let pack = lcp_encoder::encode(&[], Default::default())?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(print(&pack[..]))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AsyncPackStream<R> {
    reader: R,
    buffer: Buffer,
    store: Option<Box<dyn ContentStore + Send>>,
}

impl<R: AsyncRead + Unpin> AsyncPackStream<R> {
    /// The pack that begins at the next byte of `reader`.
    ///
    /// The store of `options` need not be for other threads, and so is not asked:
    /// references are errors, but for [`Self::with_store`].
    #[must_use]
    pub fn new(reader: R, options: DecodeOptions<'_>) -> Self {
        Self { reader, buffer: Buffer::new(options.limits()), store: None }
    }

    /// The same, with references found in `store`.
    #[must_use]
    pub fn with_store(self, store: impl ContentStore + Send + 'static) -> Self {
        Self { store: Some(Box::new(store)), ..self }
    }

    /// The next block, annotations included; `None` at the end of the input. The
    /// future may be dropped.
    ///
    /// # Errors
    ///
    /// As [`PackStream::next_block`](crate::PackStream::next_block).
    pub async fn next_block(&mut self) -> Result<Option<Block<'static>>, StreamError> {
        poll_fn(|cx| self.poll_block(cx)).await
    }

    /// [`Self::next_block`] for streams of any library, as
    /// `futures::stream::poll_fn(|cx| stream.poll_block(cx).map(Result::transpose))`.
    ///
    /// # Errors
    ///
    /// As [`Self::next_block`].
    pub fn poll_block(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Block<'static>>, StreamError>> {
        loop {
            match self.buffer.next_block(of(self.store.as_deref()))? {
                Progress::Found(block) => return Poll::Ready(Ok(Some(block))),
                Progress::Done => return Poll::Ready(Ok(None)),
                Progress::Short => ready!(self.poll_fill(cx))?,
            }
        }
    }

    /// The next event, to look at frames or to go on behind a malformed block, as
    /// [`Events`](crate::Events); `None` behind [`Event::Done`]. The future may be
    /// dropped.
    ///
    /// # Errors
    ///
    /// As [`Self::next_block`], but frames are not looked into.
    pub async fn next_event(&mut self) -> Result<Option<Event<'static>>, StreamError> {
        poll_fn(|cx| {
            loop {
                match self.buffer.next_event()? {
                    Progress::Found(event) => return Poll::Ready(Ok(Some(event))),
                    Progress::Done => return Poll::Ready(Ok(None)),
                    Progress::Short => ready!(self.poll_fill(cx))?,
                }
            }
        })
        .await
    }

    /// Looks into a frame, as [`Parser::decode`](crate::Parser::decode).
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit.
    pub fn decode(&mut self, frame: &Frame<'static>) -> Result<Block<'static>, Error> {
        self.buffer.decode(frame, of(self.store.as_deref()))
    }

    /// Looks into a frame and uses it up, as [`Parser::decode_once`](crate::Parser::decode_once).
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn decode_once(&mut self, frame: Frame<'static>) -> Result<Block<'static>, Error> {
        self.buffer.decode_once(frame, of(self.store.as_deref()))
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        loop {
            let mut space = ReadBuf::new(self.buffer.space());
            match ready!(Pin::new(&mut self.reader).poll_read(cx, &mut space)) {
                Ok(()) => {
                    let count = space.filled().len();
                    return Poll::Ready(self.buffer.filled(count));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(self.buffer.unread(error))),
            }
        }
    }
}

/// The store as the decoder asks it.
fn of(store: Option<&(dyn ContentStore + Send)>) -> Option<&dyn ContentStore> {
    store.map(|store| store as _)
}

impl<R> AsyncPackStream<R> {
    /// The header, once the first block was asked for.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        self.buffer.header()
    }

    /// The oddities met so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.buffer.warnings()
    }

    /// The stream offset of the next byte that will be parsed, as
    /// [`Parser::offset`](crate::Parser::offset).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// How many bytes of memory its buffers take.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// The reader; what was read from it and not yet given is lost.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R> fmt::Debug for AsyncPackStream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncPackStream").field("offset", &self.offset()).finish_non_exhaustive()
    }
}
