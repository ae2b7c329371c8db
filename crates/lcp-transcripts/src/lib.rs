//! Imports chat transcripts and tool results as blocks, and exports blocks as messages
//! (RFC 0010 §5).
//!
//! [`import`] reads a transcript, returns its blocks and reports the parts that it did not
//! recognize. [`export`] turns blocks into messages that the provider accepts as a valid history.
//! This crate neither applies a token budget nor reads files.
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
//!     exported.json(),
//!     r#"{"messages":[{"role":"user","content":"Why does it fail?"}]}"#
//! );
//! # Ok::<(), lcp_transcripts::Error>(())
//! ```
//!
//! | look for | in |
//! |---|---|
//! | formats and their names | [`Format`], [`Provider`] |
//! | detection of the format of an input | [`detect()`] |
//! | unified diffs and numbered lines, byte for byte | [`diff`], [`line_numbers`] |
//! | the result of an import, and its unrecognized parts | [`ImportResult`], [`ImportReport`] |
//! | the result of an export, and its omissions | [`ExportResult`], [`ExportReport`] |
//! | the annotations that an import adds to blocks | [`annotation_keys`] |
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | formats and providers; detection | `format.rs`; `detect.rs` |
//! | parts of messages as blocks | `builder/mod.rs`; tool calls: `builder/calls.rs`; keys of annotations: `annotation_keys.rs` |
//! | lists, requests and JSON lines of all formats | `reader.rs` |
//! | messages of a provider | `openai/` (`chat.rs`, `responses.rs`), `anthropic/`, `gemini/` |
//! | sessions of agents | `claude_code/` (abandoned branches: `rewound_turns.rs`), `codex/` (repeated items: `events.rs`), `gemini_cli/`, `opencode.rs` |
//! | printed output of agents | `codex/stream.rs`, `gemini_cli/stream.rs`; others are read like their sessions |
//! | results over MCP; chats in Markdown | `mcp.rs`; `markdown/` |
//! | results that become CODE or DIFF | `typed_results.rs` |
//! | results of searches | `search_tools.rs` |
//! | unified diffs; line numbers | `diff/`; `line_numbers.rs` |
//! | JSON that is copied unchanged | `raw_json/` |
//! | from blocks to turns | `export/turns_from_blocks.rs`, `export/parts.rs`; results without an id: `export/infer_ids.rs` |
//! | a valid history | `export/tool_pairs.rs`, `export/tool_names.rs` |
//! | the messages of a provider | `export/openai.rs`, `export/responses.rs`, `export/anthropic.rs`, `export/gemini.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

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
mod gemini;
mod gemini_cli;
mod images;
mod import;
pub mod line_numbers;
mod markdown;
mod mcp;
mod openai;
mod opencode;
mod raw_json;
mod reader;
mod search_tools;
#[cfg(test)]
mod tests;
mod typed_results;

pub use detect::{detect, detect_messages};
pub use error::{Error, ErrorKind, Result};
pub use export::{ExportBlock, ExportDetail, ExportReport, ExportResult, ExportedMessage, export};
pub use format::{Format, Provider};
pub use import::{ImportReport, ImportResult, WARNINGS_MAX, Warning};
pub use markdown::AIDER_TOOL_NAME;

/// The options of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The name of the transcript. It is the title if the transcript becomes a DOCUMENT.
    pub name: Option<String>,
    /// `true` to import the side conversations of Claude Code, with low priority and the tag
    /// [`annotation_keys::SIDECHAIN`]. A session that consists only of side conversations is always
    /// imported.
    pub sidechains: bool,
    /// The names of further search tools. Their results get the category `search_results`, like
    /// those of the tools that are known (RFC 0012 §9). Names are compared as
    /// [`normalize_tool_name`](lcp_types::normalize_tool_name) returns them.
    pub search_tools: Vec<String>,
}

/// Imports a transcript as blocks (RFC 0010 §5.1).
///
/// `bytes` is UTF-8, with or without a byte order mark. An unrecognized part never causes an error:
/// it becomes an EXTENSION and is counted in the report. Among JSON lines, an invalid line causes
/// only a warning.
///
/// # Errors
///
/// Returns an [`Error`] if the input
///
/// - is not UTF-8,
/// - is not JSON, in a format other than Markdown,
/// - is nested deeper than 120 levels, or
/// - contains nothing of the given format.
///
/// The error has the line and column, counted from 1.
pub fn import(format: Format, bytes: &[u8], options: &Options) -> Result<ImportResult> {
    let imported = match format {
        Format::OpenAiChat => openai::chat::READER.import(bytes),
        Format::OpenAiResponses => openai::responses::READER.import(bytes),
        Format::Anthropic => anthropic::READER.import(bytes),
        Format::Gemini => gemini::READER.import(bytes),
        Format::ClaudeCode => claude_code::import(bytes, options),
        Format::Codex => codex::import(bytes),
        Format::GeminiCli => gemini_cli::import(bytes),
        Format::Opencode => opencode::import(bytes),
        Format::Mcp => mcp::import(bytes),
        Format::Markdown => markdown::import(bytes, options),
    }?;
    let blocks = search_tools::tag_results(imported.blocks, &options.search_tools);
    Ok(ImportResult { blocks, ..imported })
}
