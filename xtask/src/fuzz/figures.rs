//! What is tried exhaustively beside the search: flipped bits, cut ends, memory.

use std::fmt::Write as _;
use std::process::Command;

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::problems::check_full;
use lcp_cli::recovering::recover;
use lcp_decoder::{DecodeOptions, PackReader, decode};
use lcp_fuzz::seeds;

/// Inputs of fewer bytes say nothing of memory per byte: what is constant is most of it.
const BYTES_MIN: f64 = 65_536.0;

/// Lines for the document, after all of it was tried.
pub(super) fn figures(output: &Output) -> Result<String> {
    output.progress("every bit flipped, every end cut off");
    let packs: Vec<_> = seeds("decoder").into_iter().filter(|pack| has_trailer(pack)).collect();
    let (mut flips, mut unnoticed, mut cuts, mut lost) = (0_u64, 0_u64, 0_u64, 0_u64);
    for pack in &packs {
        let mut pack = pack.clone();
        for bit in 0..pack.len() * 8 {
            pack[bit / 8] ^= 1 << (bit % 8);
            flips += 1;
            unnoticed += u64::from(check_full(&pack).problems.is_empty());
            pack[bit / 8] ^= 1 << (bit % 8);
        }
        for len in 0..pack.len() {
            cuts += 1;
            lost += lost_by_cut(&pack, len);
        }
    }
    output.progress("memory of inputs that ask for more than they bring");
    let rows = memory()?;
    let (name, per_byte) = worst(&rows)
        .ok_or_else(|| Failure::new(Code::Malformed, "the test of memory printed no figures"))?;
    let mut lines = String::from("\n| tried | how often | |\n|---|---|---|\n");
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
        "| more is asked for than brought, {} inputs, every way to read | within the limits | at most {per_byte:.1} bytes of memory for a byte of the input, of those of {} KiB and more ({name}) |",
        rows.len(),
        BYTES_MIN / 1024.0
    );
    Ok(lines)
}

fn has_trailer(pack: &[u8]) -> bool {
    let reader = PackReader::open(pack, DecodeOptions::default());
    reader.is_ok_and(|reader| matches!(reader.trailer(), Some(Ok(_))))
}

/// Blocks that are whole in the first `len` bytes of a pack and are not saved, or not as they
/// were. Annotations of blocks that are missing are dropped on purpose, and count as saved.
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
    whole.saturating_sub(saved.blocks.len() as u64 + recovered.dropped)
}

/// A row of the test of memory: the input, its bytes, the peak for each of them.
type Row = (String, f64, f64);

/// What the test of memory prints; it fails where more is taken than is allowed.
fn memory() -> Result<Vec<Row>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let test = "test -p lcp-decoder --all-features --test memory -- --nocapture no_input";
    let ran = Command::new(cargo).args(test.split(' ')).current_dir(crate::workspace()).output();
    let ran = ran.map_err(|error| Failure::io("run", "cargo", &error))?;
    if !ran.status.success() {
        return Err(Failure::new(Code::Limit, "cargo test -p lcp-decoder --test memory failed"));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).lines().filter_map(row).collect())
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
}
