//! What annotations say of blocks: priority, summary, tags.

use std::borrow::Cow;

use lcp_types::{AnnotationKind, Block, Level, LevelText, Priority, Tag};

use crate::warning::{Warning, WarningCode};

/// What the pack says of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta<'b> {
    pub(crate) priority: Priority,
    /// Whether an annotation gave the priority.
    pub(crate) annotated: bool,
    /// The block's own summary, else that of its last summary annotation; an
    /// empty one is none.
    pub(crate) summary: Option<Cow<'b, str>>,
    /// What the pack carries between the content and the summary.
    pub(crate) detailed: Option<Cow<'b, str>>,
    /// The few words that it carries below the summary.
    pub(crate) tags: Option<Cow<'b, str>>,
    pub(crate) category: Option<Cow<'b, str>>,
    pub(crate) rank: Option<f64>,
    pub(crate) tool_call_id: Option<Cow<'b, str>>,
    pub(crate) pinned: bool,
}

/// The priority of each block (SPEC_08 §4).
///
/// The last valid PRIORITY annotation for a block wins. A block without one is
/// Normal; annotations themselves are, too. Bad values and targets are ignored
/// (a plan warns of them).
///
/// ```
/// use lcp_driver::resolve_priorities;
/// use lcp_types::{Annotation, Block, Priority, Role};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
/// ];
/// assert_eq!(resolve_priorities(&blocks), [Priority::High, Priority::Normal]);
/// ```
#[must_use]
pub fn resolve_priorities(blocks: &[Block<'_>]) -> Vec<Priority> {
    resolve(blocks, &mut Vec::new()).into_iter().map(|meta| meta.priority).collect()
}

/// Applies every annotation to its target, in the order of the pack.
pub(crate) fn resolve<'b>(blocks: &'b [Block<'_>], warnings: &mut Vec<Warning>) -> Vec<Meta<'b>> {
    let mut metas: Vec<Meta<'b>> = vec![Meta::default(); blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        let mut warn = |code, message| warnings.push(Warning::new(code, Some(index), message));
        if let Some(extension) = block.as_extension().filter(|of| of.namespace == Level::NAMESPACE)
        {
            match Level::read(extension) {
                Some(Ok(level)) => {
                    if let Err(message) = carry(level, &mut metas) {
                        warn(WarningCode::BadAnnotation, message);
                    }
                }
                Some(Err(message)) => warn(WarningCode::BadAnnotation, message.to_owned()),
                None => {
                    let name = brief(extension.type_name.as_bytes());
                    let message = format!("extensions {name} of lcp are unknown to this version");
                    warn(WarningCode::UnknownBlockType, message);
                }
            }
            continue;
        }
        let Some(annotation) = block.as_annotation() else {
            continue;
        };
        let target = annotation.target_block_id;
        let Some(meta) = usize::try_from(target).ok().and_then(|target| metas.get_mut(target))
        else {
            warn(
                WarningCode::BadTarget,
                format!("an annotation names block {target}, which does not exist"),
            );
            continue;
        };
        match annotation.kind {
            AnnotationKind::Priority => match annotation.as_priority() {
                Some(priority) => (meta.priority, meta.annotated) = (priority, true),
                None => warn(
                    WarningCode::BadPriority,
                    format!(
                        "block {target} is given the unknown priority {}",
                        brief(annotation.value.as_slice())
                    ),
                ),
            },
            AnnotationKind::Summary => match annotation.value.as_str() {
                Some(summary) => meta.summary = Some(summary.into()),
                None => warn(
                    WarningCode::BadAnnotation,
                    format!("block {target} is given a summary that is not UTF-8"),
                ),
            },
            AnnotationKind::Tag => {
                if !annotation.value.as_str().is_some_and(|text| tag(meta, &Tag::parse(text))) {
                    warn(
                        WarningCode::BadAnnotation,
                        format!(
                            "block {target} is given the bad tag {}",
                            brief(annotation.value.as_slice())
                        ),
                    );
                }
            }
            AnnotationKind::Other(_) => {}
        }
    }
    for (meta, block) in metas.iter_mut().zip(blocks) {
        if let Some(summary) = &block.summary {
            meta.summary = Some(summary.as_ref().into());
        }
        meta.summary = meta.summary.take().filter(|summary| !summary.is_empty());
    }
    metas
}

/// Gives a level to its target, or says what is wrong.
fn carry<'b>(level: LevelText<'b>, metas: &mut [Meta<'b>]) -> Result<(), String> {
    let meta = usize::try_from(level.target).ok().and_then(|target| metas.get_mut(target));
    let Some(meta) = meta else {
        return Err(format!("a level names block {}, which does not exist", level.target));
    };
    let text = Some(level.text).filter(|text| !text.is_empty());
    match level.level {
        Level::Detailed => meta.detailed = text,
        Level::Tags => meta.tags = text,
    }
    Ok(())
}

/// The beginning of a value, for a warning: it may be of any size.
pub(crate) fn brief(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 60;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)]);
    format!("{shown:?}{}", if bytes.len() > SHOWN_BYTES_MAX { "…" } else { "" })
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
        (Tag::PINNED, None) => meta.pinned = true,
        (Tag::CATEGORY | Tag::TOOL_CALL_ID | Tag::PINNED, _) => return false,
        _ => {}
    }
    true
}
