//! The laws with groups and with a block that is served first (RFC 0005 §5).

use super::*;

/// What stands together, and what comes first.
#[derive(Clone, Debug, Default)]
struct Related {
    groups: Vec<Vec<usize>>,
    first: Option<usize>,
}

impl Related {
    fn terms<'t>(&'t self, terms: Terms<'t>) -> Terms<'t> {
        Terms { groups: &self.groups, first: self.first, ..terms }
    }
}

/// A case with groups of two and three, or a block that is served first, or both.
fn any_related() -> impl Strategy<Value = (Vec<Item>, Terms<'static>, Related)> {
    let places = prop::collection::vec(any::<prop::sample::Index>(), 0..30);
    (any_case(), places, any::<Option<prop::sample::Index>>(), any::<bool>()).prop_map(
        |((mut items, terms), places, first, excerpts)| {
            let mut related = Related::default();
            for places in places.chunks(3) {
                let mut members: Vec<_> = places
                    .iter()
                    .filter(|_| !items.is_empty())
                    .map(|place| place.index(items.len()))
                    .collect();
                members.sort_unstable();
                members.dedup();
                members.retain(|&at| items[at].group.is_none());
                let priority = members.iter().map(|&at| items[at].priority).min();
                for &at in members.iter().filter(|_| members.len() > 1) {
                    items[at].group = Some(related.groups.len());
                    items[at].priority = priority.unwrap_or_default();
                }
                if members.len() > 1 {
                    related.groups.push(members);
                }
            }
            let first = first.filter(|_| !items.is_empty()).map(|first| first.index(items.len()));
            let may_be_first =
                |&at: &usize| items[at].priority == Priority::High && items[at].ceiling == 0;
            related.first = first.filter(may_be_first);
            if let Some(first) = related.first {
                items[first].rank = Some(f64::INFINITY);
            }
            (items, Terms { excerpts, ..terms }, related)
        },
    )
}

/// What showing block `i` costs besides its own tokens.
fn brought_along(items: &[Item], related: &Related, allocation: &Allocation, i: usize) -> u64 {
    if allocation.chosen[i].is_some() {
        return 0;
    }
    let group = items[i].group.map(|group| &related.groups[group]);
    let others = group.into_iter().flatten().filter(|&&at| at != i);
    others.map(|&at| *items[at].costs.last().unwrap()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn a_group_is_shown_whole_or_not_at_all((items, terms, related) in any_related()) {
        let allocation = walked(&items, related.terms(terms));
        for group in &related.groups {
            let shown = group.iter().filter(|&&at| allocation.chosen[at].is_some()).count();
            prop_assert!(shown == 0 || shown == group.len(), "{group:?}");
        }
    }

    #[test]
    fn bounded_and_complete((items, terms, related) in any_related()) {
        let terms = related.terms(terms);
        let allocation = walked(&items, terms);
        let base = terms.envelope + critical(&items);
        if allocation.outcome == Outcome::Fits {
            prop_assert!(planned(&items, terms, &allocation) <= terms.budget);
        }
        prop_assert!(terms.budget < base + terms.line || allocation.outcome == Outcome::Fits);
    }

    /// No allowed upgrade fits, the lines of its group included.
    #[test]
    fn maximal((items, terms, related) in any_related()) {
        let terms = Terms { excerpts: false, ..related.terms(terms) };
        let allocation = walked(&items, terms);
        for i in order(&items) {
            let along = brought_along(&items, &related, &allocation, i);
            for detail in refused(&items, &allocation, i) {
                let extra = items[i].costs[detail] - paid(&items, &allocation, i) + along;
                prop_assert!(extra > allocation.left || allocation.outcome != Outcome::Fits);
            }
        }
    }

    /// What is served first gets the fullest detail for which there is room
    /// beside the fixed blocks and the roll-up line.
    #[test]
    fn first_comes_first((items, terms, related) in any_related()) {
        let terms = related.terms(terms);
        let allocation = walked(&items, terms);
        let Some(first) = related.first.filter(|_| allocation.outcome == Outcome::Fits) else {
            return Ok(());
        };
        let along = related.groups.get(items[first].group.unwrap_or(usize::MAX));
        let along = along.into_iter().flatten().filter(|&&at| at != first);
        let along: u64 = along.map(|&at| *items[at].costs.last().unwrap()).sum();
        let taken = terms.envelope + critical(&items) + terms.line + along;
        let fits = |cost: &u64| taken + cost <= terms.budget;
        if let Some(best) = items[first].costs.iter().position(fits) {
            let got = detail(&items, &allocation, first);
            prop_assert!(got <= best.max(items[first].ceiling), "{got} of {best}");
        }
    }

    /// As the budget grows, what comes first never gets less, nor do the tokens
    /// of blocks and roll-up line become fewer.
    #[test]
    fn monotone_with_a_first_block((items, terms, related) in any_related(), more in 1u64..50) {
        let terms = Terms { excerpts: false, groups: &[], ..related.terms(terms) };
        let items: Vec<_> = items.into_iter().map(|item| Item { group: None, ..item }).collect();
        let larger = Terms { budget: terms.budget + more, ..terms };
        let (before, after) = (walked(&items, terms), walked(&items, larger));
        if let Some(first) = terms.first {
            prop_assert!(detail(&items, &after, first) <= detail(&items, &before, first));
        }
        let (before, after) = (planned(&items, terms, &before), planned(&items, larger, &after));
        prop_assert!(after >= before, "{before} tokens, then {after}");
    }
}
