//! What annotations say of blocks: priority, summary, tags.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::{Annotation, AnnotationKind, Block, Level, Priority, Tag};

/// The type name of LCP's own extension that tells what the blocks of a hand-off
/// are (RFC 0007 §5). It speaks of no single block.
pub const HANDOFF_TYPE_NAME: &str = "handoff";

/// What the pack says of one block, by its annotations and levels.
///
/// ```
/// use lcp_types::{Annotation, Block, Meta, Priority, Role, Tag};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
///     Block::new(Annotation::tag(0, &Tag::new("rank", "0.5"))),
/// ];
/// let metas = Meta::of_all(&blocks, &mut |_, _| {});
/// assert_eq!((metas[0].priority, metas[0].rank), (Priority::High, Some(0.5)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta<'b> {
    /// The priority; Normal where nothing gives it.
    pub priority: Priority,
    /// Whether an annotation gave the priority.
    pub annotated: bool,
    /// The block's own summary, else that of its last summary annotation; an
    /// empty one is none.
    pub summary: Option<Cow<'b, str>>,
    /// What the pack carries between the content and the summary (RFC 0004 §6).
    pub detailed: Option<Cow<'b, str>>,
    /// The few words that it carries below the summary (RFC 0004 §6).
    pub tags: Option<Cow<'b, str>>,
    /// The share that pays for it.
    pub category: Option<Cow<'b, str>>,
    /// The order within its priority, highest first; always finite.
    pub rank: Option<f64>,
    /// The tool call that a result answers, by a tag.
    pub tool_call_id: Option<Cow<'b, str>>,
    /// The arguments of that call.
    pub args: Option<Cow<'b, str>>,
    /// Whether it is never lowered.
    pub pinned: bool,
}

/// What is wrong with an annotation or a level; it is then ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProblem {
    /// What kind of problem it is.
    pub kind: MetaProblemKind,
    message: String,
}

impl MetaProblem {
    pub(crate) fn new(kind: MetaProblemKind, message: String) -> Self {
        Self { kind, message }
    }
}

impl fmt::Display for MetaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The kinds of problems that annotations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetaProblemKind {
    /// It names a block that does not exist.
    BadTarget,
    /// It gives a priority that is unknown.
    BadPriority,
    /// Its value cannot be read.
    BadValue,
    /// An extension of LCP's own namespace that this version does not know.
    UnknownExtension,
}

impl<'b> Meta<'b> {
    /// What is said of the block of index `target`, which stands beside those that
    /// speak of it: `said` are these, in the order of the stream. What they say of
    /// others is passed over.
    #[must_use]
    pub fn of_one(
        target: u64,
        block: &'b Block<'_>,
        said: impl IntoIterator<Item = &'b Block<'b>>,
    ) -> Self {
        let mut meta = Self::default();
        for by in said {
            let of_it = &mut |index: usize, with: &mut dyn FnMut(&mut Self) -> Outcome| {
                Some(if index as u64 == target { with(&mut meta) } else { Ok(()) })
            };
            // What is wrong has no effect.
            drop(apply(by, of_it));
        }
        meta.with_own_summary(block)
    }

    fn with_own_summary(mut self, block: &'b Block<'_>) -> Self {
        if let Some(summary) = &block.summary {
            self.summary = Some(summary.as_ref().into());
        }
        self.summary = self.summary.take().filter(|summary| !summary.is_empty());
        self
    }

    /// What is said of each block, in the order of the stream: the last valid
    /// annotation for a block wins. `problem` is told what is wrong with which
    /// block (the annotation's index).
    #[must_use]
    pub fn of_all(
        blocks: &'b [Block<'_>],
        problem: &mut dyn FnMut(usize, MetaProblem),
    ) -> Vec<Self> {
        let mut metas = vec![Self::default(); blocks.len()];
        apply_all(blocks, &mut |target, with| metas.get_mut(target).map(&mut *with), problem);
        for (meta, block) in metas.iter_mut().zip(blocks) {
            *meta = std::mem::take(meta).with_own_summary(block);
        }
        metas
    }

    /// The same for the blocks alone that annotations and levels speak of, by their
    /// index; without the summaries that blocks have themselves.
    #[must_use]
    pub fn of_annotated(
        blocks: &'b [Block<'_>],
        problem: &mut dyn FnMut(usize, MetaProblem),
    ) -> BTreeMap<usize, Self> {
        let mut metas: BTreeMap<usize, Self> = BTreeMap::new();
        let mut change = |target: usize, with: &mut dyn FnMut(&mut Self) -> Outcome| {
            (target < blocks.len()).then(|| with(metas.entry(target).or_default()))
        };
        apply_all(blocks, &mut change, problem);
        metas
    }
}

pub(crate) type Outcome = Result<(), (MetaProblemKind, String)>;

/// Changes what is said of the block of this index: `None` if there is none.
pub(crate) type Change<'b, 'c> =
    dyn FnMut(usize, &mut dyn FnMut(&mut Meta<'b>) -> Outcome) -> Option<Outcome> + 'c;

fn apply_all<'b>(
    blocks: &'b [Block<'_>],
    change: &mut Change<'b, '_>,
    problem: &mut dyn FnMut(usize, MetaProblem),
) {
    for (index, block) in blocks.iter().enumerate() {
        if let Err((kind, message)) = apply(block, change) {
            problem(index, MetaProblem::new(kind, message));
        }
    }
}

/// Applies what a block says of another, if it does.
pub(crate) fn apply<'b>(block: &'b Block<'_>, change: &mut Change<'b, '_>) -> Outcome {
    let bad = |message| (MetaProblemKind::BadValue, message);
    if let Some(extension) = block.as_extension().filter(|of| of.namespace == Level::NAMESPACE) {
        return match Level::read(extension) {
            Some(Ok(level)) => {
                let (target, mut text) = (level.target, Some(level.text));
                let index = usize::try_from(target).ok();
                let done = index.and_then(|index| {
                    change(index, &mut |meta| {
                        let text = text.take().filter(|text| !text.is_empty());
                        match level.level {
                            Level::Detailed => meta.detailed = text,
                            Level::Tags => meta.tags = text,
                        }
                        Ok(())
                    })
                });
                done.unwrap_or_else(|| {
                    Err(bad(format!("a level names block {target}, which does not exist")))
                })
            }
            Some(Err(message)) => Err(bad(message.to_owned())),
            None if extension.type_name == HANDOFF_TYPE_NAME => Ok(()),
            None => {
                let name = brief(extension.type_name.as_bytes());
                let message = format!("extensions {name} of lcp are unknown to this version");
                Err((MetaProblemKind::UnknownExtension, message))
            }
        };
    }
    let Some(annotation) = block.as_annotation() else { return Ok(()) };
    let target = annotation.target_block_id;
    let index = usize::try_from(target).ok();
    let done = index.and_then(|index| change(index, &mut |meta| annotate(annotation, meta)));
    done.unwrap_or_else(|| {
        let message = format!("an annotation names block {target}, which does not exist");
        Err((MetaProblemKind::BadTarget, message))
    })
}

/// Applies an annotation to its target.
fn annotate<'b>(annotation: &'b Annotation<'_>, meta: &mut Meta<'b>) -> Outcome {
    let bad = |message| (MetaProblemKind::BadValue, message);
    let target = annotation.target_block_id;
    let value = || brief(annotation.value.as_slice());
    match annotation.kind {
        AnnotationKind::Priority => {
            let Some(priority) = annotation.as_priority() else {
                let message = format!("block {target} is given the unknown priority {}", value());
                return Err((MetaProblemKind::BadPriority, message));
            };
            (meta.priority, meta.annotated) = (priority, true);
        }
        AnnotationKind::Summary => match annotation.value.as_str() {
            Some(summary) => meta.summary = Some(summary.into()),
            None => {
                return Err(bad(format!("block {target} is given a summary that is not UTF-8")));
            }
        },
        AnnotationKind::Tag => {
            if !annotation.value.as_str().is_some_and(|text| tag(meta, &Tag::parse(text))) {
                return Err(bad(format!("block {target} is given the bad tag {}", value())));
            }
        }
        AnnotationKind::Other(_) => {}
    }
    Ok(())
}

/// Applies a tag; `false` where its value is bad. Unknown keys mean nothing.
fn tag<'b>(meta: &mut Meta<'b>, tag: &Tag<'b>) -> bool {
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
        // A call without arguments has an empty value.
        (Tag::ARGS, Some(value)) => meta.args = Some(value.clone()),
        (Tag::PINNED, None) => meta.pinned = true,
        (Tag::CATEGORY | Tag::TOOL_CALL_ID | Tag::ARGS | Tag::PINNED, _) => return false,
        _ => {}
    }
    true
}

/// The beginning of a value, quoted, for a message: values may be of any size.
#[must_use]
pub fn brief(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 60;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)]);
    format!("{shown:?}{}", if bytes.len() > SHOWN_BYTES_MAX { "…" } else { "" })
}
