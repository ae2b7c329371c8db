//! Many classes, and such as an adversary would choose.

use super::super::{attempt, branch};
use super::*;

/// As the classes of texts are: nothing, a line, a part, all.
fn any_text() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let weight = prop::sample::select(&[1u64, 4, 16, 64][..]);
    (weight, 20..400u64, 1..40u64).prop_map(|(weight, whole, part)| {
        let line = (6, 50 * weight);
        let part = (whole * part / 100 + 8, 500 * weight);
        vec![(0, 0), line, part, (whole + 8, 1000 * weight)]
    })
}

/// Numbers that look like any, the same everywhere.
fn mixed(i: u64) -> u64 {
    let mut x = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// Each with nothing, and so many more options.
fn classes(count: u64, more: u64, option: impl Fn(u64) -> (u64, u64)) -> Classes {
    let class = |i| {
        let options = (0..more).map(|j| option(mixed(i * more + j)));
        [(0, 0)].into_iter().chain(options).collect()
    };
    (0..count).map(class).collect()
}

/// Solves at a few capacities up to the whole.
fn at_capacities(classes: &Classes, parts: &[u64]) -> Vec<Solution> {
    let whole: u64 = classes.iter().filter_map(|class| class.iter().map(|o| o.0).max()).sum();
    let problem = problem(classes);
    let at = |part: &u64| {
        // Odd, where nothing that is even meets it.
        let capacity = (whole / 1000 * part) | 1;
        let solution = solve(&problem, capacity).unwrap();
        check(classes, capacity, &solution);
        solution
    };
    parts.iter().map(at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nearly_all_where_no_upgrade_is_large(
        classes in prop::collection::vec(any_text(), 1_000..1_500),
        capacity in 0..300_000u64,
    ) {
        let solution = solved(&classes, capacity).unwrap();
        check(&classes, capacity, &solution);
        let largest = classes.iter().map(|class| class[3].1).max().unwrap();
        if largest * 1000 <= solution.value {
            prop_assert!(solution.value * 1000 >= solution.lp_bound * 999);
        }
    }

    /// Enough of them for classes that are passed by without a change.
    #[test]
    fn hundreds_of_classes_beside_the_optimum(
        classes in prop::collection::vec(any_text(), 100..300),
        capacity in 0..4_000u64,
    ) {
        let optimum = optimum(&classes, usize::try_from(capacity).unwrap()).unwrap();
        let solution = solved(&classes, capacity).unwrap();
        check(&classes, capacity, &solution);
        prop_assert_eq!((solution.value, solution.bound), (optimum, optimum));
    }
}

#[test]
fn all_classes_are_alike() {
    let classes = vec![vec![(0, 0), (3, 5), (7, 9), (10, 11)]; 2_000];
    for solution in at_capacities(&classes, &[0, 1, 300, 301, 777, 1000]) {
        assert!(solution.lp_bound - solution.value < 5);
    }
}

#[test]
fn one_density_and_no_choice_that_meets_the_capacity() {
    let classes = classes(500, 2, |x| (2 + x % 300 * 2, 2 + x % 300 * 2));
    for solution in at_capacities(&classes, &[5, 250, 900]) {
        // One token is left, and no bound of this kind can know it.
        assert_eq!((solution.value + 1, solution.bound), (solution.lp_bound, solution.lp_bound));
    }
}

/// How often parts are tried, and the value and the bound of what is found.
fn branched(classes: &Classes, capacity: u64) -> (u32, u64, u64) {
    let problem = problem(classes);
    let first = attempt(problem.view(), capacity, Size::FULL).unwrap();
    let mut tried = 0;
    let (choice, bound) = branch::search_by(problem.view(), capacity, first, |part| {
        tried += 1;
        attempt(part, capacity, Size::FULL)
    });
    (tried, choice.value, bound)
}

/// Whatever is decided of any class, the others come to as much.
#[test]
fn what_no_branch_makes_better_is_given_up() {
    let classes = vec![vec![(0, 0), (15, 50), (50, 500), (100, 1_000)]; 5_000];
    for (capacity, tried, value, bound) in [
        // Proven best by the core.
        (99, 0, 650, 650),
        (1_049, 4, 10_150, 10_490),
        (12_345, 4, 123_150, 123_450),
        (24_999, 4, 249_650, 249_990),
    ] {
        assert_eq!(branched(&classes, capacity), (tried, value, bound));
    }
}

#[test]
fn one_class_is_larger_than_all_others() {
    let mut classes = classes(800, 3, |x| (1 + x % 1000, x >> 20 & 0xFFFF));
    classes[400].push((1 << 40, 1 << 40));
    for solution in at_capacities(&classes, &[1, 500, 1000]) {
        assert!(solution.bound - solution.value <= solution.value / 1000);
    }
}

/// Densest first, none of the large ones would be taken, and no core is large
/// enough to give back all others for one.
#[test]
fn what_hundreds_are_to_be_given_back_for() {
    let mut classes = classes(3_000, 2, |x| (10 + x % 40, 60 + x % 100));
    classes.push(vec![(0, 0), (1 << 20, 1 << 20)]);
    classes.push(vec![(0, 0), (1 << 20, 3 << 19)]);
    classes.push(vec![(0, 0), (1 << 30, 1 << 30)]);
    for (capacity, large) in [
        (1 << 19, [0, 0, 0]),
        ((1 << 20) + 100, [0, 1, 0]),
        ((1 << 21) + 100, [1, 1, 0]),
        ((1 << 30) + 100, [0, 0, 1]),
    ] {
        let solution = solved(&classes, capacity).unwrap();
        check(&classes, capacity, &solution);
        assert_eq!(solution.chosen[3_000..], large);
        assert!(solution.bound - solution.value <= solution.value / 1000);
    }
}

#[test]
fn classes_of_64_options_with_the_largest_numbers() {
    let classes = classes(300, 63, |x| (1 + x % (1 << 40), mixed(x) % (1 << 40)));
    for solution in at_capacities(&classes, &[2, 100, 600]) {
        assert!(solution.bound - solution.value <= solution.value / 1000);
    }
}

#[test]
fn a_hundred_thousand_classes() {
    let classes = classes(100_000, 2, |x| (1 + x % 3000, x >> 30 & 0xF_FFFF));
    for solution in at_capacities(&classes, &[10, 400]) {
        assert!(solution.bound - solution.value <= solution.value / 1_000_000);
    }
}
