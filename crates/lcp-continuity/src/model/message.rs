//! Messages: what is recorded of a conversation.

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, Role, Status};

/// One message of a conversation: a block, and the tool call that it belongs to.
///
/// Turns are CONVERSATION blocks, results TOOL_RESULT blocks; any other block may
/// be a message too, an image or a file that the user handed in.
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
    /// What it is.
    pub block: Block<'static>,
    /// The call that a result answers: its block has no field for that.
    result_of: Option<String>,
}

impl Message {
    /// A message that is this block.
    #[must_use]
    pub fn new(block: impl Into<Block<'static>>) -> Self {
        Self { block: block.into(), result_of: None }
    }

    /// What the user says.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::turn(Role::User, text)
    }

    /// What the model says.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::turn(Role::Assistant, text)
    }

    /// A system prompt, or a part of it.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::turn(Role::System, text)
    }

    /// A turn of this role.
    #[must_use]
    pub fn turn(role: Role, text: impl Into<String>) -> Self {
        Self::new(Block::conversation(role, text.into()))
    }

    /// The model calls a tool: `text` says which, with what.
    #[must_use]
    pub fn tool_call(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Block::conversation_with_call(Role::Assistant, text.into(), id.into()))
    }

    /// What the call `id` of `tool` gave back.
    #[must_use]
    pub fn tool_result(
        id: impl Into<String>,
        tool: impl Into<String>,
        status: Status,
        text: impl Into<String>,
    ) -> Self {
        Self::new(Block::tool_result(tool.into(), status, text.into())).answering(id)
    }

    /// This, as what the call `id` gave back, whatever the block is; an empty id is none.
    #[must_use]
    pub fn answering(mut self, id: impl Into<String>) -> Self {
        self.result_of = Some(id.into()).filter(|id| !id.is_empty());
        self
    }

    /// Who speaks: tools of what answers a call, the user of all else that is no turn.
    #[must_use]
    pub fn role(&self) -> Role {
        match &self.block.content {
            BlockContent::Conversation(turn) => turn.role,
            BlockContent::ToolResult(_) => Role::Tool,
            _ if self.result_of.is_some() => Role::Tool,
            _ => Role::User,
        }
    }

    /// What it says, as it is rendered: trees are listed, changes have the heads of their
    /// hunks. Empty for blocks that hold no text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        lcp_driver::content_text(&self.block.content).unwrap_or_default()
    }

    /// The call that it makes or answers.
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

    /// The call that it answers and its block has no field for.
    pub(crate) fn answers(&self) -> Option<&str> {
        self.result_of.as_deref()
    }

    /// Whether it answers a call, rather than making one or none.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.result_of.is_some() || self.role() == Role::Tool
    }

    pub(crate) fn is_call(&self) -> bool {
        self.tool_call_id().is_some() && !self.is_result()
    }

    /// Returns what the user or the model says in a turn with text that is no call.
    pub(crate) fn turn_text(&self) -> Option<(Role, Cow<'_, str>)> {
        let BlockContent::Conversation(turn) = &self.block.content else { return None };
        let is_speech = matches!(turn.role, Role::User | Role::Assistant)
            && turn.tool_call_id.is_none()
            && !self.is_result();
        let text = is_speech.then(|| self.text())?;
        (!text.trim().is_empty()).then_some((turn.role, text))
    }
}

/// A message and its place in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its place, counted from 0; over the whole conversation, whatever the epoch.
    pub position: u64,
    /// The epoch that it was recorded in.
    pub epoch: u32,
    /// The tokens of its text.
    pub tokens: u32,
    /// The message.
    pub message: Message,
}
