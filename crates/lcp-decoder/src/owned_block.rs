//! Blocks that own what they hold, from a body that is owned too.
//!
//! A body out of a compressed payload may be as long as the payload is allowed to be.
//! Copied into a block, it would be there twice, which no limit allows (RFC 0008 §5.2).
//! So a long one is taken apart from its end, and its memory given back on the way.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use lcp_types::{Block, CowBytes, FieldVisitor};

use crate::error::Result;

/// Bytes of a body from which on it is taken apart; to copy a shorter one is faster.
const LONG_BYTES_MIN: usize = 1 << 20;

/// The part of a long body that is there twice at a time: one in so many.
const STEPS: usize = 32;

/// Decodes a block and moves its body into it; no more than a sixteenth is held twice.
pub(crate) fn decode_owned(
    body: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<Block<'_>>,
) -> Result<Block<'static>> {
    if body.len() < LONG_BYTES_MIN { Ok(read(&body)?.into_owned()) } else { take_apart(body, read) }
}

/// Decodes the block in a long body.
fn take_apart(
    body: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<Block<'_>>,
) -> Result<Block<'static>> {
    let mut block = read(&body)?;
    let mut count = FieldCount(0);
    block.visit(&mut count);
    let mut fields = FieldLocator { body: &body, parts: Vec::with_capacity(count.0) };
    block.visit(&mut fields);
    let mut parts = fields.parts;
    // Nothing of it is borrowed from the body any more.
    let mut block = block.into_owned();
    cut(body, &mut parts);
    block.visit(&mut PieceInserter(parts.into_iter()));
    Ok(block)
}

/// A text or a content of the block, in the order of the visit.
enum Part {
    /// It is not in the body, and stays.
    NotInBody,
    /// Its range in the body.
    InBody(Range<usize>),
    /// The bytes that were cut out there.
    Piece(Vec<u8>),
}

/// Counts the texts and contents.
struct FieldCount(usize);

impl FieldVisitor for FieldCount {
    fn text(&mut self, _: &mut Cow<'_, str>) {
        self.0 += 1;
    }

    fn bytes(&mut self, _: &mut CowBytes<'_>) {
        self.0 += 1;
    }
}

/// Locates each text and content in the body, and leaves an empty one.
struct FieldLocator<'b> {
    body: &'b [u8],
    parts: Vec<Part>,
}

impl FieldLocator<'_> {
    fn locate(&mut self, part: &[u8]) -> bool {
        let start = part.as_ptr().addr().checked_sub(self.body.as_ptr().addr());
        let place = start.and_then(|start| Some(start..start.checked_add(part.len())?));
        let place = place.filter(|place| place.end <= self.body.len());
        let lies_there = place.is_some();
        self.parts.push(place.map_or(Part::NotInBody, Part::InBody));
        lies_there
    }
}

impl FieldVisitor for FieldLocator<'_> {
    fn text(&mut self, text: &mut Cow<'_, str>) {
        if self.locate(text.as_bytes()) {
            *text = Cow::Borrowed("");
        }
    }

    fn bytes(&mut self, bytes: &mut CowBytes<'_>) {
        if self.locate(bytes.as_slice()) {
            *bytes = CowBytes::from("");
        }
    }
}

/// Puts the pieces back into the fields.
struct PieceInserter<I>(I);

impl<I: Iterator<Item = Part>> PieceInserter<I> {
    fn piece(&mut self) -> Option<Vec<u8>> {
        match self.0.next()? {
            Part::Piece(piece) => Some(piece),
            Part::NotInBody | Part::InBody(_) => None,
        }
    }
}

impl<I: Iterator<Item = Part>> FieldVisitor for PieceInserter<I> {
    fn text(&mut self, text: &mut Cow<'_, str>) {
        let Some(piece) = self.piece() else { return };
        *text = Cow::Owned(String::from_utf8(piece).unwrap_or_else(|error| {
            debug_assert!(false, "it was text when it was borrowed");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }));
    }

    fn bytes(&mut self, bytes: &mut CowBytes<'_>) {
        if let Some(piece) = self.piece() {
            *bytes = CowBytes::from(piece);
        }
    }
}

/// Cuts all parts out of `body`, the last one first. They do not overlap.
fn cut(mut body: Vec<u8>, parts: &mut [Part]) {
    let start_and_end = |part: &&mut Part| match part {
        Part::InBody(place) => Some(Reverse((place.start, place.end))),
        Part::NotInBody | Part::Piece(_) => None,
    };
    let mut order: Vec<_> = parts.iter_mut().collect();
    // What is empty stands before what begins at the same place.
    order.sort_unstable_by_key(start_and_end);
    for part in order {
        let Part::InBody(place) = part else { continue };
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
mod tests;
