//! Records of session files that are not part of the conversation.

use std::borrow::Cow;

use crate::{Block, CarriedLevel, Extension};

/// A record of an agent's session file that is not part of the conversation, such as a progress
/// note or a token count (RFC 0012 §2). A pack stores it as metadata, so it is never shown as a
/// block.
///
/// ```
/// use lcp_types::{Block, SessionRecord};
///
/// let record = SessionRecord::new("codex", "turn_context", r#"{"type":"turn_context"}"#);
/// let block = Block::new(record.to_extension());
/// assert!(block.content.is_metadata());
/// assert_eq!(block.as_extension().and_then(SessionRecord::from_extension), Some(record));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord<'a> {
    /// The format of the session file.
    pub format: Cow<'a, str>,
    /// The type of the record in that format.
    pub type_name: Cow<'a, str>,
    /// The record, unchanged.
    pub content: Cow<'a, [u8]>,
}

impl<'a> SessionRecord<'a> {
    /// The beginning of the type names of extensions that hold a record. The format and the type
    /// follow, separated by a slash.
    const PREFIX: &'static str = "record/";

    /// Creates a record of a text.
    #[must_use]
    pub fn new(format: &'a str, type_name: &'a str, content: &'a str) -> Self {
        Self {
            format: format.into(),
            type_name: type_name.into(),
            content: content.as_bytes().into(),
        }
    }

    /// Reads the record in an extension. Returns `None` if the extension holds something else.
    #[must_use]
    pub fn from_extension(extension: &'a Extension<'_>) -> Option<Self> {
        if extension.namespace != CarriedLevel::NAMESPACE {
            return None;
        }
        let (format, type_name) =
            extension.type_name.strip_prefix(Self::PREFIX)?.split_once('/')?;
        let content = extension.content.as_slice().into();
        Some(Self { format: format.into(), type_name: type_name.into(), content })
    }

    /// Returns the extension that stores this record.
    #[must_use]
    pub fn to_extension(&self) -> Extension<'static> {
        let type_name = format!("{}{}/{}", Self::PREFIX, self.format, self.type_name);
        let content = self.content.to_vec();
        Extension::from_fields(CarriedLevel::NAMESPACE.into(), type_name.into(), content.into())
    }

    /// Returns a block that shows this record. Its namespace is the format.
    #[must_use]
    pub fn to_shown_block(&self) -> Block<'static> {
        let (format, type_name) = (self.format.to_string(), self.type_name.to_string());
        Block::new(Extension::from_fields(
            format.into(),
            type_name.into(),
            self.content.to_vec().into(),
        ))
    }
}
