//! Whether every line of a text stands in another, byte for byte and in order.

use super::sets::Sets;
use crate::lines::without_end;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    Contained,
    Not,
    /// The lines that may be looked at were used up.
    Bound,
}

/// Looks for the lines of `text` in `kept`, each behind the one before. `alike` says
/// that both have their lines compared in the same way, so that lines with different
/// numbers differ; `lines` is how many lines may be looked at, and is lowered.
pub(super) fn contained(
    sets: &Sets<'_>,
    text: usize,
    kept: usize,
    alike: bool,
    lines: &mut usize,
) -> Scan {
    let mut wanted = sets.places(text);
    let mut there = sets.places(kept);
    let Some(mut want) = wanted.next() else { return Scan::Contained };
    loop {
        if there.len() <= wanted.len() {
            return Scan::Not;
        }
        let Some(place) = there.next() else { return Scan::Not };
        let Some(rest) = lines.checked_sub(1) else { return Scan::Bound };
        *lines = rest;
        let same = (!alike || sets.number(place) == sets.number(want))
            && without_end(sets.line(kept, place)) == without_end(sets.line(text, want));
        if same {
            match wanted.next() {
                Some(next) => want = next,
                None => return Scan::Contained,
            }
        }
    }
}
