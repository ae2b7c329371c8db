//! The fields of a body, as a [`FieldReader`] of `lcp_types::codec`.

use std::borrow::Cow;

use lcp_types::codec::{FieldReader, FieldSpec, Record};
use lcp_types::wire::WireType;
use lcp_types::{CowBytes, UnknownField, UnknownValue, limits};

use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;

/// The resources that a block may still use, shared by all nesting levels of its fields.
pub(crate) struct Quota {
    fields: u64,
    fields_max: u64,
    /// The remaining memory in bytes for records and unknown fields.
    pub(crate) memory: u64,
    memory_max: u64,
}

impl Quota {
    /// Creates a quota with `memory` bytes remaining of `memory_max`.
    pub(crate) fn new(fields_max: u64, memory: u64, memory_max: u64) -> Self {
        Self { fields: fields_max, fields_max, memory, memory_max }
    }

    fn take_field(&mut self) -> Result<(), ErrorKind> {
        let Some(left) = self.fields.checked_sub(1) else {
            let (found, max) = (self.fields_max.saturating_add(1), self.fields_max);
            return Err(ErrorKind::TooLarge { limit: "FIELDS_MAX", found, max });
        };
        self.fields = left;
        Ok(())
    }

    fn take_memory(&mut self, bytes: u64) -> Result<(), ErrorKind> {
        let Some(left) = self.memory.checked_sub(bytes) else {
            let found = (self.memory_max - self.memory).saturating_add(bytes);
            return Err(block_memory(found, self.memory_max));
        };
        self.memory = left;
        Ok(())
    }
}

/// Returns the error for blocks that use more memory than the size of the input allows.
pub(crate) fn block_memory(found: u64, max: u64) -> ErrorKind {
    ErrorKind::TooLarge { limit: "BLOCK_MEMORY_BYTES_MAX", found, max }
}

/// The fields of a block or nested record. [`limits::DEPTH_MAX`] bounds `depth`.
pub(crate) struct Fields<'a, 'c> {
    rest: Reader<'a>,
    quota: &'c mut Quota,
    depth: u32,
    record: &'static str,
    field: FieldSpec,
    /// The offset of the current field, for errors.
    start: u64,
    payload: FieldPayload<'a>,
    unknown: Vec<UnknownField<'a>>,
}

#[derive(Clone, Copy)]
enum FieldPayload<'a> {
    Varint(u64),
    Window(Reader<'a>),
}

const NO_FIELD: FieldSpec = FieldSpec { id: 0, name: "", wire: WireType::Varint, required: false };

impl<'a, 'c> Fields<'a, 'c> {
    pub(crate) fn new(
        rest: Reader<'a>,
        record: &'static str,
        quota: &'c mut Quota,
        depth: u32,
    ) -> Self {
        Self {
            start: rest.offset(),
            rest,
            quota,
            depth,
            record,
            field: NO_FIELD,
            payload: FieldPayload::Varint(0),
            unknown: Vec::new(),
        }
    }

    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.start)
    }

    fn window(&self) -> Result<Reader<'a>> {
        match self.payload {
            FieldPayload::Window(window) => Ok(window),
            // `next_field` has checked the wire type, so this arm is unreachable.
            FieldPayload::Varint(_) => Err(self.fail(ErrorKind::WrongWireType {
                field: self.field.name,
                expected: self.field.wire as u8,
                found: WireType::Varint as u8,
            })),
        }
    }
}

impl<'a> FieldReader<'a> for Fields<'a, '_> {
    type Error = Error;

    fn next_field(&mut self, specs: &'static [FieldSpec]) -> Result<Option<u64>> {
        while !self.rest.is_empty() {
            self.start = self.rest.offset();
            self.quota.take_field().map_err(|kind| self.fail(kind))?;
            let id = self.rest.varint(self.record)?;
            let code = self.rest.varint(self.record)?;
            let Some(wire) = WireType::from_code(code) else {
                return Err(self.fail(ErrorKind::UnknownWireType { found: code }));
            };
            let known = specs.iter().find(|spec| spec.id == id);
            if let Some(spec) = known {
                self.field = *spec;
                if spec.wire != wire {
                    let (field, expected, found) = (spec.name, spec.wire as u8, wire as u8);
                    return Err(self.fail(ErrorKind::WrongWireType { field, expected, found }));
                }
            }
            self.payload = match wire {
                WireType::Varint => FieldPayload::Varint(self.rest.varint(self.record)?),
                WireType::Bytes | WireType::Nested => {
                    FieldPayload::Window(self.rest.length_prefixed(self.record)?)
                }
            };
            if known.is_some() {
                return Ok(Some(id));
            }
            let value = match self.payload {
                FieldPayload::Varint(value) => UnknownValue::Varint(value),
                FieldPayload::Window(window) if wire == WireType::Nested => {
                    UnknownValue::Nested(window.rest().into())
                }
                FieldPayload::Window(window) => UnknownValue::Bytes(window.rest().into()),
            };
            let memory = limits::UNKNOWN_FIELD_MEMORY_BYTES;
            self.quota.take_memory(memory).map_err(|kind| self.fail(kind))?;
            self.unknown.push(UnknownField { id, value });
        }
        Ok(None)
    }

    fn uint(&mut self, max: u64) -> Result<u64> {
        match self.payload {
            FieldPayload::Varint(value) if value <= max => Ok(value),
            FieldPayload::Varint(found) => {
                Err(self.fail(ErrorKind::OutOfRange { field: self.field.name, found, max }))
            }
            FieldPayload::Window(_) => Err(self.fail(ErrorKind::WrongWireType {
                field: self.field.name,
                expected: WireType::Varint as u8,
                found: WireType::Bytes as u8,
            })),
        }
    }

    fn code(&mut self, _names: &'static [(u8, &'static str)]) -> Result<u8> {
        let code = self.uint(u64::from(u8::MAX))?;
        Ok(u8::try_from(code).unwrap_or(u8::MAX))
    }

    fn text(&mut self) -> Result<Cow<'a, str>> {
        let window = self.window()?;
        text(window, self.field.name, "TEXT_BYTES_MAX", limits::TEXT_BYTES_MAX)
    }

    fn bytes(&mut self) -> Result<CowBytes<'a>> {
        Ok(self.window()?.rest().into())
    }

    fn records<T: Record<'a>>(&mut self, into: &mut Vec<T>) -> Result<()> {
        let depth = self.depth + 1;
        if depth > limits::DEPTH_MAX {
            let (found, max) = (u64::from(depth), u64::from(limits::DEPTH_MAX));
            return Err(self.fail(ErrorKind::TooLarge { limit: "DEPTH_MAX", found, max }));
        }
        const { assert!(4 * size_of::<T>() as u64 <= limits::RECORD_MEMORY_BYTES) };
        let window = self.window()?;
        self.quota.take_memory(limits::RECORD_MEMORY_BYTES).map_err(|kind| self.fail(kind))?;
        let mut level = Fields::new(window, T::NAME, self.quota, depth);
        into.push(T::read(&mut level)?);
        Ok(())
    }

    fn missing(&self, field: &'static str) -> Error {
        self.rest.error(ErrorKind::MissingField { record: self.record, field })
    }

    fn take_unknown(&mut self) -> Result<Vec<UnknownField<'a>>> {
        Ok(std::mem::take(&mut self.unknown))
    }
}

/// Returns the window as borrowed text, after checks of its length and encoding.
pub(crate) fn text<'a>(
    window: Reader<'a>,
    field: &'static str,
    limit: &'static str,
    max: u64,
) -> Result<Cow<'a, str>> {
    let found = window.remaining() as u64;
    if found > max {
        return Err(window.error(ErrorKind::TooLarge { limit, found, max }));
    }
    match simdutf8::compat::from_utf8(window.rest()) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) => {
            let offset = window.offset() + error.valid_up_to() as u64;
            Err(Error::new(ErrorKind::NotUtf8 { field }, offset))
        }
    }
}
