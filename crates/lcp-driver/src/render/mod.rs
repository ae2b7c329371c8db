//! The text of blocks, mode by mode (RFC 0002 §6).
//!
//! Each mode turns a view into a [`Part`]. Every part ends with a newline and
//! begins with a character that is neither white space nor `/`, so the counts
//! of parts add up; and every part can be told from its neighbours whatever
//! its content holds, so a text can be split back.

pub(crate) mod guard;
pub(crate) mod markdown;
pub(crate) mod minimal;
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

/// Whether content or its summary is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Content,
    Summary,
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

/// The part of a block that is shown in full or by its summary.
pub(crate) fn part<'v>(view: &'v View<'_>, shown: Shown, mode: OutputMode) -> Part<'v> {
    let body = match shown {
        Shown::Content => view.content.as_deref(),
        Shown::Summary => view.summary,
    };
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
