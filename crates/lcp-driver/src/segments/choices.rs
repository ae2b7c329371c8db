//! The forms of a segment that are worth having.

use super::segment::{CompressionLevel, Forms};

/// The forms of a segment, without those that cost no less than a fuller one.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    forms: Forms,
    /// Fullest first, costs strictly falling, never empty.
    kept: Vec<(CompressionLevel, u32)>,
}

impl Choices {
    pub(super) fn new(forms: Forms) -> Self {
        let mut kept = vec![(CompressionLevel::Full, forms.full)];
        let mut cheapest = forms.full;
        for level in CompressionLevel::ALL {
            if let Some(cost) = forms.cost(level).filter(|cost| *cost < cheapest) {
                cheapest = cost;
                kept.push((level, cost));
            }
        }
        Self { forms, kept }
    }

    pub(super) fn get(&self, choice: usize) -> (CompressionLevel, u32) {
        self.kept[choice]
    }

    pub(super) fn costs(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().map(|(_, cost)| *cost)
    }

    pub(super) fn last(&self) -> usize {
        self.kept.len() - 1
    }

    /// How many choices say more than tags do.
    pub(super) fn telling(&self) -> usize {
        self.kept.iter().filter(|(kept, _)| *kept < CompressionLevel::Tags).count()
    }

    /// The choice for a level: its form, or the fuller one that stands for it.
    /// Where there is no such form, the next lower one, else the next fuller.
    pub(super) fn at(&self, level: CompressionLevel) -> usize {
        if self.forms.cost(level).is_some() {
            return self.at_least(level);
        }
        let lower = self.kept.iter().position(|(kept, _)| *kept > level);
        lower.unwrap_or(self.last())
    }

    /// The choice for a level or a fuller one, the nearest that there is.
    pub(super) fn at_least(&self, level: CompressionLevel) -> usize {
        self.kept.iter().rposition(|(kept, _)| *kept <= level).unwrap_or(0)
    }

    /// The fullest choice that costs `most` at most, else the last.
    pub(super) fn within(&self, most: u32) -> usize {
        self.costs().position(|cost| cost <= most).unwrap_or(self.last())
    }

    /// The forms that cost more than a fuller one, each with its cost and the
    /// least that a fuller one costs.
    pub(super) fn costly(&self) -> impl Iterator<Item = (CompressionLevel, u32, u32)> {
        let mut cheapest = self.forms.full;
        CompressionLevel::ALL.into_iter().filter_map(move |level| {
            let cost = self.forms.cost(level)?;
            let fuller = cheapest;
            cheapest = cheapest.min(cost);
            (cost > fuller).then_some((level, cost, fuller))
        })
    }
}
