//! The counted texts: sources of this workspace's dependencies, and synthetic text in many scripts.
//! Synthetic words consist of pieces of a vocabulary, and common pieces occur more often.

use std::collections::HashSet;
use std::path::Path;

use lcp_testkit::{SplitMix64, comments, is_prose};
use serde::{Deserialize, Serialize};

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

/// The sizes of the synthetic multilingual texts in bytes: for warming caches, and for counting.
const MULTILINGUAL_BYTES: (usize, usize) = (1 << 20, 2 << 20);

/// The names of the kinds of text in rows.
pub(super) const KINDS: [&str; 3] = ["code", "prose", "multilingual"];

/// The texts, one for each file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Corpora {
    /// Texts of each kind that warm the caches.
    pub(super) warm: Vec<String>,
    /// The texts of each of [`KINDS`].
    pub(super) texts: [Vec<String>; 3],
}

impl Corpora {
    /// Collects the texts. Multilingual text consists of pieces of `vocabulary`.
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
        warm.extend(multilingual(vocabulary, 1, MULTILINGUAL_BYTES.0));
        let multilingual = multilingual(vocabulary, 2, MULTILINGUAL_BYTES.1);
        Ok(Self { warm, texts: [code, prose, multilingual] })
    }
}

/// Returns the texts of a crate's files.
fn texts(found: &Crate, wanted: fn(&Path) -> bool) -> Result<Vec<String>> {
    Ok(found.files(wanted)?.into_iter().map(|(_, text)| text).collect())
}

/// The lines that have occurred. Crates share licences, and come in several versions.
#[derive(Default)]
struct Known {
    lines: HashSet<String>,
}

impl Known {
    /// Returns the texts in which more than half of the bytes are in new lines.
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

/// A script: the characters of its words, and its punctuation.
struct Script {
    ranges: &'static [(char, char)],
    /// The text between two words.
    space: &'static str,
    /// The end of a sentence.
    stop: &'static str,
}

const SCRIPTS: &[Script] = &[
    // Latin with accents, as in French, Polish, Vietnamese.
    Script {
        ranges: &[('a', 'z'), ('\u{df}', '\u{24f}'), ('\u{1e00}', '\u{1eff}')],
        space: " ",
        stop: ". ",
    },
    Script { ranges: &[('\u{370}', '\u{3ff}')], space: " ", stop: ". " },
    Script { ranges: &[('\u{400}', '\u{52f}')], space: " ", stop: ". " },
    Script { ranges: &[('\u{590}', '\u{5ff}')], space: " ", stop: ". " },
    Script { ranges: &[('\u{600}', '\u{6ff}')], space: " ", stop: "؟ " },
    Script { ranges: &[('\u{900}', '\u{963}')], space: " ", stop: "। " },
    Script { ranges: &[('\u{e00}', '\u{e4f}')], space: "", stop: " " },
    // Chinese, Japanese, Korean.
    Script { ranges: &[('\u{4e00}', '\u{9fff}')], space: "", stop: "。" },
    Script {
        ranges: &[('\u{3041}', '\u{30ff}'), ('\u{4e00}', '\u{9fff}')], space: "", stop: "。"
    },
    Script { ranges: &[('\u{ac00}', '\u{d7a3}')], space: " ", stop: ". " },
];

/// The approximate size of a text in bytes.
const TEXT_BYTES: usize = 4 << 10;

/// Returns texts of one script each, about `bytes` bytes in all. `vocabulary` lists common tokens
/// first.
fn multilingual(vocabulary: &[(Vec<u8>, u32)], seed: u64, bytes: usize) -> Vec<String> {
    let scripts: Vec<_> =
        SCRIPTS.iter().map(|script| (script, Pieces::new(script, vocabulary))).collect();
    let mut rng = SplitMix64::new(seed);
    let mut texts = Vec::new();
    let mut total = 0;
    for (script, pieces) in scripts.iter().cycle() {
        if total >= bytes {
            break;
        }
        let text = text(script, pieces, &mut rng);
        total += text.len();
        texts.push(text);
    }
    texts
}

fn text(script: &Script, pieces: &Pieces<'_>, rng: &mut SplitMix64) -> String {
    let mut text = String::new();
    while text.len() < TEXT_BYTES {
        for _ in 0..4 + rng.below(14) {
            // Most words have one piece, some have two or three.
            let parts = 1 + usize::from(rng.below(3) == 0) + usize::from(rng.below(8) == 0);
            (0..parts).for_each(|_| text += pieces.any(rng));
            text += script.space;
        }
        text.truncate(text.trim_end().len());
        text += script.stop;
        if rng.below(6) == 0 {
            text.truncate(text.trim_end().len());
            text += "\n\n";
        }
    }
    text
}

/// The pieces of a script. The n-th is drawn in proportion to 1 ÷ (n + 3).
struct Pieces<'a> {
    pieces: Vec<&'a str>,
    /// For each piece, the sum of the weights up to it.
    sums: Vec<usize>,
}

impl<'a> Pieces<'a> {
    fn new(script: &Script, vocabulary: &'a [(Vec<u8>, u32)]) -> Self {
        let is_in =
            |c: char| script.ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
        let pieces: Vec<&str> = vocabulary
            .iter()
            .filter_map(|(bytes, _)| str::from_utf8(bytes).ok())
            .map(str::trim_start)
            // Skips single ASCII letters, which would make up every other word.
            .filter(|piece| piece.len() > 1 && piece.chars().all(is_in))
            .collect();
        let weights = (0..pieces.len()).map(|n| 1_000_000 / (n + 3) + 1);
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect(), pieces }
    }

    fn any(&self, rng: &mut SplitMix64) -> &'a str {
        let end = self.sums.last().copied().unwrap_or(1);
        let drawn = rng.below(end);
        let at = self.sums.partition_point(|sum| *sum <= drawn);
        self.pieces.get(at).copied().unwrap_or_default()
    }
}
