//! The laws with shares and excerpts (RFC 0004 §5).

use super::*;

/// A case with shares, some of them capped, and with excerpts or without.
fn any_shared() -> impl Strategy<Value = (Vec<Item>, Terms<'static>, Vec<ShareTerms>)> {
    let cap = prop_oneof![3 => Just(u64::MAX), 1 => 0u64..400];
    let share = (prop_oneof![1 => Just(0u32), 4 => 1u32..2_000], cap)
        .prop_map(|(own, cap)| ShareTerms { own, weight: own.max(7), cap });
    let places = prop::collection::vec(any::<prop::sample::Index>(), 200);
    (any_case(), prop::collection::vec(share, 0..5), places, any::<bool>()).prop_map(
        |((mut items, terms), shares, places, excerpts)| {
            for (item, place) in items.iter_mut().zip(&places) {
                item.share = place.index(shares.len().max(1));
            }
            (items, Terms { excerpts, ..terms }, shares)
        },
    )
}

fn used(items: &[Item], allocation: &Allocation, share: usize) -> u64 {
    let of_share = (0..items.len()).filter(|&i| items[i].share == share);
    of_share.map(|i| paid(items, allocation, i)).sum()
}

fn critical_of(items: &[Item], share: usize) -> u64 {
    let critical = |item: &&Item| item.priority == Priority::Critical && item.share == share;
    items.iter().filter(critical).map(|item| item.costs[0]).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn bounded((items, terms, shares) in any_shared()) {
        let allocation = walked(&items, Terms { shares: &shares, ..terms });
        let planned = planned(&items, terms, &allocation);
        if allocation.outcome == Outcome::Fits {
            prop_assert!(planned <= terms.budget);
        } else {
            prop_assert_eq!(planned, terms.envelope + critical(&items));
        }
    }

    #[test]
    fn capped((items, terms, shares) in any_shared()) {
        let allocation = walked(&items, Terms { shares: &shares, ..terms });
        for (at, share) in shares.iter().enumerate() {
            let used = used(&items, &allocation, at);
            prop_assert!(used <= share.cap.max(critical_of(&items, at)), "share {at}: {used}");
        }
    }

    /// No allowed upgrade, and no excerpt where nothing is shown, fits in what
    /// is left, under the cap of its share.
    #[test]
    fn maximal((items, terms, shares) in any_shared()) {
        let allocation = walked(&items, Terms { shares: &shares, ..terms });
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        for &i in &order(&items) {
            let cap = shares.get(items[i].share).map_or(u64::MAX, |share| share.cap);
            let under_cap = cap.saturating_sub(used(&items, &allocation, items[i].share));
            let left = allocation.left.min(under_cap);
            let paid = paid(&items, &allocation, i);
            for detail in refused(&items, &allocation, i) {
                prop_assert!(items[i].costs[detail] - paid.min(items[i].costs[detail]) > left
                    || items[i].costs[detail] <= paid, "block {i} detail {detail}");
            }
            let tells = allocation.chosen[i].is_some_and(|choice| choice.tells(&items[i]));
            if terms.excerpts && !tells && items[i].may_be_cut && items[i].ceiling == 0 {
                let most = super::super::purse::rung((paid + left).min(items[i].costs[0] - 1));
                let cut = most.and_then(|most| Cuts(&items).cut(i, most));
                prop_assert!(cut.is_none_or(|cost| cost <= paid), "block {i} could be cut");
            }
        }
    }

    /// From base + line on, every block but Background is visible or counted.
    #[test]
    fn complete((items, terms, shares) in any_shared()) {
        let allocation = walked(&items, Terms { shares: &shares, ..terms });
        let base = terms.envelope + critical(&items);
        prop_assert!(terms.budget < base + terms.line || allocation.outcome == Outcome::Fits);
    }

    /// A text has content where one excerpt fits beside the roll-up line.
    #[test]
    fn something_is_shown((items, terms) in any_case()) {
        let terms = Terms { excerpts: true, ..terms };
        let allocation = walked(&items, terms);
        let left = terms.budget.saturating_sub(terms.envelope + critical(&items) + terms.line);
        let fits = |(i, item): (usize, &Item)| {
            let whole = item.costs[..item.telling].iter().any(|cost| *cost <= left);
            let most = super::super::purse::rung(left.min(item.costs[0] - 1).min(EXCERPT_FIRST));
            let cut = most.filter(|_| item.may_be_cut).and_then(|most| Cuts(&items).cut(i, most));
            whole || cut.is_some()
        };
        if items.iter().enumerate().any(fits) && allocation.outcome == Outcome::Fits {
            prop_assert!(allocation.told(&items) > 0);
        }
    }

    /// Without excerpts, what is wanted in full and in parts that fit gets its
    /// own tokens: blocks of one token each leave no gaps.
    #[test]
    fn guaranteed(
        wants in prop::collection::vec((0u32..300, 0usize..300), 1..5),
        budget in 0u64..800,
    ) {
        let mut items = Vec::new();
        for (share, (_, blocks)) in wants.iter().enumerate() {
            let item = Item {
                priority: Priority::Normal,
                rank: None,
                costs: [1].into_iter().collect(),
                ceiling: 0,
                telling: 1,
                may_grow: false,
                may_be_cut: false,
                share,
                group: None,
                standing: Standing::Free,
            };
            items.extend(std::iter::repeat_n(item, *blocks));
        }
        let shares: Vec<_> =
            wants.iter().map(|(own, _)| ShareTerms { own: *own, weight: 150, cap: u64::MAX }).collect();
        let terms = Terms { budget, line: 1, ..Terms::plain(&shares) };
        let allocation = walked(&items, terms);
        let own: u64 = shares.iter().map(|share| u64::from(share.own)).sum();
        // First lines of a small pack come before shares.
        if allocation.outcome == Outcome::Fits && items.len() > LINES_FIRST && own < budget {
            for (at, (own, blocks)) in wants.iter().enumerate() {
                let wanted = u64::from(*own).min(*blocks as u64);
                prop_assert!(used(&items, &allocation, at) >= wanted, "share {at}");
            }
        }
    }

    /// A share has its own tokens as far as it wants them, but for a gap that
    /// none of its blocks fits, whatever stands in the others.
    #[test]
    fn guaranteed_but_for_a_gap((items, terms, shares) in any_shared(), more in 0u64..200) {
        let shares: Vec<_> =
            shares.iter().map(|share| ShareTerms { cap: u64::MAX, ..*share }).collect();
        // Critical blocks and first lines come before shares.
        let rest = |item: &&Item| item.priority != Priority::Critical;
        let items: Vec<_> = items.iter().filter(rest).cloned().collect();
        let own: u64 = shares.iter().map(|share| u64::from(share.own)).sum();
        let budget = terms.envelope + terms.line + own + more;
        let terms = Terms { budget, shares: &shares, excerpts: false, ..terms };
        if shares.is_empty() || order(&items).len() <= LINES_FIRST {
            return Ok(());
        }
        let allocation = walked(&items, terms);
        for (at, share) in shares.iter().enumerate() {
            let of_share = || order(&items).into_iter().filter(|&i| items[i].share == at);
            let wanted: u64 = of_share().map(|i| items[i].costs[items[i].ceiling]).sum();
            let gap = of_share().map(|i| items[i].costs[0]).max().unwrap_or_default();
            let kept = u64::from(share.own).min(wanted);
            prop_assert!(used(&items, &allocation, at) + gap >= kept, "share {at}");
        }
    }
}
