//! Decoding of packs from an [`AsyncRead`].

use std::fmt;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::ops::Deref;
use std::pin::Pin;
use std::task::Poll;

use lcp_types::{Block, ContentStore};
use tokio::io::{AsyncRead, ReadBuf};

use super::StreamError;
use super::state::StreamState;
use crate::error::Error;
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;

/// A version of [`StreamDecoder`](crate::StreamDecoder) for asynchronous readers of tokio.
///
/// All methods are cancel safe: futures may be dropped at any time, for example by a timeout or
/// `select!`. Decompression and store lookups run on the thread that polls the future.
///
/// # Example: a block or a timeout
///
/// ```
/// use std::time::Duration;
///
/// use lcp_decoder::{AsyncStreamDecoder, DecodeOptions};
/// use tokio::io::AsyncRead;
///
/// async fn print(socket: impl AsyncRead + Unpin) -> Result<(), Box<dyn std::error::Error>> {
///     let mut stream = AsyncStreamDecoder::new(socket, DecodeOptions::default());
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
pub struct AsyncStreamDecoder<R> {
    reader: R,
    state: StreamState,
    store: Option<Box<dyn ContentStore + Send>>,
}

impl<R: AsyncRead + Unpin> AsyncStreamDecoder<R> {
    /// Creates a decoder for the pack that begins at the next byte of `reader`. The store of
    /// `options` is ignored because it need not be `Send`; use [`Self::with_store`] instead.
    #[must_use]
    pub fn new(reader: R, options: DecodeOptions<'_>) -> Self {
        Self { reader, state: StreamState::new(options.limits()), store: None }
    }

    /// Sets the store of referenced bodies.
    #[must_use]
    pub fn with_store(self, store: impl ContentStore + Send + 'static) -> Self {
        Self { store: Some(Box::new(store)), ..self }
    }

    /// Returns the next block, annotations included, or `None` at the end of the input. The future
    /// may be dropped.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`StreamDecoder::next_block`](crate::StreamDecoder::next_block).
    pub async fn next_block(&mut self) -> Result<Option<Block<'static>>, StreamError> {
        loop {
            let block = self.state.next_block(without_send(self.store.as_deref()))?;
            if let Poll::Ready(block) = block {
                return Ok(block);
            }
            self.fill().await?;
        }
    }

    /// Returns the next event, as in [`EventIter`](crate::EventIter), or `None` after
    /// [`Event::Done`]. The future may be dropped.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Self::next_block`], except those in the bodies of frames.
    pub async fn next_event(&mut self) -> Result<Option<Event<'static>>, StreamError> {
        loop {
            if let Poll::Ready(event) = self.state.next_event()? {
                return Ok(event);
            }
            self.fill().await?;
        }
    }

    /// Decodes a frame like [`Parser::decode`](crate::Parser::decode).
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the body is malformed or exceeds a limit.
    pub fn decode(&mut self, frame: Frame<'static>) -> Result<Block<'static>, Error> {
        self.state.parser.decode(frame, without_send(self.store.as_deref()))
    }

    /// Reads once. The bytes are in the state when the future is ready.
    async fn fill(&mut self) -> Result<(), StreamError> {
        loop {
            let mut space = ReadBuf::new(self.state.space());
            let reader = &mut self.reader;
            match poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, &mut space)).await {
                Ok(()) => {
                    let count = space.filled().len();
                    return self.state.filled(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.state.unread(error)),
            }
        }
    }
}

/// Removes `Send` from the type of a store.
fn without_send(store: Option<&(dyn ContentStore + Send)>) -> Option<&dyn ContentStore> {
    store.map(|store| store as _)
}

impl<R> AsyncStreamDecoder<R> {
    /// Returns the reader. Bytes that were read but not decoded yet are lost.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R> Deref for AsyncStreamDecoder<R> {
    type Target = StreamState;

    fn deref(&self) -> &StreamState {
        &self.state
    }
}

impl<R> fmt::Debug for AsyncStreamDecoder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncStreamDecoder").field("offset", &self.offset()).finish_non_exhaustive()
    }
}
