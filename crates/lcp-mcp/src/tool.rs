//! The trait of tools, and the adapter to the protocol.

use std::borrow::Cow;

use lcp_driver::escape_control_json;
use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Description, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ToolError, ToolResult};
use super::state::ServerState;
use super::text::check_length;

/// The lasting effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideEffect {
    /// No lasting effect.
    None,
    /// A change of the session store. Repeating the call changes it again.
    Sessions,
}

/// A tool of the server.
pub(crate) trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const SIDE_EFFECT: SideEffect;
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Facts: Serialize + JsonSchema + 'static;

    /// Runs the tool.
    fn call(state: &ServerState, input: Self::Input) -> ToolResult<ToolOutput<Self::Facts>>;
}

/// The output of a tool.
#[derive(Debug)]
pub(crate) struct ToolOutput<T> {
    /// The text for the model, if it differs from the facts.
    pub(crate) text: Option<String>,
    /// The facts for programs. They are complete, because some clients show them to the model
    /// instead of the text.
    pub(crate) facts: T,
}

impl<T> ToolOutput<T> {
    /// Creates an output that consists only of facts.
    pub(crate) fn from_facts(facts: T) -> Self {
        Self { text: None, facts }
    }
}

/// A tool, independent of its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisteredTool {
    pub(crate) name: &'static str,
    pub(crate) describe: fn() -> Description,
    pub(crate) call: fn(&ServerState, JsonObject) -> ToolResult<CallToolResult>,
}

impl RegisteredTool {
    pub(crate) const fn new<T: Tool>() -> Self {
        Self { name: T::NAME, describe: describe::<T>, call: call::<T> }
    }
}

fn describe<T: Tool>() -> Description {
    let is_read_only = T::SIDE_EFFECT == SideEffect::None;
    let hints = ToolAnnotations::from_raw(
        None,
        Some(is_read_only),
        // A call never removes recorded data.
        Some(false),
        Some(is_read_only),
        Some(false),
    );
    // A test verifies that each tool has a schema.
    let input = schema_for_input::<T::Input>().unwrap_or_default();
    Description::new_with_raw(T::NAME, Some(Cow::Borrowed(T::DESCRIPTION)), input)
        .with_title(T::TITLE)
        .with_raw_output_schema(schema_for_output::<T::Facts>())
        .with_annotations(hints)
}

fn call<T: Tool>(state: &ServerState, arguments: JsonObject) -> ToolResult<CallToolResult> {
    let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let message = format!("invalid arguments: {error}");
        ToolError::usage(message).with_hint(format!("see the input schema of `{}`", T::NAME))
    })?;
    let ToolOutput { text, facts } = T::call(state, input)?;
    let facts =
        serde_json::to_value(facts).map_err(|error| ToolError::internal(error.to_string()))?;
    let text = text.unwrap_or_else(|| escape_control_json(&facts.to_string()).into_owned());
    check_length(&text, "pass a smaller `budget`")?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(facts);
    Ok(result)
}
