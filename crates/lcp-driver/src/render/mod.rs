//! Renderers of blocks in the output modes (RFC 0002 §6).
//!
//! Each renderer converts the view of a block to a [`Part`]. Every part ends with a newline and
//! begins with a character that is neither white space nor `/`, so the token counts of parts add
//! up. The boundaries of parts are unambiguous regardless of the content, so a text can be parsed
//! again.

pub(crate) mod collision;
mod commonmark;
mod markdown;
mod minimal;
mod placeholder;
pub(crate) mod xml;

use crate::block_view::label::push_word;
use crate::block_view::{BlockView, FROM, Form, Head};
use crate::detail::OutputMode;
pub(crate) use crate::detail::Shown;

pub use placeholder::render_placeholder;
pub(crate) use placeholder::{placeholder, roll_up};

/// The text of one block: the head, the body with a newline, and the tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part<'v> {
    pub(crate) head: String,
    /// The content or summary, without its final newline. `None` if the part has only a head.
    pub(crate) body: Option<&'v str>,
    pub(crate) tail: String,
}

impl Part<'_> {
    pub(crate) fn line(mut line: String) -> Self {
        line.push('\n');
        Self { head: line, body: None, tail: String::new() }
    }

    pub(crate) fn push_to(&self, out: &mut String) {
        out.push_str(&self.head);
        if let Some(body) = self.body {
            out.push_str(body);
            out.push('\n');
        }
        out.push_str(&self.tail);
    }
}

/// The name of the XML element around a text.
pub(crate) const ENVELOPE: &str = "context";

/// Returns the beginning and the end of a text, whose tokens belong to no block.
pub(crate) fn envelope(mode: OutputMode) -> (&'static str, &'static str) {
    match mode {
        OutputMode::Xml => ("<context>\n", "</context>\n"),
        OutputMode::Markdown | OutputMode::Minimal => ("", ""),
    }
}

/// Appends a text to another one of the same mode, without a second envelope (RFC 0008 §2).
///
/// ```
/// use lcp_driver::{OutputMode, append_text};
///
/// let mut text = String::from("<context>\na\n</context>\n");
/// append_text(&mut text, "<context>\nb\n</context>\n", OutputMode::Xml);
/// assert_eq!(text, "<context>\na\nb\n</context>\n");
/// ```
pub fn append_text(text: &mut String, appended: &str, mode: OutputMode) {
    let (opening, closing) = envelope(mode);
    match appended.strip_prefix(opening) {
        Some(rest) if text.ends_with(closing) => {
            text.truncate(text.len() - closing.len());
            text.push_str(rest);
        }
        _ => text.push_str(appended),
    }
}

/// Renders a block in full or by a level that it carries.
pub(crate) fn part<'v>(view: &'v BlockView<'_>, shown: Shown, mode: OutputMode) -> Part<'v> {
    let body = match shown {
        Shown::Content | Shown::Excerpt => view.content.as_deref(),
        Shown::Detailed => view.detailed,
        Shown::Summary => view.summary,
        Shown::Tags => view.tags,
    };
    part_with_body(view, shown, body, mode)
}

pub(crate) fn part_with_body<'v>(
    view: &BlockView<'_>,
    shown: Shown,
    body: Option<&'v str>,
    mode: OutputMode,
) -> Part<'v> {
    match mode {
        OutputMode::Xml => xml::part(view, shown, body),
        OutputMode::Markdown => markdown::part(view, shown, body),
        OutputMode::Minimal => minimal::part(view, shown, body),
    }
}

/// The note in heads of numbered content, and the attribute in XML.
pub(crate) const NUMBERED: &str = "numbered";

/// Returns the notes of a head about the form of its body: the level, and the numbers of lines.
fn notes(view: &BlockView<'_>, shown: Shown) -> impl Iterator<Item = &'static str> {
    shown.name().into_iter().chain((view.numbered && shown.is_content()).then_some(NUMBERED))
}

/// Appends the arguments of a head as words, each after a space.
pub(crate) fn push_words(out: &mut String, head: &Head<'_>) {
    for arg in &head.args {
        push_arg(out, arg.form, &arg.value);
    }
}

/// Appends the role of a chat turn and its tool call, or the type of any other block and its
/// arguments.
fn push_head(out: &mut String, head: &Head<'_>) {
    let Some(role) = &head.role else {
        out.push_str(head.word);
        push_words(out, head);
        return;
    };
    out.push_str(role);
    for arg in head.args.iter().filter(|arg| arg.form == Form::Call) {
        push_arg(out, arg.form, &arg.value);
    }
}

fn push_arg(out: &mut String, form: Form, value: &str) {
    match form {
        Form::Word => {
            out.push(' ');
            push_word(out, value);
        }
        Form::Lines => {
            out.push(':');
            out.push_str(value);
        }
        Form::Call => {
            out.push_str(" #");
            push_word(out, value);
        }
        Form::From => {
            out.push(' ');
            out.push_str(FROM);
            out.push(' ');
            push_word(out, value);
        }
        Form::XmlOnly => {}
    }
}
