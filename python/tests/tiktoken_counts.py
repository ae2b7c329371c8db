"""Counts of texts by tiktoken 0.14 (``encode_ordinary``), for each encoding."""

TEXTS = [
    "",
    "a budget is a promise",
    'fn main() {\n    println!("{}", 1_000);\n}\n',
    "Größe, naïve, Ελληνικά, עברית",
    "日本語のテキスト",
    "🦀 👩‍👩‍👧‍👦",
    "x" * 300,
    " " * 50 + "\t\n\n",
    "don't   stop 12345678",
    "<|endoftext|>",
]

COUNTS = {
    "o200k_base": dict(zip(TEXTS, [0, 5, 13, 11, 6, 14, 38, 2, 7, 7], strict=True)),
    "cl100k_base": dict(zip(TEXTS, [0, 5, 13, 22, 8, 20, 38, 2, 8, 7], strict=True)),
    "p50k_base": dict(zip(TEXTS, [0, 5, 19, 25, 10, 17, 38, 5, 7, 7], strict=True)),
    "r50k_base": dict(zip(TEXTS, [0, 5, 21, 25, 10, 17, 38, 52, 8, 7], strict=True)),
}
