//! The formats of a text, and the levels of detail of its blocks.

use lcp_types::AlternateLevel;

/// The revision of the renderer. It increases when the text of any part changes, so that counts and
/// saved plans of the old text are not used.
pub const RENDERER_REVISION: u32 = 4;

lcp_types::named_enum! {
    /// The format of the rendered text (RFC 0002 §6).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum OutputMode {
        /// XML elements with attributes: the clearest boundaries.
        #[default]
        Xml = "xml",
        /// Headings and fences.
        Markdown = "markdown",
        /// The fewest tokens that still separate blocks.
        Minimal = "minimal",
    }
}

lcp_types::named_enum! {
    /// The amount of detail in which blocks are rendered (SPEC_08 §1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Verbosity {
        /// Full content. The budget is ignored.
        Full = "full",
        /// The summary of each block that has one, otherwise full content. The budget is ignored.
        Summary = "summary",
        /// As much detail of each block as the budget and the priorities allow.
        #[default]
        Adaptive = "adaptive",
    }
}

pub(crate) const LEVELS: usize = DetailLevel::ALL.len();

lcp_types::named_enum! {
    /// The level of detail of a block, the fullest first.
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
    /// Returns the form that a part has at this level; `None` for a placeholder.
    pub(crate) const fn shown(self) -> Option<Shown> {
        match self {
            Self::Full => Some(Shown::Content),
            Self::Detailed => Some(Shown::Detailed),
            Self::Summary => Some(Shown::Summary),
            Self::Tags => Some(Shown::Tags),
            Self::Placeholder => None,
        }
    }

    /// Returns the corresponding level of an index, if there is one.
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

/// The part of a content that an excerpt shows, and the numbers of its marker (RFC 0004 §7).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, expecting = "the figures of an excerpt")
)]
pub struct Excerpt {
    /// The number of bytes shown from the beginning of the content, in which a short marker stands
    /// for each encoded run (RFC 0013).
    pub head_bytes: usize,
    /// The number of bytes shown from the end of the content, counted in the same way.
    pub tail_bytes: usize,
    /// The number of lines that are not shown completely; of records if the content has them.
    pub omitted_lines: usize,
    /// The approximate number of tokens that are not shown.
    pub omitted_tokens: u32,
    /// The lines of an excerpt that is made of passages (RFC 0014): the number of the first and of
    /// the last line of each range, from 1, in ascending order. Empty for an excerpt of the
    /// beginning and the end.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub lines: Vec<(u32, u32)>,
}

/// The name of an excerpt where levels have names.
#[cfg(any(feature = "serde", feature = "metrics"))]
pub(crate) const EXCERPT: &str = "excerpt";

/// The level or excerpt by which a text shows a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShownDetail {
    Level(DetailLevel),
    Excerpt(Excerpt),
}

/// The form in which a part shows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Content,
    Detailed,
    Summary,
    Tags,
    Excerpt,
}

impl Shown {
    /// All forms but the full content, which heads do not name.
    pub(crate) const NAMED: [Self; 4] = [Self::Detailed, Self::Summary, Self::Tags, Self::Excerpt];

    /// Returns the name of the form in heads; `None` for full content.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Content => None,
            Self::Detailed => Some("detailed"),
            Self::Summary => Some("summary"),
            Self::Tags => Some("tags"),
            Self::Excerpt => Some("excerpt"),
        }
    }

    /// Returns whether the form shows the block's own content or a part of it.
    pub(crate) const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::Excerpt)
    }
}
