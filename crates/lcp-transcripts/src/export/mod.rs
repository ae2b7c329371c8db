//! Messages of blocks: always a history that a provider takes (RFC 0010 §5.3).

mod annotations;
mod anthropic;
mod infer_ids;
mod openai;
mod parts;
mod tool_names;
mod tool_pairs;
mod turn;
mod turns_from_blocks;

use std::borrow::Cow;
use std::collections::BTreeMap;

use lcp_types::Block;

use crate::{Provider, raw_json};

/// A block that is exported, and what is shown of it.
#[derive(Clone, Debug)]
pub struct ExportBlock<'b> {
    /// The block.
    pub block: &'b Block<'b>,
    /// What of it stands in the messages.
    pub detail: ExportDetail<'b>,
}

/// What of a block stands in the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportDetail<'b> {
    /// All of it.
    Full,
    /// This text in its place: a summary, an excerpt.
    Replaced(Cow<'b, str>),
    /// Nothing. Annotations speak of their blocks nevertheless.
    Omitted,
}

impl<'b> ExportBlock<'b> {
    /// Creates an export of the complete block.
    #[must_use]
    pub const fn new(block: &'b Block<'b>) -> Self {
        Self { block, detail: ExportDetail::Full }
    }
}

/// Messages, and what became of the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportResult {
    /// An object with `messages`, and `system` for Anthropic; and what else a request
    /// had, where it came from one of this provider.
    pub json: String,
    /// The messages, the system's first for Anthropic.
    pub messages: Vec<ExportedMessage>,
    /// What else the request had, as a JSON object: its tools, its model.
    pub request: Option<String>,
    /// What was left out or changed.
    pub report: ExportReport,
    /// Tools of the pack with a name that the provider would refuse, and what they are
    /// called instead, in calls, results and `tools`: within any budget the same.
    pub renamed_tools: BTreeMap<String, String>,
}

/// One message of an export, for those who count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedMessage {
    /// The role, as the provider names it.
    pub role: &'static str,
    /// The texts of its parts, names and arguments of calls, and JSON of other parts and
    /// fields; without roles, types, ids and pictures.
    pub text: String,
    /// The indices of the blocks that it is made of, in order.
    pub blocks: Vec<usize>,
}

/// What was left out of the messages or changed to make a history that is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// Messages.
    pub messages: u64,
    /// Calls with their results.
    pub calls: u64,
    /// Calls left out, since no result answers them.
    pub unanswered: u64,
    /// Results left out, since they answer no call, or one that is answered. One without an
    /// id answers the only call before it that nothing else answers.
    pub orphans: u64,
    /// Texts left out, since there is nothing in them.
    pub empty: u64,
    /// Ids of calls that the provider would refuse, and that were changed.
    pub renamed: u64,
    /// Messages that had to be there: a first one of the user, or the only one.
    pub inserted: u64,
    /// Blocks that the provider's messages have no place for, by type.
    pub left_out: BTreeMap<String, u64>,
}

impl ExportReport {
    fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_default() += 1;
    }

    /// What a message had that is not there.
    fn leave_out_fields(&mut self, turn: &turn::Turn<'_>) {
        for _ in &turn.fields {
            self.leave_out("message");
        }
    }
}

/// Makes messages of all blocks of a pack, in order (RFC 0010 §5.3). The system says `note`
/// after its first texts.
///
/// The history is always valid for the provider: messages are not empty, each call is answered
/// once, right after its message, roles alternate for Anthropic, and names and ids are valid.
/// The report counts what is left out, inserted or renamed.
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
    let mut turns = tool_pairs::pair_tools(read.turns, &mut report);
    tool_names::rename_ids(provider, &mut turns, &mut report);
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        let systems = turns.iter().take_while(|turn| turn.speaker.is_system()).count();
        turns.insert(systems, turn::Turn::note(turn::Speaker::System, note));
    }
    let (fields, messages) = match provider {
        Provider::OpenAi => openai::write(&turns, &mut report),
        Provider::Anthropic => anthropic::write(&turns, &mut report),
    };
    let mut json = raw_json::Object::default();
    json.all(read.request.as_deref());
    json.all(Some(&fields));
    report.messages = messages.len() as u64;
    let renamed_tools = read.names.into_inner();
    ExportResult {
        json: raw_json::strict(json.finish()),
        messages,
        request: read.request.map(raw_json::strict),
        report,
        renamed_tools,
    }
}

/// The settings of requests, which the model does not read.
#[rustfmt::skip]
const SETTINGS: [&str; 40] = [
    "anthropic_version", "audio", "betas", "container", "context_management", "custom_id",
    "frequency_penalty", "inference_geo", "logit_bias", "logprobs", "max_completion_tokens",
    "max_tokens", "metadata", "modalities", "model", "n", "parallel_tool_calls",
    "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning",
    "reasoning_effort", "safety_identifier", "seed", "service_tier", "speed", "stop",
    "stop_sequences", "store", "stream", "stream_options", "temperature", "thinking",
    "tool_choice", "top_k", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
];

impl ExportResult {
    /// Returns the fields of the request that the model reads, such as tools, as a JSON
    /// object; `None` without any. Messages and settings (`model`, …) are not among them.
    #[must_use]
    pub fn request_extras(&self) -> Option<String> {
        let read = raw_json::without(self.request.as_deref()?, &SETTINGS);
        (read != "{}").then_some(read)
    }
}
