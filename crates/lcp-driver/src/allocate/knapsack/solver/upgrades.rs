//! Upgrades: the steps along the upper convex hull of each class, starting at its cheapest option
//! (RFC 0005 §3.1), and their order by density.

use std::cmp::Ordering;

use super::instance::{Choice, Instance, Problem, to_u32};

/// The number of fraction bits in the key of a density. A value of 40 bits gives a key of 63.
const KEY_BITS: u32 = 23;

/// The difference between two options. Its density is compared exactly, in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gain {
    /// At least 1.
    pub(super) cost: u64,
    pub(super) value: u64,
}

impl Gain {
    pub(super) fn by_density(self, other: Self) -> Ordering {
        product(self.value, other.cost).cmp(&product(other.value, self.cost))
    }

    /// Returns the density as an integer, rounded down, for fast comparison.
    pub(super) fn key(self) -> u64 {
        if self.value.leading_zeros() >= KEY_BITS {
            (self.value << KEY_BITS) / self.cost
        } else {
            let key = (u128::from(self.value) << KEY_BITS) / u128::from(self.cost);
            u64::try_from(key).unwrap_or(u64::MAX)
        }
    }

    /// Returns the value of `cost` tokens at this density, rounded down.
    pub(super) fn value_of(self, cost: u64) -> u64 {
        self.divided(cost, 0)
    }

    pub(super) fn value_rounded_up(self, cost: u64) -> u64 {
        self.divided(cost, self.cost - 1)
    }

    fn divided(self, cost: u64, more: u64) -> u64 {
        let whole = product(self.value, cost) + u128::from(more);
        match u64::try_from(whole) {
            Ok(whole) => whole / self.cost,
            Err(_) => u64::try_from(whole / u128::from(self.cost)).unwrap_or(u64::MAX),
        }
    }
}

pub(super) fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// A step from one option of a class to the next one on its convex hull.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upgrade {
    /// The [`Gain::key`] of `gain`.
    key: u64,
    pub(super) gain: Gain,
    pub(super) class: u32,
    /// The index of the new option.
    pub(super) at: u32,
}

impl Upgrade {
    /// Compares in the order in which upgrades are taken: by decreasing density, then by class.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let by_key = other.key.cmp(&self.key);
        by_key
            .then_with(|| other.gain.by_density(self.gain))
            .then_with(|| self.class.cmp(&other.class))
    }
}

impl Instance<'_> {
    pub(super) fn upgrades(self) -> Vec<Upgrade> {
        let mut all = Vec::with_capacity(self.options.len() - self.classes.len());
        for (class, (start, options)) in self.classes().enumerate() {
            push_upgrades(to_u32(class), start, options, &mut all);
        }
        all
    }
}

/// Adds the upgrades of a class whose first option is at index `start`.
fn push_upgrades(class: u32, start: u32, options: &[Choice], onto: &mut Vec<Upgrade>) {
    let bottom = onto.len();
    for (i, pair) in options.windows(2).enumerate() {
        let [from, to] = [pair[0], pair[1]];
        let mut gain = Gain { cost: to.cost - from.cost, value: to.value - from.value };
        // An upgrade that is not denser than the next one is merged with it.
        while onto.len() > bottom
            && let Some(last) = onto.last()
            && last.gain.by_density(gain) != Ordering::Greater
        {
            gain.cost += last.gain.cost;
            gain.value += last.gain.value;
            onto.pop();
        }
        onto.push(Upgrade { key: 0, gain, class, at: start + to_u32(i + 1) });
    }
    for upgrade in &mut onto[bottom..] {
        upgrade.key = upgrade.gain.key();
    }
}

/// Returns all upgrades by decreasing density, each as a class and the index at which its option
/// was pushed.
pub(in crate::allocate::knapsack) fn upgrades_by_density(problem: &Problem) -> Vec<(usize, usize)> {
    let view = problem.view();
    let mut all = view.upgrades();
    all.sort_unstable_by(Upgrade::order);
    let place =
        |upgrade: &Upgrade| (upgrade.class as usize, view.option(upgrade.at).index as usize);
    all.iter().map(place).collect()
}

/// Returns the indices of the options on the upper convex hull; each option is a cost and a value.
pub(in crate::allocate::knapsack) fn convex_hull(options: &[(u64, u64)]) -> Vec<usize> {
    let mut problem = Problem::with_capacity(1, options.len());
    problem.push(options.iter().copied());
    let cheapest = problem.view().options.first().map(|option| option.index as usize);
    cheapest
        .into_iter()
        .chain(upgrades_by_density(&problem).into_iter().map(|(_, option)| option))
        .collect()
}
