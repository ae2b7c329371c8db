//! Encoding of fields, as a [`FieldWriter`].

use lcp_types::codec::{FieldSpec, FieldWriter, Record};
use lcp_types::wire::{VARINT_BYTES_MAX, WireType};
use lcp_types::{CowBytes, UnknownField, UnknownValue, limits};

use crate::error::{Error, Result, check};

/// Returns the bytes of an unsigned LEB128 varint, and their number.
fn leb128(mut value: u64) -> ([u8; VARINT_BYTES_MAX], usize) {
    let mut bytes = [0; VARINT_BYTES_MAX];
    let mut len = 0;
    while value >= 0x80 {
        bytes[len] = value.to_le_bytes()[0] | 0x80;
        value >>= 7;
        len += 1;
    }
    bytes[len] = value.to_le_bytes()[0];
    (bytes, len + 1)
}

/// Appends an unsigned LEB128 varint.
#[inline]
pub(crate) fn varint(out: &mut Vec<u8>, value: u64) {
    if let Ok(byte @ 0..0x80) = u8::try_from(value) {
        out.push(byte);
    } else {
        let (bytes, len) = leb128(value);
        out.extend_from_slice(&bytes[..len]);
    }
}

/// Appends the length of `bytes`, and `bytes`.
#[inline]
pub(crate) fn length_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A length prefix whose value is set after the data that follows it has been written.
pub(crate) struct LengthPrefix {
    at: usize,
    reserved: usize,
}

impl LengthPrefix {
    /// Reserves the bytes of the prefix. If the final length needs a prefix of the same size as
    /// `expected`, no data has to be moved.
    pub(crate) fn reserve(out: &mut Vec<u8>, expected: usize) -> Self {
        let at = out.len();
        varint(out, expected as u64);
        Self { at, reserved: out.len() - at }
    }

    /// Sets the length to that of all data appended since the reservation.
    pub(crate) fn set(self, out: &mut Vec<u8>) {
        let Self { at, reserved } = self;
        let begin = at + reserved;
        let (bytes, len) = leb128((out.len() - begin) as u64);
        if len == reserved {
            out[at..begin].copy_from_slice(&bytes[..len]);
        } else {
            out.splice(at..begin, bytes[..len].iter().copied());
        }
    }
}

/// Encodes a frame (RFC 0001 §3), for `PackWriter::add_raw_frame`. `body` is the body as stored: it
/// includes the summary, and it is compressed or a hash if the flags say so.
#[must_use]
pub fn encode_raw_frame(type_code: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(body.len() + 12);
    varint(&mut frame, u64::from(type_code));
    frame.push(flags);
    length_prefixed(&mut frame, body);
    frame
}

/// A writer that appends one level of fields to `out`.
pub(crate) struct FieldEncoder<'o> {
    out: &'o mut Vec<u8>,
    depth: u32,
    /// All unknown fields with ids below this one have been written.
    unknown_below: u64,
    count: &'o mut u64,
}

impl<'o> FieldEncoder<'o> {
    /// Creates a writer. `count` is the number of fields in the block, for all levels together.
    pub(crate) fn new(out: &'o mut Vec<u8>, count: &'o mut u64) -> Self {
        Self { out, depth: 0, unknown_below: 0, count }
    }

    #[inline]
    fn head(&mut self, id: u64, wire_type: WireType) -> Result<()> {
        *self.count += 1;
        check("block", "FIELDS_MAX", *self.count, limits::FIELDS_MAX)?;
        varint(self.out, id);
        self.out.push(wire_type as u8);
        Ok(())
    }

    #[inline]
    fn push_varint(&mut self, id: u64, value: u64) -> Result<()> {
        self.head(id, WireType::Varint)?;
        varint(self.out, value);
        Ok(())
    }

    #[inline]
    fn push_bytes(&mut self, id: u64, name: &'static str, value: &[u8]) -> Result<()> {
        check(name, "BODY_BYTES_MAX", value.len() as u64, limits::BODY_BYTES_MAX)?;
        self.head(id, WireType::Bytes)?;
        length_prefixed(self.out, value);
        Ok(())
    }

    /// Writes the unknown fields with ids below `before` that have not been written yet. `fields`
    /// is not empty.
    fn unknown_of(&mut self, fields: &[UnknownField<'_>], before: Option<u64>) -> Result<()> {
        let due = |field: &&UnknownField<'_>| {
            field.id >= self.unknown_below && before.is_none_or(|before| field.id < before)
        };
        let mut due: Vec<_> = fields.iter().filter(due).collect();
        due.sort_by_key(|field| field.id);
        self.unknown_below = before.unwrap_or(u64::MAX);
        for field in due {
            match &field.value {
                UnknownValue::Varint(value) => self.push_varint(field.id, *value)?,
                UnknownValue::Bytes(bytes) => {
                    self.push_bytes(field.id, "unknown field", bytes.as_slice())?;
                }
                UnknownValue::Nested(bytes) => {
                    self.head(field.id, WireType::Nested)?;
                    length_prefixed(self.out, bytes.as_slice());
                }
            }
        }
        Ok(())
    }
}

impl FieldWriter for FieldEncoder<'_> {
    type Error = Error;

    fn begin(
        &mut self,
        record: &'static str,
        specs: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<()> {
        // A reader would decode such a field as the known one.
        match unknown.iter().find(|field| specs.iter().any(|spec| spec.id == field.id)) {
            Some(field) => Err(Error::KnownField { record, id: field.id }),
            None => Ok(()),
        }
    }

    #[inline]
    fn uint(&mut self, field: &FieldSpec, value: u64) -> Result<()> {
        self.push_varint(field.id, value)
    }

    #[inline]
    fn code(&mut self, field: &FieldSpec, code: u8, _: Option<&str>) -> Result<()> {
        self.push_varint(field.id, u64::from(code))
    }

    #[inline]
    fn text(&mut self, field: &FieldSpec, value: &str) -> Result<()> {
        check(field.name, "TEXT_BYTES_MAX", value.len() as u64, limits::TEXT_BYTES_MAX)?;
        self.head(field.id, WireType::Bytes)?;
        length_prefixed(self.out, value.as_bytes());
        Ok(())
    }

    #[inline]
    fn bytes(&mut self, field: &FieldSpec, value: &CowBytes<'_>) -> Result<()> {
        self.push_bytes(field.id, field.name, value.as_slice())
    }

    fn records<'a, T: Record<'a>>(&mut self, field: &FieldSpec, value: &[T]) -> Result<()> {
        let depth = self.depth + 1;
        for record in value {
            check(field.name, "DEPTH_MAX", u64::from(depth), u64::from(limits::DEPTH_MAX))?;
            self.head(field.id, WireType::Nested)?;
            let prefix = LengthPrefix::reserve(self.out, 0);
            record.write(&mut FieldEncoder {
                out: self.out,
                depth,
                unknown_below: 0,
                count: self.count,
            })?;
            prefix.set(self.out);
        }
        Ok(())
    }

    #[inline]
    fn unknown(&mut self, fields: &[UnknownField<'_>], before: Option<u64>) -> Result<()> {
        if fields.is_empty() { Ok(()) } else { self.unknown_of(fields, before) }
    }
}
