//! The output of the decoder in the format of `fuzz/decoder.py`.

use std::convert::Infallible;
use std::fmt::Write;

use lcp_decoder::{DecodeOptions, Error, ErrorKind, Event, EventIter};
use lcp_types::codec::{FieldSpec, FieldWriter, Record};
use lcp_types::{Block, BlockContent, CowBytes, UnknownField, UnknownValue};
use serde_json::{Map, Value, json};

/// Returns the row of a pack, without the file name.
#[must_use]
pub fn row(pack: &[u8]) -> Value {
    match blocks(pack) {
        Ok(blocks) => json!({"result": "ok", "blocks": blocks}),
        Err(error) => {
            let result = match error.kind() {
                ErrorKind::TooLarge { .. } => "limit",
                ErrorKind::NoStore { .. } => "unread",
                _ => "malformed",
            };
            json!({"result": result, "code": error.code()})
        }
    }
}

fn blocks(pack: &[u8]) -> Result<Vec<Value>, Error> {
    let mut events = EventIter::new(pack, DecodeOptions::default());
    let mut blocks = Vec::new();
    while let Some(event) = events.next() {
        if let Event::Frame(frame) = event? {
            let flags = frame.flags;
            blocks.push(block(&events.decode(frame)?, flags));
        }
    }
    Ok(blocks)
}

fn block(block: &Block<'_>, flags: u8) -> Value {
    let mut row = Map::new();
    row.insert("type".to_owned(), block.block_type().code().into());
    row.insert("flags".to_owned(), flags.into());
    if let Some(summary) = &block.summary {
        row.insert("summary".to_owned(), hex(summary.as_bytes()));
    }
    if let BlockContent::Raw(raw) = &block.content {
        row.insert("body".to_owned(), hex(raw.body.as_slice()));
    } else {
        let mut fields = Rows::default();
        let Ok(_) = block.content.write(&mut fields);
        row.insert("fields".to_owned(), fields.sorted());
    }
    row.into()
}

fn hex(bytes: &[u8]) -> Value {
    let mut digits = "0x".to_owned();
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("a String takes all");
    }
    digits.into()
}

/// The fields of a record.
#[derive(Default)]
struct Rows(Vec<(u64, Value)>);

impl Rows {
    fn sorted(mut self) -> Value {
        self.0.sort_by_key(|(id, _)| *id);
        self.0.into_iter().map(|(id, value)| json!([id, value])).collect()
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the writers of fields return")]
    fn push(&mut self, id: u64, value: Value) -> Result<(), Infallible> {
        self.0.push((id, value));
        Ok(())
    }
}

impl FieldWriter for Rows {
    type Error = Infallible;

    fn begin(
        &mut self,
        _: &'static str,
        _: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<(), Infallible> {
        for field in unknown {
            let value = match &field.value {
                UnknownValue::Varint(number) => (*number).into(),
                UnknownValue::Bytes(bytes) => hex(bytes.as_slice()),
                UnknownValue::Nested(bytes) => json!({"nested": hex(bytes.as_slice())}),
            };
            self.push(field.id, value)?;
        }
        Ok(())
    }

    fn uint(&mut self, field: &FieldSpec, value: u64) -> Result<(), Infallible> {
        self.push(field.id, value.into())
    }

    fn code(&mut self, field: &FieldSpec, code: u8, _: Option<&str>) -> Result<(), Infallible> {
        self.push(field.id, code.into())
    }

    fn text(&mut self, field: &FieldSpec, value: &str) -> Result<(), Infallible> {
        self.push(field.id, hex(value.as_bytes()))
    }

    fn bytes(&mut self, field: &FieldSpec, value: &CowBytes<'_>) -> Result<(), Infallible> {
        self.push(field.id, hex(value.as_slice()))
    }

    fn records<'a, T: Record<'a>>(
        &mut self,
        field: &FieldSpec,
        value: &[T],
    ) -> Result<(), Infallible> {
        for record in value {
            let mut fields = Self::default();
            record.write(&mut fields)?;
            self.push(field.id, fields.sorted())?;
        }
        Ok(())
    }
}
