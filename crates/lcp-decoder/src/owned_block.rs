//! Conversion of an owned body into a block that owns its contents.
//!
//! A body from a compressed payload may be as long as the limit for the payload. Copying it into a
//! block would need twice that memory, which the limits do not allow (RFC 0008 §5.2). A long body
//! is therefore moved into the block in pieces, from its end, and its memory is freed on the way.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use lcp_types::{Block, CowBytes, FieldVisitor};

use crate::error::Result;

/// The size in bytes from which a body is moved in pieces. Copying is faster for shorter bodies.
const LONG_BYTES_MIN: usize = 1 << 20;

/// The number of steps in which a long body is moved. About one part in this many is in memory
/// twice.
const STEPS: usize = 32;

/// Decodes a block and moves its body into it. At most a sixteenth of a long body is in memory
/// twice.
pub(crate) fn decode_owned(
    body: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<Block<'_>>,
) -> Result<Block<'static>> {
    if body.len() < LONG_BYTES_MIN { Ok(read(&body)?.into_owned()) } else { take_apart(body, read) }
}

/// Decodes the block in a long body, and moves the body into it in pieces.
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
    // From here on the block does not borrow from the body.
    let mut block = block.into_owned();
    cut(body, &mut parts);
    block.visit(&mut PieceInserter(parts.into_iter()));
    Ok(block)
}

/// A text or content of the block, in the order of the visit.
enum Part {
    /// The field is not in the body and remains unchanged.
    NotInBody,
    /// The range of the field in the body.
    InBody(Range<usize>),
    /// The bytes that were cut from that range.
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

/// Finds each text and content in the body, and replaces it with an empty one.
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

/// Inserts the pieces into the fields.
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

/// Cuts all parts from `body`, beginning with the last one. The parts do not overlap.
fn cut(mut body: Vec<u8>, parts: &mut [Part]) {
    let start_and_end = |part: &&mut Part| match part {
        Part::InBody(place) => Some(Reverse((place.start, place.end))),
        Part::NotInBody | Part::Piece(_) => None,
    };
    let mut order: Vec<_> = parts.iter_mut().collect();
    // An empty part sorts before a part that begins at the same position.
    order.sort_unstable_by_key(start_and_end);
    for part in order {
        let Part::InBody(place) = part else { continue };
        debug_assert!(place.end <= body.len(), "{place:?} was cut off already");
        body.truncate(place.end);
        *part = Part::Piece(split_off(&mut body, place.start));
    }
}

/// Splits `body` like [`Vec::split_off`], but without memory for a second copy of the piece.
fn split_off(body: &mut Vec<u8>, at: usize) -> Vec<u8> {
    let step = (body.len() / STEPS).max(1);
    let mut piece = Vec::new();
    while body.len() > at {
        let start = at.max(body.len().saturating_sub(step));
        piece.reserve_exact(body.len() - start);
        // Bytes are removed from the end of `body`, so the piece is collected in reverse order.
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
