//! Contents that stand twice (RFC 0006 §4).

use std::hash::BuildHasher;

use lcp_types::{BlockContent, DuplicateKind};

use crate::options::Keep;
use crate::sources::Sources;
use crate::work::Work;

/// What makes two blocks equal, compared byte by byte, whatever its hash says.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'b, 'a> {
    /// Text, of any type.
    Text(&'b [u8]),
    /// Text of a type that somebody else defines.
    Extension(&'b str, &'b str, &'b [u8]),
    /// All that the block holds.
    Whole(&'b BlockContent<'a>),
}

impl<'b, 'a> Key<'b, 'a> {
    fn of(content: &'b BlockContent<'a>) -> Self {
        match (content, content.text()) {
            (BlockContent::Extension(extension), _) => Self::Extension(
                &extension.namespace,
                &extension.type_name,
                extension.content.as_slice(),
            ),
            (_, Some(text)) => Self::Text(text.as_slice()),
            (whole, None) => Self::Whole(whole),
        }
    }
}

/// Covers every block whose content a kept one has. The result is the same for
/// any `hashes`; a random one cannot be flooded.
pub(crate) fn cover<S: BuildHasher>(work: &mut Work<'_, '_>, hashes: &S) {
    let copies = copies(work, hashes);
    let sources = Sources::new(work, copies.iter().flatten().copied());
    for alike in copies {
        for mut alike in segments(work, &sources, alike) {
            // What is never covered covers, though it rank lower.
            if work.options.keep == Keep::Best {
                alike.sort_by_key(|&index| !work.standings[index].fixed);
            }
            let Some((&best, others)) = alike.split_first() else { continue };
            for &index in others {
                let first = work.options.keep == Keep::First;
                // An earlier block that becomes Critical would be shown anew.
                let stays =
                    work.standings[index].fixed || (first && work.makes_critical(index, best));
                if !stays {
                    work.cover(index, best, DuplicateKind::Equal);
                }
            }
        }
    }
}

/// Blocks with the same content, best first, parted where what they were read from
/// was something else in between: what came back is not what it was a copy of.
fn segments(work: &Work<'_, '_>, sources: &Sources<'_>, alike: Vec<usize>) -> Vec<Vec<usize>> {
    let mut stream = alike.clone();
    stream.sort_unstable();
    let changed = |pair: &&[usize]| sources.changed_between(work, pair[0], pair[1]);
    // The first block of each segment but the first.
    let begins: Vec<_> = stream.windows(2).filter(changed).map(|pair| pair[1]).collect();
    if begins.is_empty() {
        return vec![alike];
    }
    let mut segments = vec![Vec::new(); begins.len() + 1];
    for index in alike {
        segments[begins.partition_point(|&begin| begin <= index)].push(index);
    }
    segments
}

/// The blocks that have the same content as others, each group best first.
fn copies<S: BuildHasher>(work: &Work<'_, '_>, hashes: &S) -> Vec<Vec<usize>> {
    let key = |at: usize| Key::of(&work.blocks[work.order[at]].content);
    // An edit that was made again was made twice.
    let is_edit = |at: usize| matches!(work.blocks[work.order[at]].content, BlockContent::Diff(_));
    let is_there = |at: &usize| work.fates[work.order[*at]].is_none() && !is_edit(*at);
    // Sorting is kinder to memory than a table of a million entries.
    let all = (0..work.order.len()).filter(is_there);
    let mut keyed: Vec<(u64, usize)> = all.map(|at| (hashes.hash_one(key(at)), at)).collect();
    keyed.sort_unstable();
    let mut copies = Vec::new();
    for alike in keyed.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &(_, at) in alike {
            match groups.iter_mut().find(|group| key(group[0]) == key(at)) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        copies.extend(groups.into_iter().filter(|group| group.len() > 1));
    }
    // What is covered does not depend on the hash's key.
    copies.sort_unstable();
    for at in copies.iter_mut().flatten() {
        *at = work.order[*at];
    }
    copies
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::hash::{BuildHasherDefault, Hasher};

    use lcp_types::{Block, Lang};

    use super::*;
    use crate::options::{Level, Options};

    /// Everything collides.
    #[derive(Default)]
    struct Constant;

    impl Hasher for Constant {
        fn finish(&self) -> u64 {
            7
        }
        fn write(&mut self, _: &[u8]) {}
    }

    #[test]
    fn a_collision_removes_nothing() {
        let text = |i: u32| format!("fn f{}() {{}}\n", i % 40);
        let blocks: Vec<_> =
            (0..60).map(|i| Block::code(Lang::Rust, format!("{i}.rs"), text(i))).collect();
        let (metas, options) = (BTreeMap::new(), Options::new(Level::Exact));
        let mut work = Work::new(&blocks, &metas, &options);
        cover(&mut work, &BuildHasherDefault::<Constant>::default());
        let covered: Vec<_> = (0..60).filter(|&i| work.fates[i].is_some()).collect();
        assert_eq!(covered, (40..60).collect::<Vec<_>>());
        assert!(covered.iter().all(|&i| work.root(i).0 == i - 40));
    }
}
