//! Tokenizers.

use std::sync::Arc;

use arrow_array::Int64Array;
use lcp_app::tokenizer::TokenizerOptions;
use lcp_tokens::{Tiktoken, TokenEstimator, count_batch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict};

use crate::call::{self, call, catch, optional_text, usage_error};
use crate::column::{Column, Texts};

/// Shorter texts are counted without releasing the interpreter, which would take longer.
const SHORT_BYTES: usize = 4_096;

/// A tokenizer: the encoding of a model, or a tokenizer file.
#[pyclass(frozen, module = "lcp")]
pub(crate) struct Encoding {
    estimator: Arc<dyn TokenEstimator>,
    /// The tokenizer if its tokens have public ids.
    tiktoken: Option<Tiktoken>,
    /// The arguments that created it.
    arguments: (Option<String>, Option<String>),
}

#[pymethods]
impl Encoding {
    /// Loads a tokenizer by its name (`"o200k_base"`), or by the path of a tokenizer file.
    #[new]
    #[pyo3(signature = (name = None, *, model = None))]
    fn new(
        py: Python<'_>,
        name: Option<Bound<'_, PyAny>>,
        model: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name = optional_text(name.as_ref(), "name")?;
        let model = optional_text(model.as_ref(), "model")?;
        let arguments = (name.clone(), model.clone());
        call(py, || {
            let options = TokenizerOptions { encoding: name, model, count_cache: None };
            let estimator = options.load_by_name()?;
            let tiktoken = lcp_tokens::Encoding::from_name(estimator.name()).map(Tiktoken::new);
            Ok(Self { estimator, tiktoken, arguments })
        })
    }

    /// The name.
    #[getter]
    fn name(&self) -> String {
        self.estimator.name().to_string()
    }

    /// `True` if the counts are those of the model, `False` for estimates.
    #[getter]
    fn is_exact(&self) -> bool {
        self.estimator.is_exact()
    }

    /// Counts the tokens of a text.
    fn count(&self, text: Bound<'_, PyAny>) -> PyResult<u32> {
        let py = text.py();
        let text = call::text(&text, "text")?;
        if text.len() < SHORT_BYTES {
            return catch(|| self.estimator.estimate(&text));
        }
        call(py, || Ok(self.estimator.estimate(&text)))
    }

    /// Counts the tokens of several texts, on all processors.
    fn count_batch(&self, py: Python<'_>, texts: Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let texts = texts.extract::<Vec<Bound<'_, PyAny>>>();
        let texts = texts.map_err(|error| invalid_list(py, "texts", &error))?;
        let texts = texts.iter().enumerate();
        let texts = texts.map(|(at, text)| call::text(text, &format!("texts[{at}]")));
        let texts: Vec<PyBackedStr> = texts.collect::<PyResult<_>>()?;
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        call(py, || Ok(count_batch(&*self.estimator, &texts)))
    }

    /// Counts the tokens of each text of an Arrow column, on all processors.
    ///
    /// The counts have 64 bits, because Spark has no unsigned numbers.
    fn count_column(&self, column: Bound<'_, PyAny>) -> PyResult<Column> {
        let texts = Texts::new(&column, "column")?;
        let rows = texts.rows(column.py())?;
        call(column.py(), || {
            let present: Vec<&str> = rows.iter().map(|text| text.unwrap_or_default()).collect();
            let counts = count_batch(&*self.estimator, &present).into_iter().map(i64::from);
            let counts = rows.iter().zip(counts).map(|(text, count)| text.map(|_| count));
            Ok(Column(Arc::new(counts.collect::<Int64Array>())))
        })
    }

    /// Returns the ids of the tokens of a text. Names of special tokens are ordinary text.
    fn encode(&self, text: Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let py = text.py();
        let text = call::text(&text, "text")?;
        let tiktoken = self.tiktoken()?;
        call(py, || Ok(tiktoken.encode(&text)))
    }

    /// Returns the bytes of tokens. A character can have several tokens.
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids: Vec<u32> = ids.extract().map_err(|error| invalid_list(py, "ids", &error))?;
        let tiktoken = self.tiktoken()?;
        let bytes = call(py, || Ok(tiktoken.decode(&ids)))?;
        let bytes = bytes.map_err(|error| usage_error(format!("ids: {error}")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the text of tokens. Incomplete characters become U+FFFD.
    fn decode(&self, py: Python<'_>, ids: Bound<'_, PyAny>) -> PyResult<String> {
        let bytes = self.decode_bytes(py, ids)?;
        Ok(String::from_utf8_lossy(bytes.as_bytes()).into_owned())
    }

    /// Returns the arguments with which another process creates the same tokenizer.
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Option<&str>,), Bound<'py, PyDict>)> {
        let (name, model) = &self.arguments;
        let named = PyDict::new(py);
        named.set_item("model", model)?;
        Ok(((name.as_deref(),), named))
    }

    fn __repr__(&self) -> String {
        format!("Encoding({:?})", self.estimator.name())
    }
}

impl Encoding {
    fn tiktoken(&self) -> PyResult<Tiktoken> {
        self.tiktoken.ok_or_else(|| {
            usage_error(format!("the tokens of {} have no public ids", self.estimator.name()))
        })
    }
}

/// Returns the exception for an argument that is not a list of values of its type. `PyO3` names the
/// argument only from Python 3.11 on.
fn invalid_list(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    let message = format!("{name}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(message)
    } else {
        usage_error(message)
    }
}
