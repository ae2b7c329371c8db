//! The contents of blocks: one table per type, with ids and names as in RFC 0001 §7.
//!
//! A `content` field holds arbitrary bytes; the other texts are UTF-8. Fields of type `Option` may
//! be absent on the wire.
//!
//! # Adding a block type
//!
//! Add a table here, a row in `crates/lcp-types/src/block.rs`, RFC 0001 §7 and
//! `samples/every-type.json`. The compiler then asks for `Block::label`,
//! `crates/lcp-driver/src/block_view/head.rs` and `crates/lcp-driver/src/special_tokens/texts.rs`.
//! Matches in the following files have a default, so the compiler does not ask for them:
//!
//! | file | decides |
//! |---|---|
//! | `crates/lcp-types/src/block.rs` (`text_of!`) | whether the content is text |
//! | `crates/lcp-driver/src/block_view/content.rs` | the text that a render shows |
//! | `crates/lcp-driver/src/block_view/mod.rs` | the default category, the info string of the fence, the part that an excerpt shows |
//! | `crates/lcp-driver/src/parse/blocks.rs` | how rendered text is parsed back |
//! | `crates/lcp-dedup/src/stub.rs`, `crates/lcp-dedup/src/apply.rs` | the name in stubs, the tokens |
//! | `crates/lcp-dedup/src/detect.rs` | whether white space matters, whether near duplicates are detected |
//! | `crates/lcp-dedup/src/exact.rs` | equality with other blocks |
//! | `crates/lcp-dedup/src/origin.rs`, `crates/lcp-dedup/src/paths.rs` | the path or title that identifies it |
//! | `crates/lcp-ingest/src/summaries.rs` | whether it gets a summary |
//! | `crates/lcp-continuity/src/extract/state/files.rs` | whether a hand-off lists it as a file |
//! | `crates/lcp-decoder/src/blocks.rs` | whether the fast path reads it |
//! | `crates/lcp-encoder/src/manifest/mod.rs` | the keys that a manifest may omit |
//! | `crates/lcp-continuity/src/extract/summary/lines.rs`, `crates/lcp-continuity/src/extract/summary/command.rs` | the label in summaries, the speaker in the input of a summarizer |
//! | `crates/lcp-transcripts/src/export/parts.rs` | the text in a chat |
//! | `crates/lcp-app/src/export/exported_content.rs` | the text in a message at each detail level |
//! | `crates/lcp-app/src/sessions/input.rs` | whether it becomes a message of a session |
//! | `crates/lcp-app/src/find_block.rs` | the bytes that `cat` and `expand` return |
//! | `crates/lcp-app/src/parse.rs` | the fields of the head besides the label |
//! | `crates/lcp-mcp/src/tools/render.rs` | the list of types in the schema of the tool `render` |
//! | `crates/lcp-testkit/src/blocks.rs` | random blocks in tests |
//! | `formats/lcp.ksy`, `fuzz/decoder.py` | the other descriptions of the format |

use std::borrow::Cow;

use crate::codec::record;
use crate::{CowBytes, DataFormat, FileEntryKind, FormatHint, Lang, MediaType, Role, Status};

record! {
    /// CODE: a source file, or a range of its lines.
    Code {
        /// The language.
        1 lang: Lang,
        /// The path as the writer gave it.
        2 path: Cow<'a, str>,
        /// The source text.
        3 content: CowBytes<'a>,
        /// The first line of the range, counted from 1.
        4 line_start: Option<u32>,
        /// The last line of the range, inclusive.
        5 line_end: Option<u32>,
    }
}

record! {
    /// CONVERSATION: one turn of a chat.
    Conversation {
        /// The role of the speaker.
        1 role: Role,
        /// The text of the turn.
        2 content: CowBytes<'a>,
        /// The id of the tool call that this turn makes or answers.
        3 tool_call_id: Option<Cow<'a, str>>,
    }
}

record! {
    /// FILE_TREE: directories and files, without their contents.
    FileTree {
        /// The path that contains the entries.
        1 root: Cow<'a, str>,
        /// The files and directories, in the order of the writer.
        2 entries: Vec<FileEntry<'a>>,
    }
}

record! {
    /// One entry of a [`FileTree`].
    FileEntry {
        /// The name, without the path.
        1 name: Cow<'a, str>,
        /// The kind of entry: file or directory.
        2 kind: FileEntryKind,
        /// The size of a file in bytes.
        3 size: u64,
        /// The entries of a directory.
        4 children: Vec<FileEntry<'a>>,
    }
}

record! {
    /// TOOL_RESULT: the output of a tool call.
    ToolResult {
        /// The name of the tool.
        1 tool_name: Cow<'a, str>,
        /// The outcome of the call.
        2 status: Status,
        /// The output.
        3 content: CowBytes<'a>,
        /// A free-form description of the format of the content.
        4 schema_hint: Option<Cow<'a, str>>,
    }
}

record! {
    /// DOCUMENT: a text document.
    Document {
        /// The title.
        1 title: Cow<'a, str>,
        /// The text.
        2 content: CowBytes<'a>,
        /// The format of the content.
        3 format_hint: FormatHint,
    }
}

record! {
    /// STRUCTURED_DATA: structured data, such as JSON.
    StructuredData {
        /// The format.
        1 format: DataFormat,
        /// The schema, or its name.
        2 schema: Option<Cow<'a, str>>,
        /// The data.
        3 content: CowBytes<'a>,
    }
}

record! {
    /// DIFF: the changes to one file.
    Diff {
        /// The path as the writer gave it.
        1 path: Cow<'a, str>,
        /// The hunks, in the order of the writer.
        2 hunks: Vec<DiffHunk<'a>>,
    }
}

record! {
    /// One hunk of a [`Diff`].
    DiffHunk {
        /// The first line of the hunk in the old file.
        1 old_start: u32,
        /// The first line of the hunk in the new file.
        2 new_start: u32,
        /// The lines. Each begins with `+`, `-` or a space.
        3 lines: CowBytes<'a>,
    }
}

record! {
    /// EMBEDDING_REF: a vector that is stored elsewhere.
    EmbeddingRef {
        /// The id of the vector in its store.
        1 vector_id: CowBytes<'a>,
        /// The hash of the embedded content.
        2 source_hash: CowBytes<'a>,
        /// The model that computed the vector.
        3 model: Cow<'a, str>,
    }
}

record! {
    /// IMAGE: a picture with its alternate text.
    Image {
        /// The format of the data.
        1 media_type: MediaType,
        /// The alternate text, for models that see only text.
        2 alt_text: Cow<'a, str>,
        /// The encoded image.
        3 data: CowBytes<'a>,
    }
}

record! {
    /// EXTENSION: a type that another program defines.
    Extension {
        /// The namespace of the program that defines the type.
        1 namespace: Cow<'a, str>,
        /// The name of the type within the namespace.
        2 type_name: Cow<'a, str>,
        /// The content.
        3 content: CowBytes<'a>,
    }
}
