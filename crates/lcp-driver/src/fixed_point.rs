//! Ratios as whole numbers, so that no machine rounds them another way.

/// What a ratio of 1 is.
pub(crate) const BILLION: u64 = 1_000_000_000;

/// A ratio in billionths, to the nearest one: 0.8 becomes exactly 800,000,000.
/// Negative ones and those that are no number become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a billion is exact as a float, and the cast back saturates"
)]
pub(crate) fn billionths(ratio: f64) -> u64 {
    (ratio * BILLION as f64).round() as u64
}
