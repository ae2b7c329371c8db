//! Classifies short replies of users as agreement, refusal or filler.

use super::sentences::sentences;
use super::tokenize::{QUOTED, WordTokens, contains_any, lead_length, starts_with_phrase};

/// Phrases of agreement, in lower case like [`WordTokens`].
const AGREES: &[&str] = &[
    "yes", "yep", "yeah", "yup", "y", "ok", "okay", "k", "sure", "go", "go ahead", "go for it",
    "approved", "approve", "lgtm", "looks good", "sounds good", "do it", "do that", "proceed",
    "please do", "please proceed", "please continue", "please go ahead", "continue", "great",
    "perfect", "fine", "good", "ship it", "start", "agreed", "correct", "right", "no problem",
    "no objection", "no objections", "👍", "+ 1", "absolutely", "of course", "alright",
];

const REFUSES: &[&str] = &[
    "no", "nope", "nah", "n", "don't", "do not", "stop", "wait", "hold on", "hold off", "not yet",
    "not now", "cancel", "abort", "never mind", "nevermind", "rejected",
];

/// Phrases that begin like a refusal but are not one.
const NO_REFUSAL: &[&str] =
    &["no problem", "no objection", "no objections", "don't forget", "don't worry", "no worries"];

/// Words that qualify an agreement, so that it is not a plain yes.
const RESERVES: &[&str] = &["but", "except", "however", "unless", "only if", "after you"];

/// Words of replies that contain no more than "yes", "no" or "go on".
const FILLERS: &[&str] = &[
    "yes", "yep", "yeah", "yup", "y", "no", "nope", "n", "ok", "okay", "k", "sure", "go", "on",
    "ahead", "for", "it", "that", "do", "so", "approved", "approve", "lgtm", "looks", "look",
    "sounds", "good", "great", "perfect", "fine", "nice", "cool", "awesome", "excellent",
    "proceed", "continue", "please", "thanks", "thank", "you", "thx", "ty", "next", "keep",
    "going", "carry", "resume", "agreed", "correct", "right", "alright", "absolutely", "of",
    "course", "now", "then", "and", "the", "to", "me", "all", "well", "done", "very", "much", "a",
    "lot", "1", "this", "with", "is", "works", "hi", "hello",
];

/// Returns whether a reply agrees (`true`) or refuses (`false`), or `None` if it does neither
/// plainly.
pub(crate) fn agreement(reply: &str) -> Option<bool> {
    let first = sentences(reply).next().unwrap_or(reply);
    let tokens = WordTokens::new(first);
    let words = tokens.words();
    let starts = |list: &[&str], at: usize| {
        list.iter().any(|phrase| starts_with_phrase(&words[at..], phrase))
    };
    let point = lead_length(&words);
    if words.last() == Some(&"?") {
        return None;
    }
    let says_no = |at| starts(REFUSES, at) && !starts(NO_REFUSAL, at);
    if (0..=point).any(says_no) {
        return Some(false);
    }
    let says_yes = starts(AGREES, 0) || starts(AGREES, point);
    (says_yes && !contains_any(&words, RESERVES)).then_some(true)
}

/// Returns whether a reply contains no more than "yes", "no" or "go on".
pub(crate) fn is_filler(reply: &str) -> bool {
    let is_more = |word: &str| {
        word == QUOTED || word.contains(char::is_alphanumeric) && !FILLERS.contains(&word)
    };
    // A longer reply contains more, so it need not be split into words.
    reply.len() < 80 && !WordTokens::new(reply).words().into_iter().any(is_more)
}
