//! The formats of a text, and how much of each block it shows.

use lcp_types::AlternateLevel;

/// The revision of the renderer. It is raised when the text of any part changes, so that counts and
/// saved plans of the old text are not used.
pub const RENDERER_REVISION: u32 = 3;

lcp_types::named_enum! {
    /// The format of the rendered text (RFC 0002 §6).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum OutputMode {
        /// Elements with attributes: the clearest boundaries.
        #[default]
        Xml = "xml",
        /// Headings and fences.
        Markdown = "markdown",
        /// The fewest tokens that keep blocks apart.
        Minimal = "minimal",
    }
}

lcp_types::named_enum! {
    /// How much of each block is rendered (SPEC_08 §1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Verbosity {
        /// Full content. The budget is ignored.
        Full = "full",
        /// Summaries where there are any, else full content. The budget is ignored.
        Summary = "summary",
        /// What the budget and the priorities allow, block by block.
        #[default]
        Adaptive = "adaptive",
    }
}

pub(crate) const LEVELS: usize = DetailLevel::ALL.len();

lcp_types::named_enum! {
    /// How much of a block is shown. The fullest level first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum DetailLevel {
        Full = "full",
        Detailed = "detailed",
        Summary = "summary",
        Tags = "tags",
        Placeholder = "placeholder",
    }
}

impl DetailLevel {
    /// Returns what a part shows at this level; `None` for a placeholder.
    pub(crate) const fn shown(self) -> Option<Shown> {
        match self {
            Self::Full => Some(Shown::Content),
            Self::Detailed => Some(Shown::Detailed),
            Self::Summary => Some(Shown::Summary),
            Self::Tags => Some(Shown::Tags),
            Self::Placeholder => None,
        }
    }

    /// Returns the level of an index that corresponds to it.
    pub(crate) fn cost_level(self) -> Option<AlternateLevel> {
        AlternateLevel::ALL.into_iter().find(|level| Self::from_cost_level(*level) == self)
    }

    /// Converts a level of an index.
    pub(crate) const fn from_cost_level(level: AlternateLevel) -> Self {
        match level {
            AlternateLevel::Detailed => Self::Detailed,
            AlternateLevel::Summary => Self::Summary,
            AlternateLevel::Tags => Self::Tags,
        }
    }
}

/// Which part of a content an excerpt shows, and what its marker says (RFC 0004 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, expecting = "the figures of an excerpt")
)]
pub struct Excerpt {
    /// Bytes from the beginning of the content that are shown.
    pub head_bytes: usize,
    /// Bytes from its end that are shown.
    pub tail_bytes: usize,
    /// Lines of which something is missing.
    pub omitted_lines: usize,
    /// Tokens that are missing, about.
    pub omitted_tokens: u32,
}

/// What a text shows of a block: a level or an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownDetail {
    Level(DetailLevel),
    Excerpt(Excerpt),
}

/// What a part shows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Content,
    Detailed,
    Summary,
    Tags,
    Excerpt,
}

impl Shown {
    /// Every way but the whole content, which heads do not name.
    pub(crate) const NAMED: [Self; 4] = [Self::Detailed, Self::Summary, Self::Tags, Self::Excerpt];

    /// Returns its name in heads.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Content => None,
            Self::Detailed => Some("detailed"),
            Self::Summary => Some("summary"),
            Self::Tags => Some("tags"),
            Self::Excerpt => Some("excerpt"),
        }
    }

    /// Returns whether it is the block's own content, or a part of it.
    pub(crate) const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::Excerpt)
    }
}
