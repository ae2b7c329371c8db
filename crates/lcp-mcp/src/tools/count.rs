//! The tool `count`, which counts the tokens of texts and files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ToolError, ToolResult};
use crate::state::ServerState;
use crate::tool::{self, SideEffect, ToolOutput};

/// The maximum size of a file in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The maximum number of texts and files in a call.
const ALL_MAX: usize = 1_000;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    encoding: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The tokenizer.
    encoding: String,
    /// `true` if the counts are exact.
    exact: bool,
    /// The total number of tokens.
    total: u64,
    /// The count of each text, then of each file, in the order of the input.
    counts: Vec<Count>,
}

#[derive(Debug, Serialize)]
struct Count {
    /// The path, for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The size in bytes.
    bytes: usize,
    /// The number of tokens.
    tokens: u32,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "count";
    const DESCRIPTION: &'static str = "Counts the tokens of texts and files.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let Input { texts, paths, encoding, model } = input;
        match texts.len() + paths.len() {
            0 => {
                let hint = "pass `texts` or `paths`";
                return Err(ToolError::usage("nothing to count").with_hint(hint));
            }
            1..=ALL_MAX => {}
            many => {
                let message = format!("{many} texts and files exceed the limit of {ALL_MAX}");
                return Err(ToolError::limit(message));
            }
        }
        let estimator = state.tokenizer(encoding, model, true)?.estimator;
        let mut counts = Vec::new();
        for text in texts {
            let tokens = estimator.estimate(&text);
            counts.push(Count { path: None, bytes: text.len(), tokens });
        }
        for path in paths {
            let bytes = state.config.roots.read(&path, FILE_BYTES_MAX)?;
            let tokens = estimator.estimate(&String::from_utf8_lossy(&bytes));
            counts.push(Count { path: Some(path), bytes: bytes.len(), tokens });
        }
        Ok(ToolOutput::from_facts(Facts {
            encoding: estimator.name().to_owned(),
            exact: estimator.is_exact(),
            total: counts.iter().map(|count| u64::from(count.tokens)).sum(),
            counts,
        }))
    }
}
