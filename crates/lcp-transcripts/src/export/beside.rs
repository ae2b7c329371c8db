//! What a request has beside its messages, for those who count.

use super::ExportResult;
use crate::json;

/// Settings of requests, of which the model reads nothing.
const SETTINGS: [&str; 40] = [
    "anthropic_version",
    "audio",
    "betas",
    "container",
    "context_management",
    "custom_id",
    "frequency_penalty",
    "inference_geo",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "speed",
    "stop",
    "stop_sequences",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "thinking",
    "tool_choice",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

impl ExportResult {
    /// What the request has beside its messages that the model reads, and that is paid for:
    /// its tools and what else is no mere setting (`model`, `temperature`, …), as one JSON
    /// object, as it is written. `None` where there is nothing.
    #[must_use]
    pub fn request_extras(&self) -> Option<String> {
        let read = json::without(self.request.as_deref()?, &SETTINGS);
        (read != "{}").then_some(read)
    }
}
