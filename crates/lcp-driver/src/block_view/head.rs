//! The head of a block: its type and a list of arguments that each mode prints in its own way.

use std::borrow::Cow;

use lcp_types::{Block, BlockContent, BlockMeta, Lang, Priority, Status, Tag};

/// The attribute of the old path of a renamed file in XML.
pub(crate) const RENAMED_FROM: &str = Tag::RENAMED_FROM;

/// The word before that path in other modes.
pub(crate) const FROM: &str = "from";

#[derive(Clone, Debug)]
pub(crate) struct Head<'b> {
    /// The label of the block type: the element name in XML, the first word in other modes.
    pub(crate) word: &'static str,
    /// The role of a chat turn, which Markdown and Minimal show in place of the type.
    pub(crate) role: Option<Cow<'static, str>>,
    pub(crate) args: Vec<Arg<'b>>,
    /// The priority, if an annotation sets it above Normal.
    pub(crate) priority: Option<Priority>,
}

#[derive(Clone, Debug)]
pub(crate) struct Arg<'b> {
    /// The name of the attribute in XML.
    pub(crate) key: &'static str,
    pub(crate) value: Cow<'b, str>,
    pub(crate) form: Form,
}

/// The form of an argument in modes other than XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A word, in quotes if necessary.
    Word,
    /// A range such as `:1-20` after the previous word.
    Lines,
    /// An id such as `#id`.
    Call,
    /// The old path of a renamed file, as in `from src/old.rs`.
    From,
    /// Only an attribute in XML. It is omitted in other modes and in placeholders, because the
    /// other arguments imply it.
    XmlOnly,
}

impl<'b> Head<'b> {
    pub(crate) fn new(block: &'b Block<'_>, meta: Option<&'b BlockMeta<'_>>) -> Self {
        let mut head = Self {
            word: block.block_type().label(),
            role: None,
            args: Vec::new(),
            priority: meta.filter(|meta| meta.annotated).map(|meta| meta.priority),
        };
        // Only a high priority is worth its tokens.
        head.priority = head.priority.filter(|priority| *priority < Priority::Normal);
        head.fill(block, meta.and_then(|meta| meta.lang));
        // A chat turn has a field for the tool call; a tool result needs the tag.
        if let Some(id) = meta.and_then(|meta| meta.tool_call_id.as_deref())
            && matches!(block.content, BlockContent::ToolResult(_))
        {
            head.push("tool_call_id", id, Form::Call);
        }
        // The types have no fields for these paths.
        let mut is_file = matches!(
            block.content,
            BlockContent::Code(_) | BlockContent::Document(_) | BlockContent::Diff(_)
        );
        if let Some(path) = meta.and_then(|meta| meta.path.as_deref())
            && matches!(block.content, BlockContent::StructuredData(_))
        {
            head.push("path", path, Form::Word);
            is_file = true;
        }
        if let Some(path) = meta.and_then(|meta| meta.renamed_from.as_deref())
            && is_file
        {
            head.push(RENAMED_FROM, path, Form::From);
        }
        head
    }

    fn fill(&mut self, block: &'b Block<'_>, tagged_lang: Option<&'static str>) {
        match &block.content {
            BlockContent::Code(code) => {
                let name = if code.lang == Lang::Unknown { tagged_lang } else { code.lang.name() };
                if let Some(name) = name {
                    self.push("lang", name, Form::XmlOnly);
                }
                self.push("path", code.path.as_ref(), Form::Word);
                if code.line_start.is_some() || code.line_end.is_some() {
                    let line = |line: Option<u32>| line.map(|n| n.to_string()).unwrap_or_default();
                    let lines = format!("{}-{}", line(code.line_start), line(code.line_end));
                    self.push("lines", lines, Form::Lines);
                }
            }
            BlockContent::Conversation(turn) => {
                let role = turn.role.label();
                self.push("role", role.clone(), Form::Word);
                self.role = Some(role);
                if let Some(id) = &turn.tool_call_id {
                    self.push("tool_call_id", id.as_ref(), Form::Call);
                }
            }
            BlockContent::FileTree(tree) => self.push("root", tree.root.as_ref(), Form::Word),
            BlockContent::ToolResult(result) => {
                self.push("name", result.tool_name.as_ref(), Form::Word);
                // Most calls succeed, so only another status is worth a word.
                if result.status != Status::Ok {
                    self.push("status", result.status.to_string(), Form::Word);
                }
                if let Some(schema) = &result.schema_hint {
                    self.push("schema", schema.as_ref(), Form::XmlOnly);
                }
            }
            BlockContent::Document(document) => {
                self.push("title", document.title.as_ref(), Form::Word);
            }
            BlockContent::StructuredData(data) => {
                self.push("format", data.format.to_string(), Form::Word);
                if let Some(schema) = &data.schema {
                    self.push("schema", schema.as_ref(), Form::XmlOnly);
                }
            }
            BlockContent::Diff(diff) => self.push("path", diff.path.as_ref(), Form::Word),
            BlockContent::EmbeddingRef(embedding) => {
                self.push("vector_id", embedding.vector_id.to_str_lossy(), Form::Word);
                self.push("model", embedding.model.as_ref(), Form::Word);
            }
            BlockContent::Image(image) => {
                self.push("media_type", image.media_type.to_string(), Form::Word);
                self.push("bytes", image.data.len().to_string(), Form::Word);
            }
            BlockContent::Extension(extension) => {
                self.push("namespace", extension.namespace.as_ref(), Form::Word);
                self.push("type_name", extension.type_name.as_ref(), Form::Word);
            }
            BlockContent::Raw(raw) => {
                self.push("type_id", raw.type_id.to_string(), Form::Word);
                self.push("bytes", raw.body.len().to_string(), Form::Word);
            }
            BlockContent::Annotation(annotation) => {
                self.push("target", annotation.target_block_id.to_string(), Form::Word);
            }
        }
    }

    fn push(&mut self, key: &'static str, value: impl Into<Cow<'b, str>>, form: Form) {
        self.args.push(Arg { key, value: value.into(), form });
    }
}
