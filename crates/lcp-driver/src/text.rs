//! The text of a plan.

use lcp_types::Block;

use crate::budget::cost::Detail;
use crate::budget::{Excerpt, RenderDecision};
use crate::config::OutputMode;
use crate::excerpt;
use crate::meta::Meta;
use crate::placeholder;
use crate::plan::{Plan, RolledUp};
use crate::render::{Part, Shown, envelope, part, part_of, placeholder};
use crate::view::{Head, View};

/// What a text is made of.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The blocks that have a part: their index, what of each is shown, and
    /// the tokens of its content.
    pub(crate) shown: Vec<(usize, Piece, u32)>,
    pub(crate) rolled_up: Option<RolledUp>,
}

/// What is shown of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    Detail(Detail),
    Excerpt(Excerpt),
}

impl Layout {
    pub(crate) fn of(plan: &Plan) -> Self {
        let shown = plan
            .items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| Some((i, Piece::of(&item.decision)?, item.content_tokens)));
        Self { shown: shown.collect(), rolled_up: plan.rolled_up }
    }
}

impl Piece {
    /// What a decision shows, if it shows anything.
    pub(crate) fn of(decision: &RenderDecision) -> Option<Self> {
        Some(Self::Detail(match decision {
            RenderDecision::Full => Detail::Full,
            RenderDecision::Detailed => Detail::Detailed,
            RenderDecision::Summary => Detail::Summary,
            RenderDecision::Tags => Detail::Tags,
            RenderDecision::Placeholder { .. } => Detail::Placeholder,
            RenderDecision::Excerpt(excerpt) => return Some(Self::Excerpt(*excerpt)),
            _ => return None,
        }))
    }
}

/// The text: the envelope around the parts, the roll-up line last. Nothing to
/// show gives the empty text.
pub(crate) fn render(
    blocks: &[Block<'_>],
    metas: &[Meta<'_>],
    mode: OutputMode,
    layout: &Layout,
) -> String {
    let mut text = String::new();
    if layout.shown.is_empty() && layout.rolled_up.is_none() {
        return text;
    }
    let (opening, closing) = envelope(mode);
    text.push_str(opening);
    for &(i, piece, tokens) in &layout.shown {
        let (block, meta) = (&blocks[i], &metas[i]);
        match piece {
            Piece::Excerpt(excerpt) => {
                let view = View::new(block, meta);
                let body = view.content.as_deref().map(|text| excerpt::body(text, &excerpt));
                part_of(&view, Shown::Excerpt, body.as_deref(), mode).push_to(&mut text);
            }
            Piece::Detail(detail) => match detail.shown() {
                Some(shown) => part(&View::new(block, meta), shown, mode).push_to(&mut text),
                None => placeholder(&Head::new(block, Some(meta)), tokens, mode).push_to(&mut text),
            },
        }
    }
    if let Some(rolled_up) = layout.rolled_up {
        text.push_str(&roll_up_line(rolled_up, mode));
    }
    text.push_str(closing);
    text
}

/// The line that stands for the blocks without one of their own.
pub(crate) fn roll_up_line(rolled_up: RolledUp, mode: OutputMode) -> String {
    let mut text = String::new();
    Part::line(placeholder::roll_up(rolled_up.count, rolled_up.tokens, mode)).push_to(&mut text);
    text
}
