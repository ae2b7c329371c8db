//! Decoding of queries.

use super::*;

#[test]
fn query_values_are_percent_decoded() {
    let input = parse_query("model=gpt%2D4o&encoding=o200k%5fbase&mode=%6dinimal").unwrap();
    assert_eq!(input.model.as_deref(), Some("gpt-4o"));
    assert_eq!(input.encoding.as_deref(), Some("o200k_base"));
    assert_eq!(input.mode.0, OutputMode::Minimal);
    assert_eq!(decode("a+b%25%C3%BC").as_deref(), Some("a+b%\u{fc}"));
    for wrong in ["%", "%4", "%4x", "%+4", "%FF"] {
        assert_eq!(decode(wrong), None, "{wrong}");
    }
}
