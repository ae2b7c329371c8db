//! Contents that stand twice (RFC 0006 §4).

use std::collections::HashMap;
use std::hash::BuildHasher;

use lcp_types::{BlockContent, Relation};

use crate::options::Keep;
use crate::work::Work;

/// What makes two blocks equal. A map compares it byte by byte, whatever its
/// hash says.
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
pub(crate) fn cover<S: BuildHasher + Clone>(
    work: &mut Work<'_, '_>,
    args: &[Option<&str>],
    hashes: &S,
) {
    let blocks = work.blocks;
    let first = work.options.keep == Keep::First;
    let mut kept = HashMap::with_capacity_and_hasher(work.order.len(), hashes.clone());
    let mut latest = HashMap::with_hasher(hashes.clone());
    for at in 0..work.order.len() {
        let index = work.order[at];
        if work.fates[index].is_some() {
            continue;
        }
        let content = &blocks[index].content;
        let by = *kept.entry(Key::of(content)).or_insert(index);
        let changed = source(content, args[index]).filter(|_| first).is_some_and(|source| {
            let before: Option<usize> = latest.insert(source, index);
            before.is_some_and(|before| Key::of(&blocks[before].content) != Key::of(content))
        });
        if by == index || work.standings[index].fixed {
            continue;
        }
        if changed {
            // A later step must not take it for a copy either.
            work.standings[index].fixed = true;
        } else {
            work.cover(index, by, Relation::Equal);
        }
    }
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

    use lcp_types::{Block, Lang, Meta};

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
        let metas = Meta::of_all(&blocks, &mut |_, _| {});
        let options = Options::new(Level::Exact);
        let mut work = Work::new(&blocks, &metas, &options);
        let args = vec![None; blocks.len()];
        cover(&mut work, &args, &BuildHasherDefault::<Constant>::default());
        let covered: Vec<_> = (0..60).filter(|&i| work.fates[i].is_some()).collect();
        assert_eq!(covered, (40..60).collect::<Vec<_>>());
        assert!(covered.iter().all(|&i| work.root(i) == i - 40));
    }
}
