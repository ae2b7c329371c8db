//! What blocks hold: one table per type, ids and names as in RFC 0001 §7.
//!
//! `content` is bytes and may be any; the other texts are UTF-8. Fields that
//! are `Option` may be absent on the wire.

use std::borrow::Cow;

use crate::codec::record;
use crate::{CowBytes, DataFormat, FileEntryKind, FormatHint, Lang, MediaType, Role, Status};

record! {
    /// CODE: a source file, or a range of its lines.
    Code {
        /// The language.
        1 lang: Lang,
        /// The path, as the writer names it.
        2 path: Cow<'a, str>,
        /// The source text.
        3 content: CowBytes<'a>,
        /// The first line of the range, counted from 1.
        4 line_start: Option<u32>,
        /// The last line of the range, included.
        5 line_end: Option<u32>,
    }
}

record! {
    /// CONVERSATION: one turn of a chat.
    Conversation {
        /// Who speaks.
        1 role: Role,
        /// What is said.
        2 content: CowBytes<'a>,
        /// The id of the tool call that this turn makes or answers.
        3 tool_call_id: Option<Cow<'a, str>>,
    }
}

record! {
    /// FILE_TREE: directories and files, without their contents.
    FileTree {
        /// The path that the entries stand below.
        1 root: Cow<'a, str>,
        /// Files and directories, in the writer's order.
        2 entries: Vec<FileEntry<'a>>,
    }
}

record! {
    /// One entry of a [`FileTree`].
    FileEntry {
        /// The name, without the path.
        1 name: Cow<'a, str>,
        /// File or directory.
        2 kind: FileEntryKind,
        /// Bytes of a file.
        3 size: u64,
        /// What a directory holds.
        4 children: Vec<FileEntry<'a>>,
    }
}

record! {
    /// TOOL_RESULT: what a tool gave back.
    ToolResult {
        /// The tool.
        1 tool_name: Cow<'a, str>,
        /// How the call ended.
        2 status: Status,
        /// What it printed.
        3 content: CowBytes<'a>,
        /// What the content looks like, in the writer's words.
        4 schema_hint: Option<Cow<'a, str>>,
    }
}

record! {
    /// DOCUMENT: prose.
    Document {
        /// The title.
        1 title: Cow<'a, str>,
        /// The text.
        2 content: CowBytes<'a>,
        /// Its format.
        3 format_hint: FormatHint,
    }
}

record! {
    /// STRUCTURED_DATA: JSON and its like.
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
    /// DIFF: changes of one file.
    Diff {
        /// The path, as the writer names it.
        1 path: Cow<'a, str>,
        /// The hunks, in the writer's order.
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
        /// Lines that begin with `+`, `-` or a space.
        3 lines: CowBytes<'a>,
    }
}

record! {
    /// EMBEDDING_REF: a vector that is stored elsewhere.
    EmbeddingRef {
        /// Its id in the vector store.
        1 vector_id: CowBytes<'a>,
        /// The hash of what was embedded.
        2 source_hash: CowBytes<'a>,
        /// The model that made it.
        3 model: Cow<'a, str>,
    }
}

record! {
    /// IMAGE: a picture and what it shows.
    Image {
        /// The format of the data.
        1 media_type: MediaType,
        /// What it shows, for models that see only text.
        2 alt_text: Cow<'a, str>,
        /// The encoded picture.
        3 data: CowBytes<'a>,
    }
}

record! {
    /// EXTENSION: a type that somebody else defines.
    Extension {
        /// Who defines it.
        1 namespace: Cow<'a, str>,
        /// What it is there.
        2 type_name: Cow<'a, str>,
        /// What it holds.
        3 content: CowBytes<'a>,
    }
}
