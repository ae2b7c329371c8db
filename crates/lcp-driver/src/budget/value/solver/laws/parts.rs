//! What the solver is made of.

use proptest::prelude::*;

use super::super::density::Gain;
use super::super::frontier::Frontier;
use super::super::hull::Upgrade;
use super::super::order::hull_of;
use super::super::states::{Outlook, State, trim, undominated};
use super::problem;

fn any_gain() -> impl Strategy<Value = Gain> {
    (1..50u64, 0..100u64).prop_map(|(cost, value)| Gain { cost, value })
}

fn any_state() -> impl Strategy<Value = State> {
    (0..200u64, 0..300u64).prop_map(|(cost, value)| State { cost, value, node: 0, at: 0 })
}

fn any_outlook() -> impl Strategy<Value = Outlook> {
    let gain = || prop::option::of(any_gain());
    (gain(), gain()).prop_map(|(before, after)| Outlook { capacity: 100, before, after })
}

/// Without rounding: what a state can come to, as a fraction.
fn fraction(state: State, outlook: &Outlook) -> Option<(i128, i128)> {
    let far = i128::from(outlook.capacity) - i128::from(state.cost);
    let gain = if far < 0 { outlook.before? } else { outlook.after.unwrap_or(NONE) };
    let [value, cost] = [gain.value, gain.cost].map(i128::from);
    Some((i128::from(state.value) * cost + far * value, cost))
}

const NONE: Gain = Gain { cost: 1, value: 0 };

/// All upgrades of these classes.
fn all_upgrades(classes: &super::Classes) -> Vec<Upgrade> {
    problem(classes).view().upgrades()
}

proptest! {
    /// Both ways to ask say what whole fractions say.
    #[test]
    fn bounds_are_the_fractions_rounded_down(
        state in any_state(), outlook in any_outlook(), best in 0..400u64,
    ) {
        let most = fraction(state, &outlook).map_or(0, |(whole, cost)| whole.div_euclid(cost));
        let most = u64::try_from(most).unwrap_or(0);
        prop_assert_eq!(outlook.bound(&state), most);
        prop_assert_eq!(outlook.beats(best, state.cost, state.value), most > best);
    }

    #[test]
    fn what_is_kept_of_states(
        states in prop::collection::vec(any_state(), 1..60),
        most in 1..40usize,
        outlook in any_outlook(),
    ) {
        let mut kept = states.clone();
        undominated(&mut kept);
        let rises = |pair: &[State]| pair[0].cost < pair[1].cost && pair[0].value < pair[1].value;
        prop_assert!(kept.windows(2).all(rises));
        for state in &states {
            prop_assert!(kept.iter().any(|k| k.cost <= state.cost && k.value >= state.value));
        }
        let mut bounds: Vec<u64> = kept.iter().map(|state| outlook.bound(state)).collect();
        bounds.sort_unstable_by(|a, b| b.cmp(a));
        let dropped = trim(&mut kept, most, &outlook);
        prop_assert_eq!(dropped, bounds.get(most).copied().unwrap_or(0));
        prop_assert_eq!(kept.len(), most.min(bounds.len()));
        prop_assert!(kept.iter().all(|state| outlook.bound(state) >= dropped));
        prop_assert!(kept.windows(2).all(rises));
    }

    #[test]
    fn densities_of_a_class_fall(class in prop::collection::vec((0..100u64, 0..100u64), 1..20)) {
        let all = all_upgrades(&vec![class.clone()]);
        let falls = |pair: &[Upgrade]| pair[0].gain.by_density(pair[1].gain).is_gt();
        prop_assert!(all.windows(2).all(falls));
        // No option lies above the hull.
        let base = class.iter().min_by_key(|option| (option.0, std::cmp::Reverse(option.1)));
        let base = *base.unwrap();
        let (mut cost, mut value) = base;
        for Upgrade { gain, .. } in &all {
            for option in &class {
                let (x, y) = (i128::from(option.0), i128::from(option.1));
                let above = (y - i128::from(value)) * i128::from(gain.cost)
                    > (x - i128::from(cost)) * i128::from(gain.value);
                prop_assert!(!above, "{option:?} over {gain:?} from {cost}, {value}");
            }
            cost += gain.cost;
            value += gain.value;
        }
        prop_assert!(class.iter().all(|option| option.1 <= value));
        let options = problem(&vec![class]).view().options.to_vec();
        let at = |i: usize| (options[i].cost, options[i].value);
        let options: Vec<_> = (0..options.len()).map(at).collect();
        let points: Vec<_> = hull_of(&options).into_iter().map(at).collect();
        let gain = |pair: &[(u64, u64)]| (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let gains: Vec<_> = points.windows(2).map(gain).collect();
        prop_assert_eq!(points[0], base);
        prop_assert!(gains.into_iter().eq(all.iter().map(|u| (u.gain.cost, u.gain.value))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The frontier goes away from the break as if all had been sorted.
    #[test]
    fn the_frontier_is_in_order(
        classes in prop::collection::vec(prop::collection::vec((0..90u64, 0..900u64), 1..4), 1..900),
        part in 0..100u64,
    ) {
        let mut all = all_upgrades(&classes);
        let whole: u64 = all.iter().map(|upgrade| upgrade.gain.cost).sum();
        let left = whole * part / 100;
        let frontier = Frontier::new(all.clone(), left);
        let place = |upgrade: &Upgrade| upgrade.at;
        all.sort_unstable_by(Upgrade::order);
        let mut cost = 0;
        let broke = all.iter().position(|upgrade| {
            cost += upgrade.gain.cost;
            cost > left
        });
        prop_assert_eq!(frontier.is_some(), broke.is_some());
        let (Some(mut frontier), Some(broke)) = (frontier, broke) else { return Ok(()) };
        prop_assert_eq!(frontier.upgrade().at, all[broke].at);
        let mut passed = vec![false; classes.len()];
        // The classes on each side, each at the upgrade nearest to the break.
        let mut seen = passed.clone();
        let mut nearest = |side: &mut dyn Iterator<Item = &Upgrade>| -> Vec<u32> {
            seen.fill(false);
            side.filter(|upgrade| !std::mem::replace(&mut seen[upgrade.class as usize], true))
                .map(place)
                .collect()
        };
        let behind = nearest(&mut all[..broke].iter().rev());
        let ahead = nearest(&mut all[broke + 1..].iter());
        let mut walk = |next: &mut dyn FnMut(&[bool]) -> Option<Upgrade>| {
            passed.fill(false);
            let mut places = Vec::new();
            while let Some(upgrade) = next(&passed) {
                passed[upgrade.class as usize] = true;
                places.push(upgrade.at);
            }
            places
        };
        prop_assert_eq!(walk(&mut |passed| frontier.before(passed)), behind);
        prop_assert_eq!(walk(&mut |passed| frontier.after(passed)), ahead);
    }
}
