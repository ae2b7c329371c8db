//! Upgrades around the break, nearest first on both sides, without sorting
//! them all.

use super::hull::Upgrade;

/// So few upgrades are sorted rather than divided further.
const FEW: usize = 32;

/// So many more upgrades are put in order at first, then twice as many each time.
const CHUNK: usize = 64;

/// Upgrades of all classes, those before the break in front of it.
pub(super) struct Frontier {
    upgrades: Vec<Upgrade>,
    broke: usize,
    before: Side,
    after: Side,
}

/// What is known of the order on one side of the break.
struct Side {
    /// Places at which all upgrades are divided: what is in front of one comes
    /// before what is behind it. Nearer and nearer to the break.
    cuts: Vec<usize>,
    /// Between here and the break, all are in order.
    sorted: usize,
    /// Between here and the break, all have been gone by.
    next: usize,
}

impl Frontier {
    /// Finds the break: the first upgrade, in their order, with which they cost
    /// more than `left` together. `None` if there is none.
    pub(super) fn new(mut upgrades: Vec<Upgrade>, mut left: u64) -> Option<Self> {
        let (mut low, mut high) = (0, upgrades.len());
        let (mut before, mut after) = (vec![low], vec![high]);
        // The break is between the two, or there is none.
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
        let broke = low
            + upgrades[sorted.clone()].iter().position(|upgrade| {
                let fits = upgrade.gain.cost <= left;
                left -= if fits { upgrade.gain.cost } else { 0 };
                !fits
            })?;
        Some(Self {
            upgrades,
            broke,
            before: Side { cuts: before, sorted: sorted.start, next: broke },
            after: Side { cuts: after, sorted: sorted.end, next: broke + 1 },
        })
    }

    /// All that come before the break, in no order.
    pub(super) fn taken(&self) -> &[Upgrade] {
        &self.upgrades[..self.broke]
    }

    /// The break.
    pub(super) fn upgrade(&self) -> &Upgrade {
        &self.upgrades[self.broke]
    }

    /// The last upgrade before the break of a class that is not passed by.
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

    /// The first upgrade after the break of a class that is not passed by.
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
        let start = sorted.saturating_sub(CHUNK.max(self.broke - sorted));
        let cut = nearest(&self.before.cuts, |cut| cut <= start).unwrap_or(0);
        if cut < start {
            self.upgrades[cut..sorted].select_nth_unstable_by(start - cut, Upgrade::order);
        }
        self.upgrades[start..sorted].sort_unstable_by(Upgrade::order);
        self.before.sorted = start;
    }

    fn sort_after(&mut self) {
        let (sorted, all) = (self.after.sorted, self.upgrades.len());
        let end = all.min(sorted + CHUNK.max(sorted - self.broke));
        let cut = nearest(&self.after.cuts, |cut| cut >= end).unwrap_or(all);
        if end < cut {
            self.upgrades[sorted..cut].select_nth_unstable_by(end - sorted, Upgrade::order);
        }
        self.upgrades[sorted..end].sort_unstable_by(Upgrade::order);
        self.after.sorted = end;
    }
}

/// The last of the cuts that is far enough from the break.
fn nearest(cuts: &[usize], far_enough: impl Fn(usize) -> bool) -> Option<usize> {
    cuts.iter().rev().copied().find(|&cut| far_enough(cut))
}
