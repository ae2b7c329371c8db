//! Which questions are open.

use lcp_types::Role;

use super::super::tokenize::{WordTokens, contains_any};
use crate::model::{Recorded, Speaker};
use crate::tool_pairs::is_before_call;

/// Replies that put off the answer.
const DEFERRALS: &[&str] = &[
    "i'll check", "i will check", "let me check", "i'll look into", "i will look into",
    "let me look into", "i'll find out", "i will find out", "let me find out", "i'll get back to",
    "i will get back to", "i'll have to check", "i need to check", "i don't know yet",
    "i'm not sure yet", "i can't say yet",
];

/// Whose earlier questions the message at `at` answers: a turn of the user those of
/// the model; a turn of the model those of the user, unless it puts off the answer, or
/// stands before a call.
pub(super) fn answered_speaker(messages: &[Recorded], at: usize) -> Option<Speaker> {
    let (role, text) = messages[at].message.turn_text()?;
    if role == Role::User {
        return Some(Speaker::Model);
    }
    let answers =
        !is_before_call(messages, at) && !contains_any(&WordTokens::new(&text).words(), DEFERRALS);
    answers.then_some(Speaker::User)
}

/// For each message, whether what is asked in it is still open: until somebody answers,
/// but what a model asks right before a call it asks itself.
pub(super) fn open_questions(messages: &[Recorded]) -> Vec<bool> {
    let mut open = vec![false; messages.len()];
    let (mut of_user, mut of_model) = (true, true);
    for at in (0..messages.len()).rev() {
        let Some((role, _)) = messages[at].message.turn_text() else { continue };
        open[at] = match role {
            Role::User => of_user,
            _ => of_model && !is_before_call(messages, at),
        };
        match answered_speaker(messages, at) {
            Some(Speaker::User) => of_user = false,
            Some(Speaker::Model) => of_model = false,
            None => {}
        }
    }
    open
}
