//! Fields to bytes, as a [`FieldWriter`] of the schema.

use lcp_types::schema::{FieldSpec, FieldWriter, Record};
use lcp_types::{Bytes, UnknownField, UnknownValue, limits, wire};

use crate::error::{Error, Result, check};

/// Appends an unsigned LEB128 varint.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a length and that many bytes.
pub(crate) fn length_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A frame as it stands in a stream (RFC 0001 §3), for `PackBuilder::add_stored`: the
/// body as stored, with its summary, perhaps compressed or a hash, as the flags say.
#[must_use]
pub fn stored_frame(type_code: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(body.len() + 12);
    varint(&mut frame, u64::from(type_code));
    frame.push(flags);
    length_prefixed(&mut frame, body);
    frame
}

/// Writes one level of fields behind `out`.
pub(crate) struct Fields<'o> {
    out: &'o mut Vec<u8>,
    depth: u32,
    /// The id below which unknown fields are written already.
    unknown_below: u64,
    count: &'o mut u64,
}

impl<'o> Fields<'o> {
    /// `count` is the number of fields of the block, all levels together.
    pub(crate) fn new(out: &'o mut Vec<u8>, count: &'o mut u64) -> Self {
        Self { out, depth: 0, unknown_below: 0, count }
    }

    fn head(&mut self, id: u64, wire_type: u8) -> Result<()> {
        *self.count += 1;
        check("a block", "FIELDS_MAX", *self.count, limits::FIELDS_MAX)?;
        varint(self.out, id);
        varint(self.out, u64::from(wire_type));
        Ok(())
    }
}

impl FieldWriter for Fields<'_> {
    type Error = Error;

    fn begin(
        &mut self,
        record: &'static str,
        specs: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<()> {
        // A reader would take such a field for the known one.
        match unknown.iter().find(|field| specs.iter().any(|spec| spec.id == field.id)) {
            Some(field) => Err(Error::KnownField { record, id: field.id }),
            None => Ok(()),
        }
    }

    fn uint(&mut self, id: u64, _name: &'static str, value: u64) -> Result<()> {
        self.head(id, wire::VARINT)?;
        varint(self.out, value);
        Ok(())
    }

    fn code(
        &mut self,
        id: u64,
        name: &'static str,
        code: u8,
        _: Option<&'static str>,
    ) -> Result<()> {
        self.uint(id, name, u64::from(code))
    }

    fn text(&mut self, id: u64, name: &'static str, value: &str) -> Result<()> {
        check(name, "TEXT_BYTES_MAX", value.len() as u64, limits::TEXT_BYTES_MAX)?;
        self.head(id, wire::BYTES)?;
        length_prefixed(self.out, value.as_bytes());
        Ok(())
    }

    fn bytes(&mut self, id: u64, name: &'static str, value: &Bytes<'_>) -> Result<()> {
        check(name, "BODY_BYTES_MAX", value.len() as u64, limits::BODY_BYTES_MAX)?;
        self.head(id, wire::BYTES)?;
        length_prefixed(self.out, value.as_slice());
        Ok(())
    }

    fn records<'a, T: Record<'a>>(
        &mut self,
        id: u64,
        name: &'static str,
        value: &[T],
    ) -> Result<()> {
        let depth = self.depth + 1;
        for record in value {
            check(name, "DEPTH_MAX", u64::from(depth), u64::from(limits::DEPTH_MAX))?;
            self.head(id, wire::NESTED)?;
            let mut nested = Vec::new();
            let level =
                &mut Fields { out: &mut nested, depth, unknown_below: 0, count: self.count };
            record.write(level)?;
            length_prefixed(self.out, &nested);
        }
        Ok(())
    }

    fn unknown(&mut self, fields: &[UnknownField<'_>], before: Option<u64>) -> Result<()> {
        let due = |field: &&UnknownField<'_>| {
            field.id >= self.unknown_below && before.is_none_or(|before| field.id < before)
        };
        let mut due: Vec<_> = fields.iter().filter(due).collect();
        due.sort_by_key(|field| field.id);
        self.unknown_below = before.unwrap_or(u64::MAX);
        for field in due {
            match &field.value {
                UnknownValue::Varint(value) => self.uint(field.id, "", *value)?,
                UnknownValue::Bytes(bytes) => self.bytes(field.id, "an unknown field", bytes)?,
                UnknownValue::Nested(bytes) => {
                    self.head(field.id, wire::NESTED)?;
                    length_prefixed(self.out, bytes.as_slice());
                }
            }
        }
        Ok(())
    }
}
