//! The earlier chunk survives: the outcome of a chunk depends only on earlier ones.

use super::intervals::{LineIntervals, Remainder};
use super::lines::Lines;
use super::range::overlap;
use super::{Chunk, OverlapOptions, Resolved};

pub(super) fn resolve(chunks: &[Chunk<'_>], options: &OverlapOptions) -> Resolved {
    let lines = Lines::new(chunks);
    let mut shown = LineIntervals::new(chunks, &lines);
    let mut resolved = Resolved::all_stay(chunks);
    let mut stream: Vec<_> = (0..chunks.len()).collect();
    stream.sort_unstable_by_key(|chunk| chunks[*chunk].position);
    for chunk in stream {
        let range = chunks[chunk].range();
        if chunks[chunk].fixed {
            shown.add(chunk, range);
            continue;
        }
        // A chunk from before another version of the lines does not cover them, even if they are
        // equal again.
        let other = shown.newest_other(chunk);
        let rest = shown.rest(chunk, |held, of| {
            other.is_none_or(|other| chunks[held].position > other)
                && (options.merge || overlap(of, range) >= options.threshold)
        });
        resolved.set_remainder(chunk, &rest, chunks, &lines);
        if let Some(range) = rest.range {
            shown.add(chunk, range);
        }
    }
    resolved
}

/// Subtracts the lines of the first `held` chunks from both ends of each other chunk.
pub(super) fn subtract(
    chunks: &[Chunk<'_>],
    held: usize,
    options: &OverlapOptions,
) -> Vec<Remainder> {
    let lines = Lines::new(chunks);
    let mut shown = LineIntervals::new(chunks, &lines);
    for (at, chunk) in chunks.iter().enumerate().take(held) {
        shown.add(at, chunk.range());
    }
    let rest = |at: usize| {
        let range = chunks[at].range();
        let may = |_, of| options.merge || overlap(of, range) >= options.threshold;
        shown.rest(at, may)
    };
    (held..chunks.len()).map(rest).collect()
}
