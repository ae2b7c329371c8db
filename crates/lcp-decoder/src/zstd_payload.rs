//! Decompression of zstd within the limits.

#[cfg(feature = "zstd")]
mod with_zstd {
    use std::io::Read;

    use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

    use lcp_types::wire::{HEADER_BYTES, PAYLOAD_WINDOW_BYTES};

    use crate::error::{Error, ErrorKind, Result};
    use crate::options::Limits;

    /// Decompresses a body of at most `max` bytes. It does not reserve the size that the body
    /// claims.
    pub(crate) fn decompress_body(stored: &[u8], max: u64) -> Result<Vec<u8>, ErrorKind> {
        let bad = |error: std::io::Error| ErrorKind::BadCompression { reason: error.to_string() };
        let decoder = zstd::stream::read::Decoder::with_buffer(stored).map_err(bad)?;
        let mut body = Vec::new();
        decoder.take(max.saturating_add(1)).read_to_end(&mut body).map_err(bad)?;
        let found = body.len() as u64;
        if found > max {
            return Err(ErrorKind::TooLarge { limit: "", found, max });
        }
        Ok(body)
    }

    /// The number of bytes passed to zstd at a time. Windows are fixed so that results do not
    /// depend on how the input is read.
    const WINDOW_BYTES: usize = PAYLOAD_WINDOW_BYTES;

    /// The maximum output of one step in bytes, so that the expansion of a window need not fit in
    /// memory.
    const CHUNK_BYTES: usize = 16 * 1024;

    /// A decoder for a payload that arrives in pieces.
    pub(crate) struct PayloadDecoder {
        decoder: Decoder<'static>,
        window: Vec<u8>,
        /// The number of bytes of the window that zstd has consumed; `None` while the window is
        /// being filled.
        consumed: Option<usize>,
        chunk: Box<[u8]>,
        /// The number of bytes in the windows before this one.
        input_bytes: u64,
        /// The number of decompressed bytes.
        output_bytes: u64,
        /// The limit on decompressed bytes, with its name.
        limit: (&'static str, u64),
        /// `true` if zstd is between two frames, where the input may end.
        between_frames: bool,
        /// `true` if the input ends with this window.
        is_last: bool,
        ended: bool,
    }

    impl PayloadDecoder {
        pub(crate) fn new(limits: &Limits) -> Result<Self> {
            let decoder = Decoder::new().map_err(|error| failed(&error, 0))?;
            let (payload, total) =
                (limits.payload_decompressed_bytes_max, limits.total_decompressed_bytes_max);
            let limit = if total < payload {
                ("TOTAL_DECOMPRESSED_BYTES_MAX", total)
            } else {
                ("PAYLOAD_DECOMPRESSED_BYTES_MAX", payload)
            };
            Ok(Self {
                decoder,
                window: Vec::new(),
                consumed: None,
                chunk: vec![0; CHUNK_BYTES].into(),
                input_bytes: 0,
                output_bytes: 0,
                limit,
                between_frames: true,
                is_last: false,
                ended: false,
            })
        }

        /// Returns whether the window may produce more bytes.
        pub(crate) fn is_running(&self) -> bool {
            self.consumed.is_some()
        }

        /// Returns whether all bytes have been decompressed.
        pub(crate) fn is_finished(&self) -> bool {
            self.ended
        }

        /// Returns the number of input bytes read so far: the header and all windows.
        pub(crate) fn input_bytes(&self) -> u64 {
            HEADER_BYTES as u64 + self.input_bytes + self.window.len() as u64
        }

        /// Returns the memory in bytes that the decoder uses, without that of zstd.
        pub(crate) fn capacity(&self) -> usize {
            self.window.capacity() + self.chunk.len()
        }

        /// Returns the number of bytes that fill up the window.
        pub(crate) fn bytes_needed(&self) -> u64 {
            (WINDOW_BYTES - self.window.len()) as u64
        }

        /// Adds input to the window and returns the number of bytes consumed. Must not be called
        /// while [`Self::is_running`] returns `true`.
        pub(crate) fn fill(&mut self, input: &[u8], eof: bool) -> usize {
            let consumed = input.len().min(WINDOW_BYTES - self.window.len());
            let (head, rest) = input.split_at_checked(consumed).unwrap_or_default();
            self.window.extend_from_slice(head);
            let is_full = self.window.len() == WINDOW_BYTES;
            self.is_last = eof && rest.is_empty() && !is_full;
            if is_full || self.is_last {
                self.consumed = Some(0);
            }
            consumed
        }

        /// Decompresses the next chunk of the window and appends it to `out`.
        pub(crate) fn decompress_chunk(&mut self, out: &mut Vec<u8>) -> Result<()> {
            let rest =
                self.consumed.and_then(|consumed| self.window.get(consumed..)).unwrap_or_default();
            let is_empty = rest.is_empty();
            if !is_empty || !self.between_frames {
                let mut input = InBuffer::around(rest);
                let mut output = OutBuffer::around(&mut self.chunk[..]);
                let hint = self
                    .decoder
                    .run(&mut input, &mut output)
                    .map_err(|error| failed(&error, self.input_bytes))?;
                self.between_frames = hint == 0;
                let written = output.as_slice();
                self.output_bytes += written.len() as u64;
                let (limit, max) = self.limit;
                if self.output_bytes > max {
                    let found = self.output_bytes;
                    return Err(at(ErrorKind::TooLarge { limit, found, max }, self.input_bytes));
                }
                // The capacity doubles, but not beyond the maximum output that may still come.
                if out.capacity() - out.len() < written.len() {
                    let most = usize::try_from(max - self.output_bytes).unwrap_or(usize::MAX);
                    out.reserve_exact(written.len() + out.len().min(most));
                }
                out.extend_from_slice(written);
                self.consumed = self.consumed.map(|consumed| consumed + input.pos());
                if !is_empty || !written.is_empty() {
                    return Ok(());
                }
            }
            self.input_bytes += self.window.len() as u64;
            self.window.clear();
            self.consumed = None;
            if self.is_last && !self.between_frames {
                let what = "compressed payload";
                return Err(at(ErrorKind::UnexpectedEof { what, missing: 1 }, self.input_bytes));
            }
            self.ended = self.is_last;
            Ok(())
        }
    }

    fn failed(error: &std::io::Error, input_bytes: u64) -> Error {
        at(ErrorKind::BadCompression { reason: error.to_string() }, input_bytes)
    }

    /// Returns an error with the offset after `input_bytes` stored bytes of the payload.
    fn at(kind: ErrorKind, input_bytes: u64) -> Error {
        Error::new(kind, HEADER_BYTES as u64 + input_bytes)
    }
}

#[cfg(feature = "zstd")]
pub(crate) use with_zstd::{PayloadDecoder, decompress_body};

#[cfg(not(feature = "zstd"))]
mod without_zstd {
    use lcp_types::wire::HEADER_FLAGS_OFFSET;

    use crate::error::{Error, ErrorKind, Result};
    use crate::options::Limits;

    pub(crate) fn decompress_body(_stored: &[u8], _max: u64) -> Result<Vec<u8>, ErrorKind> {
        Err(ErrorKind::CompressionUnsupported)
    }

    /// A type without values, because there is no payload decoder without zstd.
    pub(crate) enum PayloadDecoder {}

    /// Defines methods that cannot be called.
    macro_rules! uncallable {
        ($($method:ident($($input:ty),*) -> $output:ty;)*) => {
            $(pub(crate) fn $method(&self, $(_: $input),*) -> $output {
                match *self {}
            })*
        };
    }

    impl PayloadDecoder {
        pub(crate) fn new(_: &Limits) -> Result<Self> {
            // The error points at the header flag for compression.
            Err(Error::new(ErrorKind::CompressionUnsupported, HEADER_FLAGS_OFFSET as u64))
        }

        uncallable! {
            is_running() -> bool;
            is_finished() -> bool;
            input_bytes() -> u64;
            capacity() -> usize;
            bytes_needed() -> u64;
            fill(&[u8], bool) -> usize;
            decompress_chunk(&mut Vec<u8>) -> Result<()>;
        }
    }
}

#[cfg(not(feature = "zstd"))]
pub(crate) use without_zstd::{PayloadDecoder, decompress_body};
