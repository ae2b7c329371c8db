//! The text of blocks, mode by mode (RFC 0002 §6).
//!
//! Each mode turns a view into a [`Part`]. Every part ends with a newline and
//! begins with a character that is neither white space nor `/`, so the counts
//! of parts add up; and every part can be told from its neighbours whatever
//! its content holds, so a text can be split back.

pub(crate) mod guard;
pub(crate) mod markdown;
pub(crate) mod minimal;
mod prose;
pub(crate) mod xml;

use crate::config::OutputMode;
use crate::placeholder;
use crate::view::label::push_word;
use crate::view::{Form, Head, View};

/// The text of one block: head, then the body and a newline, then tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part<'v> {
    pub(crate) head: String,
    /// Content or summary, without the newline that is added behind it.
    /// `None`: the head is the whole text.
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

/// What of a block a part shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Content,
    Detailed,
    Summary,
    Tags,
    Excerpt,
}

impl Shown {
    /// Every way but the whole content, which heads do not name.
    pub(crate) const NAMED: [Self; 4] = [Self::Detailed, Self::Summary, Self::Tags, Self::Excerpt];

    /// What the head says of it.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Content => None,
            Self::Detailed => Some("detailed"),
            Self::Summary => Some("summary"),
            Self::Tags => Some("tags"),
            Self::Excerpt => Some("excerpt"),
        }
    }

    /// Whether it is the block's own content, or a part of it.
    const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::Excerpt)
    }
}

/// The element around a text in XML.
pub(crate) const ENVELOPE: &str = "context";

/// What a text begins and ends with; counted once a text.
pub(crate) fn envelope(mode: OutputMode) -> (&'static str, &'static str) {
    match mode {
        OutputMode::Xml => ("<context>\n", "</context>\n"),
        OutputMode::Markdown | OutputMode::Minimal => ("", ""),
    }
}

/// Appends a text to another of the same mode, so that they are one: without the envelope
/// that would stand in its middle (RFC 0008 §2).
///
/// ```
/// use lcp_driver::{OutputMode, append_text};
///
/// let mut text = String::from("<context>\na\n</context>\n");
/// append_text(&mut text, "<context>\nb\n</context>\n", OutputMode::Xml);
/// assert_eq!(text, "<context>\na\nb\n</context>\n");
/// ```
pub fn append_text(text: &mut String, behind: &str, mode: OutputMode) {
    let (opening, closing) = envelope(mode);
    match behind.strip_prefix(opening) {
        Some(rest) if text.ends_with(closing) => {
            text.truncate(text.len() - closing.len());
            text.push_str(rest);
        }
        _ => text.push_str(behind),
    }
}

/// The part of a block that is shown in full or by a level that it carries.
pub(crate) fn part<'v>(view: &'v View<'_>, shown: Shown, mode: OutputMode) -> Part<'v> {
    let body = match shown {
        Shown::Content | Shown::Excerpt => view.content.as_deref(),
        Shown::Detailed => view.detailed,
        Shown::Summary => view.summary,
        Shown::Tags => view.tags,
    };
    part_of(view, shown, body, mode)
}

/// The part of a block with this body.
pub(crate) fn part_of<'v>(
    view: &View<'_>,
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

/// The part of a block that is shown as a placeholder.
pub(crate) fn placeholder(head: &Head<'_>, tokens: u32, mode: OutputMode) -> Part<'static> {
    Part::line(placeholder::line(head, tokens, mode))
}

/// Appends the arguments of a head as words, each behind a space.
pub(crate) fn push_words(out: &mut String, head: &Head<'_>) {
    for arg in &head.args {
        push_arg(out, arg.form, &arg.value);
    }
}

/// Appends the head in brackets or behind a heading mark: the speaker of a
/// turn, else the type and its arguments.
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
        Form::XmlOnly => {}
    }
}
