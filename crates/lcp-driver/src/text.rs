//! The text of a plan.

use lcp_types::Block;

use crate::budget::RenderDecision;
use crate::budget::cost::Detail;
use crate::config::OutputMode;
use crate::meta::Meta;
use crate::placeholder;
use crate::plan::{Plan, RolledUp};
use crate::render::{Part, Shown, envelope, part, placeholder};
use crate::view::{Head, View};

/// What a text is made of.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The blocks that have a part: their index, how much of each is shown,
    /// and the tokens of its content.
    pub(crate) shown: Vec<(usize, Detail, u32)>,
    pub(crate) rolled_up: Option<RolledUp>,
}

impl Layout {
    pub(crate) fn of(plan: &Plan) -> Self {
        let shown =
            plan.items.iter().enumerate().filter_map(|(i, item)| {
                Some((i, Detail::of(&item.decision)?, item.content_tokens))
            });
        Self { shown: shown.collect(), rolled_up: plan.rolled_up }
    }
}

impl Detail {
    /// The detail that a decision shows, if it shows any.
    pub(crate) fn of(decision: &RenderDecision) -> Option<Self> {
        match decision {
            RenderDecision::Full => Some(Self::Full),
            RenderDecision::Summary => Some(Self::Summary),
            RenderDecision::Placeholder { .. } => Some(Self::Placeholder),
            _ => None,
        }
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
    for &(i, detail, tokens) in &layout.shown {
        let (block, meta) = (&blocks[i], &metas[i]);
        match detail {
            Detail::Full => part(&View::new(block, meta), Shown::Content, mode).push_to(&mut text),
            Detail::Summary => {
                part(&View::new(block, meta), Shown::Summary, mode).push_to(&mut text);
            }
            Detail::Placeholder => {
                placeholder(&Head::new(block, Some(meta)), tokens, mode).push_to(&mut text);
            }
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
