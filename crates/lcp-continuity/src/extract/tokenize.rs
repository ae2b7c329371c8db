//! Splits sentences into words, so that rules can be written as lists of words.

/// A placeholder for a quotation or for inline code, which are not the speaker's own words.
pub(crate) const QUOTED: &str = "`";

/// The words of a sentence in lower case, and the punctuation between them.
#[derive(Clone, Debug)]
pub(crate) struct WordTokens(String);

impl WordTokens {
    /// Splits `sentence` into words. Apostrophes become `'`, asterisks and underscores for emphasis
    /// are dropped, a quotation or inline code becomes one [`QUOTED`], and any other character
    /// outside of words is a word of its own.
    pub(crate) fn new(sentence: &str) -> Self {
        let mut words = Self(String::with_capacity(sentence.len() + 16));
        let mut rest = sentence;
        let mut inside = false;
        // Quotation marks without a closing mark, so that each is searched for only once.
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

/// Returns whether a character can occur inside a word, as in `don't`, `src/main.rs`, `10:30`.
fn is_inner(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, ',' | ';' | '(' | ')' | '—' | '–' | '…' | '=' | '?' | '!')
}

/// Returns whether `words` begin with `phrase`, a list of words separated by spaces.
pub(crate) fn starts_with_phrase(words: &[&str], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|word| words.next() == Some(&word))
}

/// Returns whether `words` contain `phrase`.
pub(crate) fn contains_phrase(words: &[&str], phrase: &str) -> bool {
    (0..words.len()).any(|at| starts_with_phrase(&words[at..], phrase))
}

/// Returns whether `words` contain any of these phrases.
pub(crate) fn contains_any(words: &[&str], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| contains_phrase(words, phrase))
}

/// Introductory words before the main statement.
const LEADS: [&str; 27] = [
    "ok", "okay", "great", "sure", "yes", "yeah", "yep", "right", "so", "and", "then", "but",
    "well", "thanks", "perfect", "alright", "also", "oh", "hmm", "sorry", "ah", "good", "hey",
    "hi", "hello", "understood", "wait",
];

/// Returns the number of introductory words at the beginning of `words`.
pub(crate) fn lead_length(words: &[&str]) -> usize {
    words
        .iter()
        .take_while(|word| {
            LEADS.contains(word) || matches!(**word, "," | "." | "!" | "-" | "–" | "—")
        })
        .count()
}
