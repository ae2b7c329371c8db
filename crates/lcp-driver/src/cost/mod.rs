//! The costs of the detail levels of a block: tokens of the rendered part, not of the bare content.

mod index;
mod parallel;

use foldhash::{HashMap, HashMapExt as _};
use lcp_tokens::{TokenEstimator, split_at_boundary};

use crate::block_view::BlockView;
use crate::detail::{DetailLevel, LEVELS, OutputMode};
use crate::render::{Part, Shown, part, placeholder};
pub use index::{IndexCosts, ScanCosts};
pub(crate) use index::{known_costs, levels_of};
pub(crate) use parallel::{count_blocks, recount};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetailCosts {
    /// Tokens of the content with its final newline; the same in every mode.
    pub(crate) content: u32,
    /// The costs by [`DetailLevel`]; `None` if the block has no such level.
    all: [Option<u32>; DetailLevel::ALL.len()],
    /// The levels that are not dominated, fullest first: each costs less than all fuller ones.
    pub(crate) details: DetailOptions,
}

/// Levels and their costs, stored inline because a pack can have a million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetailOptions {
    all: [(DetailLevel, u32); LEVELS],
    len: usize,
}

impl std::ops::Deref for DetailOptions {
    type Target = [(DetailLevel, u32)];

    fn deref(&self) -> &[(DetailLevel, u32)] {
        &self.all[..self.len]
    }
}

impl DetailCosts {
    /// Creates the costs of a block whose content has `content` tokens, with costs by level.
    pub(crate) fn new(content: u32, all: [Option<u32>; DetailLevel::ALL.len()]) -> Self {
        let mut details = DetailOptions { all: [(DetailLevel::Full, 0); LEVELS], len: 0 };
        let mut cheapest = u64::MAX;
        for (detail, cost) in DetailLevel::ALL.into_iter().zip(all) {
            if let Some(cost) = cost.filter(|cost| u64::from(*cost) < cheapest) {
                cheapest = u64::from(cost);
                details.all[details.len] = (detail, cost);
                details.len += 1;
            }
        }
        Self { content, all, details }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (DetailLevel, u32)> {
        let cost = |detail: DetailLevel| Some((detail, self.all[detail as usize]?));
        DetailLevel::ALL.into_iter().filter_map(cost)
    }

    /// Returns the fullest level of the block between full content and placeholder.
    pub(crate) fn level(&self) -> Option<DetailLevel> {
        let levels = [DetailLevel::Detailed, DetailLevel::Summary, DetailLevel::Tags];
        levels.into_iter().find(|level| self.all[*level as usize].is_some())
    }

    /// Returns the cost of a level; 0 if the block has no such level.
    pub(crate) fn cost(&self, detail: DetailLevel) -> u32 {
        self.all[detail as usize].unwrap_or_default()
    }

    /// Returns the index of `ceiling` in `details`, or of the next fuller level if it is dominated.
    pub(crate) fn max_level(&self, ceiling: DetailLevel) -> usize {
        self.details.iter().rposition(|(detail, _)| *detail <= ceiling).unwrap_or(0)
    }

    /// Returns the dominated levels, each with its cost and the lower cost of a fuller level.
    pub(crate) fn dominated(&self) -> impl Iterator<Item = (DetailLevel, u32, u32)> {
        let mut cheapest = u32::MAX;
        DetailLevel::ALL.into_iter().filter_map(move |detail| {
            let cost = self.all[detail as usize]?;
            let fuller = cheapest;
            cheapest = cheapest.min(cost);
            let is_level = detail != DetailLevel::Full && detail != DetailLevel::Placeholder;
            (is_level && cost > fuller).then_some((detail, cost, fuller))
        })
    }
}

/// A counter of parts of texts, with a cache for short strings.
pub(crate) struct Counter<'e> {
    estimator: &'e dyn TokenEstimator,
    additive: bool,
    /// The counts of heads and tails. A chat can have a million equal ones.
    short: HashMap<String, u32>,
    buffer: String,
}

/// The maximum length of a cached string, in bytes, and the maximum number of cached strings.
const SHORT_BYTES_MAX: usize = 32;
const SHORT_STRINGS_MAX: usize = 4096;

impl<'e> Counter<'e> {
    pub(crate) fn new(estimator: &'e dyn TokenEstimator) -> Self {
        let additive = estimator.is_additive();
        Self { estimator, additive, short: HashMap::new(), buffer: String::new() }
    }

    /// Counts a string between two additive boundaries.
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

    pub(crate) fn costs(&mut self, view: &BlockView<'_>, mode: OutputMode) -> DetailCosts {
        let (_, [costs]) = self.costs_in(view, [mode]);
        costs
    }

    /// Returns the count of the content of `view`, and its costs in each mode.
    pub(crate) fn costs_in<const N: usize>(
        &mut self,
        view: &BlockView<'_>,
        modes: [OutputMode; N],
    ) -> (Body, [DetailCosts; N]) {
        let mut all = [[None; DetailLevel::ALL.len()]; N];
        let content = self.body(view.content.as_deref());
        let levels = [
            (DetailLevel::Full, Shown::Content, Some(content)),
            (
                DetailLevel::Detailed,
                Shown::Detailed,
                view.detailed.map(|text| self.body(Some(text))),
            ),
            (DetailLevel::Summary, Shown::Summary, view.summary.map(|text| self.body(Some(text)))),
            (DetailLevel::Tags, Shown::Tags, view.tags.map(|text| self.body(Some(text)))),
        ];
        for (all, mode) in all.iter_mut().zip(modes) {
            for (detail, shown, body) in levels {
                let cost = body.map(|body| self.part_tokens(&part(view, shown, mode), body));
                all[detail as usize] = cost;
            }
            let line = placeholder(&view.head, content.tokens, mode);
            all[DetailLevel::Placeholder as usize] = Some(self.part(&line).1);
        }
        (content, all.map(|all| DetailCosts::new(content.tokens, all)))
    }

    /// Returns the tokens of the body with its newline, and of the part.
    pub(crate) fn part(&mut self, part: &Part<'_>) -> (u32, u32) {
        let body = self.body(part.body);
        (body.tokens, self.part_tokens(part, body))
    }

    fn body(&mut self, body: Option<&str>) -> Body {
        // Without content, only the newline counts.
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

    /// Returns the tokens of a part, given the count of its body.
    fn part_tokens(&mut self, part: &Part<'_>, counted: Body) -> u32 {
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
        // The head is counted together with the body up to its first additive boundary. The rest of
        // the body costs the same as in the content.
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

    /// Runs `with` with the empty buffer.
    fn with_text<R>(&mut self, with: impl FnOnce(&mut Self, &mut String) -> R) -> R {
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        let result = with(self, &mut text);
        self.buffer = text;
        result
    }
}

/// The token count of a content or of a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// Tokens with the final newline; the same in every mode.
    pub(crate) tokens: u32,
    /// `true` if the boundary between a newline and the first character is additive.
    pub(crate) joins: bool,
}
