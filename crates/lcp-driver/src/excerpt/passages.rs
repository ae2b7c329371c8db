//! Excerpts that show passages: the ranges of lines that a question needs most (RFC 0014).

use std::cmp::Reverse;
use std::ops::Range;

use lcp_types::Passage;

use super::{ExcerptSource, GAP, TRIES_MAX, cost};
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::detail::{Excerpt, OutputMode};

/// The maximum number of blank lines that are shown in place of the marker of a gap.
const BLANK_LINES_MAX: u32 = 3;

/// The maximum number of other lines that are shown if they cost no more than the marker of a gap.
const SHORT_LINES_MAX: u32 = 2;

/// The minimum tokens that are spent on the first lines of a passage that does not fit.
const START_TOKENS_MIN: u32 = 24;

/// The passages of a block with their approximate costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassageCosts {
    /// Tokens of the part without any line of the content.
    pub(crate) frame: u32,
    /// The score and the tokens of each passage, in the order of lines.
    pub(crate) passages: Vec<(u16, u32)>,
}

impl PassageCosts {
    /// Returns the passages by score, highest first, then by line.
    fn best_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.passages.len()).collect();
        order.sort_by_key(|&at| Reverse(self.passages[at].0));
        order
    }

    /// Returns the tokens of these passages.
    fn tokens_of(&self, shown: &[usize]) -> u32 {
        let tokens = shown.iter().map(|&at| u64::from(self.passages[at].1)).sum::<u64>();
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Removes the passages with the lowest scores that together have at least `tokens` tokens.
    /// Returns `false` if none remains.
    pub(crate) fn drop_lowest(&self, shown: &mut Vec<usize>, tokens: u64) -> bool {
        let mut dropped = 0;
        loop {
            let lowest = (0..shown.len()).rev().min_by_key(|&at| self.passages[shown[at]].0);
            let Some(lowest) = lowest else { return false };
            dropped += u64::from(self.passages[shown.remove(lowest)].1);
            if dropped >= tokens {
                return !shown.is_empty();
            }
        }
    }
}

/// A content that is shown by passages.
pub(super) struct PassageText<'v> {
    content: ExcerptSource<'v>,
    /// The end of each line.
    ends: Vec<usize>,
    /// The passages that begin within the content.
    passages: &'v [Passage],
}

impl<'v> PassageText<'v> {
    /// Returns `None` if the content has no passages, or if it has records.
    pub(super) fn new(view: &'v BlockView<'_>, content_tokens: u32) -> Option<Self> {
        if view.passages.is_empty() {
            return None;
        }
        let content = ExcerptSource::new(view, content_tokens)?;
        let mut end = 0;
        let ends = content.text.split_inclusive('\n').map(|line| {
            end += line.len();
            end
        });
        let ends: Vec<usize> = ends.collect();
        let begins = |passage: &Passage| (passage.first as usize) <= ends.len();
        let passages = &view.passages[..view.passages.partition_point(begins)];
        (content.form.is_none() && !passages.is_empty()).then_some(Self { content, ends, passages })
    }

    fn lines(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// Returns the text from line `first` to line `last`.
    fn text_of(&self, first: u32, last: u32) -> &str {
        let start = (first as usize).checked_sub(2).map_or(0, |before| self.ends[before]);
        let end = self.ends.get(last as usize - 1).or(self.ends.last());
        &self.content.text[start..end.copied().unwrap_or(start)]
    }

    pub(super) fn costs(
        &self,
        view: &BlockView<'_>,
        mode: OutputMode,
        counter: &mut Counter<'_>,
    ) -> PassageCosts {
        let frame = cost(view, &self.content, &self.content.excerpt(0, 0, 0), mode, counter);
        // Each passage may need a marker before it.
        let marker = counter.count(GAP);
        let cost_of = |of: &Passage| {
            let tokens = counter.count(self.text_of(of.first, of.last));
            (of.score, tokens.saturating_add(marker))
        };
        PassageCosts { frame, passages: self.passages.iter().map(cost_of).collect() }
    }

    /// Returns the excerpt of these ranges of lines, which have about `tokens` tokens; `None` if
    /// it omits nothing.
    fn excerpt(
        &self,
        ranges: impl IntoIterator<Item = (u32, u32)>,
        tokens: u32,
        counter: &mut Counter<'_>,
    ) -> Option<Excerpt> {
        let mut lines: Vec<(u32, u32)> = Vec::new();
        let mut shown_to = 0;
        for (first, last) in ranges {
            let last = last.min(self.lines());
            match lines.last_mut() {
                Some(before) if !self.is_gap(shown_to + 1..first, counter) => before.1 = last,
                None if !self.is_gap(1..first, counter) => lines.push((1, last)),
                _ => lines.push((first, last)),
            }
            shown_to = last;
        }
        let rest = shown_to + 1..self.lines() + 1;
        if let Some(end) = lines.last_mut().filter(|_| !rest.is_empty() && self.is_blank(rest)) {
            end.1 = self.lines();
        }
        let (start, end) = (*lines.first()?, *lines.last()?);
        let shown: u32 = lines.iter().map(|(first, last)| last - first + 1).sum();
        let mut excerpt = self.content.excerpt(0, 0, tokens);
        excerpt.omitted_lines = (self.lines() - shown) as usize;
        if excerpt.omitted_lines == 0 {
            excerpt.head_bytes = self.content.text.len();
            return self.content.omits_something(&excerpt).then_some(excerpt);
        }
        if start.0 == 1 {
            excerpt.head_bytes = self.text_of(1, start.1).len();
        }
        if end.1 == self.lines() {
            excerpt.tail_bytes = self.text_of(end.0, end.1).len();
        }
        excerpt.lines = lines;
        Some(excerpt)
    }

    /// Returns whether a marker replaces these lines.
    fn is_gap(&self, lines: Range<u32>, counter: &mut Counter<'_>) -> bool {
        let count = lines.end.saturating_sub(lines.start);
        if count == 0 || self.is_blank(lines.clone()) {
            return false;
        }
        count > SHORT_LINES_MAX
            || counter.count(self.text_of(lines.start, lines.end - 1)) > counter.count(GAP)
    }

    fn is_blank(&self, lines: Range<u32>) -> bool {
        lines.end - lines.start <= BLANK_LINES_MAX
            && self.text_of(lines.start, lines.end - 1).trim().is_empty()
    }

    /// Returns the excerpt that shows these passages, given by ascending indices, and its cost.
    /// `None` if it would show all or nothing.
    pub(super) fn show(
        &self,
        view: &BlockView<'_>,
        costs: &PassageCosts,
        shown: &[usize],
        mode: OutputMode,
        counter: &mut Counter<'_>,
    ) -> Option<(Excerpt, u32)> {
        let ranges = shown.iter().map(|&at| (self.passages[at].first, self.passages[at].last));
        let excerpt = self.excerpt(ranges, costs.tokens_of(shown), counter)?;
        let cost = cost(view, &self.content, &excerpt, mode, counter);
        Some((excerpt, cost))
    }

    /// Returns the excerpt of at most `most` tokens that shows the best passages, and its cost.
    /// Tokens that these leave show the beginning of the next best passage.
    pub(super) fn cut(
        &self,
        view: &BlockView<'_>,
        costs: &PassageCosts,
        most: u32,
        mode: OutputMode,
        counter: &mut Counter<'_>,
    ) -> Option<(Excerpt, u32)> {
        let mut left = most.checked_sub(costs.frame)?;
        let order = costs.best_first();
        let mut shown = Vec::new();
        for &at in &order {
            let tokens = costs.passages[at].1;
            if tokens <= left {
                shown.push(at);
                left -= tokens;
            }
        }
        shown.sort_unstable();
        let mut best = None;
        for _ in 0..TRIES_MAX {
            best = self.show(view, costs, &shown, mode, counter);
            let excess = best.as_ref().map_or(1, |(_, cost)| cost.saturating_sub(most));
            if excess == 0 {
                break;
            }
            best = None;
            if !costs.drop_lowest(&mut shown, excess.into()) {
                break;
            }
        }
        if best.is_none() {
            shown.clear();
        }
        let next = order.into_iter().find(|at| shown.binary_search(at).is_err());
        let used = best.as_ref().map_or(costs.frame, |(_, cost)| *cost);
        let left = most.saturating_sub(used);
        let longer = next.filter(|_| left >= START_TOKENS_MIN).and_then(|next| {
            self.with_start_of(view, costs, (&shown, next), (left, most), mode, counter)
        });
        longer.or(best)
    }

    /// Returns the excerpt that shows these passages and the first lines of another one, which have
    /// about `left` tokens. It has at most `most` tokens.
    fn with_start_of(
        &self,
        view: &BlockView<'_>,
        costs: &PassageCosts,
        (shown, next): (&[usize], usize),
        (left, most): (u32, u32),
        mode: OutputMode,
        counter: &mut Counter<'_>,
    ) -> Option<(Excerpt, u32)> {
        let Passage { first, last, .. } = self.passages[next];
        let start = counter.estimator().truncate_to(self.text_of(first, last), left);
        let newlines = start.bytes().filter(|byte| *byte == b'\n').count();
        let mut lines = u32::try_from(newlines).unwrap_or(u32::MAX);
        while lines > 0 {
            let to = (first - 1).saturating_add(lines).min(last);
            let mut ranges: Vec<_> = shown.iter().map(|&at| self.passages[at]).collect();
            ranges.insert(
                shown.partition_point(|at| *at < next),
                Passage { last: to, ..self.passages[next] },
            );
            let tokens = counter.count(self.text_of(first, to));
            let tokens = costs.tokens_of(shown).saturating_add(tokens);
            let ranges = ranges.into_iter().map(|of| (of.first, of.last));
            let excerpt = self.excerpt(ranges, tokens, counter)?;
            let cost = cost(view, &self.content, &excerpt, mode, counter);
            if cost <= most {
                return Some((excerpt, cost));
            }
            // An excess of a few tokens takes a line or two.
            lines -= (lines / 8).max(1);
        }
        None
    }
}
