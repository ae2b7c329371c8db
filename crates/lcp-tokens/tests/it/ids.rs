//! Ids of tokens: against `tiktoken-rs`, back to text, and ids that no token has.

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator, UnknownToken};
use proptest::prelude::*;

use crate::exact::oracle;

/// More than the highest id of any encoding.
const IDS_END: u32 = 202_000;

fn any_tokenizer() -> impl Strategy<Value = Tiktoken> {
    prop::sample::select(Encoding::ALL).prop_map(Tiktoken::new)
}

fn encoding(tokenizer: Tiktoken) -> Encoding {
    Encoding::from_name(tokenizer.name()).unwrap()
}

/// Letters of several scripts, spaces and punctuation, also as one long piece.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "([a-zA-Z]{1,12}|[ \n\t]{1,4}|[0-9]{1,5}|[.,;(){}=/'-]{1,4}|[а-яéß]{1,9}|[一-十]{1,9}){0,60}",
        1 => "([ab]|[=-]|[一-丐]){500,900}",
        2 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn ids_match_tiktoken_and_the_count(text in any_text(), by in any_tokenizer()) {
        let ids = by.encode(&text);
        prop_assert_eq!(&ids, &oracle(encoding(by)).encode_ordinary(&text));
        prop_assert_eq!(ids.len(), by.estimate(&text) as usize);
        prop_assert_eq!(by.decode(&ids), Ok(text.into_bytes()));
    }

    /// The tokens end where `token_ends` says, also within characters.
    #[test]
    fn prefixes_of_ids_end_at_token_ends(text in any_text(), by in any_tokenizer()) {
        let ids = by.encode(&text);
        for (tokens, end) in (1..).zip(by.token_ends(&text)) {
            prop_assert_eq!(by.decode(&ids[..tokens]), Ok(text.as_bytes()[..end].to_vec()));
        }
    }

    /// Any list of ids, most of them no encoding of a text.
    #[test]
    fn decoding_any_ids_matches_tiktoken(ids in prop::collection::vec(0u32..50_256, 0..40), by in any_tokenizer()) {
        prop_assert_eq!(by.decode(&ids), Ok(oracle(encoding(by)).decode_bytes(&ids).unwrap()));
    }
}

/// Every id has the bytes that it has in tiktoken, except for those of special tokens.
#[test]
fn every_id_decodes_like_tiktoken() {
    for encoding in Encoding::ALL.iter().copied() {
        let (tokenizer, oracle) = (Tiktoken::new(encoding), oracle(encoding));
        let special: Vec<u32> = oracle
            .special_tokens()
            .iter()
            .flat_map(|name| oracle.encode_with_special_tokens(name))
            .collect();
        assert!(!special.is_empty(), "{encoding}");
        let mut ordinary = 0;
        for id in 0..IDS_END {
            let unknown = UnknownToken { encoding, id, position: 0 };
            let expected = oracle.decode_bytes(&[id]).ok().filter(|_| !special.contains(&id));
            ordinary += usize::from(expected.is_some());
            assert_eq!(tokenizer.decode(&[id]), expected.ok_or(unknown));
        }
        assert!(ordinary > 50_000, "{encoding} has {ordinary} ordinary tokens");
    }
}

#[test]
fn special_tokens_encode_as_ordinary_text() {
    for encoding in Encoding::ALL.iter().copied() {
        let (tokenizer, oracle) = (Tiktoken::new(encoding), oracle(encoding));
        for name in oracle.special_tokens() {
            let ids = tokenizer.encode(name);
            assert_eq!(ids, oracle.encode_ordinary(name), "{encoding} {name}");
            assert!(ids.len() > 1, "{encoding} {name}");
        }
    }
}

#[test]
fn unknown_ids_are_errors_with_their_position() {
    let tokenizer = Tiktoken::new(Encoding::O200kBase);
    for id in [199_998, 199_999, 200_018, u32::MAX] {
        let error = tokenizer.decode(&[24_912, 2_375, id, id]).unwrap_err();
        assert_eq!(error, UnknownToken { encoding: Encoding::O200kBase, id, position: 2 });
        let expected = format!("o200k_base has no ordinary token {id}, at position 2");
        assert_eq!(error.to_string(), expected);
    }
}

/// `tiktoken-rs` panics on such text.
#[test]
fn hostile_text_encodes_and_decodes() {
    let spaces = " ".repeat(1_100_000);
    for text in
        [format!("{spaces}\n{spaces}x{spaces}"), "\n".repeat(1_100_000), "aB".repeat(99_999)]
    {
        for encoding in Encoding::ALL.iter().copied() {
            let tokenizer = Tiktoken::new(encoding);
            let ids = tokenizer.encode(&text);
            assert_eq!(ids.len(), tokenizer.estimate(&text) as usize, "{encoding}");
            assert!(tokenizer.decode(&ids).unwrap() == text.as_bytes(), "{encoding}");
        }
    }
}
