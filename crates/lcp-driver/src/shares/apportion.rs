//! The weights by which a budget is divided.

use crate::fixed_point::{BILLION, apportion};

/// The weights of a division. A budget that is adjusted again and again starts from these, so it
/// does not drift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Basis {
    pub(super) weights: Vec<u64>,
    /// The weight of the whole.
    pub(super) whole: u64,
}

impl Basis {
    pub(super) fn from_ratios(ratios: Vec<u64>) -> Self {
        let sum: u64 = ratios.iter().sum();
        // Each ratio was rounded: three thirds lack a billionth.
        let whole = if sum.abs_diff(BILLION) <= ratios.len() as u64 { sum } else { BILLION };
        Self { weights: ratios, whole }
    }

    /// Returns what the weights ask for of a total, rounded up.
    pub(super) fn asked(&self, total: u32) -> u64 {
        let asked = self.scaled(total).div_ceil(u128::from(self.whole.max(1)));
        u64::try_from(asked).unwrap_or(u64::MAX)
    }

    /// Returns what they get of it: no more than all.
    pub(super) fn shared(&self, total: u32) -> u32 {
        let shared = self.scaled(total) / u128::from(self.whole.max(1));
        u32::try_from(shared).unwrap_or(u32::MAX).min(total)
    }

    fn scaled(&self, total: u32) -> u128 {
        u128::from(total) * self.weights.iter().map(|&weight| u128::from(weight)).sum::<u128>()
    }

    /// Returns the tokens of each share of a total.
    pub(super) fn tokens(&self, total: u32) -> Vec<u32> {
        apportion(self.shared(total), &self.weights)
    }
}

pub(super) fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
