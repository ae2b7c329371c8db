//! Conversion of parsed parts to blocks (RFC 0008 §2).
//!
//! Each part becomes a block, which is rendered again. If the bytes differ, no renderer wrote the
//! part, and parsing fails. So a lenient parser accepts nothing else.

use std::borrow::Cow;

use lcp_types::{
    Block, BlockContent, BlockMeta, BlockType, Code, Conversation, DataFormat, FormatHint, Lang,
    MediaType, Priority, Role, Status, StructuredData, Tag, ToolResult, UnknownFields,
};

use super::bodies::{self, BodyError};
use super::{Cursor, ParseError, ParsedPart, PartKind, parse};
use crate::block_view::line_numbers::remove_numbers;
use crate::block_view::{BlockView, FROM};
use crate::detail::OutputMode;
use crate::excerpt::OMISSION;
use crate::render::{Part, Shown, envelope, part, part_with_body, placeholder, roll_up};

/// The blocks that a rendered text shows, and those that it omits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedBlocks {
    /// The blocks that it shows, in order.
    pub blocks: Vec<ParsedBlock>,
    /// The placeholders and roll-up lines of omitted blocks.
    pub omitted: Vec<ParsedPart>,
}

/// A block of a rendered text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedBlock {
    /// The block. Unless [`Self::shown`] is `Full`, its content is the shorter text that is shown;
    /// a type whose content is not text becomes a DOCUMENT with that text.
    pub block: Block<'static>,
    /// The way in which it is shown.
    pub shown: PartKind,
    /// The type in the head.
    pub block_type: BlockType,
    /// The priority, if the head has one: Critical or High.
    pub priority: Option<Priority>,
    /// The call that a tool result answers; packs store it as a tag.
    pub tool_call_id: Option<String>,
    /// The language of code that packs store as a tag: one of [`Tag::LANGS`].
    pub lang: Option<&'static str>,
    /// The path of structured data; packs store it as a tag.
    pub path: Option<String>,
    /// The old path of a renamed file; packs store it as a tag.
    pub renamed_from: Option<String>,
    /// The manifest names of fields that the text does not show; the block has their most neutral
    /// value.
    pub absent: &'static [&'static str],
}

/// Parses a text that was rendered in this mode into blocks (RFC 0008 §2). Of blocks that it shows
/// in full, type, content and labels of up to 200 characters are exact.
///
/// # Errors
///
/// Returns a [`ParseError`] if this version cannot have rendered the text, or if a tree has more
/// levels than [`DEPTH_MAX`](lcp_types::limits::DEPTH_MAX).
///
/// ```
/// use lcp_driver::{OutputMode, parse};
/// use lcp_types::{Block, Role};
///
/// let text = "[user] Why?\n[omitted: code src/a.rs ~823tok]\n";
/// let found = parse::parse_blocks(text, OutputMode::Minimal)?;
/// assert_eq!(found.blocks[0].block, Block::conversation(Role::User, "Why?"));
/// assert_eq!(found.omitted[0].words, ["src/a.rs"]);
/// # Ok::<(), parse::ParseError>(())
/// ```
pub fn parse_blocks(text: &str, mode: OutputMode) -> Result<ParsedBlocks, ParseError> {
    let mut found = ParsedBlocks::default();
    for mut parsed in parse(text, mode)? {
        let start = Cursor { text, at: parsed.at.start };
        if let PartKind::RolledUp { count, tokens } = parsed.kind {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            check_rendering(start, &parsed, &roll_up(count, tokens, mode))?;
            found.omitted.push(parsed);
            continue;
        }
        let Some(mut typed) = TypedPart::from_parsed(&parsed) else {
            return start.fail("a block header");
        };
        if let (PartKind::Full, Some(body)) = (parsed.kind, &parsed.body) {
            let Some(body) = content_of_body(&parsed, body) else {
                return start.fail("a numbered line");
            };
            set_content(&mut typed.block, &body).map_err(|error| {
                let (expected, exceeded) = error.describe();
                ParseError { offset: start.at, expected, exceeded }
            })?;
        }
        typed.check(start, &parsed, mode)?;
        // The check of an excerpt does not see the content.
        let body = parsed.body.as_ref().filter(|_| parsed.kind == PartKind::Excerpt);
        if let Some(body) = body {
            let Some(content) = content_of_body(&parsed, body).map(Cow::into_owned) else {
                return start.fail("a numbered line");
            };
            parsed.body = Some(content);
        }
        match parsed.kind {
            PartKind::Placeholder { .. } => found.omitted.push(parsed),
            _ => found.blocks.push(typed.shown(parsed, mode)),
        }
    }
    // An empty text has no envelope.
    if found == ParsedBlocks::default() && !text.is_empty() {
        return Cursor { text, at: envelope(mode).0.len() }.fail("a block");
    }
    Ok(found)
}

/// A part that was converted to a block of its type.
struct TypedPart {
    block: Block<'static>,
    /// The byte count of content that no text shows: an image, the body of an unknown type.
    bytes: Option<String>,
    path: Option<String>,
    renamed_from: Option<String>,
}

impl TypedPart {
    /// Builds the block from the head alone; returns `None` if no block has such a head.
    fn from_parsed(parsed: &ParsedPart) -> Option<Self> {
        let mut words = parsed.words.iter().map(String::as_str);
        let mut word = || words.next().map(str::to_owned);
        let unknown = UnknownFields::new;
        let (mut bytes, mut path, mut renamed_from) = (None, None, None);
        let block = match BlockType::from_label(&parsed.block_type) {
            Some(BlockType::Code) => {
                let (line_start, line_end) = parse_line_range(parsed.lines.as_deref())?;
                let (path, content) = (word()?.into(), "".into());
                let lang = parsed.lang.as_deref().and_then(Lang::from_name);
                let lang = lang.unwrap_or(Lang::Unknown);
                Block::new(Code { lang, path, content, line_start, line_end, unknown: unknown() })
            }
            Some(BlockType::Conversation) => Block::new(Conversation {
                role: parse_role(&word()?)?,
                content: "".into(),
                tool_call_id: parsed.tool_call_id.clone().map(Into::into),
                unknown: unknown(),
            }),
            Some(BlockType::FileTree) => Block::file_tree(word()?, Vec::new()),
            Some(BlockType::ToolResult) => Block::new(ToolResult {
                tool_name: word()?.into(),
                status: match word() {
                    Some(status) => {
                        from_name_or_code(&status, Status::from_name, Status::from_code)?
                    }
                    None => Status::Ok,
                },
                content: "".into(),
                schema_hint: parsed.schema.clone().map(Into::into),
                unknown: unknown(),
            }),
            Some(BlockType::Document) => Block::document(word()?, "", format_hint(parsed)),
            Some(BlockType::StructuredData) => {
                let format =
                    from_name_or_code(&word()?, DataFormat::from_name, DataFormat::from_code)?;
                path = word();
                Block::new(StructuredData {
                    format,
                    schema: parsed.schema.clone().map(Into::into),
                    content: "".into(),
                    unknown: unknown(),
                })
            }
            Some(BlockType::Diff) => Block::diff(word()?, Vec::new()),
            Some(BlockType::EmbeddingRef) => {
                Block::embedding_ref(word()?.into_bytes(), "", word()?)
            }
            Some(BlockType::Image) => {
                let media_type =
                    from_name_or_code(&word()?, MediaType::from_name, MediaType::from_code)?;
                bytes = Some(word()?);
                Block::image(media_type, "", "")
            }
            Some(BlockType::Extension) => Block::extension(word()?, word()?, ""),
            None if parsed.block_type == BlockType::Other(0).label() => {
                let code = word()?.parse().ok()?;
                bytes = Some(word()?);
                Some(code)
                    .filter(|code| matches!(BlockType::from_code(*code), BlockType::Other(_)))?;
                Block::raw(code, "")
            }
            _ => return None,
        };
        let is_file = match block.content {
            BlockContent::Code(_) | BlockContent::Document(_) | BlockContent::Diff(_) => true,
            BlockContent::StructuredData(_) => path.is_some(),
            _ => false,
        };
        if is_file && let Some(from) = word() {
            renamed_from = Some(word()?).filter(|_| from == FROM);
        }
        let is_figure = |bytes: &String| bytes.parse().is_ok_and(|n: u64| n.to_string() == *bytes);
        let is_whole = words.next().is_none() && bytes.as_ref().is_none_or(is_figure);
        (is_whole && !block.content.is_metadata()).then_some(Self {
            block,
            bytes,
            path,
            renamed_from,
        })
    }

    /// Renders the block again and compares the result with the text.
    fn check(
        &self,
        start: Cursor<'_>,
        parsed: &ParsedPart,
        mode: OutputMode,
    ) -> Result<(), ParseError> {
        // An empty tag has no effect.
        fn tag(value: Option<&String>) -> Option<Cow<'_, str>> {
            value.filter(|value| !value.is_empty()).map(Into::into)
        }
        let (annotated, priority) =
            (parsed.priority.is_some(), parsed.priority.unwrap_or_default());
        let meta = BlockMeta {
            annotated,
            priority,
            tool_call_id: tag(parsed.tool_call_id.as_ref()),
            lang: tagged_lang(parsed),
            path: tag(self.path.as_ref()),
            line_numbers: parsed.numbered,
            renamed_from: tag(self.renamed_from.as_ref()),
            ..BlockMeta::default()
        };
        let mut view = BlockView::new(&self.block, &meta);
        if let (Some(arg), Some(bytes)) = (view.head.args.last_mut(), &self.bytes) {
            arg.value = bytes.into();
        }
        let shown = match parsed.kind {
            PartKind::Placeholder { tokens } => {
                let Ok(tokens) = u32::try_from(tokens) else {
                    return start.fail("a number of tokens");
                };
                return check_rendering(start, parsed, &placeholder(&view.head, tokens, mode));
            }
            PartKind::Detailed => Shown::Detailed,
            PartKind::Summary => Shown::Summary,
            PartKind::Tags => Shown::Tags,
            PartKind::Excerpt => Shown::Excerpt,
            PartKind::Full | PartKind::RolledUp { .. } => {
                return check_rendering(start, parsed, &part(&view, Shown::Content, mode));
            }
        };
        check_rendering(start, parsed, &part_with_body(&view, shown, parsed.body.as_deref(), mode))
    }

    /// Converts it to a block with the shown text as its content.
    fn shown(self, parsed: ParsedPart, mode: OutputMode) -> ParsedBlock {
        let mut block = self.block;
        let block_type = block.block_type();
        let lang = tagged_lang(&parsed).filter(|_| block_type == BlockType::Code);
        let mut absent = absent(&block.content, &parsed, mode);
        if parsed.kind != PartKind::Full {
            let text = parsed.body.unwrap_or_default();
            if block.content.text().is_none() && block_type != BlockType::Image {
                block = Block::document(block.label().into_owned(), text, FormatHint::Plain);
                absent = FORMAT_HINT;
            } else {
                // These types accept any text.
                let _ = set_content(&mut block, &text);
            }
        }
        let is_tag = matches!(block_type, BlockType::ToolResult);
        ParsedBlock {
            block,
            shown: parsed.kind,
            block_type,
            priority: parsed.priority,
            tool_call_id: parsed.tool_call_id.filter(|_| is_tag),
            lang,
            path: self.path,
            renamed_from: self.renamed_from,
            absent,
        }
    }
}

/// Returns the content without the numbers of its lines. Returns `None` if a line has no number,
/// except for the line of an excerpt that counts the omitted rest.
fn content_of_body<'t>(parsed: &ParsedPart, body: &'t str) -> Option<Cow<'t, str>> {
    if !parsed.numbered {
        return Some(Cow::Borrowed(body));
    }
    let is_marker = |line: &str| parsed.kind == PartKind::Excerpt && line.starts_with(OMISSION);
    remove_numbers(body, is_marker).map(Cow::Owned)
}

/// Returns the language that packs store as a tag.
fn tagged_lang(parsed: &ParsedPart) -> Option<&'static str> {
    parsed.lang.as_deref().and_then(Tag::known_lang)
}

/// Compares a part with the bytes of the rendered `part`.
fn check_rendering(
    start: Cursor<'_>,
    parsed: &ParsedPart,
    part: &Part<'_>,
) -> Result<(), ParseError> {
    let mut rendered = String::new();
    part.push_to(&mut rendered);
    let found = &start.text[parsed.at.clone()];
    if rendered == found {
        return Ok(());
    }
    let common = found.chars().zip(rendered.chars()).take_while(|(a, b)| a == b);
    let at = start.at + common.map(|(c, _)| c.len_utf8()).sum::<usize>();
    Cursor { at, ..start }.fail("the output of a renderer")
}

/// Sets the content of a block from the body of a part.
fn set_content(block: &mut Block<'static>, body: &str) -> Result<(), BodyError> {
    match &mut block.content {
        BlockContent::FileTree(tree) => tree.entries = bodies::parse_tree(body)?,
        BlockContent::Diff(diff) => {
            diff.hunks = bodies::parse_hunks(body).ok_or(BodyError::Line)?;
        }
        BlockContent::Image(image) => image.alt_text = body.to_owned().into(),
        content => *content.text_mut().ok_or(BodyError::Line)? = body.to_owned().into(),
    }
    Ok(())
}

const FORMAT_HINT: &[&str] = &["format_hint"];

/// Returns the fields of such a block that this mode does not show.
fn absent(
    content: &BlockContent<'_>,
    parsed: &ParsedPart,
    mode: OutputMode,
) -> &'static [&'static str] {
    // XML has the language in an attribute, Markdown after the fence.
    let no_lang =
        mode == OutputMode::Minimal || mode == OutputMode::Markdown && parsed.lang.is_none();
    match content {
        BlockContent::Code(_) if no_lang => &["lang"],
        BlockContent::Document(_) if parsed.lang.is_none() => FORMAT_HINT,
        BlockContent::EmbeddingRef(_) => &["source_hash"],
        BlockContent::Image(_) => &["data"],
        BlockContent::Raw(_) => &["body"],
        _ => &[],
    }
}

/// Parses the first and the last line of `1-20`, `1-` or `-20`.
fn parse_line_range(range: Option<&str>) -> Option<(Option<u32>, Option<u32>)> {
    let Some(range) = range else { return Some((None, None)) };
    let (first, last) = range.split_once('-')?;
    let line = |number: &str| match number {
        "" => Ok(None),
        number => number.parse().map(Some),
    };
    Some((line(first).ok()?, line(last).ok()?))
}

fn parse_role(label: &str) -> Option<Role> {
    let code = || label.strip_prefix("role-")?.parse().ok().map(Role::from_code);
    Role::from_name(label).or_else(code)
}

/// Returns the format of a document from the Markdown fence, or `Plain` without one.
fn format_hint(parsed: &ParsedPart) -> FormatHint {
    match parsed.lang.as_deref() {
        None | Some("text") => FormatHint::Plain,
        // A code without a name.
        Some("") => FormatHint::from_code(0),
        Some(name) => FormatHint::from_name(name).unwrap_or(FormatHint::Plain),
    }
}

/// Parses an enum value from its name, or from its code if it has no name.
fn from_name_or_code<E>(text: &str, name: fn(&str) -> Option<E>, code: fn(u8) -> E) -> Option<E> {
    name(text).or_else(|| text.parse().ok().map(code))
}
