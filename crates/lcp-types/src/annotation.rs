//! Annotations: what one block says of another, and tags.

use std::borrow::Cow;
use std::fmt;

use crate::codec::record;
use crate::{AnnotationKind, CowBytes, Priority};

record! {
    /// ANNOTATION: a statement about another block of the pack. It is metadata
    /// and never rendered.
    Annotation {
        /// The index of the block that it speaks of, annotations counted.
        1 target_block_id: u64,
        /// What it says.
        2 kind: AnnotationKind,
        /// How it says it, by kind.
        3 value: CowBytes<'a>,
    }
}

impl<'a> Annotation<'a> {
    /// Gives a block its priority. The last valid one for a block wins.
    #[must_use]
    pub fn priority(target: u64, priority: Priority) -> Self {
        Self::from_fields(target, AnnotationKind::Priority, vec![priority.code()].into())
    }

    /// Summarises a block that has no summary of its own.
    #[must_use]
    pub fn summary(target: u64, summary: impl Into<Cow<'a, str>>) -> Self {
        Self::from_fields(target, AnnotationKind::Summary, summary.into().into())
    }

    /// Tags a block.
    #[must_use]
    pub fn tag(target: u64, tag: &Tag<'_>) -> Self {
        Self::from_fields(target, AnnotationKind::Tag, tag.to_string().into())
    }

    /// The priority that this gives; `None` for another kind or a bad value.
    #[must_use]
    pub fn as_priority(&self) -> Option<Priority> {
        match (self.kind, self.value.as_slice()) {
            (AnnotationKind::Priority, &[code]) => Priority::from_code(code),
            _ => None,
        }
    }

    /// The tag that this gives; `None` for another kind or text that is not UTF-8.
    #[must_use]
    pub fn as_tag(&self) -> Option<Tag<'_>> {
        match self.kind {
            AnnotationKind::Tag => self.value.as_str().map(Tag::parse),
            _ => None,
        }
    }
}

/// The value of a TAG annotation, `key=value` or a bare key; LCP keeps other keys than these
/// (RFC 0001 §9).
///
/// | tag | on | means |
/// |---|---|---|
/// | `category=NAME` | any block | its share of a budget |
/// | `rank=0.83` | any block | order within a priority, highest first |
/// | `anchors=3` | any block | how many anchors it holds |
/// | `pinned` | any block | never lowered |
/// | `tool_call_id=ID` | TOOL_RESULT, any block that is a result | the call that it answers |
/// | `args=TEXT` | TOOL_RESULT | the arguments of that call |
///
/// ```
/// use lcp_types::Tag;
///
/// let tag = Tag::parse("rank=0.83");
/// assert_eq!((tag.key.as_ref(), tag.value.as_deref()), ("rank", Some("0.83")));
/// assert_eq!(Tag::parse("pinned").to_string(), "pinned");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tag<'a> {
    /// What stands before the first `=`.
    pub key: Cow<'a, str>,
    /// What stands after it; `None` where there is no `=`.
    pub value: Option<Cow<'a, str>>,
}

impl<'a> Tag<'a> {
    /// The key of a block's share.
    pub const CATEGORY: &'static str = "category";
    /// The key of the number of the message that a block is a part of, counted from 0.
    pub const MESSAGE: &'static str = "message";
    /// The key of a block's rank.
    pub const RANK: &'static str = "rank";
    /// The key of the number of anchors.
    pub const ANCHORS: &'static str = "anchors";
    /// The key of blocks that are never lowered.
    pub const PINNED: &'static str = "pinned";
    /// The key of the call that a tool result answers.
    pub const TOOL_CALL_ID: &'static str = "tool_call_id";
    /// The key of that call's arguments.
    pub const ARGS: &'static str = "args";

    /// A tag with a value.
    #[must_use]
    pub fn new(key: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: Some(value.into()) }
    }

    /// A tag that is only a key.
    #[must_use]
    pub fn from_key(key: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: None }
    }

    /// Reads `key=value` or a bare key; no text is wrong.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        match text.split_once('=') {
            Some((key, value)) => Self::new(key, value),
            None => Self::from_key(text),
        }
    }
}

impl fmt::Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.key),
            None => f.write_str(&self.key),
        }
    }
}
