//! The formats of transcripts.

use std::fmt;

/// A format that is imported (RFC 0010 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Messages of `OpenAI`'s chat completions.
    OpenAiChat,
    /// Items of `OpenAI`'s responses.
    OpenAiResponses,
    /// Messages of Anthropic.
    Anthropic,
    /// A session of Claude Code, as JSON lines.
    ClaudeCode,
    /// A rollout of Codex, as JSON lines.
    Codex,
    /// Results of tools that are called over MCP.
    Mcp,
    /// Turns under headings, or any Markdown.
    Markdown,
}

impl Format {
    /// Every format, in the order of RFC 0010 §5.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::ClaudeCode,
        Self::Codex,
        Self::Mcp,
        Self::Markdown,
    ];

    /// The name in flags and reports, and the namespace of EXTENSION blocks.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Mcp => "mcp",
            Self::Markdown => "markdown",
        }
    }

    /// The format of this name.
    ///
    /// ```
    /// use lcp_transcripts::Format;
    ///
    /// assert_eq!(Format::from_name("claude-code"), Some(Format::ClaudeCode));
    /// assert_eq!(Format::from_name("word"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A provider whose messages an export makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Messages of `OpenAI`'s chat completions.
    OpenAi,
    /// Messages of Anthropic.
    Anthropic,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 2] = [Self::OpenAi, Self::Anthropic];

    /// The name in flags and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Returns the provider with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
