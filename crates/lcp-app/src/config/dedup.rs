//! `[context.dedup]`: what stands twice in a pack (RFC 0006).

use lcp_dedup::{DedupLevel, Options, Survivor};

use super::reader::{Located, Result, Section, choice};
use super::sections::{FROM_0_TO_1, is_ratio};

/// What the file says of duplicates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dedup {
    /// Whether what stands twice is shown once.
    pub enabled: Option<Located<bool>>,
    /// What is looked for.
    pub level: Option<Located<DedupLevel>>,
    /// Which of two stays.
    pub keep: Option<Located<Survivor>>,
    /// Without merging: from which part of the smaller chunk on the other gives
    /// up the common lines, from 0 to 1.
    pub overlap_threshold: Option<Located<f64>>,
    /// Whether chunks that overlap become one.
    pub merge_overlapping: Option<Located<bool>>,
    /// Bytes that a chunk may have by merging.
    pub merged_bytes: Option<Located<u32>>,
    /// How alike two texts are to be near, from 0.5 to 1.
    pub near_threshold: Option<Located<f64>>,
}

impl Dedup {
    /// What is looked for where the file asks for it and no flag says more.
    pub const LEVEL: DedupLevel = DedupLevel::Overlap;

    pub(super) fn read(context: &mut Section<'_>) -> Result<Self> {
        let Some(mut section) = context.section("dedup")? else { return Ok(Self::default()) };
        let is_near = |number: f64| (0.5..=1.0).contains(&number);
        let levels = DedupLevel::ALL.map(|level| (level.name(), level));
        let keeps = Survivor::ALL.map(|keep| (keep.name(), keep));
        let dedup = Self {
            enabled: section.boolean("enabled")?,
            level: section.take("level").map(|entry| choice(&entry, &levels)).transpose()?,
            keep: section.take("keep").map(|entry| choice(&entry, &keeps)).transpose()?,
            overlap_threshold: section.number("overlap_threshold", is_ratio, FROM_0_TO_1)?,
            merge_overlapping: section.boolean("merge_overlapping")?,
            merged_bytes: section.integer("merged_bytes")?,
            near_threshold: section.number("near_threshold", is_near, "must be from 0.5 to 1")?,
        };
        section.finish()?;
        Ok(dedup)
    }

    /// The options at this level, by default where the file says nothing.
    pub fn options(&self, level: DedupLevel) -> Options {
        let default = Options::new(level);
        let value = |found: &Option<Located<f64>>| found.as_ref().map(|found| found.value);
        let merge = self.merge_overlapping.as_ref().map(|found| found.value);
        let bytes = self.merged_bytes.as_ref().map(|found| found.value as usize);
        Options {
            keep: self.keep.as_ref().map_or(default.keep, |found| found.value),
            merge_overlapping: merge.unwrap_or(default.merge_overlapping),
            overlap_threshold: value(&self.overlap_threshold).unwrap_or(default.overlap_threshold),
            merged_bytes: bytes.unwrap_or(default.merged_bytes),
            near_threshold: value(&self.near_threshold).unwrap_or(default.near_threshold),
            ..default
        }
    }
}
