//! Packs.

use std::path::{Path, PathBuf};

use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::pack::PackOptions;
use lcp_app::rank::QueryOptions;
use lcp_app::render::{RenderJob, RenderOptions};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Error, Warnings, files};
use lcp_driver::OutputMode;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{call, invalid_argument, usage_error};

/// The names of the formats of rendered text.
const MODES: [&str; 3] = ["xml", "markdown", "minimal"];

/// A pack: typed blocks of source files, messages, tool results and documents.
#[pyclass(frozen, module = "lcp")]
pub(crate) struct Pack {
    bytes: Vec<u8>,
    /// The name in errors.
    name: PathBuf,
    warnings: Vec<String>,
}

#[pymethods]
impl Pack {
    /// Reads a pack from bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Self::checked(py, PathBuf::from("bytes"), data.to_vec())
    }

    /// Reads a pack from a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let bytes = call(py, || {
            std::fs::read(&path).map_err(|error| Error::io("read", path.display(), &error))
        })?;
        Self::checked(py, path, bytes)
    }

    /// Packs the files of a folder. With a query, those that it needs come first.
    #[staticmethod]
    #[pyo3(signature = (path, *, query = None, mentions = Vec::new()))]
    fn from_directory(
        py: Python<'_>,
        path: PathBuf,
        query: Option<String>,
        mentions: Vec<String>,
    ) -> PyResult<Self> {
        if !path.is_dir() {
            return Err(usage_error(format!("path: no folder {}", path.display())));
        }
        call(py, || {
            let texts = query.into_iter().collect();
            let query = QueryOptions { texts, mentions, ..QueryOptions::default() };
            let options = PackOptions {
                paths: vec![PathBuf::from(".")],
                base: path.clone(),
                query,
                ..PackOptions::default()
            };
            let warnings = Warnings::default();
            let (bytes, _) = options.pack(&Config::default(), &warnings)?;
            Ok(Self { bytes, name: path, warnings: warnings.take() })
        })
    }

    /// The warnings of packing, such as about replaced secrets and files that were left out.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Renders the blocks as text within a budget, or in full without one.
    #[pyo3(signature = (budget = None, *, mode = "xml", model = None, encoding = None))]
    fn render(
        &self,
        py: Python<'_>,
        budget: Option<i64>,
        mode: &str,
        model: Option<String>,
        encoding: Option<String>,
    ) -> PyResult<String> {
        let Some(mode) = OutputMode::from_name(mode) else {
            return Err(invalid_argument("mode", mode, &MODES));
        };
        let budget = budget.map(u32::try_from).transpose().map_err(|_| {
            usage_error("budget: expected a number of tokens from 0 to 2^32 - 1".to_owned())
        })?;
        call(py, || {
            let options = RenderOptions {
                budget: BudgetOptions { budget, ..BudgetOptions::default() },
                mode,
                tokenizer: TokenizerOptions { encoding, model, count_cache: None },
                ..RenderOptions::default()
            };
            let (config, warnings) = (Config::default(), Warnings::default());
            let job = RenderJob::new(&self.name, &self.bytes, &options, &config, &warnings)?;
            Ok(job.render(&warnings)?.text)
        })
    }

    /// Returns the bytes of the pack.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// Writes the pack to a file, completely or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        call(py, || files::write(&path, &self.bytes))
    }
}

impl Pack {
    fn checked(py: Python<'_>, name: PathBuf, bytes: Vec<u8>) -> PyResult<Self> {
        call(py, || files::decode(Path::new(&name), &bytes).map(drop))?;
        Ok(Self { bytes, name, warnings: Vec::new() })
    }
}
