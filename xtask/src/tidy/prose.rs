//! Checks the language of documents and doc comments: words that often replace a noun are rare,
//! and no doc comment begins with a question word.
//!
//! Passing does not make a text good; failing shows where to look.

use std::collections::BTreeMap;
use std::path::Path;

use super::{read, tracked};
use anyhow::Result;

/// Words that often stand where English has a noun or an ordinary word order.
const WORDS: &[&str] =
    &["what", "who", "of which", "as those", "none", "anew", "beside", "behind", "whatever"];

/// The number of such words that a text may have for each 1,000 words.
const PER_MILLE_MAX: usize = 6;

/// The folder of documents that are rendered from samples.
const RENDERED: &str = "samples/rendered";

/// First words that no doc comment has.
const QUESTION_WORDS: &[&str] = &["What", "How", "Who", "Whether"];

/// The number of words of a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    words: usize,
    /// Those of [`WORDS`].
    listed: usize,
}

pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut texts: BTreeMap<String, Counts> = BTreeMap::new();
    for path in tracked("*.md")? {
        if path.starts_with(RENDERED) {
            continue;
        }
        texts.entry(path.display().to_string()).or_default().add(read(&path)?.lines());
    }
    for path in tracked("*.rs")? {
        let Some(krate) = source_of(&path) else { continue };
        let text = read(&path)?;
        let comments: Vec<_> = doc_comments(&text).collect();
        let lines = comments.iter().flat_map(|(_, lines)| lines).copied();
        texts.entry(format!("doc comments of {krate}")).or_default().add(lines);
        for (number, lines) in &comments {
            let first = lines.first().and_then(|line| line.split_whitespace().next());
            if let Some(word) = first.filter(|word| QUESTION_WORDS.contains(word)) {
                problems.push(format!("{}:{number}: begins with {word}", path.display()));
            }
        }
    }
    for (name, counts) in texts {
        if counts.listed * 1_000 > counts.words * PER_MILLE_MAX {
            let Counts { words, listed } = counts;
            problems.push(format!(
                "{name}: {listed} of {words} words are {}: more than {PER_MILLE_MAX} in 1,000",
                WORDS.join(", ")
            ));
        }
    }
    Ok(problems)
}

impl Counts {
    /// Counts lines of Markdown, without code and tables.
    fn add<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        let mut is_code = false;
        for line in lines {
            let line = line.trim();
            if line.starts_with("```") {
                is_code = !is_code;
            } else if !is_code && !line.starts_with('|') {
                let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
                let prose = prose.to_lowercase();
                let is_word = |char: char| char.is_alphanumeric() || char == '\'';
                let words: Vec<_> =
                    prose.split(|char| !is_word(char)).filter(|word| !word.is_empty()).collect();
                self.words += words.len();
                let text = format!(" {} ", words.join(" "));
                self.listed += WORDS
                    .iter()
                    .map(|word| text.matches(&format!(" {word} ")).count())
                    .sum::<usize>();
            }
        }
    }
}

/// Returns the name of the crate whose `src` folder has this file.
fn source_of(path: &Path) -> Option<String> {
    let (krate, _) = path.to_str()?.split_once("/src/")?;
    Some(krate.to_owned())
}

/// Returns the doc comments of a source, each with the number of its first line.
fn doc_comments(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let mut lines = text.lines().enumerate().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, line) = lines.next()?;
            let Some(first) = doc_line(line) else { continue };
            let mut comment = vec![first];
            while let Some(next) = lines.peek().and_then(|(_, line)| doc_line(line)) {
                comment.push(next);
                lines.next();
            }
            return Some((at + 1, comment));
        }
    })
}

/// Returns the text of a line of a doc comment.
fn doc_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then(|| text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_tables_are_not_counted() {
        let text = "What is `what` of which\n| none |\n```text\nbehind\n```\nNone.\n";
        let mut counts = Counts::default();
        counts.add(text.lines());
        assert_eq!(counts, Counts { words: 6, listed: 3 });
    }

    #[test]
    fn doc_comments_have_line_and_text() {
        let text = "//! What it is\n//! not.\n\nfn f() {} // no\n    /// Returns.\n//// no\n";
        let found: Vec<_> = doc_comments(text).collect();
        assert_eq!(found, [(1, vec!["What it is", "not."]), (5, vec!["Returns."])]);
        assert_eq!(source_of(Path::new("crates/lcp-x/src/a/b.rs")).unwrap(), "crates/lcp-x");
    }
}
