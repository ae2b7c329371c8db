//! The break item: the first upgrade that does not fit. The upgrades on both sides of it are
//! visited nearest first, by quickselect instead of a full sort.

use super::upgrades::Upgrade;

/// The maximum number of upgrades that are sorted instead of partitioned further.
const FEW: usize = 32;

/// The number of upgrades that are sorted first; each further sort doubles it.
const CHUNK: usize = 64;

pub(super) struct BreakItem {
    upgrades: Vec<Upgrade>,
    at: usize,
    before: PartialSort,
    after: PartialSort,
}

/// The progress of sorting on one side of the break item.
struct PartialSort {
    /// Indices at which all upgrades are partitioned, in order towards the break item.
    cuts: Vec<usize>,
    /// The upgrades between this index and the break item are sorted.
    sorted: usize,
    /// The upgrades between this index and the break item were visited.
    next: usize,
}

impl BreakItem {
    /// Finds the first upgrade in order of density at which the running cost exceeds `left`.
    pub(super) fn new(mut upgrades: Vec<Upgrade>, mut left: u64) -> Option<Self> {
        let (mut low, mut high) = (0, upgrades.len());
        let (mut before, mut after) = (vec![low], vec![high]);
        // The break item, if it exists, is between `low` and `high`.
        while high - low > FEW {
            let middle = usize::midpoint(low, high);
            upgrades[low..high].select_nth_unstable_by(middle - low, Upgrade::order);
            let cost: u64 = upgrades[low..middle].iter().map(|upgrade| upgrade.gain.cost).sum();
            if cost > left {
                high = middle;
                after.push(high);
            } else {
                left -= cost;
                low = middle;
                before.push(low);
            }
        }
        upgrades[low..high].sort_unstable_by(Upgrade::order);
        let sorted = low..high;
        let at = low
            + upgrades[sorted.clone()].iter().position(|upgrade| {
                let fits = upgrade.gain.cost <= left;
                left -= if fits { upgrade.gain.cost } else { 0 };
                !fits
            })?;
        Some(Self {
            upgrades,
            at,
            before: PartialSort { cuts: before, sorted: sorted.start, next: at },
            after: PartialSort { cuts: after, sorted: sorted.end, next: at + 1 },
        })
    }

    /// Returns all upgrades before the break item, unordered.
    pub(super) fn taken(&self) -> &[Upgrade] {
        &self.upgrades[..self.at]
    }

    pub(super) fn upgrade(&self) -> &Upgrade {
        &self.upgrades[self.at]
    }

    /// Returns the last upgrade before the break item whose class is not `passed`.
    pub(super) fn before(&mut self, passed: &[bool]) -> Option<Upgrade> {
        while self.before.next > 0 {
            if self.before.next == self.before.sorted {
                self.sort_before();
            }
            let upgrade = self.upgrades[self.before.next - 1];
            if !passed[upgrade.class as usize] {
                return Some(upgrade);
            }
            self.before.next -= 1;
        }
        None
    }

    /// Returns the first upgrade after the break item whose class is not `passed`.
    pub(super) fn after(&mut self, passed: &[bool]) -> Option<Upgrade> {
        while self.after.next < self.upgrades.len() {
            if self.after.next == self.after.sorted {
                self.sort_after();
            }
            let upgrade = self.upgrades[self.after.next];
            if !passed[upgrade.class as usize] {
                return Some(upgrade);
            }
            self.after.next += 1;
        }
        None
    }

    fn sort_before(&mut self) {
        let sorted = self.before.sorted;
        let start = sorted.saturating_sub(CHUNK.max(self.at - sorted));
        let cut = nearest(&self.before.cuts, |cut| cut <= start).unwrap_or(0);
        if cut < start {
            self.upgrades[cut..sorted].select_nth_unstable_by(start - cut, Upgrade::order);
        }
        self.upgrades[start..sorted].sort_unstable_by(Upgrade::order);
        self.before.sorted = start;
    }

    fn sort_after(&mut self) {
        let (sorted, all) = (self.after.sorted, self.upgrades.len());
        let end = all.min(sorted + CHUNK.max(sorted - self.at));
        let cut = nearest(&self.after.cuts, |cut| cut >= end).unwrap_or(all);
        if end < cut {
            self.upgrades[sorted..cut].select_nth_unstable_by(end - sorted, Upgrade::order);
        }
        self.upgrades[sorted..end].sort_unstable_by(Upgrade::order);
        self.after.sorted = end;
    }
}

/// Returns the cut nearest to the break item that is far enough from it.
fn nearest(cuts: &[usize], far_enough: impl Fn(usize) -> bool) -> Option<usize> {
    cuts.iter().rev().copied().find(|&cut| far_enough(cut))
}
