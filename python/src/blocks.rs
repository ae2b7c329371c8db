//! Blocks of packs, one at a time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lcp_app::inspect::{BlockReader as Reader, InspectedBlock};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Silent, content_bytes};
use lcp_tokens::TokenEstimator;
use lcp_types::BlockContent;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::call;
use crate::pack::Pack;

/// A reader of the blocks of a pack. If the pack is a file with an index, a few megabytes of it are in
/// memory at a time.
#[pyclass(frozen, module = "lcp._lcp")]
pub(crate) struct BlockReader {
    reader: Mutex<Reader>,
    estimator: Arc<dyn TokenEstimator>,
}

/// The index, type, label, priority, tokens and content of a block.
type Row<'py> = (usize, &'static str, String, Option<&'static str>, Option<u32>, Bound<'py, PyAny>);

#[pymethods]
impl BlockReader {
    /// Opens the pack of a file.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        model: Option<String>,
        encoding: Option<String>,
    ) -> PyResult<Self> {
        call(py, || Ok((Reader::open(&path, &Silent)?, load(model, encoding)?))).map(Self::new)
    }

    /// Reads a pack in memory.
    #[staticmethod]
    fn from_pack(
        py: Python<'_>,
        pack: &Bound<'_, Pack>,
        model: Option<String>,
        encoding: Option<String>,
    ) -> PyResult<Self> {
        let pack = pack.get();
        let read = || Ok((Reader::from_bytes(pack.name(), pack.bytes())?, load(model, encoding)?));
        call(py, read).map(Self::new)
    }

    /// Returns the number of blocks.
    fn __len__(&self) -> usize {
        self.lock().blocks.len()
    }

    /// Reads the block at an index.
    fn read<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Row<'py>> {
        let (row, tokens, content, is_binary) = call(py, || {
            let mut reader = self.lock();
            let block = reader.read(index)?;
            let tokens = Reader::count_tokens(block, &*self.estimator);
            let is_binary = matches!(block.content, BlockContent::Image(_));
            let content = content_bytes(block).into_owned();
            let InspectedBlock { block_type, label, priority, .. } = &reader.blocks[index];
            let row = (block_type.label(), label.clone(), *priority);
            Ok((row, tokens, content, is_binary))
        })?;
        let (block_type, label, priority) = row;
        let content = match String::from_utf8(content) {
            Ok(text) if !is_binary => text.into_pyobject(py)?.into_any(),
            Ok(text) => PyBytes::new(py, text.as_bytes()).into_any(),
            Err(error) => PyBytes::new(py, error.as_bytes()).into_any(),
        };
        Ok((index, block_type, label, priority, tokens, content))
    }
}

impl BlockReader {
    fn new((reader, estimator): (Reader, Arc<dyn TokenEstimator>)) -> Self {
        Self { reader: Mutex::new(reader), estimator }
    }

    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load(
    model: Option<String>,
    encoding: Option<String>,
) -> lcp_app::Result<Arc<dyn TokenEstimator>> {
    let options = TokenizerOptions { encoding, model, count_cache: None };
    options.load_by_name()
}
