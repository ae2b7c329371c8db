//! The errors of tool calls, in a form for models.

use lcp_driver::WarningCode;
use lcp_driver::special_tokens::escape_text;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::text::escape;
use lcp_app::sessions::NO_STORE;
use lcp_app::{Error, ErrorKind, Result};

/// The error of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolError {
    /// A stable code.
    pub(crate) code: &'static str,
    /// A one-line message.
    pub(crate) message: String,
    /// Advice, if there is any.
    pub(crate) hint: Option<String>,
}

/// The result of a tool call.
pub(crate) type ToolResult<T> = Result<T, ToolError>;

/// The code for a path outside the roots.
pub(crate) const REFUSED: &str = "refused";

/// The code for an unknown pack.
pub(crate) const UNKNOWN_PACK: &str = "unknown_pack";

impl ToolError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: line(message), hint: None }
    }

    /// Creates an error for invalid arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(name(ErrorKind::Usage), message)
    }

    /// Creates an error for an exceeded limit.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(name(ErrorKind::Limit), message)
    }

    /// Creates an error for a bug.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", message)
    }

    /// Creates an error for a call that the client cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new("cancelled", "the call was cancelled")
    }

    /// Adds advice.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(line(hint));
        self
    }

    /// Returns the error as JSON.
    pub(crate) fn to_json(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "hint": self.hint })
    }
}

/// Escapes line breaks and special tokens in a text, because clients show it to people and models.
fn line(text: impl Into<String>) -> String {
    escape_text(&escape(&text.into())).into_owned()
}

/// Returns the code for a kind of error.
const fn name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "usage",
        ErrorKind::Malformed => "malformed",
        ErrorKind::OverBudget => "over_budget",
        ErrorKind::Limit => "limit",
        _ => "io",
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        // Clients act on these codes; the code of another error is in its message.
        let has_own_code = error.kind == ErrorKind::Session
            || [NO_STORE, WarningCode::SpecialTokens.name()].map(Some).contains(&error.code);
        let code = error.code.filter(|_| has_own_code);
        Self {
            code: code.unwrap_or(name(error.kind)),
            message: line(error.message),
            hint: error.hint.filter(|hint| is_for_tools(hint)).map(line),
        }
    }
}

/// Returns whether a hint is useful to a client, that is, does not name commands, flags or
/// settings.
fn is_for_tools(hint: &str) -> bool {
    hint.contains(" tool ") || !["--", "`lcp ", "lcp.toml"].iter().any(|word| hint.contains(word))
}

impl From<ToolError> for CallToolResult {
    fn from(error: ToolError) -> Self {
        Self::error(vec![ContentBlock::text(error.to_json().to_string())])
    }
}
