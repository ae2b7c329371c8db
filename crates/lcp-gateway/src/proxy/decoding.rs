//! The usage in responses, which may be compressed. The client gets them unchanged; only a copy is
//! decoded here.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::headers::Encoding;
use crate::usage::{ReportedUsage, UsageReader};

/// The maximum number of bytes that are decoded of a response. A small one can decode to any size.
const DECODED_BYTES: usize = 256 << 20;

/// The binary logarithm of the window in bytes that a response in zstd can ask for, as the
/// specification of zstd recommends. Without a limit, each stream could take 128 MB of memory.
const ZSTD_WINDOW: u32 = 23;

/// The size of the buffer of a brotli decoder in bytes.
const BROTLI_BUFFER: usize = 8 << 10;

/// A reader of the usage in a copy of a response.
pub(super) struct ResponseReader {
    /// It is `None` after an error.
    decoder: Option<Box<dyn Write + Send>>,
    reader: Arc<Mutex<Option<UsageReader>>>,
}

impl ResponseReader {
    /// Creates a reader for an encoding that is known.
    pub(super) fn new(encoding: Encoding, is_stream: bool) -> Option<Self> {
        let reader = Arc::new(Mutex::new(Some(UsageReader::new(is_stream))));
        let copy = Decoded { reader: Arc::clone(&reader), rest: DECODED_BYTES };
        let decoder: Box<dyn Write + Send> = match encoding {
            Encoding::Identity => Box::new(copy),
            Encoding::Gzip => Box::new(flate2::write::MultiGzDecoder::new(copy)),
            Encoding::Deflate => Box::new(flate2::write::ZlibDecoder::new(copy)),
            Encoding::Brotli => {
                Box::new(brotli_decompressor::DecompressorWriter::new(copy, BROTLI_BUFFER))
            }
            Encoding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(copy).ok()?;
                decoder.window_log_max(ZSTD_WINDOW).ok()?;
                Box::new(decoder)
            }
            Encoding::Other => return None,
        };
        Some(Self { decoder: Some(decoder), reader })
    }

    /// Reads the next bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        let Some(decoder) = &mut self.decoder else { return };
        // A decoder that panics must not cut the response.
        let written = catch_unwind(AssertUnwindSafe(|| decoder.write_all(bytes)));
        if !matches!(written, Ok(Ok(()))) {
            self.decoder = None;
        }
    }

    /// Returns the usage until the end, or until the first error.
    pub(super) fn finish(mut self) -> Option<ReportedUsage> {
        if let Some(mut decoder) = self.decoder.take() {
            // A response that was cut still has the usage of its beginning.
            let _ = catch_unwind(AssertUnwindSafe(|| decoder.flush()));
        }
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        reader.and_then(UsageReader::finish)
    }
}

/// The decoded bytes of a response.
struct Decoded {
    reader: Arc<Mutex<Option<UsageReader>>>,
    /// The number of bytes that may follow.
    rest: usize,
}

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.rest.checked_sub(bytes.len());
        self.rest = rest.ok_or_else(|| io::Error::other("the response is too large"))?;
        if let Some(reader) = &mut *self.reader.lock().unwrap_or_else(PoisonError::into_inner) {
            reader.read(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;

    use super::*;
    use crate::usage::Usage;

    const EVENTS: &str = "data: {\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n\
        data: {\"usage\":{\"output_tokens\":9}}\n\n";

    fn compressed(encoding: Encoding, text: &str) -> Vec<u8> {
        let (text, level) = (text.as_bytes(), Compression::default());
        match encoding {
            Encoding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Deflate => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Encoding::Zstd => zstd::encode_all(text, 3).unwrap(),
            // A stored block: the bits of a window of 64 kB, the length in 16 bits, and the end.
            Encoding::Brotli => {
                let length = u32::try_from(text.len()).unwrap() - 1;
                // Of the lowest bits: WBITS 0; not the last block; MNIBBLES 4; MLEN - 1; uncompressed.
                let head = (length << 4) | (1 << 20);
                [&head.to_le_bytes()[..3], text, &[3]].concat()
            }
            _ => text.to_vec(),
        }
    }

    const READ: [Encoding; 5] =
        [Encoding::Identity, Encoding::Gzip, Encoding::Deflate, Encoding::Brotli, Encoding::Zstd];

    #[test]
    fn usage_is_read_in_all_encodings_and_pieces() {
        for encoding in READ {
            let bytes = compressed(encoding, EVENTS);
            for size in [1, 7, 4096] {
                let mut reader = ResponseReader::new(encoding, true).unwrap();
                bytes.chunks(size).for_each(|part| reader.read(part));
                let expected = Usage { input: 3, output: 9, ..Usage::default() };
                assert_eq!(reader.finish().unwrap().usage, expected, "{encoding:?} {size}");
            }
        }
        assert!(ResponseReader::new(Encoding::Other, true).is_none());
    }

    #[test]
    fn broken_responses_have_the_usage_until_there() {
        for encoding in READ.into_iter().filter(|it| *it != Encoding::Identity) {
            let mut reader = ResponseReader::new(encoding, true).unwrap();
            reader.read(b"not compressed at all, and no usage");
            reader.read(EVENTS.as_bytes());
            assert_eq!(reader.finish(), None, "{encoding:?}");
        }
    }

    #[test]
    fn small_responses_that_decode_to_much_are_not_read_further() {
        let bomb = "x".repeat(DECODED_BYTES / 4);
        let bytes = compressed(Encoding::Zstd, &bomb);
        let mut reader = ResponseReader::new(Encoding::Zstd, true).unwrap();
        (0..5).for_each(|_| reader.read(&bytes));
        assert!(reader.decoder.is_none());
    }
}
