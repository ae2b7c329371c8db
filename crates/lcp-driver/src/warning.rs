//! What a reader of the text should know that the text does not say.

use std::fmt;

/// Something odd or lossy about a run; none of it stops rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is.
    pub code: WarningCode,
    /// The block that it is about, annotations counted.
    pub block: Option<usize>,
    /// The same for people, in one line.
    pub message: String,
}

impl Warning {
    /// A warning; one that callers add of what they know, of the input say, stands in reports like
    /// the driver's own.
    #[must_use]
    pub fn new(code: WarningCode, block: Option<usize>, message: impl Into<String>) -> Self {
        Self { code, block, message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.block {
            Some(block) => write!(f, " [{}] (block {block})", self.code.name()),
            None => write!(f, " [{}]", self.code.name()),
        }
    }
}

lcp_types::named_enum! {
    /// The kinds of warning; their names are stable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum WarningCode {
        /// The verbosity ignores the budget, and the text exceeds it.
        BudgetIgnored = "budget_ignored",
        /// Critical and pinned blocks alone exceed the budget, and were rendered.
        OverBudget = "over_budget",
        /// The budget is too small for even the roll-up line.
        BelowFloor = "below_floor",
        /// The pack has content, and the text shows nothing of it.
        EmptyResult = "empty_result",
        /// Shares that exceed the whole were scaled down.
        SharesNormalised = "shares_normalised",
        /// Blocks of a category that has no share.
        UnknownCategory = "unknown_category",
        /// The Critical blocks of a share exceed its hard cap.
        OverShareCap = "LCP-BUD-002",
        /// A level of a block costs no less than a fuller one, and is not used.
        CostlyLevel = "costly_level",
        /// The plan of the previous turn could not be used; a fresh one was made.
        PreviousRefused = "previous_refused",
        /// A stable text is above its high watermark: repacking would not help.
        AboveWatermark = "above_watermark",
        /// A chunk whose range is not that of its text; it is kept as it is.
        BadLineRange = "bad_line_range",
        /// Blocks that were kept because looking for near ones would take too long.
        NearCapped = "near_capped",
        /// The counts are estimates.
        EstimatedCounts = "estimated_counts",
        /// The tokenizer that was asked for could not be loaded, or is only assumed.
        TokenizerFallback = "tokenizer_fallback",
        /// The text may be larger than the window of the model that reads it.
        WindowExceeded = "window_exceeded",
        /// Something was asked for that changes nothing.
        NoEffect = "no_effect",
        /// Content that is not UTF-8 was rendered with U+FFFD in its place.
        NonUtf8Content = "non_utf8_content",
        /// Words of a chat's own format in the text, or that were taken out of it (RFC 0008 §3).
        SpecialTokens = "special_tokens",
        /// A block of a type that this version does not know.
        UnknownBlockType = "unknown_block_type",
        /// A priority annotation with a bad value; it is ignored.
        BadPriority = "bad_priority",
        /// An annotation that names a block that does not exist; it is ignored.
        BadTarget = "bad_target",
        /// A tag, summary or level with a bad value; it is ignored.
        BadAnnotation = "bad_annotation",
        /// Bytes after the END of the pack; they are ignored.
        TrailingData = "trailing_data",
        /// The index behind the END of the pack is not used: it is damaged, or not of these blocks. All
        /// blocks were read.
        BadIndex = "bad_index",
        /// Header flags that this version has no meaning for; they are ignored.
        ReservedFlags = "reserved_flags",
    }
}
