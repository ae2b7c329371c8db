//! The assembly of the text of a plan.

use std::collections::HashMap;

use lcp_types::{Block, BlockMeta};

use crate::block_view::{BlockView, Head};
use crate::detail::{OutputMode, Shown, ShownDetail};
use crate::excerpt::ExcerptSource;
use crate::plan::{Plan, RollUp};
use crate::render::{Part, envelope, part, part_with_body, placeholder, roll_up};
use crate::special_tokens;
use crate::warning::Warning;

/// The parts of a text.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The index of each block that has a part, its level or excerpt, and the tokens of its
    /// content.
    pub(crate) shown: Vec<(usize, ShownDetail, u32)>,
    pub(crate) rolled_up: Option<RollUp>,
}

impl Layout {
    pub(crate) fn from_plan(plan: &Plan) -> Self {
        let shown = |i: usize| {
            let item = plan.items.get(i)?;
            Some((i, ShownDetail::from_decision(&item.decision)?, item.content_tokens))
        };
        let shown = match &plan.stable {
            Some(stable) => stable.order.iter().copied().filter_map(shown).collect(),
            None => (0..plan.items.len()).filter_map(shown).collect(),
        };
        Self { shown, rolled_up: plan.rolled_up }
    }
}

/// A text and the ends of its parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// The block of each part and the end of the part in bytes, in the order of the text.
    pub(crate) ends: Vec<(usize, usize)>,
}

impl Text {
    /// Warns of special tokens; `index` maps a block of this text to its index in the pack.
    pub(crate) fn warn_of_special(
        &self,
        index: impl Fn(usize) -> usize,
        warnings: &mut Vec<Warning>,
    ) {
        let ends = self.ends.iter().map(|(block, end)| (index(*block), *end));
        special_tokens::warn_of_text(&self.text, ends, warnings);
    }

    pub(crate) fn parts(&self, mode: OutputMode) -> impl Iterator<Item = &str> {
        let mut start = envelope(mode).0.len();
        self.ends.iter().map(move |&(_, end)| &self.text[std::mem::replace(&mut start, end)..end])
    }
}

/// The annotations of blocks in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetaLookup<'m> {
    /// The annotations of each block in the pack.
    pub(crate) own: &'m [BlockMeta<'m>],
    /// The annotations in force in the previous text, by block index. They take precedence.
    pub(crate) previous: Option<&'m HashMap<usize, BlockMeta<'m>>>,
}

impl<'m> MetaLookup<'m> {
    fn get(&self, i: usize) -> &'m BlockMeta<'m> {
        self.previous.and_then(|previous| previous.get(&i)).unwrap_or(&self.own[i])
    }
}

/// Assembles the text: the envelope, the parts, and the roll-up line at the end. Without parts and
/// roll-up line, the text is empty.
pub(crate) fn assemble(
    blocks: &[Block<'_>],
    metas: MetaLookup<'_>,
    mode: OutputMode,
    layout: &Layout,
) -> Text {
    if layout.shown.is_empty() && layout.rolled_up.is_none() {
        return Text::default();
    }
    let mut text = String::new();
    let mut ends = Vec::with_capacity(layout.shown.len());
    let (opening, closing) = envelope(mode);
    text.push_str(opening);
    for (i, shown, tokens) in &layout.shown {
        let (block, meta) = (&blocks[*i], metas.get(*i));
        with_part(block, meta, shown, *tokens, mode, |part| part.push_to(&mut text));
        ends.push((*i, text.len()));
    }
    if let Some(rolled_up) = layout.rolled_up {
        text.push_str(&roll_up_line(rolled_up, mode));
    }
    text.push_str(closing);
    Text { text, ends }
}

/// Calls `with` with the part of a block.
fn with_part<R>(
    block: &Block<'_>,
    meta: &BlockMeta<'_>,
    shown: &ShownDetail,
    content_tokens: u32,
    mode: OutputMode,
    with: impl FnOnce(&Part<'_>) -> R,
) -> R {
    match shown {
        ShownDetail::Excerpt(excerpt) => {
            let view = BlockView::new(block, meta);
            let body = ExcerptSource::new(&view, content_tokens).map(|all| all.body(excerpt));
            with(&part_with_body(&view, Shown::Excerpt, body.as_deref(), mode))
        }
        ShownDetail::Level(detail) => match detail.shown() {
            Some(shown) => with(&part(&BlockView::new(block, meta), shown, mode)),
            None => with(&placeholder(&Head::new(block, Some(meta)), content_tokens, mode)),
        },
    }
}

/// The part of a text that shows one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockText {
    /// The index of the block in the pack.
    pub index: usize,
    /// The part as it appears in the text.
    pub part: String,
    /// The content, level or excerpt within the part, without the newline that follows it. `None`
    /// if the part is only a head or a placeholder.
    pub body: Option<String>,
}

/// The text of a plan by blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTexts {
    /// The blocks that are shown, in the order of the text.
    pub shown: Vec<BlockText>,
    /// The line that counts the blocks without their own line.
    pub roll_up: Option<String>,
}

/// Returns the text of each part, without the envelope.
pub(crate) fn block_texts(
    blocks: &[Block<'_>],
    metas: MetaLookup<'_>,
    mode: OutputMode,
    layout: &Layout,
) -> BlockTexts {
    let text = |(index, shown, tokens): &(usize, ShownDetail, u32)| {
        let index = *index;
        with_part(&blocks[index], metas.get(index), shown, *tokens, mode, |of| {
            let mut part = String::new();
            of.push_to(&mut part);
            BlockText { index, part, body: of.body.map(str::to_owned) }
        })
    };
    BlockTexts {
        shown: layout.shown.iter().map(text).collect(),
        roll_up: layout.rolled_up.map(|rolled_up| roll_up_line(rolled_up, mode)),
    }
}

/// Renders the line that counts the blocks without their own line.
pub(crate) fn roll_up_line(rolled_up: RollUp, mode: OutputMode) -> String {
    let mut text = String::new();
    roll_up(rolled_up.count, rolled_up.tokens, mode).push_to(&mut text);
    text
}
