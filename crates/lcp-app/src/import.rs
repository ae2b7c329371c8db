//! Import of transcripts as blocks (RFC 0010 §5.1).

use std::path::Path;

use lcp_ingest::{FileType, SecretPolicy};
use lcp_packfile::Properties;
use lcp_transcripts::{Format, ImportReport, ImportResult};
use lcp_types::wire::{MAGIC_BCP, MAGIC_LCP};
use lcp_types::{Annotation, Block, BlockContent, Lang, Tag};
use serde_json::{Value, json};

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::pack_output::{PackEncoder, PackOutputOptions};
use crate::reporter::Reporter;
use crate::secrets;
use crate::summaries::{SummaryOptions, run_in_pool};
use crate::tokenizer::TokenizerOptions;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format. By default, it is detected.
    pub format: Option<Format>,
    /// The title of Markdown that is not a chat.
    pub title: Option<String>,
    /// `true` if side conversations of Claude Code are imported.
    pub sidechains: bool,
    /// Summaries of code, documents and tool results. By default, they are off.
    pub summaries: SummaryOptions,
    /// Properties to set on all blocks.
    pub properties: Properties,
    /// The treatment of secrets. The default is to warn, because a model has seen the messages.
    /// `Exclude` is treated like `Warn`.
    pub secrets: Option<SecretPolicy>,
}

/// An imported transcript.
#[derive(Debug)]
pub struct ImportedTranscript {
    /// Its format.
    pub format: Format,
    /// The blocks in the order of the transcript, each followed by its annotations. At the end are
    /// the annotations that set [`ImportOptions::properties`].
    pub blocks: Vec<Block<'static>>,
    /// Counts and warnings.
    pub report: ImportReport,
}

impl ImportOptions {
    /// Imports a transcript that was read from `path`, and reports warnings.
    ///
    /// # Errors
    ///
    /// Returns an error if the transcript is malformed, too deep, or of an unknown format.
    pub fn import(
        &self,
        path: &Path,
        bytes: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<ImportedTranscript> {
        let summarizer = self.summaries.summarizer(false)?;
        let Some(format) = self.format.or_else(|| lcp_transcripts::detect(bytes)) else {
            return Err(unknown_format(path, bytes));
        };
        let mut options = lcp_transcripts::Options::default();
        options.name.clone_from(&self.title);
        options.sidechains = self.sidechains;
        options.search_tools.clone_from(&config.import.search_tools);
        let ImportResult { mut blocks, report, .. } =
            lcp_transcripts::import(format, bytes, &options)
                .map_err(|error| self.malformed(path, bytes, &error))?;
        let tags = detect_languages(&mut blocks);
        blocks.extend(tags);
        let policy = self.secrets.unwrap_or(SecretPolicy::Warn);
        if let Some(warning) = secrets::apply_to_blocks(&mut blocks, policy, config)? {
            reporter.warn(&warning);
        }
        if let Some((summarizer, _stop_on_interrupt)) = &summarizer {
            let bar = reporter.begin("summarizing", blocks.len());
            run_in_pool(self.summaries.jobs, || {
                summarizer.summarize_blocks(&mut blocks, &|| bar.step());
            })?;
            drop(bar);
            summarizer.warning().into_iter().for_each(|warning| reporter.warn(&warning));
        }
        self.properties.set_all(&mut blocks);
        for warning in &report.warnings {
            reporter.warn(warning);
        }
        if report.more_warnings > 0 {
            reporter.warn(&format!(
                "omitted {}",
                lcp_driver::plural(report.more_warnings, "more warning")
            ));
        }
        Ok(ImportedTranscript { format, blocks, report })
    }

    /// Imports a transcript as a pack, encoded with the default options. `name` is its name in
    /// errors.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ImportOptions::import`], and an error if a limit is exceeded.
    pub fn pack(
        &self,
        name: &str,
        transcript: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Vec<u8>> {
        let imported = self.import(Path::new(name), transcript, config, reporter)?;
        let (output, tokenizer) = (PackOutputOptions::default(), TokenizerOptions::default());
        let encoder = PackEncoder::new(&output, &tokenizer, config)?;
        encoder.encode(&imported.blocks, name, reporter)
    }

    /// Converts the error of a transcript that was read from `path`. If the user named the format,
    /// the hint depends on the format that the bytes have.
    fn malformed(&self, path: &Path, bytes: &[u8], error: &lcp_transcripts::Error) -> Error {
        let failure = malformed(path, error);
        let is_other = matches!(error.kind, lcp_transcripts::ErrorKind::NotATranscript { .. });
        match lcp_transcripts::detect(bytes) {
            _ if !is_other => failure,
            Some(found) if Some(found) != self.format => failure
                .with_hint(format!("it looks like {found}; omit --from, or pass --from {found}")),
            Some(_) => failure,
            None => Error { hint: unknown_format(path, bytes).hint, ..failure },
        }
    }
}

impl ImportedTranscript {
    /// Returns the report as JSON (`lcp.import.v1`).
    pub fn to_json(&self) -> Value {
        let report = &self.report;
        let warnings = report.warnings.iter();
        let warnings = warnings.map(|of| json!({ "line": of.line, "message": of.message }));
        json!({
            "schema": "lcp.import.v1",
            "format": self.format.name(),
            "blocks": self.blocks.len(),
            "messages": report.messages,
            "calls": report.calls,
            "results": report.results,
            "pictures": report.images,
            "unanswered": report.unanswered,
            "orphans": report.orphans,
            "unknown": report.unknown,
            "records": report.records,
            "skipped": report.skipped,
            "warnings": warnings.collect::<Vec<_>>(),
            "more_warnings": report.more_warnings,
        })
    }
}

/// Sets the languages of files in tool results, in the same way as `pack`. Returns the tags of
/// languages without a code in the wire format.
fn detect_languages(blocks: &mut [Block<'_>]) -> Vec<Block<'static>> {
    let mut tags = Vec::new();
    for (target, block) in (0..).zip(blocks) {
        if let BlockContent::Code(code) = &mut block.content
            && code.lang == Lang::Unknown
        {
            // Only the first line of a file can name its interpreter.
            let is_beginning = code.line_start.is_none_or(|line| line == 1);
            let beginning = if is_beginning { code.content.as_slice() } else { &[] };
            let file_type = FileType::detect(&code.path, beginning);
            code.lang = file_type.lang();
            let tag = file_type.tagged_lang(&code.path).map(|lang| Tag::new(Tag::LANG, lang));
            tags.extend(tag.map(|tag| Block::new(Annotation::tag(target, &tag))));
        }
    }
    tags
}

/// Returns the error for bytes whose format is not detected.
fn unknown_format(path: &Path, bytes: &[u8]) -> Error {
    let is_pack = bytes.starts_with(&MAGIC_LCP) || bytes.starts_with(&MAGIC_BCP);
    if is_pack {
        let message = format!("expected a transcript, got a pack ({})", files::display_name(path));
        return Error::new(ErrorKind::Malformed, message).with_hint("print it with `lcp render`");
    }
    let json: Option<Value> = serde_json::from_slice(bytes).ok();
    if json.is_some_and(|json| json.get("blocks").is_some_and(Value::is_array)) {
        let message =
            format!("expected a transcript, got a manifest ({})", files::display_name(path));
        return Error::new(ErrorKind::Malformed, message)
            .with_hint("convert it with `lcp encode MANIFEST -o PACK`");
    }
    // If the bytes begin like JSON, the parser gives the line and column of the error.
    let as_chat =
        lcp_transcripts::import(Format::OpenAiChat, bytes, &lcp_transcripts::Options::default());
    match as_chat {
        Err(error) if !matches!(error.kind, lcp_transcripts::ErrorKind::NotATranscript { .. }) => {
            malformed(path, &error)
        }
        _ => {
            let message = format!("unknown transcript format ({})", files::display_name(path));
            Error::new(ErrorKind::Malformed, message)
                .with_hint("pass --from FORMAT; `lcp import --help` lists the formats")
        }
    }
}

/// Converts the error of a transcript that was read from `path`.
fn malformed(path: &Path, error: &lcp_transcripts::Error) -> Error {
    let kind = match error.kind {
        lcp_transcripts::ErrorKind::TooDeep { .. } => ErrorKind::Limit,
        _ => ErrorKind::Malformed,
    };
    let position = error.to_string();
    let position = position.strip_prefix(&error.kind.to_string()).unwrap_or_default();
    let message = files::located(&format!("{} [{}]{position}", error.kind, error.code()), path);
    let failure = Error::new(kind, message).with_code(error.code());
    match error.kind {
        lcp_transcripts::ErrorKind::NotJson(_) => failure.with_hint(
            "the file may be truncated; pass --from claude-code or --from codex for a session with \
             one message per line, or --from markdown for text that is not JSON",
        ),
        _ => failure,
    }
}
