//! Signatures and descriptions of files, found by the words of their lines. A parser would be exact
//! but would make `pack` several times slower.

use lcp_ingest::outline::InputKind;
use lcp_types::Lang;

use crate::ranking::Document;

/// A definition of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    /// The first and the last line of the signature, from 1.
    pub(super) first: usize,
    pub(super) last: usize,
    /// `true` if other files can use it.
    pub(super) is_public: bool,
}

/// The maximum number of lines of a signature, and of a description.
const SIGNATURE_LINES: usize = 6;
const DESCRIPTION_LINES: usize = 12;
const README_LINES: usize = 30;

/// The maximum number of signatures of a file.
const SIGNATURES_MAX: usize = 200;

/// The maximum indentation of a definition, in bytes. Deeper ones are within functions.
const INDENT_MAX: usize = 8;

/// The words before the keyword of a definition.
const MODIFIERS: [&str; 24] = [
    "abstract", "async", "const", "constexpr", "data", "declare", "default", "export", "extern",
    "final", "inline", "internal", "open", "override", "partial", "private", "protected", "public",
    "pub", "sealed", "static", "unsafe", "virtual", "\"C\"",
];

const KEYWORDS: [&str; 15] = [
    "class", "def", "enum", "fn", "fun", "func", "function", "interface", "macro_rules", "namespace",
    "object", "struct", "trait", "type", "union",
];

/// Returns the definitions of code, in the order of lines.
pub(super) fn signatures(document: &Document<'_>) -> Vec<Signature> {
    let lines: Vec<_> = document.text.lines().collect();
    let mut found = Vec::new();
    let mut is_test = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        // What follows the test module of a Rust file is tests.
        is_test |= text.starts_with("mod tests") && line.len() == text.len();
        if is_test || line.len() - text.len() > INDENT_MAX {
            continue;
        }
        if let Some((name, is_public)) = defined(text, document.kind) {
            let ends = |line: &&str| {
                let end = line.trim_end();
                end.ends_with(['{', ';', ':', '}', '=', ')'])
            };
            let rest = lines[at..].iter().take(SIGNATURE_LINES);
            let last = at + rest.clone().position(ends).unwrap_or(0);
            let name = name.to_owned();
            found.push(Signature { name, first: at + 1, last: last + 1, is_public });
            if found.len() == SIGNATURES_MAX {
                break;
            }
        }
    }
    found
}

/// Returns the name that a line defines, and whether other files can use it.
fn defined(text: &str, kind: InputKind) -> Option<(&str, bool)> {
    let mut rest = text;
    let mut has_public = false;
    loop {
        let word = first_word(rest);
        if MODIFIERS.contains(&word) {
            has_public |= matches!(word, "pub" | "export" | "public" | "open");
            rest = rest[word.len()..].trim_start();
            // `pub(crate)`.
            if word == "pub" && rest.starts_with('(') {
                rest = rest.split_once(')')?.1.trim_start();
            }
        } else {
            break;
        }
    }
    let keyword = first_word(rest);
    if !KEYWORDS.contains(&keyword) {
        return None;
    }
    rest = rest[keyword.len()..].trim_start_matches('!').trim_start();
    // The receiver of a method in Go.
    if keyword == "func" && rest.starts_with('(') {
        rest = rest.split_once(')')?.1.trim_start();
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = &rest[..end];
    let first = name.chars().next()?;
    let is_public = match kind {
        InputKind::Code(Lang::Go) => first.is_uppercase(),
        InputKind::Code(Lang::Python | Lang::Ruby | Lang::C | Lang::Cpp | Lang::Shell) => {
            first != '_'
        }
        _ => has_public,
    };
    Some((name, is_public))
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '"'));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the lines that describe a file: the beginning of a document, or the comment at the top of
/// code, from 1.
pub(super) fn description(document: &Document<'_>) -> Option<(usize, usize)> {
    let mut lines = document.text.lines();
    match document.kind {
        InputKind::Document | InputKind::Text => {
            let shown = lines.take(README_LINES).count();
            (shown > 0).then_some((1, shown))
        }
        InputKind::Code(_) | InputKind::TaggedCode(_) => {
            let first = lines.next()?.trim_start();
            let length = if let Some(mark) = [r#"""""#, "/**", "/*"].iter().find(|it| first.starts_with(**it)) {
                let close = if mark.starts_with('/') { "*/" } else { mark };
                let is_closed = first[mark.len()..].contains(close);
                let rest = lines.take(DESCRIPTION_LINES).position(|line| line.contains(close));
                if is_closed { 1 } else { 2 + rest.unwrap_or(DESCRIPTION_LINES - 2) }
            } else {
                let mark = ["//!", "//", "#"].into_iter().find(|mark| first.starts_with(mark))?;
                // An empty comment line ends the first paragraph.
                let is_part = |line: &&str| {
                    line.trim_start().strip_prefix(mark).is_some_and(|rest| !rest.trim().is_empty())
                };
                1 + lines.take_while(is_part).take(DESCRIPTION_LINES).count()
            };
            let is_attribute = first.starts_with("#!") || first.starts_with("#[");
            (!is_attribute).then_some((1, length))
        }
        InputKind::Records(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lang: Lang, text: &str) -> Vec<(String, usize, usize, bool)> {
        let document = Document { path: "a", text, kind: InputKind::Code(lang) };
        let tuple = |one: Signature| (one.name, one.first, one.last, one.is_public);
        signatures(&document).into_iter().map(tuple).collect()
    }

    #[test]
    fn signatures_of_several_languages_are_found() {
        let rust = "pub(crate) async fn open(\n    door: &Door,\n) -> bool {\n}\nstruct Door;\n";
        let name = |name: &str| name.to_owned();
        assert_eq!(
            found(Lang::Rust, rust),
            [(name("open"), 1, 3, true), (name("Door"), 5, 5, false)]
        );
        let go = "func (d *Door) Open() error {\nfunc hinge() {\ntype Door struct {\n";
        let names: Vec<_> = found(Lang::Go, go).into_iter().map(|one| (one.0, one.3)).collect();
        assert_eq!(names, [(name("Open"), true), (name("hinge"), false), (name("Door"), true)]);
        assert_eq!(found(Lang::Python, "def _f():\n# def g():\n")[0], (name("_f"), 1, 1, false));
        assert_eq!(found(Lang::TypeScript, "export default class A {\n")[0].3, true);
    }

    #[test]
    fn comments_at_the_top_describe_code() {
        let describe = |text| {
            description(&Document { path: "a", text, kind: InputKind::Code(Lang::Rust) })
        };
        assert_eq!(describe("//! Doors.\n//! More.\n//!\n//! Rest.\nuse a;\n"), Some((1, 2)));
        assert_eq!(describe("/* Doors.\n * More.\n */\nuse a;\n"), Some((1, 3)));
        assert_eq!(describe("use a;\n// Not this.\n"), None);
        assert_eq!(describe("#![allow(x)]\n"), None);
    }
}
