//! The formats of transcripts.

lcp_types::named_enum! {
    /// A format that can be imported (RFC 0010 §5).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Format {
        /// Messages of the `OpenAI` chat completions API.
        OpenAiChat = "openai-chat",
        /// Items of the `OpenAI` responses API.
        OpenAiResponses = "openai-responses",
        /// Messages of the Anthropic API.
        Anthropic = "anthropic",
        /// Contents of the Gemini API.
        Gemini = "gemini",
        /// A session of Claude Code or the output of `claude -p`, as JSON lines.
        ClaudeCode = "claude-code",
        /// A rollout of Codex or the output of `codex exec --json`, as JSON lines.
        Codex = "codex",
        /// A session of Gemini CLI or its output in the format `stream-json`, as JSON lines.
        GeminiCli = "gemini-cli",
        /// A session of opencode, as `opencode export` and `opencode run --format json` print it.
        Opencode = "opencode",
        /// Results of tools that are called over MCP.
        Mcp = "mcp",
        /// Chat turns under Markdown headings, or any other Markdown text.
        Markdown = "markdown",
    }
}

impl Format {
    /// Returns the provider whose message format matches this format, if there is one.
    #[must_use]
    pub const fn provider(self) -> Option<Provider> {
        match self {
            Self::OpenAiChat => Some(Provider::OpenAi),
            Self::OpenAiResponses | Self::Codex => Some(Provider::OpenAiResponses),
            Self::Anthropic | Self::ClaudeCode => Some(Provider::Anthropic),
            Self::Gemini | Self::GeminiCli => Some(Provider::Gemini),
            Self::Opencode | Self::Mcp | Self::Markdown => None,
        }
    }

    /// Returns whether messages for `provider` can contain unrecognized parts of this format.
    pub(crate) const fn has_parts_of(self, provider: Provider) -> bool {
        matches!(
            (self, provider),
            (Self::OpenAiChat, Provider::OpenAi)
                | (Self::OpenAiResponses | Self::Codex, Provider::OpenAiResponses)
                | (Self::Anthropic | Self::ClaudeCode, Provider::Anthropic)
                | (Self::Gemini | Self::GeminiCli, Provider::Gemini)
        )
    }
}

lcp_types::named_enum! {
    /// A provider whose message format an export writes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Provider {
        /// Messages of the `OpenAI` chat completions API.
        #[default]
        OpenAi = "openai",
        /// Items of the `OpenAI` responses API.
        OpenAiResponses = "openai-responses",
        /// Messages of the Anthropic API.
        Anthropic = "anthropic",
        /// Contents of the Gemini API.
        Gemini = "gemini",
    }
}
