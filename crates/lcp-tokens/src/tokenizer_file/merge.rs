//! Byte-pair merging of one piece of text, for vocabularies from files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A pair of adjacent symbols that may merge. The lowest `rank` comes first, then the leftmost
/// pair. A pair is stale if its range is no longer that of two adjacent symbols.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    left: usize,
    end: usize,
}

/// A part of the text between merges. `end == 0` marks a removed symbol.
#[derive(Clone, Copy)]
struct Symbol {
    end: usize,
    previous: Option<usize>,
    /// `true` if the symbol must not be merged.
    frozen: bool,
}

/// The symbols of a text, indexed by their start.
pub(super) struct Merger {
    symbols: Vec<Symbol>,
    heap: BinaryHeap<Reverse<Pair>>,
}

impl Merger {
    pub(super) fn new() -> Self {
        Self { symbols: Vec::new(), heap: BinaryHeap::new() }
    }

    /// Merges the `parts` of a text until no two adjacent parts have a rank. The parts must be
    /// contiguous. `frozen` parts do not change.
    ///
    /// `rank` receives a range and the position in it at which the two parts meet. `each` receives
    /// the remaining ranges in order.
    ///
    /// The time is O(n log n), and the memory is about 60 bytes per byte of the text.
    pub(super) fn run(
        &mut self,
        len: usize,
        parts: impl Iterator<Item = (Range<usize>, bool)>,
        mut rank: impl FnMut(Range<usize>, usize) -> Option<u32>,
        mut each: impl FnMut(Range<usize>),
    ) {
        self.heap.clear();
        self.symbols.clear();
        self.symbols.resize(len, Symbol { end: 0, previous: None, frozen: false });
        let mut previous = None;
        for (part, frozen) in parts {
            self.symbols[part.start] = Symbol { end: part.end, previous, frozen };
            if let Some(left) = previous {
                self.offer(left, &mut rank);
            }
            previous = Some(part.start);
        }
        while let Some(Reverse(pair)) = self.heap.pop() {
            let middle = self.symbols[pair.left].end;
            if middle == 0 || middle >= pair.end || self.symbols[middle].end != pair.end {
                continue;
            }
            self.symbols[middle].end = 0;
            self.symbols[pair.left].end = pair.end;
            if let Some(before) = self.symbols[pair.left].previous {
                self.offer(before, &mut rank);
            }
            if let Some(after) = self.symbols.get_mut(pair.end) {
                after.previous = Some(pair.left);
                self.offer(pair.left, &mut rank);
            }
        }
        let mut start = 0;
        while start < len {
            let end = self.symbols[start].end;
            each(start..end);
            start = end;
        }
    }

    /// Adds the symbol at `left` and the next one to the heap, if they may merge.
    fn offer(&mut self, left: usize, rank: &mut impl FnMut(Range<usize>, usize) -> Option<u32>) {
        let Symbol { end: middle, frozen, .. } = self.symbols[left];
        let Some(right) = self.symbols.get(middle) else { return };
        if frozen || right.frozen || right.end == 0 {
            return;
        }
        let end = right.end;
        if let Some(rank) = rank(left..end, middle) {
            self.heap.push(Reverse(Pair { rank, left, end }));
        }
    }
}
