//! Messages within a budget.

use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::fit_messages::FitOptions;
use lcp_app::tokenizer::TokenizerOptions;
use lcp_transcripts::Format;
use pyo3::prelude::*;

use crate::call::{call, invalid_argument};

/// The formats of chat APIs.
const FORMATS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

/// The messages as JSON, the note about omissions, `True` if nothing was changed, the report as JSON,
/// and the warnings.
type Fitted = (String, Option<String>, bool, String, Vec<String>);

/// Fits messages, given as JSON, into a budget.
#[pyfunction]
pub(crate) fn fit_messages(
    py: Python<'_>,
    messages: &str,
    budget: u32,
    model: Option<String>,
    encoding: Option<String>,
    format: Option<&str>,
) -> PyResult<Fitted> {
    let format = format
        .map(|name| {
            let known = FORMATS.contains(&name).then(|| Format::from_name(name)).flatten();
            known.ok_or_else(|| invalid_argument("format", name, &FORMATS))
        })
        .transpose()?;
    call(py, || {
        let options = FitOptions {
            format,
            budget: BudgetOptions { budget: Some(budget), ..BudgetOptions::default() },
            tokenizer: TokenizerOptions { encoding, model, count_cache: None },
            ..FitOptions::default()
        };
        let warnings = Warnings::default();
        let fitted = options.fit(messages.as_bytes(), &Config::default(), &warnings)?;
        let report = fitted.export.to_json().to_string();
        Ok((fitted.json, fitted.note, fitted.is_unchanged, report, warnings.take()))
    })
}
