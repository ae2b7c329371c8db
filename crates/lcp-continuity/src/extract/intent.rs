//! Extracts the user's intent, in the user's own words.

use lcp_tokens::TokenEstimator;
use lcp_types::Role;

use super::agreement::is_filler;
use super::output_detection::is_slash_command;
use super::sentences::{sentence_ranges, sentences};
use crate::model::Recorded;

const CUT: &str = " […]";

/// What the user wants, word for word (RFC 0007 §6): the newest turn of the user
/// that says more than "yes", "thanks" or "go on", and is no command for the program
/// that it is typed into (`/clear`).
///
/// A turn that counts more than `max_tokens` is cut behind a sentence, or else a
/// word, and ends with ` […]`: the whole then counts `max_tokens` at most. `None`
/// where there is no such turn, or `max_tokens` has no room for a word of it.
///
/// ```
/// use lcp_continuity::{Message, Recorded};
/// use lcp_continuity::extract::user_intent;
/// use lcp_tokens::HeuristicEstimator;
///
/// let say = |position, message| Recorded { position, epoch: 0, tokens: 4, message };
/// let messages = [say(0, Message::user("Port it to Rust.")), say(1, Message::user("go on"))];
/// let intent = user_intent(&messages, &HeuristicEstimator, 100);
/// assert_eq!(intent.as_deref(), Some("Port it to Rust."));
/// ```
#[must_use]
pub fn user_intent(
    messages: &[Recorded],
    counter: &dyn TokenEstimator,
    max_tokens: u32,
) -> Option<String> {
    let turn = messages.iter().rev().find_map(|recorded| {
        let (role, text) = recorded.message.turn_text()?;
        let is_meant = role == Role::User
            && !is_filler(&text)
            && !is_machine_text(&text)
            && !is_slash_command(&text);
        is_meant.then(|| text.trim().to_owned())
    })?;
    if counter.count_up_to(&turn, max_tokens).is_some() {
        return Some(turn);
    }
    cut(&turn, counter, max_tokens)
}

/// Whether all of a turn is what a program put between its tags.
fn is_machine_text(text: &str) -> bool {
    text.trim_start().starts_with('<') && sentences(text).next().is_none()
}

fn cut(text: &str, counter: &dyn TokenEstimator, max_tokens: u32) -> Option<String> {
    let mut tokens = max_tokens;
    while tokens > 0 {
        let start = whole_sentences(text, counter.truncate_to(text, tokens).len());
        if start == 0 {
            return None;
        }
        let mut intent = text[..start].to_owned();
        intent.push_str(CUT);
        if counter.count_up_to(&intent, max_tokens).is_some() {
            return Some(intent);
        }
        // Counts need not add up: ever shorter, faster than one by one.
        tokens -= (tokens / 8).max(1);
    }
    None
}

/// Returns the end of the last whole sentence (else word) within the first `room` bytes.
fn whole_sentences(text: &str, room: usize) -> usize {
    let sentence =
        sentence_ranges(text).map(|range| range.end).take_while(|end| *end <= room).last();
    if let Some(end) = sentence.filter(|end| *end >= room / 2) {
        return end;
    }
    // The word at the edge is whole if white space follows it.
    let edge = text.len().min(room + text[room..].chars().next().map_or(0, char::len_utf8));
    let word = text[..edge].rfind(char::is_whitespace).unwrap_or(0);
    text[..word].trim_end().len()
}
