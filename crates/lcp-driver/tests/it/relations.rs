//! Pinned and paired blocks, and the newest user turn (RFC 0005 §5).

use std::collections::BTreeMap;

use lcp_driver::shares::Shares;
use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, DriverError, Objective, Overflow, Plan,
    RenderDecision, ValueModel, Verbosity, WarningCode,
};
use lcp_types::{Annotation, Block, Priority, Role, Status, Tag};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack, bare_file, file, priority, source, tag};

fn driver() -> DefaultDriver {
    DefaultDriver::new(O200K)
}

fn within(budget: u32) -> DriverConfig {
    DriverConfig { token_budget: Some(budget), ..DriverConfig::default() }
}

fn by_value(budget: u32) -> DriverConfig {
    DriverConfig { objective: Objective::Value(ValueModel::default()), ..within(budget) }
}

fn plan(blocks: &[Block<'_>], config: &DriverConfig) -> Plan {
    driver().plan(blocks, config).unwrap()
}

fn question() -> Block<'static> {
    Block::conversation(Role::User, "Which of all these files is the one that is slow, and why?")
}

/// Returns a call and its result among other blocks.
fn calls() -> Vec<Block<'static>> {
    let result = Block::tool_result("grep", Status::Ok, source(30));
    let mut blocks: Vec<_> = (0..40).map(|i| file(&format!("f{i}.rs"), 20)).collect();
    blocks.push(Block::conversation_with_call(Role::Assistant, "Let me look for it.", "call_1"));
    blocks.push(result);
    blocks.push(tag(41, "tool_call_id=call_1"));
    blocks
}

#[test]
fn pinned_block_is_always_full() {
    for verbosity in Verbosity::ALL {
        let mut blocks = vec![file("a.rs", 40), file("b.rs", 40), priority(0, Priority::Low)];
        blocks.push(tag(0, "pinned"));
        let config = DriverConfig { verbosity, ..within(600) };
        let plan = plan(&blocks, &config);
        assert_eq!(plan.items[0].decision, RenderDecision::Full, "{verbosity:?}");
        assert_eq!(plan.items[0].priority, Priority::Low);
        if verbosity == Verbosity::Adaptive {
            assert_eq!(plan.items[0].reason, DecisionReason::Pinned);
            assert_eq!(plan.items[1].decision, RenderDecision::Summary);
        }
    }
}

#[test]
fn pinned_block_overflows_the_budget_like_a_critical_one() {
    let blocks = [bare_file("a.rs", 40), tag(0, "pinned"), bare_file("b.rs", 1)];
    let allowed = plan(&blocks, &within(100));
    assert_eq!(allowed.items[0].decision, RenderDecision::Full);
    assert!(allowed.overflow_tokens() > 0);
    assert!(allowed.warnings.iter().any(|warning| warning.code == WarningCode::OverBudget));
    let denied = DriverConfig { overflow: Overflow::Deny, ..within(100) };
    assert!(matches!(driver().plan(&blocks, &denied), Err(DriverError::OverBudget { .. })));
}

#[test]
fn pinned_tag_with_a_value_is_ignored_with_a_warning() {
    let blocks = [bare_file("a.rs", 40), tag(0, "pinned=no")];
    let plan = plan(&blocks, &within(100));
    assert_ne!(plan.items[0].decision, RenderDecision::Full);
    assert_eq!(plan.warnings[0].code, WarningCode::BadAnnotation);
}

#[test]
fn call_and_result_share_the_higher_priority() {
    for budget in [300, 800, 1_500] {
        let mut blocks = calls();
        blocks.push(priority(41, Priority::High));
        let plan = plan(&blocks, &within(budget));
        // Otherwise the call would come after forty files.
        assert_eq!(plan.items[40].decision, RenderDecision::Full, "{budget}");
        assert!(plan.items[41].decision.is_shown());
        assert_eq!(plan.items[40].priority, Priority::Normal);
    }
}

#[test]
fn pin_and_critical_apply_to_call_and_result() {
    let mut pinned = calls();
    pinned.push(tag(40, "pinned"));
    let mut critical = calls();
    critical.push(priority(40, Priority::Critical));
    for (blocks, reason) in [(pinned, DecisionReason::Pinned), (critical, DecisionReason::Critical)]
    {
        let plan = plan(&blocks, &within(500));
        for item in &plan.items[40..42] {
            assert_eq!((&item.decision, item.reason), (&RenderDecision::Full, reason));
        }
    }
}

#[test]
fn tool_call_id_tag_is_ignored_on_other_blocks() {
    let mut blocks = calls();
    blocks.extend([tag(0, "tool_call_id=call_1"), priority(0, Priority::Critical)]);
    let plan = plan(&blocks, &within(800));
    assert_ne!(plan.items[41].reason, DecisionReason::Critical);
}

#[test]
fn call_with_filtered_result_is_shown_alone() {
    let types = Some(vec![lcp_types::BlockType::Conversation]);
    let config = DriverConfig { types, ..within(200) };
    let plan = plan(&calls(), &config);
    assert_eq!(plan.items[40].decision, RenderDecision::Full);
    assert_eq!(plan.items[41].decision, RenderDecision::Filtered);
}

/// Placeholders of many files do not displace the question.
#[test]
fn newest_question_is_full_within_small_budgets() {
    for files in [5, 31, 80] {
        let mut blocks: Vec<_> = (0..files).map(|i| bare_file(&format!("f{i}.rs"), 20)).collect();
        blocks.insert(0, Block::conversation(Role::User, source(30)));
        blocks.push(question());
        blocks.push(Block::conversation(Role::Assistant, "Let me see."));
        for high in 0..3 {
            blocks.push(priority(high + 1, Priority::High));
        }
        for config in [within(70), by_value(70), within(700), by_value(700)] {
            let plan = plan(&blocks, &config);
            assert_eq!(plan.items[files + 1].decision, RenderDecision::Full, "{config:?}");
            assert!(plan.used_tokens <= config.token_budget.unwrap());
        }
    }
}

#[test]
fn low_question_comes_first_among_low_blocks_only() {
    let mut blocks: Vec<_> = (0..40).map(|i| file(&format!("f{i}.rs"), 20)).collect();
    blocks.push(question());
    for low in 20..41 {
        blocks.push(priority(low, Priority::Low));
    }
    let small = plan(&blocks, &within(400));
    assert_eq!(small.items[40].decision, RenderDecision::RolledUp);
    // It is shown from the budget at which the first Low block is shown.
    let shown = |budget| plan(&blocks, &within(budget));
    let first = (400..60_000)
        .step_by(50)
        .map(shown)
        .find(|plan| plan.items[20..41].iter().any(|item| item.decision.is_shown()));
    assert!(first.unwrap().items[40].decision.is_shown());
}

/// In a chat with the oldest turns first, the last turn is shown.
#[test]
fn newest_turn_of_a_long_chat_is_shown() {
    let mut blocks = Vec::new();
    for turn in 0..200 {
        blocks.push(Block::conversation(Role::User, format!("Question {turn}: {}", source(2))));
        blocks.push(Block::conversation(Role::Assistant, format!("Answer {turn}: {}", source(4))));
    }
    blocks.push(question());
    let plan = plan(&blocks, &within(2_000));
    assert_eq!(plan.items.last().unwrap().decision, RenderDecision::Full);
}

/// Returns the indexes of the pinned items.
fn pinned(plan: &Plan) -> Vec<usize> {
    let is_pinned = |&i: &usize| plan.items[i].reason == DecisionReason::Pinned;
    (0..plan.items.len()).filter(is_pinned).collect()
}

/// Returns a turn with this id: a result if the role is tool, otherwise a call.
fn turn(role: Role, id: &'static str) -> Block<'static> {
    Block::conversation_with_call(role, source(3), id)
}

#[test]
fn reused_call_id_starts_a_new_group() {
    let result = || Block::tool_result("read", Status::Ok, source(20));
    let tagged = [2, 5, 7].map(|result| tag(result, "tool_call_id=call_1"));
    let mut blocks = vec![
        turn(Role::Assistant, "call_1"),
        turn(Role::Assistant, "call_2"),
        result(),
        turn(Role::Tool, "call_2"),
        turn(Role::Assistant, "call_1"),
        result(),
        turn(Role::User, "call_1"),
        result(),
        turn(Role::Tool, "call_1"),
    ];
    blocks.extend(tagged);
    let pairs = [vec![0, 2], vec![1, 3], vec![4, 5], vec![6, 7, 8]];
    for pair in &pairs {
        for &member in pair {
            let mut blocks = blocks.clone();
            blocks.push(tag(member as u64, "pinned"));
            blocks.extend((0..9).map(|target| priority(target, Priority::Background)));
            let plan = plan(&blocks, &within(10));
            assert_eq!(pinned(&plan), *pair, "{member}");
            for i in (0..9).filter(|i| !pair.contains(i)) {
                assert!(!plan.items[i].decision.is_shown(), "{i} for {member}");
            }
        }
    }
}

#[test]
fn calls_with_one_id_are_grouped_until_a_result() {
    let roles = [Role::Assistant, Role::Assistant, Role::Tool, Role::Tool, Role::Assistant];
    let mut blocks: Vec<_> = roles.into_iter().map(|role| turn(role, "call_1")).collect();
    blocks.push(tag(3, "pinned"));
    assert_eq!(pinned(&plan(&blocks, &within(10))), [0, 1, 2, 3]);
}

#[test]
fn group_has_at_most_64_blocks() {
    let mut blocks = vec![turn(Role::Assistant, "call_1")];
    blocks.extend((0..65).map(|_| turn(Role::Tool, "call_1")));
    blocks.extend([turn(Role::Assistant, "call_1"), turn(Role::Tool, "call_1")]);
    for (member, group) in [
        (0, 0..64),
        (63, 0..64),
        // These calls are groups of their own.
        (64, 64..65),
        (65, 65..66),
        // The next call begins a new group.
        (66, 66..68),
        (67, 66..68),
    ] {
        let mut blocks = blocks.clone();
        blocks.push(tag(member, "pinned"));
        let plan = plan(&blocks, &within(10));
        assert_eq!(pinned(&plan), group.collect::<Vec<_>>(), "{member}");
    }
}

/// The group was already full before a result came.
#[test]
fn result_outside_a_full_group_ends_the_group() {
    let mut blocks = vec![turn(Role::Assistant, "call_1"); 65];
    blocks.extend([Role::Tool, Role::Assistant, Role::Tool].map(|role| turn(role, "call_1")));
    for (member, group) in [(64, 64..65), (65, 65..66), (66, 66..68)] {
        let mut blocks = blocks.clone();
        blocks.push(tag(member, "pinned"));
        let plan = plan(&blocks, &within(10));
        assert_eq!(pinned(&plan), group.collect::<Vec<_>>(), "{member}");
    }
}

#[test]
fn blocks_with_empty_call_id_are_not_grouped() {
    let result = Block::tool_result("read", Status::Ok, source(3));
    let mut blocks = vec![turn(Role::Assistant, ""), turn(Role::Tool, ""), result];
    blocks.extend([tag(2, "tool_call_id="), tag(1, "pinned")]);
    assert_eq!(pinned(&plan(&blocks, &within(10))), [1]);
}

#[test]
fn only_user_turns_are_the_newest_question() {
    let mut blocks: Vec<_> = (0..40).map(|i| bare_file(&format!("f{i}.rs"), 20)).collect();
    blocks.push(question());
    for role in [Role::System, Role::Assistant, Role::Tool] {
        let mut blocks = blocks.clone();
        blocks.push(Block::conversation(role, source(3)));
        for config in [within(70), by_value(70)] {
            let with = plan(&blocks, &config);
            assert_eq!(with.items[40].decision, RenderDecision::Full, "{role:?}");
            assert_ne!(with.items[41].decision, RenderDecision::Full, "{role:?}");
        }
    }
    // Of two equal turns, the older one comes first.
    for (role, first) in [(Role::System, 0), (Role::Assistant, 0), (Role::Tool, 0), (Role::User, 1)]
    {
        let blocks = vec![Block::conversation(role, source(10)); 2];
        let alone = plan(&blocks[1..], &DriverConfig::default()).used_tokens;
        let plan = plan(&blocks, &within(alone + alone / 2));
        assert_eq!(plan.items[first].decision, RenderDecision::Full, "{role:?}");
        assert_ne!(plan.items[1 - first].decision, RenderDecision::Full, "{role:?}");
    }
}

#[test]
fn newest_question_outranks_every_rank_tag() {
    for level in [Priority::High, Priority::Low] {
        let mut blocks = vec![Block::conversation(Role::User, source(10)); 2];
        let alone = plan(&blocks[1..], &DriverConfig::default()).used_tokens;
        blocks.extend([priority(0, level), priority(1, level), tag(0, "rank=1000")]);
        let room = alone + alone / 2;
        // By value, a Low question is only worth its low priority, so this tests High alone.
        let by_value = (level == Priority::High).then(|| by_value(room));
        for config in by_value.into_iter().chain([within(room)]) {
            let config = DriverConfig { fill: true, ..config };
            let plan = plan(&blocks, &config);
            assert_eq!(plan.items[1].decision, RenderDecision::Full, "{level:?} {config:?}");
            assert_ne!(plan.items[0].decision, RenderDecision::Full, "{level:?} {config:?}");
        }
    }
}

#[test]
fn result_grouped_with_newest_question_gets_its_priority() {
    let result_of = |role, level: Option<Priority>| {
        let mut blocks: Vec<_> = (0..40).map(|i| bare_file(&format!("f{i}.rs"), 5)).collect();
        blocks.push(turn(role, "call_1"));
        blocks.push(Block::tool_result("grep", Status::Ok, source(30)));
        blocks.push(tag(41, "tool_call_id=call_1"));
        blocks.extend(level.map(|level| priority(40, level)));
        let plan = plan(&blocks, &within(1_200));
        (plan.items[41].decision.clone(), plan.items[41].reason)
    };
    // A Normal result comes after all forty files.
    assert_ne!(result_of(Role::Assistant, None).0, RenderDecision::Full);
    assert_eq!(result_of(Role::User, None).0, RenderDecision::Full);
    assert_eq!(
        result_of(Role::User, Some(Priority::High)),
        result_of(Role::Assistant, Some(Priority::High))
    );
    let critical = result_of(Role::User, Some(Priority::Critical));
    assert_eq!(critical, (RenderDecision::Full, DecisionReason::Critical));
}

/// Generates packs with calls and their results among other blocks.
fn any_calls() -> impl Strategy<Value = Vec<Block<'static>>> {
    let calls = prop::collection::vec((0usize..6, 0usize..40, 0usize..5, any::<bool>()), 1..14);
    (any_pack(), calls).prop_map(|(rest, calls)| {
        let mut blocks = Vec::new();
        let mut said = Vec::new();
        for (id, lines, level, is_result) in calls {
            let target = blocks.len() as u64;
            let id = format!("id{id}");
            if is_result {
                blocks.push(Block::tool_result("read", Status::Ok, source(lines)));
                let tag = Tag::new(Tag::TOOL_CALL_ID, id);
                said.push(Block::new(Annotation::tag(target, &tag)));
            } else {
                blocks.push(Block::conversation_with_call(Role::Assistant, source(lines / 4), id));
            }
            if level < 4 {
                said.push(priority(target, Priority::ALL[level + 1]));
            }
        }
        blocks.extend(said);
        // Annotations are left out, because their targets would be wrong after the other blocks.
        blocks.extend(rest.into_iter().filter(|block| block.as_annotation().is_none()));
        blocks
    })
}

/// Returns whether a block is the result of a call rather than a call.
fn is_result(block: &Block<'_>) -> bool {
    match &block.content {
        lcp_types::BlockContent::Conversation(turn) => turn.role == Role::Tool,
        content => !content.is_metadata(),
    }
}

fn call_of<'b>(blocks: &'b [Block<'_>], i: usize) -> Option<String> {
    if let lcp_types::BlockContent::Conversation(turn) = &blocks[i].content {
        return turn.tool_call_id.as_ref().map(ToString::to_string);
    }
    let is_result = is_result(&blocks[i]);
    let of_block = |block: &&'b Block<'_>| {
        block.as_annotation().is_some_and(|annotation| annotation.target_block_id == i as u64)
    };
    let mut tags = blocks.iter().filter(of_block).filter_map(|block| {
        let value = block.as_annotation()?.value.as_str()?;
        value.strip_prefix("tool_call_id=").map(str::to_owned)
    });
    tags.rfind(|_| is_result)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A history stays valid: a call and its results are all in the text, or all missing.
    #[test]
    fn calls_and_results_stay_paired(
        blocks in any_calls(),
        config in any_config(),
        budget in 0u32..1_500,
        shared in any::<bool>(),
    ) {
        let shares = if shared { Some(Shares::agent()) } else { config.shares };
        let config = DriverConfig { token_budget: Some(budget), shares, ..config };
        let plan = plan(&blocks, &config);
        // For each id, its calls in order, and whether each has a result.
        let mut calls: BTreeMap<String, Vec<(Vec<bool>, bool)>> = BTreeMap::new();
        for (i, item) in plan.items.iter().enumerate() {
            let Some(id) = call_of(&blocks, i).filter(|id| !id.is_empty()) else { continue };
            let calls = calls.entry(id).or_default();
            let is_result = is_result(&blocks[i]);
            if calls.last().is_none_or(|(_, answered)| *answered && !is_result) {
                calls.push((Vec::new(), false));
            }
            if let Some((shown, answered)) = calls.last_mut() {
                shown.push(item.decision.is_shown());
                *answered |= is_result;
            }
        }
        // Below the floor, only Critical blocks are shown, and these are complete groups.
        for (shown, _) in calls.values().flatten() {
            prop_assert!(shown.iter().all(|is| *is == shown[0]), "{:?} {:?}", calls, plan);
        }
    }
}
