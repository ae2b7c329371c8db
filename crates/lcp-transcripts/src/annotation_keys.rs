//! The keys of the annotations that an import adds, in addition to those of `lcp_types` (RFC 0010
//! §5.1).
//!
//! [`PART`], [`RESULT`], [`ITEM`] and [`CONTENT`] have the name of the format as a prefix, because
//! only that format can use them: `anthropic.part={"cache_control":{"type":"ephemeral"}}`.

use lcp_types::Tag;

use crate::Format;

/// The number of the message that the block is a part of, counted from 0.
pub const MESSAGE: &str = Tag::MESSAGE;
/// The role of the message if the block has no field for it: `assistant`, `developer`,
/// [`INSTRUCTIONS`].
pub const ROLE: &str = "role";
/// The fields of the part that its block cannot hold, as a JSON object.
pub const PART: &str = "part";
/// The additional fields of an item of a response, or the notes of Claude Code about a message, as
/// a JSON object.
pub const ITEM: &str = "item";
/// The additional fields of a tool result, as a JSON object.
pub const RESULT: &str = "result";
/// The content field of a message without content, as a JSON object: `{}` if the field was missing,
/// `{"content":""}` if it was empty. Without this tag the field was null.
pub const CONTENT: &str = "content";
/// The syntax of a call or result, if it is not the usual one: [`FUNCTION`], [`CUSTOM`],
/// [`WITHOUT_ID`].
pub const CALL: &str = "call";
/// The tool name of a call, if it contains a space or is empty.
pub const NAME: &str = "name";
/// The original form of the text of a result that became a CODE or DIFF block: `cat-n`, `unified`
/// ([`Style::name`](crate::line_numbers::Style::name)). [`OBJECT`] for a result of Gemini whose text
/// is a JSON object.
pub const FORM: &str = "form";

/// The side conversation that the block belongs to. A subagent has it, and the main conversation
/// contains only its result.
pub const SIDECHAIN: &str = "sidechain";

/// The [`CALL`] value for the legacy syntax of `OpenAI`: one function per message, without an id.
pub const FUNCTION: &str = "function";
/// The [`CALL`] value for a tool whose arguments are free text instead of JSON.
pub const CUSTOM: &str = "custom";
/// The [`CALL`] value for a call whose transcript has no id for it, as Gemini allows.
pub const WITHOUT_ID: &str = "without-id";

/// The [`ROLE`] value for the field `instructions` of a request to the responses API.
pub const INSTRUCTIONS: &str = "instructions";

/// The [`FORM`] value for a result of Gemini that is a JSON object other than a single text.
pub const OBJECT: &str = "object";

/// Returns a key with the name of the format as its prefix.
pub(crate) fn format_key(format: Format, key: &str) -> String {
    format!("{format}.{key}")
}
