//! The rules that decide whether a sentence is an anchor.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use lcp_types::Role;

use super::super::output_detection::is_diagnostic;
use super::super::tokenize::{
    WordTokens, contains_any, contains_phrase, lead_length, starts_with_phrase,
};
use super::phrases::{
    APOLOGIES, CONDITIONS, DECIDED_BY, DOING_NOW, EXCEPTIONS, IMPERATIVES, LOOKING_FOR,
    OF_PROGRAMS, OFFERED, OFFERS, PHRASES, Phrase, PhrasePosition, RIGHTS, SMALL_TALK,
    SpeakerFilter, WE_USE,
};
use crate::model::{AnchorKind, Recorded, Speaker};
use crate::tool_pairs::is_before_call;

const MIN_WORDS: usize = 3;
const MIN_ASKED: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct SentenceContext {
    pub(super) role: Role,
    /// `true` if a call follows the message, which then only announces the call.
    pub(super) is_before_call: bool,
    /// `true` if the message performs the actions that it announces: it contains code, or a call
    /// follows.
    pub(super) is_acting: bool,
}

static BY_WORD: LazyLock<HashMap<&str, Vec<&Phrase>, FixedState>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<&Phrase>, FixedState> = HashMap::default();
    for phrase in PHRASES {
        let word = phrase.words.split(' ').next().unwrap_or_default();
        by_word.entry(word).or_default().push(phrase);
    }
    by_word
});

/// The order in which kinds are tried. A sentence has only one kind.
const ORDER: [AnchorKind; 5] = [
    AnchorKind::Decision,
    AnchorKind::Commitment,
    AnchorKind::Correction,
    AnchorKind::Preference,
    AnchorKind::CriticalFact,
];

/// Returns the kind of anchor that a sentence is, or `None` if it is not an anchor.
pub(super) fn kind_of(sentence: &str, context: SentenceContext) -> Option<AnchorKind> {
    let normal = WordTokens::new(sentence);
    let words = normal.words();
    let count = |words: &[&str]| {
        words.iter().filter(|word| word.starts_with(char::is_alphanumeric)).count()
    };
    if count(&words) < MIN_WORDS || is_diagnostic(sentence) {
        return None;
    }
    let start = lead_length(&words);
    let end = sentence.trim_end_matches(['"', '\'', ')', ']', '”', '’', '*', '_', '»', '」']);
    if end.ends_with(['?', '？']) {
        let waits = count(&words[start..]) >= MIN_ASKED
            && !contains_any(&words, SMALL_TALK)
            && (context.role == Role::User || !contains_any(&words, OFFERED));
        return waits.then_some(AnchorKind::OpenQuestion);
    }
    let mut best = ORDER.len();
    for (at, word) in words.iter().enumerate() {
        for phrase in BY_WORD.get(word).into_iter().flatten() {
            let rank = ORDER.iter().position(|kind| *kind == phrase.kind).unwrap_or(best);
            if rank < best && phrase_applies(phrase, &words, at, start, context) {
                best = rank;
            }
        }
    }
    let found = ORDER.get(best).copied();
    let is_weak = matches!(found, None | Some(AnchorKind::Preference | AnchorKind::CriticalFact));
    if is_weak && context.role == Role::User && is_replacement(&words) {
        return Some(AnchorKind::Correction);
    }
    found
}

pub(super) fn is_small_talk(question: &str) -> bool {
    contains_any(&WordTokens::new(question).words(), SMALL_TALK)
}

/// Returns whether `phrase` occurs at `at` with the meaning that it is listed for.
fn phrase_applies(
    phrase: &Phrase,
    words: &[&str],
    at: usize,
    start: usize,
    context: SentenceContext,
) -> bool {
    let in_place = match phrase.place {
        PhrasePosition::Start => at == start,
        PhrasePosition::Anywhere => true,
    };
    let speaks = match phrase.who {
        SpeakerFilter::Anyone => true,
        SpeakerFilter::User => context.role == Role::User,
        SpeakerFilter::AnyoneDone => context.role == Role::User || !context.is_before_call,
    };
    if !in_place || !speaks || !starts_with_phrase(&words[at..], phrase.words) {
        return false;
    }
    let rest = &words[at + phrase.words.split(' ').count()..];
    let is_exception = EXCEPTIONS.iter().any(|(words, after)| {
        *words == phrase.words && after.iter().any(|after| starts_with_phrase(rest, after))
    });
    // "Agreed to that" is a decision, "It was agreed to." is not.
    let is_bare = rest.iter().all(|word| !word.contains(char::is_alphanumeric));
    if is_exception || is_bare && phrase.kind == AnchorKind::Decision {
        return false;
    }
    let before = &words[at.saturating_sub(3)..at];
    match (phrase.kind, phrase.words) {
        (AnchorKind::Decision, "instead of") => contains_any(words, WE_USE),
        (AnchorKind::Decision, phrase) => {
            !is_conditional(before)
                && !contains_any(words, LOOKING_FOR)
                && !contains_any(words, OFFERS)
                && (context.role == Role::User || !is_relative(before))
                && (!phrase.starts_with("decided") || is_decided_by(before, at == start))
        }
        (AnchorKind::Commitment, phrase) => {
            !is_conditional(before)
                && !contains_any(words, OFFERS)
                && is_promise(words, at, phrase, context)
        }
        // "It gives X instead of Y" describes behavior and is not a wish.
        (AnchorKind::Correction, "instead") => {
            words.get(start).is_some_and(|word| IMPERATIVES.contains(word))
                || contains_phrase(words, "should")
        }
        (AnchorKind::Correction, "actually") => {
            context.role == Role::User
                || rest.first() == Some(&",") && !contains_any(words, DOING_NOW)
        }
        // A model that only apologizes does not correct anything.
        (AnchorKind::Correction, _) => {
            context.role == Role::User
                || !contains_any(words, APOLOGIES)
                || contains_any(words, RIGHTS)
        }
        (AnchorKind::Preference, _) => {
            !OF_PROGRAMS.iter().any(|subject| starts_with_phrase(&words[start..], subject))
                && !describes_behavior(&words[..at])
        }
        (AnchorKind::CriticalFact, phrase) => is_fact(words, at, start, phrase, context),
        (AnchorKind::OpenQuestion, _) => true,
    }
}

fn is_conditional(before: &[&str]) -> bool {
    before.iter().any(|word| CONDITIONS.contains(word))
}

fn is_decided_by(before: &[&str], is_start: bool) -> bool {
    is_start
        || before.last().is_some_and(|word| DECIDED_BY.contains(word))
            && !contains_any(before, &["not", "haven't", "hasn't", "never", "nothing"])
}

/// Returns whether the sentence replaces one thing by another: "not X but Y", "it's X, not Y".
fn is_replacement(words: &[&str]) -> bool {
    let Some(not) = words.iter().position(|word| *word == "not") else { return false };
    let after = &words[not + 1..];
    if let Some(but) = after.iter().take(4).position(|word| *word == "but") {
        let clause = ["i", "we", "you", "it", "that", "this", "there", "they", "still", "also"];
        let is_clause = after.get(but + 1).is_none_or(|word| clause.contains(word));
        let is_term = !after[..but].contains(&"only") && !after[..but].contains(&",");
        return but > 0 && is_term && !is_clause;
    }
    let is_named = ["should be", "it's", "it is", "use", "is called", "meant"]
        .iter()
        .any(|phrase| contains_phrase(&words[..not], phrase));
    not > 0 && words[not - 1] == "," && is_named && after.len() <= 6
}

/// Phrases that are promises in any context.
const PROMISES: [&str; 4] = ["i promise", "we promise", "i commit to", "we commit to"];

/// Verbs that state a limit after a negation ("I won't be able", "we won't need"), not a promise.
const LIMITS: [&str; 9] =
    ["be", "need", "have", "know", "matter", "work", "worry", "forget", "see"];

/// Adverbs between "I will" and the verb.
const AFTER_SUBJECT: [&str; 15] = [
    "now", "then", "also", "first", "next", "just", "quickly", "still", "definitely", "certainly",
    "therefore", "simply", "immediately", "briefly", "finally",
];

/// Words that mark one step of a sequence.
const STEPS: [&str; 10] = [
    "first", "firstly", "second", "secondly", "third", "then", "next", "finally", "lastly", "step",
];

/// Words right before "we'll" that make it part of a relative clause.
const RELATIVES: [&str; 5] = ["which", "that", "where", "why", "when"];

/// Verbs for actions at this moment, such as searching or continuing.
const LOOKING: &[&str] = &[
    "read", "look", "check", "run", "re-run", "rerun", "see", "search", "find", "grep", "open",
    "view", "inspect", "examine", "explore", "investigate", "list", "start", "begin", "take", "go",
    "try", "verify", "test", "review", "analyze", "analyse", "scan", "get", "fetch", "use", "call",
    "do", "need", "likely", "think", "explain", "show", "walk", "summarize", "summarise",
    "continue", "proceed", "have", "be", "assume", "assist", "help", "wait", "ask", "figure",
    "trace", "load", "locate", "gather", "confirm", "dig", "compare", "query", "print", "count",
    "focus", "break", "work", "know", "give",
];

/// Phrases that make a promise with any verb.
const LASTING: &[&str] = &[
    "i promise", "we promise", "i commit to", "we commit to", "from now on", "from here on",
    "going forward", "in future", "in the future", "until", "never", "always", "later",
    "afterwards", "tomorrow", "next time", "make sure", "before i", "before you", "before any",
    "before every", "before merging", "before pushing", "before releasing", "before deploying",
    "before deleting", "before the release", "before the merge", "after i", "after you",
    "after every", "after merging", "after the release", "after the merge", "as soon as",
    "every time", "once i", "once you", "once we", "once the", "once it", "once that",
];

/// Words after which a phrase of time describes the code, and not the promise.
const OF_CODE: [&str; 9] =
    ["to", "that", "if", "which", "where", "so", "ensure", "ensuring", "while"];

/// Returns whether "I will", "we'll", "let's" … at `at` is more than an announcement of the current
/// action.
fn is_promise(words: &[&str], at: usize, phrase: &str, context: SentenceContext) -> bool {
    let is_user = context.role == Role::User;
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
    if adverbs.contains(&"now") || starts_with_phrase(words, "now") {
        return false;
    }
    if !is_user && context.is_acting {
        return PROMISES.contains(&phrase)
            || contains_any(&words[..at], LASTING)
            || has_lasting_time(rest);
    }
    !LOOKING.contains(verb) || contains_any(words, LASTING)
}

/// Returns whether "we'll" between these words is one step of a sequence or part of a relative
/// clause.
fn is_step(before: &[&str], adverbs: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(3)..];
    let is_one = near.iter().chain(adverbs).any(|word| STEPS.contains(word));
    is_one && !contains_phrase(near, "next time")
        || contains_phrase(near, "after that")
        || is_relative(before)
}

/// Returns whether the word right before a phrase makes it part of a relative clause.
fn is_relative(before: &[&str]) -> bool {
    before.last().is_some_and(|word| RELATIVES.contains(word))
}

/// Returns whether a phrase of time occurs before the description of the code. In "change it to
/// always return a list" it does not.
fn has_lasting_time(rest: &[&str]) -> bool {
    let of_code = rest.iter().position(|word| OF_CODE.contains(word)).unwrap_or(rest.len());
    // "Make sure to …" and "make sure that …" end right before such a word.
    (0..of_code).any(|at| LASTING.iter().any(|phrase| starts_with_phrase(&rest[at..], phrase)))
}

/// Phrases with which a model begins to describe its own change.
const CHANGES: &[&str] = &[
    "this change", "this modification", "this update", "this fix", "this ensures", "this will",
    "this would", "this should", "this allows", "this makes", "this means", "this assumes",
    "this test", "these changes", "these modifications", "these updates", "these fixes",
    "these ensure", "the change", "the changes", "the modification", "the modifications",
    "the update", "the updates", "the updated", "the modified", "with this", "with these", "i've",
    "i have", "we've", "we have", "we need", "we're", "we are",
];

/// Words with which a model begins to describe the behavior of its code.
const NARRATORS: [&str; 13] = [
    "this", "these", "those", "we", "i", "we've", "i've", "we're", "i'm", "let's", "now", "with",
    "it'll",
];

/// Phrases that can state a rule even in a message that contains code.
const RULES: [&str; 7] = [
    "must", "mustn't", "requires", "only works with", "only works if", "only works when",
    "hard limit",
];

/// Returns whether the phrase at `at` in `words` states a fact. `start` is the index of the first
/// word after introductory words.
fn is_fact(
    words: &[&str],
    at: usize,
    start: usize,
    phrase: &str,
    context: SentenceContext,
) -> bool {
    let (before, point) = (&words[..at], &words[start..]);
    let rest = &words[at + phrase.split(' ').count()..];
    let begins_any =
        |words: &[&str], list: &[&str]| list.iter().any(|it| starts_with_phrase(words, it));
    if context.role != Role::User {
        if begins_any(point, CHANGES) || begins_any(rest, CHANGES) {
            return false;
        }
        let is_rule =
            phrase != "must" || rest.first().is_some_and(|word| ["not", "never"].contains(word));
        let is_weak = ["must", "never", "always", "is required", "are required"].contains(&phrase);
        let is_told = point.first().is_some_and(|word| NARRATORS.contains(word));
        if context.is_acting && is_weak && !(RULES.contains(&phrase) && is_rule)
            || (is_weak || phrase == "requires") && is_told
        {
            return false;
        }
    }
    match phrase {
        // "It never closes the file" describes behavior, "Never close it" is a rule.
        "never" | "always" => {
            !rest.first().is_some_and(|word| is_third_person(word)) && !describes_behavior(before)
        }
        "must" => !contains_phrase(before, "if"),
        "is required" | "are required" => !contains_any(before, &["if", "when", "once", "that"]),
        _ => true,
    }
}

fn is_third_person(word: &str) -> bool {
    word.ends_with('s') && !word.ends_with("ss") && word.chars().nth(2).is_some()
}

/// Returns whether "always" or "never" after `before` describes behavior: "it will always", "it
/// doesn't always".
fn describes_behavior(before: &[&str]) -> bool {
    let is_told = before.windows(2).any(|pair| {
        pair[1] == "will" && !["i", "we", "you"].contains(&pair[0])
            || ["seems", "appears"].contains(&pair[0]) && pair[1] == "to"
    });
    is_told
        || before
            .last()
            .is_some_and(|word| ["of", "than", "not"].contains(word) || word.ends_with("n't"))
}

/// Replies that postpone the answer.
const DEFERRALS: &[&str] = &[
    "i'll check", "i will check", "let me check", "i'll look into", "i will look into",
    "let me look into", "i'll find out", "i will find out", "let me find out", "i'll get back to",
    "i will get back to", "i'll have to check", "i need to check", "i don't know yet",
    "i'm not sure yet", "i can't say yet",
];

/// Returns the speaker whose earlier questions the message at `at` answers.
///
/// A turn of the user answers questions of the model. A turn of the model answers questions of the
/// user, unless it postpones the answer or comes right before a call.
pub(super) fn answered_speaker(messages: &[Recorded], at: usize) -> Option<Speaker> {
    let (role, text) = messages[at].message.turn_text()?;
    if role == Role::User {
        return Some(Speaker::Model);
    }
    let answers =
        !is_before_call(messages, at) && !contains_any(&WordTokens::new(&text).words(), DEFERRALS);
    answers.then_some(Speaker::User)
}

/// Returns, for each message, whether its questions are still open, that is, not answered by a
/// later message. Questions of the model right before a call are not open, because the call answers
/// them.
pub(super) fn open_questions(messages: &[Recorded]) -> Vec<bool> {
    let mut open = vec![false; messages.len()];
    let (mut of_user, mut of_model) = (true, true);
    for at in (0..messages.len()).rev() {
        let Some((role, _)) = messages[at].message.turn_text() else { continue };
        open[at] = match role {
            Role::User => of_user,
            _ => of_model && !is_before_call(messages, at),
        };
        match role {
            Role::User => of_model = false,
            // Once a later message answers the user, earlier ones need no check.
            _ => of_user = of_user && answered_speaker(messages, at) != Some(Speaker::User),
        }
    }
    open
}
