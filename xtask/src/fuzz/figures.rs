//! What is tried exhaustively beside the search: flipped bits, cut ends, memory.

use std::fmt::Write as _;
use std::num::NonZero;
use std::process::Command;

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::problems::check_full;
use lcp_cli::recovering::recover;
use lcp_decoder::{DecodeOptions, PackReader, decode};
use lcp_fuzz::seeds;
use lcp_types::Block;

/// Inputs of fewer bytes say nothing of memory per byte: what is constant is most of it.
const BYTES_MIN: f64 = 65_536.0;

/// Bytes of the longest pack of which every bit is flipped: each flip reads all of it.
const PACK_BYTES_MAX: usize = 8 << 10;

/// What came of it.
pub(super) struct Figures {
    /// Lines for the document.
    pub(super) table: String,
    /// Whether no flipped bit went unnoticed, and no whole block was lost.
    pub(super) holds: bool,
}

/// Tries all of it.
pub(super) fn figures(output: &Output) -> Result<Figures> {
    output.progress("every bit flipped, every end cut off");
    let is_tried = |pack: &Vec<u8>| pack.len() <= PACK_BYTES_MAX && has_trailer(pack);
    let packs: Vec<_> = seeds("decoder").into_iter().filter(is_tried).collect();
    let mut all = Tried::default();
    for (at, pack) in packs.iter().enumerate() {
        output.progress(format!("{} of {}: {} bytes", at + 1, packs.len(), pack.len()));
        all.add(&Tried::of(pack));
    }
    let Tried { flips, unnoticed, cuts, lost } = all;
    output.progress("every varint of up to four bytes");
    tested("-p lcp-decoder --all-features --lib -- --include-ignored varints")?;
    output.progress("memory of inputs that ask for more than they bring");
    let rows = memory()?;
    let (name, per_byte) = worst(&rows)
        .ok_or_else(|| Failure::new(Code::Malformed, "the test of memory printed no figures"))?;
    let mut lines = String::from("| tried | how often | |\n|---|---|---|\n");
    // Writing to a string cannot fail.
    _ = writeln!(
        lines,
        "| a bit is flipped, `validate --full` | {flips}: every bit of {} packs | {unnoticed} unnoticed |",
        packs.len()
    );
    _ = writeln!(
        lines,
        "| the end is cut off, `recover` | {cuts}: at every byte | {lost} whole blocks lost |"
    );
    _ = writeln!(
        lines,
        "| a varint is read, every input of up to four bytes | each that differs before its varint ends | every reader as RFC 0001 §1 has it |"
    );
    _ = writeln!(
        lines,
        "| more is asked for than brought, {} inputs, limits of 2 MiB, every way to read; and by `decode` with the limits as they are | never beyond RFC 0008 §5.2 | at most {per_byte:.1} bytes of memory for a byte of the input, of those of {} KiB and more ({name}) |",
        rows.len(),
        BYTES_MIN / 1024.0
    );
    Ok(Figures { table: lines, holds: (unnoticed, lost) == (0, 0) })
}

/// What was done to packs, and what came of it.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    flips: u64,
    unnoticed: u64,
    cuts: u64,
    lost: u64,
}

impl Tried {
    /// Flips every bit and cuts at every byte, on all processors.
    fn of(pack: &[u8]) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut all = Self::default();
        std::thread::scope(|scope| {
            let parts = (0..processors).map(|part| {
                scope.spawn(move || Self::of_bytes(pack, (part..pack.len()).step_by(processors)))
            });
            for part in parts.collect::<Vec<_>>() {
                match part.join() {
                    Ok(part) => all.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        all
    }

    /// Does it to these bytes.
    fn of_bytes(pack: &[u8], bytes: impl Iterator<Item = usize>) -> Self {
        let (mut tried, mut changed) = (Self::default(), pack.to_vec());
        for at in bytes {
            for bit in 0..8 {
                changed[at] ^= 1 << bit;
                tried.flips += 1;
                tried.unnoticed += u64::from(check_full(&changed).problems.is_empty());
                changed[at] ^= 1 << bit;
            }
            tried.cuts += 1;
            tried.lost += lost_by_cut(pack, at);
        }
        tried
    }

    fn add(&mut self, other: &Self) {
        self.flips += other.flips;
        self.unnoticed += other.unnoticed;
        self.cuts += other.cuts;
        self.lost += other.lost;
    }
}

fn has_trailer(pack: &[u8]) -> bool {
    let reader = PackReader::open(pack, DecodeOptions::default());
    reader.is_ok_and(|reader| matches!(reader.trailer(), Some(Ok(_))))
}

/// Blocks that are whole in the first `len` bytes of a pack and are not saved as they were.
/// Annotations and levels of blocks that are missing are dropped on purpose, and told: they
/// count as saved.
fn lost_by_cut(pack: &[u8], len: usize) -> u64 {
    let Ok(reader) = PackReader::open(pack, DecodeOptions::default()) else { return 0 };
    let Some(Ok(trailer)) = reader.trailer() else { return 0 };
    let frames = (0..).map_while(|index| trailer.frame(index));
    let whole = frames.take_while(|frame| frame.end <= len as u64).count() as u64;
    if whole == 0 {
        return 0;
    }
    let Ok(recovered) = recover(&pack[..len]) else { return whole };
    let Ok(saved) = decode(&recovered.pack, DecodeOptions::default()) else { return whole };
    // In their order; what speaks of a block may name it by another index then.
    let Ok(all) = decode(pack, DecodeOptions::default()) else { return whole };
    let mut left = saved.blocks.iter();
    let mut is_saved =
        |block: &&Block<'_>| block.target().is_some() || left.any(|saved| saved == *block);
    let contents = all.blocks.iter().take(usize::try_from(whole).unwrap_or(usize::MAX));
    let lost = contents.filter(|block| !is_saved(block)).count() as u64;
    lost.max(whole.saturating_sub(saved.blocks.len() as u64 + recovered.dropped))
}

/// A row of the test of memory: the input, its bytes, the peak for each of them.
type Row = (String, f64, f64);

/// What the test of memory prints; it fails where more is taken than is allowed.
fn memory() -> Result<Vec<Row>> {
    let said =
        tested("-p lcp-decoder --all-features --test memory -- --nocapture --include-ignored")?;
    Ok(said.lines().filter_map(row).collect())
}

/// What these tests print; an error where one fails.
fn tested(tests: &str) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("test").args(tests.split(' ')).current_dir(crate::workspace());
    let ran = command.output().map_err(|error| Failure::io("run", "cargo", &error))?;
    if !ran.status.success() {
        return Err(Failure::new(Code::Limit, format!("cargo test {tests} failed")));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A name of several words, bytes, peak, peak per byte, and the way in.
fn row(line: &str) -> Option<Row> {
    let (name, figures) = line.split_at_checked(44)?;
    let mut figures = figures.split_whitespace();
    let bytes = figures.next()?.parse().ok()?;
    let per_byte = figures.nth(1)?.parse().ok()?;
    Some((name.trim().to_owned(), bytes, per_byte))
}

fn worst(rows: &[Row]) -> Option<(&str, f64)> {
    let large = rows.iter().filter(|(_, bytes, _)| *bytes >= BYTES_MIN);
    let worst = large.max_by(|(.., one), (.., other)| one.total_cmp(other));
    worst.map(|(name, _, per_byte)| (name.as_str(), *per_byte))
}

#[cfg(test)]
mod tests {
    use lcp_encoder::{EncodeOptions, encode};

    use super::*;

    #[test]
    fn figures_of_memory_are_read() {
        let head =
            format!("{:<44} {:>10} {:>12} {:>10}  way", "input", "bytes", "peak", "per byte");
        let line = |name: &str, bytes: u32| {
            format!("{name:<44} {bytes:>10} {:>12} {:>10.1}  decode", 4, 42.04)
        };
        let lines = [head, line("empty blocks", 90_012), line("small", 9), "test x ... ok".into()];
        let rows: Vec<_> = lines.iter().filter_map(|line| row(line)).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(worst(&rows), Some(("empty blocks", 42.0)));
    }

    #[test]
    fn a_cut_loses_only_what_is_behind_it() {
        let pack = seeds("decoder").into_iter().find(|pack| has_trailer(pack)).unwrap();
        assert_eq!((0..=pack.len()).map(|len| lost_by_cut(&pack, len)).sum::<u64>(), 0);
    }

    #[test]
    fn a_level_of_a_missing_block_is_no_loss() {
        let level = Block::new(lcp_types::Level::Detailed.of(4, "what it does"));
        let pack = encode(&[level], EncodeOptions::default()).unwrap();
        assert!(has_trailer(&pack));
        assert_eq!((0..=pack.len()).map(|len| lost_by_cut(&pack, len)).sum::<u64>(), 0);
    }
}
