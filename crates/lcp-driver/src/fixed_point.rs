//! Ratios, percentages and divisions in integers, so that every machine rounds alike.

/// A ratio of 1.
pub(crate) const BILLION: u64 = 1_000_000_000;

/// Converts a ratio to billionths, rounded to nearest: 0.8 becomes exactly 800,000,000. Negative
/// ratios and NaN become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a billion is exact as a float, and the cast back saturates"
)]
pub(crate) fn billionths(ratio: f64) -> u64 {
    (ratio * BILLION as f64).round() as u64
}

/// Returns `used` as a percentage of `total`, rounded to nearest, halves up. With a total of 0 it
/// is 0 % if nothing is used, otherwise 100 %.
#[must_use]
pub fn percent(used: u64, total: u64) -> u64 {
    let (used, total) = (u128::from(used), u128::from(total));
    let percent = match total {
        0 => u128::from(used > 0) * 100,
        _ => (used * 200 + total) / (total * 2),
    };
    u64::try_from(percent).unwrap_or(u64::MAX)
}

/// Divides `total` by weights into whole tokens, by largest remainder, with ties in order.
pub(crate) fn apportion(total: u32, weights: &[u64]) -> Vec<u32> {
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let (mut tokens, mut left) = (Vec::with_capacity(weights.len()), total);
    let mut remainders = Vec::with_capacity(weights.len());
    for (at, &weight) in weights.iter().enumerate() {
        let part = u128::from(total) * u128::from(weight);
        // A fraction of a `u32` fits into a `u32`.
        let whole = u32::try_from(part / sum).unwrap_or(total);
        left -= whole;
        tokens.push(whole);
        remainders.push((part % sum, at));
    }
    remainders.sort_by(|(a, at_a), (b, at_b)| b.cmp(a).then(at_a.cmp(at_b)));
    // The remaining tokens are fewer than the weights.
    for (_, at) in remainders.into_iter().take(left as usize) {
        tokens[at] += 1;
    }
    tokens
}
