//! Protocol Buffers messages for the blocks, with prost.

use prost::Message;

use super::serde_model::{self, Borrowed, BorrowedContent};

/// The message of a pack.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Pack {
    #[prost(message, repeated, tag = "1")]
    pub(super) blocks: Vec<Block>,
}

/// The message of a block.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Block {
    #[prost(string, optional, tag = "1")]
    summary: Option<String>,
    #[prost(oneof = "Content", tags = "2, 3")]
    content: Option<Content>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Content {
    #[prost(message, tag = "2")]
    Code(Code),
    #[prost(message, tag = "3")]
    Conversation(Conversation),
}

#[derive(Clone, PartialEq, Message)]
struct Code {
    #[prost(uint32, tag = "1")]
    lang: u32,
    #[prost(string, tag = "2")]
    path: String,
    #[prost(string, tag = "3")]
    content: String,
    #[prost(uint32, optional, tag = "4")]
    line_start: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    line_end: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct Conversation {
    #[prost(uint32, tag = "1")]
    role: u32,
    #[prost(string, tag = "2")]
    content: String,
    #[prost(string, optional, tag = "3")]
    tool_call_id: Option<String>,
}

impl Pack {
    /// Copies these blocks into a message.
    pub(super) fn from_blocks(blocks: &[serde_model::Block]) -> Self {
        let blocks = blocks.iter().map(|block| {
            let Borrowed { summary, content } = block.view();
            let content = match content {
                BorrowedContent::Code { lang, path, content, line_start, line_end } => {
                    let (lang, path, content) = (lang.into(), path.into(), content.into());
                    Content::Code(Code { lang, path, content, line_start, line_end })
                }
                BorrowedContent::Conversation { role, content, tool_call_id } => {
                    let (role, content) = (role.into(), content.into());
                    let tool_call_id = tool_call_id.map(str::to_owned);
                    Content::Conversation(Conversation { role, content, tool_call_id })
                }
            };
            Block { summary: summary.map(str::to_owned), content: Some(content) }
        });
        Self { blocks: blocks.collect() }
    }
}

impl Block {
    /// Returns a borrowed view of the block, or `None` if the message is malformed.
    pub(super) fn view(&self) -> Option<Borrowed<'_>> {
        let content = match self.content.as_ref()? {
            Content::Code(code) => BorrowedContent::Code {
                lang: u8::try_from(code.lang).ok()?,
                path: &code.path,
                content: &code.content,
                line_start: code.line_start,
                line_end: code.line_end,
            },
            Content::Conversation(turn) => BorrowedContent::Conversation {
                role: u8::try_from(turn.role).ok()?,
                content: &turn.content,
                tool_call_id: turn.tool_call_id.as_deref(),
            },
        };
        Some(Borrowed { summary: self.summary.as_deref(), content })
    }
}
