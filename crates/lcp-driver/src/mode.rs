//! The formats of a text, and how much of each block it shows.

/// The revision of the renderer. It is raised when the text of any part changes, so that counts and
/// saved plans of the old text are not used.
pub const RENDERER_REVISION: u32 = 3;

/// The format of the rendered text (RFC 0002 §6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutputMode {
    /// Elements with attributes: the clearest boundaries.
    #[default]
    Xml,
    /// Headings and fences.
    Markdown,
    /// The fewest tokens that keep blocks apart.
    Minimal,
}

impl OutputMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Xml, Self::Markdown, Self::Minimal];

    /// The name in flags and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Markdown => "markdown",
            Self::Minimal => "minimal",
        }
    }
}

/// How much of each block is rendered (SPEC_08 §1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verbosity {
    /// Full content. The budget is ignored.
    Full,
    /// Summaries where there are any, else full content. The budget is ignored.
    Summary,
    /// What the budget and the priorities allow, block by block.
    #[default]
    Adaptive,
}

impl Verbosity {
    /// Every verbosity.
    pub const ALL: [Self; 3] = [Self::Full, Self::Summary, Self::Adaptive];

    /// The name in flags and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
            Self::Adaptive => "adaptive",
        }
    }
}
