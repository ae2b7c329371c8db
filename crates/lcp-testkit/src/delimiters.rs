//! Text that content must not be able to use for anything.

/// Pieces of content that look like what renderers draw, or that tokenizers
/// join in surprising ways.
#[rustfmt::skip]
pub const DELIMITERS: &[&str] = &[
    "fn main() {}", "\n", "\n\n", "\r\n", "    indented", "\t", " ", "  ", "/", "// comment",
    "/* */", "</code>", "<code path=\"x\">", "</context>", "<context>", "</conversation>",
    "</code.2>", "</code.3>\n", "<omitted type=\"code\" path=\"a\" tokens=\"3\" />", "```",
    "````\n", "```rust", "~~~", "### code src/a.rs", "### user", "\n### assistant\n",
    "_[Omitted: code a, ~3 tokens]_", "[user] hi", "\n[code src/a.rs]\n",
    "[omitted: code a ~3tok]", "[omitted: 4 blocks ~3tok]", "EOF", "\nEOF\n", "\nEOF2\n", "<<EOF]",
    "]", "[", "hello world", "The quick brown fox.", "漢字かな", "🦀🚀", "e\u{301}", "'s", "'ſ",
    "1234567", "<|endoftext|>", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "!!!", "=====", "a",
    "}", "});\n", "\"", "&amp;", "@@ -1 +1 @@",
];
