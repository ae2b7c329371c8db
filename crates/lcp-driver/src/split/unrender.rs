//! The pieces of a text as blocks (RFC 0008 §2).
//!
//! Each piece becomes a block, which is rendered again: what does not give the same
//! bytes, no renderer made. So a reader that is too kind makes no block of anything
//! else.

use lcp_types::{
    Block, BlockContent, BlockType, Code, Conversation, DataFormat, FormatHint, Lang, MediaType,
    Meta, Priority, Role, Status, StructuredData, ToolResult, UnknownFields,
};

use super::made::{self, NotMade};
use super::{Cursor, Piece, PieceKind, SplitError, split};
use crate::config::OutputMode;
use crate::placeholder;
use crate::render::{Part, Shown, envelope, part, part_of, placeholder as line_of};
use crate::view::View;

/// What a text has of the blocks that it was rendered from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unrendered {
    /// The blocks that it shows, in its order.
    pub blocks: Vec<ShownBlock>,
    /// The placeholders and roll-up lines, which stand for what it does not have.
    pub omitted: Vec<Piece>,
}

/// A block as a text shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownBlock {
    /// The block. Where [`Self::shown`] is not `Full`, its content is what stands in the
    /// text; of a type whose content is not text, it is a DOCUMENT of that.
    pub block: Block<'static>,
    /// How it is shown.
    pub shown: PieceKind,
    /// The type that the head says.
    pub block_type: BlockType,
    /// The priority, where the head says one: Critical or High.
    pub priority: Option<Priority>,
    /// The call that a tool result answers, which packs say by a tag.
    pub tool_call_id: Option<String>,
    /// The fields that the text does not show, by their names in manifests; the block
    /// has the value that says least.
    pub absent: &'static [&'static str],
}

/// The blocks of a text that was rendered in this mode (RFC 0008 §2): of those that it
/// shows in full, type, labels up to 200 characters and content are exact.
///
/// # Errors
///
/// [`SplitError`] where the text is not one that this version renders, or has a tree of
/// more levels than [`DEPTH_MAX`](lcp_types::limits::DEPTH_MAX).
///
/// ```
/// use lcp_driver::{OutputMode, split};
/// use lcp_types::{Block, Role};
///
/// let text = "[user] Why?\n[omitted: code src/a.rs ~823tok]\n";
/// let found = split::unrender(text, OutputMode::Minimal)?;
/// assert_eq!(found.blocks[0].block, Block::conversation(Role::User, "Why?"));
/// assert_eq!(found.omitted[0].words, ["src/a.rs"]);
/// # Ok::<(), split::SplitError>(())
/// ```
pub fn unrender(text: &str, mode: OutputMode) -> Result<Unrendered, SplitError> {
    let mut found = Unrendered::default();
    for piece in split(text, mode)? {
        let start = Cursor { text, at: piece.at.start };
        if let PieceKind::RolledUp { count, tokens } = piece.kind {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            same(start, &piece, &Part::line(placeholder::roll_up(count, tokens, mode)))?;
            found.omitted.push(piece);
            continue;
        }
        let Some(mut typed) = Typed::of(&piece) else {
            return start.fail("the head of a block");
        };
        if let (PieceKind::Full, Some(body)) = (piece.kind, &piece.body) {
            fill(&mut typed.block, body).map_err(|not_made| {
                let (expected, too_large) = not_made.said();
                SplitError { offset: start.at, expected, too_large }
            })?;
        }
        typed.check(start, &piece, mode)?;
        match piece.kind {
            PieceKind::Placeholder { .. } => found.omitted.push(piece),
            _ => found.blocks.push(typed.shown(piece, mode)),
        }
    }
    // There is no envelope around nothing.
    if found == Unrendered::default() && !text.is_empty() {
        return Cursor { text, at: envelope(mode).0.len() }.fail("a block");
    }
    Ok(found)
}

/// A piece as a block of its type.
struct Typed {
    block: Block<'static>,
    /// The bytes of what no text has: a picture, the body of an unknown type.
    bytes: Option<String>,
}

impl Typed {
    /// The block of the head, without what the body says; `None` where the head is that
    /// of none.
    fn of(piece: &Piece) -> Option<Self> {
        let mut words = piece.words.iter().map(String::as_str);
        let mut word = || words.next().map(str::to_owned);
        let unknown = UnknownFields::new;
        let mut bytes = None;
        let block = match BlockType::from_label(&piece.block_type) {
            Some(BlockType::Code) => {
                let (line_start, line_end) = lines(piece.lines.as_deref())?;
                let (path, content) = (word()?.into(), "".into());
                let lang = piece.lang.as_deref().and_then(Lang::from_name);
                let lang = lang.unwrap_or(Lang::Unknown);
                Block::new(Code { lang, path, content, line_start, line_end, unknown: unknown() })
            }
            Some(BlockType::Conversation) => Block::new(Conversation {
                role: role(&word()?)?,
                content: "".into(),
                tool_call_id: piece.tool_call_id.clone().map(Into::into),
                unknown: unknown(),
            }),
            Some(BlockType::FileTree) => Block::file_tree(word()?, Vec::new()),
            Some(BlockType::ToolResult) => Block::new(ToolResult {
                tool_name: word()?.into(),
                status: match word() {
                    Some(status) => value(&status, Status::from_name, Status::from_code)?,
                    None => Status::Ok,
                },
                content: "".into(),
                schema_hint: piece.schema.clone().map(Into::into),
                unknown: unknown(),
            }),
            Some(BlockType::Document) => Block::document(word()?, "", hint(piece)),
            Some(BlockType::StructuredData) => Block::new(StructuredData {
                format: value(&word()?, DataFormat::from_name, DataFormat::from_code)?,
                schema: piece.schema.clone().map(Into::into),
                content: "".into(),
                unknown: unknown(),
            }),
            Some(BlockType::Diff) => Block::diff(word()?, Vec::new()),
            Some(BlockType::EmbeddingRef) => {
                Block::embedding_ref(word()?.into_bytes(), "", word()?)
            }
            Some(BlockType::Image) => {
                let media_type = value(&word()?, MediaType::from_name, MediaType::from_code)?;
                bytes = Some(word()?);
                Block::image(media_type, "", "")
            }
            Some(BlockType::Extension) => Block::extension(word()?, word()?, ""),
            None if piece.block_type == BlockType::Other(0).label() => {
                let code = word()?.parse().ok()?;
                bytes = Some(word()?);
                Some(code)
                    .filter(|code| matches!(BlockType::from_code(*code), BlockType::Other(_)))?;
                Block::raw(code, "")
            }
            _ => return None,
        };
        let is_figure = |bytes: &String| bytes.parse().is_ok_and(|n: u64| n.to_string() == *bytes);
        let is_whole = words.next().is_none() && bytes.as_ref().is_none_or(is_figure);
        (is_whole && !block.content.is_metadata()).then_some(Self { block, bytes })
    }

    /// Whether it renders as the text that it is of.
    fn check(&self, start: Cursor<'_>, piece: &Piece, mode: OutputMode) -> Result<(), SplitError> {
        let tool_call_id = piece.tool_call_id.as_deref().map(Into::into);
        let (annotated, priority) = (piece.priority.is_some(), piece.priority.unwrap_or_default());
        let meta = Meta { annotated, priority, tool_call_id, ..Meta::default() };
        let mut view = View::new(&self.block, &meta);
        if let (Some(arg), Some(bytes)) = (view.head.args.last_mut(), &self.bytes) {
            arg.value = bytes.into();
        }
        let shown = match piece.kind {
            PieceKind::Placeholder { tokens } => {
                let Ok(tokens) = u32::try_from(tokens) else {
                    return start.fail("a number of tokens");
                };
                return same(start, piece, &line_of(&view.head, tokens, mode));
            }
            PieceKind::Detailed => Shown::Detailed,
            PieceKind::Summary => Shown::Summary,
            PieceKind::Tags => Shown::Tags,
            PieceKind::Excerpt => Shown::Excerpt,
            PieceKind::Full | PieceKind::RolledUp { .. } => {
                return same(start, piece, &part(&view, Shown::Content, mode));
            }
        };
        same(start, piece, &part_of(&view, shown, piece.body.as_deref(), mode))
    }

    /// As a block that has what the text shows.
    fn shown(self, piece: Piece, mode: OutputMode) -> ShownBlock {
        let mut block = self.block;
        let block_type = block.block_type();
        let mut absent = absent(&block.content, &piece, mode);
        if piece.kind != PieceKind::Full {
            let text = piece.body.unwrap_or_default();
            if block.content.text().is_none() && block_type != BlockType::Image {
                block = Block::document(block.label().into_owned(), text, FormatHint::Plain);
                absent = FORMAT_HINT;
            } else {
                // Of these types any text is content.
                let _ = fill(&mut block, &text);
            }
        }
        let is_tag = matches!(block_type, BlockType::ToolResult);
        ShownBlock {
            block,
            shown: piece.kind,
            block_type,
            priority: piece.priority,
            tool_call_id: piece.tool_call_id.filter(|_| is_tag),
            absent,
        }
    }
}

/// Whether a piece is what a renderer prints.
fn same(start: Cursor<'_>, piece: &Piece, part: &Part<'_>) -> Result<(), SplitError> {
    let mut rendered = String::new();
    part.push_to(&mut rendered);
    let found = &start.text[piece.at.clone()];
    if rendered == found {
        return Ok(());
    }
    let common = found.chars().zip(rendered.chars()).take_while(|(a, b)| a == b);
    let at = start.at + common.map(|(c, _)| c.len_utf8()).sum::<usize>();
    Cursor { at, ..start }.fail("what a renderer writes")
}

/// Makes the body the content.
fn fill(block: &mut Block<'static>, body: &str) -> Result<(), NotMade> {
    match &mut block.content {
        BlockContent::FileTree(tree) => tree.entries = made::entries(body)?,
        BlockContent::Diff(diff) => diff.hunks = made::hunks(body).ok_or(NotMade::Line)?,
        BlockContent::Image(image) => image.alt_text = body.to_owned().into(),
        content => *content.text_mut().ok_or(NotMade::Line)? = body.to_owned().into(),
    }
    Ok(())
}

const FORMAT_HINT: &[&str] = &["format_hint"];

/// The fields that a text of this mode does not show of such a block.
fn absent(content: &BlockContent<'_>, piece: &Piece, mode: OutputMode) -> &'static [&'static str] {
    // XML says a language by an attribute, Markdown behind a fence.
    let no_lang =
        mode == OutputMode::Minimal || mode == OutputMode::Markdown && piece.lang.is_none();
    match content {
        BlockContent::Code(_) if no_lang => &["lang"],
        BlockContent::Document(_) if piece.lang.is_none() => FORMAT_HINT,
        BlockContent::EmbeddingRef(_) => &["source_hash"],
        BlockContent::Image(_) => &["data"],
        BlockContent::Raw(_) => &["body"],
        _ => &[],
    }
}

/// The first and the last line of `1-20`, `1-` or `-20`.
fn lines(range: Option<&str>) -> Option<(Option<u32>, Option<u32>)> {
    let Some(range) = range else { return Some((None, None)) };
    let (first, last) = range.split_once('-')?;
    let line = |number: &str| match number {
        "" => Ok(None),
        number => number.parse().map(Some),
    };
    Some((line(first).ok()?, line(last).ok()?))
}

fn role(label: &str) -> Option<Role> {
    let code = || label.strip_prefix("role-")?.parse().ok().map(Role::from_code);
    Role::from_name(label).or_else(code)
}

/// The format of a document, which the fence of Markdown names; what says least
/// where there is none.
fn hint(piece: &Piece) -> FormatHint {
    match piece.lang.as_deref() {
        None | Some("text") => FormatHint::Plain,
        // A code without a name.
        Some("") => FormatHint::from_code(0),
        Some(name) => FormatHint::from_name(name).unwrap_or(FormatHint::Plain),
    }
}

/// A value by its name, or by its code where it has none.
fn value<E>(text: &str, name: fn(&str) -> Option<E>, code: fn(u8) -> E) -> Option<E> {
    name(text).or_else(|| text.parse().ok().map(code))
}
