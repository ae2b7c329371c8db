//! Task 016.c, `DedupIntegrationTests`: results of searches in real sources.

use std::path::Path;

use lcp_dedup::{DedupLevel, Options, dedup};
use lcp_testkit::files_in;
use lcp_types::{Block, DuplicateKind, Lang};

use crate::support::{check, counter};

/// The sources of this workspace: their paths and texts.
fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = files_in(crates, 60_000).unwrap();
    let rust = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let read = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(crates).unwrap().display().to_string();
        (name, std::fs::read_to_string(path).unwrap())
    };
    rust.map(read).collect()
}

/// What a search for `word` gives: each line that has it, with `around` lines
/// before and behind.
fn search(sources: &[(String, String)], word: &str, around: usize) -> Vec<Block<'static>> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        for at in (0..lines.len()).filter(|&at| lines[at].contains(word)) {
            let (from, to) = (at.saturating_sub(around), (at + around + 1).min(lines.len()));
            let (first, last) = (u32::try_from(from + 1).unwrap(), u32::try_from(to).unwrap());
            found.push(Block::code_lines(
                Lang::Rust,
                path.clone(),
                lines[from..to].concat(),
                first,
                last,
            ));
        }
    }
    found
}

#[test]
fn should_dedup_real_search_results() {
    let sources = sources();
    let mut blocks = search(&sources, "Priority", 3);
    let once = blocks.len();
    // Another search finds some of the same places, and some files are open.
    blocks.extend(search(&sources, "Priority::High", 3));
    blocks.extend(search(&sources, "Meta", 3));
    let twice = blocks.len() - once;
    assert!(once > 50 && twice > 50, "{once} {twice}");
    let found = dedup(&blocks, &Options::new(DedupLevel::Exact), &counter()).unwrap();
    check(&blocks, &found);
    let (removed, saved) = found.duplicates.count(DuplicateKind::Equal);
    assert!(removed >= search(&sources, "Priority::High", 3).len(), "{removed}");
    assert!(saved > 0);
}

#[test]
fn should_merge_real_overlapping_chunks() {
    let sources = sources();
    let blocks: Vec<_> = ["Priority", "fn ", "self"]
        .iter()
        .flat_map(|word| search(&sources[..40.min(sources.len())], word, 5))
        .collect();
    let options = Options { merged_bytes: 1 << 20, ..Options::new(DedupLevel::Overlap) };
    let found = dedup(&blocks, &options, &counter()).unwrap();
    check(&blocks, &found);
    let pack = found.to_pack_blocks(&blocks);
    assert!(pack.len() * 2 < blocks.len(), "{} of {}", pack.len(), blocks.len());
    // What is left are the lines of the files, none of them twice.
    for (path, text) in &sources[..40.min(sources.len())] {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let mut seen = vec![false; lines.len()];
        for block in &pack {
            let lcp_types::BlockContent::Code(code) = &block.content else { continue };
            if code.path != path.as_str() {
                continue;
            }
            let (first, last) =
                (code.line_start.unwrap() as usize, code.line_end.unwrap() as usize);
            assert_eq!(code.content.as_str().unwrap(), lines[first - 1..last].concat());
            for seen in &mut seen[first - 1..last] {
                assert!(!std::mem::replace(seen, true), "{path}: a line stands twice");
            }
        }
    }
}
