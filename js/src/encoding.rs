//! Tokenizers.

use std::sync::Arc;

use lcp_app::tokenizer::TokenizerOptions;
use lcp_tokens::{Tiktoken, TokenEstimator};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Failure, Result};

/// Returns the name of the vocabulary that a tokenizer needs, if it needs one.
///
/// # Errors
///
/// Returns an error if the model is unknown.
#[wasm_bindgen(js_name = neededVocabulary)]
pub fn needed_vocabulary(name: Option<String>, model: Option<String>) -> Result<Option<String>> {
    let options = TokenizerOptions { encoding: name, model, count_cache: None };
    let encoding = options.encoding_by_name()?;
    Ok(encoding.map(|encoding| encoding.vocabulary().to_owned()))
}

/// Loads a vocabulary.
///
/// # Errors
///
/// Returns an error if the bytes are not those of the vocabulary.
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(name: &str, bytes: Vec<u8>) -> Result<()> {
    lcp_tokens::load_vocabulary(name, bytes)
        .map_err(|error| Failure::usage(format!("vocabularies: {error}")))
}

/// A tokenizer.
#[wasm_bindgen]
pub struct NativeEncoding {
    estimator: Arc<dyn TokenEstimator>,
    /// The tokenizer if its tokens have public ids.
    tiktoken: Option<Tiktoken>,
}

#[wasm_bindgen]
impl NativeEncoding {
    /// Loads a tokenizer by its name, or by that of a model.
    ///
    /// # Errors
    ///
    /// Returns an error for unknown names and models, and for vocabularies that are not loaded.
    #[wasm_bindgen(constructor)]
    pub fn new(name: Option<String>, model: Option<String>) -> Result<Self> {
        let options = TokenizerOptions { encoding: name, model, count_cache: None };
        let estimator = options.load_by_name()?;
        let tiktoken = lcp_tokens::Encoding::from_name(estimator.name()).map(Tiktoken::new);
        Ok(Self { estimator, tiktoken })
    }

    /// The name.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.estimator.name().to_owned()
    }

    /// `true` if the counts are those of the model, `false` for estimates.
    #[wasm_bindgen(getter, js_name = isExact)]
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.estimator.is_exact()
    }

    /// Counts the tokens of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> u32 {
        self.estimator.estimate(text)
    }

    /// Returns the ids of the tokens of a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the tokens have no public ids.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.tiktoken()?.encode(text))
    }

    /// Returns the bytes of tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if the tokens have no public ids, or if no token has one of the ids.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let bytes = self.tiktoken()?.decode(ids);
        bytes.map_err(|error| Failure::usage(format!("ids: {error}")))
    }
}

impl NativeEncoding {
    fn tiktoken(&self) -> Result<Tiktoken> {
        self.tiktoken.ok_or_else(|| {
            let name = self.estimator.name();
            Failure::usage(format!("the tokens of {name} have no public ids"))
        })
    }
}
