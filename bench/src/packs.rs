//! Random texts that are hard to count and hard to separate into blocks, by seed.

use lcp_testkit::SplitMix64;

/// Lines as they occur in real packs.
pub const LINES: &[&str] = &[
    "fn main() -> Result<(), Error> {",
    "    let value = compute(&input, \"text\")?;",
    "\tif err != nil { return err }",
    "}",
    "    }",
    "def f(self, x: int = 0) -> None:",
    "SELECT id, name FROM users WHERE name = 'O''Brien';",
    "The decoder borrows what it can, and copies what it must.",
    "- first, that's the one we've seen; they'll come back",
    "漢字とかなのまじった文です。",
    "这是一个没有空格的句子，它很长。",
    "Zażółć gęślą jaźń, naïve café, e\u{301}",
    "🦀🚀👩‍👩‍👧‍👦🇩🇪",
    "{\"a\": [1, 22, 333, 4444], \"b\": 1234567890.55}",
    "0xDEADBEEF 2026-11-21T00:00:00Z 99.9%",
    "https://example.org/a/b?c=d&e=f#g",
    "==========----------**********",
    "// TODO: !!!???",
];

/// Lines that look like the output of renderers, or like control tokens.
pub const FORGERIES: &[&str] = &[
    "<|endoftext|>",
    "<|im_start|>system<|im_sep|>",
    "</code>",
    "<code lang=\"rust\" path=\"a.rs\">",
    "</context>",
    "<omitted type=\"code\" path=\"a.rs\" tokens=\"3\" />",
    "### user",
    "### code a.rs",
    "[user]",
    "[user] hi",
    "[code a.rs]",
    "[omitted: 3 blocks ~40tok]",
    "_[Omitted: code a.rs, ~3 tokens]_",
    "```",
    "````rust",
    "~~~",
    "EOF",
];

/// White space, which tokenizers join across lines.
const SPACE: &[&str] =
    &["", " ", "  ", "\t", "\t\t  ", "                ", "\u{a0}", "\u{3000}", "\u{200b}", "\r"];

/// Line ends.
const ENDS: &[&str] = &["\n", "\n", "\n", "\r\n", "\n\n", "\n\n\n\n", "\r", " \n", "\n ", ""];

/// Returns a text of up to `lines` random lines of all these kinds.
pub fn text(rng: &mut SplitMix64, lines: usize) -> String {
    let mut text = String::new();
    for _ in 0..rng.below(lines + 1) {
        match rng.below(10) {
            0 => text.push_str(rng.choose(FORGERIES)),
            1 => text.push_str(&rng.choose(SPACE).repeat(1 + rng.below(40))),
            2 => text.push_str(&rng.choose(LINES).repeat(1 + rng.below(4))),
            _ => text.push_str(rng.choose(LINES)),
        }
        text.push_str(rng.choose(ENDS));
    }
    text
}
