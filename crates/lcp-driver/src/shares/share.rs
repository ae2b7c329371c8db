//! Named parts of a budget, checked.

use std::collections::HashSet;

use crate::fixed_point::billionths;

/// How large a share is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShareSize {
    /// A part of all that is available: 0.35 of it, say.
    Ratio(f64),
    /// A number of tokens, whatever is available.
    Tokens(u32),
}

/// A named part of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Its name: the category of the blocks that it is for.
    pub name: String,
    /// How large it is.
    pub size: ShareSize,
    /// Tokens that its blocks can never exceed, not even by what others leave.
    pub cap: Option<u32>,
}

impl Share {
    /// A share that is a part of all that is available.
    #[must_use]
    pub fn ratio(name: impl Into<String>, ratio: f64) -> Self {
        Self { name: name.into(), size: ShareSize::Ratio(ratio), cap: None }
    }

    /// A share of so many tokens.
    #[must_use]
    pub fn tokens(name: impl Into<String>, tokens: u32) -> Self {
        Self { name: name.into(), size: ShareSize::Tokens(tokens), cap: None }
    }
}

/// The shares of a budget, in order; the order decides ties.
///
/// Ratios need not sum to 1. What they lack belongs to nobody and can be borrowed; what they have
/// too much is scaled away where tokens are divided.
///
/// ```
/// use lcp_driver::shares::{Share, Shares};
///
/// let shares = Shares::new([Share::ratio("code", 0.75), Share::ratio("notes", 0.25)])?;
/// let budget = shares.with_cap("code", 700)?.divide(1_000);
/// assert_eq!(budget.tokens("notes"), Some(250));
/// assert_eq!(budget.tokens("code"), Some(700));
/// # Ok::<(), lcp_driver::shares::SharesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    shares: Vec<Share>,
}

impl Shares {
    /// How many shares there can be.
    pub const MAX: usize = 100;

    /// The highest ratio that is accepted.
    pub const RATIO_MAX: f64 = 1e6;

    /// Checks shares.
    ///
    /// # Errors
    ///
    /// Where a ratio is negative, not a number, or above [`Self::RATIO_MAX`]; a name is empty or
    /// given twice; no share is larger than 0; or there are none or more than [`Self::MAX`].
    pub fn new(shares: impl IntoIterator<Item = Share>) -> Result<Self, SharesError> {
        let shares: Vec<Share> = shares.into_iter().collect();
        match shares.len() {
            0 => return Err(SharesError::None),
            count if count > Self::MAX => return Err(SharesError::TooMany { count }),
            _ => {}
        }
        let mut names = HashSet::new();
        for (at, share) in shares.iter().enumerate() {
            if share.name.is_empty() {
                return Err(SharesError::EmptyName { at });
            }
            if !names.insert(share.name.as_str()) {
                return Err(SharesError::Duplicate { name: share.name.clone() });
            }
            match share.size {
                ShareSize::Ratio(ratio) if !(0.0..=Self::RATIO_MAX).contains(&ratio) => {
                    return Err(SharesError::Ratio { name: share.name.clone(), ratio });
                }
                _ => {}
            }
        }
        let is_zero = |share: &Share| match share.size {
            ShareSize::Ratio(ratio) => billionths(ratio) == 0,
            ShareSize::Tokens(tokens) => tokens == 0,
        };
        if shares.iter().all(is_zero) {
            return Err(SharesError::AllZero { count: shares.len() });
        }
        Ok(Self { shares })
    }

    /// Makes shares that need no check.
    pub(super) fn from_ratios(ratios: &[(&str, f64)]) -> Self {
        Self { shares: ratios.iter().map(|&(name, ratio)| Share::ratio(name, ratio)).collect() }
    }

    /// With a hard cap on one share, in tokens.
    ///
    /// # Errors
    ///
    /// Where there is no share of this name.
    pub fn with_cap(mut self, name: &str, tokens: u32) -> Result<Self, SharesError> {
        match self.shares.iter_mut().find(|share| share.name == name) {
            Some(share) => share.cap = Some(tokens),
            None => return Err(SharesError::Unknown { name: name.to_owned() }),
        }
        Ok(self)
    }

    /// The shares in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Share] {
        &self.shares
    }

    /// Where the share of this name stands.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.shares.iter().position(|share| share.name == name)
    }
}

/// What is wrong with shares.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SharesError {
    /// There are none.
    #[error("there must be at least one share")]
    None,
    /// There are too many.
    #[error("there are {count} shares, {} are the most", Shares::MAX)]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// One has no name.
    #[error("share {at} has an empty name")]
    EmptyName {
        /// Its place, from 0.
        at: usize,
    },
    /// Two have one name.
    #[error("the share `{name}` is given twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A ratio is negative, not a number, or far too large.
    #[error("the share `{name}` has the ratio {ratio}, it must be from 0 to {}", Shares::RATIO_MAX)]
    Ratio {
        /// The share.
        name: String,
        /// Its ratio.
        ratio: f64,
    },
    /// None is larger than 0.
    #[error("all {count} shares are 0")]
    AllZero {
        /// How many there are.
        count: usize,
    },
    /// There is no share of this name.
    #[error("there is no share `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
}
