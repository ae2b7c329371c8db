//! The laws of the solver (RFC 0005 §4), beside a plain dynamic program.

use proptest::prelude::*;

use super::core::Size;
use super::{Problem, Solution, by_density, greedy, solve, solve_within};

mod large;
mod parts;
mod worst;

/// Costs and values of each option of each class.
type Classes = Vec<Vec<(u64, u64)>>;

fn problem(classes: &Classes) -> Problem {
    let mut problem = Problem::with_capacity(classes.len(), 0);
    for class in classes {
        problem.push(class.iter().copied());
    }
    problem
}

/// The most that any choice is worth, for each capacity in turn.
fn optimum(classes: &Classes, capacity: usize) -> Option<u64> {
    let mut best = vec![Some(0); capacity + 1];
    for class in classes {
        let with = |capacity: usize| {
            let values = class.iter().filter_map(|&(cost, value)| {
                let left = capacity.checked_sub(usize::try_from(cost).ok()?)?;
                Some(best[left]? + value)
            });
            values.max()
        };
        best = (0..=capacity).map(with).collect();
    }
    best[capacity]
}

fn solved(classes: &Classes, capacity: u64) -> Option<Solution> {
    solve(&problem(classes), capacity)
}

/// That a solution is one, costs and is worth what it says, and can take
/// nothing more.
fn check(classes: &Classes, capacity: u64, solution: &Solution) {
    let Solution { chosen, cost, value, lp_bound, bound } = solution;
    assert_eq!(chosen.len(), classes.len());
    let options = || classes.iter().zip(chosen).map(|(class, &chosen)| class[chosen as usize]);
    assert_eq!(options().map(|option| option.0).sum::<u64>(), *cost);
    assert_eq!(options().map(|option| option.1).sum::<u64>(), *value);
    assert!(*cost <= capacity);
    assert!(value <= bound && bound <= lp_bound);
    for (class, has) in classes.iter().zip(options()) {
        for option in class.iter().filter(|option| option.1 > has.1) {
            assert!(cost - has.0 + option.0 > capacity, "{option:?} fits instead of {has:?}");
        }
    }
}

/// Classes whose costs and values are of one kind, to be found again at any
/// capacity up to the sum of the largest.
fn any_classes(most: usize) -> impl Strategy<Value = Classes> {
    let of = |option: BoxedStrategy<(u64, u64)>| {
        let class = prop::collection::vec(option, 1..7);
        prop::collection::vec(class, 3..most).boxed()
    };
    prop_oneof![
        of((1..60u64, 0..100u64).boxed()),
        of((1..3_000u64, 0..1_000_000u64).boxed()),
        // Heavy tails: each as large as all smaller ones together.
        of((0..13u32, 0..250u64)
            .prop_map(|(size, more)| (1 << size, (1000 + more) << size))
            .boxed()),
        // Worth about what they cost.
        of((1..400u64, 0..40u64).prop_map(|(cost, more)| (cost, cost + more)).boxed()),
        // One density, and no way to an odd capacity.
        of((0..200u64).prop_map(|half| (2 * half, 2 * half)).boxed()),
        // Hulls of a single step: the dearer the denser.
        of((0..150u64, 0..50u64).prop_map(|(cost, more)| (cost, cost * cost + more)).boxed()),
        // All of one cost.
        of((Just(7u64), 0..3u64).boxed()),
    ]
}

/// Classes and a capacity from nothing to a little more than all.
fn any_case() -> impl Strategy<Value = (Classes, u64)> {
    let part = prop_oneof![1 => 0..100u64, 4 => 100..1_050u64];
    (any_classes(25), part).prop_map(|(classes, part)| {
        let ends = |class: &Vec<(u64, u64)>| {
            let costs = || class.iter().map(|option| option.0);
            (costs().min().unwrap_or(0), costs().max().unwrap_or(0))
        };
        let (least, most) = classes.iter().map(ends).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        // As far as the dynamic program is quick.
        let capacity = match part {
            ..100 => least * part / 100,
            _ => least + (most - least) * (part - 100) / 900,
        };
        (classes, capacity.min(6_000))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn the_bound_is_never_below_the_optimum((classes, capacity) in any_case()) {
        let optimum = optimum(&classes, usize::try_from(capacity).unwrap());
        let solution = solved(&classes, capacity);
        prop_assert_eq!(solution.is_some(), optimum.is_some());
        if let (Some(solution), Some(optimum)) = (solution, optimum) {
            check(&classes, capacity, &solution);
            prop_assert!(solution.value <= optimum && optimum <= solution.bound);
            // At most 0.4 % away.
            prop_assert!((optimum - solution.value) * 250 <= optimum);
        }
    }

    /// Where states were dropped for their number, or none was looked at.
    #[test]
    fn the_bound_of_a_small_core_is_one_too(
        (classes, capacity) in any_case(),
        states in 1..20usize,
        work in 0..500usize,
    ) {
        let optimum = optimum(&classes, usize::try_from(capacity).unwrap());
        let solution = solve_within(&problem(&classes), capacity, Size { states, work });
        prop_assert_eq!(solution.is_some(), optimum.is_some());
        if let (Some(solution), Some(optimum)) = (solution, optimum) {
            check(&classes, capacity, &solution);
            prop_assert!(solution.value <= optimum && optimum <= solution.bound);
        }
    }

    /// RFC 0005 §4, P1: what greedy loses is less than the break.
    #[test]
    fn greedy_is_an_upgrade_from_the_optimum((classes, capacity) in any_case()) {
        let Some(optimum) = optimum(&classes, usize::try_from(capacity).unwrap()) else {
            return Ok(());
        };
        let greedy = greedy::greedy(problem(&classes).view(), capacity).unwrap();
        let lost = optimum - greedy.choice.value;
        match greedy.broken {
            None => prop_assert_eq!(lost, 0),
            Some(broken) => prop_assert!(lost < broken.upgrade().gain.value),
        }
    }

    /// Where options stand in a class changes neither value nor bound.
    #[test]
    fn the_order_of_options_does_not_matter((mut classes, capacity) in any_case()) {
        let one = solved(&classes, capacity);
        for class in &mut classes {
            class.reverse();
        }
        let other = solved(&classes, capacity);
        let totals = |solution: Solution| {
            (solution.cost, solution.value, solution.bound, solution.lp_bound)
        };
        prop_assert_eq!(one.map(totals), other.map(totals));
    }
}

#[test]
fn densities_are_compared_exactly() {
    // Alike to the key, and to a float of half the size.
    let (cost, low, high) = (1 << 40, 1 << 39, (1 << 39) + 1);
    for values in [[low, high], [high, low]] {
        let classes = values.map(|value| vec![(0, 0), (cost, value)]).to_vec();
        let greedy = greedy::greedy(problem(&classes).view(), cost).unwrap();
        assert_eq!(greedy.choice.value, high);
    }
}

#[test]
fn upgrades_of_all_classes_by_density() {
    let classes = vec![
        vec![(9, 30), (0, 0), (4, 20), (5, 21)],
        vec![(0, 0), (1, 2)],
        vec![(3, 1), (3, 7)],
        vec![(0, 0), (2, 20)],
    ];
    let order = [(3, 1), (0, 2), (0, 0), (1, 1)];
    assert_eq!(by_density(&problem(&classes)), order);
}

#[test]
fn what_the_first_that_does_not_fit_hides_is_found() {
    // Greedy takes the small one and has no room for the large one.
    let classes = vec![vec![(0, 0), (1, 3)], vec![(0, 0), (100, 200)]];
    let solution = solved(&classes, 100).unwrap();
    assert_eq!((solution.chosen, solution.value), (vec![0, 1], 200));
    assert_eq!((solution.lp_bound, solution.bound), (201, 200));
}

/// Classes nearest to the break that nothing is changed of hide one that is.
#[test]
fn what_is_far_from_the_break_is_found() {
    let class = |cost, density| vec![(0, 0), (cost, cost * density)];
    let mut classes = vec![class(1_000, 1_100); 40];
    classes.push(class(10, 1_000));
    classes.extend(vec![class(1_000, 900); 40]);
    classes.push(class(5, 800));
    let solution = solved(&classes, 40_005).unwrap();
    assert_eq!((solution.chosen[81], solution.value), (1, 44_004_000));
    assert_eq!((solution.bound, solution.lp_bound), (44_004_000, 44_005_000));
}

#[test]
fn the_cheapest_options_may_not_fit() {
    assert_eq!(solved(&vec![vec![(1, 5)], vec![(2, 5)]], 2), None);
    assert_eq!(solved(&vec![vec![(1, 5)], vec![]], 2), None);
    let nothing = solved(&vec![], 0).unwrap();
    assert_eq!((nothing.chosen.len(), nothing.value, nothing.bound), (0, 0, 0));
}

#[test]
fn of_equal_costs_the_highest_value_is_chosen() {
    let classes = vec![vec![(0, 1), (0, 9), (0, 9), (5, 9), (7, 3)]; 3];
    let solution = solved(&classes, 0).unwrap();
    assert_eq!((solution.chosen, solution.value, solution.bound), (vec![1; 3], 27, 27));
}

#[test]
fn what_is_worth_nothing_is_not_bought() {
    let classes = vec![vec![(4, 0), (2, 0), (3, 0)]; 5];
    let solution = solved(&classes, 100).unwrap();
    assert_eq!((solution.chosen, solution.cost, solution.bound), (vec![1; 5], 10, 0));
}
