//! The levels of detail of a block.

use lcp_types::AlternateLevel;

/// The number of detail levels.
pub(crate) const LEVELS: usize = 5;

/// How much of a block is shown. The fullest level first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DetailLevel {
    Full,
    Detailed,
    Summary,
    Tags,
    Placeholder,
}

impl DetailLevel {
    pub(crate) const ALL: [Self; LEVELS] =
        [Self::Full, Self::Detailed, Self::Summary, Self::Tags, Self::Placeholder];

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
    pub(crate) const fn cost_level(self) -> Option<AlternateLevel> {
        match self {
            Self::Detailed => Some(AlternateLevel::Detailed),
            Self::Summary => Some(AlternateLevel::Summary),
            Self::Tags => Some(AlternateLevel::Tags),
            Self::Full | Self::Placeholder => None,
        }
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

    /// Whether it is the block's own content, or a part of it.
    pub(crate) const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::Excerpt)
    }
}
