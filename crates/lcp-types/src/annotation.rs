//! Annotations: properties that one block assigns to another, and the tags they carry.

use std::borrow::Cow;
use std::fmt;

use crate::codec::record;
use crate::{AnnotationKind, CowBytes, Priority};

record! {
    /// ANNOTATION: a statement about another block of the pack. It is metadata and is never
    /// rendered.
    Annotation {
        /// The index of the annotated block in the pack; annotation blocks count as well.
        1 target_block_id: u64,
        /// The kind of statement, which determines the format of `value`.
        2 kind: AnnotationKind,
        /// The value: a priority code, a summary or a tag, depending on `kind`.
        3 value: CowBytes<'a>,
    }
}

impl<'a> Annotation<'a> {
    /// Returns an annotation that sets the priority of a block. If a block has several, the last
    /// valid one wins.
    #[must_use]
    pub fn priority(target: u64, priority: Priority) -> Self {
        Self::from_fields(target, AnnotationKind::Priority, vec![priority.code()].into())
    }

    /// Returns an annotation that gives a summary to a block without a summary of its own.
    #[must_use]
    pub fn summary(target: u64, summary: impl Into<Cow<'a, str>>) -> Self {
        Self::from_fields(target, AnnotationKind::Summary, summary.into().into())
    }

    /// Returns an annotation that adds a tag to a block.
    #[must_use]
    pub fn tag(target: u64, tag: &Tag<'_>) -> Self {
        Self::from_fields(target, AnnotationKind::Tag, tag.to_string().into())
    }

    /// Returns the priority, or `None` if the annotation has another kind or an invalid value.
    #[must_use]
    pub fn as_priority(&self) -> Option<Priority> {
        match (self.kind, self.value.as_slice()) {
            (AnnotationKind::Priority, &[code]) => Priority::from_code(code),
            _ => None,
        }
    }

    /// Returns the tag, or `None` if the annotation has another kind or is not UTF-8.
    #[must_use]
    pub fn as_tag(&self) -> Option<Tag<'_>> {
        match self.kind {
            AnnotationKind::Tag => self.value.as_str().map(Tag::parse),
            _ => None,
        }
    }
}

/// The value of a TAG annotation: `key=value` or a bare key. Keys other than these are preserved
/// (RFC 0001 §9).
///
/// | tag | on | means |
/// |---|---|---|
/// | `category=NAME` | any block | the category whose share of the budget the block uses |
/// | `rank=0.83` | any block | order within a priority, highest first |
/// | `passages=12-40:830 55-58:412` | any block with text content | ranges of lines, each with its score from 1 to 1000 ([`Passage`](crate::Passage)) |
/// | `reason=TEXT` | any block | a reason for the rank, best first; a block can have several |
/// | `anchors=3` | any block | the number of anchors in the block |
/// | `pinned` | any block | the block is always shown in full |
/// | `tool_call_id=ID` | TOOL_RESULT, any block that is a result | the tool call that it answers |
/// | `args=TEXT` | TOOL_RESULT | the arguments of that call |
/// | `lang=csharp` | CODE | a language without a code in the wire format |
/// | `path=PATH` | STRUCTURED_DATA | the path of the file |
/// | `renamed_from=PATH` | CODE, DOCUMENT, DIFF, STRUCTURED_DATA with a path | the path of the file before it was renamed |
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
    /// The text before the first `=`.
    pub key: Cow<'a, str>,
    /// The text after the first `=`, or `None` if the tag is a bare key.
    pub value: Option<Cow<'a, str>>,
}

impl<'a> Tag<'a> {
    /// The key of the category of a block.
    pub const CATEGORY: &'static str = "category";
    /// The key of the number of the message that a block is part of. Messages are numbered from 0.
    pub const MESSAGE: &'static str = "message";
    /// The key of the rank of a block.
    pub const RANK: &'static str = "rank";
    /// The key of the passages of a block, which excerpts show first ([`Passage`](crate::Passage)).
    pub const PASSAGES: &'static str = "passages";
    /// The key of a reason for the rank of a block. Unlike other keys, it may occur several times.
    pub const REASON: &'static str = "reason";
    /// The key of the number of anchors in a block.
    pub const ANCHORS: &'static str = "anchors";
    /// The key that pins a block, so that it is always shown in full.
    pub const PINNED: &'static str = "pinned";
    /// The key of the id of the tool call that a result answers.
    pub const TOOL_CALL_ID: &'static str = "tool_call_id";
    /// The key of the arguments of that tool call.
    pub const ARGS: &'static str = "args";
    /// The key of the path of a STRUCTURED_DATA block, which has no field for it.
    pub const PATH: &'static str = "path";
    /// The key of the old path of a renamed file.
    pub const RENAMED_FROM: &'static str = "renamed_from";
    /// The key of the language of a CODE block whose language has no code in the wire format: one of
    /// [`Tag::LANGS`].
    pub const LANG: &'static str = "lang";
    /// The key of the character set that the text of a block was decoded from.
    pub const CHARSET: &'static str = "charset";
    /// The key of the format that the text of a block was converted from.
    pub const CONVERTED: &'static str = "converted";
    /// The key of the number of replaced secrets in a block.
    pub const REDACTED: &'static str = "redacted";
    /// The languages that are written as [`Lang::Unknown`](crate::Lang::Unknown) with a tag.
    pub const LANGS: [&'static str; 2] = ["csharp", "kotlin"];

    /// Returns the language with this name from [`Tag::LANGS`].
    #[must_use]
    pub fn known_lang(name: &str) -> Option<&'static str> {
        Self::LANGS.into_iter().find(|lang| *lang == name)
    }

    /// Returns a tag with a value.
    #[must_use]
    pub fn new(key: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: Some(value.into()) }
    }

    /// Returns a tag without a value.
    #[must_use]
    pub fn from_key(key: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: None }
    }

    /// Parses `key=value` or a bare key. Every text is a valid tag.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        match text.split_once('=') {
            Some((key, value)) => Self::new(key, value),
            None => Self::from_key(text),
        }
    }
}

/// The names of the categories that LCP knows (RFC 0004 §4): the sections of a conversation (CBS) and
/// the categories of an agent's context (Task 016.c). A [tag](Tag::CATEGORY) may also have any other
/// name.
pub mod category {
    /// System turns.
    pub const SYSTEM_PROMPT: &str = "system_prompt";
    /// The intent of the user.
    pub const GOAL: &str = "goal";
    /// Facts, decisions and preferences of earlier turns.
    pub const MEMORY: &str = "memory";
    /// Pending tasks, and the state of the session.
    pub const WORKING_STATE: &str = "working_state";
    /// Summaries of earlier turns.
    pub const CONVERSATION_SUMMARY: &str = "conversation_summary";
    /// Content that was looked up for the conversation.
    pub const RETRIEVED_CONTEXT: &str = "retrieved_context";
    /// The turns of the conversation, with tool calls and results.
    pub const RECENT_MESSAGES: &str = "recent_messages";
    /// Instructions that remind the model how to proceed.
    pub const SCAFFOLDING_REMINDER: &str = "scaffolding_reminder";
    /// The results of tools.
    pub const TOOL_RESULTS: &str = "tool_results";
    /// Files, diffs and file trees.
    pub const OPEN_FILES: &str = "open_files";
    /// The results of searches.
    pub const SEARCH_RESULTS: &str = "search_results";
    /// Documents and everything else.
    pub const REFERENCES: &str = "references";

    /// All of these names.
    pub const ALL: [&str; 12] = [
        SYSTEM_PROMPT, GOAL, MEMORY, WORKING_STATE, CONVERSATION_SUMMARY, RETRIEVED_CONTEXT,
        RECENT_MESSAGES, SCAFFOLDING_REMINDER, TOOL_RESULTS, OPEN_FILES, SEARCH_RESULTS,
        REFERENCES,
    ];
}

impl fmt::Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.key),
            None => f.write_str(&self.key),
        }
    }
}
