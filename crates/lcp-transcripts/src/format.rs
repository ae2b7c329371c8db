//! The formats of transcripts.

lcp_types::named_enum! {
    /// A format that is imported (RFC 0010 §5).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Format {
        /// Messages of `OpenAI`'s chat completions.
        OpenAiChat = "openai-chat",
        /// Items of `OpenAI`'s responses.
        OpenAiResponses = "openai-responses",
        /// Messages of Anthropic.
        Anthropic = "anthropic",
        /// A session of Claude Code, as JSON lines.
        ClaudeCode = "claude-code",
        /// A rollout of Codex, as JSON lines.
        Codex = "codex",
        /// Results of tools that are called over MCP.
        Mcp = "mcp",
        /// Turns under headings, or any Markdown.
        Markdown = "markdown",
    }
}

impl Format {
    /// Returns the provider whose messages an export of this format makes, if it has one.
    #[must_use]
    pub const fn provider(self) -> Option<Provider> {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::Codex => Some(Provider::OpenAi),
            Self::Anthropic | Self::ClaudeCode => Some(Provider::Anthropic),
            Self::Mcp | Self::Markdown => None,
        }
    }

    /// Returns whether messages of `provider` can have unknown parts of this format.
    pub(crate) const fn has_parts_of(self, provider: Provider) -> bool {
        matches!(
            (self, provider),
            (Self::OpenAiChat, Provider::OpenAi)
                | (Self::Anthropic | Self::ClaudeCode, Provider::Anthropic)
        )
    }
}

lcp_types::named_enum! {
    /// A provider whose messages an export makes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Provider {
        /// Messages of `OpenAI`'s chat completions.
        #[default]
        OpenAi = "openai",
        /// Messages of Anthropic.
        Anthropic = "anthropic",
    }
}
