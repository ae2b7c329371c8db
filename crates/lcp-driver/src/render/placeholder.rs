//! Placeholders: one line that replaces a block or several blocks (SPEC_08 §5).

use lcp_types::Block;

use super::{Part, push_words};
use crate::block_view::label::push_xml;
use crate::block_view::{Form, Head};
use crate::detail::OutputMode;
use crate::fmt::write_to;

/// Renders the line that replaces a block, without a newline (SPEC_08 §5).
///
/// `omitted_tokens` is the token count of the block's content with its final newline, so it is the
/// same in every mode. The line does not show properties that only tags give, such as the call that
/// a tool result answers; the placeholders in the text of a plan do.
///
/// ```
/// use lcp_driver::{OutputMode, render_placeholder};
/// use lcp_types::{Block, Lang};
///
/// let block = Block::code(Lang::Rust, "src/main.rs", "fn main() {}");
/// assert_eq!(
///     render_placeholder(&block, 823, OutputMode::Xml),
///     r#"<omitted type="code" path="src/main.rs" tokens="823" />"#,
/// );
/// assert_eq!(
///     render_placeholder(&block, 823, OutputMode::Markdown),
///     "_[Omitted: code src/main.rs, ~823 tokens]_",
/// );
/// assert_eq!(
///     render_placeholder(&block, 823, OutputMode::Minimal),
///     "[omitted: code src/main.rs ~823tok]",
/// );
/// ```
#[must_use]
pub fn render_placeholder(block: &Block<'_>, omitted_tokens: u32, mode: OutputMode) -> String {
    line(&Head::new(block, None), omitted_tokens, mode)
}

fn line(head: &Head<'_>, tokens: u32, mode: OutputMode) -> String {
    let mut out = String::new();
    match mode {
        OutputMode::Xml => {
            out.push_str("<omitted type=\"");
            out.push_str(head.word);
            out.push('"');
            for arg in head.args.iter().filter(|arg| arg.form != Form::XmlOnly) {
                out.push(' ');
                out.push_str(arg.key);
                out.push_str("=\"");
                push_xml(&mut out, &arg.value);
                out.push('"');
            }
            write_to(&mut out, format_args!(" tokens=\"{tokens}\" />"));
        }
        OutputMode::Markdown => {
            out.push_str("_[Omitted: ");
            out.push_str(head.word);
            push_words(&mut out, head);
            write_to(&mut out, format_args!(", ~{tokens} tokens]_"));
        }
        OutputMode::Minimal => {
            out.push_str("[omitted: ");
            out.push_str(head.word);
            push_words(&mut out, head);
            write_to(&mut out, format_args!(" ~{tokens}tok]"));
        }
    }
    out
}

pub(crate) fn placeholder(head: &Head<'_>, tokens: u32, mode: OutputMode) -> Part<'static> {
    Part::line(line(head, tokens, mode))
}

/// Renders the line that counts all blocks without their own line.
pub(crate) fn roll_up(count: usize, tokens: u64, mode: OutputMode) -> Part<'static> {
    let blocks = if count == 1 { "block" } else { "blocks" };
    Part::line(match mode {
        OutputMode::Xml => format!("<omitted count=\"{count}\" tokens=\"{tokens}\" />"),
        OutputMode::Markdown => format!("_[Omitted: {count} {blocks}, ~{tokens} tokens]_"),
        OutputMode::Minimal => format!("[omitted: {count} {blocks} ~{tokens}tok]"),
    })
}
