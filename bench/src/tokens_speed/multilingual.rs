//! Text in many scripts, of pieces of vocabularies: common ones often, rare ones seldom.

use lcp_testkit::SplitMix64;

/// A script: the characters its words are made of, and how they are set.
struct Script {
    ranges: &'static [(char, char)],
    /// What is between two words.
    space: &'static str,
    /// What ends a sentence.
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

/// Bytes of a text, about.
const TEXT_BYTES: usize = 4 << 10;

/// Returns texts of one script each, about `bytes` in all; the common tokens come first.
pub(super) fn texts(vocabulary: &[(Vec<u8>, u32)], seed: u64, bytes: usize) -> Vec<String> {
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
            // Most words are a piece, some are two or three.
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
            .filter_map(|(bytes, _)| std::str::from_utf8(bytes).ok())
            .map(str::trim_start)
            // A single letter of Latin would be every other word.
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
