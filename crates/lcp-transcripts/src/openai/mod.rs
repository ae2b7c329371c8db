//! `OpenAI`'s formats: messages of chat completions, items of responses.

pub(crate) mod chat;
mod content;
pub(crate) mod responses;
