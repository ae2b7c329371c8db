//! Results of tools that are more than text: files with line numbers, diffs.

use lcp_types::Block;

/// What a result is of.
pub(crate) struct ResultOf<'r> {
    /// The tool, where it is known.
    pub(crate) tool: Option<&'r str>,
    /// The arguments of the call, where they are known.
    pub(crate) arguments: Option<&'r str>,
}

/// A block that says more than TOOL_RESULT, and the value of its tag
/// [`FORM`](crate::tags::FORM); only where [`text`] gives exactly this text again.
pub(crate) fn block(of: &ResultOf<'_>, text: &str) -> Option<(Block<'static>, &'static str)> {
    let _ = (of.tool, of.arguments, text);
    None
}

/// The text that such a block was made of.
pub(crate) fn text(form: &str, block: &Block<'_>) -> Option<String> {
    let _ = (form, block);
    None
}
