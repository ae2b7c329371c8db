//! The window of a conversation, from flags, `lcp.toml`, the model or the default.

use lcp_continuity::ResumeOptions;
use lcp_continuity::store::{ConversationRecord, NewConversation};
use lcp_driver::group_thousands;
use lcp_tokens::Model;

use crate::config::{Config, Origin, Setting};
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

/// The window that a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens of the model's window.
    pub tokens: u32,
    /// Tokens of the window that are reserved for output, fewer than `tokens`.
    pub output_reserve: u32,
    /// `true` if options set the tokens. An existing conversation then continues with them.
    is_explicit: bool,
    /// `true` if options set the reserve.
    is_reserve_explicit: bool,
    /// A warning if nothing sets the tokens.
    pub warning: Option<String>,
    /// The name of the model, if options or settings name one.
    pub(super) model: Option<String>,
    /// `true` if options name the model.
    is_model_explicit: bool,
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
        let window = window.or(model.map(|model| model.value.window));
        let reserve = self.output_reserve.unwrap_or(budget.response_reserve);
        let tokens = window.unwrap_or(WINDOW);
        check_reserve(tokens, reserve)?;
        Ok(Window {
            tokens,
            output_reserve: reserve,
            is_explicit: self.window.is_some(),
            is_reserve_explicit: self.output_reserve.is_some(),
            warning: window.is_none().then(assumed_window),
            model: model.map(|model| model.value.name.clone()),
            is_model_explicit: model.is_some_and(|it| matches!(it.origin, Origin::Flag(_))),
        })
    }

    /// Returns the options of a resume that begins this conversation. Defaults are the values of
    /// the previous conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the reserve takes the whole window.
    pub fn to_resume_options(self, conversation_id: Option<String>) -> Result<ResumeOptions> {
        if let Some(window) = self.window {
            check_reserve(window, self.output_reserve.unwrap_or(0))?;
        }
        Ok(ResumeOptions {
            conversation_id,
            window_tokens: self.window,
            output_reserve_tokens: self.output_reserve,
        })
    }
}

fn check_reserve(window: u32, reserve: u32) -> Result {
    if reserve < window {
        return Ok(());
    }
    let message = format!(
        "the output reserve ({reserve} tokens) must be smaller than the context window ({window} \
         tokens)"
    );
    Err(Error::new(ErrorKind::Usage, message)
        .with_hint("pass a larger --window, or a smaller --output-reserve"))
}

impl Window {
    /// Returns a new conversation with this window.
    pub(super) fn to_new_conversation(&self, id: &str) -> NewConversation {
        NewConversation {
            id: id.to_owned(),
            window_tokens: self.tokens,
            output_reserve_tokens: self.output_reserve,
        }
    }

    /// Returns the window and the reserve with which an existing conversation continues. `model` is
    /// its model, if it is known.
    ///
    /// A window that the call names applies. So does the window of another model than before; the
    /// same model keeps the window, which may have been set without it. Settings that name no other
    /// model are only for new conversations.
    ///
    /// # Errors
    ///
    /// Returns an error if the reserve takes the whole window.
    pub(super) fn continued(
        &self,
        record: &ConversationRecord,
        model: Option<&str>,
    ) -> Result<(u32, u32)> {
        let is_other_model = match model {
            Some(known) => self.model.as_ref().is_some_and(|named| named != known),
            None => self.is_model_explicit,
        };
        let (mut tokens, mut reserve) = (record.window_tokens, record.output_reserve_tokens);
        if self.is_explicit || is_other_model {
            tokens = self.tokens;
        }
        if self.is_reserve_explicit {
            reserve = self.output_reserve;
        }
        check_reserve(tokens, reserve)?;
        Ok((tokens, reserve))
    }
}

fn assumed_window() -> String {
    let tokens = group_thousands(WINDOW.into());
    format!(
        "no window is set, so {tokens} tokens are assumed; set the window of the model with \
         `--window N` or `--model NAME`"
    )
}
