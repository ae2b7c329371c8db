//! A pack that is planned by token costs, from its index or from a scan.

use std::borrow::Cow;
use std::fs::File;

use lcp_decoder::{PackReader, ReadAt};
use lcp_driver::{OutputMode, RENDERER_REVISION, ScanCosts};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockIndex, BlockSource, BlockSourceError};

/// The minimum size, in bytes, at which a pack without token costs is scanned. Smaller packs are read
/// into memory.
const COUNTED_BYTES_MIN: u64 = 8 << 20;

/// A pack with token costs, from its index or from a scan.
pub(super) struct CountedPack<'r> {
    reader: &'r PackReader<'static, File>,
    /// The index with costs from the scan, if the pack was scanned.
    pub(super) counted: Option<BlockIndex>,
}

impl<'r> CountedPack<'r> {
    /// Returns `None` if all blocks must be read into memory.
    pub(super) fn new(
        reader: &'r mut PackReader<'static, File>,
        estimator: &dyn TokenEstimator,
        mode: OutputMode,
    ) -> Option<Self> {
        let index = reader.block_index();
        if index.is_some_and(|it| it.costs_in(estimator.name(), RENDERER_REVISION).is_some()) {
            return Some(Self { reader, counted: None });
        }
        // Reading all blocks reports a damaged index.
        let is_damaged = reader.index().is_some_and(|index| index.is_err());
        if is_damaged || reader.source().size().ok()? < COUNTED_BYTES_MIN {
            return None;
        }
        let mut costs = ScanCosts::new(estimator, mode)?;
        if !reader.scan(|blocks| costs.add(blocks)).ok()? {
            return None;
        }
        let costs = vec![costs.finish(&*reader).ok()??];
        let index = reader.block_index()?.clone();
        Some(Self { reader, counted: Some(BlockIndex { costs, ..index }) })
    }
}

impl BlockSource for CountedPack<'_> {
    fn block_index(&self) -> Option<&BlockIndex> {
        self.counted.as_ref().or_else(|| self.reader.block_index())
    }

    fn read(&self, indices: &[u32]) -> std::result::Result<Vec<Block<'_>>, BlockSourceError> {
        self.reader.read(indices)
    }

    fn read_all(&self) -> std::result::Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        self.reader.read_all()
    }
}
