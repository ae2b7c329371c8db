//! Segments text by merging: of all adjacent symbols that form a piece, those with the best score
//! merge first.

use std::collections::HashMap;
use std::ops::Range;

use super::super::merge::Merger;
use super::Piece;
use super::file::{File, Kind};
use super::normalize::Symbols;

pub(super) struct Bpe {
    /// The pieces that can occur in text.
    pieces: HashMap<Box<str>, Match>,
    /// The pieces that cannot be formed by merging. A single character may still equal one.
    reserved: HashMap<Box<str>, Piece>,
    symbols: Symbols,
    longest: usize,
}

#[derive(Clone, Copy)]
struct Match {
    /// The rank by score, best first. Equal scores have equal ranks.
    rank: u32,
    unused: bool,
}

impl Bpe {
    pub(super) fn new(file: &File) -> Self {
        let mut scores: Vec<f32> = file.pieces.iter().map(|piece| piece.score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let (matched, reserved): (Vec<_>, Vec<_>) =
            file.pieces.iter().partition(|piece| piece.kind.is_matched());
        let pieces: HashMap<Box<str>, Match> = matched
            .into_iter()
            .map(|piece| {
                let rank = scores.partition_point(|score| *score > piece.score);
                let rank = u32::try_from(rank).unwrap_or(u32::MAX);
                (piece.text.as_str().into(), Match { rank, unused: piece.kind == Kind::Unused })
            })
            .collect();
        let unknown = |kind| if kind == Kind::Unknown { Piece::Unknown } else { Piece::Known };
        let reserved = reserved.into_iter();
        let reserved = reserved.map(|piece| (piece.text.as_str().into(), unknown(piece.kind)));
        let longest = pieces.keys().map(|piece| piece.len()).max().unwrap_or(0);
        Self { reserved: reserved.collect(), pieces, symbols: file.symbols(), longest }
    }

    /// Passes the pieces of a normalized text to `each`, in order.
    pub(super) fn encode(
        &self,
        text: &str,
        merger: &mut Merger,
        mut each: impl FnMut(Piece, Range<usize>),
    ) {
        let mut at = 0;
        let parts = std::iter::from_fn(|| {
            let rest = &text[at..];
            let symbol = self.symbols.at_start(rest);
            let len = symbol.or_else(|| rest.chars().next().map(char::len_utf8))?;
            at += len;
            Some((at - len..at, symbol.is_some()))
        });
        // The split positions of unused pieces, which are split again after merging.
        let mut made: HashMap<&str, usize> = HashMap::new();
        let rank = |range: Range<usize>, middle: usize| {
            if range.len() > self.longest {
                return None;
            }
            let found = self.pieces.get(&text[range.clone()])?;
            if found.unused {
                made.insert(&text[range.clone()], middle - range.start);
            }
            Some(found.rank)
        };
        let mut ranges = Vec::new();
        merger.run(text.len(), parts, rank, |range| ranges.push(range));
        // Split from the left. The right half waits on the stack.
        ranges.reverse();
        while let Some(range) = ranges.pop() {
            let piece = &text[range.clone()];
            let unused = self.pieces.get(piece).is_some_and(|found| found.unused);
            if unused && let Some(middle) = made.get(piece) {
                ranges.push(range.start + middle..range.end);
                ranges.push(range.start..range.start + middle);
                continue;
            }
            let known = if self.pieces.contains_key(piece) { Piece::Known } else { Piece::Unknown };
            each(self.reserved.get(piece).copied().unwrap_or(known), range);
        }
    }
}
