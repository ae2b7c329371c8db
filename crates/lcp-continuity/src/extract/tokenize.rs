//! Tokenizes a sentence into words, so that rules can be written in words.

/// What stands for a quotation, or for code within a line: somebody else's words.
pub(crate) const QUOTED: &str = "`";

/// The words of a sentence in lower case, and what is between them.
#[derive(Clone, Debug)]
pub(crate) struct WordTokens(String);

impl WordTokens {
    /// Tokenizes `sentence`: apostrophes are `'`, stars and underlines for emphasis are left out,
    /// quotations and code are one mark each, any other character that is in no word is by itself.
    pub(crate) fn new(sentence: &str) -> Self {
        let mut words = Self(String::with_capacity(sentence.len() + 16));
        let mut rest = sentence;
        let mut inside = false;
        // Marks of quotation that nothing closes, looked for once only.
        let mut unclosed = [false; 3];
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            let next_is_word = after.starts_with(char::is_alphanumeric);
            let pair = [('"', '"'), ('“', '”'), ('`', '`')].iter().position(|pair| pair.0 == c);
            if let Some(at) = pair.filter(|at| !(unclosed[*at] || inside && c == '"')) {
                let close = ['"', '”', '`'][at];
                if let Some(length) = after.find(close) {
                    words.push(QUOTED);
                    rest = &after[length + close.len_utf8()..];
                    inside = false;
                    continue;
                }
                unclosed[at] = true;
            }
            rest = after;
            if c.is_alphanumeric() {
                if !inside {
                    words.space();
                }
                words.0.extend(c.to_lowercase());
                inside = true;
            } else if inside && next_is_word && is_inner(c) {
                words.0.push(if c == '’' { '\'' } else { c });
            } else {
                if !c.is_whitespace() && !matches!(c, '*' | '_') {
                    words.push(c.encode_utf8(&mut [0; 4]));
                }
                inside = false;
            }
        }
        words
    }

    pub(crate) fn words(&self) -> Vec<&str> {
        self.0.split(' ').filter(|word| !word.is_empty()).collect()
    }

    fn push(&mut self, word: &str) {
        self.space();
        self.0.push_str(word);
    }

    fn space(&mut self) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
    }
}

/// Whether a character can stand within a word, as in `don't`, `src/main.rs`, `10:30`.
fn is_inner(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, ',' | ';' | '(' | ')' | '—' | '–' | '…' | '=' | '?' | '!')
}

/// Whether `words` go on with `phrase`, a list of words with a space between each.
pub(crate) fn starts_with_phrase(words: &[&str], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|word| words.next() == Some(&word))
}

/// Whether `phrase` is anywhere in `words`.
pub(crate) fn contains_phrase(words: &[&str], phrase: &str) -> bool {
    (0..words.len()).any(|at| starts_with_phrase(&words[at..], phrase))
}

/// Whether any of these phrases is anywhere in `words`.
pub(crate) fn contains_any(words: &[&str], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| contains_phrase(words, phrase))
}

/// What is said before one comes to the point.
const LEADS: [&str; 27] = [
    "ok", "okay", "great", "sure", "yes", "yeah", "yep", "right", "so", "and", "then", "but",
    "well", "thanks", "perfect", "alright", "also", "oh", "hmm", "sorry", "ah", "good", "hey",
    "hi", "hello", "understood", "wait",
];

/// How many words of `words` come before the point.
pub(crate) fn lead_length(words: &[&str]) -> usize {
    words
        .iter()
        .take_while(|word| {
            LEADS.contains(word) || matches!(**word, "," | "." | "!" | "-" | "–" | "—")
        })
        .count()
}
