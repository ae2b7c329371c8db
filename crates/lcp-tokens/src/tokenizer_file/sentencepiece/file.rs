//! Reads the model file, a protocol-buffer message `ModelProto`.

use std::collections::HashSet;

use super::super::charsmap::Charsmap;
use super::super::{TokenizerFileError, TokenizerFileFormat};
use super::normalize::{Normalizer, SPACE, Side, Symbols};

/// The maximum length of a piece in bytes. Longer pieces would make counting slow, and real ones
/// are much shorter.
const PIECE_BYTES_MAX: usize = 4096;

/// The type of a piece. The file contains it as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl Kind {
    /// Returns whether this piece can occur in text.
    pub(super) fn is_matched(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined | Self::Unused)
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) score: f32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Unigram,
    Bpe,
}

/// The parts of the file that are needed for counting.
#[derive(Debug)]
pub(super) struct File {
    pub(super) pieces: Vec<Entry>,
    pub(super) algorithm: Algorithm,
    pub(super) byte_fallback: bool,
    side: Side,
    charsmap: Option<Charsmap>,
    dummy_prefix: bool,
    remove_extra_spaces: bool,
    space: char,
}

impl File {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, TokenizerFileError> {
        let mut file = Self {
            pieces: Vec::new(),
            algorithm: Algorithm::Unigram,
            byte_fallback: false,
            side: Side::Start,
            charsmap: None,
            dummy_prefix: true,
            remove_extra_spaces: true,
            space: SPACE,
        };
        let mut fields = Fields::new(bytes, 0);
        while let Some((field, value)) = fields.next()? {
            let Value::Bytes(message) = value else { continue };
            let inner = Fields::new(message, fields.offset() - message.len());
            match field {
                1 => file.piece(inner)?,
                2 => file.trainer(inner)?,
                3 => file.normalizer(inner)?,
                _ => {}
            }
        }
        file.check()?;
        Ok(file)
    }

    fn piece(&mut self, mut fields: Fields<'_>) -> Result<(), TokenizerFileError> {
        let place = self.pieces.len();
        let wrong = |what: &str| broken(format!("piece {place} {what}"));
        let mut entry = Entry { text: String::new(), score: 0.0, kind: Kind::Normal };
        while let Some((field, value)) = fields.next()? {
            match (field, value) {
                (1, Value::Bytes(text)) => {
                    if text.len() > PIECE_BYTES_MAX {
                        return Err(wrong("is longer than 4096 bytes"));
                    }
                    let text = std::str::from_utf8(text).map_err(|_| wrong("is not UTF-8"))?;
                    text.clone_into(&mut entry.text);
                }
                (2, Value::Float(score)) if score.is_finite() => entry.score = score,
                (2, _) => return Err(wrong("has a score that is not a number")),
                (3, Value::Number(kind)) => {
                    entry.kind = match kind {
                        1 => Kind::Normal,
                        2 => Kind::Unknown,
                        3 => Kind::Control,
                        4 => Kind::UserDefined,
                        5 => Kind::Unused,
                        6 => Kind::Byte,
                        _ => return Err(wrong("has an unknown type")),
                    }
                }
                _ => {}
            }
        }
        if entry.text.is_empty() {
            return Err(wrong("is empty"));
        }
        self.pieces.push(entry);
        Ok(())
    }

    fn trainer(&mut self, mut fields: Fields<'_>) -> Result<(), TokenizerFileError> {
        while let Some((field, value)) = fields.next()? {
            match (field, value) {
                (3, Value::Number(1)) => self.algorithm = Algorithm::Unigram,
                (3, Value::Number(2)) => self.algorithm = Algorithm::Bpe,
                (3, Value::Number(kind)) => {
                    let kind = match kind {
                        3 => "word".to_owned(),
                        4 => "char".to_owned(),
                        other => other.to_string(),
                    };
                    return Err(FORMAT.unsupported("model", kind));
                }
                (24, Value::Number(0)) => self.side = Side::Start,
                (24, Value::Number(_)) => self.side = Side::End,
                (35, Value::Number(flag)) => self.byte_fallback = flag != 0,
                _ => {}
            }
        }
        Ok(())
    }

    fn normalizer(&mut self, mut fields: Fields<'_>) -> Result<(), TokenizerFileError> {
        while let Some((field, value)) = fields.next()? {
            match (field, value) {
                (2, Value::Bytes([])) => self.charsmap = None,
                (2, Value::Bytes(table)) => {
                    let wrong = |what| broken(format!("replacement table: {what}"));
                    self.charsmap = Some(Charsmap::new(table).map_err(wrong)?);
                }
                (3, Value::Number(flag)) => self.dummy_prefix = flag != 0,
                (4, Value::Number(flag)) => self.remove_extra_spaces = flag != 0,
                (5, Value::Number(flag)) => self.space = if flag == 0 { ' ' } else { SPACE },
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses files that the original library refuses too.
    fn check(&self) -> Result<(), TokenizerFileError> {
        if self.pieces.is_empty() {
            return Err(broken("no pieces"));
        }
        let of = |kind| self.pieces.iter().filter(move |piece| piece.kind == kind);
        if of(Kind::Unknown).count() != 1 {
            return Err(broken("expected exactly one unknown piece"));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.pieces.iter().find(|piece| !seen.insert(&piece.text)) {
            return Err(broken(format!("duplicate piece {:?}", twice.text)));
        }
        if !of(Kind::Normal).any(|_| true) {
            return Err(broken("no normal pieces"));
        }
        let bytes: HashSet<_> = of(Kind::Byte).map(|piece| &piece.text[..]).collect();
        let all = (0..=u8::MAX).all(|byte| bytes.contains(&format!("<0x{byte:02X}>")[..]));
        match (self.byte_fallback, bytes.len()) {
            (false, 0) => Ok(()),
            (false, _) => Err(broken("byte pieces without byte fallback")),
            (true, 256) if all => Ok(()),
            (true, _) => Err(broken("byte fallback without a piece for each byte")),
        }
    }

    pub(super) fn symbols(&self) -> Symbols {
        let user = self.pieces.iter().filter(|piece| piece.kind == Kind::UserDefined);
        Symbols::new(user.map(|piece| &piece.text[..]))
    }

    pub(super) fn into_normalizer(self) -> Normalizer {
        Normalizer {
            symbols: self.symbols(),
            charsmap: self.charsmap,
            dummy: self.dummy_prefix.then_some(self.side),
            remove_extra_spaces: self.remove_extra_spaces,
            space: self.space,
        }
    }
}

const FORMAT: TokenizerFileFormat = TokenizerFileFormat::SentencePiece;

fn broken(reason: impl std::fmt::Display) -> TokenizerFileError {
    FORMAT.broken(reason)
}

/// The value of a field. Fixed 64-bit numbers are skipped, because these messages do not have any.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Float(f32),
    Other,
}

/// A reader of fields. `base` is the offset of the message in the file.
struct Fields<'a> {
    rest: &'a [u8],
    len: usize,
    base: usize,
}

impl<'a> Fields<'a> {
    fn new(message: &'a [u8], base: usize) -> Self {
        Self { rest: message, len: message.len(), base }
    }

    /// Returns the offset of the next byte in the file.
    fn offset(&self) -> usize {
        self.base + self.len - self.rest.len()
    }

    fn error(&self, what: &str) -> TokenizerFileError {
        broken(format!("{what} at byte {}", self.offset()))
    }

    /// Returns the number and value of the next field; `None` at the end.
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, TokenizerFileError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let len = self.number()?;
                let len = usize::try_from(len).map_err(|_| self.error("length too large"))?;
                Value::Bytes(self.take(len)?)
            }
            5 => {
                let bytes = self.take(4)?.try_into().map_err(|_| self.error("invalid float"))?;
                Value::Float(f32::from_le_bytes(bytes))
            }
            _ => return Err(self.error("unknown wire type")),
        };
        Ok(Some((tag >> 3, value)))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], TokenizerFileError> {
        let (head, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| self.error("truncated field or wrong length"))?;
        self.rest = rest;
        Ok(head)
    }

    fn number(&mut self) -> Result<u64, TokenizerFileError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("varint longer than ten bytes"))
    }
}
