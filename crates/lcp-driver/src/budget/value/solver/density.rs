//! What more costs and what it is worth, and their ratio: the density. Whole
//! numbers throughout, so that no machine rounds them another way.

use std::cmp::Ordering;

/// How many bits of a density's fraction its key has: a value of 40 bits and
/// these are 63.
const KEY_BITS: u32 = 23;

/// What one option has over another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gain {
    /// Never 0.
    pub(super) cost: u64,
    pub(super) value: u64,
}

impl Gain {
    /// By density.
    pub(super) fn by_density(self, other: Self) -> Ordering {
        product(self.value, other.cost).cmp(&product(other.value, self.cost))
    }

    /// The density rounded down to a number that is compared faster: of two
    /// different keys the greater has the higher density.
    pub(super) fn key(self) -> u64 {
        if self.value.leading_zeros() >= KEY_BITS {
            (self.value << KEY_BITS) / self.cost
        } else {
            let key = (u128::from(self.value) << KEY_BITS) / u128::from(self.cost);
            u64::try_from(key).unwrap_or(u64::MAX)
        }
    }

    /// What so much is worth at this density, rounded down.
    pub(super) fn worth_of(self, cost: u64) -> u64 {
        self.divided(cost, 0)
    }

    /// The same, rounded up.
    pub(super) fn worth_up(self, cost: u64) -> u64 {
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

/// A product that does not overflow.
pub(super) fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}
