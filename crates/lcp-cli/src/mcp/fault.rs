//! What is wrong with a call, for the model that made it.

use lcp_driver::special_tokens::escape_text;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::desk::shown;
use crate::failure::{Code, Failure};

/// Why a call did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// A stable name.
    pub(super) code: &'static str,
    /// One line: what, and where.
    pub(super) message: String,
    /// What to do about it, where there is something.
    pub(super) hint: Option<String>,
}

/// What a tool gives.
pub(super) type Outcome<T> = std::result::Result<T, Fault>;

/// A path leads outside the roots.
pub(super) const REFUSED: &str = "refused";

/// There is no pack of that id.
pub(super) const UNKNOWN_PACK: &str = "unknown_pack";

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: line(message), hint: None }
    }

    /// The arguments are not what they must be.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(name(Code::Usage), message)
    }

    /// More than a limit allows.
    pub(super) fn limit(message: impl Into<String>) -> Self {
        Self::new(name(Code::Limit), message)
    }

    /// A mistake of this program.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", message)
    }

    /// The client wants no answer any more.
    pub(super) fn cancelled() -> Self {
        Self::new("cancelled", "the call was cancelled")
    }

    /// The same with what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(line(hint));
        self
    }

    /// All of it, for programs.
    pub(super) fn json(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "hint": self.hint })
    }
}

/// What is said, in a line: clients show it to people and to models, which are given no special
/// token by it.
fn line(said: impl Into<String>) -> String {
    escape_text(&shown(&said.into())).into_owned()
}

/// The name of an exit code.
const fn name(code: Code) -> &'static str {
    match code {
        Code::Io => "io",
        Code::Usage => "usage",
        Code::Malformed => "malformed",
        Code::OverBudget => "over_budget",
        Code::Limit => "limit",
    }
}

impl From<lcp_app::Error> for Fault {
    fn from(error: lcp_app::Error) -> Self {
        Failure::from(error).into()
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let code = failure.name.unwrap_or(name(failure.code));
        Self {
            code,
            message: line(failure.message),
            hint: failure.hint.filter(|hint| is_for_tools(hint)).map(line),
        }
    }
}

/// Whether a hint says something to who has tools: neither commands, nor flags, nor settings.
fn is_for_tools(hint: &str) -> bool {
    let speaks_of = |what| hint.contains(what);
    speaks_of(" tool ") || !["--", "`lcp ", "lcp.toml"].into_iter().any(speaks_of)
}

impl From<Fault> for CallToolResult {
    fn from(fault: Fault) -> Self {
        Self::structured_error(fault.json())
    }
}
