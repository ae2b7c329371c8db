//! The blocks as structs with the derives of general formats, and as a borrowed view.

use bincode::{BorrowDecode, Decode, Encode};
use lcp_types::{Block as LcpBlock, BlockContent};
use rkyv::Archive;
use serde::{Deserialize, Serialize};
use wincode::{SchemaRead, SchemaWrite};

/// A block that owns its texts.
#[derive(
    Serialize,
    Deserialize,
    Encode,
    Decode,
    SchemaWrite,
    SchemaRead,
    bitcode::Encode,
    bitcode::Decode,
    Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(super) struct Block {
    pub(super) summary: Option<String>,
    pub(super) content: Content,
}

/// The content of a block.
#[derive(
    Serialize,
    Deserialize,
    Encode,
    Decode,
    SchemaWrite,
    SchemaRead,
    bitcode::Encode,
    bitcode::Decode,
    Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(super) enum Content {
    /// A file.
    Code { lang: u8, path: String, content: String, line_start: Option<u32>, line_end: Option<u32> },
    /// A turn.
    Conversation { role: u8, content: String, tool_call_id: Option<String> },
}

/// The same block, its texts borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, BorrowDecode, SchemaRead)]
pub(super) struct Borrowed<'a> {
    #[serde(borrow)]
    pub(super) summary: Option<&'a str>,
    pub(super) content: BorrowedContent<'a>,
}

/// The content of a block, its texts borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, BorrowDecode, SchemaRead)]
pub(super) enum BorrowedContent<'a> {
    /// A file.
    Code {
        lang: u8,
        path: &'a str,
        content: &'a str,
        line_start: Option<u32>,
        line_end: Option<u32>,
    },
    /// A turn.
    Conversation {
        role: u8,
        content: &'a str,
        #[serde(borrow)]
        tool_call_id: Option<&'a str>,
    },
}

/// Returns a borrowed view of a block, or `None` if it is not a file or a turn of UTF-8.
#[inline]
pub(super) fn view<'b>(block: &'b LcpBlock<'_>) -> Option<Borrowed<'b>> {
    let content = match &block.content {
        BlockContent::Code(code) => BorrowedContent::Code {
            lang: code.lang.code(),
            path: &code.path,
            content: code.content.as_str()?,
            line_start: code.line_start,
            line_end: code.line_end,
        },
        BlockContent::Conversation(turn) => BorrowedContent::Conversation {
            role: turn.role.code(),
            content: turn.content.as_str()?,
            tool_call_id: turn.tool_call_id.as_deref(),
        },
        _ => return None,
    };
    Some(Borrowed { summary: block.summary.as_deref(), content })
}

impl Block {
    /// Copies a block, which must be a file or a turn of UTF-8.
    pub(super) fn from_lcp(block: &LcpBlock<'_>) -> Self {
        let view = view(block).expect("the corpus is files and turns of UTF-8");
        Self {
            summary: view.summary.map(str::to_owned),
            content: match view.content {
                BorrowedContent::Code { lang, path, content, line_start, line_end } => {
                    let (path, content) = (path.to_owned(), content.to_owned());
                    Content::Code { lang, path, content, line_start, line_end }
                }
                BorrowedContent::Conversation { role, content, tool_call_id } => {
                    let tool_call_id = tool_call_id.map(str::to_owned);
                    Content::Conversation { role, content: content.to_owned(), tool_call_id }
                }
            },
        }
    }

    /// Returns a borrowed view of the block.
    #[inline]
    pub(super) fn view(&self) -> Borrowed<'_> {
        let content = match &self.content {
            Content::Code { lang, path, content, line_start, line_end } => BorrowedContent::Code {
                lang: *lang,
                path,
                content,
                line_start: *line_start,
                line_end: *line_end,
            },
            Content::Conversation { role, content, tool_call_id } => {
                let tool_call_id = tool_call_id.as_deref();
                BorrowedContent::Conversation { role: *role, content, tool_call_id }
            }
        };
        Borrowed { summary: self.summary.as_deref(), content }
    }
}

/// A hash of numbers and lengths, so that the compiler cannot optimise reads away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    /// Returns the digest of these blocks.
    pub(super) fn from_blocks<'a>(blocks: impl IntoIterator<Item = Borrowed<'a>>) -> Self {
        let mut digest = Self::default();
        for block in blocks {
            digest.add(&block);
        }
        digest
    }

    #[inline]
    fn number(&mut self, number: u64) {
        self.0 = self.0.rotate_left(7).wrapping_add(number);
    }

    #[inline]
    fn optional(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number + 1));
    }

    /// Adds the summary of a block.
    #[inline]
    pub(super) fn summary(&mut self, summary: Option<&str>) {
        self.optional(summary.map(|text| text.len() as u64));
    }

    /// Adds a file.
    #[inline]
    pub(super) fn code(
        &mut self,
        lang: u8,
        path: &str,
        content: &str,
        lines: (Option<u32>, Option<u32>),
    ) {
        self.number(lang.into());
        self.number(path.len() as u64);
        self.number(content.len() as u64);
        self.optional(lines.0.map(u64::from));
        self.optional(lines.1.map(u64::from));
    }

    /// Adds a turn.
    #[inline]
    pub(super) fn turn(&mut self, role: u8, content: &str, tool_call_id: Option<&str>) {
        self.number(role.into());
        self.number(content.len() as u64);
        self.optional(tool_call_id.map(|text| text.len() as u64));
    }

    /// Adds a block.
    #[inline]
    pub(super) fn add(&mut self, block: &Borrowed<'_>) {
        self.summary(block.summary);
        match block.content {
            BorrowedContent::Code { lang, path, content, line_start, line_end } => {
                self.code(lang, path, content, (line_start, line_end));
            }
            BorrowedContent::Conversation { role, content, tool_call_id } => {
                self.turn(role, content, tool_call_id);
            }
        }
    }
}
