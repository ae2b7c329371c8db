//! Packs.

use std::path::{Path, PathBuf};

use lcp_app::budget::BudgetOptions;
use lcp_app::config::{Config, NamedShares};
use lcp_app::dedup::DedupOptions;
use lcp_app::import::ImportOptions;
use lcp_app::names::{DEDUP_LEVELS, MODES};
use lcp_app::pack::PackOptions;
use lcp_app::pack_output::encode_manifest;
use lcp_app::rank::{HistorySource, QueryOptions};
use lcp_app::render::{RenderJob, RenderOptions};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Warnings, files};
use lcp_driver::shares::Shares;
use lcp_driver::{Overflow, report};
use lcp_encoder::EncodeOptions;
use lcp_ingest::{BlockAttributes, Input, Pattern, Rule, SecretPolicy};
use lcp_transcripts::Format;
use lcp_types::Priority;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use crate::call::{call, invalid_argument, usage_error, value_of};
use crate::column::Texts;

/// A pack: typed blocks of source files, messages, tool results and documents.
#[pyclass(frozen, module = "lcp._lcp")]
pub(crate) struct Pack {
    bytes: Vec<u8>,
    /// The name in errors.
    name: PathBuf,
    warnings: Vec<String>,
}

/// The arguments of a render.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RenderArguments {
    budget: Option<u32>,
    mode: String,
    model: Option<String>,
    encoding: Option<String>,
    shares: Option<String>,
    dedup: Option<String>,
}

/// The arguments of a pack of files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FileArguments {
    query: Option<String>,
    mentions: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    priorities: Vec<(String, String)>,
    dedup: Option<String>,
    secrets: Option<String>,
}

/// The name of a transcript in errors.
const TRANSCRIPT: &str = "transcript";

/// The content of a file.
#[derive(FromPyObject)]
pub(crate) enum Content {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
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
        let (bytes, warnings) = call(py, || {
            let warnings = Warnings::default();
            Ok((files::read(&path, &warnings)?, warnings.take()))
        })?;
        Ok(Self { warnings, ..Self::checked(py, path, bytes)? })
    }

    /// Packs the blocks of a manifest, given as JSON. `path` is its place, to which names of files
    /// in it are relative.
    #[staticmethod]
    fn from_manifest(py: Python<'_>, path: PathBuf, manifest: String) -> PyResult<Self> {
        call(py, || {
            let options = EncodeOptions::default();
            let (bytes, _) = encode_manifest(&path, manifest.as_bytes(), options)?;
            Ok(Self { bytes, name: path, warnings: Vec::new() })
        })
    }

    /// Packs the files of a folder. With a query, those that it needs come first.
    #[staticmethod]
    fn from_directory(py: Python<'_>, path: PathBuf, arguments: FileArguments) -> PyResult<Self> {
        let options = PackOptions {
            paths: vec![PathBuf::from(".")],
            base: path.clone(),
            ..arguments.into_options()?
        };
        call(py, || Self::of_files(path, options))
    }

    /// Packs files that are in memory, given by their paths and contents.
    #[staticmethod]
    fn from_files(
        py: Python<'_>,
        files: Vec<(String, Content)>,
        arguments: FileArguments,
    ) -> PyResult<Self> {
        let options = arguments.into_options()?;
        call(py, || {
            let files = files.into_iter();
            let inputs = files.map(|(path, content)| input(&path, content.bytes())).collect();
            Self::of_inputs(inputs, options)
        })
    }

    /// Packs texts that are in memory, given by Arrow columns of their paths and of the texts.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        paths: Bound<'_, PyAny>,
        texts: Bound<'_, PyAny>,
        arguments: FileArguments,
    ) -> PyResult<Self> {
        let options = arguments.into_options()?;
        let (paths, texts) = (Texts::new(&paths, "paths")?, Texts::new(&texts, "texts")?);
        let (paths, texts) = (paths.present_rows(py)?, texts.present_rows(py)?);
        if paths.len() != texts.len() {
            let message = format!("texts: expected {} rows, got {}", paths.len(), texts.len());
            return Err(usage_error(message));
        }
        if paths.is_empty() {
            return Err(usage_error("paths: expected at least one row, got none".to_owned()));
        }
        call(py, || {
            let rows = paths.iter().zip(&texts);
            let inputs = rows.map(|(path, text)| input(path, text.as_bytes())).collect();
            Self::of_inputs(inputs, options)
        })
    }

    /// Packs a transcript. Without a format, it is detected.
    #[staticmethod]
    fn from_transcript(
        py: Python<'_>,
        transcript: Content,
        format: Option<&str>,
        secrets: Option<&str>,
    ) -> PyResult<Self> {
        let names = Format::ALL.map(|format| (format.name(), format));
        let format = format.map(|name| value_of("format", &names, name)).transpose()?;
        let secrets = secrets.map(secret_policy).transpose()?.or(Some(SecretPolicy::Redact));
        let options = ImportOptions { format, secrets, ..ImportOptions::default() };
        call(py, || {
            let (config, warnings) = (Config::default(), Warnings::default());
            let bytes = options.pack(TRANSCRIPT, transcript.bytes(), &config, &warnings)?;
            Ok(Self { bytes, name: PathBuf::from(TRANSCRIPT), warnings: warnings.take() })
        })
    }

    /// The warnings of reading or packing.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Renders the blocks. Returns the text and the warnings.
    fn render(
        &self,
        py: Python<'_>,
        arguments: RenderArguments,
    ) -> PyResult<(String, Vec<String>)> {
        let options = arguments.to_options()?;
        call(py, || {
            let (config, warnings) = (Config::default(), Warnings::default());
            let job = RenderJob::new(&self.name, &self.bytes, &options, &config, &warnings)?;
            Ok((job.render(&warnings)?.text, warnings.take()))
        })
    }

    /// Plans like a render. Returns the report as JSON and the warnings.
    fn report(
        &self,
        py: Python<'_>,
        arguments: RenderArguments,
    ) -> PyResult<(String, Vec<String>)> {
        let options = arguments.to_options()?;
        call(py, || {
            let (config, warnings) = (Config::default(), Warnings::default());
            let job = RenderJob::new(&self.name, &self.bytes, &options, &config, &warnings)?;
            let plan = job.plan(&warnings)?;
            Ok((report::to_json(&plan), warnings.take()))
        })
    }

    /// Returns the blocks as a manifest in JSON.
    fn to_manifest(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || {
            let pack = files::decode(&self.name, &self.bytes)?;
            Ok(lcp_encoder::manifest::to_json(&pack.blocks))
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
    /// Creates a pack of bytes that the library wrote.
    pub(crate) fn written(name: &str, bytes: Vec<u8>) -> Self {
        Self { bytes, name: PathBuf::from(name), warnings: Vec::new() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    fn of_files(name: PathBuf, options: PackOptions<'_>) -> Result<Self, lcp_app::Error> {
        let warnings = Warnings::default();
        let (bytes, _) = options.pack(&Config::default(), &warnings)?;
        Ok(Self { bytes, name, warnings: warnings.take() })
    }

    /// Packs files that are in memory. No commits belong to them.
    fn of_inputs(inputs: Vec<Input>, options: PackOptions<'_>) -> Result<Self, lcp_app::Error> {
        let query = QueryOptions { history: HistorySource::Off, no_cache: true, ..options.query };
        let options = PackOptions { inputs, query, ..options };
        Self::of_files(PathBuf::from("files"), options)
    }

    fn checked(py: Python<'_>, name: PathBuf, bytes: Vec<u8>) -> PyResult<Self> {
        call(py, || files::decode(&name, &bytes).map(drop))?;
        Ok(Self { bytes, name, warnings: Vec::new() })
    }
}

impl FileArguments {
    fn into_options(self) -> PyResult<PackOptions<'static>> {
        let rules = self.priorities.iter().map(|(glob, priority)| rule(glob, priority));
        Ok(PackOptions {
            include: patterns("include", &self.include)?,
            exclude: patterns("exclude", &self.exclude)?,
            rules: rules.collect::<PyResult<_>>()?,
            dedup: dedup_options(self.dedup.as_deref())?,
            secrets: self.secrets.as_deref().map(secret_policy).transpose()?,
            query: QueryOptions {
                texts: self.query.into_iter().collect(),
                mentions: self.mentions,
                ..QueryOptions::default()
            },
            ..PackOptions::default()
        })
    }
}

impl RenderArguments {
    fn to_options(&self) -> PyResult<RenderOptions> {
        let mode = value_of("mode", &MODES, &self.mode)?;
        let shares = self.shares.as_deref().map(|name| {
            NamedShares::preset(name)
                .ok_or_else(|| invalid_argument("shares", name, Shares::PRESETS))
        });
        let (encoding, model) = (self.encoding.clone(), self.model.clone());
        Ok(RenderOptions {
            budget: BudgetOptions {
                budget: self.budget,
                shares: shares.transpose()?,
                overflow: Some(Overflow::Deny),
                ..BudgetOptions::default()
            },
            mode,
            tokenizer: TokenizerOptions { encoding, model, count_cache: None },
            dedup: dedup_options(self.dedup.as_deref())?,
            ..RenderOptions::default()
        })
    }
}

fn input(path: &str, content: &[u8]) -> Input {
    Input { name: Some(path.to_owned()), bytes: content.to_vec() }
}

fn dedup_options(level: Option<&str>) -> PyResult<DedupOptions> {
    let level = level.map(|name| value_of("dedup", &DEDUP_LEVELS, name));
    Ok(DedupOptions { level: level.transpose()?, ..DedupOptions::default() })
}

/// Returns the treatment of secrets with this name.
pub(crate) fn secret_policy(name: &str) -> PyResult<SecretPolicy> {
    let names = SecretPolicy::ALL.map(SecretPolicy::name);
    SecretPolicy::from_name(name).ok_or_else(|| invalid_argument("secrets", name, &names))
}

fn rule(glob: &str, priority: &str) -> PyResult<Rule> {
    let names: Vec<_> = Priority::ALL.iter().map(|it| it.name()).collect();
    let priority = Priority::from_name(priority)
        .ok_or_else(|| invalid_argument("priorities", priority, &names))?;
    let attributes = BlockAttributes { priority: Some(priority), ..BlockAttributes::default() };
    Ok(Rule { pattern: pattern("priorities", glob)?, attributes })
}

fn patterns(name: &str, globs: &[String]) -> PyResult<Vec<Pattern>> {
    globs.iter().map(|glob| pattern(name, glob)).collect()
}

fn pattern(name: &str, glob: &str) -> PyResult<Pattern> {
    Pattern::parse(glob).map_err(|error| usage_error(format!("{name}: {error}")))
}
