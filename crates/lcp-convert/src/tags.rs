//! The tags that an import gives to blocks, beside those of `lcp_types` (RFC 0010 §5.1).

/// The number of the message that the block is a part of, counted from 0.
pub const MESSAGE: &str = "message";
/// The role of the message where the block does not say it: `assistant`, `developer`.
pub const ROLE: &str = "role";
/// What the part had beside what its block holds, as a JSON object.
pub const PART: &str = "part";
/// What the result of a tool had beside its parts, as a JSON object.
pub const RESULT: &str = "result";
/// How a call or result is written where it is not the usual way: [`FUNCTION`], [`CUSTOM`].
pub const CALL: &str = "call";
/// The tool of a call, where its name has a space or is empty.
pub const NAME: &str = "name";
/// How the text of a result was written that became another block: `cat-n`, `unified`.
pub const FORM: &str = "form";

/// A [`CALL`] of the form before tools: one function, without an id.
pub const FUNCTION: &str = "function";
/// A [`CALL`] whose arguments are any text.
pub const CUSTOM: &str = "custom";
