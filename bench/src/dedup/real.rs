//! Chunks of real code: the sources of the crates that this workspace builds with.

use lcp_testkit::SplitMix64;
use lcp_types::{Block, Lang};

use crate::harness::Result;
use crate::registry::{crates, is_code, lang};

/// Lines of a range, and from where to where the next one begins.
const RANGE: usize = 60;
const STEP: usize = 45;

/// Returns chunks of every `one_in`th file of each crate: files, ranges that overlap, or both.
///
/// # Errors
///
/// Fails if the sources cannot be read.
pub fn chunks(one_in: usize) -> Result<Vec<Block<'static>>> {
    let rng = &mut SplitMix64::new(6);
    let mut chunks = Vec::new();
    for (number, found) in crates()?.iter().enumerate() {
        for (path, text) in found.files(is_code)?.into_iter().step_by(one_in) {
            let lang = lang(&path);
            // Two versions of a crate are two crates.
            let path = format!("{}.{number}/{path}", found.name);
            let ways = rng.below(3);
            if ways != 0 {
                chunks.extend(ranges(lang, &path, &text));
            }
            if ways != 1 {
                chunks.push(Block::code(lang, path, text));
            }
        }
    }
    Ok(chunks)
}

fn ranges(lang: Lang, path: &str, text: &str) -> Vec<Block<'static>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let starts = (0..lines.len()).step_by(STEP);
    let ranges = starts.map(|start| {
        let end = (start + RANGE).min(lines.len());
        let text = lines[start..end].concat();
        Block::code_lines(lang, path.to_owned(), text, number(start + 1), number(end))
    });
    ranges.collect()
}
