//! Chat transcripts and tool results to blocks, and back (RFC 0010 §5).
//!
//! [`import`] makes the blocks of a pack of a transcript, and says what it did not
//! know; [`export`] makes messages of blocks, always a history that a provider takes.
//! No budget is known here, and no file is read.
//!
//! ```
//! use lcp_transcripts::{ExportBlock, Format, Options, Provider, export, import};
//!
//! let transcript = br#"[{"role": "user", "content": "Why does it fail?"}]"#;
//! let imported = import(Format::OpenAiChat, transcript, &Options::default())?;
//! assert_eq!(imported.report.messages, 1);
//!
//! let blocks: Vec<_> = imported.blocks.iter().map(ExportBlock::new).collect();
//! let exported = export(Provider::Anthropic, &blocks, None);
//! assert_eq!(
//!     exported.json,
//!     r#"{"messages":[{"role":"user","content":"Why does it fail?"}]}"#
//! );
//! # Ok::<(), lcp_transcripts::Error>(())
//! ```
//!
//! | look for | in |
//! |---|---|
//! | formats and their names | [`Format`], [`Provider`]; which one an input is in, [`detect()`] |
//! | diffs, and lines with numbers, byte for byte | [`diff`], [`line_numbers`] |
//! | what an import made, and did not know | [`ImportResult`], [`ImportReport`] |
//! | what an export made, and left out | [`ExportResult`], [`ExportReport`] |
//! | the annotations that blocks get | [`annotation_keys`] |

pub mod annotation_keys;
mod anthropic;
mod builder;
mod claude_code;
mod codex;
mod detect;
pub mod diff;
mod error;
mod export;
mod format;
mod images;
mod import;
pub mod line_numbers;
mod markdown;
mod mcp;
mod openai;
mod raw_json;
mod reader;
#[cfg(test)]
mod tests;
mod typed_results;

pub use detect::detect;
pub use error::{Error, ErrorKind, Result};
pub use export::{ExportBlock, ExportDetail, ExportReport, ExportResult, ExportedMessage, export};
pub use format::{Format, Provider};
pub use import::{ImportReport, ImportResult, WARNINGS_MAX, Warning};
pub use markdown::AIDER_TOOL_NAME;

/// How a transcript is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the transcript is called: the title where it becomes a DOCUMENT.
    pub name: Option<String>,
    /// Whether side conversations of Claude Code are blocks, Low and with the tag
    /// [`annotation_keys::SIDECHAIN`]. A session that is nothing else is always imported.
    pub sidechains: bool,
}

/// Makes blocks of a transcript (RFC 0010 §5.1).
///
/// `bytes` is UTF-8, with or without a byte order mark. What is not known becomes an
/// EXTENSION and is counted in the report, never an error.
///
/// # Errors
///
/// If the bytes are no UTF-8, no JSON, nested deeper than 120 levels, or not at all
/// what the format says; with line and column, counted from 1.
pub fn import(format: Format, bytes: &[u8], options: &Options) -> Result<ImportResult> {
    match format {
        Format::OpenAiChat => openai::chat::READER.import(bytes),
        Format::OpenAiResponses => openai::responses::READER.import(bytes),
        Format::Anthropic => anthropic::READER.import(bytes),
        Format::ClaudeCode => claude_code::import(bytes, options),
        Format::Codex => codex::import(bytes),
        Format::Mcp => mcp::import(bytes),
        Format::Markdown => markdown::import(bytes, options),
    }
}
