//! Reads tekken files of Mistral: a pattern splits the text, and bytes are merged by rank.

use std::collections::HashMap;
use std::ops::Range;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::merge::Merger;
use super::split::Splitter;
use super::{TokenizerFileError, TokenizerFileFormat};

#[derive(Deserialize)]
struct File {
    config: Config,
    vocab: Vec<Entry>,
}

#[derive(Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: usize,
    default_num_special_tokens: usize,
}

#[derive(Deserialize)]
struct Entry {
    rank: usize,
    token_bytes: String,
}

pub(super) struct Tekken {
    splitter: Splitter,
    ranks: HashMap<Box<[u8]>, u32>,
    longest: usize,
}

impl Tekken {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, TokenizerFileError> {
        let broken = |reason: String| TokenizerFileFormat::Tekken.broken(reason);
        let file: File =
            serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        let splitter = Splitter::new(&file.config.pattern)
            .map_err(|error| broken(format!("cannot compile its pattern: {error}")))?;
        // The file may contain more tokens than the model has. The special tokens come first and
        // are included in the size of the model.
        let config = &file.config;
        let size = config.default_vocab_size.checked_sub(config.default_num_special_tokens);
        let size = size.filter(|size| *size <= file.vocab.len()).ok_or_else(|| {
            let (all, special) = (config.default_vocab_size, config.default_num_special_tokens);
            let held = file.vocab.len();
            broken(format!("expected at least {all} - {special} tokens, got {held}"))
        })?;
        let mut ranks = HashMap::with_capacity(size);
        for (place, entry) in file.vocab[..size].iter().enumerate() {
            let wrong = |what: &str| broken(format!("token {place}: {what}"));
            if entry.rank != place {
                return Err(wrong("rank is out of order"));
            }
            let rank = u32::try_from(place).map_err(|_| wrong("too many tokens"))?;
            let token = BASE64_STANDARD.decode(&entry.token_bytes);
            let token = token.map_err(|error| wrong(&error.to_string()))?;
            if token.is_empty() || ranks.insert(token.into_boxed_slice(), rank).is_some() {
                return Err(wrong("empty or duplicate token"));
            }
        }
        if let Some(byte) = (0..=u8::MAX).find(|byte| !ranks.contains_key(&[*byte][..])) {
            return Err(broken(format!("missing token for byte 0x{byte:02X}")));
        }
        let longest = ranks.keys().map(|token| token.len()).max().unwrap_or(0);
        Ok(Self { splitter, ranks, longest })
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        // Hashing a long key takes time proportional to its length.
        if token.len() > self.longest { None } else { self.ranks.get(token).copied() }
    }

    pub(super) fn count(&self, text: &str) -> u64 {
        let mut merger = Merger::new();
        let mut count = 0;
        self.splitter.matches(text, |start, end| {
            let piece = &text.as_bytes()[start..end];
            if self.rank(piece).is_some() {
                count += 1;
                return;
            }
            let bytes = (0..piece.len()).map(|at| (at..at + 1, false));
            let rank = |range: Range<usize>, _| self.rank(&piece[range]);
            merger.run(piece.len(), bytes, rank, |_| count += 1);
        });
        count
    }
}
