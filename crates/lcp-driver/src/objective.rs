//! The objectives by which blocks compete for the budget, and the values of their levels.

#[cfg(test)]
mod tests;

use lcp_types::Priority;

use crate::detail::DetailLevel;

/// The rule by which blocks compete for the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// By tiers: no block gets tokens that a block of higher priority was refused (RFC 0002 §4).
    #[default]
    Strict,
    /// By value per token, with values from this model (RFC 0005 §3). The plan then has an
    /// [`OptimalityBound`](crate::OptimalityBound).
    Value(ValueModel),
}

impl Objective {
    /// Returns the name of the objective in flags and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Value(_) => "value",
        }
    }
}

/// The model of the value of each level of a block (RFC 0005 §2).
///
/// `value = weight × conveyed × rank factor / 1000`, in integers:
///
/// - The weight is that of the block's priority.
/// - *conveyed* is the part of the content that the level conveys, in thousandths.
/// - The rank factor is in thousandths: 1000 for blocks without a rank, more for the lowest rank,
///   and [`Self::highest_rank`] for the highest.
///
/// Critical and pinned blocks are always shown in full and have no value. The value of an excerpt
/// is the value of the full content times its share of the tokens.
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
    /// The weight of High blocks. Every weight is at most [`Self::WEIGHT_MAX`]; a larger one counts
    /// as that.
    pub high: u32,
    /// The weight of Normal blocks.
    pub normal: u32,
    /// The weight of Low blocks.
    pub low: u32,
    /// The weight of Background blocks.
    pub background: u32,
    /// The part that the full content conveys, in thousandths. Every such part is at most 1000; a
    /// larger one counts as that.
    pub full: u32,
    /// The part that the level between full and summary conveys.
    pub detailed: u32,
    /// The part that the summary conveys.
    pub summary: u32,
    /// The part that the tags convey: a few words as a level below the summary.
    pub tags: u32,
    /// The part that a placeholder conveys.
    pub placeholder: u32,
    /// The factor of the highest rank, in thousandths, from 1000 to [`Self::HIGHEST_RANK_MAX`].
    pub highest_rank: u32,
}

impl ValueModel {
    /// The maximum weight.
    pub const WEIGHT_MAX: u32 = 1_000_000;
    /// The maximum factor of the highest rank, in thousandths.
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

    /// Returns the value of a level. `factor` is the rank factor, in thousandths.
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

/// The position of the lowest rank, between 0 (blocks without a rank) and 1 (the highest rank).
const LOWEST_PLACE: f64 = 0.125;

/// The conversion of ranks, which can be any numbers, to factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankFactors {
    lowest: f64,
    highest: f64,
    factor: u64,
}

impl RankFactors {
    /// Creates the conversion for these ranks. `factor` is that of the highest rank, in
    /// thousandths.
    pub(crate) fn from_ranks(ranks: impl Iterator<Item = f64>, factor: u64) -> Self {
        let nothing = Self { lowest: f64::INFINITY, highest: f64::NEG_INFINITY, factor };
        ranks.fold(nothing, |of, rank| Self {
            lowest: of.lowest.min(rank),
            highest: of.highest.max(rank),
            ..of
        })
    }

    /// Returns the factor of a rank, in thousandths, by its position between the lowest and the
    /// highest rank. Blocks without a rank have the lowest factor.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of at most 9,000, rounded down"
    )]
    pub(crate) fn factor(self, rank: Option<f64>) -> u64 {
        let least = u64::from(THOUSAND);
        let Some(rank) = rank else { return least };
        // The differences are of halves, so that they do not overflow.
        let (above, span) =
            (rank / 2.0 - self.lowest / 2.0, self.highest / 2.0 - self.lowest / 2.0);
        let place = if rank >= self.highest || span <= 0.0 { 1.0 } else { above / span };
        let place = LOWEST_PLACE + (1.0 - LOWEST_PLACE) * place.clamp(0.0, 1.0);
        least + (place * (self.factor - least) as f64) as u64
    }
}

/// The number of thousandths in a whole.
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
