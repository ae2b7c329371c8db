//! The excerpts that were made for an allocation, so that each is made once.

use std::collections::HashMap;

use super::cut;
use super::passages::{PassageCosts, PassageText};
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::detail::{Excerpt, OutputMode};

/// The request for which an excerpt of a candidate was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExcerptKey {
    /// The maximum tokens of its part.
    Size(u64),
    /// The number of an excerpt of given passages, in the order in which these were made.
    Passages(usize),
}

/// The excerpts of the candidates of a plan, with their costs.
#[derive(Debug, Default)]
pub(crate) struct KnownExcerpts {
    by_size: HashMap<(usize, u64), Option<(Excerpt, u32)>>,
    by_passages: Vec<(Excerpt, u32)>,
    /// The costs of passages, by candidate.
    passages: HashMap<usize, PassageCosts>,
}

/// A block whose excerpts are made.
#[derive(Clone, Copy)]
pub(crate) struct ExcerptBlock<'v, 'b> {
    pub(crate) view: &'v BlockView<'b>,
    pub(crate) content_tokens: u32,
    pub(crate) mode: OutputMode,
}

impl KnownExcerpts {
    /// Returns an excerpt of candidate `i` that was made, and its cost.
    pub(crate) fn get(&self, i: usize, key: ExcerptKey) -> Option<&(Excerpt, u32)> {
        match key {
            ExcerptKey::Size(most) => self.by_size.get(&(i, most))?.as_ref(),
            ExcerptKey::Passages(number) => self.by_passages.get(number),
        }
    }

    /// Returns whether the excerpt for a size was requested, even if the size has none.
    pub(crate) fn has_size(&self, i: usize, most: u64) -> bool {
        self.by_size.contains_key(&(i, most))
    }

    /// Returns the cost of the excerpt that was made for a size.
    pub(crate) fn cost_of_size(&self, i: usize, most: u64) -> Option<u64> {
        self.get(i, ExcerptKey::Size(most)).map(|(_, cost)| u64::from(*cost))
    }

    /// Makes the largest excerpt of at most `most` tokens: of passages, or else of both ends.
    pub(crate) fn make_size(
        &mut self,
        i: usize,
        most: u64,
        block: ExcerptBlock<'_, '_>,
        counter: &mut Counter<'_>,
    ) {
        let ExcerptBlock { view, content_tokens, mode } = block;
        let tokens = u32::try_from(most).unwrap_or(u32::MAX);
        let of_passages = PassageText::new(view, content_tokens).and_then(|text| {
            let costs = self.passages.entry(i).or_insert_with(|| text.costs(view, mode, counter));
            text.cut(view, costs, tokens, mode, counter)
        });
        let made = of_passages.or_else(|| cut(view, content_tokens, tokens, mode, counter));
        self.by_size.insert((i, most), made);
    }

    pub(crate) fn passages(&self, i: usize) -> Option<&PassageCosts> {
        self.passages.get(&i)
    }

    /// Counts the passages of candidate `i`. There are none if its excerpts are of both ends.
    pub(crate) fn count_passages(
        &mut self,
        i: usize,
        block: ExcerptBlock<'_, '_>,
        counter: &mut Counter<'_>,
    ) {
        let ExcerptBlock { view, content_tokens, mode } = block;
        let text = PassageText::new(view, content_tokens);
        let costs = text.map(|text| text.costs(view, mode, counter)).unwrap_or_default();
        self.passages.insert(i, costs);
    }

    /// Makes the excerpt of these passages and returns its key and its cost; `None` if it would
    /// omit nothing.
    pub(crate) fn make_passages(
        &mut self,
        i: usize,
        shown: &[usize],
        block: ExcerptBlock<'_, '_>,
        counter: &mut Counter<'_>,
    ) -> Option<(ExcerptKey, u64)> {
        let ExcerptBlock { view, content_tokens, mode } = block;
        let text = PassageText::new(view, content_tokens)?;
        let (excerpt, cost) = text.show(view, self.passages.get(&i)?, shown, mode, counter)?;
        self.by_passages.push((excerpt, cost));
        Some((ExcerptKey::Passages(self.by_passages.len() - 1), cost.into()))
    }
}
