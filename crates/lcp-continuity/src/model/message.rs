//! The messages of a conversation.

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, Role, Status};

/// The beginning of the summary with which Claude Code continues after a compaction.
const COMPACT_SUMMARY: &str = "This session is being continued from a previous conversation";

/// One message of a conversation: a block, with the id of the tool call that it answers, if any.
///
/// Turns are CONVERSATION blocks and tool results are TOOL_RESULT blocks. Any other block may be a
/// message too, such as an image or a file from the user.
///
/// ```
/// use lcp_continuity::Message;
/// use lcp_types::{Role, Status};
///
/// let call = Message::tool_call("call_1", "read_file src/main.rs");
/// let result = Message::tool_result("call_1", "read_file", Status::Ok, "fn main() {}");
/// assert_eq!(call.tool_call_id(), result.tool_call_id());
/// assert_eq!((result.role(), result.text().as_ref()), (Role::Tool, "fn main() {}"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The block.
    pub block: Block<'static>,
    /// The id of the call that this message answers. Result blocks have no field for it.
    result_of: Option<String>,
}

impl Message {
    /// Creates a message from a block.
    #[must_use]
    pub fn new(block: impl Into<Block<'static>>) -> Self {
        Self { block: block.into(), result_of: None }
    }

    /// Creates a turn of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::turn(Role::User, text)
    }

    /// Creates a turn of the model.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::turn(Role::Assistant, text)
    }

    /// Creates a system prompt or a part of one.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::turn(Role::System, text)
    }

    /// Creates a turn of this role.
    #[must_use]
    pub fn turn(role: Role, text: impl Into<String>) -> Self {
        Self::new(Block::conversation(role, text.into()))
    }

    /// Creates a call of a tool by the model. `text` describes the tool and its arguments.
    #[must_use]
    pub fn tool_call(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Block::conversation_with_call(Role::Assistant, text.into(), id.into()))
    }

    /// Creates the result that `tool` returned for the call `id`.
    #[must_use]
    pub fn tool_result(
        id: impl Into<String>,
        tool: impl Into<String>,
        status: Status,
        text: impl Into<String>,
    ) -> Self {
        Self::new(Block::tool_result(tool.into(), status, text.into())).answering(id)
    }

    /// Marks this message as the result of the call `id`, for any type of block. An empty id
    /// removes the mark.
    #[must_use]
    pub fn answering(mut self, id: impl Into<String>) -> Self {
        self.result_of = Some(id.into()).filter(|id| !id.is_empty());
        self
    }

    /// Returns the role: the role of a turn, `Tool` for results of calls, and `User` for all other
    /// blocks.
    #[must_use]
    pub fn role(&self) -> Role {
        match &self.block.content {
            BlockContent::Conversation(turn) => turn.role,
            BlockContent::ToolResult(_) => Role::Tool,
            _ if self.result_of.is_some() => Role::Tool,
            _ => Role::User,
        }
    }

    /// Returns the text as it is rendered: a file tree as a listing, a diff with its hunk headers.
    /// It is empty for blocks without text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        lcp_driver::content_text(&self.block.content).unwrap_or_default()
    }

    /// Returns the id of the call that this message makes or answers.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&str> {
        match (&self.result_of, &self.block.content) {
            (Some(id), _) => Some(id),
            (None, BlockContent::Conversation(turn)) => {
                turn.tool_call_id.as_deref().filter(|id| !id.is_empty())
            }
            _ => None,
        }
    }

    /// Returns the id of the call that this message answers, if it is stored outside the block.
    #[must_use]
    pub fn answers(&self) -> Option<&str> {
        self.result_of.as_deref()
    }

    /// Returns whether this message is the result of a call.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.result_of.is_some() || self.role() == Role::Tool
    }

    pub(crate) fn is_call(&self) -> bool {
        self.tool_call_id().is_some() && !self.is_result()
    }

    /// Returns the role and text of a user or model turn. `None` for calls, results, blank text, and the
    /// summaries of compactions, which the user did not write.
    pub(crate) fn turn_text(&self) -> Option<(Role, Cow<'_, str>)> {
        let BlockContent::Conversation(turn) = &self.block.content else { return None };
        let is_speech = matches!(turn.role, Role::User | Role::Assistant)
            && turn.tool_call_id.is_none()
            && !self.is_result();
        let text = is_speech.then(|| self.text())?;
        let is_summary = turn.role == Role::User && text.starts_with(COMPACT_SUMMARY);
        (!text.trim().is_empty() && !is_summary).then_some((turn.role, text))
    }
}

/// A message and its position in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The position in the whole conversation, counted from 0 across all epochs.
    pub position: u64,
    /// The epoch in which the message was recorded.
    pub epoch: u32,
    /// The token count of the text.
    pub tokens: u32,
    /// The message.
    pub message: Message,
}
