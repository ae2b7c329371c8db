//! The window of a conversation, from flags, `lcp.toml`, the model or the default.

use lcp_continuity::ResumeOptions;
use lcp_continuity::store::{ConversationRecord, NewConversation};
use lcp_tokens::Model;

use crate::config::{Config, Setting};
use crate::error::{Error, ErrorKind, Result};

/// The default window in tokens.
const WINDOW: u32 = 64_000;

/// The options of a window. Each takes precedence over the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowOptions {
    /// Tokens of the model's window.
    pub window: Option<u32>,
    /// Tokens of the window that are reserved for the output of the model.
    pub output_reserve: Option<u32>,
}

/// The window of a new conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens of the model's window.
    pub tokens: u32,
    /// Tokens of the window that are reserved for output, fewer than `tokens`.
    pub output_reserve: u32,
    /// `true` if options set the tokens. An existing conversation must then have this window.
    pub(super) is_explicit: bool,
    /// `true` if options set the reserve.
    pub(super) is_reserve_explicit: bool,
}

impl WindowOptions {
    /// Resolves options, settings and model to a window.
    ///
    /// # Errors
    ///
    /// Returns an error if the reserve takes the whole window.
    pub fn resolve(&self, config: &Config, model: Option<&Setting<Model>>) -> Result<Window> {
        let budget = &config.budget;
        let window = self.window.or(budget.total_tokens).or(budget.window);
        let window = window.or(model.map(|model| model.value.window)).unwrap_or(WINDOW);
        let reserve = self.output_reserve.unwrap_or(budget.response_reserve);
        if reserve >= window {
            return Err(too_small(window, reserve));
        }
        Ok(Window {
            tokens: window,
            output_reserve: reserve,
            is_explicit: self.window.is_some(),
            is_reserve_explicit: self.output_reserve.is_some(),
        })
    }

    /// Returns the options of a resume that begins this conversation. Defaults are the values of
    /// the previous conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the reserve takes the whole window.
    pub fn to_resume_options(self, conversation_id: Option<String>) -> Result<ResumeOptions> {
        let reserve = self.output_reserve.unwrap_or(0);
        if let Some(window) = self.window.filter(|window| *window <= reserve) {
            return Err(too_small(window, reserve));
        }
        Ok(ResumeOptions {
            conversation_id,
            window_tokens: self.window,
            output_reserve_tokens: self.output_reserve,
        })
    }
}

fn too_small(window: u32, reserve: u32) -> Error {
    let message = format!(
        "the output reserve ({reserve} tokens) must be smaller than the context window ({window} \
         tokens)"
    );
    Error::new(ErrorKind::Usage, message)
        .with_hint("pass a larger --window, or a smaller --output-reserve")
}

impl Window {
    /// Returns a new conversation with this window.
    pub(super) fn to_new_conversation(self, id: &str) -> NewConversation {
        NewConversation {
            id: id.to_owned(),
            window_tokens: self.tokens,
            output_reserve_tokens: self.output_reserve,
        }
    }

    /// Checks that a conversation has the requested window.
    pub(super) fn is_that_of(&self, record: &ConversationRecord) -> bool {
        (!self.is_explicit || self.tokens == record.window_tokens)
            && (!self.is_reserve_explicit || self.output_reserve == record.output_reserve_tokens)
    }
}
