//! Splits texts into lines, selects the part of a line that is compared, and numbers equal lines.
//! The numbers come from a radix partition with a hash table for each part. They only select
//! candidates: the final decisions compare all bytes.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// The marker of diffs after a line without a newline.
pub(super) const NO_NEWLINE: &[u8] = b"\\ No newline at end of file\n";

/// Returns a line or text without its final newline.
pub(crate) fn without_newline(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// Splits `text` into lines, each with its newline.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Returns the part of a line that is compared. With `exact`, that is the line without its newline.
/// Otherwise the line number of `cat -n` and trailing white space are left out as well.
pub(super) fn comparison_key(line: &[u8], exact: bool) -> &[u8] {
    let line = without_newline(line);
    // Strip the number before trailing white space: a numbered empty line ends with a tab, which is
    // white space too.
    if exact { line } else { without_number(line).trim_ascii_end() }
}

/// Returns the line without the number before it, or the complete line if it has none.
pub(super) fn without_number(line: &[u8]) -> &[u8] {
    split_number(line).map_or(line, |(_, rest)| rest)
}

/// Splits a line into the digits of its number and the rest. Spaces may precede the number, and a
/// tab or an arrow must follow it, as `cat -n` and the read tools of agents print it.
pub(crate) fn split_number(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = &line[line.iter().position(|byte| *byte != b' ')?..];
    let (digits, rest) = line.split_at(line.iter().position(|byte| !byte.is_ascii_digit())?);
    let rest = rest.strip_prefix(b"\t").or_else(|| rest.strip_prefix("→".as_bytes()))?;
    (!digits.is_empty()).then_some((digits, rest))
}

/// The approximate number of lines in a partition, so that its table fits into the processor cache.
/// With one table for all lines, nearly every lookup would miss the cache.
const PART_LINES: usize = 1 << 14;
/// The maximum binary logarithm of the number of partitions.
const PART_BITS_MAX: u32 = 16;

/// A line in a partition.
#[derive(Clone, Copy)]
struct Entry {
    /// Half of the hash, which differs for nearly all lines of a partition.
    tag: u32,
    line: u32,
}

const EMPTY: Entry = Entry { tag: 0, line: u32::MAX };

/// Returns, for each line, the first line that equals it. `lines` must have fewer than 2³² lines.
/// The result does not depend on the hash key.
pub(super) fn intern_lines(lines: &[&[u8]]) -> Vec<u32> {
    let key = RandomState::default();
    let hashes: Vec<u64> = lines.iter().map(|line| key.hash_one(line)).collect();
    let (entries, starts) = partition(&hashes);
    drop(hashes);

    let mut firsts = vec![0; lines.len()];
    let mut table = Vec::new();
    for part in starts.windows(2) {
        let part = &entries[part[0]..part[1]];
        table.clear();
        table.resize((2 * part.len()).next_power_of_two(), EMPTY);
        for entry in part {
            firsts[entry.line as usize] = first(&mut table, *entry, lines);
        }
    }
    firsts
}

/// Partitions lines by one half of their hash. Returns the lines, in order within each partition,
/// and the start of each partition, followed by the end of the last one.
fn partition(hashes: &[u64]) -> (Vec<Entry>, Vec<usize>) {
    let bits = (hashes.len() / PART_LINES).next_power_of_two().ilog2().min(PART_BITS_MAX);
    let part = |hash: u64| (hash >> 48) as usize >> (PART_BITS_MAX - bits);
    let mut starts = vec![0; (1 << bits) + 1];
    for hash in hashes {
        starts[part(*hash) + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut entries = vec![EMPTY; hashes.len()];
    for (line, hash) in (0..).zip(hashes) {
        let place = &mut next[part(*hash)];
        entries[*place] = Entry { tag: tag(*hash), line };
        *place += 1;
    }
    (entries, starts)
}

/// Returns the line in the table that equals `entry`. If the table has no such line, adds `entry`
/// and returns it. At least half of the table must be empty.
fn first(table: &mut [Entry], entry: Entry, lines: &[&[u8]]) -> u32 {
    let mask = table.len() - 1;
    let mut slot = entry.tag as usize & mask;
    loop {
        let there = &mut table[slot];
        if there.line == EMPTY.line {
            *there = entry;
            return entry.line;
        }
        let same =
            there.tag == entry.tag && lines[there.line as usize] == lines[entry.line as usize];
        if same {
            return there.line;
        }
        slot = (slot + 1) & mask;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the other half selects the partition")]
fn tag(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests;
