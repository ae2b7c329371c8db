//! Unusable previous plans: each gives a reason, and a new plan is made.

use std::sync::Arc;

use expect_test::expect;
use lcp_driver::prompt_cache::{PreviousPlan, TextReuse};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Plan, Verbosity, WarningCode};
use lcp_types::{Annotation, Block, BlockType, DataFormat, Lang, Role, Tag};

use super::{Caller, has_warning, saved, stable_of};
use crate::packs::{CL100K, bare_file};

fn blocks() -> Vec<Block<'static>> {
    vec![bare_file("a.rs", 3), Block::conversation(Role::User, "Why?")]
}

/// Returns a caller after a first turn.
fn caller() -> Caller {
    let mut caller = Caller::new(1_000);
    caller.config.mode = OutputMode::Xml;
    caller.turn(&blocks());
    caller
}

/// Returns the reason for which a previous plan was refused.
fn refusal(plan: &Plan) -> String {
    let code = WarningCode::PreviousRefused;
    let warning = plan.warnings.iter().find(|warning| warning.code == code).unwrap();
    let stable = stable_of(plan);
    assert_eq!((stable.reuse, stable.repack_reason), (TextReuse::Fresh, None));
    assert_eq!((stable.kept_bytes, stable.kept_tokens, stable.previous_tokens), (0, 0, 0));
    let said = "discarded the previous plan and started a new one: ";
    warning.message.strip_prefix(said).unwrap().to_owned()
}

#[test]
fn plan_of_another_pack_mode_or_type_filter_is_refused() {
    let mut said = Vec::new();
    let mut other = blocks();
    other.remove(0);
    let fresh = Caller { previous: None, ..caller() }.turn(&other);
    let refused = caller().turn(&other);
    // The plan is the same as without the previous one.
    assert_eq!(refused.text, fresh.text);
    assert_eq!(stable_of(&refused.plan), stable_of(&fresh.plan));
    said.push(refusal(&refused.plan));
    let changed = [bare_file("a.rs", 4), Block::conversation(Role::User, "Why?")];
    said.push(refusal(&caller().turn(&changed).plan));
    let mut markdown = caller();
    markdown.config.mode = OutputMode::Markdown;
    said.push(refusal(&markdown.turn(&blocks()).plan));
    let mut turns = caller();
    turns.config.types = Some(vec![BlockType::Conversation]);
    said.push(refusal(&turns.turn(&blocks()).plan));
    expect![[r"
        the block of its part 0 is not in this pack, or is filtered out
        the block of its part 0 is not in this pack, or is filtered out
        its mode is xml, not markdown
        the block of its part 0 is not in this pack, or is filtered out"]]
    .assert_eq(&said.join("\n"));
}

/// A part is rendered again from the plan, so the plan needs the tags that heads show.
#[test]
fn tags_in_heads_keep_the_plan_usable() {
    let tag = |target, key: &'static str, value: &'static str| {
        Block::new(Annotation::tag(target, &Tag::new(key, value)))
    };
    let blocks = [
        Block::code(Lang::Unknown, "a.kt", "class A"),
        Block::structured_data(DataFormat::Csv, "a,b\n1,2\n"),
        Block::diff("b.rs", Vec::new()),
        tag(0, Tag::LANG, "kotlin"),
        tag(1, Tag::PATH, "data/a.csv"),
        tag(2, Tag::RENAMED_FROM, "c.rs"),
    ];
    let mut caller = Caller::new(1_000);
    caller.config.mode = OutputMode::Xml;
    let first = caller.turn(&blocks);
    for shown in ["lang=\"kotlin\"", "data/a.csv", "c.rs"] {
        assert!(first.text.contains(shown), "{}", first.text);
    }
    let second = caller.turn(&blocks);
    assert_eq!(second.text, first.text);
    assert!(!has_warning(&second.plan, WarningCode::PreviousRefused), "{:?}", second.plan.warnings);
    assert_ne!(stable_of(&second.plan).reuse, TextReuse::Fresh);
}

#[test]
fn plan_of_another_encoding_is_refused() {
    let stable = lcp_driver::prompt_cache::StableOptions {
        previous: caller().previous,
        ..Default::default()
    };
    let config = DriverConfig { stable: Some(stable), ..caller().config };
    let plan = DefaultDriver::new(CL100K).plan(&blocks(), &config).unwrap();
    expect![[r#"its token counts are for "o200k_base", not "cl100k_base""#]]
        .assert_eq(&refusal(&plan));
}

/// Returns the plan with a change and the matching checksum.
fn edited(plan: &PreviousPlan, from: &str, to: &str) -> PreviousPlan {
    let json = plan.to_json();
    assert!(json.contains(from), "{json}");
    let json = json.replacen(from, to, 1);
    let end = json.rfind("\"check\":\"").unwrap();
    let check = &blake3::hash(&json.as_bytes()[..end]).to_hex()[..32];
    let json = format!("{}\"check\":\"{check}\"}}\n", &json[..end]);
    PreviousPlan::from_json(&json).unwrap()
}

#[test]
fn edited_plan_is_refused() {
    let edits = [
        ("\"renderer\":4", "\"renderer\":2"),
        ("\"detail\":\"full\"", "\"detail\":\"placeholder\""),
        ("\"detail\":\"full\"", "\"detail\":\"summary\",\"level\":\"three values\""),
        (
            "\"detail\":\"full\"",
            "\"detail\":\"excerpt\",\"excerpt\":{\"head_bytes\":9999999,\"tail_bytes\":1,\
             \"omitted_lines\":1,\"omitted_tokens\":1}",
        ),
        ("\"cost\":", "\"priority\":\"high\",\"cost\":"),
    ];
    let mut said = Vec::new();
    for (from, to) in edits {
        let mut caller = caller();
        let plan = edited(caller.previous.as_ref().unwrap(), from, to);
        caller.previous = Some(Arc::new(plan));
        said.push(refusal(&caller.turn(&blocks()).plan));
    }
    expect![[r"
        it was written by renderer version 2, this is version 4
        its part 0 differs from the rendered block
        its part 0 differs from the rendered block
        its part 0 differs from the rendered block
        its part 0 differs from the rendered block"]]
    .assert_eq(&said.join("\n"));
}

/// A previous plan with wrong costs cannot make a text exceed its budget.
#[test]
fn understated_costs_do_not_exceed_the_budget() {
    let mut caller = caller();
    let previous = caller.previous.take().unwrap();
    let json = previous.to_json();
    let cost = json.split_once("\"cost\":").unwrap().1.split_once(',').unwrap().0.to_owned();
    let cheap = edited(&previous, &format!("\"cost\":{cost}"), "\"cost\":1");
    caller.previous = Some(Arc::new(cheap));
    caller.config.token_budget = Some(30);
    let rendered = caller.turn(&blocks());
    assert!(rendered.plan.used_tokens <= 30, "{}", rendered.text);
}

#[test]
fn only_removal_of_a_shown_block_refuses_the_plan() {
    let mut caller = Caller::new(500);
    let mut blocks: Vec<_> = (0..40).map(|i| bare_file(&format!("{i}.rs"), 6)).collect();
    blocks.push(Block::conversation(Role::User, "Why?"));
    let first = caller.turn(&blocks);
    let gone = first.plan.items.iter().position(|item| !item.decision.is_shown()).unwrap();
    blocks.remove(gone);
    assert_eq!(stable_of(&caller.peek(&blocks).plan).reuse, TextReuse::Appended);
    let shown = stable_of(&first.plan).order[0];
    blocks.remove(shown);
    assert!(has_warning(&caller.peek(&blocks).plan, WarningCode::PreviousRefused));
}

#[test]
fn stable_plans_need_a_budget_and_adaptive_verbosity() {
    let mut caller = caller();
    caller.config.token_budget = None;
    let without = caller.peek(&blocks()).plan;
    caller.config =
        DriverConfig { token_budget: Some(1_000), verbosity: Verbosity::Summary, ..caller.config };
    let by_summary = caller.peek(&blocks()).plan;
    for plan in [without, by_summary] {
        assert_eq!(plan.stable, None);
        assert!(has_warning(&plan, WarningCode::NoEffect));
    }
    // The saved plan is unchanged.
    caller.config.verbosity = Verbosity::Adaptive;
    let plan = caller.peek(&blocks()).plan;
    assert_eq!(
        (stable_of(&plan).reuse, saved(&plan)),
        (TextReuse::Appended, caller.previous.unwrap())
    );
}
