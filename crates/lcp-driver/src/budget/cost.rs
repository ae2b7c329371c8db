//! What each detail of a block costs: the tokens of the text that is really
//! emitted, not of the bare content.

use std::collections::HashMap;

use lcp_tokens::{TokenEstimator, split_at_boundary};

use crate::block_view::BlockView;
use crate::budget::walk::DETAILS_MAX;
use crate::config::OutputMode;
use crate::render::{Part, Shown, part, placeholder};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Costs {
    /// Tokens of the content with its final newline, the same in every mode.
    pub(crate) content: u32,
    /// What each detail costs, by its place in [`Detail::ALL`]; `None` where
    /// the block has none.
    all: [Option<u32>; Detail::ALL.len()],
    /// The details that are worth having, fullest first, costs strictly
    /// falling. A detail that costs no less than a fuller one is not among
    /// them.
    pub(crate) details: Details,
}

/// Details and what they cost. They stand in the costs themselves: a pack has a
/// million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Details {
    all: [(Detail, u32); DETAILS_MAX],
    len: usize,
}

impl std::ops::Deref for Details {
    type Target = [(Detail, u32)];

    fn deref(&self) -> &[(Detail, u32)] {
        &self.all[..self.len]
    }
}

impl Costs {
    /// The costs of a block whose content has `content` tokens, and whose
    /// details cost this, in the order of [`Detail::ALL`].
    pub(crate) fn new(content: u32, all: [Option<u32>; Detail::ALL.len()]) -> Self {
        let mut details = Details { all: [(Detail::Full, 0); DETAILS_MAX], len: 0 };
        let mut cheapest = u64::MAX;
        for (detail, cost) in Detail::ALL.into_iter().zip(all) {
            if let Some(cost) = cost.filter(|cost| u64::from(*cost) < cheapest) {
                cheapest = u64::from(cost);
                details.all[details.len] = (detail, cost);
                details.len += 1;
            }
        }
        Self { content, all, details }
    }

    /// What each detail that the block has costs.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Detail, u32)> {
        let cost = |detail: Detail| Some((detail, self.all[detail as usize]?));
        Detail::ALL.into_iter().filter_map(cost)
    }

    /// The fullest level that the block carries between its content and its
    /// placeholder.
    pub(crate) fn level(&self) -> Option<Detail> {
        let levels = [Detail::Detailed, Detail::Summary, Detail::Tags];
        levels.into_iter().find(|level| self.all[*level as usize].is_some())
    }

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
    pub(crate) fn costs(&mut self, view: &BlockView<'_>, mode: OutputMode) -> Costs {
        let (_, [costs]) = self.costs_in(view, [mode]);
        costs
    }

    /// Everything that `view` could cost in each of these modes, and the count
    /// of its content. Each text is counted once, where counts add up.
    pub(crate) fn costs_in<const N: usize>(
        &mut self,
        view: &BlockView<'_>,
        modes: [OutputMode; N],
    ) -> (Body, [Costs; N]) {
        let mut all = [[None; Detail::ALL.len()]; N];
        let content = self.body(view.content.as_deref());
        let levels = [
            (Detail::Full, Shown::Content, Some(content)),
            (Detail::Detailed, Shown::Detailed, view.detailed.map(|text| self.body(Some(text)))),
            (Detail::Summary, Shown::Summary, view.summary.map(|text| self.body(Some(text)))),
            (Detail::Tags, Shown::Tags, view.tags.map(|text| self.body(Some(text)))),
        ];
        for (all, mode) in all.iter_mut().zip(modes) {
            for (detail, shown, body) in levels {
                let cost = body.map(|body| self.around(&part(view, shown, mode), body));
                all[detail as usize] = cost;
            }
            let line = placeholder(&view.head, content.tokens, mode);
            all[Detail::Placeholder as usize] = Some(self.part(&line).1);
        }
        (content, all.map(|all| Costs::new(content.tokens, all)))
    }

    /// The tokens of the body with its newline, and of the whole part.
    pub(crate) fn part(&mut self, part: &Part<'_>) -> (u32, u32) {
        let body = self.body(part.body);
        (body.tokens, self.around(part, body))
    }

    /// The count of a body.
    fn body(&mut self, body: Option<&str>) -> Body {
        // What has no content has an empty one, and its newline.
        let Some(body) = body else { return Body { tokens: self.count("\n"), joins: false } };
        self.with_text(|counter, text| {
            text.push_str(body);
            text.push('\n');
            let joins =
                body.chars().next().is_some_and(|c| lcp_tokens::is_additive_boundary('\n', c));
            let tokens = if !counter.additive {
                counter.estimator.estimate(text)
            } else if joins {
                counter.count(text)
            } else {
                let (first, rest) = split_at_boundary(text);
                counter.count(first).saturating_add(counter.count(rest))
            };
            Body { tokens, joins }
        })
    }

    /// The tokens of a part, of whose body this is the count.
    fn around(&mut self, part: &Part<'_>, counted: Body) -> u32 {
        let Some(body) = part.body else { return self.count(&part.head) };
        if !self.additive {
            return self.with_text(|counter, text| {
                part.push_to(text);
                counter.estimator.estimate(text)
            });
        }
        let tail = self.count(&part.tail);
        if counted.joins && part.head.ends_with('\n') {
            let head = self.count(&part.head);
            return head.saturating_add(counted.tokens).saturating_add(tail);
        }
        // The head is counted together with the body up to its first join. The
        // rest of the body costs what it costs in the content.
        self.with_text(|counter, text| {
            text.push_str(&part.head);
            let body_at = text.len();
            text.push_str(body);
            text.push('\n');
            let (first, rest) = split_at_boundary(&text[body_at..]);
            let first_tokens = if rest.is_empty() { counted.tokens } else { counter.count(first) };
            let opening = counter.count(&text[..body_at + first.len()]);
            let rest = counted.tokens.saturating_sub(first_tokens);
            opening.saturating_add(rest).saturating_add(tail)
        })
    }

    /// Lends the buffer, empty.
    fn with_text<R>(&mut self, with: impl FnOnce(&mut Self, &mut String) -> R) -> R {
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        let result = with(self, &mut text);
        self.buffer = text;
        result
    }
}

/// The count of a content or a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// With its final newline; the same in every mode.
    pub(crate) tokens: u32,
    /// Whether it begins with what joins a newline before it.
    pub(crate) joins: bool,
}
