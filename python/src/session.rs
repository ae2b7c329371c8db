//! Sessions.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use lcp_app::config::{Config, Setting};
use lcp_app::secrets::MessageSecrets;
use lcp_app::sessions::{
    CompactOptions, ConversationStatus, HandoffCondition, HandoffSettings, NO_STORE, NewMessages,
    SessionOptions, Sessions as Service, WindowOptions, conversations, input, open_store,
    reported_usage, resume_json, resume_text, store_json,
};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Error, Result, Silent, Warnings};
use lcp_tokens::Model;
use pyo3::prelude::*;

use crate::call::{call, usage_error, value_of};
use crate::pack::{Pack, secret_policy};

/// The name of the messages in errors.
const MESSAGES: &str = "messages";

/// The conditions of a hand-off by their names.
const CONDITIONS: [(&str, HandoffCondition); 3] = [
    ("due", HandoffCondition::Due),
    ("once", HandoffCondition::Once),
    ("always", HandoffCondition::Always),
];

/// The sessions of a store.
#[pyclass(frozen, module = "lcp._lcp")]
pub(crate) struct Sessions {
    options: SessionOptions,
    config: Config,
    /// The service, after the first call.
    service: Mutex<Option<Arc<Service>>>,
}

/// The arguments of a recording. The messages are JSON, and the usage consists of the input, cached
/// and output tokens.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RecordArguments {
    messages: Option<String>,
    append: bool,
    usage: Option<(u32, u32, u32)>,
    secrets: String,
    window: Option<u32>,
    output_reserve: Option<u32>,
}

#[pymethods]
impl Sessions {
    /// Opens no store yet: only a recording creates one.
    #[new]
    fn new(
        store: Option<String>,
        model: Option<String>,
        encoding: Option<String>,
        wait: Option<u32>,
    ) -> Self {
        let tokenizer = TokenizerOptions { encoding, model, count_cache: None };
        let options = SessionOptions { store, tokenizer, wait };
        Self { options, config: Config::default(), service: Mutex::default() }
    }

    /// Records messages and usage. Returns the status as JSON (`lcp.track.v1`).
    fn record(&self, py: Python<'_>, id: &str, arguments: RecordArguments) -> PyResult<String> {
        let policy = secret_policy(&arguments.secrets)?;
        let usage = arguments.usage.map(|(input, cached, output)| {
            reported_usage(input, cached, output).ok_or_else(|| {
                usage_error("cached_input_tokens: expected at most input_tokens".to_owned())
            })
        });
        let usage = usage.transpose()?;
        call(py, || {
            let warnings = Warnings::default();
            let mut secrets = None;
            let messages = match &arguments.messages {
                None => NewMessages::None,
                Some(json) => {
                    let path = Path::new(MESSAGES);
                    let mut messages = input::messages_of(path, json.as_bytes(), &warnings)?;
                    secrets = Some(MessageSecrets::apply(&mut messages, policy, &self.config)?);
                    if arguments.append {
                        NewMessages::Append(messages)
                    } else {
                        NewMessages::Transcript(messages)
                    }
                }
            };
            let RecordArguments { window, output_reserve, .. } = arguments;
            let model = self.model(window.is_some(), &warnings)?;
            let window = WindowOptions { window, output_reserve };
            let window = window.resolve(&self.config, model.as_ref())?;
            let service = self.service(true)?;
            let mut status = service.record_usage(id, messages, usage, Some(&window), true)?;
            status.warnings.splice(0..0, warnings.take());
            status.warnings.extend(secrets.and_then(|it| it.warning(status.recorded)));
            Ok(status.to_json().to_string())
        })
    }

    /// Returns the status of a session as JSON (`lcp.track.v1`).
    fn status(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        call(py, || {
            let status = match self.service(false) {
                Err(error) if error.code == Some(NO_STORE) => ConversationStatus::unknown(id),
                service => service?.should_handoff(id)?,
            };
            Ok(status.to_json().to_string())
        })
    }

    /// Prepares a hand-off. Returns the outcome as JSON (`lcp.prepared.v1`) and its pack.
    fn handoff(
        &self,
        py: Python<'_>,
        id: &str,
        when: &str,
        target: Option<u32>,
    ) -> PyResult<(String, Option<Pack>)> {
        let condition = value_of("when", &CONDITIONS, when)?;
        call(py, || {
            let settings = HandoffSettings { target, ..HandoffSettings::default() };
            let model = self.model(true, &Silent)?;
            let config = &self.config;
            let opened = self.options.open(config, model.as_ref(), &settings, false, &Silent)?;
            let outcome = opened.0.handoff(id, condition)?;
            let json = outcome.to_json().to_string();
            let pack = outcome.handoff.map(|(handoff, pack)| {
                Pack::written(&format!("hand-off {}", handoff.handoff_id), pack)
            });
            Ok((json, pack))
        })
    }

    /// Resumes a hand-off, or returns the result of an earlier resume again. Returns the text and
    /// the session as JSON (`lcp.resume.v1`).
    #[pyo3(signature = (handoff, id, window, output_reserve, again))]
    fn resume(
        &self,
        py: Python<'_>,
        handoff: &str,
        id: Option<String>,
        window: Option<u32>,
        output_reserve: Option<u32>,
        again: bool,
    ) -> PyResult<(String, String)> {
        call(py, || {
            let options = WindowOptions { window, output_reserve }.to_resume_options(id)?;
            let service = self.service(false)?;
            let resumed = if again {
                service.resumed(handoff)?
            } else {
                service.resume(handoff, &options, |resumed| resume_text(resumed).map(drop))?
            };
            Ok((resume_text(&resumed)?, resume_json(&resumed).to_string()))
        })
    }

    /// Compacts a session. Returns the outcome as JSON (`lcp.compaction.v1`) and the messages that
    /// the window shows as a pack.
    fn compact(&self, py: Python<'_>, id: &str, if_due: bool) -> PyResult<(String, Pack)> {
        call(py, || {
            let options = CompactOptions { only_if_due: if_due, ..CompactOptions::default() };
            let outcome = self.service(false)?.compact(id, &options)?;
            let pack = Pack::written(&format!("session {id}"), outcome.to_pack()?);
            Ok((outcome.to_json().to_string(), pack))
        })
    }

    /// Returns the usage of a session as JSON (`lcp.usage.v1`).
    fn usage(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        call(py, || Ok(self.service(false)?.usage(id)?.to_json().to_string()))
    }

    /// Returns the sessions of the store as JSON (`lcp.store.v1`).
    fn list(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || {
            let store = open_store(self.options.store.as_deref(), &self.config, false);
            let records = match store {
                Err(Error { code: Some(NO_STORE), .. }) => Vec::new(),
                store => conversations(&*store?)?,
            };
            Ok(store_json(&records, &self.config).to_string())
        })
    }
}

impl Sessions {
    fn model(
        &self,
        has_window: bool,
        reporter: &dyn lcp_app::Reporter,
    ) -> Result<Option<Setting<Model>>> {
        self.options.find_model(&self.config, has_window, reporter)
    }

    /// Returns the service. With `may_begin`, a missing store is created.
    fn service(&self, may_begin: bool) -> Result<Arc<Service>> {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = &*service {
            return Ok(Arc::clone(service));
        }
        let model = self.model(true, &Silent)?;
        let settings = HandoffSettings::default();
        let opened = self.options.open(&self.config, model.as_ref(), &settings, may_begin, &Silent);
        Ok(Arc::clone(service.insert(Arc::new(opened?.0))))
    }
}
