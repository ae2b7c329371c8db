//! The token budget that a model's context window leaves for the text (RFC 0004 §2 window).

use crate::fixed_point::{BILLION, billionths};

/// The default fraction of a model's window that may be used.
pub const DEFAULT_SAFETY: f64 = 0.8;

/// A context window and the tokens that are subtracted from it.
///
/// ```
/// use lcp_driver::window::ContextWindow;
///
/// assert_eq!(ContextWindow::from_model(8_192).available(), Ok(6_553));
/// let total = ContextWindow::from_total(100_000).with_reserves(2_000, 8_000);
/// assert_eq!(total.available(), Ok(90_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextWindow {
    /// Tokens of the whole window.
    pub tokens: u32,
    /// The fraction of the window that may be used: above 0, at most 1.
    pub safety: f64,
    /// Tokens reserved for the system prompt.
    pub system_prompt_reserve: u32,
    /// Tokens reserved for the response.
    pub response_reserve: u32,
}

impl ContextWindow {
    /// Creates the window of a model. A fifth of it stays unused ([`DEFAULT_SAFETY`]).
    #[must_use]
    pub const fn from_model(tokens: u32) -> Self {
        Self { tokens, safety: DEFAULT_SAFETY, system_prompt_reserve: 0, response_reserve: 0 }
    }

    /// Creates a window of a given total. All of it may be used, except for the reserves.
    #[must_use]
    pub const fn from_total(tokens: u32) -> Self {
        Self { tokens, safety: 1.0, system_prompt_reserve: 0, response_reserve: 0 }
    }

    /// Sets both reserves, in tokens.
    #[must_use]
    pub const fn with_reserves(self, system_prompt: u32, response: u32) -> Self {
        Self { system_prompt_reserve: system_prompt, response_reserve: response, ..self }
    }

    /// Returns the tokens that remain for the text: window × safety, rounded down, minus both
    /// reserves. The safety factor is rounded to billionths, so the result is the same on every
    /// machine.
    ///
    /// # Errors
    ///
    /// Returns a [`WindowError`] if the safety factor is not above 0 and at most 1, or if no token
    /// remains.
    pub fn available(&self) -> Result<u32, WindowError> {
        if !(self.safety > 0.0 && self.safety <= 1.0) {
            return Err(WindowError::Safety { safety: self.safety });
        }
        let usable = u64::from(self.tokens) * billionths(self.safety) / BILLION;
        let reserved = u64::from(self.system_prompt_reserve) + u64::from(self.response_reserve);
        // A fraction of a `u32` fits into a `u32`, so this conversion cannot fail.
        match u32::try_from(usable.saturating_sub(reserved)) {
            Ok(left) if left > 0 => Ok(left),
            _ => Err(WindowError::NothingLeft { window: *self, usable }),
        }
    }
}

/// The error of [`ContextWindow::available`]: the window leaves no budget.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The safety factor is not above 0 and at most 1.
    #[error("the safety factor must be above 0 and at most 1, got {safety}")]
    Safety {
        /// The invalid factor.
        safety: f64,
    },
    /// The reserves take all usable tokens.
    #[error(
        "no budget left: window {} × safety {} = {usable} tokens, minus {} (system prompt) and {} \
         (response)",
        window.tokens, window.safety, window.system_prompt_reserve, window.response_reserve
    )]
    NothingLeft {
        /// The window.
        window: ContextWindow,
        /// Tokens of the window × safety, before the reserves.
        usable: u64,
    },
}
