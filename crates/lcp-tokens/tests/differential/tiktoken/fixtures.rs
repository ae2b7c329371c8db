//! The texts whose counts by Python's tiktoken are kept for the tests.

use super::{adversarial, languages};

/// Random texts among them.
const RANDOM: usize = 330;

/// What people write, one line each.
const SENTENCES: &[&str] = &[
    "hello world",
    "The quick brown fox jumps over the lazy dog.",
    "I'll say we've done what they'd asked; it's DON'T, not don’t.",
    "A budget is a promise: what does not fit is left out, and the report says so.",
    "SELECT name, COUNT(*) FROM blocks WHERE tokens > 1000 GROUP BY name;",
    "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n",
    "def add(a, b):\n\treturn a + b\n\n\nclass Pack(object):\n\tpass\n",
    "for (int i = 0; i < n; ++i) {\r\n\tsum += values[i];\r\n}\r\n",
    "{\"role\": \"user\", \"content\": [1, 2.5, null, true]}",
    "<div class=\"row\"><a href='/x?y=1&z=2'>go</a></div>",
    "https://example.org/a/very/long/path/index.html?with=query&and=more#anchor",
    "diff --git a/x.rs b/x.rs\n@@ -1,3 +1,4 @@\n-old\n+new\n \n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "getElementByIdAndReturnItsInnerHTMLAsString",
    "this_is_a_very_long_identifier_in_snake_case_with_2_digits",
    "550e8400-e29b-41d4-a716-446655440000",
    "Ünïcödé ßtraße, naïve café, Ørsted; ŁÓDŹ",
    "日本語のテキストと English が混ざった文。",
    "👩‍👩‍👧 and 👍🏽 and 🇸🇪🇯🇵 and ❤️",
    "   leading, trailing   ",
    "tabs\t\tand   spaces \t mixed \n \t\n  ends",
];

/// What is one piece, or a few, when it is repeated.
const UNITS: &[&str] = &[
    " ", "\n", "\t", "\r\n", " \n", "a", "A", "aB", "=", "/", "'s", "1", "漢", "é", "\u{301}",
    "🦀", "\u{a0}", "\u{fffd}", "\0", "<|endoftext|>", "-", "ab ", "The ", "\u{3000}",
];

const TIMES: &[usize] = &[2, 3, 15, 16, 17, 63, 64, 65, 129, 1_000];

/// Each text and how many times it is repeated.
pub(super) fn texts() -> Vec<(String, usize)> {
    let once = |text: &str| (text.to_owned(), 1);
    let mut texts: Vec<_> = SENTENCES.iter().map(|text| once(text)).collect();
    texts.push((String::new(), 1));
    // Each piece in the middle of a window, and next to letters of both cases.
    texts.extend(
        adversarial::PIECES.iter().map(|piece| (format!("a{piece}B {piece}\n{piece}c"), 1)),
    );
    texts.extend(UNITS.iter().zip(TIMES.iter().cycle()).map(|(unit, n)| ((*unit).to_owned(), *n)));
    texts.extend(UNITS.iter().map(|unit| ((*unit).to_owned(), 300)));
    texts.extend((0..24).map(|number| (languages::text(number).chars().take(120).collect(), 1)));
    texts.extend((0..RANDOM).map(|number| match number % 3 {
        0 => (adversarial::readable(number), 1),
        1 => (adversarial::tiny(number), 1),
        _ => (adversarial::text(number * 16 / 3 + 4).chars().take(160).collect(), 1),
    }));
    texts
}
