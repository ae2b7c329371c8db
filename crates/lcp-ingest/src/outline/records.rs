//! Outlines of tables and lists of records: the header or the keys, the first records, and the
//! number of records (RFC 0013 §2).

use std::fmt;

use lcp_types::{DataFormat, RecordForm};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::options::MARKER;

/// The number of records that are included.
const SHOWN: usize = 5;

/// The number of records whose keys are collected. Later records rarely have further keys.
const SAMPLED: usize = 100;

/// The number of bytes that are included of a record, and of a header or a list of keys.
const RECORD_BYTES_MAX: usize = 400;
const HEADER_BYTES_MAX: usize = 2_000;

/// Returns the outline of structured data, or `None` if it has no records.
pub(super) fn outline(format: DataFormat, text: &str) -> Option<String> {
    let form = RecordForm::detect(format, text)?;
    let mut records = form.records(text).map(|range| text.get(range).unwrap_or_default());
    let mut sample: Vec<_> = records.by_ref().take(SAMPLED).collect();
    let count = sample.len() + records.count() - form.header_records();
    let rest = sample.split_off(form.header_records());
    let (unit, header) = match form {
        RecordForm::Table { .. } => ("row", sample.first().map(|header| (*header).to_owned())),
        _ => ("record", keys(&rest).map(|keys| format!("keys: {keys}"))),
    };
    let mut lines: Vec<_> = header
        .iter()
        .map(|header| cut(header.trim_start_matches('\u{feff}'), HEADER_BYTES_MAX))
        .collect();
    lines.extend(rest.iter().take(SHOWN).map(|record| cut(record, RECORD_BYTES_MAX)));
    let more = count - rest.len().min(SHOWN);
    let plural = if count == 1 { "" } else { "s" };
    lines.push(match more {
        0 => format!("{count} {unit}{plural}"),
        more => format!("{MARKER} {more} more {unit}s, {count} in total"),
    });
    Some(lines.join("\n"))
}

/// Returns the keys of objects, in the order of their first occurrence.
fn keys(records: &[&str]) -> Option<String> {
    let mut keys: Vec<String> = Vec::new();
    for record in records {
        let Ok(Keys(all)) = serde_json::from_str(record) else { continue };
        for key in all {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    (!keys.is_empty()).then(|| keys.join(", "))
}

/// The keys of a JSON object, in the order of the text.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(Keys(keys))
    }
}

/// Cuts a text that is too long.
fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let end = ends.take_while(|at| *at <= bytes_max).last().unwrap_or_default();
    format!("{}{MARKER}", &text[..end])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn table_has_header_first_rows_and_count() {
        let rows = (1..=50).map(|id| format!("{id},\"name\n{id}\"\n")).collect::<Vec<_>>().concat();
        let text = outline(DataFormat::Csv, &format!("id,name\n{rows}")).unwrap();
        expect![[r#"
            id,name
            1,"name
            1"
            2,"name
            2"
            3,"name
            3"
            4,"name
            4"
            5,"name
            5"
            … 45 more rows, 50 in total"#]]
        .assert_eq(&text);
        let small = outline(DataFormat::Csv, "id\n7\n").unwrap();
        assert_eq!(small, "id\n7\n1 row");
        assert_eq!(outline(DataFormat::Csv, "id\n"), None);
    }

    #[test]
    fn records_have_keys_in_the_order_of_the_text() {
        let lines =
            (0..200).map(|id| format!("{{\"id\":{id},\"at\":[]}}\n")).collect::<Vec<_>>().concat();
        let text = outline(DataFormat::Json, &(lines + "{\"extra\":1}\n")).unwrap();
        assert!(text.starts_with("keys: id, at\n{\"id\":0,\"at\":[]}\n"), "{text}");
        assert!(text.ends_with("\n… 196 more records, 201 in total"), "{text}");
        let array = outline(DataFormat::Json, "[{\"b\": 1},\n 2, {\"a\": 1}]").unwrap();
        assert_eq!(array, "keys: b, a\n{\"b\": 1}\n2\n{\"a\": 1}\n3 records");
    }

    #[test]
    fn long_headers_and_records_are_cut() {
        let text = format!("{}\n{}\n", "é,".repeat(9_000), "x".repeat(9_000));
        let outline = outline(DataFormat::Csv, &text).unwrap();
        assert!(outline.len() < HEADER_BYTES_MAX + RECORD_BYTES_MAX + 30);
        assert_eq!(outline.matches(MARKER).count(), 2);
    }
}
