//! The messages of an export, independent of the provider.

use std::borrow::Cow;

use lcp_types::MediaType;

use crate::raw_json::Fields;

/// The text of the user message in an otherwise empty history.
pub(super) const EMPTY_HISTORY_NOTE: &str = "(Nothing of this conversation is shown.)";

/// The text of the user message that precedes a history that would begin with the model.
pub(super) const CUT_HISTORY_NOTE: &str = "(The beginning of this conversation is not shown.)";

/// The author of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    /// The system, in the field `instructions` of a request to the responses API.
    Instructions,
    Developer,
    User,
    Assistant,
    Tool,
}

impl Speaker {
    pub(super) const fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Instructions | Self::Developer)
    }
}

/// A message of one speaker.
#[derive(Debug)]
pub(super) struct Turn<'b> {
    pub(super) speaker: Speaker,
    /// The number of the message in its transcript.
    pub(super) message: Option<u64>,
    pub(super) parts: Vec<Part<'b>>,
    /// The extra fields, apart from role and parts.
    pub(super) fields: Vec<ExtraFields<'b>>,
    /// The original content field if it is empty ([`CONTENT`](crate::annotation_keys::CONTENT)).
    pub(super) content: Option<Cow<'b, str>>,
    /// The extra fields of an item of a response ([`ITEM`](crate::annotation_keys::ITEM)).
    pub(super) item: Option<Cow<'b, str>>,
}

/// Extra fields of a message, which have a block of their own.
#[derive(Debug)]
pub(super) struct ExtraFields<'b> {
    pub(super) block: usize,
    pub(super) json: Cow<'b, str>,
}

#[derive(Debug)]
pub(super) struct Part<'b> {
    pub(super) blocks: Vec<usize>,
    pub(super) kind: PartKind<'b>,
    /// The fields that the block of the part cannot hold, as a JSON object.
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
    /// The original JSON of a part of this provider.
    Raw(Cow<'b, str>),
    Call(Call<'b>),
    ToolResult(ToolResult<'b>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallSyntax {
    Tool,
    /// The legacy syntax for function calls.
    Function,
    /// A tool whose arguments are free text.
    Custom,
    /// A call of Gemini that had no id.
    WithoutId,
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
    /// The name of the tool in the call.
    pub(super) name: Cow<'b, str>,
    pub(super) failed: bool,
    pub(super) syntax: CallSyntax,
    /// `true` if the text is the JSON object of a result of Gemini.
    pub(super) is_object: bool,
    pub(super) parts: Vec<Part<'b>>,
}

impl<'b> Part<'b> {
    /// Creates a part without blocks and extra fields.
    pub(super) const fn new(kind: PartKind<'b>) -> Self {
        Self { blocks: Vec::new(), kind, fields: None }
    }

    /// Returns the value of a key in the extra fields.
    pub(super) fn field(&self, key: &str) -> Option<String> {
        let fields = self.fields.as_deref().and_then(Fields::parse)?;
        fields.get(key).map(|value| value.get().to_owned())
    }
}

impl<'b> Turn<'b> {
    /// Creates a message without extra fields.
    pub(super) const fn new(speaker: Speaker, message: Option<u64>, parts: Vec<Part<'b>>) -> Self {
        Self { speaker, message, parts, fields: Vec::new(), content: None, item: None }
    }

    /// Returns the text of a message with a single text and no extra fields.
    pub(super) fn only_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part { kind: PartKind::Text(text), fields: None, .. }]
                if self.fields.is_empty() && self.item.is_none() && !text.is_empty() =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    /// Creates a message about the history itself.
    pub(super) fn note(speaker: Speaker, text: &str) -> Self {
        Self::new(speaker, None, vec![Part::new(PartKind::Text(text.to_owned().into()))])
    }
}

/// Returns the text that replaces an image where images are not allowed.
pub(super) fn no_picture(alt: &str) -> String {
    match alt {
        "" => "[image]".to_owned(),
        alt => format!("[image: {alt}]"),
    }
}
