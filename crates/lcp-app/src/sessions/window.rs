//! The window of a conversation: flags, else `lcp.toml`, else the model, else the default.

use lcp_continuity::ResumeOptions;
use lcp_continuity::store::{ConversationRecord, NewConversation};
use lcp_tokens::Model;

use crate::config::{Config, Setting};
use crate::error::{Error, ErrorKind, Result};

/// Tokens of a window where nothing says otherwise.
const WINDOW: u32 = 64_000;

/// The options of a window; each wins over the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowOptions {
    /// Tokens of the model's window.
    pub window: Option<u32>,
    /// Tokens of it that the model's output needs.
    pub output_reserve: Option<u32>,
}

/// The window of a conversation that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens of the model's window.
    pub tokens: u32,
    /// Tokens of it that the output needs, fewer than these.
    pub output_reserve: u32,
    /// Whether options gave the tokens; a conversation with another window is then an error.
    pub(super) is_explicit: bool,
    /// The same of the reserve.
    pub(super) is_reserve_explicit: bool,
}

impl WindowOptions {
    /// Resolves options, settings and model to a window.
    ///
    /// # Errors
    ///
    /// A window that leaves nothing.
    pub fn resolve(&self, config: &Config, model: Option<&Setting<Model>>) -> Result<Window> {
        let budget = &config.budget;
        let window = self.window.or(budget.total_tokens).or(budget.window);
        let window = window.or(model.map(|model| model.value.window)).unwrap_or(WINDOW);
        let reserve = self.output_reserve.unwrap_or(budget.response_reserve);
        if reserve >= window {
            let message =
                format!("a window of {window} tokens less {reserve} for the output is none");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give a larger --window, or a smaller --output-reserve"));
        }
        Ok(Window {
            tokens: window,
            output_reserve: reserve,
            is_explicit: self.window.is_some(),
            is_reserve_explicit: self.output_reserve.is_some(),
        })
    }

    /// Returns the options of a resume that begins this conversation; what is not given is that
    /// of the conversation before.
    ///
    /// # Errors
    ///
    /// A window that leaves nothing.
    pub fn to_resume_options(self, conversation_id: Option<String>) -> Result<ResumeOptions> {
        if self.window.is_some_and(|window| window <= self.output_reserve.unwrap_or(0)) {
            let message = "the window leaves nothing beside the output";
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("give a larger --window, or a smaller --output-reserve"));
        }
        Ok(ResumeOptions {
            conversation_id,
            window_tokens: self.window,
            output_reserve_tokens: self.output_reserve,
        })
    }
}

impl Window {
    /// Returns a new conversation that begins with it.
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
