//! Examples of texts from turn to turn.

use expect_test::expect;
use lcp_driver::prompt_cache::{RepackReason, TextReuse};
use lcp_driver::{DecisionReason, Rendered, WarningCode};
use lcp_types::{Annotation, Block, Lang, Priority, Role};

use super::{Caller, has_warning, stable_of};
use crate::packs::{bare_file, file, priority, tag};

fn user(text: &str) -> Block<'_> {
    Block::conversation(Role::User, text)
}

fn reuse(rendered: &Rendered) -> (TextReuse, Option<RepackReason>) {
    let stable = stable_of(&rendered.plan);
    (stable.reuse, stable.repack_reason)
}

fn decisions(rendered: &Rendered) -> Vec<&'static str> {
    rendered.plan.items.iter().map(|item| item.decision.name()).collect()
}

const APPENDED: (TextReuse, Option<RepackReason>) = (TextReuse::Appended, None);
const FULL: (TextReuse, Option<RepackReason>) =
    (TextReuse::Repacked, Some(RepackReason::HighWatermark));

#[test]
fn new_blocks_are_appended_regardless_of_pack_order() {
    let mut caller = Caller::new(1_000);
    let mut blocks = vec![user("What is a pack?"), bare_file("a.rs", 2)];
    caller.turn(&blocks);
    blocks.insert(1, Block::conversation(Role::Assistant, "A stream of blocks."));
    blocks.insert(0, Block::conversation(Role::System, "Be brief."));
    blocks.push(user("And a block?"));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    assert_eq!(stable_of(&second.plan).order, [1, 3, 0, 2, 4]);
    expect![[r#"
        [user] What is a pack?
        [code a.rs]
        let value_0 = compute(0, "text");
        let value_1 = compute(1, "text");

        [system] Be brief.
        [assistant] A stream of blocks.
        [user] And a block?
    "#]]
    .assert_eq(&second.text);
}

/// Returns three files. The third does not fit, and is rolled up or a placeholder.
fn files() -> Vec<Block<'static>> {
    vec![file("a.rs", 20), bare_file("b.rs", 20), file("c.rs", 60), user("Why?")]
}

#[test]
fn annotations_of_old_blocks_apply_at_the_next_repack() {
    let mut caller = Caller::new(800);
    let mut blocks = files();
    let first = caller.turn(&blocks);
    assert_eq!(decisions(&first), ["full", "full", "summary", "full"]);
    blocks.extend([
        priority(0, Priority::High),
        priority(1, Priority::Low),
        Block::new(Annotation::summary(1, "twenty values")),
        tag(2, "category=odd"),
        // This is a copy of the second file.
        bare_file("b.rs", 20),
    ]);
    blocks[2].summary = Some("sixty values".into());
    blocks.pop();
    blocks.push(user("And then?"));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    assert_eq!(second.text, format!("{}[user] And then?\n", first.text));
    let reasons = second.plan.items[..4].iter().map(|item| item.reason);
    assert!(reasons.eq([DecisionReason::Unchanged; 4]));
    // The plan has the current priorities of the pack.
    assert_eq!(second.plan.items[0].priority, Priority::High);
    blocks.push(bare_file("d.rs", 10));
    assert_eq!(reuse(&caller.turn(&blocks)), APPENDED);
    blocks.push(bare_file("e.rs", 10));
    let third = caller.turn(&blocks);
    assert_eq!(reuse(&third), FULL);
    assert!(third.text.contains("twenty values") && third.text.contains("sixty values"));
    assert_eq!(decisions(&third)[..3], ["full", "summary", "summary"]);
}

#[test]
fn text_grows_to_high_watermark_then_repacks_to_low() {
    let mut caller = Caller::new(1_000);
    let mut blocks = Vec::new();
    let mut sizes = Vec::new();
    for turn in 0..14 {
        blocks.push(bare_file(&format!("{turn}.rs"), 8));
        blocks.push(user("Go on."));
        let rendered = caller.turn(&blocks);
        let stable = stable_of(&rendered.plan);
        assert_eq!((stable.high_tokens, stable.low_tokens), (900, 700));
        let mark = if stable.reuse == TextReuse::Repacked { 700 } else { 900 };
        assert!(rendered.plan.used_tokens <= mark);
        sizes.push(format!("{} {}", stable.reuse.name(), rendered.plan.used_tokens));
    }
    expect![[r"
        fresh 107
        appended 214
        appended 321
        appended 428
        appended 535
        appended 642
        appended 749
        appended 856
        repacked 693
        appended 800
        repacked 637
        appended 744
        appended 851
        repacked 688"]]
    .assert_eq(&sizes.join("\n"));
}

#[test]
fn block_becoming_critical_or_pinned_forces_a_repack() {
    for said in [priority(2, Priority::Critical), tag(2, "pinned")] {
        let mut caller = Caller::new(800);
        let mut blocks = files();
        caller.turn(&blocks);
        blocks.push(said);
        blocks.push(bare_file("d.rs", 1));
        let second = caller.turn(&blocks);
        assert_eq!(reuse(&second), (TextReuse::Repacked, Some(RepackReason::BecameCritical)));
        assert_eq!(decisions(&second)[2], "full");
    }
}

#[test]
fn full_block_becoming_critical_is_not_moved() {
    for said in [priority(0, Priority::Critical), tag(0, "pinned")] {
        let mut caller = Caller::new(800);
        let mut blocks = files();
        let first = caller.turn(&blocks);
        blocks.push(said);
        let second = caller.turn(&blocks);
        assert_eq!((reuse(&second), &second.text), (APPENDED, &first.text));
    }
}

#[test]
fn critical_blocks_above_low_watermark_do_not_repack() {
    let mut caller = Caller::new(1_000);
    let mut blocks = vec![bare_file("a.rs", 62), priority(0, Priority::Critical), user("Why?")];
    let first = caller.turn(&blocks);
    assert!((700..900).contains(&first.plan.used_tokens), "{}", first.plan.used_tokens);
    blocks.push(bare_file("b.rs", 13));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), (TextReuse::Appended, Some(RepackReason::CriticalAboveLow)));
    assert!(second.text.starts_with(&first.text));
    assert!((901..=1_000).contains(&second.plan.used_tokens));
    let code = WarningCode::AboveWatermark;
    let warning = second.plan.warnings.iter().find(|warning| warning.code == code).unwrap();
    expect!["the text has 914 tokens, above the high watermark of 900; repacking would not help: critical and pinned blocks and the newest user turn alone reach the low watermark"].assert_eq(&warning.message);
    // A turn without new blocks gives the same result.
    let again = caller.peek(&blocks);
    assert_eq!(reuse(&again), (TextReuse::Appended, Some(RepackReason::CriticalAboveLow)));
    assert_eq!(again.text, second.text);
    // A new Critical block is shown in full even if it does not fit after the text.
    blocks.extend([bare_file("c.rs", 9), priority(4, Priority::Critical)]);
    let third = caller.turn(&blocks);
    assert_eq!(reuse(&third), FULL);
    assert_eq!(decisions(&third)[4], "full");
    assert!(third.plan.used_tokens <= 1_000);
}

#[test]
fn turn_larger_than_watermark_gap_is_appended() {
    let mut caller = Caller::new(1_000);
    let mut blocks = vec![bare_file("a.rs", 55), user("Why?")];
    let first = caller.turn(&blocks);
    assert!((600..700).contains(&first.plan.used_tokens), "{}", first.plan.used_tokens);
    blocks.push(bare_file("b.rs", 20));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), (TextReuse::Appended, Some(RepackReason::TurnAboveGap)));
    assert!((901..=1_000).contains(&second.plan.used_tokens));
    assert!(has_warning(&second.plan, WarningCode::AboveWatermark));
    // A small new block causes a repack then.
    blocks.push(user("And then?"));
    let third = caller.turn(&blocks);
    assert_eq!(reuse(&third), FULL);
    assert!(third.plan.used_tokens <= 700);
    assert!(!has_warning(&third.plan, WarningCode::AboveWatermark));
}

#[test]
fn tail_follows_the_stable_prefix_and_changes() {
    let mut caller = Caller::new(700);
    let mut blocks: Vec<_> = (0..40).map(|i| bare_file(&format!("{i}.rs"), 6)).collect();
    blocks.push(user("Why?"));
    let first = caller.turn(&blocks);
    let (prefix, tail) = first.text.split_at(stable_of(&first.plan).prefix_bytes);
    expect![[r"
        [omitted: 34 blocks ~2448tok]
    "]]
    .assert_eq(tail);
    // A deferred block is not missed.
    blocks.remove(39);
    blocks.push(user("And then?"));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    let tail = second.text.strip_prefix(prefix).unwrap();
    expect![[r"
        [user] And then?
        [omitted: 33 blocks ~2376tok]
    "]]
    .assert_eq(tail);
}

/// Returns a tool call and its result.
fn pair(call: &str, lines: usize) -> Vec<Block<'static>> {
    let said = format!("Reading {call}.");
    let content = crate::packs::source(lines);
    vec![
        Block::conversation_with_call(Role::Assistant, said, call.to_owned()),
        Block::tool_result("read", lcp_types::Status::Ok, content),
    ]
}

#[test]
fn tool_result_is_appended_after_its_call() {
    let mut caller = Caller::new(1_000);
    let mut blocks = vec![user("Read it."), pair("call_1", 0).swap_remove(0)];
    let first = caller.turn(&blocks);
    blocks.extend([pair("call_1", 9).swap_remove(1), tag(2, "tool_call_id=call_1")]);
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    assert!(second.text.starts_with(&first.text));
    assert!(second.text[first.text.len()..].starts_with("[tool-result read #call_1]\n"));
}

#[test]
fn result_of_an_omitted_call_forces_one_repack() {
    let mut caller = Caller::new(1_000);
    let mut blocks: Vec<_> = (0..60).map(|i| bare_file(&format!("{i}.rs"), 6)).collect();
    blocks.push(pair("call_1", 0).swap_remove(0));
    blocks.push(priority(60, Priority::Background));
    blocks.push(user("Why?"));
    let first = caller.turn(&blocks);
    assert_eq!(decisions(&first)[60], "omit");
    blocks.extend([pair("call_1", 2).swap_remove(1), tag(63, "tool_call_id=call_1")]);
    blocks.push(priority(63, Priority::High));
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), (TextReuse::Repacked, Some(RepackReason::SplitToolCall)));
    assert_eq!((decisions(&second)[60], decisions(&second)[63]), ("full", "full"));
    let third = caller.turn(&blocks);
    assert_eq!((reuse(&third), third.text), (APPENDED, second.text));
}

/// Of several equal blocks, the Critical one is shown in full.
#[test]
fn equal_blocks_with_one_critical_do_not_repack() {
    let blocks = [
        bare_file("a.rs", 20),
        bare_file("a.rs", 20),
        priority(0, Priority::Background),
        priority(1, Priority::Critical),
        bare_file("large.rs", 200),
        user("Why?"),
    ];
    let mut caller = Caller::new(400).marks(1.0, 0.9);
    let first = caller.turn(&blocks);
    assert_eq!(decisions(&first)[..2], ["omit", "full"], "{}", first.text);
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    assert_eq!(first.text, second.text);
}

/// A block that was lowered or cut when it was added stays like that.
#[test]
fn excerpts_stay_unchanged_between_turns() {
    let mut caller = Caller::new(500);
    caller.config.fill = true;
    let large = Block::code(Lang::Rust, "a.rs", crate::packs::source(200));
    let mut blocks = vec![large, user("Why?")];
    let first = caller.turn(&blocks);
    assert_eq!(decisions(&first), ["excerpt", "full"]);
    blocks.push(user("And then?"));
    // A larger budget does not change it.
    caller.config.token_budget = Some(50_000);
    let second = caller.turn(&blocks);
    assert_eq!(reuse(&second), APPENDED);
    assert_eq!(second.text, format!("{}[user] And then?\n", first.text));
}
