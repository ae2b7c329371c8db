//! The segments of a pack, for plans that show each segment at one level.

use std::ops::Range;

use super::allocation::LevelAllocation;
use super::assign::Current;
use super::segment::{
    BudgetAllocationOptions, LevelCosts, PreferredSegments, Segment, SegmentsError,
};
use super::valid::{allocate_valid, check};

/// Consecutive blocks of a pack that are compressed as a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackSegment {
    /// Its unique id.
    pub id: String,
    /// The indices of its blocks.
    pub blocks: Range<usize>,
    /// The importance of each of its anchors, as for [`Segment`].
    pub anchors: Vec<f64>,
    /// Its topics.
    pub topics: Vec<String>,
}

/// The segments of a pack, oldest first, and the options of their allocation. With
/// [`DriverConfig::segments`](crate::DriverConfig::segments), a plan shows each segment at one
/// level.
///
/// ```
/// use lcp_driver::segments::{PackSegment, PackSegments};
///
/// let turn = |id: &str, blocks| PackSegment { id: id.into(), blocks, ..PackSegment::default() };
/// let turns = vec![turn("s1", 0..3), turn("s2", 3..5)];
/// assert!(PackSegments::new(turns, Default::default(), Default::default()).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PackSegments {
    segments: Vec<PackSegment>,
    options: BudgetAllocationOptions,
    focus: PreferredSegments,
}

impl PackSegments {
    /// Creates the segments of a pack. If two of them have a block in common, it belongs to the
    /// first one. Blocks outside all segments are not shown unless they are Critical or pinned.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`allocate`](super::allocate).
    pub fn new(
        segments: Vec<PackSegment>,
        options: BudgetAllocationOptions,
        focus: PreferredSegments,
    ) -> Result<Self, SegmentsError> {
        let found = Self { segments, options, focus };
        let all: Vec<_> = found.segments.iter().map(|it| it.with(LevelCosts::default())).collect();
        check(&all, &found.options, &found.focus)?;
        Ok(found)
    }

    /// Returns the segments, oldest first.
    #[must_use]
    pub fn as_slice(&self) -> &[PackSegment] {
        &self.segments
    }

    /// Returns the fraction of leftover tokens that may enlarge segments other than the last two,
    /// in billionths.
    pub(crate) fn upgrade_fraction(&self) -> u64 {
        // `new` has checked the options.
        self.options.upgrade_fraction().unwrap_or_default()
    }

    /// Allocates a budget to the segments with costs; the others are not part of the text.
    pub(crate) fn allocate(&self, costs: &[Option<LevelCosts>], budget: u32) -> LevelAllocation {
        let costed = self.segments.iter().zip(costs);
        let segments: Vec<_> = costed.filter_map(|(of, costs)| Some(of.with((*costs)?))).collect();
        allocate_valid(&segments, budget, &self.options, &self.focus, |_, _| Current::New)
    }
}

impl PackSegment {
    fn with(&self, costs: LevelCosts) -> Segment {
        let Self { id, anchors, topics, .. } = self;
        Segment { id: id.clone(), costs, anchors: anchors.clone(), topics: topics.clone() }
    }
}
