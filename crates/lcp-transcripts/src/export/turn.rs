//! The messages of an export before they are written for a provider.

use std::borrow::Cow;

use lcp_types::MediaType;

/// What the user says where there would be no message at all.
pub(super) const EMPTY_HISTORY_NOTE: &str = "(Nothing of this conversation is shown.)";

/// Who speaks in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

impl Speaker {
    pub(super) const fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// A message: what one speaker says at once.
#[derive(Debug)]
pub(super) struct Turn<'b> {
    pub(super) speaker: Speaker,
    /// Its number in the transcript that it came from.
    pub(super) message: Option<u64>,
    pub(super) parts: Vec<Part<'b>>,
    /// What it had beside role and parts.
    pub(super) fields: Vec<ExtraFields<'b>>,
    /// What it had as its content if that says nothing ([`CONTENT`](crate::annotation_keys::CONTENT)).
    pub(super) content: Option<Cow<'b, str>>,
}

/// Fields of a message besides its role and parts, from a block of their own.
#[derive(Debug)]
pub(super) struct ExtraFields<'b> {
    pub(super) block: usize,
    pub(super) json: Cow<'b, str>,
}

#[derive(Debug)]
pub(super) struct Part<'b> {
    pub(super) blocks: Vec<usize>,
    pub(super) kind: PartKind<'b>,
    /// What it had beside what its block holds, as a JSON object.
    pub(super) fields: Option<Cow<'b, str>>,
}

#[derive(Debug)]
pub(super) enum PartKind<'b> {
    Text(Cow<'b, str>),
    Image {
        media: MediaType,
        alt: &'b str,
        data: &'b [u8],
    },
    /// A part of this provider, as it stood.
    Raw(Cow<'b, str>),
    Call(Call<'b>),
    ToolResult(ToolResult<'b>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallSyntax {
    Tool,
    /// The syntax before there were tools.
    Function,
    /// A tool with any text as its arguments.
    Custom,
}

#[derive(Debug)]
pub(super) struct Call<'b> {
    pub(super) id: Cow<'b, str>,
    pub(super) name: Cow<'b, str>,
    pub(super) arguments: Cow<'b, str>,
    pub(super) syntax: CallSyntax,
}

#[derive(Debug)]
pub(super) struct ToolResult<'b> {
    pub(super) id: Cow<'b, str>,
    /// The tool, as its call names it.
    pub(super) name: Cow<'b, str>,
    pub(super) failed: bool,
    pub(super) syntax: CallSyntax,
    pub(super) parts: Vec<Part<'b>>,
}

impl<'b> Part<'b> {
    /// A part of no block, without extra fields.
    pub(super) const fn new(kind: PartKind<'b>) -> Self {
        Self { blocks: Vec::new(), kind, fields: None }
    }
}

impl<'b> Turn<'b> {
    /// A message of which only this is known.
    pub(super) const fn new(speaker: Speaker, message: Option<u64>, parts: Vec<Part<'b>>) -> Self {
        Self { speaker, message, parts, fields: Vec::new(), content: None }
    }

    /// What is said of the history itself.
    pub(super) fn note(speaker: Speaker, text: &str) -> Self {
        Self::new(speaker, None, vec![Part::new(PartKind::Text(text.to_owned().into()))])
    }
}

/// What stands in the place of a picture where none can be.
pub(super) fn no_picture(alt: &str) -> String {
    match alt {
        "" => "[image]".to_owned(),
        alt => format!("[image: {alt}]"),
    }
}
