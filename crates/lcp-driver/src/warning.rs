//! Warnings about the input and the text.

use std::fmt;

/// An unusual input or a loss of information. Warnings never stop the rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of the warning.
    pub code: WarningCode,
    /// The index of the block that the warning is about, with annotations counted.
    pub block: Option<usize>,
    /// The message for people, in one line.
    pub message: String,
}

impl Warning {
    /// Creates a warning. Callers may add their own warnings to a plan, for example about the
    /// input; reports list them like those of the driver.
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
        /// Critical and pinned blocks alone exceed the budget, and are shown in full.
        OverBudget = "over_budget",
        /// The text shows everything, but little of the budget remains.
        BudgetUsage = "budget_usage",
        /// The budget is too small even for the roll-up line.
        BelowFloor = "below_floor",
        /// The pack has content, but the text does not show any of it.
        EmptyResult = "empty_result",
        /// Shares that exceed the whole budget were scaled down.
        SharesNormalised = "shares_normalised",
        /// Some blocks have a category without a share.
        UnknownCategory = "unknown_category",
        /// The Critical and pinned blocks of a share exceed its hard cap.
        OverShareCap = "LCP-BUD-002",
        /// A level of a block costs no less than a fuller one, and is not used.
        CostlyLevel = "costly_level",
        /// The plan of the previous turn could not be used; the text starts from scratch.
        PreviousRefused = "previous_refused",
        /// A stable text is above its high watermark, and repacking would not help.
        AboveWatermark = "above_watermark",
        /// The line range of a chunk does not match its text; the chunk stays as it is.
        BadLineRange = "bad_line_range",
        /// Near-duplicates were not removed from some blocks because the search would take too
        /// long.
        NearCapped = "near_capped",
        /// The text leaves out session records that the caller asked for.
        RecordsOmitted = "records_omitted",
        /// The token counts are estimates.
        EstimatedCounts = "estimated_counts",
        /// The requested tokenizer could not be loaded, or is only assumed.
        TokenizerFallback = "tokenizer_fallback",
        /// The text may be larger than the window of the model that reads it.
        WindowExceeded = "window_exceeded",
        /// A requested option has no effect.
        NoEffect = "no_effect",
        /// Some content is not UTF-8; its invalid bytes were rendered as U+FFFD.
        NonUtf8Content = "non_utf8_content",
        /// The text has special tokens of a chat format, or special tokens were escaped in it (RFC
        /// 0008 §3).
        SpecialTokens = "special_tokens",
        /// The type of a block is unknown to this version.
        UnknownBlockType = "unknown_block_type",
        /// The value of a priority annotation is invalid; the annotation is ignored.
        BadPriority = "bad_priority",
        /// The target of an annotation does not exist; the annotation is ignored.
        BadTarget = "bad_target",
        /// The value of a tag, summary or level is invalid; the annotation is ignored.
        BadAnnotation = "bad_annotation",
        /// Bytes follow the END of the pack; they are ignored.
        TrailingData = "trailing_data",
        /// The index after the END of the pack is damaged or does not match the blocks. The index
        /// is not used and all blocks were read.
        BadIndex = "bad_index",
        /// The header has flags without a meaning in this version; they are ignored.
        ReservedFlags = "reserved_flags",
    }
}
