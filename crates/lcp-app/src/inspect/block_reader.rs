//! Blocks of a pack, read one at a time.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use lcp_decoder::{DecodeOptions, PackReader, SourceReader};
use lcp_driver::content_text;
use lcp_packfile::PackScan;
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockSource as _};

use super::{InspectedBlock, Inspection};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Reporter;

/// The maximum size of the blocks that are read at once, as stored, in bytes. A larger block is read
/// alone.
const READ_BYTES: u64 = 4 << 20;

/// A reader of the blocks of a pack. If the pack is a file with an index, a few megabytes of it are
/// in memory at a time.
pub struct BlockReader {
    /// The properties of the blocks, in order. Their tokens are not counted.
    pub blocks: Vec<InspectedBlock>,
    /// The file, if not all blocks are in memory.
    file: Option<File>,
    /// The blocks in memory, and the index of the first one.
    read: Vec<Block<'static>>,
    start: usize,
}

impl BlockReader {
    /// Opens the pack at a path. Reads it once, to check it and to find the properties of its blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if the pack is malformed.
    pub fn open(path: &Path, reporter: &dyn Reporter) -> Result<Self> {
        if let Some(file) = files::open_regular_file(path)
            && let Some(reader) = Self::with_index(path, file)?
        {
            return Ok(reader);
        }
        Self::from_bytes(path, &files::read(path, reporter)?)
    }

    /// Reads a pack that is in memory. `path` is its name in errors.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let pack = files::decode(path, bytes)?;
        let read = pack.blocks.into_iter().map(Block::into_owned).collect();
        let blocks = Inspection::new(&PackScan::new(bytes), bytes).blocks;
        Ok(Self { blocks, file: None, read, start: 0 })
    }

    /// Returns `None` if the pack should be read as a whole.
    fn with_index(path: &Path, file: File) -> Result<Option<Self>> {
        let unread = |error| Error::io("read", path.display(), &error);
        let scan = SourceReader::new(&file).and_then(PackScan::without_content).map_err(unread)?;
        let blocks = match PackReader::open(&file, DecodeOptions::default()) {
            Ok(reader) if reader.block_index().is_some() && scan.problems().next().is_none() => {
                Inspection::with_index(&scan, reader.index(), 0).blocks
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { blocks, file: Some(file), read: Vec::new(), start: 0 }))
    }

    /// Reads the block at an index. It is fastest to read them in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack has no such block, or if the file cannot be read.
    pub fn read(&mut self, index: usize) -> Result<&Block<'static>> {
        let is_read = (self.start..self.start + self.read.len()).contains(&index);
        if let (false, Some(file)) = (is_read, &self.file) {
            let failed = |error: &dyn Display| Error::new(ErrorKind::Io, error.to_string());
            let reader = PackReader::open(file, DecodeOptions::default());
            let reader = reader.map_err(|error| failed(&error))?;
            let read = reader.read(&self.indices_from(index));
            let read = read.map_err(|error| failed(&error))?;
            self.read = read.into_iter().map(Block::into_owned).collect();
            self.start = index;
        }
        let block = index.checked_sub(self.start).and_then(|at| self.read.get(at));
        block.ok_or_else(|| Error::new(ErrorKind::Usage, format!("block {index} does not exist")))
    }

    /// Returns the indices of the blocks to read at once, beginning with this one.
    fn indices_from(&self, index: usize) -> Vec<u32> {
        let mut bytes = 0;
        let rest = self.blocks.iter().skip(index);
        let rest = rest.take_while(|block| {
            let is_first = bytes == 0;
            bytes += block.length.max(1);
            is_first || bytes <= READ_BYTES
        });
        rest.filter_map(|block| u32::try_from(block.index).ok()).collect()
    }

    /// Counts the tokens of the content of a block, or returns `None` for metadata. The counts of an
    /// [`Inspection`] include the newline that renderers add.
    #[must_use]
    pub fn count_tokens(block: &Block<'_>, estimator: &dyn TokenEstimator) -> Option<u32> {
        let text = content_text(&block.content);
        (!block.content.is_metadata()).then(|| text.map_or(0, |text| estimator.estimate(&text)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lcp_encoder::EncodeOptions;
    use lcp_tokens::{Encoding, Tiktoken};
    use lcp_types::{Lang, Role};

    use super::*;
    use crate::reporter::Silent;

    #[test]
    fn blocks_of_a_file_are_those_of_its_bytes() {
        let blocks = [
            Block::code(Lang::Rust, "a.rs", "fn main() {}\n"),
            Block::conversation(Role::User, "Why?"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lcp");
        for has_index in [true, false] {
            let options = EncodeOptions { index: has_index, ..EncodeOptions::default() };
            let bytes = lcp_encoder::encode(&blocks, options).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            let mut file = BlockReader::open(&path, &Silent).unwrap();
            let mut memory = BlockReader::from_bytes(&path, &bytes).unwrap();
            assert_eq!(file.file.is_some(), has_index);
            for (index, block) in blocks.iter().enumerate() {
                assert_eq!(file.read(index).unwrap(), block);
                assert_eq!(memory.read(index).unwrap(), block);
            }
            assert_eq!(file.read(0).unwrap(), &blocks[0]);
            assert_eq!(file.blocks[0].label, "a.rs");
            assert!(file.read(2).is_err() && memory.read(2).is_err());
        }
        std::fs::write(&path, b"no pack").unwrap();
        assert!(BlockReader::open(&path, &Silent).is_err());
    }

    #[test]
    fn blocks_are_read_in_parts() {
        let part = usize::try_from(READ_BYTES / 3).unwrap();
        let blocks: Vec<_> = (0..9)
            .map(|at| Block::raw(0x42, vec![at; if at == 4 { 5 * part } else { part }]))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lcp");
        let bytes = lcp_encoder::encode(&blocks, EncodeOptions::default()).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = BlockReader::open(&path, &Silent).unwrap();
        let mut largest = 0;
        for (index, block) in blocks.iter().enumerate() {
            assert_eq!(reader.read(index).unwrap(), block);
            largest = largest.max(reader.read.len());
        }
        assert_eq!(largest, 3);
    }

    #[test]
    fn tokens_are_those_of_an_inspection_without_the_newline() {
        let estimator: Arc<dyn TokenEstimator> = Arc::new(Tiktoken::new(Encoding::O200kBase));
        let bytes = include_bytes!("../../../../samples/every-type.lcp");
        let scan = PackScan::new(bytes);
        let mut inspection = Inspection::new(&scan, bytes);
        inspection.count_tokens(&scan, &estimator, false).unwrap();
        let mut reader = BlockReader::from_bytes(Path::new("a"), bytes).unwrap();
        for inspected in &inspection.blocks {
            let block = reader.read(inspected.index).unwrap();
            let text = content_text(&block.content).unwrap_or_default();
            let with_newline = inspected.tokens.as_ref().map(|tokens| tokens.content);
            let counted = BlockReader::count_tokens(block, &estimator);
            assert_eq!(counted, with_newline.map(|_| estimator.estimate(&text)));
            let text = format!("{text}\n");
            assert_eq!(with_newline, counted.map(|_| estimator.estimate(&text)));
        }
    }
}
