//! Decompression that cannot be made to give more than it may.

#[cfg(feature = "zstd")]
mod with_zstd {
    use std::io::Read;

    use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

    use lcp_types::wire::HEADER_BYTES;

    use crate::error::{Error, ErrorKind, Result};
    use crate::options::DecodeOptions;

    /// Decompresses a whole body of at most `max` bytes.
    ///
    /// The output grows as zstd gives it, whatever the frame header claims of
    /// the content; only zstd's window is as large as the header says.
    pub(crate) fn body(stored: &[u8], max: u64) -> Result<Vec<u8>, ErrorKind> {
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

    /// How much of the input zstd is fed at a time.
    ///
    /// zstd may decide by what it is given at once, so it is always given the
    /// same: windows at fixed offsets, the last one shorter. However the input
    /// was cut, the output and the place of an error are then the same.
    const WINDOW_BYTES: usize = 64 * 1024;

    /// A payload that is decompressed while it arrives.
    pub(crate) struct Payload {
        decoder: Decoder<'static>,
        window: Vec<u8>,
        /// Bytes of the payload that zstd was given.
        fed: u64,
        /// Bytes it gave back.
        given: u64,
        /// The limit on them, and its name.
        limit: (&'static str, u64),
        /// Whether zstd is between two frames, where the input may end.
        between_frames: bool,
    }

    impl Payload {
        pub(crate) fn new(options: &DecodeOptions<'_>) -> Result<Self> {
            let decoder = Decoder::new().map_err(|error| failed(&error, 0))?;
            let (payload, total) =
                (options.payload_decompressed_bytes_max, options.total_decompressed_bytes_max);
            let limit = if total < payload {
                ("TOTAL_DECOMPRESSED_BYTES_MAX", total)
            } else {
                ("PAYLOAD_DECOMPRESSED_BYTES_MAX", payload)
            };
            Ok(Self { decoder, window: Vec::new(), fed: 0, given: 0, limit, between_frames: true })
        }

        /// Takes at most one window of input, appends what comes of it to
        /// `out`, and says how many bytes it took. The caller says whether
        /// the input ends with `input`.
        pub(crate) fn feed(&mut self, input: &[u8], eof: bool, out: &mut Vec<u8>) -> Result<usize> {
            let taken = input.len().min(WINDOW_BYTES - self.window.len());
            let (head, rest) = input.split_at_checked(taken).unwrap_or_default();
            self.window.extend_from_slice(head);
            if self.window.len() == WINDOW_BYTES {
                self.run(out)?;
            }
            if eof && rest.is_empty() {
                self.run(out)?;
                if !self.between_frames {
                    let what = "a compressed payload";
                    return Err(at(ErrorKind::UnexpectedEof { what, missing: 1 }, self.fed));
                }
            }
            Ok(taken)
        }

        fn run(&mut self, out: &mut Vec<u8>) -> Result<()> {
            let window = std::mem::take(&mut self.window);
            let mut input = InBuffer::around(&window);
            let mut chunk = [0u8; 16 * 1024];
            loop {
                let mut output = OutBuffer::around(&mut chunk[..]);
                let ended = input.pos() == window.len();
                if ended && self.between_frames {
                    break;
                }
                let hint = self
                    .decoder
                    .run(&mut input, &mut output)
                    .map_err(|error| failed(&error, self.fed))?;
                self.between_frames = hint == 0;
                let written = output.as_slice();
                self.given += written.len() as u64;
                let (limit, max) = self.limit;
                if self.given > max {
                    let found = self.given;
                    return Err(at(ErrorKind::TooLarge { limit, found, max }, self.fed));
                }
                out.extend_from_slice(written);
                if ended && written.is_empty() {
                    break;
                }
            }
            self.fed += window.len() as u64;
            Ok(())
        }
    }

    fn failed(error: &std::io::Error, fed: u64) -> Error {
        at(ErrorKind::BadCompression { reason: error.to_string() }, fed)
    }

    /// An error behind `fed` stored bytes of the payload.
    fn at(kind: ErrorKind, fed: u64) -> Error {
        Error::new(kind, HEADER_BYTES as u64 + fed)
    }
}

#[cfg(feature = "zstd")]
pub(crate) use with_zstd::{Payload, body};

#[cfg(not(feature = "zstd"))]
mod without_zstd {
    use crate::error::{Error, ErrorKind, Result};
    use crate::options::DecodeOptions;

    pub(crate) fn body(_stored: &[u8], _max: u64) -> Result<Vec<u8>, ErrorKind> {
        Err(ErrorKind::CompressionUnsupported)
    }

    /// Cannot be made.
    pub(crate) struct Payload(());

    #[expect(clippy::unused_self, reason = "the signature is that of the real one")]
    impl Payload {
        pub(crate) fn new(_: &DecodeOptions<'_>) -> Result<Self> {
            // At the flag that says so.
            Err(Error::new(ErrorKind::CompressionUnsupported, 6))
        }

        pub(crate) fn feed(&mut self, _: &[u8], _: bool, _: &mut Vec<u8>) -> Result<usize> {
            Err(Error::new(ErrorKind::CompressionUnsupported, 6))
        }
    }
}

#[cfg(not(feature = "zstd"))]
pub(crate) use without_zstd::{Payload, body};
