//! Named shares of a budget, validated.

use std::collections::HashSet;

use crate::fixed_point::billionths;

/// The size of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShareSize {
    /// A fraction of all available tokens, such as 0.35.
    Ratio(f64),
    /// A fixed number of tokens, independent of the available tokens.
    Tokens(u32),
}

/// A named part of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The name of the share: the category of its blocks.
    pub name: String,
    /// The size of the share.
    pub size: ShareSize,
    /// The maximum tokens of its blocks, which they cannot exceed even with borrowed tokens.
    pub cap: Option<u32>,
}

impl Share {
    /// Creates a share of a fraction of all available tokens.
    #[must_use]
    pub fn ratio(name: impl Into<String>, ratio: f64) -> Self {
        Self { name: name.into(), size: ShareSize::Ratio(ratio), cap: None }
    }

    /// Creates a share of a fixed number of tokens.
    #[must_use]
    pub fn tokens(name: impl Into<String>, tokens: u32) -> Self {
        Self { name: name.into(), size: ShareSize::Tokens(tokens), cap: None }
    }
}

/// The shares of a budget, in order. The order decides ties.
///
/// Ratios need not sum to 1. If they sum to less, the remaining tokens belong to no share and can
/// be borrowed. If they sum to more, the division scales them down.
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
    pub(super) rounding: Rounding,
}

/// The rounding of a share's tokens to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// The tokens sum to the whole.
    LargestRemainder,
    /// Each number is rounded down, as CBS does.
    Down,
}

impl Shares {
    /// The maximum number of shares.
    pub const MAX: usize = 100;

    /// The maximum ratio.
    pub const RATIO_MAX: f64 = 1e6;

    /// Validates shares.
    ///
    /// # Errors
    ///
    /// Returns a [`SharesError`] in these cases:
    ///
    /// - A ratio is negative, not a number, or above [`Self::RATIO_MAX`].
    /// - A name is empty or occurs twice.
    /// - No share is larger than 0.
    /// - The number of shares is 0 or exceeds [`Self::MAX`].
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
        Ok(Self { shares, rounding: Rounding::LargestRemainder })
    }

    /// Creates shares of ratios that are known to be valid.
    pub(super) fn from_ratios(ratios: &[(&str, f64)], rounding: Rounding) -> Self {
        let shares = ratios.iter().map(|&(name, ratio)| Share::ratio(name, ratio)).collect();
        Self { shares, rounding }
    }

    /// Sets a hard cap on one share, in tokens.
    ///
    /// # Errors
    ///
    /// Returns [`SharesError::Unknown`] if no share has this name.
    pub fn with_cap(mut self, name: &str, tokens: u32) -> Result<Self, SharesError> {
        match self.shares.iter_mut().find(|share| share.name == name) {
            Some(share) => share.cap = Some(tokens),
            None => return Err(SharesError::Unknown { name: name.to_owned() }),
        }
        Ok(self)
    }

    /// Returns the shares in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Share] {
        &self.shares
    }

    /// Returns the index of the share with this name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.shares.iter().position(|share| share.name == name)
    }
}

/// The error of invalid shares.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SharesError {
    /// The list of shares is empty.
    #[error("at least one share is required")]
    None,
    /// The list has too many shares.
    #[error("too many shares: got {count}, maximum {}", Shares::MAX)]
    TooMany {
        /// The number of shares.
        count: usize,
    },
    /// A share has an empty name.
    #[error("share {at} has an empty name")]
    EmptyName {
        /// The index of the share, from 0.
        at: usize,
    },
    /// Two shares have the same name.
    #[error("duplicate share `{name}`")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A ratio is negative, not a number, or above the maximum.
    #[error("the ratio of share `{name}` must be from 0 to {}, got {ratio}", Shares::RATIO_MAX)]
    Ratio {
        /// The name of the share.
        name: String,
        /// The invalid ratio.
        ratio: f64,
    },
    /// No share is larger than 0.
    #[error("at least one share must be above 0 (number of shares: {count})")]
    AllZero {
        /// The number of shares.
        count: usize,
    },
    /// No share has this name.
    #[error("unknown share `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
}
