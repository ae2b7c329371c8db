//! The metadata of blocks, from annotations: priority, summary, tags.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::limits::REASONS_MAX;
use crate::{
    AlternateText, Annotation, AnnotationKind, Block, BlockContent, CarriedLevel, Passage,
    Priority, SessionRecord, Tag,
};

/// The type name of the extension that indexes the blocks of a hand-off (RFC 0007 §5).
pub const HANDOFF_TYPE_NAME: &str = "handoff";
/// The newest known version of the index of a hand-off.
pub const HANDOFF_INDEX_VERSION: u64 = 1;

/// The metadata of one block, collected from its annotations and alternate texts.
///
/// ```
/// use lcp_types::{Annotation, Block, BlockMeta, Priority, Role, Tag};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
///     Block::new(Annotation::tag(0, &Tag::new("rank", "0.5"))),
/// ];
/// let metas = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
/// assert_eq!((metas[0].priority, metas[0].rank), (Priority::High, Some(0.5)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockMeta<'b> {
    /// The priority; [`Priority::Normal`] by default.
    pub priority: Priority,
    /// `true` if an annotation set the priority.
    pub annotated: bool,
    /// The summary of the block itself, or else of its last summary annotation. It is never empty.
    pub summary: Option<Cow<'b, str>>,
    /// The alternate text between the content and the summary (RFC 0004 §6).
    pub detailed: Option<Cow<'b, str>>,
    /// The alternate text of a few words, shorter than the summary (RFC 0004 §6).
    pub tags: Option<Cow<'b, str>>,
    /// The category whose share of the budget the block uses.
    pub category: Option<Cow<'b, str>>,
    /// The rank of the block within its priority, highest first. It is always finite.
    pub rank: Option<f64>,
    /// The passages that excerpts of the block show first, in the order of lines. Lines beyond the
    /// content have no effect.
    pub passages: Vec<Passage>,
    /// The reasons for the rank, in the order of their annotations: the first [`REASONS_MAX`] that
    /// are not empty.
    pub reasons: Vec<Cow<'b, str>>,
    /// The id of the tool call that the block answers, from a tag.
    pub tool_call_id: Option<Cow<'b, str>>,
    /// The arguments of that tool call.
    pub args: Option<Cow<'b, str>>,
    /// The language of a CODE block without a code in the wire format, from a tag: one of
    /// [`Tag::LANGS`].
    pub lang: Option<&'static str>,
    /// The path of a block of structured data.
    pub path: Option<Cow<'b, str>>,
    /// The path of a file before it was renamed.
    pub renamed_from: Option<Cow<'b, str>>,
    /// `true` if the block is pinned, which means that it is always shown in full.
    pub pinned: bool,
    /// `true` if the lines of the content are shown with their numbers. This is an option of a
    /// rendering, which no annotation sets.
    pub line_numbers: bool,
}

/// An error in an annotation or alternate text, which is then ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationError {
    /// The kind of the error.
    pub kind: AnnotationErrorKind,
    message: String,
}

impl AnnotationError {
    fn new(kind: AnnotationErrorKind, message: String) -> Self {
        Self { kind, message }
    }
}

impl fmt::Display for AnnotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The kinds of errors in annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnnotationErrorKind {
    /// The target is a block that does not exist.
    BadTarget,
    /// The priority is unknown.
    BadPriority,
    /// The value is malformed.
    BadValue,
    /// The block is an extension in the namespace of LCP that this version does not know.
    UnknownExtension,
}

impl<'b> BlockMeta<'b> {
    /// Resolves the annotations of `block`, whose index is `target`. Annotations of other blocks
    /// are skipped.
    #[must_use]
    pub fn resolve(
        target: u64,
        block: &'b Block<'_>,
        annotations: impl IntoIterator<Item = &'b Block<'b>>,
    ) -> Self {
        let mut meta = Self::default();
        let statements = annotations.into_iter().filter_map(Statement::from_block);
        for statement in statements.flatten().filter(|statement| statement.target() == target) {
            // An invalid annotation has no effect.
            drop(statement.apply(&mut meta));
        }
        meta.with_own_summary(block)
    }

    /// Returns the name of the block that this metadata is about: the path of structured data, or
    /// else the [label](Block::label).
    #[must_use]
    pub fn label<'m>(&'m self, block: &'m Block<'_>) -> Cow<'m, str> {
        match (&block.content, &self.path) {
            (BlockContent::StructuredData(_), Some(path)) => path.as_ref().into(),
            _ => block.label(),
        }
    }

    fn with_own_summary(mut self, block: &'b Block<'_>) -> Self {
        if let Some(summary) = &block.summary {
            self.summary = Some(summary.as_ref().into());
        }
        self.summary = self.summary.take().filter(|summary| !summary.is_empty());
        self
    }

    /// Resolves the annotations of all blocks. If several set the same property, the last valid one
    /// wins. Calls `problem` with the index of each invalid annotation.
    #[must_use]
    pub fn resolve_all(
        blocks: &'b [Block<'_>],
        problem: &mut dyn FnMut(usize, AnnotationError),
    ) -> Vec<Self> {
        let mut metas = vec![Self::default(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            let Some(statement) = Statement::from_block(block) else { continue };
            let applied = statement.and_then(|statement| {
                let target = usize::try_from(statement.target()).ok();
                match target.and_then(|target| metas.get_mut(target)) {
                    Some(meta) => statement.apply(meta),
                    None => Err(statement.missing_target()),
                }
            });
            if let Err(error) = applied {
                problem(index, error);
            }
        }
        for (meta, block) in metas.iter_mut().zip(blocks) {
            *meta = std::mem::take(meta).with_own_summary(block);
        }
        metas
    }

    /// Resolves the annotations of all blocks and returns the annotated blocks by index. Summaries
    /// of the blocks themselves are not included.
    #[must_use]
    pub fn resolve_annotated(blocks: &'b [Block<'_>]) -> BTreeMap<usize, Self> {
        let mut metas: BTreeMap<usize, Self> = BTreeMap::new();
        for statement in blocks.iter().filter_map(Statement::from_block).flatten() {
            let target = usize::try_from(statement.target()).ok();
            if let Some(target) = target.filter(|target| *target < blocks.len()) {
                // An invalid annotation has no effect.
                drop(statement.apply(metas.entry(target).or_default()));
            }
        }
        metas
    }

    /// Reads an annotation or alternate text. Returns the index of its target and the metadata that
    /// it sets, or `None` if the block is neither.
    ///
    /// # Errors
    ///
    /// Returns [`AnnotationError`] if the value is invalid. Such an annotation has no effect.
    #[must_use]
    pub fn from_annotation(block: &'b Block<'_>) -> Option<Result<(u64, Self), AnnotationError>> {
        Some(Statement::from_block(block)?.and_then(|statement| {
            let (target, mut meta) = (statement.target(), Self::default());
            statement.apply(&mut meta)?;
            Ok((target, meta))
        }))
    }
}

/// A statement about another block: an annotation or an alternate text.
enum Statement<'b> {
    Annotation(&'b Annotation<'b>),
    Level(AlternateText<'b>),
}

impl<'b> Statement<'b> {
    /// Reads the statement in a block. Returns `None` if the block does not describe another block.
    fn from_block(block: &'b Block<'_>) -> Option<Result<Self, AnnotationError>> {
        if let Some(annotation) = block.as_annotation() {
            return Some(Ok(Self::Annotation(annotation)));
        }
        let extension =
            block.as_extension().filter(|of| of.namespace == CarriedLevel::NAMESPACE)?;
        match AlternateText::from_extension(extension) {
            Some(Ok(level)) => Some(Ok(Self::Level(level))),
            Some(Err(message)) => {
                let message = format!("level ignored: {message}");
                Some(Err(AnnotationError::new(AnnotationErrorKind::BadValue, message)))
            }
            None if extension.type_name == HANDOFF_TYPE_NAME => None,
            None if SessionRecord::from_extension(extension).is_some() => None,
            None => {
                let name = escape_for_display(extension.type_name.as_bytes());
                let message = format!("extension ignored: unknown lcp type {name}");
                Some(Err(AnnotationError::new(AnnotationErrorKind::UnknownExtension, message)))
            }
        }
    }

    const fn target(&self) -> u64 {
        match self {
            Self::Annotation(annotation) => annotation.target_block_id,
            Self::Level(level) => level.target,
        }
    }

    fn missing_target(&self) -> AnnotationError {
        let (kind, what) = match self {
            Self::Annotation(_) => (AnnotationErrorKind::BadTarget, "annotation"),
            Self::Level(_) => (AnnotationErrorKind::BadValue, "level"),
        };
        let target = self.target();
        AnnotationError::new(kind, format!("{what} ignored: target block {target} does not exist"))
    }

    /// Applies the statement to the metadata of its target.
    fn apply(self, meta: &mut BlockMeta<'b>) -> Result<(), AnnotationError> {
        let annotation = match self {
            Self::Annotation(annotation) => annotation,
            Self::Level(AlternateText { level, text, .. }) => {
                let text = Some(text).filter(|text| !text.is_empty());
                match level {
                    CarriedLevel::Detailed => meta.detailed = text,
                    CarriedLevel::Tags => meta.tags = text,
                }
                return Ok(());
            }
        };
        let target = annotation.target_block_id;
        let value = || escape_for_display(annotation.value.as_slice());
        let (kind, message) = match annotation.kind {
            AnnotationKind::Priority => {
                if let Some(priority) = annotation.as_priority() {
                    (meta.priority, meta.annotated) = (priority, true);
                    return Ok(());
                }
                let message = format!("unknown priority {}", value());
                (AnnotationErrorKind::BadPriority, message)
            }
            AnnotationKind::Summary => {
                if let Some(summary) = annotation.value.as_str() {
                    meta.summary = Some(summary.into());
                    return Ok(());
                }
                (AnnotationErrorKind::BadValue, "summary is not UTF-8".to_owned())
            }
            AnnotationKind::Tag => {
                let text = annotation.value.as_str();
                if text.is_some_and(|text| apply_tag(meta, &Tag::parse(text))) {
                    return Ok(());
                }
                (AnnotationErrorKind::BadValue, format!("invalid tag {}", value()))
            }
            AnnotationKind::Other(_) => return Ok(()),
        };
        Err(AnnotationError::new(kind, format!("annotation of block {target} ignored: {message}")))
    }
}

/// Applies a tag. Returns `false` if its value is invalid. Unknown keys have no effect.
fn apply_tag<'b>(meta: &mut BlockMeta<'b>, tag: &Tag<'b>) -> bool {
    match (tag.key.as_ref(), &tag.value) {
        (Tag::CATEGORY, Some(value)) if !value.is_empty() => meta.category = Some(value.clone()),
        (Tag::TOOL_CALL_ID, Some(value)) if !value.is_empty() => {
            meta.tool_call_id = Some(value.clone());
        }
        (Tag::RANK, value) => {
            let rank = value.as_deref().and_then(|value| value.parse::<f64>().ok());
            let Some(rank) = rank.filter(|rank| rank.is_finite()) else {
                return false;
            };
            meta.rank = Some(rank);
        }
        // A new ranking removes an earlier one by tags without a value.
        (Tag::PASSAGES, None) => meta.passages.clear(),
        (Tag::REASON, None) => meta.reasons.clear(),
        (Tag::PASSAGES, Some(value)) => {
            let Some(passages) = Passage::parse_list(value) else { return false };
            meta.passages = passages;
        }
        (Tag::REASON, Some(value)) if !value.is_empty() => {
            meta.reasons.push(value.clone());
            meta.reasons.truncate(REASONS_MAX);
        }
        // A call without arguments has an empty value.
        (Tag::ARGS, Some(value)) => meta.args = Some(value.clone()),
        (Tag::LANG, Some(value)) => meta.lang = Tag::known_lang(value),
        (Tag::PINNED, None) => meta.pinned = true,
        (Tag::PATH, Some(value)) if !value.is_empty() => meta.path = Some(value.clone()),
        (Tag::RENAMED_FROM, Some(value)) if !value.is_empty() => {
            meta.renamed_from = Some(value.clone());
        }
        (
            Tag::CATEGORY
            | Tag::REASON
            | Tag::TOOL_CALL_ID
            | Tag::ARGS
            | Tag::PINNED
            | Tag::PATH
            | Tag::RENAMED_FROM,
            _,
        ) => return false,
        _ => {}
    }
    true
}

/// Quotes and escapes the first 60 bytes of a value for use in a message. Values can have any size.
#[must_use]
pub fn escape_for_display(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 60;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)]);
    format!("{shown:?}{}", if bytes.len() > SHOWN_BYTES_MAX { "…" } else { "" })
}

impl Block<'_> {
    /// Returns the index of the target of an annotation or of a valid alternate text.
    ///
    /// ```
    /// use lcp_types::{Annotation, Block, Priority, Role};
    ///
    /// let annotation = Block::new(Annotation::priority(3, Priority::High));
    /// assert_eq!(annotation.target_index(), Some(3));
    /// assert_eq!(annotation.with_target(|target| target + 10).target_index(), Some(13));
    /// assert_eq!(Block::conversation(Role::User, "hi").target_index(), None);
    /// ```
    #[must_use]
    pub fn target_index(&self) -> Option<u64> {
        match &self.content {
            BlockContent::Annotation(annotation) => Some(annotation.target_block_id),
            BlockContent::Extension(extension) => AlternateText::from_extension(extension)
                .and_then(Result::ok)
                .map(|level| level.target),
            _ => None,
        }
    }

    /// Returns the block with its target, if it has one, replaced by `to(target)`.
    #[must_use]
    pub fn with_target(mut self, to: impl FnOnce(u64) -> u64) -> Self {
        match &mut self.content {
            BlockContent::Annotation(annotation) => {
                annotation.target_block_id = to(annotation.target_block_id);
            }
            BlockContent::Extension(extension) => {
                let level = AlternateText::from_extension(extension)
                    .and_then(Result::ok)
                    .map(|level| level.level.to_extension(to(level.target), &level.text).content);
                if let Some(content) = level {
                    extension.content = content;
                }
            }
            _ => {}
        }
        self
    }
}
