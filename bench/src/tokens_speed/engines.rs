//! The compared tokenizers, and vocabulary files for those that have no built-in vocabulary.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fastokens::TiktokenConfig;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde_json::{Map, Value, json};
use tokenizers::pipeline::EncodeOptions;

use crate::harness::{Result, at};

/// A function that returns the number of tokens of a text.
pub(super) type Count = Box<dyn FnMut(&str) -> usize>;

/// The crates of the tokenizers, in the order in which they take turns.
pub(super) const ENGINES: [&str; 7] =
    [LCP, "fastokens", "toktok-rs", "tiktoken", "tokenizers", "bpe-openai", ORACLE];

pub(super) const LCP: &str = "lcp-tokens";

/// The tokenizer whose counts are right by definition.
pub(super) const ORACLE: &str = "tiktoken-rs";

/// Loads a tokenizer, with its built-in vocabulary or with the file that [`write_vocabulary`] wrote
/// to `folder`.
pub(super) fn load(engine: &str, encoding: Encoding, folder: &Path) -> Result<Count> {
    let unusable = |error: &dyn std::fmt::Display| format!("{engine}: {error}");
    Ok(match engine {
        LCP => {
            let counter = Tiktoken::new(encoding);
            Box::new(move |text| counter.estimate(text) as usize)
        }
        "fastokens" => {
            let path = ranks_path(folder, encoding);
            let tokenizer = fastokens::Tokenizer::from_tiktoken_file(&path, pattern(encoding))
                .map_err(|error| unusable(&error))?;
            // A text that it fails on counts as 0 tokens, so that the total shows up as inexact.
            Box::new(move |text| tokenizer.encode_ordinary(text).map_or(0, |ids| ids.len()))
        }
        "toktok-rs" => {
            let tokenizer =
                toktok::Tokenizer::builtin(encoding.name()).map_err(|error| unusable(&error))?;
            Box::new(move |text| tokenizer.count(text.as_bytes()))
        }
        "tiktoken" => {
            let tokenizer = tiktoken::get_encoding(encoding.name())
                .ok_or_else(|| unusable(&"it is without this vocabulary"))?;
            Box::new(move |text| tokenizer.count(text))
        }
        "tokenizers" => {
            let path = json_path(folder, encoding);
            let tokenizer = tokenizers::from_json_file(&path).map_err(|error| unusable(&error))?;
            let options = EncodeOptions::no_specials();
            let mut tokens = Vec::new();
            Box::new(move |text| {
                tokens.clear();
                let done = tokenizer.encode_into(text, &options, &mut tokens);
                done.map_or(0, |()| tokens.len())
            })
        }
        "bpe-openai" => {
            let tokenizer = match encoding {
                Encoding::O200kBase => bpe_openai::o200k_base(),
                _ => bpe_openai::cl100k_base(),
            };
            Box::new(move |text| tokenizer.count(text))
        }
        ORACLE => {
            let tokenizer = oracle(encoding);
            Box::new(move |text| tokenizer.encode_ordinary(text).len())
        }
        _ => return Err(unusable(&"it is not known").into()),
    })
}

pub(super) fn oracle(encoding: Encoding) -> &'static tiktoken_rs::CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        _ => tiktoken_rs::cl100k_base_singleton(),
    }
}

/// Returns the pattern of the pre-tokenizer, without special tokens.
fn pattern(encoding: Encoding) -> TiktokenConfig {
    let pattern = match encoding {
        Encoding::O200kBase => fastokens::tiktoken::O200K_BASE_PATTERN,
        _ => fastokens::tiktoken::CL100K_BASE_PATTERN,
    };
    TiktokenConfig::new(pattern, Vec::new())
}

/// Returns the path of the list of tokens, in tiktoken's format.
fn ranks_path(folder: &Path, encoding: Encoding) -> PathBuf {
    folder.join(format!("{encoding}.tiktoken"))
}

/// Returns the path of the `tokenizer.json`.
fn json_path(folder: &Path, encoding: Encoding) -> PathBuf {
    folder.join(format!("{encoding}.json"))
}

/// Returns the ordinary tokens and their numbers, in order.
pub(super) fn tokens(encoding: Encoding) -> Vec<(Vec<u8>, u32)> {
    let oracle = oracle(encoding);
    let special = oracle.special_tokens();
    let is_special = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|t| special.contains(t));
    (0..)
        .map_while(|token| Some((oracle.decode_bytes(&[token]).ok()?, token)))
        .filter(|(bytes, _)| !is_special(bytes))
        .collect()
}

/// Writes the vocabulary of an encoding in both formats.
pub(super) fn write_vocabulary(folder: &Path, encoding: Encoding) -> Result<()> {
    let tokens = tokens(encoding);
    let mut ranks = String::new();
    for (bytes, token) in &tokens {
        BASE64_STANDARD.encode_string(bytes, &mut ranks);
        ranks += " ";
        ranks += &token.to_string();
        ranks += "\n";
    }
    let path = ranks_path(folder, encoding);
    fs::write(&path, ranks).map_err(at(&path))?;

    let pattern = pattern(encoding).pattern;
    let json = tokenizer_json(&tokens, &pattern).to_string();
    let canonical = tokenizers::canonicalize_str(&json).map_err(|error| error.to_string())?;
    let path = json_path(folder, encoding);
    Ok(fs::write(&path, canonical).map_err(at(&path))?)
}

fn tokenizer_json(tokens: &[(Vec<u8>, u32)], pattern: &str) -> Value {
    let letters = letters();
    let spell = |bytes: &[u8]| bytes.iter().map(|&byte| letters[usize::from(byte)]).collect();
    let numbers: HashMap<&[u8], u32> = tokens.iter().map(|(b, token)| (&b[..], *token)).collect();
    let vocabulary: Map<String, Value> =
        tokens.iter().map(|(bytes, token)| (spell(bytes), json!(token))).collect();
    let merges: Vec<[String; 2]> = tokens
        .iter()
        .filter_map(|(bytes, token)| last_merge(bytes, *token, &numbers))
        .map(|(left, right)| [spell(left), spell(right)])
        .collect();
    let split = json!({
        "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false,
    });
    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false,
    });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "post_processor": null, "decoder": byte_level,
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [split, byte_level] },
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "fuse_unk": false,
            "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "byte_fallback": false, "ignore_merges": true,
            "vocab": vocabulary, "merges": merges,
        },
    })
}

/// Returns the two tokens that are merged into a token.
fn last_merge<'a>(
    bytes: &'a [u8],
    token: u32,
    numbers: &HashMap<&[u8], u32>,
) -> Option<(&'a [u8], &'a [u8])> {
    let mut cuts: Vec<usize> = (0..=bytes.len()).collect();
    while cuts.len() > 3 {
        let pairs = cuts.windows(3).enumerate();
        let known = pairs.filter_map(|(at, cut)| Some((*numbers.get(&bytes[cut[0]..cut[2]])?, at)));
        let (_, at) = known.filter(|(number, _)| *number < token).min()?;
        cuts.remove(at + 1);
    }
    match cuts[..] {
        [_, cut, _] => Some(bytes.split_at(cut)),
        _ => None,
    }
}

/// Returns the character that stands for each byte in a `tokenizer.json`.
fn letters() -> [char; 256] {
    let mut unseen = '\u{100}'..;
    std::array::from_fn(|byte| {
        let byte = u8::try_from(byte).unwrap_or_default();
        match byte {
            b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte),
            _ => unseen.next().unwrap_or_default(),
        }
    })
}
