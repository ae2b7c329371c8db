//! What each detail of a block costs: the tokens of the text that is really
//! emitted, not of the bare content.

use std::collections::HashMap;

use lcp_tokens::{TokenEstimator, split_at_join};

use crate::budget::walk::DETAILS_MAX;
use crate::config::OutputMode;
use crate::render::{Part, Shown, part, placeholder};
use crate::view::View;

/// How much of a block is shown: what a budget buys. The fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    Full,
    Detailed,
    Summary,
    Tags,
    Placeholder,
}

impl Detail {
    pub(crate) const ALL: [Self; DETAILS_MAX] =
        [Self::Full, Self::Detailed, Self::Summary, Self::Tags, Self::Placeholder];

    /// What a part shows of it; `None` for the line of a placeholder.
    pub(crate) const fn shown(self) -> Option<Shown> {
        match self {
            Self::Full => Some(Shown::Content),
            Self::Detailed => Some(Shown::Detailed),
            Self::Summary => Some(Shown::Summary),
            Self::Tags => Some(Shown::Tags),
            Self::Placeholder => None,
        }
    }
}

/// What one block could cost.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// Tokens of the content with its final newline, the same in every mode.
    pub(crate) content: u32,
    /// What each detail costs, by its place in [`Detail::ALL`]; `None` where
    /// the block has none.
    all: [Option<u32>; Detail::ALL.len()],
    /// The details that are worth having, fullest first, costs strictly
    /// falling. A detail that costs no less than a fuller one is not among
    /// them.
    pub(crate) details: Vec<(Detail, u32)>,
}

impl Costs {
    /// What a detail costs; 0 where the block has none.
    pub(crate) fn of(&self, detail: Detail) -> u32 {
        self.all[detail as usize].unwrap_or_default()
    }

    /// The detail that stands for `ceiling`: itself, or the next fuller one
    /// where it was not worth having. An index into the details.
    pub(crate) fn ceiling(&self, ceiling: Detail) -> usize {
        self.details.iter().rposition(|(detail, _)| *detail <= ceiling).unwrap_or(0)
    }

    /// The levels that the block carries for nothing: each with its cost and
    /// that of the fuller detail which costs less.
    pub(crate) fn costly(&self) -> impl Iterator<Item = (Detail, u32, u32)> {
        let mut cheapest = u32::MAX;
        Detail::ALL.into_iter().filter_map(move |detail| {
            let cost = self.all[detail as usize]?;
            let fuller = cheapest;
            cheapest = cheapest.min(cost);
            let is_level = detail != Detail::Full && detail != Detail::Placeholder;
            (is_level && cost > fuller).then_some((detail, cost, fuller))
        })
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

    pub(crate) fn estimator(&self) -> &'e dyn TokenEstimator {
        self.estimator
    }

    /// Everything that `view` could cost in this mode.
    pub(crate) fn costs(&mut self, view: &View<'_>, mode: OutputMode) -> Costs {
        let (content, full) = self.part(&part(view, Shown::Content, mode));
        let mut all = [None; Detail::ALL.len()];
        all[Detail::Full as usize] = Some(full);
        let levels = [
            (Detail::Detailed, view.detailed),
            (Detail::Summary, view.summary),
            (Detail::Tags, view.tags),
        ];
        for (detail, text) in levels {
            if let (Some(_), Some(shown)) = (text, detail.shown()) {
                all[detail as usize] = Some(self.part(&part(view, shown, mode)).1);
            }
        }
        let line = self.part(&placeholder(&view.head, content, mode)).1;
        all[Detail::Placeholder as usize] = Some(line);
        let mut cheapest = u32::MAX;
        let mut details = Vec::with_capacity(2);
        for (detail, cost) in Detail::ALL.into_iter().zip(all) {
            if let Some(cost) = cost.filter(|cost| *cost < cheapest) {
                cheapest = cost;
                details.push((detail, cost));
            }
        }
        Costs { content, all, details }
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
