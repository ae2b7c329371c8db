//! What a tool is.

use std::borrow::Cow;

use lcp_driver::escape_control_json;
use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Description, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::desk::Desk;
use super::fault::{Fault, Outcome};
use lcp_app::{Error, ErrorKind, Result};

/// Bytes of text that an answer may have.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// What a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// Nothing that lasts.
    Nothing,
    /// The store of sessions; the same call again changes it again.
    Sessions,
}

/// A tool.
pub(super) trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const CHANGES: Changes;
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Facts: Serialize + JsonSchema + 'static;

    /// Does what is asked.
    fn call(desk: &Desk, input: Self::Input) -> Outcome<Answer<Self::Facts>>;
}

/// What a tool answers.
#[derive(Debug)]
pub(super) struct Answer<T> {
    /// What a model reads, where that is more than the facts.
    pub(super) text: Option<String>,
    /// The same for programs. Clients show a model either, so these lack nothing.
    pub(super) facts: T,
}

impl<T> Answer<T> {
    /// Facts alone.
    pub(super) fn facts(facts: T) -> Self {
        Self { text: None, facts }
    }
}

/// A tool of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) describe: fn() -> Description,
    pub(super) call: fn(&Desk, JsonObject) -> Outcome<CallToolResult>,
}

/// This tool among others.
pub(super) const fn entry<T: Tool>() -> Entry {
    Entry { name: T::NAME, describe: describe::<T>, call: call::<T> }
}

fn describe<T: Tool>() -> Description {
    let is_read_only = T::CHANGES == Changes::Nothing;
    let hints = ToolAnnotations::from_raw(
        None,
        Some(is_read_only),
        // What is recorded stays recorded.
        Some(false),
        Some(is_read_only),
        Some(false),
    );
    // A test makes sure that there is a schema of each.
    let input = schema_for_input::<T::Input>().unwrap_or_default();
    Description::new_with_raw(T::NAME, Some(Cow::Borrowed(T::DESCRIPTION)), input)
        .with_title(T::TITLE)
        .with_raw_output_schema(schema_for_output::<T::Facts>())
        .with_annotations(hints)
}

fn call<T: Tool>(desk: &Desk, arguments: JsonObject) -> Outcome<CallToolResult> {
    let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let message = format!("the arguments are wrong: {error}");
        Fault::usage(message).hint(format!("the input schema of `{}` tells what there is", T::NAME))
    })?;
    let Answer { text, facts } = T::call(desk, input)?;
    let facts = serde_json::to_value(facts).map_err(|error| Fault::internal(error.to_string()))?;
    let text = text.unwrap_or_else(|| escape_control_json(&facts.to_string()).into_owned());
    fits(&text, "give a budget")?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(facts);
    Ok(result)
}

/// A text as an answer or a resource may have it; `hint`: what to do about a longer one.
pub(super) fn fits(text: &str, hint: &str) -> Result {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the answer has more than {TEXT_BYTES_MAX} bytes");
    Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
}
