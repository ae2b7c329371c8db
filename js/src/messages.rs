//! Messages within a budget.

use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::fit_messages::{FitOptions, Fitted, FittedMessage};
use lcp_app::names::API_FORMATS;
use lcp_app::tokenizer::TokenizerOptions;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Result, value_of};

/// Messages within a budget.
#[wasm_bindgen]
pub struct NativeFit {
    fitted: Fitted,
    options: FitOptions,
    warnings: Vec<String>,
}

#[wasm_bindgen]
impl NativeFit {
    /// Returns the messages as a JSON list: indices of the input, and new messages.
    #[must_use]
    pub fn messages(&self) -> String {
        let messages = self.fitted.messages.iter().map(|message| match message {
            FittedMessage::Original(index) => index.to_string(),
            FittedMessage::New { json, .. } => json.clone(),
        });
        format!("[{}]", messages.collect::<Vec<_>>().join(","))
    }

    /// Returns the index of the original of each message, or -1 for a new one.
    #[must_use]
    pub fn origins(&self) -> Vec<i32> {
        let messages = self.fitted.messages.iter().map(|message| match message {
            FittedMessage::Original(index) => Some(*index),
            FittedMessage::New { origin, .. } => *origin,
        });
        messages.map(|index| index.and_then(|index| index.try_into().ok()).unwrap_or(-1)).collect()
    }

    /// Returns the note about omissions, if the messages cannot contain it.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.fitted.note.clone()
    }

    /// Returns whether nothing was changed.
    #[must_use]
    #[wasm_bindgen(js_name = isUnchanged)]
    pub fn is_unchanged(&self) -> bool {
        self.fitted.is_unchanged
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn report(&self) -> String {
        self.fitted.report.to_json().to_string()
    }

    /// Returns the warnings.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Appends messages, given as JSON. Returns `None` if all messages must be fitted again.
    #[must_use]
    pub fn append(&self, messages: &str, budget: u32, pinned: &[u32]) -> Option<Self> {
        let mut options = FitOptions { pinned: indices(pinned), ..self.options.clone() };
        options.budget.budget = Some(budget);
        let fitted = options.append(&self.fitted, messages.as_bytes(), &Config::default())?;
        Some(Self { fitted, options, warnings: self.warnings.clone() })
    }
}

/// Fits messages, given as JSON, into a budget.
///
/// # Errors
///
/// Returns an error for malformed messages, and for messages that cannot fit.
#[expect(clippy::too_many_arguments, reason = "values that JavaScript passes without a copy")]
#[wasm_bindgen(js_name = fitMessages)]
pub fn fit_messages(
    messages: &str,
    budget: u32,
    pinned: &[u32],
    model: Option<String>,
    encoding: Option<String>,
    format: Option<String>,
    headroom: f64,
    image_tokens: u32,
) -> Result<NativeFit> {
    let format = format.map(|name| value_of("format", &API_FORMATS, &name)).transpose()?;
    let options = FitOptions {
        format,
        budget: BudgetOptions { budget: Some(budget), ..BudgetOptions::default() },
        tokenizer: TokenizerOptions { encoding, model, count_cache: None },
        headroom,
        image_tokens,
        pinned: indices(pinned),
        ..FitOptions::default()
    };
    let warnings = Warnings::default();
    let fitted = options.fit(messages.as_bytes(), &Config::default(), &warnings)?;
    Ok(NativeFit { fitted, options, warnings: warnings.take() })
}

fn indices(numbers: &[u32]) -> Vec<usize> {
    numbers.iter().map(|number| *number as usize).collect()
}
