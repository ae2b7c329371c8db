//! Packs whose segments are shown at one level each.

use expect_test::expect;
use lcp_driver::report::{TableOptions, to_json, to_table};
use lcp_driver::segments::{AllocationReason, PackSegment, PackSegments};
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, Plan, PlanItem, RenderDecision, Rendered};
use lcp_types::{Block, CarriedLevel, Priority, Role, Status};

use super::*;
use crate::packs::{O200K, priority};

/// Returns turns of two blocks: a short question, and a long answer with two summaries.
fn turns(count: usize) -> (Vec<Block<'static>>, Vec<PackSegment>) {
    let (mut blocks, mut levels, mut segments) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..count {
        let start = blocks.len();
        blocks.push(Block::conversation(Role::User, format!("Question {turn}?")));
        let answer = format!("Sentence {turn} of a long answer. ").repeat(40);
        let brief = format!(
            "Answer {turn} in short: it is a long one, and this summary has more words than a line \
             that only names it and counts its tokens."
        );
        blocks.push(Block::conversation(Role::Assistant, answer).with_summary(brief));
        let detailed = format!("Sentence {turn} of a long answer. ").repeat(10);
        levels.push(Block::new(CarriedLevel::Detailed.to_extension(start as u64 + 1, &detailed)));
        segments.push(PackSegment {
            id: format!("s{}", turn + 1),
            blocks: start..start + 2,
            ..PackSegment::default()
        });
    }
    blocks.extend(levels);
    (blocks, segments)
}

fn run_with(
    blocks: &[Block<'_>],
    segments: Vec<PackSegment>,
    options: BudgetAllocationOptions,
    budget: u32,
) -> Rendered {
    let segments = PackSegments::new(segments, options, PreferredSegments::default()).unwrap();
    let config = DriverConfig {
        token_budget: Some(budget),
        segments: Some(segments),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).run(blocks, &config).unwrap()
}

/// Renders with excerpts.
fn run_cut(
    blocks: &[Block<'_>],
    segments: &[PackSegment],
    options: BudgetAllocationOptions,
    budget: u32,
) -> Rendered {
    let focus = PreferredSegments::default();
    let config = DriverConfig {
        token_budget: Some(budget),
        excerpts: Excerpts::On,
        segments: Some(PackSegments::new(segments.to_vec(), options, focus).unwrap()),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).run(blocks, &config).unwrap()
}

fn run(blocks: &[Block<'_>], segments: &[PackSegment], budget: u32) -> Rendered {
    run_with(blocks, segments.to_vec(), BudgetAllocationOptions::default(), budget)
}

fn letters(plan: &Plan) -> String {
    let letter = |level: Option<CompressionLevel>| match level {
        Some(level) => level.name()[..1].to_uppercase(),
        None => "-".into(),
    };
    plan.segments.iter().map(|segment| letter(segment.level)).collect()
}

#[test]
fn pack_shows_each_segment_at_one_level() {
    let (blocks, mut segments) = turns(8);
    segments[0].anchors = vec![0.9; 3];
    let rendered = run(&blocks, &segments, 1_150);
    let plan = &rendered.plan;
    assert_eq!(letters(plan), "DBBBBBFF");
    let reasons: Vec<_> = plan.segments.iter().map(|segment| segment.reason.unwrap()).collect();
    assert_eq!(reasons[0], AllocationReason::ContainsAnchors);
    assert!(reasons[1..6].iter().all(|reason| *reason == AllocationReason::Baseline));
    assert_eq!(reasons[6..], [AllocationReason::Recent; 2]);
    let decisions: Vec<_> = plan.items.iter().map(|item| item.decision.name()).collect();
    assert_eq!(decisions[..6], ["full", "detailed", "full", "summary", "full", "summary"]);
    assert_eq!(decisions[12..16], ["full"; 4]);
    assert!(rendered.text.contains("Answer 5 in short") && !rendered.text.contains("Sentence 5"));
    assert_eq!(rendered.text.matches("Sentence 7").count(), 40);

    let all = run(&blocks, &segments, 100_000);
    assert_eq!(letters(&all.plan), "FFFFFFFF");
}

/// With every budget the text fits, and the newest segments are full whenever that fits.
#[test]
fn segmented_text_never_exceeds_its_budget() {
    let (blocks, segments) = turns(8);
    let most = run(&blocks, &segments, 100_000).plan.used_tokens;
    let mut seen = String::new();
    for budget in (0..most + 20).step_by(13) {
        let rendered = run(&blocks, &segments, budget);
        let plan = &rendered.plan;
        assert!(plan.used_tokens <= budget, "{budget}");
        let sum: u32 = plan.items.iter().map(|item| item.tokens).sum();
        assert_eq!(sum + plan.overhead_tokens, plan.used_tokens, "{budget}");
        let shown = letters(plan);
        // A turn has about 340 tokens, and everything around it less than 60.
        assert!(budget < 400 || shown.ends_with('F'), "{budget}: {shown}");
        assert!(budget < 740 || shown.ends_with("FF"), "{budget}: {shown}");
        seen += &shown;
    }
    assert!("FDBT-".chars().all(|level| seen.contains(level)), "{seen}");
}

#[test]
fn critical_blocks_are_full_and_background_blocks_are_not_shown() {
    let (mut blocks, segments) = turns(6);
    blocks.extend([priority(1, Priority::Critical), priority(3, Priority::Background)]);
    let plan = run(&blocks, &segments, 1_250).plan;
    let decisions: Vec<_> = plan.items.iter().map(|item| item.decision.name()).collect();
    assert_eq!((decisions[1], decisions[3], decisions[7]), ("full", "omit", "summary"));
    assert_eq!(decisions[8..12], ["full"; 4]);
}

#[test]
fn segment_options_change_the_levels_of_a_pack() {
    let (blocks, segments) = turns(8);
    let with = |options| letters(&run_with(&blocks, segments.clone(), options, 1_900).plan);
    let default = BudgetAllocationOptions::default();
    let lifted = with(BudgetAllocationOptions { compression_aggressiveness: 0.0, ..default });
    let unlifted = with(BudgetAllocationOptions { compression_aggressiveness: 1.0, ..default });
    assert_eq!((lifted.as_str(), unlifted.as_str()), ("BBBFFFFF", "BBBBBBFF"));
}

#[test]
fn report_lists_segments_with_reasons() {
    let (blocks, mut segments) = turns(4);
    segments[1].anchors = vec![0.5];
    let plan = run(&blocks, &segments, 900).plan;
    let table = to_table(&plan, &TableOptions::default());
    let from = table.find("Segments:").unwrap();
    let section = table[from..].split("\n\n").next().unwrap();
    expect![[r"
        Segments:
          s1  blocks 0–1  Brief      56 tokens  Baseline
          s2  blocks 2–3  Detailed  108 tokens  Contains Anchors
          s3  blocks 4–5  Full      343 tokens  Recent
          s4  blocks 6–7  Full      343 tokens  Recent"]]
    .assert_eq(section);
    let json: serde_json::Value = serde_json::from_str(&to_json(&plan)).unwrap();
    expect![[r#"{"first_block":2,"id":"s2","last_block":3,"level":"detailed","reason":"contains_anchors","tokens":108}"#]].assert_eq(&json["segments"][1].to_string());
    assert!(!to_json(&run(&blocks, &[], 10).plan).contains("\"segments\""));
}

/// A large tool result in the newest segment does not leave most of the budget unused.
#[test]
fn excerpts_of_the_newest_segment_use_leftover_tokens() {
    let (mut blocks, mut segments) = turns(2);
    let lines: Vec<_> = (0..900).map(|line| format!("{line}: one more line of a log\n")).collect();
    let start = blocks.len();
    blocks.extend([
        Block::conversation(Role::User, "Why does it fail?"),
        Block::tool_result("run", Status::Ok, lines.concat())
            .with_summary("The log has 900 lines, and it ends well."),
    ]);
    let blocks_of_turn = start..start + 2;
    segments.push(PackSegment { id: "s3".into(), blocks: blocks_of_turn, ..segments[0].clone() });
    let options = BudgetAllocationOptions::default();
    let plan = run_cut(&blocks, &segments, options, 2_000).plan;
    assert!(matches!(plan.items[start + 1].decision, RenderDecision::Excerpt(_)));
    assert!(plan.used_tokens >= 1_900, "{}", plan.used_tokens);
    // The other of the last two segments is served before leftover tokens are spent.
    assert_eq!(plan.segments[1].level, Some(CompressionLevel::Full));
    let tokens = |range: std::ops::Range<usize>| {
        plan.items[range].iter().map(|item| item.tokens).sum::<u32>()
    };
    for segment in &plan.segments {
        assert_eq!(segment.tokens, tokens(segment.blocks.clone()), "{}", segment.id);
    }
    let without = run_with(&blocks, segments, options, 2_000).plan;
    assert!(without.used_tokens < 1_000, "{}", without.used_tokens);
}

/// Older segments get only the fraction of leftover tokens that `compression_aggressiveness`
/// leaves.
#[test]
fn full_aggressiveness_gives_older_segments_no_excerpts() {
    let (blocks, segments) = turns(8);
    let with = |compression_aggressiveness| {
        let options = BudgetAllocationOptions { compression_aggressiveness, ..Default::default() };
        let plan = run_cut(&blocks, &segments, options, 1_600).plan;
        let cut = |item: &&PlanItem| matches!(item.decision, RenderDecision::Excerpt(_));
        (plan.items.iter().filter(cut).count(), plan.used_tokens)
    };
    let ((none, least), (some, most)) = (with(1.0), with(0.0));
    assert_eq!(none, 0);
    assert!(some > 0 && most > least, "{some} excerpts, {most} tokens instead of {least}");
}

#[test]
fn segmented_text_with_excerpts_never_exceeds_its_budget() {
    let (blocks, segments) = turns(8);
    for budget in (0..3_000).step_by(29) {
        let options = BudgetAllocationOptions::default();
        let cut = run_cut(&blocks, &segments, options, budget).plan;
        let whole = run(&blocks, &segments, budget).plan;
        assert!(cut.used_tokens <= budget, "{budget}");
        assert!(cut.used_tokens >= whole.used_tokens, "{budget}");
        assert_eq!(letters(&cut), letters(&whole), "{budget}");
    }
}
