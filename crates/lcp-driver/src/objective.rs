//! How blocks compete for the budget, and what their details are worth.

#[cfg(test)]
mod tests;

use lcp_types::Priority;

use crate::detail::DetailLevel;

/// How blocks compete for the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Tier by tier: no block gets what one of a higher priority was refused (RFC 0002 §4).
    #[default]
    Strict,
    /// By value per token, as this table says what details are worth (RFC 0005 §3). The plan then
    /// has a [`OptimalityBound`](crate::OptimalityBound).
    Value(ValueModel),
}

impl Objective {
    /// The name in flags and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Value(_) => "value",
        }
    }
}

/// What each detail of a block is worth (RFC 0005 §2).
///
/// `value = weight × conveyed × rank factor / 1000`, in whole numbers, where the weight is that of
/// the priority, *conveyed* what the detail conveys of the content in thousandths, and the rank
/// factor goes from 1 for the lowest rank, and for blocks without one, to [`Self::highest_rank`]
/// for the highest. Critical and pinned blocks are always in full and need no value. An excerpt is
/// worth its part of the whole's tokens.
///
/// ```
/// use lcp_driver::ValueModel;
///
/// // Summaries are nearly as good as the whole here, and tiers are closer.
/// let values = ValueModel { high: 20, summary: 900, ..ValueModel::default() };
/// assert_eq!(values.normal, 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueModel {
    /// The weight of High blocks; like every weight at most
    /// [`Self::WEIGHT_MAX`]: what is above counts as that.
    pub high: u32,
    /// The weight of Normal blocks.
    pub normal: u32,
    /// The weight of Low blocks.
    pub low: u32,
    /// The weight of Background blocks.
    pub background: u32,
    /// What the full content conveys, in thousandths; like every part at most 1000.
    pub full: u32,
    /// What the level between full and summary conveys.
    pub detailed: u32,
    /// What the summary conveys.
    pub summary: u32,
    /// What a few words in place of the summary convey.
    pub tags: u32,
    /// What the line of a placeholder conveys.
    pub placeholder: u32,
    /// The factor of the highest rank, in thousandths, from 1000 to [`Self::HIGHEST_RANK_MAX`].
    pub highest_rank: u32,
}

impl ValueModel {
    /// The largest weight.
    pub const WEIGHT_MAX: u32 = 1_000_000;
    /// The largest factor of the highest rank, in thousandths.
    pub const HIGHEST_RANK_MAX: u32 = 10_000;

    fn weight(&self, priority: Priority) -> u64 {
        let weight = match priority {
            Priority::Critical => 0,
            Priority::High => self.high,
            Priority::Normal => self.normal,
            Priority::Low => self.low,
            Priority::Background => self.background,
        };
        weight.min(Self::WEIGHT_MAX).into()
    }

    /// Returns the value of a level; `factor` is that of the rank, in thousandths.
    pub(crate) fn value(&self, priority: Priority, factor: u64, detail: DetailLevel) -> u64 {
        let conveyed = match detail {
            DetailLevel::Full => self.full,
            DetailLevel::Detailed => self.detailed,
            DetailLevel::Summary => self.summary,
            DetailLevel::Tags => self.tags,
            DetailLevel::Placeholder => self.placeholder,
        };
        self.weight(priority) * u64::from(conveyed.min(THOUSAND)) * factor / u64::from(THOUSAND)
    }

    /// Returns the factor of the highest rank, within its range.
    pub(crate) fn highest_factor(&self) -> u64 {
        self.highest_rank.clamp(THOUSAND, Self::HIGHEST_RANK_MAX).into()
    }
}

/// The position of the lowest rank between that of blocks without one, 0, and the highest, 1.
const LOWEST_PLACE: f64 = 0.125;

/// The conversion of ranks, which are any numbers, to factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankFactors {
    lowest: f64,
    highest: f64,
    factor: u64,
}

impl RankFactors {
    /// The factors of these ranks; `factor` is that of the highest, in thousandths.
    pub(crate) fn from_ranks(ranks: impl Iterator<Item = f64>, factor: u64) -> Self {
        let nothing = Self { lowest: f64::INFINITY, highest: f64::NEG_INFINITY, factor };
        ranks.fold(nothing, |of, rank| Self {
            lowest: of.lowest.min(rank),
            highest: of.highest.max(rank),
            ..of
        })
    }

    /// The factor of a rank, in thousandths: by its place between the lowest and the highest.
    /// Without one it is less than that of any.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of at most 9,000, rounded down"
    )]
    pub(crate) fn factor(self, rank: Option<f64>) -> u64 {
        let least = u64::from(THOUSAND);
        let Some(rank) = rank else { return least };
        // Halves, so that no difference overflows.
        let (above, span) =
            (rank / 2.0 - self.lowest / 2.0, self.highest / 2.0 - self.lowest / 2.0);
        let place = if rank >= self.highest || span <= 0.0 { 1.0 } else { above / span };
        let place = LOWEST_PLACE + (1.0 - LOWEST_PLACE) * place.clamp(0.0, 1.0);
        least + (place * (self.factor - least) as f64) as u64
    }
}

/// Thousandths of a whole.
pub(crate) const THOUSAND: u32 = 1000;

impl Default for ValueModel {
    fn default() -> Self {
        Self {
            high: 64,
            normal: 16,
            low: 4,
            background: 1,
            full: THOUSAND,
            detailed: 800,
            summary: 500,
            tags: 200,
            placeholder: 50,
            highest_rank: 2 * THOUSAND,
        }
    }
}
