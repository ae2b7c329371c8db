//! The fields of a protocol-buffer message, borrowed.

use std::fmt;

/// A field's value. Fixed 64-bit numbers are passed over: no message read here
/// has one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Float(f32),
    Other,
}

/// Where a message breaks off or makes no sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Malformed {
    what: &'static str,
    offset: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

/// Reads field after field. `base` is where the message begins in the file.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    len: usize,
    base: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8], base: usize) -> Self {
        Self { rest: message, len: message.len(), base }
    }

    /// Where the next byte is in the file.
    pub(super) fn offset(&self) -> usize {
        self.base + self.len - self.rest.len()
    }

    fn error(&self, what: &'static str) -> Malformed {
        Malformed { what, offset: self.offset() }
    }

    /// The next field's number and value; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let len = self.number()?;
                let len = usize::try_from(len).map_err(|_| self.error("a length too large"))?;
                Value::Bytes(self.take(len)?)
            }
            5 => {
                let bytes = self.take(4)?.try_into().map_err(|_| self.error("an odd number"))?;
                Value::Float(f32::from_le_bytes(bytes))
            }
            _ => return Err(self.error("an unknown wire type")),
        };
        Ok(Some((tag >> 3, value)))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or_else(|| {
            self.error("the file breaks off inside a field, or its length is wrong,")
        })?;
        self.rest = rest;
        Ok(head)
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number of more than ten bytes"))
    }
}
