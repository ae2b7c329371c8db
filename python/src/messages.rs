//! Messages within a budget.

use std::collections::BTreeMap;

use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::fit_messages::{FitOptions, FittedMessage};
use lcp_app::names::API_FORMATS;
use lcp_app::tokenizer::TokenizerOptions;
use pyo3::prelude::*;

use crate::call::{call, value_of};

/// Messages within a budget.
#[pyclass(frozen, module = "lcp._lcp")]
pub(crate) struct Fitted {
    fitted: lcp_app::fit_messages::Fitted,
    options: FitOptions,
}

/// A message of the input by its index, or the index of its original and JSON.
#[derive(IntoPyObject)]
enum Message<'m> {
    Original(usize),
    New((Option<usize>, &'m str)),
}

#[pymethods]
impl Fitted {
    /// The messages: indices of the input, and new messages, each with the index of its original, if it
    /// has one, and as JSON.
    #[getter]
    fn messages(&self) -> Vec<Message<'_>> {
        let messages = self.fitted.messages.iter().map(|message| match message {
            FittedMessage::Original(index) => Message::Original(*index),
            FittedMessage::New { origin, json } => Message::New((*origin, json)),
        });
        messages.collect()
    }

    #[getter]
    fn note(&self) -> Option<&str> {
        self.fitted.note.as_deref()
    }

    #[getter]
    fn is_unchanged(&self) -> bool {
        self.fitted.is_unchanged
    }

    #[getter]
    fn is_exact(&self) -> bool {
        self.fitted.report.is_exact()
    }

    #[getter]
    fn is_appended(&self) -> bool {
        self.fitted.report.is_appended()
    }

    #[getter]
    fn used_tokens(&self) -> u64 {
        self.fitted.report.used_tokens()
    }

    #[getter]
    fn encoding(&self) -> &str {
        self.fitted.report.encoding()
    }

    #[getter]
    fn omitted_blocks(&self) -> usize {
        self.fitted.report.omitted_blocks()
    }

    #[getter]
    fn by_decision(&self) -> BTreeMap<&'static str, u64> {
        self.fitted.report.by_decision()
    }

    /// Returns the complete report as JSON.
    fn report_json(&self) -> String {
        self.fitted.report.to_json().to_string()
    }

    /// Appends messages, given as JSON. Returns `None` if all messages must be fitted again.
    fn append(
        &self,
        py: Python<'_>,
        messages: &[u8],
        budget: u32,
        pinned: Vec<usize>,
    ) -> PyResult<Option<Self>> {
        call(py, || {
            let mut options = FitOptions { pinned, ..self.options.clone() };
            options.budget.budget = Some(budget);
            let fitted = options.append(&self.fitted, messages, &Config::default());
            Ok(fitted.map(|fitted| Self { fitted, options }))
        })
    }
}

/// The model, the encoding, the format, the headroom and the tokens of an image.
type FitArguments = (Option<String>, Option<String>, Option<String>, f64, u32);

/// Fits messages, given as JSON, into a budget. Returns the warnings, too.
#[pyfunction]
pub(crate) fn fit_messages(
    py: Python<'_>,
    messages: &[u8],
    budget: u32,
    pinned: Vec<usize>,
    options: FitArguments,
) -> PyResult<(Fitted, Vec<String>)> {
    let (model, encoding, format, headroom, image_tokens) = options;
    let format = format.map(|name| value_of("format", &API_FORMATS, &name)).transpose()?;
    call(py, || {
        let options = FitOptions {
            format,
            budget: BudgetOptions { budget: Some(budget), ..BudgetOptions::default() },
            tokenizer: TokenizerOptions { encoding, model, count_cache: None },
            headroom,
            image_tokens,
            pinned,
            ..FitOptions::default()
        };
        let warnings = Warnings::default();
        let fitted = options.fit(messages, &Config::default(), &warnings)?;
        Ok((Fitted { fitted, options }, warnings.take()))
    })
}
