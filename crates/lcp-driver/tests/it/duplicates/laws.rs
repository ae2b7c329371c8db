//! Properties of any duplicates in any pack.

use lcp_driver::{DefaultDriver, DriverConfig, RenderDecision, Verbosity};
use lcp_types::{DuplicateKind, Replacement, Replacements};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack};

/// Generates duplicates for packs of a few blocks, valid or not.
fn any_duplicates() -> impl Strategy<Value = Replacements> {
    let relation = prop::sample::select(&DuplicateKind::ALL[..]);
    let covered = (0usize..14, relation, any::<bool>(), 0u64..1_000).prop_map(
        |(by, relation, in_place, tokens_saved)| Replacement {
            by,
            relation,
            in_place,
            tokens_saved,
        },
    );
    let covered = prop::collection::btree_map(0usize..14, covered, 0..6);
    let shared = prop::collection::btree_set((0usize..14, 0usize..14), 0..3);
    let changed = prop::collection::btree_set(0usize..14, 0..4);
    (covered, shared, changed).prop_map(|(covered, shared, changed)| Replacements {
        covered,
        shared,
        changed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn plan_with_duplicates_adds_up_and_renders_its_text(
        blocks in any_pack(),
        config in any_config(),
        duplicates in any_duplicates(),
        verbosity in prop::sample::select(&Verbosity::ALL[..]),
        budget in prop::option::of(0u32..1_500),
    ) {
        let duplicates = Some(duplicates);
        let config = DriverConfig { token_budget: budget, verbosity, duplicates, ..config };
        let driver = DefaultDriver::new(O200K);
        let rendered = driver.run(&blocks, &config).unwrap();
        let plan = &rendered.plan;
        prop_assert_eq!(driver.render_plan(&blocks, plan).unwrap(), &*rendered.text);
        let tokens: u32 = plan.items.iter().map(|item| item.tokens).sum();
        prop_assert_eq!(tokens + plan.overhead_tokens, plan.used_tokens);
        for (index, item) in plan.items.iter().enumerate() {
            let RenderDecision::Duplicate { by } = item.decision else { continue };
            prop_assert_eq!(item.tokens, 0);
            prop_assert_ne!(index, by);
            let by = &plan.items[by];
            let is_there = !["duplicate", "metadata", "filtered"].contains(&by.decision.name());
            prop_assert!(is_there, "{:?}", by.decision);
            prop_assert!(by.priority <= item.priority, "what covers is worth as much");
        }
        if let Some(budget) = budget {
            let replayed = driver.replay(&blocks, &config, &[budget]).unwrap();
            prop_assert_eq!(&replayed[0], plan);
        }
    }

    /// Removed blocks have no effect: the text is the same as without them.
    #[test]
    fn removed_duplicates_render_like_absent_blocks(
        blocks in any_pack(),
        config in any_config(),
        budget in prop::option::of(0u32..1_500),
        from in 0usize..8,
    ) {
        // The last blocks and their annotations cover nothing and are at the end, so removing them
        // changes no index.
        let content = blocks.iter().filter(|block| block.as_annotation().is_none() && !block.content.is_metadata()).count();
        prop_assume!(from < content && from > 0);
        let only: Vec<_> = blocks[..content].to_vec();
        let covered = |by| Replacement { by, relation: DuplicateKind::Equal, in_place: false, tokens_saved: 1 };
        let covered = (from..content).map(|index| (index, covered(0))).collect();
        let duplicates = Some(Replacements { covered, ..Replacements::default() });
        let without = DriverConfig { token_budget: budget, ..config };
        let config = DriverConfig { duplicates, ..without.clone() };
        let driver = DefaultDriver::new(O200K);
        let text = driver.render(&only, &config).unwrap();
        prop_assert_eq!(text, driver.render(&only[..from], &without).unwrap());
    }
}
