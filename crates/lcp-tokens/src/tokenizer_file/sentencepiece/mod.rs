//! Counts with `SentencePiece` models, as the original library does.
//!
//! A text is normalized (`normalize`) and cut at positions that no piece of the vocabulary can
//! span. Each part is segmented into pieces by merging (`bpe`) or by the best score (`unigram`).
//!
//! The crate `tokenizers` does not read `.model` files. Its Unigram model and its normalizer for
//! precompiled tables are not used either, because they differ from the original:
//!
//! - it adds scores in double precision; the original rounds each sum to single precision, so near
//!   ties have different results;
//! - its merges are pairs; the original ranks merges by the scores of pieces, splits unused pieces
//!   again, and protects user-defined symbols;
//! - it looks up replacements by grapheme and by character; the original takes the longest match at
//!   each position;
//! - it keeps the complete text in memory; this module needs memory only for the longest word.

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
    /// `true` if texts may be cut before white space, which limits the memory to the longest word.
    cuts_at_space: bool,
}

enum Encoder {
    Bpe(bpe::Bpe),
    Unigram(unigram::Unigram),
}

/// The kind of a segment of the text.
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
        // An unused piece is split in the same way as other occurrences of its text, so they must
        // be in one part.
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

/// A counter that counts adjacent unknown pieces as one token, or as their bytes.
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
