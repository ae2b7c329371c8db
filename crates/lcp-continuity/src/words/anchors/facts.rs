//! What somebody says that is so: a rule, or what happens.

use lcp_types::Role;

use super::super::normal::{begins, has, has_any};
use super::rules::Said;

/// With what a model begins to tell of its own change.
const CHANGES: &[&str] = &[
    "this change", "this modification", "this update", "this fix", "this ensures", "this will",
    "this would", "this should", "this allows", "this makes", "this means", "this assumes",
    "this test", "these changes", "these modifications", "these updates", "these fixes",
    "these ensure", "the change", "the changes", "the modification", "the modifications",
    "the update", "the updates", "the updated", "the modified", "with this", "with these", "i've",
    "i have", "we've", "we have", "we need", "we're", "we are",
];

/// With what it begins to tell what its code does.
const NARRATORS: [&str; 13] = [
    "this", "these", "those", "we", "i", "we've", "i've", "we're", "i'm", "let's", "now", "with",
    "it'll",
];

/// What stays a rule beside code.
const RULES: [&str; 7] = [
    "must", "mustn't", "requires", "only works with", "only works if", "only works when",
    "hard limit",
];

/// Whether the phrase of a fact at `at` in `words` is one; `start` is where they
/// come to the point.
pub(super) fn is_fact(words: &[&str], at: usize, start: usize, phrase: &str, said: Said) -> bool {
    let (before, point) = (&words[..at], &words[start..]);
    let rest = &words[at + phrase.split(' ').count()..];
    let begins_any = |words: &[&str], list: &[&str]| list.iter().any(|it| begins(words, it));
    if said.role != Role::User {
        if begins_any(point, CHANGES) || begins_any(rest, CHANGES) {
            return false;
        }
        let is_rule =
            phrase != "must" || rest.first().is_some_and(|word| ["not", "never"].contains(word));
        let is_weak = ["must", "never", "always", "is required", "are required"].contains(&phrase);
        let is_told = point.first().is_some_and(|word| NARRATORS.contains(word));
        if said.acts && is_weak && !(RULES.contains(&phrase) && is_rule)
            || (is_weak || phrase == "requires") && is_told
        {
            return false;
        }
    }
    match phrase {
        // "It never closes the file" tells what happens, "Never close it" is a rule.
        "never" | "always" => {
            !rest.first().is_some_and(|word| is_description(word)) && !happens(before)
        }
        "must" => !has(before, "if"),
        "is required" | "are required" => !has_any(before, &["if", "when", "once", "that"]),
        _ => true,
    }
}

/// Whether a word is a verb that tells what something does.
fn is_description(word: &str) -> bool {
    word.ends_with('s') && !word.ends_with("ss") && word.chars().nth(2).is_some()
}

/// Whether "always" and "never", said behind `before`, tell what something does: "it
/// will always …", "it doesn't always …", "rather than always …".
pub(super) fn happens(before: &[&str]) -> bool {
    let is_told = before.windows(2).any(|pair| {
        pair[1] == "will" && !["i", "we", "you"].contains(&pair[0])
            || ["seems", "appears"].contains(&pair[0]) && pair[1] == "to"
    });
    is_told
        || before
            .last()
            .is_some_and(|word| ["of", "than", "not"].contains(word) || word.ends_with("n't"))
}
