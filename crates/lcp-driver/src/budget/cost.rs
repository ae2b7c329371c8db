//! What each detail of a block costs: the tokens of the text that is really
//! emitted, not of the bare content.

use std::collections::HashMap;

use lcp_tokens::{TokenEstimator, split_at_join};

use crate::budget::RenderDecision;
use crate::config::OutputMode;
use crate::render::{Part, Shown, part, placeholder};
use crate::view::View;

/// How much of a block is shown: what a budget buys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    Full,
    Summary,
    Placeholder,
}

/// What one block could cost.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// Tokens of the content with its final newline, the same in every mode.
    pub(crate) content: u32,
    /// What it costs in full.
    pub(crate) full: u32,
    /// What its summary costs, if it has one.
    pub(crate) summary: Option<u32>,
    /// What its placeholder costs.
    pub(crate) placeholder: u32,
    /// The details that are worth having, fullest first, costs strictly
    /// falling. A detail that costs no less than a fuller one is not among
    /// them.
    pub(crate) details: Vec<(Detail, u32)>,
}

impl Costs {
    /// What a decision costs: 0 for a block that is not shown.
    pub(crate) fn of(&self, decision: &RenderDecision) -> u32 {
        match decision {
            RenderDecision::Full => self.full,
            RenderDecision::Summary => self.summary.unwrap_or_default(),
            RenderDecision::Placeholder { .. } => self.placeholder,
            _ => 0,
        }
    }

    /// The detail that stands for `ceiling`: itself, or the next fuller one
    /// where it was not worth having. An index into the details.
    pub(crate) fn ceiling(&self, ceiling: Detail) -> usize {
        self.details.iter().rposition(|(detail, _)| *detail <= ceiling).unwrap_or(0)
    }
}

/// Counts parts of texts, each string of them once where it comes again and
/// again.
pub(crate) struct Counter<'e> {
    estimator: &'e dyn TokenEstimator,
    additive: bool,
    /// Heads and tails: a chat has a million of the same.
    short: HashMap<String, u32>,
    buffer: String,
}

/// Bytes of the longest string that is remembered, and how many are.
const SHORT_BYTES_MAX: usize = 32;
const SHORT_STRINGS_MAX: usize = 4096;

impl<'e> Counter<'e> {
    pub(crate) fn new(estimator: &'e dyn TokenEstimator) -> Self {
        let additive = estimator.is_additive();
        Self { estimator, additive, short: HashMap::new(), buffer: String::new() }
    }

    /// The count of a string that stands between two joins.
    pub(crate) fn count(&mut self, text: &str) -> u32 {
        if text.is_empty() || text.len() > SHORT_BYTES_MAX {
            return self.estimator.estimate(text);
        }
        if let Some(count) = self.short.get(text) {
            return *count;
        }
        let count = self.estimator.estimate(text);
        if self.short.len() < SHORT_STRINGS_MAX {
            self.short.insert(text.to_owned(), count);
        }
        count
    }

    /// Everything that `view` could cost in this mode.
    pub(crate) fn costs(&mut self, view: &View<'_>, mode: OutputMode) -> Costs {
        let full_part = part(view, Shown::Content, mode);
        let (content, full) = self.part(&full_part);
        let summary = view.summary.map(|_| self.part(&part(view, Shown::Summary, mode)).1);
        let (_, placeholder) = self.part(&placeholder(&view.head, content, mode));
        let mut details = vec![(Detail::Full, full)];
        details.extend(summary.map(|cost| (Detail::Summary, cost)));
        details.push((Detail::Placeholder, placeholder));
        let mut cheapest = u32::MAX;
        details.retain(|&(_, cost)| {
            let worth = cost < cheapest;
            cheapest = cheapest.min(cost);
            worth
        });
        Costs { content, full, summary, placeholder, details }
    }

    /// The tokens of the body with its newline, and of the whole part.
    pub(crate) fn part(&mut self, part: &Part<'_>) -> (u32, u32) {
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        let counts = self.part_in(part, &mut text);
        self.buffer = text;
        counts
    }

    fn part_in(&mut self, part: &Part<'_>, text: &mut String) -> (u32, u32) {
        let Some(body) = part.body else {
            // What has no content has an empty one, and its newline.
            return (self.count("\n"), self.count(&part.head));
        };
        if !self.additive {
            part.push_to(text);
            let whole = self.estimator.estimate(text);
            text.clear();
            text.push_str(body);
            text.push('\n');
            return (self.estimator.estimate(text), whole);
        }
        // The head joins the body where the body begins well; where it does
        // not, the head is counted together with the body up to its first
        // join. The rest of the body counts for both figures.
        text.push_str(&part.head);
        let body_at = text.len();
        text.push_str(body);
        text.push('\n');
        let joins = body_at > 0
            && body.chars().next().is_some_and(|c| lcp_tokens::joins_at('\n', c))
            && part.head.ends_with('\n');
        let tail = self.count(&part.tail);
        if joins {
            let content = self.count(&text[body_at..]);
            let head = self.count(&part.head);
            return (content, head.saturating_add(content).saturating_add(tail));
        }
        let (first, rest) = split_at_join(&text[body_at..]);
        let rest = self.count(rest);
        let content = self.count(first).saturating_add(rest);
        let opening = self.count(&text[..body_at + first.len()]);
        (content, opening.saturating_add(rest).saturating_add(tail))
    }
}
