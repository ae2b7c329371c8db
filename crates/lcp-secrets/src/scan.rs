//! The search for secrets. One pass finds the literals of all rules. The pattern of a rule runs
//! only after its literals.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::check::passes;
use crate::literals::{Literals, is_boundary_before};
use crate::private_key;
use crate::rules::{Check, Lead, RULES, Rule};

/// The comment on a line whose secrets are not reported.
pub const ALLOW: &str = "lcp: allow-secret";

/// A secret in a text. The value itself is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The kind, such as `github-token`; one of [`kinds`].
    pub kind: &'static str,
    /// The position of the value, in bytes.
    pub range: Range<usize>,
    /// The line on which the value begins, from 1.
    pub line: usize,
}

/// Returns the names of all kinds, in order.
#[must_use]
pub fn kinds() -> Vec<&'static str> {
    let mut kinds: Vec<_> = RULES.iter().map(|rule| rule.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Returns the secrets of a text, in order and without overlaps, except those on lines with
/// [`ALLOW`].
///
/// The text can have any encoding that extends ASCII, such as UTF-8.
#[must_use]
pub fn find(text: &[u8]) -> Vec<Secret> {
    let scanner = &*SCANNER;
    let mut matches: Vec<(Range<usize>, &'static str)> = Vec::new();
    scanner.literals.find(text, &mut |rule, literal| {
        matches.extend(scanner.value(rule, text, literal).map(|range| (range, RULES[rule].kind)));
    });
    // The longest of those that begin at the same position comes first.
    matches.sort_unstable_by_key(|(range, kind)| (range.start, usize::MAX - range.end, *kind));
    let mut secrets: Vec<Secret> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (range, kind) in matches {
        if secrets.last().is_some_and(|last| range.start < last.range.end) {
            continue;
        }
        line += memchr::memchr_iter(b'\n', &text[counted..range.start]).count();
        counted = range.start;
        if !is_allowed(text, &range) {
            secrets.push(Secret { kind, range, line });
        }
    }
    secrets
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// The literals of all rules, and the compiled patterns of those that occurred.
struct Scanner {
    literals: Literals,
    patterns: Vec<OnceLock<Regex>>,
}

impl Scanner {
    fn new() -> Self {
        let literals = Literals::new();
        Self { literals, patterns: RULES.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Returns the position of the secret of a rule whose literal is at `literal`.
    fn value(&self, at: usize, text: &[u8], literal: Range<usize>) -> Option<Range<usize>> {
        let rule = &RULES[at];
        let start = match rule.lead {
            Some(lead) => lead.start(text, literal.start)?,
            None => literal.start,
        };
        if !is_boundary_before(text, start) {
            return None;
        }
        let pattern = self.patterns[at].get_or_init(|| compile(rule));
        let mut groups = pattern.create_captures();
        let input = Input::new(text).range(literal.end..).anchored(Anchored::Yes);
        pattern.search_captures(&input, &mut groups);
        let range = value(&groups, start)?;
        match rule.check {
            Check::PrivateKey => {
                return private_key::end(text, &range).map(|end| range.start..end);
            }
            Check::PrivateKeyEnd => {
                return private_key::start(text, range.start).map(|start| start..range.end);
            }
            _ => {}
        }
        let is_complete = rule.check == Check::Password || is_boundary_after(text, range.end);
        (is_complete && passes(rule.check, text, &range)).then_some(range)
    }
}

fn compile(rule: &Rule) -> Regex {
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    let pattern = Regex::builder().syntax(syntax).build(rule.rest);
    pattern.expect("a test compiles every pattern")
}

fn value(groups: &Captures, start: usize) -> Option<Range<usize>> {
    let group = if groups.group_len() > 1 { groups.get_group(1) } else { None };
    let all = groups.get_match()?;
    Some(group.map_or(start..all.end(), |group| group.start..group.end))
}

impl Lead {
    /// Returns the start of the lead that ends at `end`, if it is long enough.
    fn start(self, text: &[u8], end: usize) -> Option<usize> {
        let is_part = |byte: &&u8| (self.is_part)(byte);
        let length = text[..end].iter().rev().take(self.max).take_while(is_part).count();
        (length >= self.min).then(|| end - length)
    }
}

/// Returns whether a secret can end at `at`.
fn is_boundary_after(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|after| !after.is_ascii_alphanumeric() && *after != b'_')
}

fn is_allowed(text: &[u8], range: &Range<usize>) -> bool {
    let start = text[..range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = text[range.end..].iter().position(|byte| *byte == b'\n');
    let end = end.map_or(text.len(), |at| range.end + at);
    text[start..end].windows(ALLOW.len()).any(|part| part == ALLOW.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::bytes_regex;

    use super::*;
    use crate::Redactor;

    /// Returns a value with the shape of a rule, and the position of the rule.
    fn values() -> impl Strategy<Value = (usize, Vec<u8>)> {
        (0..RULES.len()).prop_flat_map(|at| {
            let rule = &RULES[at];
            let lead = rule.lead.map_or_else(Vec::new, |lead| {
                let part = (b'0'..=b'z').find(|byte| (lead.is_part)(byte)).unwrap();
                vec![part; lead.max]
            });
            let literal = prop::sample::select(rule.literals);
            let rest = bytes_regex(&format!("(?-u:{})", rule.rest)).unwrap();
            (literal, rest).prop_map(move |(literal, rest)| {
                (at, [lead.as_slice(), literal.as_bytes(), &rest].concat())
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn token_with_the_shape_of_its_rule_is_found((at, value) in values()) {
            let rule = &RULES[at];
            let text = [b"\"", value.as_slice(), b"\"\n"].concat();
            // The other checks need more than a shape.
            let range = 1..1 + value.len();
            prop_assume!(rule.check == Check::Token && passes(rule.check, &text, &range));
            prop_assert!(!find(&text).is_empty(), "{} {}", rule.kind, text.escape_ascii());
        }

        #[test]
        fn redacted_text_has_no_secret(
            parts in prop::collection::vec((values(), "[ \n\"',;]{1,3}"), 0..6),
        ) {
            let parts = parts.iter().map(|((_, value), end)| [value, end.as_bytes()].concat());
            let text = parts.collect::<Vec<_>>().concat();
            let secrets = find(&text);
            let redacted = Redactor::default().redact(&text, &secrets);
            for secret in &secrets {
                let value = &text[secret.range.clone()];
                prop_assert!(!redacted.windows(value.len()).any(|part| part == value));
            }
            prop_assert_eq!(find(&redacted), []);
        }
    }

    #[test]
    fn every_pattern_compiles_and_every_literal_belongs_to_a_rule() {
        for rule in RULES {
            compile(rule);
            for literal in rule.literals {
                assert!(literal.len() >= 2 && !literal.contains('\0'), "{}", rule.kind);
            }
        }
        assert!(kinds().len() > 80);
    }

    #[test]
    fn guide_lists_all_kinds() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packing.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        let (_, list) = guide.split_once("**Kinds.** ").unwrap();
        let (list, _) = list.split_once(".\n").unwrap();
        let listed: Vec<_> = list.split(',').map(|kind| kind.trim().trim_matches('`')).collect();
        assert_eq!(listed, kinds());
    }

    #[test]
    fn secret_begins_after_a_boundary_or_an_escape() {
        let secret = "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";
        let count = |text: String| find(text.as_bytes()).len();
        for before in ["", " ", "\"", "=", "\\n", "%3D", "MY_", "-", "é"] {
            assert_eq!(count(format!("{before}{secret}")), 1, "{before:?}");
        }
        for before in ["x", "7", "\\nx", "3D"] {
            assert_eq!(count(format!("{before}{secret}")), 0, "{before:?}");
        }
        for after in ["x", "_", "7"] {
            assert_eq!(count(format!("{secret}{after}")), 0, "{after:?}");
        }
    }

    #[test]
    fn secrets_have_lines_and_do_not_overlap() {
        let token = "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";
        let text = format!("first\n{token} {token}\n\nlast {token}");
        let secrets = find(text.as_bytes());
        let lines: Vec<_> = secrets.iter().map(|secret| secret.line).collect();
        assert_eq!(lines, [2, 2, 4]);
        assert!(secrets.iter().all(|secret| &text[secret.range.clone()] == token));
    }

    #[test]
    fn line_with_the_comment_may_have_secrets() {
        let token = "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";
        let text = format!("a = '{token}' # {ALLOW}\nb = '{token}'\n");
        let lines: Vec<_> = find(text.as_bytes()).iter().map(|secret| secret.line).collect();
        assert_eq!(lines, [2]);
    }
}
