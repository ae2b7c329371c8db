//! Messages of a chat API within a budget, in the shape of the input.

mod originals;
mod report;

use std::path::Path;

use lcp_driver::Overflow;
use lcp_ingest::SecretPolicy;
use lcp_transcripts::{Format, Provider};
use lcp_types::{Block, BlockContent, Role};
use serde_json::value::RawValue;

use crate::budget::BudgetOptions;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::export::{ExportOptions, ExportedPack, FitRules, ResultOrder, is_thought};
use crate::import::{ImportOptions, ImportedTranscript};
use crate::names::API_FORMATS;
use crate::reporter::{Reporter, Silent};
use crate::tokenizer::TokenizerOptions;
use originals::MessageIndices;

pub use originals::FittedMessage;
pub use report::FitReport;

/// The name of the messages in errors.
const MESSAGES: &str = "messages";

/// The tokens of an image by default: about the most that Claude and GPT-4o charge for one.
pub const IMAGE_TOKENS: u32 = 1_600;

/// The options of a fit.
///
/// ```
/// use lcp_app::Warnings;
/// use lcp_app::budget::BudgetOptions;
/// use lcp_app::config::Config;
/// use lcp_app::fit_messages::FitOptions;
///
/// let messages = br#"[
///     {"role": "system", "content": "Answer briefly."},
///     {"role": "user", "content": "What is a budget?"},
///     {"role": "assistant", "content": "A limit, here of tokens. The text never exceeds it."},
///     {"role": "user", "content": "And a pack?"}
/// ]"#;
/// let budget = BudgetOptions { budget: Some(40), ..BudgetOptions::default() };
/// let options = FitOptions { budget, ..FitOptions::default() };
/// let fitted = options.fit(messages, &Config::default(), &Warnings::default())?;
/// assert!(fitted.report.used_tokens() <= 40);
/// assert!(fitted.json.contains("And a pack?"));
/// # Ok::<(), lcp_app::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The format of the messages, one of a chat API. By default, it is detected. Messages that only
    /// have roles and texts are Anthropic's if the name of the model begins with `claude`, and else
    /// `OpenAI`'s.
    pub format: Option<Format>,
    /// The limits. By default, messages that must exceed the budget are an error.
    pub budget: BudgetOptions,
    /// The tokenizer.
    pub tokenizer: TokenizerOptions,
    /// The order in which older tool results and files are shown.
    pub order: ResultOrder,
    /// The part of the budget that stays free for the next turns if messages must be cut, between 0
    /// and 1. Without it, each turn would cut again, and the provider could not reuse its cache.
    /// By default, it is 0.1.
    pub headroom: f64,
    /// The tokens of an image. By default, they are [`IMAGE_TOKENS`].
    pub image_tokens: u32,
    /// The indices of messages that stay complete, as system messages do. They need a list of messages,
    /// not a request.
    pub pinned: Vec<usize>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            format: None,
            budget: BudgetOptions::default(),
            tokenizer: TokenizerOptions::default(),
            order: ResultOrder::default(),
            headroom: 0.1,
            image_tokens: IMAGE_TOKENS,
            pinned: Vec::new(),
        }
    }
}

/// Messages within a budget.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The messages as JSON: a list if the input was one, or else a request. If nothing was changed,
    /// it is the input.
    pub json: String,
    /// The messages of a list. A request has none here.
    pub messages: Vec<FittedMessage>,
    /// The note about omitted messages, if the messages cannot contain it: a list of Anthropic or
    /// Gemini has no system messages. It is counted; append it to the system prompt.
    pub note: Option<String>,
    /// `true` if the messages are those of the input.
    pub is_unchanged: bool,
    /// The counts and decisions.
    pub report: FitReport,
    format: Format,
    /// The number of messages in the input.
    input_messages: usize,
    /// The pinned messages, which are complete.
    pinned: Vec<usize>,
    /// `true` if the input ends with thinking. Messages cannot, so it was left out.
    ends_with_thinking: bool,
}

/// Exported messages, and the input that they came from.
struct Exported {
    format: Format,
    indices: MessageIndices,
    input_messages: usize,
    ends_with_thinking: bool,
    export: ExportedPack,
}

impl FitOptions {
    /// Fits messages into the budget. They are a list, or a request with other fields, whose tools
    /// count, too.
    ///
    /// - The messages never exceed the budget.
    /// - Calls of tools and their results stay together, in their order.
    /// - System messages, pinned messages and the newest turn of the user are kept.
    /// - Messages that fit are returned unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the messages are malformed or of no chat API, if a list for a provider has
    /// system messages that it cannot contain, if a pinned index is out of range, or if the messages
    /// that must be kept exceed the budget.
    pub fn fit(&self, messages: &[u8], config: &Config, reporter: &dyn Reporter) -> Result<Fitted> {
        let format = self.format.or_else(|| self.detect(messages));
        let Exported { format, indices, mut input_messages, ends_with_thinking, export } =
            self.export(format, messages, config, reporter)?;
        let is_unchanged = is_complete(&export) && export.all.report.inserted == 0;
        let (json, messages, note) = if is_unchanged {
            let count = if is_list(messages) { input_messages } else { 0 };
            let input = String::from_utf8_lossy(messages).into_owned();
            (input, (0..count).map(FittedMessage::Original).collect(), None)
        } else if is_list(messages) {
            let originals: Vec<&RawValue> =
                serde_json::from_slice(messages).map_err(|error| malformed(&error))?;
            input_messages = originals.len();
            let exported = &export.messages.exported;
            let fitted = indices.find(exported, &originals);
            let json = format!("[{}]", exported.items.join(","));
            (json, fitted, exported.system.as_deref().and_then(system_text))
        } else {
            (export.json(), Vec::new(), None)
        };
        Ok(Fitted {
            json,
            messages,
            note,
            is_unchanged,
            report: FitReport::new(export),
            format,
            input_messages,
            pinned: self.pinned.clone(),
            ends_with_thinking,
        })
    }

    /// Appends a list of messages to a fitted list, which stays as it is, so that the provider can
    /// reuse its cache.
    ///
    /// Returns `None` if all messages must be fitted again, because
    ///
    /// - together they exceed the budget,
    /// - a pinned message was cut,
    /// - the new list is not valid alone, such as one with the result of a call in the fitted list, or
    /// - thinking at the end of the fitted list was left out.
    pub fn append(&self, fitted: &Fitted, messages: &[u8], config: &Config) -> Option<Fitted> {
        let budget = self.budget.budget?;
        let is_uncut = |index: &usize| {
            *index >= fitted.input_messages
                || fitted.pinned.contains(index)
                || fitted.messages.contains(&FittedMessage::Original(*index))
        };
        if !self.pinned.iter().all(is_uncut) {
            return None;
        }
        if is_empty_list(messages) {
            let report = fitted.report.with_budget(budget);
            let fits = report.used_tokens() <= u64::from(budget);
            return fits.then(|| Fitted { report, ..fitted.clone() });
        }
        if fitted.ends_with_thinking {
            return None;
        }
        let start = fitted.json.trim_ascii_end().strip_suffix(']')?;
        let end = std::str::from_utf8(messages).ok()?.trim_ascii_start().strip_prefix('[')?;
        let format = lcp_transcripts::detect_messages(messages, fitted.format)?;
        if format != fitted.format {
            return None;
        }
        let complete = BudgetOptions { budget: Some(u32::MAX), ..self.budget.clone() };
        let options = Self { budget: complete, pinned: Vec::new(), ..self.clone() };
        let Exported { export, input_messages: count, ends_with_thinking, .. } =
            options.export(Some(format), messages, config, &Silent).ok()?;
        let report =
            is_complete(&export).then(|| fitted.report.with_budget(budget).append(export))?;
        if report.used_tokens() > u64::from(budget) {
            return None;
        }
        let input_messages = fitted.input_messages + count;
        let appended = (fitted.input_messages..input_messages).map(FittedMessage::Original);
        let messages = fitted.messages.iter().cloned().chain(appended).collect();
        let json = format!("{start},{end}");
        Some(Fitted {
            json,
            messages,
            report,
            input_messages,
            ends_with_thinking,
            ..fitted.clone()
        })
    }

    /// Detects the format of messages.
    fn detect(&self, messages: &[u8]) -> Option<Format> {
        let is_claude = self.tokenizer.model.as_ref().is_some_and(|it| it.starts_with("claude"));
        let default = if is_claude { Format::Anthropic } else { Format::OpenAiChat };
        lcp_transcripts::detect_messages(messages, default)
    }

    /// Exports messages for their own provider.
    fn export(
        &self,
        format: Option<Format>,
        messages: &[u8],
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<Exported> {
        let path = Path::new(MESSAGES);
        let secrets = Some(SecretPolicy::Off);
        let import = ImportOptions { format, secrets, ..ImportOptions::default() };
        let ImportedTranscript { format, mut blocks, report } =
            import.import(path, messages, config, reporter)?;
        let provider = format.provider().filter(|_| is_of_api(format)).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("{format} is not the format of a chat API"))
                .with_hint("pass messages of OpenAI, Anthropic or Gemini")
        })?;
        let is_list = is_list(messages);
        if is_list && has_no_system_messages(provider) && blocks.iter().any(is_system) {
            let message = format!("a list of messages for {provider} has no system messages");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("leave them out, and send them as the system prompt"));
        }
        let overflow = self.budget.overflow.or(Some(Overflow::Deny));
        let options = ExportOptions {
            provider,
            budget: BudgetOptions { overflow, ..self.budget.clone() },
            tokenizer: self.tokenizer.clone(),
            order: self.order,
            image_tokens: self.image_tokens,
            ..ExportOptions::default()
        };
        let rules = FitRules { headroom: self.headroom, keeps_question: true };
        let indices = MessageIndices::new(&blocks);
        let input_messages = usize::try_from(report.messages).unwrap_or(usize::MAX);
        if !self.pinned.is_empty() {
            self.check_pinned(is_list.then_some(input_messages))?;
            blocks.extend(indices.pins(&self.pinned));
        }
        let ends_with_thinking = ends_with_thinking(&blocks);
        let export = options.export_blocks(path, &blocks, config, reporter, rules)?;
        Ok(Exported { format, indices, input_messages, ends_with_thinking, export })
    }

    /// Checks that the pinned indices are in range. A request has no number of `messages`.
    fn check_pinned(&self, messages: Option<usize>) -> Result<()> {
        let message = match messages {
            None => "pinned: expected a list of messages, got a request".to_owned(),
            Some(messages) => match self.pinned.iter().find(|index| **index >= messages) {
                Some(index) => format!("pinned: expected an index below {messages}, got {index}"),
                None => return Ok(()),
            },
        };
        Err(Error::new(ErrorKind::Usage, message))
    }
}

fn is_empty_list(messages: &[u8]) -> bool {
    let inner = messages.trim_ascii().strip_prefix(b"[");
    inner.is_some_and(|inner| inner.trim_ascii() == b"]")
}

fn is_list(messages: &[u8]) -> bool {
    messages.trim_ascii_start().starts_with(b"[")
}

/// Returns whether messages are sent in this format. Files of agents are other formats.
fn is_of_api(format: Format) -> bool {
    API_FORMATS.iter().any(|(_, known)| *known == format)
}

/// Returns whether the system prompt of a request is not in its list of messages.
const fn has_no_system_messages(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Gemini)
}

fn is_system(block: &Block<'_>) -> bool {
    matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::System)
}

/// Returns whether the last block of messages is thinking. Other extensions are no parts of messages.
fn ends_with_thinking(blocks: &[Block<'_>]) -> bool {
    let is_part = |block: &&Block<'_>| {
        !block.content.is_metadata() && (block.as_extension().is_none() || is_thought(block))
    };
    blocks.iter().rev().find(is_part).is_some_and(is_thought)
}

/// Returns whether an export omits and changes nothing.
fn is_complete(export: &ExportedPack) -> bool {
    let report = &export.all.report;
    let changes = [
        export.messages.dropped as u64,
        report.unanswered,
        report.orphans,
        report.empty,
        report.renamed,
        report.left_out.values().sum(),
    ];
    !export.messages.plan.is_cut()
        && changes.iter().all(|count| *count == 0)
        && export.all.renamed_tools.is_empty()
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Malformed, format!("messages: {error}"))
}

/// Returns the text of a system prompt: a string, or the text of its last part. If the input is a list of
/// messages, this text is the note about omissions.
fn system_text(system: &str) -> Option<String> {
    let system: serde_json::Value = serde_json::from_str(system).ok()?;
    let parts = system.get("parts").unwrap_or(&system);
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    text(parts).or_else(|| text(parts.as_array()?.last()?.get("text")?))
}

#[cfg(test)]
mod tests;
