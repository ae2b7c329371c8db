//! The counted texts: sources of the crates that this workspace builds with.

use std::collections::HashSet;
use std::path::Path;

use lcp_testkit::{comments, is_prose};
use serde::{Deserialize, Serialize};

use super::multilingual;
use crate::harness::Result;
use crate::registry::{Crate, crates, is_code, named};

/// Crates whose files warm the caches.
const WARM: &[&str] = &[
    "aho-corasick", "blake3", "bstr", "hashbrown", "itertools", "memchr", "proptest", "rayon",
    "regex-automata", "serde", "serde_json",
];

/// Crates whose code is counted: Rust, and C.
const CODE: &[&str] = &["tokio", "zstd-sys"];

/// Crates whose documentation comments are counted as prose.
const PROSE: &[&str] = &["bitvec", "fancy-regex", "rand", "regex", "rustix", "syn", "zerocopy"];

/// Bytes of made-up multilingual text: to warm with, and to count.
const MULTILINGUAL_BYTES: (usize, usize) = (1 << 20, 2 << 20);

/// The texts, one for each file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Corpora {
    /// What caches are warmed with: some of each kind.
    pub(super) warm: Vec<String>,
    pub(super) code: Vec<String>,
    pub(super) prose: Vec<String>,
    pub(super) multilingual: Vec<String>,
}

impl Corpora {
    /// The kinds of text, as rows call them.
    pub(super) const KINDS: [&str; 3] = ["code", "prose", "multilingual"];

    /// The texts of a kind.
    pub(super) fn texts(&self, kind: &str) -> &[String] {
        match kind {
            "code" => &self.code,
            "prose" => &self.prose,
            _ => &self.multilingual,
        }
    }

    /// Collects them. `vocabulary` is what multilingual text is made of.
    pub(super) fn collect(vocabulary: &[(Vec<u8>, u32)]) -> Result<Self> {
        let crates = crates()?;
        let named = |names| named(&crates, names);
        let mut known = Known::default();

        let warm_crates = named(WARM)?;
        let mut warm = Vec::new();
        for found in warm_crates {
            warm.extend(known.new_to(texts(found, is_code)?));
            warm.extend(known.new_to(texts(found, is_prose)?));
        }
        let mut code = Vec::new();
        for found in named(CODE)? {
            code.extend(known.new_to(texts(found, is_code)?));
        }
        let mut prose = Vec::new();
        for found in &crates {
            if !WARM.contains(&found.name.as_str()) {
                prose.extend(known.new_to(texts(found, is_prose)?));
            }
        }
        for found in named(PROSE)? {
            let comments = texts(found, is_code)?.iter().map(|text| comments(text)).collect();
            prose.extend(known.new_to(comments));
        }
        warm.extend(multilingual::texts(vocabulary, 1, MULTILINGUAL_BYTES.0));
        let multilingual = multilingual::texts(vocabulary, 2, MULTILINGUAL_BYTES.1);
        Ok(Self { warm, code, prose, multilingual })
    }
}

/// The texts of a crate's files.
fn texts(found: &Crate, wanted: fn(&Path) -> bool) -> Result<Vec<String>> {
    Ok(found.files(wanted)?.into_iter().map(|(_, text)| text).collect())
}

/// Lines that were seen: crates share licences, and come in several versions.
#[derive(Default)]
struct Known {
    lines: HashSet<String>,
}

impl Known {
    /// The texts that are mostly new.
    fn new_to(&mut self, texts: Vec<String>) -> Vec<String> {
        texts.into_iter().filter(|text| self.is_new(text)).collect()
    }

    fn is_new(&mut self, text: &str) -> bool {
        let mut fresh = 0;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.lines.insert(line.to_owned()) {
                fresh += line.len() + 1;
            }
        }
        fresh * 2 > text.len()
    }
}
