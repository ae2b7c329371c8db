//! Splits sentences into words, so that rules can be written as lists of words.

/// A placeholder for a quotation or for inline code, which are not the speaker's own words.
pub(crate) const QUOTED: &str = "`";

/// The words of a sentence in lower case, and the punctuation between them.
#[derive(Clone, Debug)]
pub(crate) struct WordTokens {
    text: String,
    /// The byte offset in `text` at which each word begins.
    starts: Vec<usize>,
}

impl WordTokens {
    /// Splits `sentence` into words. Apostrophes become `'`, asterisks and underscores for emphasis
    /// are dropped, a quotation or inline code becomes one [`QUOTED`], and any other character
    /// outside of words is a word of its own.
    pub(crate) fn new(sentence: &str) -> Self {
        let text = String::with_capacity(sentence.len() + 16);
        let mut words = Self { text, starts: Vec::with_capacity(sentence.len() / 4) };
        let mut rest = sentence;
        let mut inside = false;
        // Quotation marks without a closing mark, so that each is searched for only once.
        let mut unclosed = [false; 3];
        while let Some(c) = rest.chars().next() {
            let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if run > 0 {
                if !inside {
                    words.begin();
                }
                let start = words.text.len();
                words.text.push_str(&rest[..run]);
                words.text[start..].make_ascii_lowercase();
                (rest, inside) = (&rest[run..], true);
                continue;
            }
            if c == ' ' {
                (rest, inside) = (&rest[1..], false);
                continue;
            }
            let after = &rest[c.len_utf8()..];
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
                    words.begin();
                }
                words.text.extend(c.to_lowercase());
                inside = true;
            } else if inside && is_inner(c) && after.starts_with(char::is_alphanumeric) {
                words.text.push(if c == '’' { '\'' } else { c });
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
        let ends = self.starts.iter().skip(1).copied().chain([self.text.len()]);
        self.starts.iter().zip(ends).map(|(start, end)| &self.text[*start..end]).collect()
    }

    fn push(&mut self, word: &str) {
        self.begin();
        self.text.push_str(word);
    }

    /// Begins a word.
    fn begin(&mut self) {
        self.starts.push(self.text.len());
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
