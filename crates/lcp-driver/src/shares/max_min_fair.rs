//! Weighted max-min fair division: tokens that one claimant does not need go to the others (RFC
//! 0004 §3 shares).

/// The demand of one claimant in [`max_min_fair`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The weight relative to the other claimants, in any common unit. A claimant of weight 0 gets
    /// only tokens that the weighted claimants leave.
    pub weight: u32,
    /// Tokens that the claimant gets before the rest is divided, but at most `limit`.
    pub floor: u64,
    /// The maximum tokens that the claimant can use.
    pub limit: u64,
}

/// The number of fractional bits of a level. Between neighboring levels no claimant gains more than
/// one token.
const LEVEL_BITS: u32 = u32::BITS;

/// Divides `total` tokens. Every claimant gets at least its floor and at most its limit. Between
/// the two, all shares grow in proportion to the weights until the tokens are spent or every limit
/// is reached.
///
/// The result has one number for each demand, in order. Its sum is `total` or the sum of the
/// limits, whichever is less. If the floors alone exceed `total`, they are met in order until
/// `total` is spent.
///
/// Whole tokens are assigned as by the Sainte-Laguë method: the `n`-th token of a claimant has the
/// level `(n − ½) / weight`. Tokens with lower levels are assigned first, and those with equal
/// levels in order of the demands. So a larger total never takes a token from a claimant; rounding
/// by largest remainder could.
///
/// ```
/// use lcp_driver::shares::{Demand, max_min_fair};
///
/// let demand = |weight, limit| Demand { weight, floor: 0, limit };
/// // The second needs only 10; the others divide the rest as 40 to 20.
/// assert_eq!(max_min_fair(100, &[demand(40, 500), demand(30, 10), demand(20, 500)]), [60, 10, 30]);
/// ```
#[must_use]
pub fn max_min_fair(total: u64, demands: &[Demand]) -> Vec<u64> {
    let mut left = total;
    let mut given = Vec::with_capacity(demands.len());
    for demand in demands {
        let floor = demand.floor.min(demand.limit).min(left);
        left -= floor;
        given.push(floor);
    }
    let claimants = |weighted: bool| -> Vec<Claimant> {
        let chosen = |demand: &Demand| demand.limit > 0 && (demand.weight > 0) == weighted;
        let claimant = |(at, demand): (usize, &Demand)| {
            chosen(demand).then_some(Claimant {
                at,
                weight: demand.weight.max(1),
                limit: demand.limit,
            })
        };
        demands.iter().enumerate().filter_map(claimant).collect()
    };
    for weighted in [true, false] {
        left -= distribute(left, &claimants(weighted), &mut given);
    }
    given
}

struct Claimant {
    at: usize,
    weight: u32,
    limit: u64,
}

impl Claimant {
    /// Returns the tokens of the claimant at a level: at least those that it already has, at most
    /// its limit.
    fn at_level(&self, level: u128, given: &[u64]) -> u64 {
        let half = 1 << (LEVEL_BITS - 1);
        // A product that saturates exceeds any limit in any case.
        let tokens = level.saturating_mul(self.weight.into()).saturating_add(half) >> LEVEL_BITS;
        u64::try_from(tokens).unwrap_or(u64::MAX).min(self.limit).max(given[self.at])
    }

    /// Returns whether the next token of this claimant has a lower level than that of `other`.
    fn before(&self, other: &Self, given: &[u64]) -> bool {
        let next = |claimant: &Self| 2 * u128::from(given[claimant.at]) + 1;
        next(self) * u128::from(other.weight) < next(other) * u128::from(self.weight)
    }
}

/// Distributes up to `left` tokens and returns the number of distributed tokens.
fn distribute(left: u64, claimants: &[Claimant], given: &mut [u64]) -> u64 {
    let cost = |level: u128, given: &[u64]| -> u128 {
        let gain =
            |claimant: &Claimant| u128::from(claimant.at_level(level, given) - given[claimant.at]);
        claimants.iter().map(gain).sum()
    };
    // This search finds the highest level that `left` tokens can pay for. At the top level every
    // claimant has its limit.
    let (mut paid, mut top) = (0, 1_u128 << (u64::BITS + LEVEL_BITS));
    if cost(top, given) <= left.into() {
        paid = top;
    }
    while top - paid > 1 {
        let middle = paid + (top - paid) / 2;
        if cost(middle, given) <= left.into() { paid = middle } else { top = middle }
    }
    let mut rest = left;
    for claimant in claimants {
        let tokens = claimant.at_level(paid, given);
        rest -= tokens - given[claimant.at];
        given[claimant.at] = tokens;
    }
    while rest > 0 {
        let mut next: Option<&Claimant> = None;
        for claimant in claimants.iter().filter(|claimant| given[claimant.at] < claimant.limit) {
            if next.is_none_or(|best| claimant.before(best, given)) {
                next = Some(claimant);
            }
        }
        let Some(claimant) = next else { break };
        given[claimant.at] += 1;
        rest -= 1;
    }
    left - rest
}
