//! The driver's treatment of detected duplicates (RFC 0006 §8): removed blocks are not shown, and
//! nothing else about them is decided.

mod laws;
#[cfg(feature = "serde")]
mod stable;

use std::collections::BTreeSet;

use lcp_driver::shares::Shares;
use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, OutputMode, Plan, RenderDecision, Rendered,
    Verbosity, WarningCode,
};
use lcp_types::{
    Annotation, Block, BlockType, CarriedLevel, DuplicateKind, Lang, Priority, Replacement,
    Replacements, Role,
};

use crate::packs::{O200K, bare_file, file, priority, source, tag};

/// Returns a replacement: the block at `by` covers the one at `index`, which leaves nothing in its
/// place.
fn removed(index: usize, by: usize, relation: DuplicateKind) -> (usize, Replacement) {
    (index, Replacement { by, relation, in_place: false, tokens_saved: 100 })
}

/// Returns the same replacement, but with something left in its place.
fn referred(index: usize, by: usize, relation: DuplicateKind) -> (usize, Replacement) {
    let (index, covered) = removed(index, by, relation);
    (index, Replacement { in_place: true, ..covered })
}

fn config(covered: impl IntoIterator<Item = (usize, Replacement)>) -> DriverConfig {
    let covered = covered.into_iter().collect();
    DriverConfig {
        mode: OutputMode::Minimal,
        duplicates: Some(Replacements { covered, ..Replacements::default() }),
        ..DriverConfig::default()
    }
}

fn run(blocks: &[Block<'_>], config: &DriverConfig) -> Rendered {
    DefaultDriver::new(O200K).run(blocks, config).unwrap()
}

fn decisions(plan: &Plan) -> Vec<&'static str> {
    plan.items.iter().map(|item| item.decision.name()).collect()
}

#[test]
fn removed_duplicate_is_absent_and_costs_no_tokens() {
    let blocks = [
        bare_file("src/a.rs", 5),
        bare_file("src/copy.rs", 5),
        Block::conversation(Role::User, "Why?"),
    ];
    let without = [blocks[0].clone(), blocks[2].clone()];
    for mode in OutputMode::ALL {
        for budget in [None, Some(2_000), Some(120), Some(40), Some(10), Some(0)] {
            for verbosity in Verbosity::ALL {
                let of = |config: DriverConfig| DriverConfig {
                    mode,
                    verbosity,
                    token_budget: budget,
                    ..config
                };
                let rendered = run(&blocks, &of(config([removed(1, 0, DuplicateKind::Equal)])));
                let plain = run(&without, &of(DriverConfig::default()));
                assert_eq!(rendered.text, plain.text, "as if it were not in the pack");
                assert_eq!(rendered.plan.used_tokens, plain.plan.used_tokens);
                let item = &rendered.plan.items[1];
                assert_eq!(item.decision, RenderDecision::Duplicate { by: 0 });
                assert_eq!(item.reason, DecisionReason::Duplicate(DuplicateKind::Equal));
                assert_eq!((item.tokens, item.full_tokens, item.content_tokens), (0, 0, 0));
            }
        }
    }
}

#[test]
fn in_place_replacement_is_planned_like_any_block() {
    let line = "[outdated: src/a.rs as it is now stands below]";
    let blocks = [Block::code(Lang::Rust, "src/a.rs", line), bare_file("src/a.rs", 5)];
    let rendered = run(&blocks, &config([referred(0, 1, DuplicateKind::Superseded)]));
    assert_eq!(decisions(&rendered.plan), ["full", "full"]);
    assert!(rendered.text.contains(line));
    assert_eq!(rendered.plan.replacement(0).map(|covered| covered.by), Some(1));
    assert_eq!(rendered.plan.replacement(1), None);
}

#[test]
fn covering_block_inherits_priority_rank_and_pin() {
    let high = [file("a.rs", 12), file("b.rs", 12), priority(0, Priority::Low)];
    let high = [&high[..], &[priority(1, Priority::High)]].concat();
    let tight = |config: DriverConfig| DriverConfig { token_budget: Some(250), ..config };
    let rendered = run(&high, &tight(config([removed(1, 0, DuplicateKind::Equal)])));
    assert_eq!(rendered.plan.items[0].priority, Priority::High);
    assert_eq!(rendered.plan.items[0].decision, RenderDecision::Full, "Low would be a summary");
    // The better block stays, in either order.
    let other = run(&high, &tight(config([removed(0, 1, DuplicateKind::Equal)])));
    assert_eq!(other.plan.items[1].priority, Priority::High);
    // Of three files, only one fits: the one that covers the highest-ranked file.
    let mut ranked: Vec<_> = ["a.rs", "b.rs", "c.rs", "d.rs"].map(|path| file(path, 12)).into();
    ranked.extend(
        ["rank=0.2", "rank=0.5", "rank=0.1", "rank=0.9"]
            .iter()
            .zip(0..)
            .map(|(rank, at)| tag(at, rank)),
    );
    let tight = |config: DriverConfig| DriverConfig { token_budget: Some(230), ..config };
    let alone = run(&ranked[..3], &tight(config([])));
    let full = |plan: &Plan| {
        let is_full = |&i: &usize| plan.items[i].decision == RenderDecision::Full;
        (0..plan.items.len()).filter(is_full).collect::<Vec<_>>()
    };
    assert_eq!(full(&alone.plan).len(), 1);
    let rendered = run(&ranked, &tight(config([removed(3, 2, DuplicateKind::Contained)])));
    assert_eq!(full(&rendered.plan), [2]);
    // A block that covers a pinned block is pinned.
    let pinned = [file("a.rs", 30), file("b.rs", 30), tag(1, "pinned")];
    let tight = |config: DriverConfig| DriverConfig { token_budget: Some(60), ..config };
    let rendered = run(&pinned, &tight(config([removed(1, 0, DuplicateKind::Equal)])));
    assert_eq!(rendered.plan.items[0].reason, DecisionReason::Pinned);
    assert_eq!(rendered.plan.items[0].decision, RenderDecision::Full);
    assert!(rendered.plan.overflow_tokens() > 0);
}

#[test]
fn covering_block_does_not_inherit_category() {
    let blocks = [bare_file("a.rs", 5), bare_file("b.rs", 5), tag(1, "category=references")];
    let plan = run(&blocks, &config([removed(1, 0, DuplicateKind::Equal)])).plan;
    assert_eq!((&*plan.items[0].category, &*plan.items[1].category), ("open_files", "references"));
}

#[test]
fn annotations_of_changed_blocks_are_dropped() {
    let blocks = [
        bare_file("a.rs", 40),
        bare_file("b.rs", 40).with_summary("its own"),
        Block::new(Annotation::summary(0, "of the old a.rs")),
        Block::new(Annotation::summary(1, "of the old b.rs")),
        Block::new(CarriedLevel::Detailed.to_extension(0, "fn old_a();")),
        Block::new(CarriedLevel::Tags.to_extension(1, "old-b")),
    ];
    let summary = |config: DriverConfig| DriverConfig { verbosity: Verbosity::Summary, ..config };
    let kept = run(&blocks, &summary(config([])));
    assert!(kept.text.contains("of the old a.rs"), "unchanged, annotations hold");
    let mut changed = config([]);
    changed.duplicates.as_mut().unwrap().changed = BTreeSet::from([0, 1, 900]);
    let rendered = run(&blocks, &summary(changed.clone()));
    assert_eq!(decisions(&rendered.plan)[..2], ["full", "summary"]);
    assert!(rendered.text.contains("its own") && !rendered.text.contains("old"));
    // Detail levels of the old text are not shown at any budget either.
    for budget in 0..300 {
        let config = DriverConfig { token_budget: Some(budget), ..changed.clone() };
        let rendered = run(&blocks, &config);
        assert!(!rendered.text.contains("old"), "{budget}: {}", rendered.text);
    }
    let with = DriverConfig { token_budget: Some(60), ..config([]) };
    assert!(run(&blocks, &with).text.contains("old"), "a budget that shows levels");
}

#[test]
fn type_filter_takes_precedence_over_duplicates() {
    let blocks = [
        Block::document("a.rs", source(5), lcp_types::FormatHint::Markdown),
        bare_file("a.rs", 5),
        priority(0, Priority::High),
    ];
    let only = |covered, wanted| {
        let config = DriverConfig { types: Some(vec![wanted]), ..config([covered]) };
        run(&blocks, &config)
    };
    // A filtered block covers nothing, so the other block is shown.
    let rendered = only(removed(1, 0, DuplicateKind::Equal), BlockType::Code);
    assert_eq!(decisions(&rendered.plan), ["filtered", "full", "metadata"]);
    assert!(rendered.text.contains("value_4"));
    // A filtered block is not covered, and does not pass on its priority.
    let rendered = only(removed(0, 1, DuplicateKind::Equal), BlockType::Code);
    assert_eq!(decisions(&rendered.plan), ["filtered", "full", "metadata"]);
    assert_eq!(rendered.plan.items[1].priority, Priority::Normal);
    assert_eq!(rendered.plan.dedup_stats().unwrap().removed, 0);
    // With both types it is removed.
    let rendered = run(&blocks, &config([removed(1, 0, DuplicateKind::Equal)]));
    assert_eq!(decisions(&rendered.plan), ["full", "duplicate", "metadata"]);
}

/// Invalid duplicates must not remove content that is nowhere else.
#[test]
fn invalid_duplicates_do_not_remove_blocks() {
    let equal = DuplicateKind::Equal;
    let blocks: Vec<_> = ["a.rs", "b.rs", "c.rs"].map(|path| bare_file(path, 2)).into();
    let blocks = [blocks, vec![priority(0, Priority::High)]].concat();
    for covered in [
        vec![removed(1, 1, equal)],
        vec![removed(1, 700, equal)],
        vec![removed(700, 1, equal)],
        vec![removed(usize::MAX, usize::MAX, equal)],
        vec![removed(0, 1, equal), removed(1, 0, equal)],
        vec![removed(0, 1, equal), removed(1, 2, equal), removed(2, 0, equal)],
        // The covering block is an annotation, which is also covered.
        vec![removed(1, 3, equal), removed(3, 1, equal)],
    ] {
        let rendered = run(&blocks, &config(covered.clone()));
        let shown = ["full", "full", "full", "metadata"];
        assert_eq!(decisions(&rendered.plan), shown, "{covered:?}");
        assert_eq!(rendered.plan.dedup_stats().unwrap().removed, 0, "{covered:?}");
    }
    // In a chain, a block is still removed if a shown block covers it.
    let chain = config([removed(0, 1, equal), removed(1, 2, equal)]);
    assert_eq!(decisions(&run(&blocks, &chain).plan)[..3], ["full", "duplicate", "full"]);
    // A block that was cut may cover another one.
    let cut = config([
        removed(0, 1, DuplicateKind::Contained),
        referred(1, 2, DuplicateKind::Overlapping),
    ]);
    assert_eq!(decisions(&run(&blocks, &cut).plan)[..3], ["duplicate", "full", "full"]);
}

#[test]
fn wanted_budget_excludes_duplicates() {
    let mut blocks: Vec<_> = (0..4).map(|i| bare_file(&format!("{i}.rs"), 20)).collect();
    let tight = |config: DriverConfig| DriverConfig { token_budget: Some(300), ..config };
    let all = run(&blocks, &tight(config([]))).plan.wanted_budget.unwrap();
    let removed = run(&blocks, &tight(config([removed(3, 0, DuplicateKind::Equal)])));
    let wanted = removed.plan.wanted_budget.unwrap();
    blocks.truncate(3);
    assert_eq!(Some(wanted), run(&blocks, &tight(config([]))).plan.wanted_budget);
    assert!(wanted < all, "{wanted} of {all}");
}

#[test]
fn removed_duplicate_needs_no_share() {
    let blocks = [
        bare_file("a.rs", 20),
        bare_file("b.rs", 20),
        tag(1, "category=search_results"),
        tag(0, "category=odd"),
    ];
    let shared = |covered| {
        let shares = Some(Shares::agent());
        DriverConfig { token_budget: Some(400), shares, ..config(covered) }
    };
    let plan = run(&blocks, &shared(vec![removed(1, 0, DuplicateKind::Equal)])).plan;
    let share = |plan: &Plan, name: &str| {
        let share = plan.shares.iter().find(|share| share.name == name).unwrap();
        (share.wanted, share.used, share.blocks)
    };
    assert_eq!(share(&plan, "search_results"), (0, 0, 0));
    assert_eq!(plan.items[0].decision, RenderDecision::Full, "it has what the other leaves");
    // A removed block's category needs no share either.
    let plan = run(&blocks, &shared(vec![removed(0, 1, DuplicateKind::Equal)])).plan;
    assert!(!plan.warnings.iter().any(|warning| warning.code == WarningCode::UnknownCategory));
    assert!(share(&plan, "search_results").1 > 0);
}

#[test]
fn newest_question_is_taken_from_remaining_blocks() {
    let ask = |text| Block::conversation(Role::User, text);
    let blocks = [ask("Why does it fail?"), bare_file("a.rs", 90), ask("Why does it fail?")];
    let config =
        DriverConfig { token_budget: Some(40), ..config([removed(2, 0, DuplicateKind::Equal)]) };
    let plan = run(&blocks, &config).plan;
    assert_eq!(plan.items[0].decision, RenderDecision::Full);
}
