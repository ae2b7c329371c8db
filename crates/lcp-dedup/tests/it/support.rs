//! What the tests share: short ways to write blocks, and an independent check of
//! what was dropped.

use std::collections::HashSet;

use lcp_dedup::{DedupLevel, DedupResult, Options, dedup, restore};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, BlockContent, DuplicateKind, Lang, Priority, Tag};

/// Lines `first` to `last` of a file that says their numbers.
pub(crate) fn numbered(first: u32, last: u32) -> String {
    let lines: Vec<_> = (first..=last).map(|n| format!("line {n} of the file\n")).collect();
    lines.concat()
}

/// A chunk of `path` with those lines.
pub(crate) fn chunk(path: &'static str, first: u32, last: u32) -> Block<'static> {
    Block::code_lines(Lang::Rust, path, numbered(first, last), first, last)
}

/// A whole file.
pub(crate) fn file(path: &'static str, text: &'static str) -> Block<'static> {
    Block::code(Lang::Rust, path, text)
}

/// That `target` has this rank.
pub(crate) fn rank(target: u64, rank: &str) -> Block<'static> {
    Block::new(Annotation::tag(target, &Tag::new(Tag::RANK, rank)))
}

/// That `target` has this tag.
pub(crate) fn tag(target: u64, tag: &str) -> Block<'static> {
    Block::new(Annotation::tag(target, &Tag::parse(tag)))
}

/// That `target` has this priority.
pub(crate) fn priority(target: u64, priority: Priority) -> Block<'static> {
    Block::new(Annotation::priority(target, priority))
}

/// An exact counter.
pub(crate) fn counter() -> Tiktoken {
    Tiktoken::new(Encoding::O200kBase)
}

/// What the options make of these blocks; checked by [`check`].
pub(crate) fn with(blocks: &[Block<'static>], options: &Options) -> DedupResult<'static> {
    let found = dedup(blocks, options, &counter()).unwrap();
    check(blocks, &found);
    found
}

/// The same with the defaults of a level.
pub(crate) fn at(level: DedupLevel, blocks: &[Block<'static>]) -> DedupResult<'static> {
    with(blocks, &Options::new(level))
}

/// What covers which: (block, relation, covering block).
pub(crate) fn covered(found: &DedupResult<'_>) -> Vec<(usize, DuplicateKind, usize)> {
    let covered = found.duplicates.covered.iter();
    covered.map(|(&index, covered)| (index, covered.relation, covered.by)).collect()
}

/// The text of a block, as it is after deduplication.
pub(crate) fn text<'t>(
    blocks: &'t [Block<'static>],
    found: &'t DedupResult<'static>,
    index: usize,
) -> &'t [u8] {
    let block = found.changed_blocks.get(&index).unwrap_or(&blocks[index]);
    block.content.text().map(lcp_types::CowBytes::as_slice).unwrap_or_default()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n')
}

/// Checks by brute force that nothing unique is lost (RFC 0006 §2): every line of
/// every covered block, but for superseded ones, is still there.
pub(crate) fn check(blocks: &[Block<'static>], found: &DedupResult<'static>) {
    let duplicates = &found.duplicates;
    let mut left: HashSet<&[u8]> = HashSet::new();
    for index in (0..blocks.len()).filter(|&index| !duplicates.is_removed(index)) {
        left.extend(lines(text(blocks, found, index)));
        // The changes and the text that they apply to have all lines; that they do is checked below.
        if is_changes(blocks, found, index) {
            left.extend(lines(blocks[index].content.text().unwrap().as_slice()));
        }
    }
    for (&index, covered) in &duplicates.covered {
        let by = covered.by;
        assert!(by < blocks.len() && by != index, "{index} by {by}");
        let covers = duplicates.covered.get(&by);
        assert!(
            covers.is_none_or(|it| it.relation == DuplicateKind::Overlapping && it.in_place)
                || is_changes(blocks, found, by),
            "{index} by {by}, which is covered itself"
        );
        assert!(!blocks[by].content.is_metadata() && !blocks[index].content.is_metadata());
        let Some(original) = blocks[index].content.text() else { continue };
        match covered.relation {
            DuplicateKind::Superseded => continue,
            DuplicateKind::Equal => assert_eq!(
                original.as_slice(),
                blocks[by].content.text().unwrap().as_slice(),
                "{index} is not equal to {by}"
            ),
            DuplicateKind::Near if is_changes(blocks, found, index) => {
                let again = restore(text(blocks, found, by), text(blocks, found, index)).unwrap();
                assert_eq!(again, original.as_slice(), "{index} does not come back");
                continue;
            }
            _ => {}
        }
        for line in lines(original.as_slice()) {
            assert!(
                left.contains(line),
                "{index}: a line is lost: {:?}",
                line.escape_ascii().to_string()
            );
        }
    }
    // What grew has all that it had, or others have it.
    for index in found.changed_blocks.keys().filter(|index| !duplicates.covered.contains_key(index))
    {
        let Some(original) = blocks[*index].content.text() else { continue };
        assert!(lines(original.as_slice()).all(|line| left.contains(line)), "{index} lost lines");
    }
    // What grew has nothing that nobody said.
    let said: HashSet<&[u8]> = blocks
        .iter()
        .filter_map(|block| block.content.text())
        .flat_map(|text| lines(text.as_slice()))
        .collect();
    for (index, block) in &found.changed_blocks {
        let own = duplicates.covered.get(index);
        let text = block.content.text().unwrap();
        // A line that refers to another block is no content; that all stands there is checked above.
        let refers = own.is_some_and(|it| it.in_place)
            && text.as_slice().starts_with(b"[")
            && !text.as_slice().contains(&b'\n');
        if !refers && own.is_none_or(|it| it.relation == DuplicateKind::Overlapping) {
            assert!(lines(text.as_slice()).all(|line| said.contains(line)), "{index} grew oddly");
        }
    }
}

/// Returns whether a block is replaced by its changes against another block.
fn is_changes(blocks: &[Block<'static>], found: &DedupResult<'static>, index: usize) -> bool {
    let covered = found.duplicates.covered.get(&index);
    covered.is_some_and(|it| it.relation == DuplicateKind::Near && it.in_place)
        && !text(blocks, found, index).starts_with(b"[all of it stands in ")
}

/// The contents of a pack, annotations left out.
pub(crate) fn contents(pack: &[Block<'_>]) -> Vec<String> {
    let text =
        |block: &Block<'_>| block.content.text().map(|text| text.to_str_lossy().into_owned());
    pack.iter().filter(|block| !block.content.is_metadata()).filter_map(text).collect()
}

/// The range of a CODE block.
pub(crate) fn range(block: &Block<'_>) -> (Option<u32>, Option<u32>) {
    match &block.content {
        BlockContent::Code(code) => (code.line_start, code.line_end),
        _ => (None, None),
    }
}
