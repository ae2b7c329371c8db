//! Random packs of what is hard to count and to keep apart, by seed.

use lcp_bench::packs::{FORGERIES, LINES, text};
use lcp_testkit::SplitMix64;
use lcp_types::{
    Annotation, Block, DataFormat, DiffHunk, FileEntry, FormatHint, Lang, MediaType, Priority,
    Role, Status, Tag,
};

/// A path, title or name: mostly plain.
fn label(rng: &mut SplitMix64) -> String {
    match rng.below(8) {
        0 => String::new(),
        1 => rng.choose(FORGERIES).to_string(),
        2 => rng.choose(LINES).to_string(),
        _ => format!("src/module_{}/file.rs", rng.below(1000)),
    }
}

fn entries(rng: &mut SplitMix64, levels: usize) -> Vec<FileEntry<'static>> {
    let mut found = Vec::new();
    for _ in 0..rng.below(5) {
        let name = label(rng);
        found.push(if levels > 0 && rng.below(2) == 0 {
            FileEntry::directory(name, entries(rng, levels - 1))
        } else {
            FileEntry::file(name, rng.next_u64() >> rng.below(64))
        });
    }
    found
}

/// A block with named values only, of any type but ANNOTATION.
fn block(rng: &mut SplitMix64, lines: usize) -> Block<'static> {
    let (name, content) = (label(rng), text(rng, lines));
    match rng.below(12) {
        0..=2 => Block::code(rng.choose(Lang::ALL), name, content),
        3 => {
            let first = 1 + rng.below_u32(5_000);
            let last = first + rng.below_u32(200);
            Block::code_lines(rng.choose(Lang::ALL), name, content, first, last)
        }
        4 | 5 => Block::conversation(rng.choose(Role::ALL), content),
        6 => Block::tool_result(name, rng.choose(Status::ALL), content),
        7 => Block::document(name, content, rng.choose(FormatHint::ALL)),
        8 => Block::structured_data(rng.choose(DataFormat::ALL), content),
        9 => Block::diff(name, vec![DiffHunk::new(1, 1, content), DiffHunk::new(90, 91, "+a\n")]),
        10 => Block::file_tree(name, entries(rng, 3)),
        _ => match rng.below(4) {
            0 => Block::conversation_with_call(Role::Tool, content, name),
            1 => Block::embedding_ref(name, rng.bytes(32), "text-embedding-3-small"),
            2 => Block::image(rng.choose(MediaType::ALL), content, rng.bytes(100)),
            _ => Block::extension("acme", name, content),
        },
    }
}

/// A pack of up to `blocks` blocks with contents of up to `lines` lines, with
/// summaries, priorities and ranks here and there.
pub(crate) fn pack(rng: &mut SplitMix64, blocks: usize, lines: usize) -> Vec<Block<'static>> {
    let mut pack = Vec::new();
    for _ in 0..rng.below(blocks + 1) {
        let mut block = block(rng, lines);
        if rng.below(3) == 0 {
            block = block.with_summary(text(rng, 2));
        }
        let target = pack.len() as u64;
        pack.push(block);
        if rng.below(2) == 0 {
            // Critical is rare, or no budget would be kept.
            let priority = match rng.below(12) {
                0 => Priority::Critical,
                _ => rng.choose(&Priority::ALL[1..]),
            };
            pack.push(Block::new(Annotation::priority(target, priority)));
        }
        if rng.below(6) == 0 {
            let rank = format!("0.{}", rng.below(100));
            pack.push(Block::new(Annotation::tag(target, &Tag::new("rank", rank))));
        }
    }
    pack
}
