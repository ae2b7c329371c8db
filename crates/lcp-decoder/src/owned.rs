//! Blocks that own what they hold, from a body that is owned too.
//!
//! A body out of a compressed payload may be as long as the payload is allowed to be.
//! Copied into a block, it would be there twice, which no limit allows (RFC 0008 §5.2).
//! So a long one is taken apart from its end, and its memory given back on the way.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use lcp_types::{Block, Bytes, Visitor};

use crate::error::Result;

/// Bytes of a body from which on it is taken apart; to copy a shorter one is faster.
const LONG_BYTES_MIN: usize = 1 << 20;

/// The part of a long body that is there twice at a time: one in so many.
const STEPS: usize = 32;

/// The block that `read` finds in `body`. Of a long body never more than a sixteenth
/// is held twice.
pub(crate) fn block(
    body: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<Block<'_>>,
) -> Result<Block<'static>> {
    if body.len() < LONG_BYTES_MIN { Ok(read(&body)?.into_owned()) } else { apart(body, read) }
}

/// The same of a long body.
fn apart(body: Vec<u8>, read: impl FnOnce(&[u8]) -> Result<Block<'_>>) -> Result<Block<'static>> {
    let mut block = read(&body)?;
    let mut count = Count(0);
    block.visit(&mut count);
    let mut places = Places { body: &body, parts: Vec::with_capacity(count.0) };
    block.visit(&mut places);
    let mut parts = places.parts;
    // Nothing of it is borrowed from the body any more.
    let mut block = block.into_owned();
    cut(body, &mut parts);
    block.visit(&mut Cut(parts.into_iter()));
    Ok(block)
}

/// What becomes of a text or a content, in the order of the visit.
enum Part {
    /// It does not lie in the body, and stays.
    Elsewhere,
    /// Where in the body it lies.
    Place(Range<usize>),
    /// What was cut out there.
    Piece(Vec<u8>),
}

/// Counts the texts and contents.
struct Count(usize);

impl Visitor for Count {
    fn text(&mut self, _: &mut Cow<'_, str>) {
        self.0 += 1;
    }

    fn bytes(&mut self, _: &mut Bytes<'_>) {
        self.0 += 1;
    }
}

/// Notes where each text and content stands, and leaves an empty one.
struct Places<'b> {
    body: &'b [u8],
    parts: Vec<Part>,
}

impl Places<'_> {
    /// Whether `part` lies in the body.
    fn note(&mut self, part: &[u8]) -> bool {
        let start = part.as_ptr().addr().checked_sub(self.body.as_ptr().addr());
        let place = start.and_then(|start| Some(start..start.checked_add(part.len())?));
        let place = place.filter(|place| place.end <= self.body.len());
        let lies_there = place.is_some();
        self.parts.push(place.map_or(Part::Elsewhere, Part::Place));
        lies_there
    }
}

impl Visitor for Places<'_> {
    fn text(&mut self, text: &mut Cow<'_, str>) {
        if self.note(text.as_bytes()) {
            *text = Cow::Borrowed("");
        }
    }

    fn bytes(&mut self, bytes: &mut Bytes<'_>) {
        if self.note(bytes.as_slice()) {
            *bytes = Bytes::from("");
        }
    }
}

/// Puts the pieces where they were noted.
struct Cut<I>(I);

impl<I: Iterator<Item = Part>> Cut<I> {
    fn piece(&mut self) -> Option<Vec<u8>> {
        match self.0.next()? {
            Part::Piece(piece) => Some(piece),
            Part::Elsewhere | Part::Place(_) => None,
        }
    }
}

impl<I: Iterator<Item = Part>> Visitor for Cut<I> {
    fn text(&mut self, text: &mut Cow<'_, str>) {
        let Some(piece) = self.piece() else { return };
        *text = Cow::Owned(String::from_utf8(piece).unwrap_or_else(|error| {
            debug_assert!(false, "it was text when it was borrowed");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }));
    }

    fn bytes(&mut self, bytes: &mut Bytes<'_>) {
        if let Some(piece) = self.piece() {
            *bytes = Bytes::from(piece);
        }
    }
}

/// Cuts all places out of `body`, the last one first. They do not overlap.
fn cut(mut body: Vec<u8>, parts: &mut [Part]) {
    let start_and_end = |part: &&mut Part| match part {
        Part::Place(place) => Some(Reverse((place.start, place.end))),
        Part::Elsewhere | Part::Piece(_) => None,
    };
    let mut order: Vec<_> = parts.iter_mut().collect();
    // What is empty stands before what begins at the same place.
    order.sort_unstable_by_key(start_and_end);
    for part in order {
        let Part::Place(place) = part else { continue };
        debug_assert!(place.end <= body.len(), "{place:?} was cut off already");
        body.truncate(place.end);
        *part = Part::Piece(split_off(&mut body, place.start));
    }
}

/// As [`Vec::split_off`], without room for both at a time.
fn split_off(body: &mut Vec<u8>, at: usize) -> Vec<u8> {
    let step = (body.len() / STEPS).max(1);
    let mut piece = Vec::new();
    while body.len() > at {
        let start = at.max(body.len().saturating_sub(step));
        piece.reserve_exact(body.len() - start);
        // Back to front: what comes off the end stays at the end.
        piece.extend(body.drain(start..).rev());
        if body.capacity() - body.len() > body.capacity() / STEPS {
            body.shrink_to_fit();
        }
    }
    piece.reverse();
    piece
}

#[cfg(test)]
mod tests {
    use lcp_encoder::{EncodeOptions, encode};
    use lcp_testkit::any_block;
    use lcp_types::Lang;
    use proptest::prelude::*;

    use super::*;
    use crate::decode;

    /// The block of a pack, which stands for its body: both are bytes that it borrows from.
    fn read(pack: &[u8]) -> Result<Block<'_>> {
        Ok(decode(pack, crate::DecodeOptions::default())?.blocks.remove(0))
    }

    fn encoded(block: &Block<'_>) -> Vec<u8> {
        encode(std::slice::from_ref(block), EncodeOptions::default()).expect("it fits")
    }

    proptest! {
        #[test]
        fn any_block_is_put_together_again(block in any_block()) {
            prop_assert_eq!(apart(encoded(&block), read).expect("it was written"), block);
        }
    }

    #[test]
    fn a_long_content_is_whole_beside_what_is_empty() {
        let lines = (0..100_000_u32).flat_map(u32::to_be_bytes).collect::<Vec<_>>();
        let long = Block::code(Lang::Rust, "", lines).with_summary("");
        assert_eq!(apart(encoded(&long), read).expect("it was written"), long);
        let empty = Block::code(Lang::Rust, "", "").with_summary("");
        assert_eq!(apart(encoded(&empty), read).expect("it was written"), empty);
    }

    #[test]
    fn what_lies_elsewhere_stays() {
        let elsewhere = || Block::code(Lang::Rust, "a.rs", "fn a() {}");
        let block = apart(vec![0; 100], |_| Ok(elsewhere())).expect("nothing is read");
        assert_eq!(block, elsewhere());
    }

    #[test]
    fn memory_is_given_back_on_the_way() {
        let mut body = vec![1; 1 << 20];
        let piece = split_off(&mut body, 1 << 10);
        assert_eq!((piece.len(), body.len()), ((1 << 20) - (1 << 10), 1 << 10));
        assert!(body.capacity() < (1 << 10) + (1 << 15), "{}", body.capacity());
        assert_eq!(piece.capacity(), piece.len());
    }
}
