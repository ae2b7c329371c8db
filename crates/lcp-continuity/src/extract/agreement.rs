//! Classifies short replies of users: agreement, refusal, or a filler.

use super::sentences::sentences;
use super::tokenize::{QUOTED, WordTokens, contains_any, lead_length, starts_with_phrase};

/// How a reply agrees. In lower case, as [`WordTokens`] has them.
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

/// Where the words of a refusal are none.
const NO_REFUSAL: &[&str] =
    &["no problem", "no objection", "no objections", "don't forget", "don't worry", "no worries"];

/// What takes back a part of a yes: it is no plain one.
const RESERVES: &[&str] = &["but", "except", "however", "unless", "only if", "after you"];

/// Words of replies that say no more than "yes", "no" or "go on".
const FILLERS: &[&str] = &[
    "yes", "yep", "yeah", "yup", "y", "no", "nope", "n", "ok", "okay", "k", "sure", "go", "on",
    "ahead", "for", "it", "that", "do", "so", "approved", "approve", "lgtm", "looks", "look",
    "sounds", "good", "great", "perfect", "fine", "nice", "cool", "awesome", "excellent",
    "proceed", "continue", "please", "thanks", "thank", "you", "thx", "ty", "next", "keep",
    "going", "carry", "resume", "agreed", "correct", "right", "alright", "absolutely", "of",
    "course", "now", "then", "and", "the", "to", "me", "all", "well", "done", "very", "much", "a",
    "lot", "1", "this", "with", "is", "works", "hi", "hello",
];

/// Whether a reply agrees or refuses; `None` where it says neither plainly.
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

/// Whether a reply says no more than "yes", "no" or "go on".
pub(crate) fn is_filler(reply: &str) -> bool {
    let is_more = |word: &str| {
        word == QUOTED || word.contains(char::is_alphanumeric) && !FILLERS.contains(&word)
    };
    // Whatever is longer says more; no need to look at all of it.
    reply.len() < 80 && !WordTokens::new(reply).words().into_iter().any(is_more)
}
