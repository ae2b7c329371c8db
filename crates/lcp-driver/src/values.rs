//! What details are worth under [`Objective::Value`](crate::Objective::Value):
//! one table, which a caller can replace.

use lcp_types::Priority;

use crate::budget::cost::Detail;

/// What each detail of a block is worth (RFC 0005 §2).
///
/// `value = weight × conveyed × rank factor / 1000`, in whole numbers, where
/// the weight is that of the priority, *conveyed* what the detail conveys of
/// the content in thousandths, and the rank factor goes from 1 for the lowest
/// rank, and for blocks without one, to [`Self::highest_rank`] for the highest.
/// Critical and pinned blocks are always in full and need no value. An excerpt
/// is worth its part of the whole's tokens.
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
    /// What the full content conveys, in thousandths; like every part at most
    /// 1000.
    pub full: u32,
    /// What the level between full and summary conveys.
    pub detailed: u32,
    /// What the summary conveys.
    pub summary: u32,
    /// What a few words in place of the summary convey.
    pub tags: u32,
    /// What the line of a placeholder conveys.
    pub placeholder: u32,
    /// The factor of the highest rank, in thousandths, from 1000 to
    /// [`Self::HIGHEST_RANK_MAX`].
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

    /// What a detail of a block is worth; `factor` is that of its rank, in
    /// thousandths.
    pub(crate) fn of(&self, priority: Priority, factor: u64, detail: Detail) -> u64 {
        let conveyed = match detail {
            Detail::Full => self.full,
            Detail::Detailed => self.detailed,
            Detail::Summary => self.summary,
            Detail::Tags => self.tags,
            Detail::Placeholder => self.placeholder,
        };
        self.weight(priority) * u64::from(conveyed.min(WHOLE)) * factor / u64::from(WHOLE)
    }

    /// The factor of the highest rank, within its range.
    pub(crate) fn highest_factor(&self) -> u64 {
        self.highest_rank.clamp(WHOLE, Self::HIGHEST_RANK_MAX).into()
    }
}

/// The place of the lowest rank, where that of blocks without one is 0 and that
/// of the highest 1.
const LOWEST_PLACE: f64 = 0.125;

/// From ranks, which are any numbers, to their factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    lowest: f64,
    highest: f64,
    factor: u64,
}

impl Ranks {
    /// The factors of these ranks; `factor` is that of the highest, in
    /// thousandths.
    pub(crate) fn of(ranks: impl Iterator<Item = f64>, factor: u64) -> Self {
        let nothing = Self { lowest: f64::INFINITY, highest: f64::NEG_INFINITY, factor };
        ranks.fold(nothing, |of, rank| Self {
            lowest: of.lowest.min(rank),
            highest: of.highest.max(rank),
            ..of
        })
    }

    /// The factor of a rank, in thousandths: by its place between the lowest
    /// and the highest. Without one it is less than that of any.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of at most 9,000, rounded down"
    )]
    pub(crate) fn factor(self, rank: Option<f64>) -> u64 {
        let least = u64::from(WHOLE);
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
pub(crate) const WHOLE: u32 = 1000;

impl Default for ValueModel {
    fn default() -> Self {
        Self {
            high: 64,
            normal: 16,
            low: 4,
            background: 1,
            full: WHOLE,
            detailed: 800,
            summary: 500,
            tags: 200,
            placeholder: 50,
            highest_rank: 2 * WHOLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(ranks: &[f64], rank: f64) -> u64 {
        Ranks::of(ranks.iter().copied(), 3_000).factor(Some(rank))
    }

    #[test]
    fn a_factor_goes_by_the_place_between_lowest_and_highest() {
        assert_eq!(factor(&[0.0, 0.5, 1.0], 0.5), 2_125);
        assert_eq!(factor(&[0.0, 0.5, 1.0], 0.0), 1_250);
        assert_eq!(factor(&[-10.0, 30.0], 0.0), 1_687);
        assert_eq!(factor(&[-1e308, 1e308], 0.0), 2_125);
        assert_eq!(Ranks::of([1.0].into_iter(), 3_000).factor(None), 1_000);
    }

    #[test]
    fn one_rank_alone_is_the_highest_and_so_is_what_stands_above_all() {
        assert_eq!(factor(&[7.0], 7.0), 3_000);
        assert_eq!(factor(&[1.0, 2.0], f64::INFINITY), 3_000);
        assert_eq!(factor(&[], f64::INFINITY), 3_000);
    }

    #[test]
    fn what_is_out_of_range_counts_as_the_limit() {
        let values =
            ValueModel { normal: u32::MAX, full: 2_000, highest_rank: 1, ..ValueModel::default() };
        assert_eq!(values.of(Priority::Normal, 1_000, Detail::Full), 1_000_000_000);
        assert_eq!(values.highest_factor(), 1_000);
        assert_eq!(values.of(Priority::Critical, 1_000, Detail::Full), 0);
    }

    #[test]
    fn the_default_table_is_that_of_rfc_0005() {
        let of = |priority, detail| ValueModel::default().of(priority, 1_000, detail);
        assert_eq!(of(Priority::High, Detail::Full), 64_000);
        assert_eq!(of(Priority::Normal, Detail::Summary), 8_000);
        assert_eq!(of(Priority::Low, Detail::Tags), 800);
        assert_eq!(of(Priority::Background, Detail::Placeholder), 50);
    }
}
