//! Extracts the user's intent, in the user's own words.

use std::borrow::Cow;

use lcp_tokens::TokenEstimator;
use lcp_types::Role;

use super::agreement::is_filler;
use super::output_detection::is_slash_command;
use super::sentences::{INTERRUPTED, sentence_ranges, sentences};
use crate::model::{Message, Recorded};

const CUT: &str = " […]";

/// The number of words from which on the arguments of a command in tags are a request.
const REQUEST_WORDS: usize = 3;

/// The command that compacts a conversation. Its arguments are about the summary.
const COMPACT: &str = "/compact";

/// The beginning of a message of another agent.
const TEAMMATE: &str = "<teammate-message";

/// Returns the user's goal, verbatim (RFC 0007 §6).
///
/// This is the newest turn of the user that contains more than "yes", "thanks" or "go on" and is
/// not a command for the chat program (`/clear`) or text of a program. The tags in which a program
/// passes on a command or a message of another agent are left out.
///
/// A turn with more than `max_tokens` tokens is cut after a sentence, or else after a word, and
/// ends with ` […]`; the result has at most `max_tokens` tokens. Returns `None` if there is no such
/// turn, or if not even one word fits.
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
        let message = &recorded.message;
        is_request(message).then(|| without_envelope(message.text().trim()).into_owned())
    })?;
    if counter.count_up_to(&turn, max_tokens).is_some() {
        return Some(turn);
    }
    cut(&turn, counter, max_tokens)
}

/// Returns whether a message is a turn of the user that contains more than "yes", "thanks" or "go
/// on", and is not a command for the chat program or text of a program.
#[must_use]
pub fn is_request(message: &Message) -> bool {
    message.turn_text().is_some_and(|(role, text)| {
        if role != Role::User {
            return false;
        }
        if let Some((name, arguments)) = tagged_command(&text) {
            return name != COMPACT && arguments.split_whitespace().count() >= REQUEST_WORDS;
        }
        let written = without_envelope(text.trim());
        !written.is_empty()
            && !is_filler(&written)
            && !is_machine_text(&text)
            && !is_slash_command(&text)
    })
}

/// Returns whether a turn consists only of text that a program wrote: text between its tags, or the
/// line about an interruption.
fn is_machine_text(text: &str) -> bool {
    let start = text.trim_start();
    (start.starts_with('<') || start.starts_with(INTERRUPTED)) && sentences(text).next().is_none()
}

/// Returns the name and the arguments of a command that a program passes on in its tags
/// (`<command-name>/plan</command-name> <command-args>Port it</command-args>`).
fn tagged_command(text: &str) -> Option<(&str, &str)> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let (_, rest) = text.split_once("<command-name>")?;
    let (name, rest) = rest.split_once("</command-name>")?;
    let arguments = rest.split_once("<command-args>").map_or("", |(_, rest)| rest);
    let arguments = arguments.rsplit_once("</command-args>").map_or(arguments, |(text, _)| text);
    Some((name.trim(), arguments.trim()))
}

/// Returns what was written, without the tags in which a program passes on a command or a message of
/// another agent.
fn without_envelope(text: &str) -> Cow<'_, str> {
    if let Some((name, arguments)) = tagged_command(text) {
        return Cow::Owned(format!("{name} {arguments}"));
    }
    let Some(mut rest) = text.strip_prefix(TEAMMATE) else { return Cow::Borrowed(text) };
    let mut written = String::new();
    while let Some((_, inner)) = rest.split_once('>') {
        let (inner, after) = inner.split_once("</teammate-message>").unwrap_or((inner, ""));
        // Notices of the program are JSON.
        if !inner.trim_start().starts_with('{') {
            written.extend([inner.trim(), "\n"]);
        }
        let (between, after) = after.split_once(TEAMMATE).unwrap_or((after, ""));
        written.push_str(between.trim());
        rest = after;
    }
    Cow::Owned(written.trim().to_owned())
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
        // Token counts may not add up, so shorten again, in steps that are larger than one token.
        tokens -= (tokens / 8).max(1);
    }
    None
}

/// Returns the end of the last whole sentence within the first `room` bytes, or else of the last
/// word.
fn whole_sentences(text: &str, room: usize) -> usize {
    let sentence =
        sentence_ranges(text).map(|range| range.end).take_while(|end| *end <= room).last();
    if let Some(end) = sentence.filter(|end| *end >= room / 2) {
        return end;
    }
    // The last word is complete if white space follows it.
    let edge = text.len().min(room + text[room..].chars().next().map_or(0, char::len_utf8));
    let word = text[..edge].rfind(char::is_whitespace).unwrap_or(0);
    text[..word].trim_end().len()
}
