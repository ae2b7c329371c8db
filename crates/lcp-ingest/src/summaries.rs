//! Summaries of texts, which are outlines or the answers of a program (RFC 0010 §4).

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use lcp_continuity::command::{CommandError, CommandFilter, CommandOptions};
use lcp_secrets::{Redactor, find_in_block, redact_block};
use lcp_types::limits::SUMMARY_BYTES_MAX;
use lcp_types::{Block, BlockContent, FormatHint};
use rayon::prelude::*;

use crate::file_type::FileType;
use crate::outline::{InputKind, OutlineOptions, outline};
use crate::programs::Answers;

/// A summarizer of files. Several threads can share it. By default it makes outlines.
#[derive(Debug, Default)]
pub struct FileSummarizer {
    command: Option<SummaryCommand>,
    failures: Mutex<Failures>,
}

/// The calls of the program that failed.
#[derive(Clone, Debug, Default)]
struct Failures {
    count: usize,
    /// The path and the reason of the failure with the smallest path, which is the same in each
    /// run.
    first: Option<(String, String)>,
}

impl FileSummarizer {
    /// Returns a summarizer that runs a shell command line for each text.
    ///
    /// The program reads the text from standard input and writes the summary to standard output.
    /// The environment variables `LCP_PATH` and `LCP_LANG` give the path and the language. At most
    /// `jobs` programs run at once. Answers are stored in the folder `cache`. If the program fails,
    /// the summary is the outline.
    #[must_use]
    pub fn with_command(
        line: &str,
        options: CommandOptions,
        jobs: NonZeroUsize,
        cache: Option<PathBuf>,
    ) -> Self {
        let command = SummaryCommand {
            line: line.to_owned(),
            filter: CommandFilter::shell(line).with_options(options),
            answers: Answers::new(jobs, cache, SUMMARY_BYTES_MAX),
        };
        Self { command: Some(command), failures: Mutex::default() }
    }

    /// Returns a function that stops the running programs and prevents new ones from starting.
    pub fn stop_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let filter = self.command.as_ref().map(|command| command.filter.clone());
        move || filter.iter().for_each(CommandFilter::stop)
    }

    /// Summarizes the text of a file. Returns `None` if the summary would not be smaller than the
    /// text, or would be too large for a block.
    #[must_use]
    pub fn summarize(&self, path: &str, kind: InputKind, text: &str) -> Option<String> {
        let outline = || outline(kind, text, &OutlineOptions::default());
        let Some(command) = &self.command else { return outline() };
        match command.answer(path, kind.language().unwrap_or_default(), text) {
            Ok(answer) => {
                let fits = answer.len() as u64 <= SUMMARY_BYTES_MAX;
                (fits && answer.len() < text.len()).then_some(answer)
            }
            Err(error) => {
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                failures.count += 1;
                if failures.first.as_ref().is_none_or(|(first, _)| path < first.as_str()) {
                    failures.first = Some((path.to_owned(), error.to_string()));
                }
                drop(failures);
                outline()
            }
        }
    }

    /// Summarizes the code, documents and tool results that have no summary yet, in the current
    /// rayon pool. Calls `progress` after each block.
    pub fn summarize_blocks(&self, blocks: &mut [Block<'_>], progress: &(dyn Fn() + Sync)) {
        // Neither a summary nor a program gets a secret. Markers are numbered in order.
        let mut redactor = Redactor::default();
        let redacted = blocks.iter().map(|block| {
            let is_summarized = block.summary.is_none() && !find_in_block(block).is_empty();
            is_summarized.then(|| {
                let mut block = block.clone();
                redact_block(&mut block, &mut redactor, &|_| true);
                block
            })
        });
        let redacted: Vec<_> = redacted.collect();
        blocks.par_iter_mut().zip(&redacted).for_each(|(block, redacted)| {
            if block.summary.is_none() {
                let summary = self.summarize_block(redacted.as_ref().unwrap_or(block));
                block.summary = summary.map(Into::into);
            }
            progress();
        });
    }

    fn summarize_block(&self, block: &Block<'_>) -> Option<String> {
        let (kind, content) = match &block.content {
            BlockContent::Code(code) => {
                (FileType::Code(code.lang).input_kind(&code.path), &code.content)
            }
            BlockContent::Document(document) => {
                let is_markdown = document.format_hint == FormatHint::Markdown;
                let kind = if is_markdown { InputKind::Document } else { InputKind::Text };
                (kind, &document.content)
            }
            BlockContent::ToolResult(result) => (InputKind::Text, &result.content),
            _ => return None,
        };
        self.summarize(&block.label(), kind, content.as_str()?)
    }

    /// Returns a warning that counts the failed calls of the program, or `None` if no call failed.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (path, reason) = failures.first?;
        let (count, path) = (failures.count, path.escape_debug());
        let plural = if count == 1 { "" } else { "s" };
        Some(format!(
            "used outlines for {count} text{plural} because the program failed; {path}: {reason}"
        ))
    }
}

/// A program that summarizes texts.
#[derive(Debug)]
struct SummaryCommand {
    line: String,
    filter: CommandFilter,
    answers: Answers,
}

impl SummaryCommand {
    /// Returns the cached answer for this text, or asks the program.
    fn answer(&self, path: &str, lang: &str, text: &str) -> Result<String, CommandError> {
        let question = [&self.line, path, lang, text].map(str::as_bytes);
        let answer = self.answers.get_or_ask(&question, || {
            let variables = [("LCP_PATH", path), ("LCP_LANG", lang)];
            let answer = self.filter.run(text.to_owned(), &variables)?;
            let answer = answer.trim();
            if answer.is_empty() {
                return Err(CommandError::Empty(self.filter.name().to_owned()));
            }
            Ok(answer.as_bytes().to_vec())
        })?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}
