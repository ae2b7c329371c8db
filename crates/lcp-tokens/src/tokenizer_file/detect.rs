//! Detects the format of a file by its bytes, because its name is not reliable.

use std::collections::BTreeSet;
use std::str;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{TokenizerFileError, TokenizerFileFormat};

/// Returns the format of a tokenizer file.
pub(super) fn detect(bytes: &[u8]) -> Result<TokenizerFileFormat, TokenizerFileError> {
    let looks_like =
        |what: &str| Err(TokenizerFileError::NotATokenizer { looks_like: what.into() });
    if let Some(what) = foreign(bytes) {
        return looks_like(what);
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        return json(bytes);
    }
    // The first field of a SentencePiece model is its list of pieces.
    if bytes.starts_with(b"\n") && !is_text(bytes) {
        return Ok(TokenizerFileFormat::SentencePiece);
    }
    if is_text(bytes) {
        return looks_like(text(bytes));
    }
    looks_like("binary data of an unknown kind")
}

/// Recognizes other kinds of files by their first bytes.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const SIGNS: [(&[u8], &str); 11] = [
        (b"\x1F\x8B", "a gzip archive; unpack it first"),
        (b"PK\x03\x04", "a zip archive or PyTorch weights"),
        (b"\x28\xB5\x2F\xFD", "zstd-compressed data; unpack it first"),
        (b"BZh", "a bzip2 archive; unpack it first"),
        (b"\xFD7zXZ", "an xz archive; unpack it first"),
        (b"GGUF", "GGUF model weights"),
        (b"\x89HDF", "HDF5 model weights"),
        (b"\x80\x04", "a Python pickle"),
        (b"version https://git-lfs", "a Git LFS pointer; fetch the file itself"),
        (b"<!DOCTYPE", "a web page"),
        (b"<html", "a web page"),
    ];
    if bytes.trim_ascii().is_empty() {
        return Some("an empty file");
    }
    if bytes.len() > 9 && bytes[8] == b'{' && bytes[5..8] == [0; 3] {
        return Some("safetensors model weights");
    }
    let start = bytes.trim_ascii_start();
    SIGNS.iter().find(|(sign, _)| bytes.starts_with(sign) || start.starts_with(sign)).map(|s| s.1)
}

fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let valid = match str::from_utf8(head) {
        Ok(_) => true,
        // The cut at 4096 bytes may be within a character.
        Err(error) => error.error_len().is_none() && bytes.len() > head.len(),
    };
    valid && !head.iter().any(|byte| *byte < b' ' && !byte.is_ascii_whitespace())
}

fn text(bytes: &[u8]) -> &'static str {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let mut words = line.split(|byte| *byte == b' ');
    let base64 = |word: &[u8]| {
        let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        !word.is_empty() && word.len().is_multiple_of(4) && word.iter().all(known)
    };
    let number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let ranks = words.next().is_some_and(base64) && words.next().is_some_and(number);
    if ranks && words.next().is_none() {
        "a tiktoken rank file, which has no pattern to split text"
    } else if line.starts_with(b"#version") {
        "merges.txt, which is incomplete; use tokenizer.json instead"
    } else if line.starts_with(b"[") {
        "a JSON list"
    } else {
        "text"
    }
}

/// Distinguishes JSON files. A tokenizer.json has `model`, and a tekken file has `config` and
/// `vocab`.
fn json(bytes: &[u8]) -> Result<TokenizerFileFormat, TokenizerFileError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let keys = reader.deserialize_map(Keys).and_then(|keys| reader.end().map(|()| keys));
    let keys = keys.map_err(|error| {
        // In broken JSON, only this key shows the intended format.
        let head = &bytes[..bytes.len().min(4096)];
        let tekken = head.windows(13).any(|window| window == b"\"token_bytes\"");
        let format =
            if tekken { TokenizerFileFormat::Tekken } else { TokenizerFileFormat::HuggingFace };
        format.broken(error)
    })?;
    let has = |key: &str| keys.contains(key);
    let looks_like = if has("model") {
        return Ok(TokenizerFileFormat::HuggingFace);
    } else if has("config") && has("vocab") {
        return Ok(TokenizerFileFormat::Tekken);
    } else if has("tokenizer_class") || has("added_tokens_decoder") {
        "tokenizer_config.json, which has no vocabulary; use tokenizer.json instead"
    } else if has("architectures") || has("model_type") {
        "config.json of a model; use tokenizer.json instead"
    } else if keys.len() > 256 {
        "vocab.json, which is incomplete; use tokenizer.json instead"
    } else {
        "JSON without `model`"
    };
    Err(TokenizerFileError::NotATokenizer { looks_like: looks_like.into() })
}

/// Collects the keys of an object and skips the values.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = BTreeSet<String>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut keys = BTreeSet::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.insert(key);
        }
        Ok(keys)
    }
}
