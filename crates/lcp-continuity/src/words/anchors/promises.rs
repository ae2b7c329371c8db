//! What somebody says that they will do: a promise, or the step that is next.

use lcp_types::Role;

use super::super::normal::{begins, has, has_any};
use super::rules::Said;

/// Phrases that promise, whatever is said beside them.
const PROMISES: [&str; 4] = ["i promise", "we promise", "i commit to", "we commit to"];

/// What one will not do because one cannot, or need not.
const LIMITS: [&str; 9] =
    ["be", "need", "have", "know", "matter", "work", "worry", "forget", "see"];

/// Words between "I will" and the verb.
const AFTER_SUBJECT: [&str; 15] = [
    "now", "then", "also", "first", "next", "just", "quickly", "still", "definitely", "certainly",
    "therefore", "simply", "immediately", "briefly", "finally",
];

/// Words that make of it a step among others.
const STEPS: [&str; 10] = [
    "first", "firstly", "second", "secondly", "third", "then", "next", "finally", "lastly", "step",
];

/// Words right before "we'll" with which it tells of something else.
const RELATIVES: [&str; 5] = ["which", "that", "where", "why", "when"];

/// Verbs of what one does at this moment, to find out or to go on.
const LOOKING: &[&str] = &[
    "read", "look", "check", "run", "re-run", "rerun", "see", "search", "find", "grep", "open",
    "view", "inspect", "examine", "explore", "investigate", "list", "start", "begin", "take", "go",
    "try", "verify", "test", "review", "analyze", "analyse", "scan", "get", "fetch", "use", "call",
    "do", "need", "likely", "think", "explain", "show", "walk", "summarize", "summarise",
    "continue", "proceed", "have", "be", "assume", "assist", "help", "wait", "ask", "figure",
    "trace", "load", "locate", "gather", "confirm", "dig", "compare", "query", "print", "count",
    "focus", "break", "work", "know", "give",
];

/// What makes a promise of it, whatever the verb.
const LASTING: &[&str] = &[
    "i promise", "we promise", "i commit to", "we commit to", "from now on", "from here on",
    "going forward", "in future", "in the future", "until", "never", "always", "later",
    "afterwards", "tomorrow", "next time", "make sure", "before i", "before you", "before any",
    "before every", "before merging", "before pushing", "before releasing", "before deploying",
    "before deleting", "before the release", "before the merge", "after i", "after you",
    "after every", "after merging", "after the release", "after the merge", "as soon as",
    "every time", "once i", "once you", "once we", "once the", "once it", "once that",
];

/// Words behind which a time is one of the code that is told of.
const OF_CODE: [&str; 9] =
    ["to", "that", "if", "which", "where", "so", "ensure", "ensuring", "while"];

/// Whether what somebody says they will do is more than what they do right now;
/// `phrase` is "I will", "we'll", "let's" or the like, at `at` in `words`.
pub(super) fn is_promise(words: &[&str], at: usize, phrase: &str, said: Said) -> bool {
    let is_user = said.role == Role::User;
    let rest = &words[at + phrase.split(' ').count()..];
    let adverbs = rest.iter().take_while(|word| AFTER_SUBJECT.contains(word)).count();
    let (adverbs, rest) = rest.split_at(adverbs);
    if !is_user && (phrase == "let's" || is_step(&words[..at], adverbs)) {
        return false;
    }
    let is_no = |word: &&str| ["not", "never"].contains(word);
    let Some(verb) = rest.iter().find(|word| !is_no(word)) else { return false };
    if phrase.ends_with("won't") || rest.first().is_some_and(is_no) {
        return !LIMITS.contains(verb);
    }
    if adverbs.contains(&"now") || begins(words, "now") {
        return false;
    }
    if !is_user && said.acts {
        return PROMISES.contains(&phrase) || has_any(&words[..at], LASTING) || lasts(rest);
    }
    !LOOKING.contains(verb) || has_any(words, LASTING)
}

/// Whether "we'll", said behind `before` and followed by `adverbs`, tells of one
/// step of several, or of something that is not it.
pub(super) fn is_step(before: &[&str], adverbs: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(3)..];
    let is_one = near.iter().chain(adverbs).any(|word| STEPS.contains(word));
    is_one && !has(near, "next time") || has(near, "after that") || is_relative(before)
}

/// Whether the word right before a phrase makes a part of another sentence of it.
pub(super) fn is_relative(before: &[&str]) -> bool {
    before.last().is_some_and(|word| RELATIVES.contains(word))
}

/// Whether what is to be done is bound to a time to come, not the code that is told
/// of ("I'll change it to always return a list").
fn lasts(rest: &[&str]) -> bool {
    let of_code = rest.iter().position(|word| OF_CODE.contains(word)).unwrap_or(rest.len());
    // "Make sure to …" and "make sure that …" end right before such a word.
    (0..of_code).any(|at| LASTING.iter().any(|phrase| begins(&rest[at..], phrase)))
}
