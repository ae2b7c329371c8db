//! Exports blocks as messages that the provider accepts as a valid history (RFC 0010 §5.3).

mod annotations;
mod anthropic;
mod gemini;
mod infer_ids;
mod openai;
mod openai_content;
mod parts;
mod responses;
mod tool_names;
mod tool_pairs;
mod turn;
mod turns_from_blocks;

use std::borrow::Cow;
use std::collections::BTreeMap;

use lcp_types::{Annotation, Block};

use crate::{Format, Provider, annotation_keys, raw_json};

/// A block to export, with its detail level.
#[derive(Clone, Debug)]
pub struct ExportBlock<'b> {
    /// The block.
    pub block: &'b Block<'b>,
    /// The detail level of the block in the messages.
    pub detail: ExportDetail<'b>,
}

/// The detail level of a block in the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportDetail<'b> {
    /// The complete block.
    Full,
    /// This text instead of the block: a summary or an excerpt.
    Replaced(Cow<'b, str>),
    /// Nothing. The annotations of the block still apply.
    Omitted,
}

impl<'b> ExportBlock<'b> {
    /// Creates an export of the complete block.
    #[must_use]
    pub const fn new(block: &'b Block<'b>) -> Self {
        Self { block, detail: ExportDetail::Full }
    }
}

/// The messages of an export, with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportResult {
    /// The provider that takes the messages.
    pub provider: Provider,
    /// The system prompt as JSON, if the provider takes it apart from the messages.
    pub system: Option<String>,
    /// Each message or item as JSON, without `system`.
    pub items: Vec<String>,
    /// The text to count of each message or item. That of `system`, if there is one, comes first.
    pub messages: Vec<ExportedMessage>,
    /// The other fields of the original request, such as its tools and model, as a JSON object.
    pub request: Option<String>,
    /// The omissions and changes.
    pub report: ExportReport,
    /// The renamed tools: invalid names, with the names that replace them in calls, results and
    /// `tools`. They do not depend on the budget.
    pub renamed_tools: BTreeMap<String, String>,
}

/// One message of an export, for token counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedMessage {
    /// The role, in the terms of the provider.
    pub role: &'static str,
    /// The text to count: the texts of the parts, the names and arguments of calls, and the JSON of
    /// other parts and fields. Roles, types, ids and images are not included.
    pub text: String,
    /// The indices of the blocks in the message, in order.
    pub blocks: Vec<usize>,
}

/// The omissions and changes that make the history valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// The number of messages.
    pub messages: u64,
    /// The number of calls, each with its result.
    pub calls: u64,
    /// The number of calls that were omitted because they have no result.
    pub unanswered: u64,
    /// The number of results that were omitted because they match no call, or a call that already
    /// has a result. A result without an id answers the only open call before it.
    pub orphans: u64,
    /// The number of blank texts that were omitted.
    pub empty: u64,
    /// The number of call ids that were changed because the provider would reject them.
    pub renamed: u64,
    /// The number of inserted messages: a first message of the user, or the only message.
    pub inserted: u64,
    /// The number of omitted blocks and fields that the messages of the provider cannot hold, by
    /// type.
    pub left_out: BTreeMap<String, u64>,
}

impl ExportReport {
    fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_default() += 1;
    }

    /// Counts the fields of a message that is omitted.
    fn leave_out_fields(&mut self, turn: &turn::Turn<'_>) {
        for _ in &turn.fields {
            self.leave_out("message");
        }
    }
}

/// Exports all blocks of a pack as messages, in order (RFC 0010 §5.3).
///
/// If `note` is given and not blank, it becomes a system message after the leading system messages.
///
/// The history is always valid for the provider:
///
/// - no message is empty;
/// - each call has exactly one result, directly after the message of the call (for the responses
///   API, anywhere after it);
/// - roles alternate, for Anthropic and Gemini;
/// - names of tools and ids of calls are valid.
///
/// The report counts the parts that were omitted, inserted or renamed.
///
/// ```
/// use lcp_transcripts::{ExportBlock, Provider, export};
/// use lcp_types::{Annotation, Block, Role, Status, Tag};
///
/// let blocks = [
///     Block::conversation(Role::User, "What is in a.txt?"),
///     Block::conversation_with_call(Role::Assistant, r#"read {"path":"a.txt"}"#, "c1"),
///     Block::tool_result("read", Status::Ok, "hello"),
///     Block::new(Annotation::tag(2, &Tag::new(Tag::TOOL_CALL_ID, "c1"))),
/// ];
/// let blocks: Vec<_> = blocks.iter().map(ExportBlock::new).collect();
/// let exported = export(Provider::OpenAi, &blocks, None);
/// assert_eq!((exported.report.messages, exported.report.calls), (3, 1));
///
/// // Without its result the call cannot stand there.
/// let exported = export(Provider::OpenAi, &blocks[..2], None);
/// assert_eq!((exported.report.messages, exported.report.unanswered), (1, 1));
/// ```
#[must_use]
pub fn export(provider: Provider, blocks: &[ExportBlock<'_>], note: Option<&str>) -> ExportResult {
    let mut report = ExportReport::default();
    let mut read = turns_from_blocks::read(provider, blocks, &mut report);
    tool_pairs::pair_server_tools(&mut read.turns, &mut report);
    let mut turns = match provider {
        // Items can stand in any order.
        Provider::OpenAiResponses => tool_pairs::without_unpaired(read.turns, &mut report),
        _ => tool_pairs::pair_tools(read.turns, &mut report),
    };
    tool_names::rename_ids(provider, &mut turns, &mut report);
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        let systems = turns.iter().take_while(|turn| turn.speaker.is_system()).count();
        turns.insert(systems, turn::Turn::note(turn::Speaker::System, note));
    }
    let ProviderMessages { system, items, messages } = match provider {
        Provider::OpenAi => openai::write(&turns, &mut report),
        Provider::OpenAiResponses => {
            let keeps_ids = !blocks.iter().any(is_left_out_reasoning);
            responses::write(&turns, keeps_ids, &mut report)
        }
        Provider::Anthropic => anthropic::write(&turns, &mut report),
        Provider::Gemini => {
            let is_own = blocks.iter().any(is_of_gemini);
            gemini::write(&turns, is_own, &mut report)
        }
    };
    report.messages = messages.len() as u64;
    let renamed_tools = read.names.into_inner();
    ExportResult {
        provider,
        system: system.map(raw_json::strict),
        items: items.into_iter().map(raw_json::strict).collect(),
        messages,
        request: read.request.map(raw_json::strict),
        report,
        renamed_tools,
    }
}

/// The messages in the format of a provider, as the fields of [`ExportResult`].
struct ProviderMessages {
    system: Option<String>,
    items: Vec<String>,
    messages: Vec<ExportedMessage>,
}

fn is_left_out_reasoning(block: &ExportBlock<'_>) -> bool {
    let extension = block.block.as_extension();
    block.detail != ExportDetail::Full
        && extension.is_some_and(|of| of.type_name == responses::REASONING)
}

/// Returns whether a block or annotation is from a transcript of Gemini.
fn is_of_gemini(block: &ExportBlock<'_>) -> bool {
    let extension = block.block.as_extension();
    let tag = block.block.as_annotation().and_then(Annotation::as_tag);
    extension.is_some_and(|of| of.namespace == Format::Gemini.name())
        || tag.is_some_and(|tag| {
            tag.key.starts_with("gemini.")
                || tag.value.as_deref() == Some(annotation_keys::WITHOUT_ID)
        })
}

/// The fields of requests that are settings, which the model does not see.
#[rustfmt::skip]
const SETTINGS: [&str; 52] = [
    "anthropic_version", "audio", "background", "betas", "cachedContent", "container",
    "context_management", "conversation", "custom_id", "frequency_penalty", "generationConfig",
    "include", "inference_geo", "labels", "logit_bias", "logprobs", "max_completion_tokens",
    "max_output_tokens", "max_tokens", "max_tool_calls", "metadata", "modalities", "model", "n",
    "parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt_cache_key",
    "prompt_cache_retention", "reasoning", "reasoning_effort", "safetySettings",
    "safety_identifier", "seed", "service_tier", "speed", "stop", "stop_sequences", "store",
    "stream", "stream_options", "temperature", "thinking", "toolConfig", "tool_choice", "top_k",
    "top_logprobs", "top_p", "truncation", "user", "verbosity", "web_search_options",
];

impl ExportResult {
    /// Returns a JSON object with the messages, and the other fields of the original request if it was
    /// one of this provider. The messages are in `messages` (with `system` for Anthropic), `input`
    /// (with `instructions`) for the responses API, or `contents` (with `systemInstruction`) for
    /// Gemini. Each call builds the string.
    #[must_use]
    pub fn json(&self) -> String {
        let (system, list) = match self.provider {
            Provider::OpenAi | Provider::Anthropic => ("system", "messages"),
            Provider::OpenAiResponses => ("instructions", "input"),
            Provider::Gemini => ("systemInstruction", "contents"),
        };
        let mut fields = raw_json::Object::default();
        if let Some(json) = &self.system {
            fields.raw(system, json);
        }
        fields.raw(list, &raw_json::list(&self.items));
        let mut json = raw_json::Object::default();
        json.all(self.request.as_deref());
        json.append(fields);
        json.finish()
    }

    /// Returns the fields of the request that the model reads, such as tools, as a JSON object;
    /// `None` if there are no such fields. Messages and settings (`model`, …) are not included.
    #[must_use]
    pub fn request_extras(&self) -> Option<String> {
        let read = raw_json::without(self.request.as_deref()?, &SETTINGS);
        (read != "{}").then_some(read)
    }
}
