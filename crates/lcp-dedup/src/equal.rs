//! Contents that stand twice (RFC 0006 §4).

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use lcp_types::{BlockContent, Meta, Relation};

use crate::options::Keep;
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

/// Whose content it was: a path and its range, or a call. What is read twice
/// may have been something else in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source<'b> {
    Lines(&'b str, Option<u32>, Option<u32>),
    Call(&'b str, Option<&'b str>),
}

/// Covers every block whose content a kept one has. The result is the same for
/// any `hashes`; a random one cannot be flooded.
pub(crate) fn cover<S: BuildHasher>(
    work: &mut Work<'_, '_>,
    metas: &BTreeMap<usize, Meta<'_>>,
    hashes: &S,
) {
    let copies = copies(work, hashes);
    if work.options.keep == Keep::Best {
        for (at, by) in copies {
            let index = work.order[at];
            if !work.standings[index].fixed {
                work.cover(index, by, Relation::Equal);
            }
        }
        return;
    }
    let mut copies = copies.into_iter().peekable();
    let mut latest: HashMap<Source<'_>, usize, RandomState> = HashMap::default();
    let blocks = work.blocks;
    for at in 0..work.order.len() {
        let index = work.order[at];
        let content = &blocks[index].content;
        let args = metas.get(&index).and_then(|meta| meta.args.as_deref());
        let before = source(content, args).and_then(|source| latest.insert(source, index));
        let Some((_, by)) = copies.next_if(|(copy, _)| *copy == at) else { continue };
        if work.standings[index].fixed {
            continue;
        }
        if before.is_some_and(|before| Key::of(&blocks[before].content) != Key::of(content)) {
            // A later step must not take it for a copy either.
            work.standings[index].fixed = true;
        } else {
            work.cover(index, by, Relation::Equal);
        }
    }
}

/// The places in the order of all whose content a better one has, and that one.
fn copies<S: BuildHasher>(work: &Work<'_, '_>, hashes: &S) -> Vec<(usize, usize)> {
    let key = |at: usize| Key::of(&work.blocks[work.order[at]].content);
    let is_there = |at: &usize| work.fates[work.order[*at]].is_none();
    // Sorting is kinder to memory than a table of a million entries.
    let all = (0..work.order.len()).filter(is_there);
    let mut hashed: Vec<(u64, usize)> = all.map(|at| (hashes.hash_one(key(at)), at)).collect();
    hashed.sort_unstable();
    let mut copies = Vec::new();
    for alike in hashed.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let mut kept: Vec<usize> = Vec::new();
        for &(_, at) in alike {
            match kept.iter().find(|kept| key(**kept) == key(at)) {
                Some(&by) => copies.push((at, work.order[by])),
                None => kept.push(at),
            }
        }
    }
    copies.sort_unstable();
    copies
}

fn source<'b>(content: &'b BlockContent<'_>, args: Option<&'b str>) -> Option<Source<'b>> {
    match content {
        BlockContent::Code(code) => Some(Source::Lines(&code.path, code.line_start, code.line_end)),
        BlockContent::ToolResult(result) => Some(Source::Call(&result.tool_name, args)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
        let blocks: Vec<_> = (0..60).map(|i| Block::code(Lang::Rust, "a.rs", text(i))).collect();
        let (metas, options) = (BTreeMap::new(), Options::new(Level::Exact));
        let mut work = Work::new(&blocks, &metas, &options);
        cover(&mut work, &metas, &BuildHasherDefault::<Constant>::default());
        let covered: Vec<_> = (0..60).filter(|&i| work.fates[i].is_some()).collect();
        assert_eq!(covered, (40..60).collect::<Vec<_>>());
        assert!(covered.iter().all(|&i| work.root(i) == i - 40));
    }
}
