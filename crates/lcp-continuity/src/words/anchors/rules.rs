//! What makes a sentence an anchor.

use std::collections::HashMap;
use std::sync::LazyLock;

use lcp_types::Role;

use super::super::machine::is_finding;
use super::super::normal::{Words, begins, has, has_any, lead};
use super::facts::{happens, is_fact};
use super::phrases::{
    APOLOGIES, CONDITIONS, DECIDED_BY, DOING_NOW, EXCEPT, IMPERATIVES, LOOKING_FOR, OF_PROGRAMS,
    OFFERED, OFFERS, PHRASES, Phrase, Place, RIGHTS, SMALL_TALK, WE_USE, Who,
};
use super::promises::{is_promise, is_relative};
use crate::model::AnchorKind;

/// Words of the shortest sentence that is an anchor.
const MIN_WORDS: usize = 3;

/// Words of the shortest question that is one, behind words like "ok, so".
const MIN_ASKED: usize = 4;

/// Who says it, and when.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// The user or the model.
    pub(super) role: Role,
    /// Whether a call follows, of which it only says what it is for.
    pub(super) is_working: bool,
    /// Whether the message does what it tells of: it holds code, or a call follows.
    pub(super) acts: bool,
}

/// The phrases by their first word.
static BY_WORD: LazyLock<HashMap<&str, Vec<&Phrase>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<&Phrase>> = HashMap::new();
    for phrase in PHRASES {
        let word = phrase.words.split(' ').next().unwrap_or_default();
        by_word.entry(word).or_default().push(phrase);
    }
    by_word
});

/// The order in which kinds are tried: a sentence has one.
const ORDER: [AnchorKind; 5] = [
    AnchorKind::Decision,
    AnchorKind::Commitment,
    AnchorKind::Correction,
    AnchorKind::Preference,
    AnchorKind::CriticalFact,
];

/// What the sentence is, if it is an anchor.
pub(super) fn kind_of(sentence: &str, said: Said) -> Option<AnchorKind> {
    let normal = Words::of(sentence);
    let words = normal.list();
    let count =
        |words: &[&str]| words.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
    if count(&words) < MIN_WORDS || is_finding(sentence) {
        return None;
    }
    let start = lead(&words);
    let end = sentence.trim_end_matches(['"', '\'', ')', ']', '”', '’', '*', '_', '»', '」']);
    if end.ends_with(['?', '？']) {
        let waits = count(&words[start..]) >= MIN_ASKED
            && !has_any(&words, SMALL_TALK)
            && (said.role == Role::User || !has_any(&words, OFFERED));
        return waits.then_some(AnchorKind::OpenQuestion);
    }
    let mut best = ORDER.len();
    for (at, word) in words.iter().enumerate() {
        for phrase in BY_WORD.get(word).into_iter().flatten() {
            let rank = ORDER.iter().position(|kind| *kind == phrase.kind).unwrap_or(best);
            if rank < best && holds(phrase, &words, at, start, said) {
                best = rank;
            }
        }
    }
    let found = ORDER.get(best).copied();
    match found {
        None | Some(AnchorKind::Preference | AnchorKind::CriticalFact) => {
            if said.role == Role::User && is_replacement(&words) {
                return Some(AnchorKind::Correction);
            }
            found
        }
        _ => found,
    }
}

/// Whether a question waits for no answer, whoever asks it.
pub(super) fn is_small_talk(question: &str) -> bool {
    has_any(&Words::of(question).list(), SMALL_TALK)
}

/// Whether `phrase` is at `at` and means what it is listed for.
fn holds(phrase: &Phrase, words: &[&str], at: usize, start: usize, said: Said) -> bool {
    let in_place = match phrase.place {
        Place::Start => at == start,
        Place::Anywhere => true,
    };
    let speaks = match phrase.who {
        Who::Anyone => true,
        Who::User => said.role == Role::User,
        Who::Rested => said.role == Role::User || !said.is_working,
    };
    if !in_place || !speaks || !begins(&words[at..], phrase.words) {
        return false;
    }
    let rest = &words[at + phrase.words.split(' ').count()..];
    let is_exception = EXCEPT.iter().any(|(words, after)| {
        *words == phrase.words && after.iter().any(|after| begins(rest, after))
    });
    // "Agreed to that", but not "It was agreed to."
    let is_bare = rest.iter().all(|word| !word.contains(char::is_alphanumeric));
    if is_exception || is_bare && phrase.kind == AnchorKind::Decision {
        return false;
    }
    let before = &words[at.saturating_sub(3)..at];
    match (phrase.kind, phrase.words) {
        (AnchorKind::Decision, "instead of") => has_any(words, WE_USE),
        (AnchorKind::Decision, phrase) => {
            !is_conditional(before)
                && !has_any(words, LOOKING_FOR)
                && !has_any(words, OFFERS)
                && (said.role == Role::User || !is_relative(before))
                && (!phrase.starts_with("decided") || is_decided_by(before, at == start))
        }
        (AnchorKind::Commitment, phrase) => {
            !is_conditional(before)
                && !has_any(words, OFFERS)
                && is_promise(words, at, phrase, said)
        }
        // "It gives X instead of Y" tells what happens, not what is wanted.
        (AnchorKind::Correction, "instead") => {
            words.get(start).is_some_and(|word| IMPERATIVES.contains(word)) || has(words, "should")
        }
        (AnchorKind::Correction, "actually") => {
            said.role == Role::User || rest.first() == Some(&",") && !has_any(words, DOING_NOW)
        }
        // A model that is sorry, and says no more, corrects nothing.
        (AnchorKind::Correction, _) => {
            said.role == Role::User || !has_any(words, APOLOGIES) || has_any(words, RIGHTS)
        }
        (AnchorKind::Preference, _) => {
            !OF_PROGRAMS.iter().any(|subject| begins(&words[start..], subject))
                && !happens(&words[..at])
        }
        (AnchorKind::CriticalFact, phrase) => is_fact(words, at, start, phrase, said),
        (AnchorKind::OpenQuestion, _) => true,
    }
}

/// Whether what stands right before a phrase makes it a condition.
fn is_conditional(before: &[&str]) -> bool {
    before.iter().any(|word| CONDITIONS.contains(word))
}

/// Whether it is said who decided.
fn is_decided_by(before: &[&str], is_start: bool) -> bool {
    is_start
        || before.last().is_some_and(|word| DECIDED_BY.contains(word))
            && !has_any(before, &["not", "haven't", "hasn't", "never", "nothing"])
}

/// Whether it says one thing in place of another: "not X but Y", "it's X, not Y".
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
        .any(|phrase| has(&words[..not], phrase));
    not > 0 && words[not - 1] == "," && is_named && after.len() <= 6
}
