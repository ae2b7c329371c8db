//! The body of an edited request.

use std::ops::Range;
use std::sync::Arc;

/// A request body in which some strings are replaced. It borrows the original, so that a large body is not
/// copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedBody<'b> {
    original: &'b str,
    /// The replaced places in their order, in bytes, and the JSON string that is sent for each.
    pub(crate) replaced: Vec<(Range<usize>, Arc<str>)>,
}

/// A part of an edited body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment<'s> {
    /// Bytes of the client, outside of the replaced places.
    Original(&'s str),
    /// A string that replaces one of the client.
    New(&'s str),
}

impl<'s> Segment<'s> {
    pub(crate) const fn as_str(self) -> &'s str {
        let (Self::Original(part) | Self::New(part)) = self;
        part
    }
}

impl<'b> EditedBody<'b> {
    pub(crate) const fn new(original: &'b str, replaced: Vec<(Range<usize>, Arc<str>)>) -> Self {
        Self { original, replaced }
    }

    /// Returns whether a string is replaced.
    #[must_use]
    pub const fn is_edited(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Returns its parts in their order.
    pub(crate) fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let starts = std::iter::once(0).chain(self.replaced.iter().map(|(place, _)| place.end));
        let ends = self.replaced.iter().map(|(place, _)| place.start);
        let originals = starts.zip(ends.chain([self.original.len()]));
        let new = self.replaced.iter().map(|(_, string)| Some(string)).chain([None]);
        originals.zip(new).flat_map(|((start, end), new)| {
            let new = new.map(|string| Segment::New(string));
            std::iter::once(Segment::Original(&self.original[start..end])).chain(new)
        })
    }

    /// Returns the bytes that are sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.original.len());
        for segment in self.segments() {
            bytes.extend_from_slice(segment.as_str().as_bytes());
        }
        bytes
    }
}
