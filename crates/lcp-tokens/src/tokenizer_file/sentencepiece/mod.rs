//! `SentencePiece` models, counted as the original library counts.
//!
//! A text is normalized (`normalize`) and cut where no piece of the vocabulary can lie
//! across; each part is segmented into pieces by merging (`bpe`) or by the best score
//! (`unigram`).
//!
//! The crate `tokenizers` reads no `.model` files. Its Unigram model and its normalizer for
//! precompiled tables are not used either, because they differ from the original:
//!
//! - it adds scores in double precision; the original rounds each sum to single precision,
//!   so near ties fall the other way;
//! - its merges are pairs; the original ranks merges by the scores of pieces, takes unused
//!   pieces apart again, and protects user-defined symbols;
//! - it looks replacements up by grapheme and by character; the original takes the longest
//!   match at each position;
//! - it keeps the complete text in memory; this module needs memory for the longest word.

mod bpe;
mod file;
mod normalize;
mod unigram;

use std::ops::Range;

use self::file::{Algorithm, File, Kind};
use self::normalize::{Normalizer, SPACE};
use super::TokenizerFileError;
use super::merge::Merger;

pub(super) struct SentencePiece {
    normalizer: Normalizer,
    algorithm: Encoder,
    byte_fallback: bool,
    /// Whether texts may be cut before white space, so that memory is bounded by the longest word.
    cuts_at_space: bool,
}

enum Encoder {
    Bpe(bpe::Bpe),
    Unigram(unigram::Unigram),
}

/// A stretch of text that became one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Known,
    Unknown,
}

impl SentencePiece {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, TokenizerFileError> {
        let file = File::read(bytes)?;
        let across = |piece: &file::Entry| {
            let text = piece.text.trim_start_matches(SPACE);
            piece.kind.is_matched() && text.contains(SPACE)
        };
        // Unused pieces are taken apart as others of the same text were made.
        let unused = |piece: &file::Entry| piece.kind == Kind::Unused;
        let cuts_at_space = !file.pieces.iter().any(|piece| across(piece) || unused(piece));
        let algorithm = match file.algorithm {
            Algorithm::Bpe => Encoder::Bpe(bpe::Bpe::new(&file)),
            Algorithm::Unigram => Encoder::Unigram(unigram::Unigram::new(&file)),
        };
        Ok(Self {
            byte_fallback: file.byte_fallback,
            cuts_at_space,
            algorithm,
            normalizer: file.into_normalizer(),
        })
    }

    pub(super) fn count(&self, text: &str) -> u64 {
        let mut counter =
            PieceCounter { count: 0, after_unknown: false, byte_fallback: self.byte_fallback };
        match &self.algorithm {
            Encoder::Bpe(bpe) => {
                let mut merger = Merger::new();
                self.normalizer.run(text, self.cuts_at_space, |part| {
                    bpe.encode(part, &mut merger, |piece, at| counter.add(piece, &at));
                });
            }
            Encoder::Unigram(unigram) => {
                let mut lattice = unigram::Lattice::new();
                self.normalizer.run(text, self.cuts_at_space, |part| {
                    unigram.encode(part, &mut lattice, |piece, at| counter.add(piece, &at));
                });
            }
        }
        counter.count
    }
}

/// A count in which adjacent unknown pieces are one, or their bytes.
struct PieceCounter {
    count: u64,
    after_unknown: bool,
    byte_fallback: bool,
}

impl PieceCounter {
    fn add(&mut self, piece: Piece, at: &Range<usize>) {
        let unknown = piece == Piece::Unknown;
        if unknown && self.byte_fallback {
            self.count += at.len() as u64;
        } else if !(unknown && self.after_unknown) {
            self.count += 1;
        }
        self.after_unknown = unknown;
    }
}
