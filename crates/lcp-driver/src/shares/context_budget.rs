//! A budget that is divided into shares, and its use.

use std::fmt;

use super::share::Rounding;
use super::{Share, ShareSize, Shares};
use crate::fixed_point::{BILLION, apportion, billionths, percent};
use crate::fmt::{group_thousands, plural};

/// The tokens of each share of a budget and the number of them that are used.
///
/// [`Shares::divide`](super::Shares::divide) creates it; the caller stores and updates it.
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
    /// The name of the share: its category.
    pub name: String,
    /// Tokens that belong to the share.
    pub tokens: u32,
    /// Tokens of the share that were consumed. More than `tokens` only after the budget was
    /// adjusted to a smaller total.
    pub used: u32,
    /// The hard cap of the share in tokens, if it has one.
    pub cap: Option<u32>,
}

impl ShareBudget {
    /// Returns the unused tokens of the share.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.tokens.saturating_sub(self.used)
    }

    /// Returns the used part of the share in percent, as computed by [`percent`].
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.used.into(), self.tokens.into())
    }
}

/// The remaining tokens of a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingShare {
    /// The name of the share.
    pub name: String,
    /// Unused tokens; 0 if the use exceeds the share.
    pub tokens: u32,
    /// Tokens used in excess of the share.
    pub over: u64,
}

impl ContextBudget {
    fn new(
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

    /// Returns the tokens of the whole budget.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns the shares in order.
    #[must_use]
    pub fn shares(&self) -> &[ShareBudget] {
        &self.shares
    }

    /// Returns the share with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ShareBudget> {
        self.shares.iter().find(|share| share.name == name)
    }

    /// Returns the tokens that belong to the share with this name.
    #[must_use]
    pub fn tokens(&self, name: &str) -> Option<u32> {
        self.get(name).map(|share| share.tokens)
    }

    /// Returns the tokens consumed from the share with this name.
    #[must_use]
    pub fn used(&self, name: &str) -> Option<u32> {
        self.get(name).map(|share| share.used)
    }

    /// Returns the tokens consumed from all shares.
    #[must_use]
    pub fn used_total(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(share.used)).sum()
    }

    /// Returns the unused tokens of the whole budget, including those that belong to no share.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        let left = u64::from(self.total).saturating_sub(self.used_total());
        u32::try_from(left).unwrap_or(self.total)
    }

    /// Returns the tokens that belong to no share: the part of the budget that the sizes leave, and
    /// the tokens above caps.
    #[must_use]
    pub fn unassigned(&self) -> u32 {
        self.shares.iter().fold(self.total, |left, share| left.saturating_sub(share.tokens))
    }

    /// Returns the used part of the whole budget in percent, as computed by [`percent`].
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.used_total(), self.total.into())
    }

    /// Returns the scaling of the requested sizes, if they did not fit.
    #[must_use]
    pub fn scaling(&self) -> Option<ShareScaling> {
        self.scaling
    }

    /// Adjusts the budget to another total: every share gets its tokens times the new total over
    /// the old one, rounded down (CBS). Shares of a fixed size are scaled as well. Caps and used
    /// tokens do not change.
    ///
    /// The tokens are those of the division that made the budget, so repeated adjustments do not
    /// accumulate rounding errors, and an adjustment back to the first total restores them. If that
    /// division had no tokens, the ratios of the shares are used instead.
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
        adjusted.total = new_total;
        for (share, tokens) in adjusted.shares.iter_mut().zip(self.basis.rounded_down(new_total)) {
            share.tokens = tokens.min(share.cap.unwrap_or(u32::MAX));
        }
        adjusted
    }

    /// Returns the remaining tokens of every share, in order, if the shares in `used` consumed
    /// these tokens in addition to those already consumed.
    ///
    /// # Errors
    ///
    /// Returns [`BudgetError::UnknownCategory`] if a name in `used` has no share.
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

    /// Returns whether [`consume`](Self::consume) would accept this number of tokens.
    #[must_use]
    pub fn can_fit(&self, tokens: u32, category: &str) -> bool {
        self.check(tokens, category).is_ok()
    }

    /// Consumes tokens from the share of a category.
    ///
    /// # Errors
    ///
    /// Returns a [`BudgetError`] if the budget or the share does not have enough unused tokens, or
    /// if the category has no share. Nothing is consumed then.
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
    /// Divides `available` tokens into the tokens of each share.
    ///
    /// A ratio is a fraction of all available tokens; a fixed size is a number of tokens. The sizes
    /// are scaled if their sum exceeds the available tokens, and [`ContextBudget::scaling`] reports
    /// it:
    ///
    /// - If the fixed sizes alone fit, the ratios are scaled down to the tokens that the fixed
    ///   sizes leave.
    /// - Otherwise the fixed sizes are scaled down, and the ratios get nothing.
    ///
    /// If the sizes sum to the whole (each ratio rounded to a billionth), the tokens sum to it
    /// exactly, by largest remainder, with ties in order. Only the presets of CBS round every share
    /// down, so that a few tokens belong to no share. A share never gets more than its cap. A fixed
    /// size above its cap counts as the cap; the tokens of a ratio above its cap belong to no share
    /// and can be borrowed.
    #[must_use]
    pub fn divide(&self, available: u32) -> ContextBudget {
        let sizes = self.as_slice().iter().map(|share| match share.size {
            ShareSize::Ratio(ratio) => (billionths(ratio), 0),
            // A fixed size above its cap does not take tokens from the other shares.
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
        let tokens = if self.rounding == Rounding::Down {
            basis.rounded_down(available)
        } else if fixed_sum == 0 {
            basis.tokens(available)
        } else {
            let of_fixed = apportion(available.min(saturate(fixed_sum)), &fixed);
            let of_ratios = apportion(basis.shared(available).min(left), &basis.weights);
            of_fixed.iter().zip(of_ratios).map(|(a, b)| a + b).collect()
        };
        let basis = if available == 0 {
            basis
        } else {
            let weights = tokens.iter().map(|&tokens| tokens.into()).collect();
            ShareWeights { weights, total: available.into() }
        };
        ContextBudget::new(available, self.as_slice(), &tokens, basis, scaling)
    }
}

/// The error of consuming tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The whole budget does not have enough unused tokens.
    #[error(
        "cannot use {}: {} of the budget of {} are used",
        plural(*tokens, "token"),
        group_thousands(*used),
        group_thousands((*total).into())
    )]
    Total {
        /// The requested tokens.
        tokens: u32,
        /// Tokens of the budget that were already used.
        used: u64,
        /// Tokens of the budget.
        total: u32,
    },
    /// The share of the category does not have enough unused tokens.
    #[error(
        "cannot use {} for `{category}`: {} of its {} are used",
        plural(*tokens, "token"),
        group_thousands((*used).into()),
        group_thousands((*limit).into())
    )]
    Category {
        /// The category.
        category: String,
        /// The requested tokens.
        tokens: u32,
        /// Tokens of the share that were already used.
        used: u32,
        /// Tokens of the share.
        limit: u32,
    },
    /// The category has no share.
    #[error("category `{category}` has no share")]
    UnknownCategory {
        /// The category.
        category: String,
    },
}

impl BudgetError {
    /// Returns a stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Total { .. } => "LCP-BUD-001",
            Self::Category { .. } => "LCP-BUD-002",
            Self::UnknownCategory { .. } => "unknown_category",
        }
    }
}

/// The scaling of the sizes of shares that do not fit into the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareScaling {
    /// The ratios were scaled down.
    Ratios {
        /// Tokens that the ratios ask for, rounded up.
        wanted: u64,
        /// Tokens that the fixed sizes leave for the ratios.
        left: u32,
    },
    /// The fixed sizes were scaled down; ratios got nothing.
    Fixed {
        /// Tokens that the fixed sizes ask for.
        wanted: u64,
        /// Tokens of the whole budget.
        available: u32,
    },
}

impl fmt::Display for ShareScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratios { wanted, left } => write!(
                f,
                "the ratios of the shares ask for {}; scaled them down to the {} that are left",
                plural(*wanted, "token"),
                group_thousands((*left).into())
            ),
            Self::Fixed { wanted, available } => write!(
                f,
                "the fixed shares ask for {}; scaled them down to the {} that are available",
                plural(*wanted, "token"),
                group_thousands((*available).into())
            ),
        }
    }
}

/// The weights of a division. Adjustments start from them, so that rounding errors do not
/// accumulate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ShareWeights {
    weights: Vec<u64>,
    /// The weight of the whole.
    total: u64,
}

impl ShareWeights {
    fn from_ratios(ratios: Vec<u64>) -> Self {
        let sum: u64 = ratios.iter().sum();
        // Each ratio was rounded: for example, three thirds sum to a billionth less than 1.
        let total = if sum.abs_diff(BILLION) <= ratios.len() as u64 { sum } else { BILLION };
        Self { weights: ratios, total }
    }

    /// Returns the tokens that the weights ask for out of `total`, rounded up.
    fn asked(&self, total: u32) -> u64 {
        let asked = self.scaled(total).div_ceil(u128::from(self.total.max(1)));
        u64::try_from(asked).unwrap_or(u64::MAX)
    }

    /// Returns the tokens that the weights get out of `total`: at most `total`.
    fn shared(&self, total: u32) -> u32 {
        let shared = self.scaled(total) / u128::from(self.total.max(1));
        u32::try_from(shared).unwrap_or(u32::MAX).min(total)
    }

    fn scaled(&self, total: u32) -> u128 {
        u128::from(total) * self.sum()
    }

    fn sum(&self) -> u128 {
        self.weights.iter().map(|&weight| u128::from(weight)).sum()
    }

    /// Returns the tokens of each weight out of `total`, by largest remainder.
    fn tokens(&self, total: u32) -> Vec<u32> {
        apportion(self.shared(total), &self.weights)
    }

    /// Returns the tokens of each weight out of `total`, rounded down.
    fn rounded_down(&self, total: u32) -> Vec<u32> {
        let whole = u128::from(self.total).max(self.sum()).max(1);
        let part = |&weight: &u64| u128::from(total) * u128::from(weight) / whole;
        self.weights.iter().map(|weight| u32::try_from(part(weight)).unwrap_or(total)).collect()
    }
}

fn saturate(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
