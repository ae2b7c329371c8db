//! Tests of `objective.rs`.

use super::*;

fn factor(ranks: &[f64], rank: f64) -> u64 {
    RankFactors::from_ranks(ranks.iter().copied(), 3_000).factor(Some(rank))
}

#[test]
fn rank_factor_is_interpolated_between_lowest_and_highest() {
    assert_eq!(factor(&[0.0, 0.5, 1.0], 0.5), 2_125);
    assert_eq!(factor(&[0.0, 0.5, 1.0], 0.0), 1_250);
    assert_eq!(factor(&[-10.0, 30.0], 0.0), 1_687);
    assert_eq!(factor(&[-1e308, 1e308], 0.0), 2_125);
    assert_eq!(RankFactors::from_ranks([1.0].into_iter(), 3_000).factor(None), 1_000);
}

#[test]
fn single_or_infinite_rank_gets_the_highest_factor() {
    assert_eq!(factor(&[7.0], 7.0), 3_000);
    assert_eq!(factor(&[1.0, 2.0], f64::INFINITY), 3_000);
    assert_eq!(factor(&[], f64::INFINITY), 3_000);
}

#[test]
fn out_of_range_values_are_clamped() {
    let values =
        ValueModel { normal: u32::MAX, full: 2_000, highest_rank: 1, ..ValueModel::default() };
    assert_eq!(values.value(Priority::Normal, 1_000, DetailLevel::Full), 1_000_000_000);
    assert_eq!(values.highest_factor(), 1_000);
    assert_eq!(values.value(Priority::Critical, 1_000, DetailLevel::Full), 0);
}

#[test]
fn default_values_match_rfc_0005() {
    let of = |priority, detail| ValueModel::default().value(priority, 1_000, detail);
    assert_eq!(of(Priority::High, DetailLevel::Full), 64_000);
    assert_eq!(of(Priority::Normal, DetailLevel::Summary), 8_000);
    assert_eq!(of(Priority::Low, DetailLevel::Tags), 800);
    assert_eq!(of(Priority::Background, DetailLevel::Placeholder), 50);
}
