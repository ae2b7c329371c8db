//! The keys of the annotations that an import adds, besides those of `lcp_types` (RFC 0010 §5.1).
//!
//! [`PART`], [`RESULT`], [`ITEM`] and [`CONTENT`] stand behind the name of the format, since nobody
//! else can use them: `anthropic.part={"cache_control":{"type":"ephemeral"}}`.

use lcp_types::Tag;

use crate::Format;

/// The number of the message that the block is a part of, counted from 0.
pub const MESSAGE: &str = Tag::MESSAGE;
/// The role of the message where the block does not say it: `assistant`, `developer`.
pub const ROLE: &str = "role";
/// What the part had beside what its block holds, as a JSON object.
pub const PART: &str = "part";
/// What the item of a response had beside its parts, and what a session of Claude Code notes
/// beside a message, as a JSON object.
pub const ITEM: &str = "item";
/// What the result of a tool had beside its parts, as a JSON object.
pub const RESULT: &str = "result";
/// What the message had as its content where it said nothing, as a JSON object: `{}`
/// where it had none, `{"content":""}`; without the tag it was null.
pub const CONTENT: &str = "content";
/// How a call or result is written where it is not the usual way: [`FUNCTION`], [`CUSTOM`].
pub const CALL: &str = "call";
/// The tool of a call, where its name has a space or is empty.
pub const NAME: &str = "name";
/// How the text of a result was written that became another block: `cat-n`, `unified`
/// ([`Style::name`](crate::line_numbers::Style::name)).
pub const FORM: &str = "form";

/// The side conversation that the block is a part of: an agent that works for the main
/// one, which has seen nothing of it but the result.
pub const SIDECHAIN: &str = "sidechain";

/// A [`CALL`] of the form before tools: one function, without an id.
pub const FUNCTION: &str = "function";
/// A [`CALL`] whose arguments are any text.
pub const CUSTOM: &str = "custom";

/// Returns the key of an annotation that only this format has.
pub(crate) fn format_key(format: Format, key: &str) -> String {
    format!("{format}.{key}")
}
