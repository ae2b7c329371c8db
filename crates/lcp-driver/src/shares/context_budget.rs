//! A divided budget, and what was used of it.

use std::fmt;

use super::{Share, ShareSize, Shares};
use crate::fixed_point::{BILLION, apportion, billionths, percent};

/// The tokens of each share, and how many of them were used. Plain data: made by
/// [`Shares::divide`](super::Shares::divide), kept by the caller.
///
/// ```
/// use lcp_driver::shares::Shares;
///
/// let mut budget = Shares::agent().divide(90_000);
/// budget.consume(12_500, "tool_results")?;
/// assert_eq!(budget.remaining(), 77_500);
/// assert!(!budget.can_fit(9_001, "references"));
/// # Ok::<(), lcp_driver::shares::BudgetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextBudget {
    total: u32,
    shares: Vec<ShareBudget>,
    basis: ShareWeights,
    scaling: Option<ShareScaling>,
}

/// One share of a [`ContextBudget`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareBudget {
    /// Its name.
    pub name: String,
    /// Tokens that are its own.
    pub tokens: u32,
    /// Tokens of them that were consumed. More than its own only after the budget was adjusted to a
    /// smaller total.
    pub used: u32,
    /// Its hard cap, if it has one.
    pub cap: Option<u32>,
}

impl ShareBudget {
    /// Tokens that it has left.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.tokens.saturating_sub(self.used)
    }

    /// The part of it that was used, in percent, see [`percent`].
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.used.into(), self.tokens.into())
    }
}

/// What a share has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingShare {
    /// Its name.
    pub name: String,
    /// Tokens that are left, 0 where it used more than it has.
    pub tokens: u32,
    /// Tokens used beyond what it has.
    pub over: u64,
}

impl ContextBudget {
    pub(super) fn new(
        total: u32,
        shares: &[Share],
        tokens: &[u32],
        basis: ShareWeights,
        scaling: Option<ShareScaling>,
    ) -> Self {
        let share = |(share, &tokens): (&Share, &u32)| ShareBudget {
            name: share.name.clone(),
            tokens: tokens.min(share.cap.unwrap_or(u32::MAX)),
            used: 0,
            cap: share.cap,
        };
        let shares = shares.iter().zip(tokens).map(share).collect();
        Self { total, shares, basis, scaling }
    }

    /// Tokens of the whole budget.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// The shares in order.
    #[must_use]
    pub fn shares(&self) -> &[ShareBudget] {
        &self.shares
    }

    /// The share of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ShareBudget> {
        self.shares.iter().find(|share| share.name == name)
    }

    /// Tokens that this share has of its own.
    #[must_use]
    pub fn tokens(&self, name: &str) -> Option<u32> {
        self.get(name).map(|share| share.tokens)
    }

    /// Tokens that were consumed of this share.
    #[must_use]
    pub fn used(&self, name: &str) -> Option<u32> {
        self.get(name).map(|share| share.used)
    }

    /// Tokens that were consumed of all shares.
    #[must_use]
    pub fn used_total(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(share.used)).sum()
    }

    /// Tokens of the whole budget that are left, those that belong to no share included.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        let left = u64::from(self.total).saturating_sub(self.used_total());
        u32::try_from(left).unwrap_or(self.total)
    }

    /// Tokens that belong to no share: what the sizes lack of the whole, and what caps cut off.
    #[must_use]
    pub fn unassigned(&self) -> u32 {
        self.shares.iter().fold(self.total, |left, share| left.saturating_sub(share.tokens))
    }

    /// The part of the whole budget that was used, in percent, see [`percent`].
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.used_total(), self.total.into())
    }

    /// What was changed about the sizes that were asked for, if anything.
    #[must_use]
    pub fn scaling(&self) -> Option<ShareScaling> {
        self.scaling
    }

    /// The same budget in another window: every share keeps its part of the whole, fixed numbers
    /// too, by largest remainder. Caps stay as they are, and so does what was used. To the same
    /// total it changes nothing; and however often it is adjusted, nothing drifts. What had nothing
    /// has no part to keep: a fixed number that a budget of 0 left without tokens wants
    /// [`Shares::divide`](super::Shares::divide) anew.
    ///
    /// ```
    /// use lcp_driver::shares::calculate_budget;
    ///
    /// let wider = calculate_budget(6_400).adjust_for_total(25_600);
    /// assert_eq!(wider.tokens("recent_messages"), Some(8_960));
    /// ```
    #[must_use]
    pub fn adjust_for_total(&self, new_total: u32) -> Self {
        let mut adjusted = self.clone();
        if new_total != self.total {
            adjusted.total = new_total;
            for (share, tokens) in adjusted.shares.iter_mut().zip(self.basis.tokens(new_total)) {
                share.tokens = tokens.min(share.cap.unwrap_or(u32::MAX));
            }
        }
        adjusted
    }

    /// What every share has left if these use so much more than was consumed: one entry for each
    /// share, in order. Shares that are not named use nothing more.
    ///
    /// # Errors
    ///
    /// [`BudgetError::UnknownCategory`].
    pub fn available_tokens(
        &self,
        used: &[(&str, u32)],
    ) -> Result<Vec<RemainingShare>, BudgetError> {
        let mut sums: Vec<u64> = self.shares.iter().map(|share| share.used.into()).collect();
        for &(name, tokens) in used {
            sums[self.position(name)?] += u64::from(tokens);
        }
        let left = |(share, used): (&ShareBudget, u64)| RemainingShare {
            name: share.name.clone(),
            tokens: share.tokens.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX)),
            over: used.saturating_sub(share.tokens.into()),
        };
        Ok(self.shares.iter().zip(sums).map(left).collect())
    }

    /// Whether [`consume`](Self::consume) would take so many tokens.
    #[must_use]
    pub fn can_fit(&self, tokens: u32, category: &str) -> bool {
        self.check(tokens, category).is_ok()
    }

    /// Takes tokens from the share of a category.
    ///
    /// # Errors
    ///
    /// Where the budget or the share has not so many left, or there is no such share; nothing is
    /// consumed then.
    pub fn consume(&mut self, tokens: u32, category: &str) -> Result<(), BudgetError> {
        let at = self.check(tokens, category)?;
        self.shares[at].used += tokens;
        Ok(())
    }

    fn check(&self, tokens: u32, category: &str) -> Result<usize, BudgetError> {
        let at = self.position(category)?;
        let share = &self.shares[at];
        if tokens > self.remaining() {
            let (used, total) = (self.used_total(), self.total);
            return Err(BudgetError::Total { tokens, used, total });
        }
        if tokens > share.remaining() {
            let (category, used, limit) = (category.to_owned(), share.used, share.tokens);
            return Err(BudgetError::Category { category, tokens, used, limit });
        }
        Ok(at)
    }

    fn position(&self, category: &str) -> Result<usize, BudgetError> {
        let at = self.shares.iter().position(|share| share.name == category);
        at.ok_or_else(|| BudgetError::UnknownCategory { category: category.to_owned() })
    }
}

impl Shares {
    /// The tokens of each share where so many are available.
    ///
    /// Ratios are of all that is available, fixed numbers are taken as they are. Where together
    /// they exceed it, the ratios are scaled down to what the fixed ones leave; where those exceed
    /// it alone, they are scaled down themselves. [`ContextBudget::scaling`] then says so. Sizes that
    /// sum to the whole (ratios to a billionth each) give tokens that sum to it exactly, by largest
    /// remainder, ties in order. A share has no more than its cap: a fixed number counts as its cap
    /// where that is less, and what a cap leaves of a ratio is nobody's, to be borrowed.
    #[must_use]
    pub fn divide(&self, available: u32) -> ContextBudget {
        let sizes = self.as_slice().iter().map(|share| match share.size {
            ShareSize::Ratio(ratio) => (billionths(ratio), 0),
            // What a cap keeps from a share is no claim on the others.
            ShareSize::Tokens(tokens) => (0, tokens.min(share.cap.unwrap_or(u32::MAX)).into()),
        });
        let (ratios, fixed): (Vec<u64>, Vec<u64>) = sizes.unzip();
        let (basis, fixed_sum) = (ShareWeights::from_ratios(ratios), fixed.iter().sum::<u64>());
        let left = u32::try_from(u64::from(available).saturating_sub(fixed_sum)).unwrap_or(0);
        let asked = basis.asked(available);
        let scaling = if fixed_sum > available.into() {
            Some(ShareScaling::Fixed { wanted: fixed_sum, available })
        } else if asked > left.into() {
            Some(ShareScaling::Ratios { wanted: asked, left })
        } else {
            None
        };
        let basis = if fixed_sum == 0 {
            basis
        } else {
            let of_fixed = apportion(available.min(saturate(fixed_sum)), &fixed);
            let of_ratios = apportion(basis.shared(available).min(left), &basis.weights);
            let tokens = of_fixed.iter().zip(of_ratios).map(|(a, b)| u64::from(a + b)).collect();
            ShareWeights { weights: tokens, total: available.into() }
        };
        let tokens = basis.tokens(available);
        ContextBudget::new(available, self.as_slice(), &tokens, basis, scaling)
    }
}

/// Why tokens were not consumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The whole budget has not so many left.
    #[error("{tokens} tokens do not fit: {used} of the budget of {total} are used")]
    Total {
        /// Tokens that were to be consumed.
        tokens: u32,
        /// Tokens that were used before.
        used: u64,
        /// The budget.
        total: u32,
    },
    /// The share of the category has not so many left.
    #[error("{tokens} tokens do not fit in `{category}`: {used} of its {limit} are used")]
    Category {
        /// The category.
        category: String,
        /// Tokens that were to be consumed.
        tokens: u32,
        /// Tokens of the share that were used before.
        used: u32,
        /// Tokens of the share.
        limit: u32,
    },
    /// There is no share for the category.
    #[error("there is no share for the category `{category}`")]
    UnknownCategory {
        /// The category.
        category: String,
    },
}

impl BudgetError {
    /// A stable code, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Total { .. } => "LCP-BUD-001",
            Self::Category { .. } => "LCP-BUD-002",
            Self::UnknownCategory { .. } => "unknown_category",
        }
    }
}

/// What was changed about the sizes of shares so that they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareScaling {
    /// The ratios were scaled down.
    Ratios {
        /// Tokens that they ask for, rounded up.
        wanted: u64,
        /// Tokens that there are for them, less fixed numbers.
        left: u32,
    },
    /// Fixed numbers were scaled down; ratios beside them got nothing.
    Fixed {
        /// Tokens that they ask for.
        wanted: u64,
        /// Tokens that there are.
        available: u32,
    },
}

impl fmt::Display for ShareScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratios { wanted, left } => write!(
                f,
                "the ratios of the shares ask for {wanted} tokens, they were scaled down to the \
                 {left} that there are for them"
            ),
            Self::Fixed { wanted, available } => write!(
                f,
                "the fixed shares ask for {wanted} tokens, they were scaled down to the \
                 {available} that there are"
            ),
        }
    }
}

/// The weights of a division; adjustments start from these, so that nothing drifts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShareWeights {
    pub(super) weights: Vec<u64>,
    /// The weight of the whole.
    pub(super) total: u64,
}

impl ShareWeights {
    pub(super) fn from_ratios(ratios: Vec<u64>) -> Self {
        let sum: u64 = ratios.iter().sum();
        // Each ratio was rounded: three thirds lack a billionth.
        let total = if sum.abs_diff(BILLION) <= ratios.len() as u64 { sum } else { BILLION };
        Self { weights: ratios, total }
    }

    /// Returns the tokens that the weights ask for, rounded up.
    pub(super) fn asked(&self, total: u32) -> u64 {
        let asked = self.scaled(total).div_ceil(u128::from(self.total.max(1)));
        u64::try_from(asked).unwrap_or(u64::MAX)
    }

    /// Returns the tokens that they get: no more than all.
    pub(super) fn shared(&self, total: u32) -> u32 {
        let shared = self.scaled(total) / u128::from(self.total.max(1));
        u32::try_from(shared).unwrap_or(u32::MAX).min(total)
    }

    fn scaled(&self, total: u32) -> u128 {
        u128::from(total) * self.weights.iter().map(|&weight| u128::from(weight)).sum::<u128>()
    }

    pub(super) fn tokens(&self, total: u32) -> Vec<u32> {
        apportion(self.shared(total), &self.weights)
    }
}

pub(super) fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
