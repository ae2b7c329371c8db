//! What is allocated: segments, and what a caller asks for.

/// How far a segment is compressed, the fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompressionLevel {
    /// Every word.
    Full,
    /// A detailed summary.
    Detailed,
    /// A short summary.
    Brief,
    /// A few words.
    Tags,
}

impl CompressionLevel {
    /// Every level, the fullest first.
    pub const ALL: [Self; 4] = [Self::Full, Self::Detailed, Self::Brief, Self::Tags];

    /// The name in logs and labels of metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Detailed => "detailed",
            Self::Brief => "brief",
            Self::Tags => "tags",
        }
    }
}

/// What each form of a segment costs, in tokens of the text that is really
/// shown; `None` where there is no such form.
///
/// A form that costs no less than a fuller one is not used: the fuller one
/// stands for it. Where it costs more, the allocation has a warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Tokens of the segment itself.
    pub full: u32,
    /// Tokens of its detailed summary.
    pub detailed: Option<u32>,
    /// Tokens of its short summary.
    pub brief: Option<u32>,
    /// Tokens of its few words.
    pub tags: Option<u32>,
}

impl Forms {
    /// A segment of `tokens` tokens without any other form.
    #[must_use]
    pub const fn full(tokens: u32) -> Self {
        Self { full: tokens, detailed: None, brief: None, tags: None }
    }

    /// What the form of a level costs.
    #[must_use]
    pub const fn cost(self, level: CompressionLevel) -> Option<u32> {
        match level {
            CompressionLevel::Full => Some(self.full),
            CompressionLevel::Detailed => self.detailed,
            CompressionLevel::Brief => self.brief,
            CompressionLevel::Tags => self.tags,
        }
    }
}

/// A run of a conversation that is compressed as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Its id: no other segment has it.
    pub id: String,
    /// What its forms cost.
    pub forms: Forms,
    /// The importance of each of its anchors: any unit, but 0 or more, and
    /// finite. Anchors are what should survive compression: decisions,
    /// commitments, open questions.
    pub anchors: Vec<f64>,
    /// What it is about, in names of the caller's choice.
    pub topics: Vec<String>,
}

impl Segment {
    /// A segment without anchors and topics.
    #[must_use]
    pub fn new(id: impl Into<String>, forms: Forms) -> Self {
        Self { id: id.into(), forms, ..Self::default() }
    }
}

/// What matters at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The current topics: segments with one of them, letter by letter, are
    /// preferred.
    pub topics: Vec<String>,
    /// The ids of the segments that a user or an agent wants to see in full.
    pub expanded: Vec<String>,
}
