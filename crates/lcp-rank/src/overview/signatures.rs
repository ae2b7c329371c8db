//! Signatures and descriptions of files, found by the words of their lines. A parser would be exact
//! but would make `pack` several times slower.

use lcp_ingest::outline::InputKind;
use lcp_types::Lang;

use crate::document::Document;

/// A definition of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signature {
    pub(super) name: String,
    /// The first and the last line of the signature, from 1.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The factor of its value by its form: a public type says most of a file.
    pub(super) factor: f64,
    /// `true` if other files can use it.
    pub(super) is_public: bool,
}

/// The factors of types, of methods, of names that are common words, and of what other files cannot
/// use.
const TYPE: f64 = 2.0;
const METHOD: f64 = 0.3;
const COMMON: f64 = 0.3;
const PRIVATE: f64 = 0.2;

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
    "class", "def", "enum", "fn", "fun", "func", "function", "interface", "macro_rules",
    "namespace", "object", "struct", "trait", "type", "union",
];

/// Returns the definitions of code, in the order of lines.
pub(super) fn signatures(document: &Document<'_>) -> Vec<Signature> {
    let lines: Vec<_> = document.text.lines().collect();
    let mut found = Vec::new();
    let mut is_test = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        // What follows the test module of a Rust file is tests.
        is_test |= text.starts_with("mod tests {") && line.len() == text.len();
        if is_test || line.len() - text.len() > INDENT_MAX {
            continue;
        }
        if let Some(definition) = defined(text, document.kind) {
            let ends = |line: &&str| {
                let end = line.trim_end();
                end.ends_with(['{', ';', ':', '}', '=', ')'])
            };
            let rest = lines[at..].iter().take(SIGNATURE_LINES);
            let last = at + rest.clone().position(ends).unwrap_or(0);
            let is_member = line.len() > text.len();
            let name = definition.name.to_owned();
            let factor = definition.factor(is_member);
            let is_public = definition.is_public;
            found.push(Signature { name, first: at + 1, last: last + 1, factor, is_public });
            if found.len() == SIGNATURES_MAX {
                break;
            }
        }
    }
    found
}

/// The definition in a line.
struct Defined<'t> {
    name: &'t str,
    is_type: bool,
    is_public: bool,
}

impl Defined<'_> {
    fn factor(&self, is_member: bool) -> f64 {
        let is_word = self.name.bytes().all(|byte| byte.is_ascii_lowercase());
        let factors = [
            (self.is_type, TYPE),
            (!self.is_type && is_member, METHOD),
            (is_word, COMMON),
            (!self.is_public, PRIVATE),
        ];
        factors.into_iter().filter(|(holds, _)| *holds).map(|(_, factor)| factor).product()
    }
}

/// Returns the definition in a line.
fn defined(text: &str, kind: InputKind) -> Option<Defined<'_>> {
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
    let is_type = !matches!(keyword, "def" | "fn" | "fun" | "func" | "function" | "macro_rules");
    Some(Defined { name, is_type, is_public })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '"'));
    &text[..end.unwrap_or(text.len())]
}

/// The beginnings of lines that name the parts of a package.
const EXPORTS: [&str; 6] =
    ["pub use ", "pub mod ", "export * ", "export {", "export type {", "from ."];

/// The maximum number of such ranges, and of lines in a range.
const EXPORTS_MAX: usize = 24;

/// Returns the ranges of lines that name the parts of a package, from 1.
pub(super) fn exports(document: &Document<'_>) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut lines = document.text.lines().zip(1..);
    while let Some((line, first)) = lines.next() {
        if !EXPORTS.iter().any(|export| line.starts_with(export)) {
            continue;
        }
        let mut last = first;
        // A list can have several lines.
        let is_open = |line: &str| {
            line.trim_end().ends_with(['{', '(', ','])
                || line.starts_with(' ') && !line.trim_end().ends_with([';', ')', '}'])
        };
        if is_open(line) {
            last = lines
                .by_ref()
                .take(EXPORTS_MAX)
                .find(|(line, _)| !is_open(line))
                .map_or(last, |it| it.1);
        }
        match ranges.last_mut() {
            Some(before) if before.1 + 1 == first => before.1 = last,
            _ => ranges.push((first, last)),
        }
        if ranges.len() == EXPORTS_MAX {
            break;
        }
    }
    ranges
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
            let length = if let Some(mark) =
                [r#"""""#, "/**", "/*"].iter().find(|it| first.starts_with(**it))
            {
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

    /// Returns the names and the lines of the definitions in a text, and the names with `-` that
    /// other files cannot use.
    fn lines_of(lang: Lang, text: &str) -> Vec<(String, usize, usize)> {
        let kind = InputKind::Code(lang);
        let document = Document { path: "a", text, kind };
        let named = |one: Signature| {
            (format!("{}{}", if one.is_public { "" } else { "-" }, one.name), one.first, one.last)
        };
        signatures(&document).into_iter().map(named).collect()
    }

    #[test]
    fn signatures_of_several_languages_are_found() {
        let name = |name: &str, first, last| (name.to_owned(), first, last);
        let rust = "pub(crate) async fn open(\n    door: &Door,\n) -> bool {\n}\nstruct Door;\n";
        assert_eq!(lines_of(Lang::Rust, rust), [name("open", 1, 3), name("-Door", 5, 5)]);
        let go = "func (d *Door) Open() error {\nfunc hinge() {\ntype Door struct {\n";
        let expected = [name("Open", 1, 1), name("-hinge", 2, 2), name("Door", 3, 3)];
        assert_eq!(lines_of(Lang::Go, go), expected);
        assert_eq!(lines_of(Lang::Python, "def _f():\n# def g():\n"), [name("-_f", 1, 1)]);
        let script = "export default class A {\nfunction b() {\n";
        assert_eq!(lines_of(Lang::TypeScript, script), [name("A", 1, 1), name("-b", 2, 2)]);
    }

    #[test]
    fn test_module_in_the_file_ends_the_signatures() {
        let name = |name: &str, first, last| (name.to_owned(), first, last);
        let text = "mod tests;\npub fn open() {\n}\nmod tests {\npub fn test() {\n";
        assert_eq!(lines_of(Lang::Rust, text), [name("open", 2, 2)]);
    }

    #[test]
    fn exports_are_ranges_of_lines() {
        let text = "mod a;\npub use a::{\n    B,\n    C,\n};\npub mod d;\nfn e() {}\n";
        let kind = InputKind::Code(Lang::Rust);
        assert_eq!(exports(&Document { path: "a", text, kind }), [(2, 6)]);
    }

    #[test]
    fn comments_at_the_top_describe_code() {
        let describe =
            |text| description(&Document { path: "a", text, kind: InputKind::Code(Lang::Rust) });
        assert_eq!(describe("//! Doors.\n//! More.\n//!\n//! Rest.\nuse a;\n"), Some((1, 2)));
        assert_eq!(describe("/* Doors.\n * More.\n */\nuse a;\n"), Some((1, 3)));
        assert_eq!(describe("use a;\n// Not this.\n"), None);
        assert_eq!(describe("#![allow(x)]\n"), None);
    }
}
