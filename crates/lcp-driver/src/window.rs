//! What a model's window leaves for the text (RFC 0004 §2 window).

use crate::fixed_point::{BILLION, billionths};

/// The part of a model's window that may be used.
pub const DEFAULT_SAFETY: f64 = 0.8;

/// A context window, and what is taken off it.
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
    /// The part of it that may be used, above 0 and up to 1.
    pub safety: f64,
    /// Tokens set aside for the system prompt.
    pub system_prompt_reserve: u32,
    /// Tokens set aside for the answer.
    pub response_reserve: u32,
}

impl ContextWindow {
    /// The window of a model: a fifth of it stays unused ([`DEFAULT_SAFETY`]).
    #[must_use]
    pub const fn from_model(tokens: u32) -> Self {
        Self { tokens, safety: DEFAULT_SAFETY, system_prompt_reserve: 0, response_reserve: 0 }
    }

    /// A total that is given as a number: only reserves are taken off it.
    #[must_use]
    pub const fn from_total(tokens: u32) -> Self {
        Self { tokens, safety: 1.0, system_prompt_reserve: 0, response_reserve: 0 }
    }

    /// With these tokens set aside.
    #[must_use]
    pub const fn with_reserves(self, system_prompt: u32, response: u32) -> Self {
        Self { system_prompt_reserve: system_prompt, response_reserve: response, ..self }
    }

    /// The tokens of the text: window × safety, rounded down, less both reserves. The safety factor
    /// counts in billionths, so the result is the same on every machine.
    ///
    /// # Errors
    ///
    /// Where the safety factor is not above 0 and at most 1, or no token is left.
    pub fn available(&self) -> Result<u32, WindowError> {
        if !(self.safety > 0.0 && self.safety <= 1.0) {
            return Err(WindowError::Safety { safety: self.safety });
        }
        let usable = u64::from(self.tokens) * billionths(self.safety) / BILLION;
        let reserved = u64::from(self.system_prompt_reserve) + u64::from(self.response_reserve);
        // A part of a u32 is a u32.
        match u32::try_from(usable.saturating_sub(reserved)) {
            Ok(left) if left > 0 => Ok(left),
            _ => Err(WindowError::NothingLeft { window: *self, usable }),
        }
    }
}

/// Why a window leaves no budget.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The safety factor is no part of a whole.
    #[error("the safety factor must be above 0 and at most 1, it is {safety}")]
    Safety {
        /// What it is.
        safety: f64,
    },
    /// What is taken off is all that there is.
    #[error(
        "nothing is left of a window of {} tokens: {usable} at a safety factor of {}, less {} for \
         the system prompt and {} for the answer",
        window.tokens, window.safety, window.system_prompt_reserve, window.response_reserve
    )]
    NothingLeft {
        /// The window.
        window: ContextWindow,
        /// Tokens of it before the reserves.
        usable: u64,
    },
}
