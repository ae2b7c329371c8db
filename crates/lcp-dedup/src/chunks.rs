//! What chunks of one path have in common (RFC 0006 §6).

use lcp_types::{BlockContent, Bytes, DuplicateKind, Priority};

use crate::options::Keep;
use crate::overlap::{self, Chunk};
use crate::paths::{Member, Paths};
use crate::work::{Fate, Lines, Place, Work};

/// Settles what chunks of one path have in common: the most important first, so that
/// a chunk is merged with its like alone, and none is raised for lines of another.
pub(crate) fn overlapping(work: &mut Work<'_, '_>, paths: &Paths) {
    let options = work.options;
    let terms = overlap::Terms {
        merge: options.merge_overlapping,
        threshold: options.overlap_threshold,
        merged_bytes: options.merged_bytes,
        first: options.keep == Keep::First,
    };
    for members in paths.several() {
        for chunks in versions(work, members) {
            resolve(work, chunks, &terms);
        }
    }
}

/// The chunks of a path that nothing has settled yet, parted where the file was
/// edited, or read otherwise, in between: only those of one state of it are compared.
fn versions(work: &Work<'_, '_>, members: &[Member]) -> Vec<Vec<(usize, (u32, u32))>> {
    let left = members.iter().filter(|member| work.fates[member.index].is_none());
    let left = left.filter_map(|member| Some((member.index, member.range?)));
    let left: Vec<_> = left.collect();
    let mut ranges: Vec<_> = left.iter().map(|(_, range)| *range).collect();
    ranges.sort_unstable();
    // Most have nothing to do with each other.
    if !ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1.saturating_add(1)) {
        return Vec::new();
    }
    let mut ranges: Vec<_> = members.iter().filter_map(|member| member.range).collect();
    ranges.sort_unstable();
    let is_edited = members.len() > ranges.len();
    if !is_edited && !ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1) {
        // They touch, and none has a line of another.
        return vec![left];
    }
    let text = |index: usize| work.blocks[index].content.text().map(Bytes::as_slice);
    let chunk = |member: &Member| {
        let ((first, last), text) = member.range.zip(text(member.index))?;
        let (position, priority) = (member.index, Priority::Normal);
        Some(Chunk { first, last, text, order: 0, position, priority, fixed: false })
    };
    let chunks: Vec<_> = members.iter().filter_map(chunk).collect();
    let lines = overlap::Lines::new(&chunks);
    let mut version = overlap::Version::new(&lines);
    let mut versions = vec![Vec::new()];
    let mut at = 0;
    for member in members {
        let Some(range) = member.range else {
            let is_edit = matches!(work.blocks[member.index].content, BlockContent::Diff(_));
            if is_edit {
                version = overlap::Version::new(&lines);
                versions.push(Vec::new());
            }
            continue;
        };
        // What was settled before is still what was read there.
        if !version.add(at, range) {
            version = overlap::Version::new(&lines);
            version.add(at, range);
            versions.push(Vec::new());
        }
        at += 1;
        if let Some(last) = versions.last_mut().filter(|_| work.fates[member.index].is_none()) {
            last.push((member.index, range));
        }
    }
    versions.retain(|chunks| chunks.len() > 1);
    versions
}

/// Settles chunks of one state of a path.
fn resolve(work: &mut Work<'_, '_>, mut left: Vec<(usize, (u32, u32))>, terms: &overlap::Terms) {
    let first = terms.first;
    let mut settled: Vec<Settled> = Vec::new();
    while !left.is_empty() {
        let priority = |index: usize| work.standings[index].priority;
        // With `first` the earlier stays, whatever it is worth.
        let most = left.iter().map(|(index, _)| priority(*index)).min();
        let now = left.extract_if(.., |(index, _)| first || Some(priority(*index)) == most);
        let now: Vec<_> = now.collect();
        let fates = settle(work, &now, &settled, terms);
        for ((index, range), fate) in now.into_iter().zip(fates) {
            match &fate {
                None => settled.push(Settled { index, range, text: None }),
                Some(Fate::Grown(lines) | Fate::Cut { lines, .. }) if !left.is_empty() => {
                    let (range, text) = ((lines.first, lines.last), Some(lines.text.clone()));
                    settled.push(Settled { index, range, text });
                }
                Some(_) => {}
            }
            work.fates[index] = fate;
        }
    }
}

/// A chunk that stands, with its text where that is another than the block's.
struct Settled {
    index: usize,
    range: (u32, u32),
    text: Option<Vec<u8>>,
}

/// What becomes of chunks of one priority beside those that stand.
fn settle(
    work: &mut Work<'_, '_>,
    chunks: &[(usize, (u32, u32))],
    settled: &[Settled],
    terms: &overlap::Terms,
) -> Vec<Option<Fate>> {
    let blocks = work.blocks;
    let own = |index: usize| blocks[index].content.text().map(Bytes::as_slice).unwrap_or_default();
    let chunk = |index: usize, (first, last): (u32, u32), text, fixed| {
        let priority = work.standings[index].priority;
        Chunk { first, last, text, order: 0, position: index, priority, fixed }
    };
    let stand = settled.iter().map(|Settled { index, range, text }| {
        chunk(*index, *range, text.as_deref().unwrap_or_else(|| own(*index)), true)
    });
    let now = chunks.iter().map(|&(index, range)| {
        let standing = work.standings[index];
        // With `first`, what is Critical is not left to what is not.
        let fixed = standing.fixed || (terms.first && standing.priority == Priority::Critical);
        chunk(index, range, own(index), fixed)
    });
    let mut all: Vec<_> = stand.chain(now).collect();
    let index = |at: usize| all[at].position;
    // First what more important ones have.
    let mut fates: Vec<Option<Fate>> = vec![None; chunks.len()];
    let mut shared = Vec::new();
    let mut left = Vec::with_capacity(chunks.len());
    if settled.is_empty() {
        left.extend(0..chunks.len());
    } else {
        let beside = overlap::beside(&all, settled.len(), terms);
        let mut ranges = Vec::with_capacity(chunks.len());
        for (at, rest) in beside.into_iter().enumerate() {
            let this = index(settled.len() + at);
            let is_fixed = all[settled.len() + at].fixed;
            match (rest.by.first().filter(|_| !is_fixed), rest.own) {
                (None, _) => left.push(at),
                (Some(&by), None) => {
                    let contained = rest.is_within_one;
                    let relation = if contained {
                        DuplicateKind::Contained
                    } else {
                        DuplicateKind::Overlapping
                    };
                    let place = Place::Nothing;
                    fates[at] = Some(Fate::Covered { by: index(by), relation, place });
                }
                (Some(&by), Some(own)) => {
                    left.push(at);
                    ranges.push((at, own, index(by)));
                }
            }
            if !is_fixed {
                shared.extend(rest.by.iter().skip(1).map(|by| (this, index(*by))));
            }
        }
        for (at, ((first, last), text), by) in ranges {
            let this = &mut all[settled.len() + at];
            (this.first, this.last, this.text) = (first, last, text);
            let (text, members) = (text.to_vec(), vec![this.position]);
            let lines = Box::new(Lines { first, last, text, members });
            fates[at] = Some(Fate::Cut { by, lines });
        }
    }
    // Then what they have in common.
    let mut peers: Vec<_> = left.iter().map(|at| all[settled.len() + at]).collect();
    let mut ranked: Vec<_> = (0..peers.len()).collect();
    ranked.sort_by(|&a, &b| {
        let standing = |at: usize| &work.standings[peers[at].position];
        standing(a).cmp(standing(b)).then(peers[a].position.cmp(&peers[b].position))
    });
    for (order, at) in ranked.into_iter().enumerate() {
        peers[at].order = order;
    }
    let resolved = overlap::resolve_all(&peers, terms);
    let index = |at: usize| peers[at].position;
    shared.extend(resolved.shared.iter().map(|(a, b)| (index(*a), index(*b))));
    for (peer, fate) in resolved.fates.into_iter().enumerate() {
        let at = left[peer];
        let fate = match fate {
            overlap::Fate::Stays => continue,
            overlap::Fate::Grown { first, last, text, members } => {
                let members = members.into_iter().map(index).collect();
                Fate::Grown(Box::new(Lines { first, last, text, members }))
            }
            overlap::Fate::Cut { by, first, last, text } => {
                let lines = Box::new(Lines { first, last, text, members: vec![index(peer)] });
                Fate::Cut { by: index(by), lines }
            }
            overlap::Fate::Covered { by, relation } => {
                Fate::Covered { by: index(by), relation, place: Place::Nothing }
            }
        };
        // It gave lines away twice: no one chunk has all of them.
        let fate = match (&fates[at], fate) {
            (Some(Fate::Cut { by: before, .. }), fate) => {
                shared.push((index(peer), *before));
                match fate {
                    Fate::Covered { by, place, .. } => {
                        Fate::Covered { by, relation: DuplicateKind::Overlapping, place }
                    }
                    fate => fate,
                }
            }
            (_, fate) => fate,
        };
        fates[at] = Some(fate);
    }
    work.shared.extend(shared);
    fates
}
