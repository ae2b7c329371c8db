//! From shares to whole tokens.

use super::{ContextBudget, DEFAULT_BUDGET_RATIOS, ShareSize, Shares, SharesNote};
use crate::ratio::{BILLION, billionths};

impl Shares {
    /// The tokens of each share where so many are available.
    ///
    /// Ratios are of all that is available, fixed numbers are taken as they
    /// are. Where together they exceed it, the ratios are scaled down to what
    /// the fixed ones leave; where those exceed it alone, they are scaled down
    /// themselves. [`ContextBudget::note`] then says so. Sizes that sum to the
    /// whole (ratios to a billionth each) give tokens that sum to it exactly,
    /// by largest remainder, ties in order. A share has no more than its cap: a
    /// fixed number counts as its cap where that is less, and what a cap leaves
    /// of a ratio is nobody's, to be borrowed.
    #[must_use]
    pub fn divide(&self, available: u32) -> ContextBudget {
        let sizes = self.as_slice().iter().map(|share| match share.size {
            ShareSize::Ratio(ratio) => (billionths(ratio), 0),
            // What a cap keeps from a share is no claim on the others.
            ShareSize::Tokens(tokens) => (0, tokens.min(share.cap.unwrap_or(u32::MAX)).into()),
        });
        let (ratios, fixed): (Vec<u64>, Vec<u64>) = sizes.unzip();
        let (basis, fixed_sum) = (Basis::of_ratios(ratios), fixed.iter().sum::<u64>());
        let left = u32::try_from(u64::from(available).saturating_sub(fixed_sum)).unwrap_or(0);
        let asked = basis.asked(available);
        let note = if fixed_sum > available.into() {
            Some(SharesNote::FixedScaled { wanted: fixed_sum, available })
        } else if asked > left.into() {
            Some(SharesNote::RatiosScaled { wanted: asked, left })
        } else {
            None
        };
        let basis = if fixed_sum == 0 {
            basis
        } else {
            let of_fixed = apportion(available.min(saturate(fixed_sum)), &fixed);
            let of_ratios = apportion(basis.shared(available).min(left), &basis.weights);
            let tokens = of_fixed.iter().zip(of_ratios).map(|(a, b)| u64::from(a + b)).collect();
            Basis { weights: tokens, whole: available.into() }
        };
        let tokens = basis.tokens(available);
        ContextBudget::new(available, self.as_slice(), &tokens, basis, note)
    }
}

/// The budget of a conversation as CBS computes it: every section of
/// [`DEFAULT_BUDGET_RATIOS`] rounded down, so that a few tokens belong to none.
///
/// For those who want these figures; [`Shares::divide`] loses nothing.
///
/// ```
/// let budget = lcp_driver::shares::calculate_budget(3_276);
/// assert_eq!(budget.tokens("recent_messages"), Some(1_146));
/// ```
#[must_use]
pub fn calculate_budget(total: u32) -> ContextBudget {
    let ratios = DEFAULT_BUDGET_RATIOS.iter().map(|&(_, ratio)| billionths(ratio));
    let basis = Basis::of_ratios(ratios.collect());
    let down = |weight: &u64| saturate(u64::from(total) * weight / BILLION);
    let tokens: Vec<u32> = basis.weights.iter().map(down).collect();
    ContextBudget::new(total, Shares::conversation().as_slice(), &tokens, basis, None)
}

/// What a division keeps to: the weights of the shares, and of all. A budget
/// that is adjusted again and again starts from these, so it does not drift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Basis {
    weights: Vec<u64>,
    whole: u64,
}

impl Basis {
    fn of_ratios(ratios: Vec<u64>) -> Self {
        let sum: u64 = ratios.iter().sum();
        // Each ratio was rounded: three thirds lack a billionth.
        let whole = if sum.abs_diff(BILLION) <= ratios.len() as u64 { sum } else { BILLION };
        Self { weights: ratios, whole }
    }

    /// What the weights ask for of a total, rounded up.
    fn asked(&self, total: u32) -> u64 {
        let asked = self.scaled(total).div_ceil(u128::from(self.whole.max(1)));
        u64::try_from(asked).unwrap_or(u64::MAX)
    }

    /// What they get of it: no more than all.
    fn shared(&self, total: u32) -> u32 {
        let shared = self.scaled(total) / u128::from(self.whole.max(1));
        u32::try_from(shared).unwrap_or(u32::MAX).min(total)
    }

    fn scaled(&self, total: u32) -> u128 {
        u128::from(total) * self.weights.iter().map(|&weight| u128::from(weight)).sum::<u128>()
    }

    /// The tokens of each share of a total.
    pub(super) fn tokens(&self, total: u32) -> Vec<u32> {
        apportion(self.shared(total), &self.weights)
    }
}

/// Divides `total` as the weights say, by largest remainder, ties in order; all
/// 0 where the weights are.
fn apportion(total: u32, weights: &[u64]) -> Vec<u32> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let (mut tokens, mut left) = (Vec::with_capacity(weights.len()), total);
    let mut remainders = Vec::with_capacity(weights.len());
    for (at, &weight) in weights.iter().enumerate() {
        let part = u128::from(total) * u128::from(weight);
        // A part of a u32 is a u32.
        let whole = u32::try_from(part / sum).unwrap_or(total);
        left -= whole;
        tokens.push(whole);
        remainders.push((part % sum, at));
    }
    remainders.sort_by(|(a, at_a), (b, at_b)| b.cmp(a).then(at_a.cmp(at_b)));
    // Fewer tokens are left than there are shares.
    for (_, at) in remainders.into_iter().take(left as usize) {
        tokens[at] += 1;
    }
    tokens
}

fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
