//! Which lines are the same.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// Lines of a part, about: their table fits in a processor's own cache. In one table
/// of all lines, nearly every step would wait for memory.
const PART_LINES: usize = 1 << 14;
/// Parts are 2 to the power of this, at most.
const PART_BITS_MAX: u32 = 16;

/// A line in a part.
#[derive(Clone, Copy)]
struct Entry {
    /// Half of its hash: what tells nearly all lines of a part apart.
    tag: u32,
    line: u32,
}

const EMPTY: Entry = Entry { tag: 0, line: u32::MAX };

/// For each line, the first one that is the same. Fewer than 2³² lines. The hash's key
/// decides what is compared with what, never the result.
pub(super) fn firsts(lines: &[&[u8]]) -> Vec<u32> {
    let key = RandomState::default();
    let hashes: Vec<u64> = lines.iter().map(|line| key.hash_one(line)).collect();
    let (entries, starts) = parted(&hashes);
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

/// The lines by one half of their hash, and where each part begins and the last ends.
/// Within a part they are in order.
fn parted(hashes: &[u64]) -> (Vec<Entry>, Vec<usize>) {
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

/// The first line of the table that is the same as that of `entry`, which is added if
/// there is none. At least half of the table is empty.
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

#[expect(clippy::cast_possible_truncation, reason = "the other half finds the part")]
fn tag(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_many_lines_is_found_in_whatever_part_they_are() {
        let lines: Vec<_> = (0..200_000_u32).map(|n| (n % 70_001).to_string()).collect();
        let lines: Vec<_> = lines.iter().map(String::as_bytes).collect();
        let expected: Vec<_> = (0..200_000_u32).map(|n| n % 70_001).collect();
        assert_eq!(firsts(&lines), expected);
        assert_eq!(firsts(&[]), [] as [u32; 0]);
        assert_eq!(firsts(&[b"", b"a", b""]), [0, 1, 0]);
    }
}
