//! The upgrades of a class: the upper convex hull of its options, from the
//! cheapest on (RFC 0005 §3.1).

use std::cmp::Ordering;

use super::density::Gain;
use super::problem::{Opt, View, narrow};

/// From one option of a class to the next on its hull.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upgrade {
    /// [`Gain::key`] of what it adds.
    key: u64,
    pub(super) gain: Gain,
    pub(super) class: u32,
    /// The place of the option that it leads to.
    pub(super) at: u32,
}

impl Upgrade {
    /// The order in which upgrades are taken: by falling density, those of
    /// equal density by class. Two of one class never have the same.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let by_key = other.key.cmp(&self.key);
        by_key
            .then_with(|| other.gain.by_density(self.gain))
            .then_with(|| self.class.cmp(&other.class))
    }
}

impl View<'_> {
    /// The upgrades of all classes, class by class.
    pub(super) fn upgrades(self) -> Vec<Upgrade> {
        let mut all = Vec::with_capacity(self.options.len() - self.classes.len());
        for (class, (start, options)) in self.classes().enumerate() {
            upgrades(narrow(class), start, options, &mut all);
        }
        all
    }
}

/// Adds the upgrades of a class, whose first option is at place `start`: their
/// density falls strictly, their costs and values are above 0.
pub(super) fn upgrades(class: u32, start: u32, options: &[Opt], onto: &mut Vec<Upgrade>) {
    let bottom = onto.len();
    for (i, pair) in options.windows(2).enumerate() {
        let [from, to] = [pair[0], pair[1]];
        let mut gain = Gain { cost: to.cost - from.cost, value: to.value - from.value };
        // What is no better than the step after it is taken with it, or not at all.
        while onto.len() > bottom
            && let Some(last) = onto.last()
            && last.gain.by_density(gain) != Ordering::Greater
        {
            gain.cost += last.gain.cost;
            gain.value += last.gain.value;
            onto.pop();
        }
        onto.push(Upgrade { key: 0, gain, class, at: start + narrow(i + 1) });
    }
    for upgrade in &mut onto[bottom..] {
        upgrade.key = upgrade.gain.key();
    }
}
