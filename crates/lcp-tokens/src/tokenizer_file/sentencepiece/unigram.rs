//! Segments text into the pieces with the best sum of scores.

use std::collections::HashMap;
use std::ops::Range;

use super::Piece;
use super::file::{File, Kind};

/// The difference between the score of an unknown character and the worst score of a piece.
const UNKNOWN_PENALTY: f32 = 10.0;

pub(super) struct Unigram {
    trie: Trie,
    /// The score of each piece, by its index in the file.
    scores: Vec<Score>,
    /// The score of an unknown character.
    unknown: f32,
    /// The best score of a piece, at least the smallest positive number.
    best: f32,
}

#[derive(Clone, Copy)]
enum Score {
    Fixed(f32),
    /// Close to the best score times the length of the piece.
    User,
    Never,
}

/// The best segmentation up to each position of a text. The sum continues from part to part,
/// because the original computes one rounded sum over the whole text.
pub(super) struct Lattice {
    nodes: Vec<Node>,
    sum: f32,
}

#[derive(Clone, Copy)]
struct Node {
    /// The start of the piece that ends here; `None` if no segmentation has been found so far.
    start: Option<usize>,
    sum: f32,
    piece: Piece,
}

impl Lattice {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), sum: 0.0 }
    }

    /// Ends a piece at `end` if its sum is better than that of the current piece there.
    ///
    /// The original adds and compares in double precision and stores sums in single precision. For
    /// unknown characters it does everything in single precision.
    fn offer(&mut self, start: usize, end: usize, score: f64, piece: Piece) {
        let till_here = self.nodes[start].sum;
        #[expect(clippy::cast_possible_truncation, reason = "kept in single precision")]
        let sum = match piece {
            Piece::Known => score + f64::from(till_here),
            Piece::Unknown => f64::from(score as f32 + till_here),
        };
        let target = &mut self.nodes[end];
        if target.start.is_none() || sum > f64::from(target.sum) {
            #[expect(clippy::cast_possible_truncation, reason = "kept in single precision")]
            let sum = sum as f32;
            *target = Node { start: Some(start), sum, piece };
        }
    }
}

impl Unigram {
    pub(super) fn new(file: &File) -> Self {
        // The original begins its search for the best score at the smallest positive number, so a
        // user-defined symbol costs 0.1 in most models.
        let normal = file.pieces.iter().filter(|piece| piece.kind == Kind::Normal);
        let (least, best) = normal.fold((f32::MAX, f32::MIN_POSITIVE), |(least, best), piece| {
            (least.min(piece.score), best.max(piece.score))
        });
        let mut trie = Trie::default();
        for (place, piece) in file.pieces.iter().enumerate() {
            if piece.kind.is_matched() {
                trie.insert(&piece.text, place);
            }
        }
        let score = |piece: &super::file::Entry| match piece.kind {
            Kind::Normal => Score::Fixed(piece.score),
            Kind::UserDefined => Score::User,
            _ => Score::Never,
        };
        let scores = file.pieces.iter().map(score).collect();
        Self { trie, scores, unknown: least - UNKNOWN_PENALTY, best }
    }

    /// Returns the score of a user-defined symbol of `len` bytes.
    #[expect(clippy::cast_precision_loss, reason = "a piece has 4096 bytes at most")]
    fn user(&self, len: usize) -> f64 {
        f64::from(len as f32 * self.best) - 0.1
    }

    /// Passes the pieces of a normalized text to `each`, in order.
    pub(super) fn encode(
        &self,
        text: &str,
        lattice: &mut Lattice,
        mut each: impl FnMut(Piece, Range<usize>),
    ) {
        lattice.nodes.clear();
        lattice.nodes.resize(text.len() + 1, Node { start: None, sum: 0.0, piece: Piece::Known });
        lattice.nodes[0].sum = lattice.sum;
        for (start, c) in text.char_indices() {
            let first = start + c.len_utf8();
            let mut single = false;
            self.trie.prefixes(&text[start..], |len, place| {
                let score = match self.scores[place] {
                    Score::Fixed(score) => f64::from(score),
                    Score::User => self.user(len),
                    Score::Never => return,
                };
                lattice.offer(start, start + len, score, Piece::Known);
                single |= start + len == first;
            });
            if !single {
                lattice.offer(start, first, f64::from(self.unknown), Piece::Unknown);
            }
        }
        lattice.sum = lattice.nodes[text.len()].sum;
        let mut end = text.len();
        let back = std::iter::from_fn(|| {
            let Node { start, piece, .. } = lattice.nodes[end];
            let range = start?..end;
            end = range.start;
            Some((piece, range))
        });
        let pieces: Vec<_> = back.collect();
        pieces.into_iter().rev().for_each(|(piece, range)| each(piece, range));
    }
}

/// A map from texts to their indices in the file.
#[derive(Default)]
struct Trie {
    children: HashMap<(usize, u8), usize>,
    /// The index of the text that ends at each node except the root.
    values: Vec<Option<usize>>,
}

impl Trie {
    fn insert(&mut self, text: &str, place: usize) {
        let mut node = 0;
        for byte in text.bytes() {
            let next = self.values.len() + 1;
            let child = *self.children.entry((node, byte)).or_insert(next);
            if child == next {
                self.values.push(None);
            }
            node = child;
        }
        if node > 0 {
            self.values[node - 1] = Some(place);
        }
    }

    /// Passes the lengths and indices of the texts that are prefixes of `text` to `each`.
    fn prefixes(&self, text: &str, mut each: impl FnMut(usize, usize)) {
        let mut node = 0;
        for (i, byte) in text.bytes().enumerate() {
            let Some(child) = self.children.get(&(node, byte)) else { return };
            node = *child;
            if let Some(place) = self.values[node - 1] {
                each(i + 1, place);
            }
        }
    }
}
