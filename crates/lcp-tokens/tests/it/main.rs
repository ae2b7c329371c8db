//! Counts against the requirements, and against the tokenizer itself.

#[cfg(feature = "cache")]
mod cached;
#[cfg(feature = "tiktoken")]
mod counter;
#[cfg(feature = "tiktoken")]
mod exact;
#[cfg(feature = "tiktoken")]
mod examples;
#[cfg(feature = "tokenizer-files")]
mod files;
mod heuristic;
#[cfg(feature = "tiktoken")]
mod ids;
#[cfg(feature = "tiktoken")]
mod limits;
mod models;
#[cfg(feature = "tiktoken")]
mod python;
mod scaled;
#[cfg(feature = "tiktoken")]
mod tiktoken;

/// The names that flags take give estimators with those names.
#[test]
fn every_tokenizer_name_resolves() {
    for name in lcp_tokens::TOKENIZER_NAMES {
        assert_eq!(lcp_tokens::tokenizer_by_name(name).unwrap().name(), *name);
    }
    let error = lcp_tokens::tokenizer_by_name("gpt-4").err().unwrap().to_string();
    assert!(error.contains("\"gpt-4\"") && error.contains("heuristic"), "{error}");
}
