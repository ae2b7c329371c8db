//! The token counter of the requirements (seed 004, `TokenCounterTests`), test
//! by test. The numbers are those of Python's tiktoken 0.14.0.

use lcp_tokens::{Encoding, Models, Tiktoken, TokenEstimator, count_batch, tokenizer_by_name};

const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);
const CL100K: Tiktoken = Tiktoken::new(Encoding::Cl100kBase);

/// Compares with the counts of `o200k_base` and `cl100k_base`.
#[track_caller]
fn check(text: &str, expected: [u32; 2]) {
    assert_eq!([O200K, CL100K].map(|counter| counter.estimate(text)), expected, "{text:?}");
}

#[test]
fn should_count_empty_string() {
    check("", [0, 0]);
    for name in lcp_tokens::TOKENIZER_NAMES {
        assert_eq!(tokenizer_by_name(name).unwrap().estimate(""), 0, "{name}");
    }
}

#[test]
fn should_count_single_word() {
    check("hello", [1, 1]);
    check(" hello", [1, 1]);
    check("HELLO", [2, 2]);
    check("Budget", [1, 1]);
    check("tokenization", [2, 2]);
    check("internationalization", [2, 2]);
}

#[test]
fn should_count_sentence() {
    check("The quick brown fox jumps over the lazy dog.", [10, 10]);
    check("It's what we'd said: DON'T.", [7, 10]);
    check("¿Dónde está el presupuesto?", [6, 9]);
}

#[test]
fn should_count_paragraph() {
    let paragraph = "\
A budget is a promise. What a model may read is counted before it is sent,
and what does not fit is left out in an order that the writer chose.

Counting by rule of thumb breaks that promise: text with many names, numbers
such as 1,048,576 or marks like \"->\" takes more tokens than its length tells.
";
    check(paragraph, [72, 72]);
    // It ends with a newline, so that copies of it add up.
    check(&paragraph.repeat(100), [7_200, 7_200]);
}

#[test]
fn should_count_code() {
    check("fn main() {\n    let budget = 8_000;\n    println!(\"{budget}\");\n}\n", [19, 19]);
    let python = "def fits(text: str, limit: int = 4096) -> bool:\n    \
                  return count(text) <= limit  # tokens\n";
    check(python, [28, 28]);
    let windows =
        "for (let i = 0; i < items.length; i++) {\r\n\tsum += items[i]?.size ?? 0;\r\n}\r\n";
    check(windows, [27, 27]);
}

#[test]
fn should_handle_whitespace() {
    for one in [" ", "  ", "    ", "\t", "\n", "\r\n", "\n\n\n"] {
        check(one, [1, 1]);
    }
    check(" \n \n ", [2, 2]);
    // The last space goes to the word, and a newline ends a piece.
    check("    x", [2, 2]);
    check("x    ", [2, 2]);
    check("a\n  ", [3, 3]);
    check("a\n  b", [4, 4]);
    check("\u{a0}\u{3000}\u{2028}", [3, 4]);
    check(&" ".repeat(81), [2, 1]);
    check(&"\n".repeat(100), [7, 4]);
}

#[test]
fn should_handle_unicode() {
    check("Ünïcödé ßtraße", [9, 11]);
    check("日本語のテキスト", [6, 8]);
    check("Привет, мир", [4, 6]);
    check("שלום עולם", [2, 10]);
    check("नमस्ते", [4, 6]);
    // The same to a reader, but not the same characters.
    check("é", [1, 1]);
    check("e\u{301}", [2, 2]);
    check("ǅ ʰ ª", [7, 7]);
    check("½ Ⅷ ٣", [6, 7]);
    check("漢AB", [2, 3]);
    check("a'ſ", [3, 4]);
    check("\u{fffd}", [1, 1]);
    check("\0", [1, 1]);
}

#[test]
fn should_handle_emojis() {
    check("🦀", [3, 3]);
    check("🎉🎉🎉", [6, 9]);
    check("ok 👍", [2, 3]);
    // With a tone of skin, joined to a family, a flag, a variation.
    check("👍🏽", [3, 6]);
    check("👩‍👩‍👧", [8, 13]);
    check("🇸🇪", [4, 6]);
    check("❤️", [1, 3]);
}

#[test]
fn should_handle_long_identifiers() {
    check("getElementById", [4, 2]);
    check("XMLHttpRequestFactoryBuilder", [5, 4]);
    check("this_is_a_very_long_identifier_in_snake_case", [11, 11]);
    check("SCREAMING_CONSTANT_VALUE_MAX", [6, 6]);
    check("calculateMaximumTokenBudgetForConversationHistoryWithReservedResponse", [10, 10]);
    check("550e8400-e29b-41d4-a716-446655440000", [18, 18]);
    check(&"a".repeat(64), [8, 8]);
    check(&"x".repeat(10_000), [1_250, 1_250]);
}

fn lines(n: u32) -> String {
    (0..n).flat_map(|i| ["line ".to_owned(), i.to_string(), " of the file\n".to_owned()]).collect()
}

#[cfg(feature = "cache")]
#[test]
fn should_cache_repeated_counts() {
    use lcp_tokens::{CachedEstimator, CountCache};
    use std::sync::Arc;

    let cache = Arc::new(CountCache::new(1 << 20));
    let counter = CachedEstimator::new(O200K, Arc::clone(&cache));
    let (text, other) = (lines(20), lines(200));
    assert_eq!(counter.estimate(&text), 140);
    assert_eq!(cache.hits_and_misses(), (0, 1));
    for _ in 0..5 {
        assert_eq!(counter.estimate(&text), 140);
    }
    assert_eq!(cache.hits_and_misses(), (5, 1));
    assert_eq!(counter.estimate(&other), 1_400);
    assert_eq!(cache.hits_and_misses(), (5, 2));

    // Another encoding has counts of its own.
    let emoji = "👍🏽\n".repeat(40);
    let cl100k = CachedEstimator::new(CL100K, Arc::clone(&cache));
    for _ in 0..2 {
        assert_eq!((counter.estimate(&emoji), cl100k.estimate(&emoji)), (160, 280));
    }
    assert_eq!(cache.hits_and_misses(), (7, 4));
    assert_eq!(cache.len(), 4);
}

#[test]
fn should_count_batch() {
    let texts = [String::new(), "hello".into(), lines(1), lines(5), lines(20), lines(200)];
    assert_eq!(count_batch(&O200K, &texts), [0, 1, 7, 35, 140, 1_400]);
    assert_eq!(count_batch(&CL100K, &texts), [0, 1, 7, 35, 140, 1_400]);
    let p50k = Tiktoken::new(Encoding::P50kBase);
    assert_eq!(count_batch(&p50k, &texts), [0, 1, 6, 30, 120, 1_200]);
    assert!(count_batch::<_, &str>(&O200K, &[]).is_empty());

    // As many as there are, in their order, through a pointer too.
    let many: Vec<String> = (0..2_000).map(|n| lines(n % 40)).collect();
    let expected: Vec<u32> = (0..2_000).map(|n| 7 * (n % 40)).collect();
    assert_eq!(count_batch(&*tokenizer_by_name("o200k_base").unwrap(), &many), expected);
}

/// The encoding that our table gives a model counts as the one that
/// `tiktoken-rs` gives it, and as Python's tiktoken does.
#[test]
fn should_match_model_tokenizer() {
    let text = "// “Bonjour” — 你好, Привет 🌍\n\
                let total_tokens = countTokens(\"don't\", 1024);\n}\n\n<div>\n";
    let (o200k, cl100k, older) = (29, 33, 49);
    let models = [
        ("gpt-4o", o200k),
        ("gpt-4o-mini", o200k),
        ("gpt-4.1", o200k),
        ("gpt-5", o200k),
        ("o1", o200k),
        ("o3-mini", o200k),
        ("o4-mini", o200k),
        ("gpt-4", cl100k),
        ("gpt-4-32k", cl100k),
        ("gpt-4-turbo", cl100k),
        ("gpt-3.5-turbo", cl100k),
        ("text-embedding-3-small", cl100k),
        ("text-davinci-003", older),
        ("davinci", older),
    ];
    let table = Models::builtin();
    for (name, expected) in models {
        let model = table.find(name).unwrap();
        let counter = tokenizer_by_name(model.encoding.as_deref().unwrap()).unwrap();
        let oracle = tiktoken_rs::bpe_for_model(name).unwrap();
        assert!(counter.is_exact(), "{name}");
        assert_eq!(counter.estimate(text), expected, "{name}");
        assert_eq!(oracle.count_ordinary(text), expected as usize, "{name}");
        // One more, on which the older two differ.
        let indented = "\n        return  0\n";
        assert_eq!(counter.estimate(indented) as usize, oracle.count_ordinary(indented), "{name}");
    }
}
