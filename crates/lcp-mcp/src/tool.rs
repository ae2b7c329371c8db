//! The trait of tools, and the adapter to the protocol.

use std::borrow::Cow;
use std::sync::Arc;

use lcp_driver::escape_control_json;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Description, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ToolError, ToolResult};
use super::state::ServerState;
use super::text::check_length;

/// The keywords that models do not need. The server checks all arguments and explains errors.
const UNUSED: [&str; 7] =
    ["$schema", "title", "format", "minimum", "maximum", "default", "additionalProperties"];

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
    /// The description for models. Every agent that connects pays for it, and for the comments of
    /// `Input`, which are the descriptions of arguments.
    const DESCRIPTION: &'static str;
    const SIDE_EFFECT: SideEffect;
    /// The arguments. Those that few callers need have no schema, but `docs/mcp.md` describes them.
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Facts: Serialize;

    /// Runs the tool.
    fn call(state: &ServerState, input: Self::Input) -> ToolResult<ToolOutput<Self::Facts>>;
}

/// The output of a tool: a text, or facts as JSON, or both, one after the other.
///
/// There is no structured content: clients show the model either that or the text, so that it would
/// have to repeat the text.
#[derive(Debug)]
pub(crate) struct ToolOutput<T> {
    /// The text, if the tool returns one.
    pub(crate) text: Option<String>,
    /// The facts, without the text.
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
    let hints = match T::SIDE_EFFECT {
        SideEffect::None => ToolAnnotations::new().read_only(true),
        // A call never removes recorded data.
        SideEffect::Sessions => ToolAnnotations::new().destructive(false),
    };
    // A test verifies that each tool has a schema.
    let mut input = Arc::unwrap_or_clone(schema_for_input::<T::Input>().unwrap_or_default());
    shorten(&mut input);
    Description::new_with_raw(T::NAME, Some(Cow::Borrowed(T::DESCRIPTION)), Arc::new(input))
        .with_annotations(hints)
}

/// Removes unused keywords from a schema, and `null` from its types: optional arguments are those
/// that are not required.
fn shorten(schema: &mut JsonObject) {
    schema.retain(|keyword, _| !UNUSED.contains(&keyword.as_str()));
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(shorten);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        shorten(items);
    }
}

fn call<T: Tool>(state: &ServerState, arguments: JsonObject) -> ToolResult<CallToolResult> {
    let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let message = format!("invalid arguments: {error}");
        ToolError::usage(message).with_hint(format!("see the input schema of `{}`", T::NAME))
    })?;
    let ToolOutput { text, facts } = T::call(state, input)?;
    let facts =
        serde_json::to_string(&facts).map_err(|error| ToolError::internal(error.to_string()))?;
    let facts = escape_control_json(&facts).into_owned();
    check_length(text.as_ref().unwrap_or(&facts), "pass a smaller `budget`")?;
    let parts = text.into_iter().chain([facts]).map(ContentBlock::text);
    Ok(CallToolResult::success(parts.collect()))
}
