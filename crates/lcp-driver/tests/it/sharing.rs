//! Shares of the budget in plans: the blocks that each share pays for, and borrowing between shares
//! (RFC 0004 §3 and §4).

use lcp_driver::budget::TokenEstimator;
use lcp_driver::shares::{Share, Shares};
use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, DriverError, Excerpts, Overflow, Plan, ShareUsage,
    WarningCode,
};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, FormatHint, Priority, Role, Status};

use crate::packs::{O200K, bare_file, every_type, priority, tag};

fn plan_with(blocks: &[Block<'_>], shares: Shares, budget: u32) -> Plan {
    let config = DriverConfig {
        token_budget: Some(budget),
        shares: Some(shares),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).plan(blocks, &config).unwrap()
}

fn share<'p>(plan: &'p Plan, name: &str) -> &'p ShareUsage {
    plan.shares.iter().find(|share| share.name == name).unwrap()
}

/// Returns `n` blocks of about 480 tokens for each of an agent's four categories.
fn agent_context(n: usize) -> Vec<Block<'static>> {
    let text = crate::packs::source(40);
    let mut blocks = Vec::new();
    for i in 0..n {
        blocks.push(Block::tool_result(format!("tool{i}"), Status::Ok, text.clone()));
        blocks.push(bare_file(&format!("open{i}.rs"), 40));
        blocks.push(bare_file(&format!("found{i}.rs"), 40));
        blocks.push(Block::document(format!("doc{i}"), text.clone(), FormatHint::Plain));
    }
    for i in 0..n as u64 {
        blocks.push(tag(i * 4 + 2, "category=search_results"));
    }
    blocks
}

#[test]
fn category_comes_from_tag_or_else_type_and_role() {
    let mut blocks = every_type();
    blocks.extend([
        Block::conversation(Role::Tool, "out"),
        Block::conversation(Role::System, "be kind"),
        Block::conversation(Role::User, "hi"),
        tag(0, "category=goal"),
    ]);
    let categories = |shares: Option<Shares>| -> Vec<String> {
        let config = DriverConfig { shares, token_budget: Some(9_999), ..DriverConfig::default() };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        plan.items.into_iter().map(|item| item.category.to_string()).collect()
    };
    let plain = categories(None);
    assert_eq!(plain[..5], ["goal", "conversation", "open_files", "tool_results", "references"]);
    assert_eq!(plain[11..14], ["tool_results", "system_prompt", "conversation"]);
    let conversation = categories(Some(Shares::conversation()));
    let sections =
        ["goal", "recent_messages", "retrieved_context", "recent_messages", "retrieved_context"];
    assert_eq!(conversation[..5], sections);
    assert_eq!(conversation[11..14], ["recent_messages", "system_prompt", "recent_messages"]);
}

/// Writers of packs cannot know the shares. A category of the user's own is not replaced, so that a
/// misspelt one is reported.
#[test]
fn known_category_without_share_falls_back_to_the_type() {
    let blocks = [
        Block::tool_result("grep", Status::Ok, "src/a.rs:1: fn a"),
        tag(0, "category=search_results"),
        Block::document("summary", "They moved it.", FormatHint::Plain),
        tag(2, "category=conversation_summary"),
        Block::document("own", "Mine.", FormatHint::Plain),
        tag(4, "category=own"),
    ];
    let categories = |shares: Shares| -> Vec<String> {
        let plan = plan_with(&blocks, shares, 9_999);
        let of = |index: usize| plan.items[index].category.to_string();
        [of(0), of(2), of(4)].into()
    };
    let sections = ["recent_messages", "conversation_summary", "own"];
    assert_eq!(categories(Shares::conversation()), sections);
    assert_eq!(categories(Shares::agent()), ["search_results", "references", "own"]);
    let other = Shares::new(vec![Share::ratio("other", 1.0)]).unwrap();
    assert_eq!(categories(other), ["search_results", "conversation_summary", "own"]);
    let warnings = plan_with(&blocks, Shares::agent(), 9_999).warnings;
    let unknown: Vec<_> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    let own = "category \"own\" has no share; its 1 block can only use tokens that other \
               categories leave";
    assert_eq!(unknown, [own]);
}

/// If all categories need more than they can have, each gets its own share.
#[test]
fn fully_demanded_shares_get_their_own_tokens() {
    let plan = plan_with(&agent_context(30), Shares::agent(), 20_000);
    for (name, own) in [
        ("tool_results", 8_000),
        ("open_files", 6_000),
        ("search_results", 4_000),
        ("references", 2_000),
    ] {
        let share = share(&plan, name);
        assert_eq!(share.tokens, own);
        // A block of about 480 tokens may not fit, or may fit with the tokens that others left.
        assert!(share.used.abs_diff(own) < 600, "{share:?}");
    }
    assert!(plan.used_tokens > 19_500);
}

/// A memory text that is longer than its share of the budget is bounded by it (CBS). Excerpts use
/// the share to the last tokens, and the recent messages keep theirs.
#[test]
fn memory_share_bounds_the_memory_text() {
    let facts: Vec<_> = (0..400).map(|i| format!("The user prefers option {i}.\n")).collect();
    let facts = facts.concat();
    let turn = "The next step of the plan is done, and its tests pass. ".repeat(12);
    let mut blocks = vec![Block::conversation(Role::System, facts.as_str())];
    blocks.extend((0..80).map(|_| Block::conversation(Role::User, turn.as_str())));
    let of = |blocks: &[Block<'_>], shares, excerpts| {
        let config = DriverConfig {
            token_budget: Some(6_400),
            shares: Some(shares),
            excerpts,
            ..DriverConfig::default()
        };
        DefaultDriver::new(O200K).run(blocks, &config).unwrap()
    };
    // Without its share, the same text uses more.
    let untagged =
        of(&blocks, Shares::new([Share::ratio("recent_messages", 0.1)]).unwrap(), Excerpts::On);
    blocks.push(tag(0, "category=memory"));
    let others = [
        "system_prompt", "goal", "working_state", "conversation_summary", "retrieved_context",
        "scaffolding_reminder",
    ];
    for (at, name) in others.iter().enumerate() {
        for turn in 0..10 {
            blocks.push(tag(1 + (at * 10 + turn) as u64, &format!("category={name}")));
        }
    }
    let rendered = of(&blocks, Shares::conversation(), Excerpts::On);
    let memory = share(&rendered.plan, "memory");
    assert_eq!(memory.tokens, 640);
    assert!(memory.wanted > 2_000, "{memory:?}");
    assert!((500..=640).contains(&memory.used), "{memory:?}");
    assert!(rendered.text.contains("prefers option 0.") && !rendered.text.contains("option 200."));
    assert!(untagged.plan.items[0].tokens > 1_000, "{:?}", untagged.plan.items[0]);
    // A cap holds even if the others leave tokens.
    let capped = Shares::conversation().with_cap("memory", 300).unwrap();
    let alone = [blocks[0].clone(), tag(0, "category=memory")];
    let used = |shares| share(&of(&alone, shares, Excerpts::On).plan, "memory").used;
    assert!((200..=300).contains(&used(capped)));
    assert!(used(Shares::conversation()) > 2_000);
}

/// Unused tokens of a share go to those that need more, by weight.
#[test]
fn unused_share_tokens_are_lent_by_weight() {
    // There are no tool results and no references, so the two others share everything 30 to 20.
    let mut blocks = agent_context(60);
    for i in 0..60u64 {
        blocks.push(tag(i * 4, "category=open_files"));
        blocks.push(tag(i * 4 + 3, "category=search_results"));
    }
    let plan = plan_with(&blocks, Shares::agent(), 20_000);
    let (open, search) = (share(&plan, "open_files"), share(&plan, "search_results"));
    assert_eq!((open.tokens, search.tokens), (6_000, 4_000));
    assert!(open.used.abs_diff(12_000) < 600, "{open:?}");
    assert!(search.used.abs_diff(8_000) < 600, "{search:?}");
    assert_eq!(open.borrowed(), open.used - 6_000);
}

#[test]
fn cap_holds_even_with_unused_budget() {
    let shares = Shares::agent().with_cap("tool_results", 1_500).unwrap();
    let plan = plan_with(&agent_context(30), shares, 20_000);
    let tools = share(&plan, "tool_results");
    assert!(tools.used <= 1_500 && tools.used > 900, "{tools:?}");
    // The others get the tokens that it could not use.
    assert!(plan.used_tokens > 19_000, "{}", plan.used_tokens);
}

#[test]
fn critical_block_over_cap_is_a_warning_or_an_error() {
    let mut blocks = agent_context(2);
    blocks.push(priority(0, Priority::Critical));
    let shares = Shares::agent().with_cap("tool_results", 100).unwrap();
    let plan = plan_with(&blocks, shares.clone(), 20_000);
    assert_eq!(plan.items[0].decision.name(), "full");
    let warning = plan.warnings.iter().find(|w| w.code == WarningCode::OverShareCap).unwrap();
    assert!(warning.to_string().contains("over its cap of 100 [LCP-BUD-002]"), "{warning}");
    let config = DriverConfig {
        token_budget: Some(20_000),
        shares: Some(shares),
        overflow: Overflow::Deny,
        ..DriverConfig::default()
    };
    let error = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap_err();
    assert_eq!(error.code(), "LCP-BUD-002");
    assert!(matches!(error, DriverError::OverShareCap { cap: 100, .. }));
}

/// A category without a share has no tokens of its own, and uses those that others leave.
#[test]
fn categories_without_a_share_warn_and_use_leftovers() {
    let mut blocks = agent_context(10);
    blocks.push(Block::conversation(Role::User, "What is wrong here?"));
    blocks.push(tag(1, "category=odd"));
    let small = plan_with(&blocks, Shares::agent(), 2_000);
    let messages: Vec<_> = small
        .warnings
        .iter()
        .filter(|w| w.code == WarningCode::UnknownCategory)
        .map(|w| w.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "category \"conversation\" has no share; its 1 block can only use tokens that other categories leave",
            "category \"odd\" has no share; its 1 block can only use tokens that other categories leave",
        ]
    );
    let large = plan_with(&blocks, Shares::agent(), 40_000);
    assert!(
        large.items.iter().all(|item| !item.decision.is_shown() || item.decision.name() == "full")
    );
    assert_eq!(large.shares.last().map(|share| (share.name.as_str(), share.blocks)), Some(("", 2)));
}

/// A few chat turns, which have no share in this preset, are not shortened before the last of many
/// files. They never take another category's own tokens.
#[test]
fn blocks_without_a_share_borrow_unused_tokens() {
    let mut blocks: Vec<_> = (0..60).map(|i| bare_file(&format!("f{i}.rs"), 40)).collect();
    blocks.extend((0..3).map(|i| Block::conversation(Role::User, format!("Question {i}?"))));
    let plan = plan_with(&blocks, Shares::agent(), 8_000);
    assert!(plan.items[60..].iter().all(|item| item.decision.name() == "full"));
    // If all four categories use their shares, there is nothing to borrow.
    let mut blocks = agent_context(30);
    blocks.extend((0..60).map(|i| Block::conversation(Role::User, format!("Question {i}?"))));
    let plan = plan_with(&blocks, Shares::agent(), 20_000);
    for name in ["tool_results", "open_files", "search_results", "references"] {
        let share = share(&plan, name);
        assert!(share.used + 560 > share.tokens, "{share:?}");
    }
}

#[test]
fn shares_above_1_are_normalised_with_a_warning() {
    let shares =
        Shares::new([Share::ratio("open_files", 0.9), Share::ratio("tool_results", 0.6)]).unwrap();
    let plan = plan_with(&agent_context(30), shares, 10_000);
    assert_eq!(
        (share(&plan, "open_files").tokens, share(&plan, "tool_results").tokens),
        (6_000, 4_000)
    );
    assert!(plan.warnings.iter().any(|w| w.code == WarningCode::SharesNormalised));
}

/// The wanted budget is the smallest one in which everything is at its ceiling.
#[test]
fn wanted_budget_is_minimal() {
    for fill in [false, true] {
        // A Low file without a level grows after all others have their ceilings.
        let mut blocks = agent_context(3);
        blocks.extend([priority(3, Priority::Low), priority(7, Priority::Background)]);
        let plan = |budget| {
            let config = DriverConfig {
                token_budget: Some(budget),
                shares: Some(Shares::agent()),
                fill,
                ..DriverConfig::default()
            };
            DefaultDriver::new(O200K).plan(&blocks, &config).unwrap()
        };
        let wanted = u32::try_from(plan(500).wanted_budget.unwrap()).unwrap();
        assert_eq!(plan(wanted).wanted_budget, None);
        assert_eq!(plan(wanted - 1).wanted_budget, Some(wanted.into()));
    }
}

/// A larger budget does not help a block that only the cap of its share excludes.
#[test]
fn wanted_budget_ignores_blocks_limited_by_a_cap() {
    let capped = |budget| {
        let shares = Shares::agent().with_cap("open_files", 100).unwrap();
        plan_with(&[bare_file("a.rs", 40), bare_file("b.rs", 40)], shares, budget)
    };
    let plan = capped(1_000_000);
    assert_eq!(plan.items[0].reason, DecisionReason::ShareCap);
    assert_eq!(plan.wanted_budget, None);
    // If the budget cuts others, the wanted budget respects the cap, and includes the line for the
    // blocks that the cap excludes.
    let with_others = |budget| {
        let shares = Shares::agent().with_cap("open_files", 100).unwrap();
        plan_with(&agent_context(3), shares, budget)
    };
    let wanted = u32::try_from(with_others(900).wanted_budget.unwrap()).unwrap();
    assert_eq!(with_others(wanted).wanted_budget, None);
    assert!(with_others(wanted - 60).wanted_budget.is_some());
}

#[test]
fn background_blocks_wait_for_all_others() {
    let blocks = [
        bare_file("large.rs", 200),
        Block::document("d", "small", FormatHint::Plain),
        priority(1, Priority::Background),
    ];
    let config = DriverConfig { token_budget: Some(500), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    assert_eq!(plan.items[1].reason, DecisionReason::Background);
}

/// Blocks that only a cap limits do not block Background blocks of other shares.
#[test]
fn background_does_not_wait_for_capped_blocks() {
    let blocks = [
        bare_file("a.rs", 40),
        bare_file("b.rs", 40),
        Block::document("d", crate::packs::source(20), FormatHint::Plain),
        priority(2, Priority::Background),
    ];
    let shares = Shares::agent().with_cap("open_files", 600).unwrap();
    let plan = plan_with(&blocks, shares, 100_000);
    assert_eq!(plan.items[1].reason, DecisionReason::ShareCap);
    assert_eq!(plan.items[2].decision.name(), "placeholder");
    assert_eq!(plan.items[2].reason, DecisionReason::Ceiling);
}

/// Low blocks without a level stay a placeholder while others need tokens. Otherwise only the
/// budget limits them.
#[test]
fn low_block_reason_is_over_budget_until_it_fits() {
    let blocks = [bare_file("low.rs", 100), priority(0, Priority::Low)];
    let config = DriverConfig { token_budget: Some(400), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    assert_eq!(plan.items[0].reason, DecisionReason::OverBudget);
    let wanted = u32::try_from(plan.wanted_budget.unwrap()).unwrap();
    let config = DriverConfig { token_budget: Some(wanted), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    assert_eq!(plan.items[0].decision.name(), "full");
}

/// Shares hold by the count of any tokenizer, even if counts of parts do not add up.
#[test]
fn should_work_with_real_tokenizer() {
    let blocks = agent_context(12);
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::P50kBase] {
        let tokenizer = Tiktoken::new(encoding);
        let config = DriverConfig {
            token_budget: Some(7_000),
            shares: Some(Shares::agent().with_cap("references", 600).unwrap()),
            excerpts: Excerpts::On,
            ..DriverConfig::default()
        };
        let rendered = DefaultDriver::new(tokenizer).run(&blocks, &config).unwrap();
        assert_eq!(tokenizer.estimate(&rendered.text), rendered.plan.used_tokens);
        assert!((6_800..=7_000).contains(&rendered.plan.used_tokens), "{encoding:?}");
        assert!(share(&rendered.plan, "references").used <= 600, "{encoding:?}");
    }
}

/// With very many blocks in eight categories, the hidden ones are counted.
#[test]
fn should_handle_large_chunk_set() {
    let shares = Shares::conversation();
    let names: Vec<_> = shares.as_slice().iter().map(|share| share.name.clone()).collect();
    let texts: Vec<_> = (0..20_000).map(|i| format!("chunk number {i}")).collect();
    let mut blocks: Vec<_> =
        texts.iter().map(|text| Block::conversation(Role::User, text.as_str())).collect();
    for i in 0..20_000usize {
        blocks.push(tag(i as u64, &format!("category={}", names[i % names.len()])));
    }
    let plan = plan_with(&blocks, shares, 10_000);
    assert!(plan.used_tokens <= 10_000 && plan.used_tokens > 9_900);
    for share in &plan.shares {
        assert!(share.used.abs_diff(share.tokens) < 60, "{share:?}");
    }
    let shown = plan.items.iter().filter(|item| item.decision.is_shown()).count();
    assert_eq!(plan.rolled_up.map(|all| all.count), Some(20_000 - shown));
}
