//! Selection of as many pieces as fit the token budget.

use std::collections::BTreeSet;

use lcp_tokens::TokenEstimator;

use super::line::{CUT, Line, PieceRef};

/// The number of consecutive pieces that may fail to fit before the remaining ones are skipped.
const MISSES: usize = 64;
/// The number of attempts to fill the remaining budget.
const ROUNDS: usize = 4;
/// The number of tokens that the best piece may always have, even if that is more than half of the
/// budget.
const BEST_TOKENS: u32 = 16;

/// A growing text that never exceeds its token budget.
pub(super) struct BoundedSummary<'c> {
    counter: &'c dyn TokenEstimator,
    pub(super) text: String,
}

impl<'c> BoundedSummary<'c> {
    pub(super) fn new(counter: &'c dyn TokenEstimator) -> Self {
        Self { counter, text: String::new() }
    }

    /// Adds as many of the pieces of `lines` at `ranks` as fit, the best first, so that the whole
    /// text has at most `most` tokens. The best piece is truncated if necessary.
    ///
    /// The counts of pieces are only used to estimate which pieces fit. The count of the whole text
    /// decides, so counts need not add up.
    pub(super) fn add(&mut self, lines: &mut [Line], mut ranks: Vec<PieceRef>, most: u32) {
        let Some(best) = ranks.first().copied() else { return };
        let Some(mut spent) = self.count(&self.text, most) else { return };
        self.shorten_best(lines, best, most - spent);
        let before = self.text.clone();
        let mut chosen: Vec<PieceRef> = Vec::new();
        for _ in 0..ROUNDS {
            let sure = chosen.len();
            self.choose(lines, &mut ranks, &mut chosen, most - spent);
            let mut less = 1;
            while chosen.len() > sure {
                let text = join_pieces(&before, lines, &chosen);
                if let Some(count) = self.count(&text, most) {
                    (self.text, spent) = (text, count);
                    break;
                }
                // Drop twice as many pieces each time, so that a text that is far too long is
                // counted only a few times.
                let keep = sure.max(chosen.len().saturating_sub(less));
                ranks.splice(..0, chosen.drain(keep..));
                less *= 2;
            }
            if chosen.len() == sure {
                break;
            }
        }
        if self.text.is_empty() {
            self.text = self.truncate(&join_pieces("", lines, &[best]), most);
        }
    }

    /// Moves the pieces from `ranks` to `chosen` that are estimated to fit into `room` tokens.
    fn choose(
        &self,
        lines: &[Line],
        ranks: &mut Vec<PieceRef>,
        chosen: &mut Vec<PieceRef>,
        mut room: u32,
    ) {
        let mut begun: BTreeSet<usize> = chosen.iter().map(|&(line, _)| line).collect();
        let mut misses = 0;
        ranks.retain(|&(line, piece)| {
            if room == 0 || misses == MISSES {
                return true;
            }
            let source = &lines[line];
            let lead = if begun.contains(&line) {
                source.between[1].to_owned()
            } else {
                format!("\n{}", source.head(piece))
            };
            let cost = self.counter.estimate(&format!("{lead}{}", source.pieces[piece].text));
            if cost > room {
                misses += 1;
                return true;
            }
            (room, misses) = (room - cost, 0);
            begun.insert(line);
            chosen.push((line, piece));
            false
        });
    }

    /// Truncates the piece at `best` if it would take more than half of `room`.
    fn shorten_best(&self, lines: &mut [Line], (line, piece): PieceRef, room: u32) {
        let head = lines[line].head(piece);
        let whole = format!("{head}{}", lines[line].pieces[piece].text);
        let most = (room / 2).max(room.min(BEST_TOKENS));
        if self.count(&whole, most).is_some() {
            return;
        }
        // Reserve tokens for the marker and for the newline before the line.
        let mut tokens = most.saturating_sub(self.counter.estimate(CUT) + 1);
        while tokens > 0 {
            let start = self.counter.truncate_to(&whole, tokens);
            let start = start.rfind(char::is_whitespace).map_or("", |at| start[..at].trim_end());
            let Some(words) = start.get(head.len()..).filter(|words| !words.is_empty()) else {
                return;
            };
            let cut = format!("{words}{CUT}");
            if self.count(&format!("\n{head}{cut}"), most).is_some() {
                lines[line].pieces[piece].text = cut;
                return;
            }
            tokens -= (tokens / 4).max(1);
        }
    }

    /// Returns as much of the beginning of `text` as fits, ending at any character.
    fn truncate(&self, text: &str, most: u32) -> String {
        let mut tokens = most;
        while tokens > 0 {
            let start = self.counter.truncate_to(text, tokens).trim_end();
            if self.count(start, most).is_some() {
                return start.to_owned();
            }
            tokens /= 2;
        }
        String::new()
    }

    /// Returns the token count of a text if it is at most `most`.
    fn count(&self, text: &str, most: u32) -> Option<u32> {
        Some(self.counter.recount(text)).filter(|count| *count <= most)
    }
}

/// Joins `before` and the pieces at `chosen`, in the order of the lines.
fn join_pieces(before: &str, lines: &[Line], chosen: &[PieceRef]) -> String {
    let mut text = before.to_owned();
    let mut last: Option<PieceRef> = None;
    for (line, piece) in chosen.iter().copied().collect::<BTreeSet<PieceRef>>() {
        let source = &lines[line];
        match last {
            Some((same, before)) if same == line => {
                let gap = source.pieces[piece].at > source.pieces[before].at + 1;
                text.push_str(source.between[usize::from(gap)]);
            }
            _ => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&source.head(piece));
            }
        }
        text.push_str(&source.pieces[piece].text);
        last = Some((line, piece));
    }
    text
}
