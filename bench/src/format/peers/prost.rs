//! Protocol Buffers by prost: messages of its own, texts owned.

use prost::Message;

use super::failed;
use crate::format::corpus::Data;
use crate::format::mirror::{self, Borrowed, BorrowedContent, Digest};
use crate::format::{Format, Owned};

pub(super) struct Prost;

/// The message of a pack.
#[derive(Clone, PartialEq, Message)]
pub(in crate::format) struct Pack {
    #[prost(message, repeated, tag = "1")]
    blocks: Vec<Block>,
}

/// The message of a block.
#[derive(Clone, PartialEq, Message)]
struct Block {
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
    /// The message of these blocks.
    pub(in crate::format) fn of(blocks: &[mirror::Block]) -> Self {
        let blocks = blocks.iter().map(|block| {
            let content = match &block.content {
                mirror::Content::Code { lang, path, content, line_start, line_end } => {
                    Content::Code(Code {
                        lang: (*lang).into(),
                        path: path.clone(),
                        content: content.clone(),
                        line_start: *line_start,
                        line_end: *line_end,
                    })
                }
                mirror::Content::Conversation { role, content, tool_call_id } => {
                    Content::Conversation(Conversation {
                        role: (*role).into(),
                        content: content.clone(),
                        tool_call_id: tool_call_id.clone(),
                    })
                }
            };
            Block { summary: block.summary.clone(), content: Some(content) }
        });
        Self { blocks: blocks.collect() }
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        Self::decode(bytes).map_err(failed)
    }
}

impl Block {
    /// What is seen of it; `None` where a code is no byte or nothing is there.
    fn view(&self) -> Option<Borrowed<'_>> {
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

const NO_BLOCK: &str = "a message that is no block";

impl Owned for Pack {
    fn show(&self, see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        for block in &self.blocks {
            see(&block.view().ok_or(NO_BLOCK)?);
        }
        Ok(())
    }
}

impl Format for Prost {
    fn name(&self) -> &'static str {
        "prost"
    }

    fn borrows(&self) -> bool {
        false
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        Ok(data.prost.encode_to_vec())
    }

    fn walk(&self, bytes: &[u8]) -> Result<Digest, String> {
        let mut digest = Digest::default();
        for block in &Pack::read(bytes)?.blocks {
            digest.add(&block.view().ok_or(NO_BLOCK)?);
        }
        Ok(digest)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        Ok(Box::new(Pack::read(bytes)?))
    }

    fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        Pack::read(bytes)?.show(see)
    }
}
