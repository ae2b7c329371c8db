//! The records of structured data: the rows of a table, the lines of JSON Lines, the elements of a
//! JSON array (RFC 0013 §2).

use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::DataFormat;

/// The delimiters of tables. Of equal counts in the first line, the first one wins.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// The form of structured data that has at least two records.
///
/// ```
/// use lcp_types::{DataFormat, RecordForm};
///
/// let text = "name,note\nAda,\"two\nlines\"\n";
/// let form = RecordForm::detect(DataFormat::Csv, text).unwrap();
/// assert_eq!(form, RecordForm::Table { delimiter: b',' });
/// let records: Vec<_> = form.records(text).map(|range| &text[range]).collect();
/// assert_eq!(records, ["name,note", "Ada,\"two\nlines\""]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordForm {
    /// A table whose first record is the header. A record may have several lines.
    Table {
        /// The byte between two fields.
        delimiter: u8,
    },
    /// JSON objects or arrays, one on each line.
    JsonLines,
    /// One JSON array.
    JsonArray,
}

impl RecordForm {
    /// Detects the form of a text. Returns `None` if the format has no records, or if the text has
    /// less than two. The text may be invalid.
    #[must_use]
    pub fn detect(format: DataFormat, text: &str) -> Option<Self> {
        let form = match format {
            DataFormat::Csv => Self::Table { delimiter: delimiter(text) },
            DataFormat::Json => json_form(text)?,
            _ => return None,
        };
        form.records(text).nth(1).map(|_| form)
    }

    /// Returns the byte ranges of the records in a text of this form, without the white space and
    /// the commas between them.
    #[must_use]
    pub fn records(self, text: &str) -> Records<'_> {
        let bytes = text.as_bytes();
        let cursor = match self {
            Self::Table { delimiter } => {
                let reader = ReaderBuilder::new().delimiter(delimiter).build();
                Cursor::Table(Box::new(reader))
            }
            Self::JsonLines => Cursor::Lines,
            Self::JsonArray => Cursor::Elements,
        };
        let at = if self == Self::JsonArray { after_bracket(bytes) } else { 0 };
        Records { bytes, at, cursor }
    }

    /// Returns the number of records at the beginning that are a header: one for a table.
    #[must_use]
    pub fn header_records(self) -> usize {
        usize::from(matches!(self, Self::Table { .. }))
    }
}

/// The byte ranges of the records of a text. [`RecordForm::records`] creates it.
#[derive(Debug)]
pub struct Records<'t> {
    bytes: &'t [u8],
    at: usize,
    cursor: Cursor,
}

#[derive(Debug)]
enum Cursor {
    Table(Box<Reader>),
    Lines,
    Elements,
}

impl Iterator for Records<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.bytes.get(self.at..)?;
        match &mut self.cursor {
            Cursor::Table(reader) => {
                let record = next_row(reader, rest)?;
                self.at += record;
                // The reader skips empty lines, and may stop between `\r` and `\n`.
                let line_ends = |byte: &&u8| matches!(byte, b'\r' | b'\n');
                let row = &rest[..record];
                let before = row.iter().take_while(line_ends).count();
                let after = row[before..].iter().rev().take_while(line_ends).count();
                Some(self.at - record + before..self.at - after)
            }
            Cursor::Lines => loop {
                let rest = &self.bytes[self.at..];
                if rest.is_empty() {
                    return None;
                }
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let range = trimmed(self.bytes, self.at..self.at + end);
                self.at = (self.at + end + 1).min(self.bytes.len());
                if !range.is_empty() {
                    return Some(range);
                }
            },
            Cursor::Elements => {
                let between = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b',';
                let start = self.at + rest.iter().take_while(between).count();
                let end = start + value_len(&self.bytes[start..]);
                self.at = end;
                let range = trimmed(self.bytes, start..end);
                (!range.is_empty()).then_some(range)
            }
        }
    }
}

/// Returns the number of bytes up to the end of the next row; `None` if there is none.
fn next_row(reader: &mut Reader, bytes: &[u8]) -> Option<usize> {
    // Only the ends of rows matter, so the fields are overwritten.
    let (mut fields, mut ends) = ([0; 1 << 10], [0; 64]);
    let mut read = 0;
    loop {
        let (result, bytes_read, ..) = reader.read_record(&bytes[read..], &mut fields, &mut ends);
        read += bytes_read;
        match result {
            ReadRecordResult::Record => return Some(read),
            ReadRecordResult::End => return None,
            // At the end of the input, the reader expects an empty one.
            ReadRecordResult::InputEmpty
            | ReadRecordResult::OutputFull
            | ReadRecordResult::OutputEndsFull => {}
        }
    }
}

/// Returns the delimiter that occurs most often in the first line.
fn delimiter(text: &str) -> u8 {
    let line = text.split(['\n', '\r']).find(|line| !line.is_empty()).unwrap_or_default();
    let count = |delimiter: u8| line.bytes().filter(|byte| *byte == delimiter).count();
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

/// Returns the form of JSON with several values: an array, or several values of which the first one
/// is on one line.
fn json_form(text: &str) -> Option<RecordForm> {
    // Other white space is not allowed in JSON.
    let text = text.trim_ascii_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let (first, rest) = text.as_bytes().split_at(value_len(text.as_bytes()));
    if rest.trim_ascii_start().starts_with(b"{") || rest.trim_ascii_start().starts_with(b"[") {
        return (!first.contains(&b'\n')).then_some(RecordForm::JsonLines);
    }
    let is_array = first.starts_with(b"[") && rest.trim_ascii_start().is_empty();
    is_array.then_some(RecordForm::JsonArray)
}

/// Returns the offset after the bracket that opens an array.
fn after_bracket(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'[').map_or(bytes.len(), |at| at + 1)
}

/// Returns the length of the JSON value at the beginning. It ends after the bracket that closes it,
/// or before a comma or a bracket outside of it.
fn value_len(bytes: &[u8]) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' | b',' if depth == 0 => return at,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// Returns the range without white space at its ends.
fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &bytes[range.clone()];
    let start = range.start + (text.len() - text.trim_ascii_start().len());
    start..start + text.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(format: DataFormat, text: &str) -> Vec<&str> {
        let form = RecordForm::detect(format, text);
        form.map_or_else(Vec::new, |form| form.records(text).map(|at| &text[at]).collect())
    }

    #[test]
    fn rows_of_a_table_may_have_several_lines() {
        let rows = ["a,b", "1,\"x\n\"\"y\"\"\"", "2,", "3,z"];
        assert_eq!(records(DataFormat::Csv, &rows.join("\n")), rows);
        assert_eq!(records(DataFormat::Csv, &(rows.join("\r\n") + "\r\n")), rows);
        assert_eq!(records(DataFormat::Csv, &rows.join("\n\n\n")), rows);
        let long = "1,".repeat(2_000);
        assert_eq!(records(DataFormat::Csv, &format!("a,b\n{long}\n2")), ["a,b", &long, "2"]);
        // One row is no table.
        assert_eq!(records(DataFormat::Csv, "1,2,3\n"), [""; 0]);
        assert_eq!(records(DataFormat::Csv, ""), [""; 0]);
    }

    #[test]
    fn json_begins_after_white_space_of_json() {
        assert_eq!(records(DataFormat::Json, " \r\n\t[1, 2]"), ["1", "2"]);
        assert_eq!(records(DataFormat::Json, "\u{b}[1, 2]"), [""; 0]);
        assert_eq!(records(DataFormat::Json, "\u{a0}[1, 2]"), [""; 0]);
    }

    #[test]
    fn delimiter_is_detected_from_the_first_line() {
        for (text, wanted) in [("a;b;c\n1,5;2,5;3\n", b';'), ("a b\tc\n", b'\t'), ("a\n", b',')] {
            assert_eq!(delimiter(text), wanted, "{text:?}");
        }
        assert_eq!(records(DataFormat::Csv, "a\tb\n1\t\"x\ny\"\n"), ["a\tb", "1\t\"x\ny\""]);
    }

    #[test]
    fn elements_and_lines_of_json_are_records() {
        let json = |text| records(DataFormat::Json, text);
        assert_eq!(
            json("[{\"a\":\"]},\\\"\"},\n {\"b\":[1]} ,3]\n"),
            ["{\"a\":\"]},\\\"\"}", "{\"b\":[1]}", "3"]
        );
        assert_eq!(json("{\"a\":1}\r\n\n [2]\n"), ["{\"a\":1}", "[2]"]);
        // One value, invalid values, and values of several lines.
        for text in ["{\"a\":1}", "[1]", "[", "1\n2\n", "{\n}\n{\n}", "[1]]", ""] {
            assert_eq!(json(text), [""; 0], "{text}");
        }
        assert_eq!(json("[1,2"), ["1", "2"]);
    }
}
