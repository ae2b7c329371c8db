use super::merge::Merger;
use super::split::Splitter;

const PATTERNS: [&str; 3] = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[!-~][A-Za-z]+|\s+(?!\S)|\s+",
];

/// The rewritten patterns give what a backtracking engine gives.
#[test]
fn rewritten_lookahead_matches_backtracking_regex() {
    let alphabet = [
        " ", "  ", "\n", "\r\n", "\t", "\u{3000}", "\u{85}", "a", "é", "1", "!", "'s", "'ſ", "中",
        "\u{301}",
    ];
    for pattern in PATTERNS {
        let ours = Splitter::new(pattern).unwrap();
        assert!(matches!(ours, Splitter::Trailing(_)), "{pattern}");
        let theirs = Splitter::Backtracking(fancy_regex::Regex::new(pattern).unwrap());
        for number in 0..alphabet.len().pow(4) {
            let part = |place| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
            let text: String = (0..4).map(part).collect();
            let (mut found, mut wanted) = (Vec::new(), Vec::new());
            ours.matches(&text, |start, end| found.push(start..end));
            theirs.matches(&text, |start, end| wanted.push(start..end));
            assert_eq!(found, wanted, "{text:?} by {pattern}");
        }
    }
}

/// Merging by the definition: the best pair of all, again and again.
fn slow(text: &str, rank: impl Fn(&str) -> Option<u32>) -> Vec<String> {
    let mut parts: Vec<String> = text.chars().map(String::from).collect();
    loop {
        let pairs = parts.windows(2).map(<[String]>::concat).enumerate();
        let Some((_, i)) = pairs.filter_map(|(i, pair)| Some((rank(&pair)?, i))).min() else {
            return parts;
        };
        let right = parts.remove(i + 1);
        parts[i].push_str(&right);
    }
}

#[test]
fn merger_matches_the_reference_algorithm() {
    let vocabulary = ["ab", "bc", "aa", "abc", "aab", "cab", "bb", "aaaa", "abab"];
    let rank = |text: &str| vocabulary.iter().position(|token| *token == text);
    let rank = |text: &str| rank(text).and_then(|rank| u32::try_from(rank).ok());
    let mut merger = Merger::new();
    for number in 0..3usize.pow(9) {
        let letter = |place| ["a", "b", "c"][number / 3usize.pow(place) % 3];
        let text: String = (0..9).map(letter).collect();
        let mut found = Vec::new();
        let parts = (0..text.len()).map(|i| (i..i + 1, false));
        merger.run(text.len(), parts, |r, _| rank(&text[r]), |r| found.push(text[r].to_owned()));
        assert_eq!(found, slow(&text, rank), "{text}");
    }
}
