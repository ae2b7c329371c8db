//! The earlier chunk stays: what becomes of one depends on those before it alone.

use super::kept::{Kept, Rest};
use super::lines::Lines;
use super::range::overlap;
use super::{Chunk, Resolved, Terms};

pub(super) fn resolve(chunks: &[Chunk<'_>], terms: &Terms) -> Resolved {
    let lines = Lines::new(chunks);
    let mut kept = Kept::new(chunks, &lines);
    let mut resolved = Resolved::all_stay(chunks);
    let mut stream: Vec<_> = (0..chunks.len()).collect();
    stream.sort_unstable_by_key(|chunk| chunks[*chunk].position);
    for chunk in stream {
        let range = chunks[chunk].range();
        if chunks[chunk].fixed {
            kept.hold(chunk, range);
            continue;
        }
        // What was read before these lines were read otherwise is not what they are
        // again, though it be the same.
        let other = kept.newest_other(chunk);
        let rest = kept.rest(chunk, |held, of| {
            other.is_none_or(|other| chunks[held].position > other)
                && (terms.merge || overlap(of, range) >= terms.threshold)
        });
        resolved.settle(chunk, &rest, chunks, &lines);
        if let Some(range) = rest.range {
            kept.hold(chunk, range);
        }
    }
    resolved
}

/// What is left of each chunk beside `held` ones that stand: its lines at neither end
/// that one of them has. `None`: nothing.
pub(super) fn beside(chunks: &[Chunk<'_>], held: usize, terms: &Terms) -> Vec<Rest> {
    let lines = Lines::new(chunks);
    let mut kept = Kept::new(chunks, &lines);
    for (at, chunk) in chunks.iter().enumerate().take(held) {
        kept.hold(at, chunk.range());
    }
    let rest = |at: usize| {
        let range = chunks[at].range();
        let may = |_, of| terms.merge || overlap(of, range) >= terms.threshold;
        kept.rest(at, may)
    };
    (held..chunks.len()).map(rest).collect()
}
