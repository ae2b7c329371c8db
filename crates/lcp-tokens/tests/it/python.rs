//! Our counts against those of Python's tiktoken, which are kept in
//! `fixtures/tiktoken.json`: words of many languages, text that was made to
//! hurt, long runs. The ignored test `differential` writes the file, from
//! rank files whose SHA-256 Python's tiktoken knows, and compares on far more
//! text.

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../fixtures/tiktoken.json")).unwrap()
}

#[test]
fn counts_match_python_tiktoken() {
    let fixtures = fixtures();
    let names = fixtures["encodings"].as_array().unwrap();
    let encodings: Vec<_> =
        names.iter().map(|name| Encoding::from_name(name.as_str().unwrap()).unwrap()).collect();
    assert_eq!(encodings, Encoding::ALL);
    for row in fixtures["texts"].as_array().unwrap() {
        let times = row.get("times").map_or(1, |times| times.as_u64().unwrap());
        let text = row["text"].as_str().unwrap().repeat(usize::try_from(times).unwrap());
        let expected = row["counts"].as_array().unwrap();
        let expected: Vec<_> = expected.iter().map(|count| count.as_u64().unwrap()).collect();
        let counts: Vec<_> = encodings
            .iter()
            .map(|encoding| u64::from(Tiktoken::new(*encoding).estimate(&text)))
            .collect();
        assert_eq!(counts, expected, "{row}");
    }
}

/// The file is worth comparing with: many texts, with what is hard among them,
/// and counts that differ between encodings.
#[test]
fn fixtures_cover_hard_texts() {
    let fixtures = fixtures();
    let rows = fixtures["texts"].as_array().unwrap();
    assert!(rows.len() >= 500, "{}", rows.len());
    let has = |part: &str| rows.iter().any(|row| row["text"].as_str().unwrap().contains(part));
    for part in
        ["<|endoftext|>", "'ſ", "\r\n", "\u{85}", "\u{2028}", "ǅ", "ʰ", "½", "漢AB", "\u{200d}"]
    {
        assert!(has(part), "{part:?}");
    }
    for (one, other) in [(0, 1), (1, 3), (3, 4)] {
        let differing = rows.iter().filter(|row| row["counts"][one] != row["counts"][other]);
        assert!(differing.count() >= 20, "{one} {other}");
    }
    // The ranks that these counts come from, by file.
    assert_eq!(fixtures["ranks"].as_object().unwrap().len(), 4);
}
