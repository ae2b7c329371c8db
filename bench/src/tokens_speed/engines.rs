//! The tokenizers that are raced.

use std::path::Path;

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use tokenizers::pipeline::EncodeOptions;

use super::vocabulary;
use crate::harness::Result;

/// The number of tokens of a text.
pub(super) type Count = Box<dyn FnMut(&str) -> usize>;

/// A tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Lcp,
    Fastokens,
    Toktok,
    Tiktoken,
    HuggingFace,
    BpeOpenai,
    TiktokenRs,
}

impl Engine {
    /// All of them with the names of their crates, in the order in which they take turns.
    const NAMES: [(Self, &str); 7] = [
        (Self::Lcp, "lcp-tokens"),
        (Self::Fastokens, "fastokens"),
        (Self::Toktok, "toktok-rs"),
        (Self::Tiktoken, "tiktoken"),
        (Self::HuggingFace, "tokenizers"),
        (Self::BpeOpenai, "bpe-openai"),
        (Self::TiktokenRs, "tiktoken-rs"),
    ];

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().map(|(engine, _)| engine)
    }

    /// Returns the name of its crate.
    pub(super) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(engine, _)| *engine == self).map_or("", |(_, name)| name)
    }

    /// Returns the tokenizer with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|engine| engine.name() == name)
    }

    /// Loads its own vocabulary, or the file that [`vocabulary::write`] left in `folder`.
    pub(super) fn load(self, encoding: Encoding, folder: &Path) -> Result<Count> {
        let unusable = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name());
        let is_o200k = encoding == Encoding::O200kBase;
        Ok(match self {
            Self::Lcp => {
                let counter = Tiktoken::new(encoding);
                Box::new(move |text| counter.estimate(text) as usize)
            }
            Self::Fastokens => {
                let config = vocabulary::pattern(encoding);
                let path = vocabulary::ranks_path(folder, encoding);
                let tokenizer = fastokens::Tokenizer::from_tiktoken_file(&path, config)
                    .map_err(|error| unusable(&error))?;
                // A text that it fails on has no tokens, which is told below
                // from a right count.
                Box::new(move |text| tokenizer.encode_ordinary(text).map_or(0, |ids| ids.len()))
            }
            Self::Toktok => {
                let tokenizer = toktok::Tokenizer::builtin(encoding.name())
                    .map_err(|error| unusable(&error))?;
                Box::new(move |text| tokenizer.count(text.as_bytes()))
            }
            Self::Tiktoken => {
                let tokenizer = tiktoken::get_encoding(encoding.name())
                    .ok_or_else(|| unusable(&"it is without this vocabulary"))?;
                Box::new(move |text| tokenizer.count(text))
            }
            Self::HuggingFace => {
                let path = vocabulary::json_path(folder, encoding);
                let tokenizer =
                    tokenizers::from_json_file(&path).map_err(|error| unusable(&error))?;
                let options = EncodeOptions::no_specials();
                let mut tokens = Vec::new();
                Box::new(move |text| {
                    tokens.clear();
                    let done = tokenizer.encode_into(text, &options, &mut tokens);
                    done.map_or(0, |()| tokens.len())
                })
            }
            Self::BpeOpenai => {
                let tokenizer =
                    if is_o200k { bpe_openai::o200k_base() } else { bpe_openai::cl100k_base() };
                Box::new(move |text| tokenizer.count(text))
            }
            Self::TiktokenRs => {
                let tokenizer = vocabulary::oracle(encoding);
                Box::new(move |text| tokenizer.encode_ordinary(text).len())
            }
        })
    }
}
