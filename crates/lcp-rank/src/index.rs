//! The index of the words of a project, which a later ranking uses again for unchanged files.

use std::collections::HashSet;

use foldhash::HashMap;
use lcp_ingest::outline::grammars;

use crate::document::Document;
use crate::passages::PassageIndex;
use crate::scan::{DictionaryTerms, Scanner};
use crate::text_index::{TextIndex, TextIndexer, put, take};

/// The first bytes of an index. Others count as empty. Raise the number if the division of texts into
/// words or passages changes.
const MAGIC: &[u8] = b"words 1\n";

/// The maximum number of parts of an index, besides those of the first run.
const PARTS_MAX: usize = 16;

/// The number of texts in a part.
pub(crate) const PART_TEXTS: usize = 64;

/// The hash of a text, its kind, and the number of grammars for it: builds with other grammars share
/// the cache, but find other passages.
pub(crate) type TextHash = [u8; blake3::OUT_LEN];

/// Returns the hash of a document. The path does not matter.
pub(crate) fn hash(document: &Document<'_>) -> TextHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{:?} {}\n", document.kind, grammars(document.kind)).as_bytes());
    hasher.update(document.text.as_bytes());
    hasher.finalize().into()
}

/// Returns the hash of the passages of a text, which are others if it is parsed.
pub(crate) fn passages_hash(text: &TextHash, is_parsed: bool) -> TextHash {
    let mut hash = *text;
    hash[0] ^= u8::from(is_parsed);
    hash
}

/// The words of the texts of a project, by hashes of the texts.
///
/// It depends on no question. [`Ranker::into_index`](crate::Ranker::into_index) returns the bytes for the
/// next ranking.
#[derive(Debug, Default)]
pub struct WordIndex {
    pub(crate) parts: Vec<Part>,
    texts: HashMap<TextHash, (usize, usize)>,
    passages: HashMap<TextHash, (usize, usize)>,
}

/// Texts that share a dictionary.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Part {
    dictionary: Dictionary,
    texts: Vec<(TextHash, TextIndex)>,
    passages: Vec<(TextHash, Vec<PassageIndex>)>,
}

/// Identifiers in the order of their numbers.
#[derive(Debug, Default, PartialEq)]
struct Dictionary {
    text: String,
    ends: Vec<usize>,
}

impl Dictionary {
    fn new<'t>(identifiers: impl Iterator<Item = &'t str>) -> Self {
        let mut dictionary = Self::default();
        for identifier in identifiers {
            dictionary.text.push_str(identifier);
            dictionary.ends.push(dictionary.text.len());
        }
        dictionary
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.text[*start..*end])
    }
}

impl Part {
    pub(crate) fn new(
        indexer: &TextIndexer<'_>,
        texts: Vec<(TextHash, TextIndex)>,
        passages: Vec<(TextHash, Vec<PassageIndex>)>,
    ) -> Self {
        Self { dictionary: Dictionary::new(indexer.dictionary()), texts, passages }
    }

    /// Returns the terms of a question in the dictionary.
    pub(crate) fn terms(&self, scanner: &Scanner<'_>) -> DictionaryTerms {
        scanner.terms(self.dictionary.iter())
    }

    fn len(&self) -> usize {
        self.texts.len() + self.passages.len()
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        put_len(bytes, self.dictionary.ends.len());
        for identifier in self.dictionary.iter() {
            put_bytes(bytes, identifier.as_bytes());
        }
        put_len(bytes, self.texts.len());
        for (hash, index) in &self.texts {
            bytes.extend_from_slice(hash);
            put_bytes(bytes, &index.0);
        }
        put_len(bytes, self.passages.len());
        for (hash, passages) in &self.passages {
            bytes.extend_from_slice(hash);
            put_len(bytes, passages.len());
            for passage in passages {
                put_len(bytes, passage.first_line);
                put_len(bytes, passage.last_line);
                put_len(bytes, passage.bytes);
                put_bytes(bytes, passage.name.as_bytes());
                put_bytes(bytes, &passage.text.0);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut part = Self::default();
        for _ in 0..take(bytes)? {
            let identifier = std::str::from_utf8(take_bytes(bytes)?).ok();
            part.dictionary.text.push_str(identifier.filter(|text| text.is_ascii())?);
            part.dictionary.ends.push(part.dictionary.text.len());
        }
        for _ in 0..take(bytes)? {
            part.texts.push((take_hash(bytes)?, TextIndex(take_bytes(bytes)?.to_vec())));
        }
        for _ in 0..take(bytes)? {
            let (hash, mut passages) = (take_hash(bytes)?, Vec::new());
            for _ in 0..take(bytes)? {
                let passage = PassageIndex {
                    first_line: take(bytes)? as usize,
                    last_line: take(bytes)? as usize,
                    bytes: take(bytes)? as usize,
                    name: String::from_utf8(take_bytes(bytes)?.to_vec()).ok()?,
                    text: TextIndex(take_bytes(bytes)?.to_vec()),
                };
                let is_ordered = (1..=passage.last_line).contains(&passage.first_line);
                passages.push(Some(passage).filter(|_| is_ordered)?);
            }
            part.passages.push((hash, passages));
        }
        Some(part)
    }
}

impl WordIndex {
    /// Reads an index. Bytes that are none are read as an empty one, since it is only a cache.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return Self::default() };
        let mut index = Self::default();
        while !rest.is_empty() {
            match Part::decode(&mut rest) {
                Some(part) => index.push(part),
                None => return Self::default(),
            }
        }
        index
    }

    /// Adds a part.
    pub(crate) fn push(&mut self, part: Part) {
        let at = self.parts.len();
        let places = |count: usize| (0..count).map(move |entry| (at, entry));
        let hashes = part.texts.iter().map(|(hash, _)| *hash);
        self.texts.extend(hashes.zip(places(part.texts.len())));
        let hashes = part.passages.iter().map(|(hash, _)| *hash);
        self.passages.extend(hashes.zip(places(part.passages.len())));
        self.parts.push(part);
    }

    /// Returns the index of a text and the number of its part.
    pub(crate) fn text(&self, hash: &TextHash) -> Option<(usize, &TextIndex)> {
        let &(part, entry) = self.texts.get(hash)?;
        Some((part, &self.parts[part].texts[entry].1))
    }

    /// Returns the passages of a text and the number of their part.
    pub(crate) fn passages(&self, hash: &TextHash) -> Option<(usize, &[PassageIndex])> {
        let &(part, entry) = self.passages.get(hash)?;
        Some((part, &self.parts[part].passages[entry].1))
    }

    /// Returns the bytes of an index of the texts of these hashes. Many small parts would be slow,
    /// so the smallest ones are left out, and the next ranking reads their texts again.
    pub(crate) fn into_bytes(mut self, wanted: &HashSet<TextHash>) -> Vec<u8> {
        let is_wanted = |hash: &TextHash| {
            [false, true].iter().any(|is_parsed| wanted.contains(&passages_hash(hash, *is_parsed)))
        };
        for part in &mut self.parts {
            let before = part.len();
            part.texts.retain(|(hash, _)| wanted.contains(hash));
            part.passages.retain(|(hash, _)| is_wanted(hash));
            // Most words of the dictionary are those of other texts.
            if 2 * part.len() < before {
                *part = Part::default();
            }
        }
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        self.parts.truncate(PARTS_MAX + 2 * wanted.len() / PART_TEXTS);
        let mut bytes = MAGIC.to_vec();
        for part in self.parts.iter().filter(|part| part.len() > 0) {
            part.encode(&mut bytes);
        }
        bytes
    }
}

fn put_len(bytes: &mut Vec<u8>, len: usize) {
    put(bytes, u32::try_from(len).unwrap_or(u32::MAX));
}

fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put_len(bytes, content.len());
    bytes.extend_from_slice(content);
}

fn take_bytes<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = take(bytes)?;
    let (content, rest) = bytes.split_at_checked(len as usize)?;
    *bytes = rest;
    Some(content)
}

fn take_hash(bytes: &mut &[u8]) -> Option<TextHash> {
    let (hash, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*hash)
}

#[cfg(test)]
mod tests {
    use lcp_ingest::outline::InputKind;

    use super::*;
    use crate::{Query, RankedFile, Ranker};

    fn rank(ranker: &mut Ranker<'_>, documents: &[Document<'_>]) -> Vec<RankedFile> {
        ranker.add(documents);
        let best: Vec<_> = ranker.best().into_iter().map(|file| (file, documents[file])).collect();
        ranker.add_passages(&best);
        ranker.finish()
    }

    #[test]
    fn project_that_grows_by_a_file_at_a_time_keeps_few_parts() {
        let query = Query::new("open the door");
        let texts: Vec<_> =
            (0..60).map(|at| format!("fn open_door_{at}() {{}}\n").repeat(30)).collect();
        let documents: Vec<_> = texts
            .iter()
            .map(|text| Document {
                path: text.split('(').next().unwrap(),
                text,
                kind: InputKind::Text,
            })
            .collect();
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        for count in 1..=documents.len() {
            let index = WordIndex::from_bytes(&bytes);
            parts.push(index.parts.len());
            let mut ranker = Ranker::new(&query).with_index(index);
            let expected = rank(&mut Ranker::new(&query), &documents[..count]);
            assert_eq!(rank(&mut ranker, &documents[..count]), expected, "{count} files");
            bytes = ranker.into_index().unwrap_or(bytes);
        }
        let most = *parts.iter().max().unwrap();
        // The lower bound proves that parts were stored at all.
        let parts_max = PARTS_MAX + 2 * documents.len() / PART_TEXTS;
        assert!((10..=parts_max).contains(&most), "{parts:?}");
    }
}
