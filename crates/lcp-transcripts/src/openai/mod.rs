//! The formats of `OpenAI`: messages of chat completions and items of responses.

pub(crate) mod chat;
mod content;
pub(crate) mod responses;
