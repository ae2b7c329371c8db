//! What sessions of agents have in common: a file of JSON lines, of which some are messages.

use serde_json::value::RawValue;

use crate::build::Builder;
use crate::json::{Line, Source};
use crate::{Error, Format, ImportResult, Result};

/// Makes blocks of the lines of a session. `begin` is given all of them, and makes what is
/// then given each value: it keeps what is no message, and says whether this is a line of
/// the format for certain.
///
/// A line that is no JSON is kept and warned of: sessions are cut where programs end.
pub(crate) fn import<Read: FnMut(&mut Builder, &RawValue) -> bool>(
    format: Format,
    looked_for: &'static str,
    bytes: &[u8],
    begin: impl FnOnce(&[Line<'_>]) -> Read,
) -> Result<ImportResult> {
    let source = Source::new(bytes)?;
    let lines = source.lines();
    let mut read = begin(&lines);
    let mut builder = Builder::new(format);
    let (mut is_one, mut wrong) = (false, None);
    for line in lines {
        builder.at_line(source.line(line.text));
        match line.value {
            Ok(value) => is_one |= read(&mut builder, value),
            Err(error) => {
                // The builder says the line.
                builder.warn(Error { line: 0, column: 0, ..error.clone() }.to_string());
                builder.aside("line", line.text);
                wrong = wrong.or(Some(error));
            }
        }
    }
    match wrong {
        _ if is_one => Ok(builder.finish()),
        Some(error) => Err(error),
        None => Err(Error::looked_for(format, looked_for)),
    }
}
