//! Additional detail levels of a block in a pack (RFC 0004 §6).

use expect_test::expect;
use lcp_driver::parse::{PartKind, parse};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Plan, Rendered, WarningCode};
use lcp_types::{Block, CarriedLevel, Priority};

use crate::packs::{O200K, bare_file, file, priority};

fn carried(level: CarriedLevel, target: u64, text: &str) -> Block<'static> {
    Block::new(level.to_extension(target, text))
}

/// Returns a file with every detail level.
fn every_level() -> Vec<Block<'static>> {
    vec![
        file("src/a.rs", 80),
        carried(
            CarriedLevel::Detailed,
            0,
            "let value_0 .. let value_79: each computed of its number\nand a text",
        ),
        carried(CarriedLevel::Tags, 0, "lets"),
    ]
}

fn run(blocks: &[Block<'_>], budget: u32, mode: OutputMode) -> Rendered {
    let config = DriverConfig { token_budget: Some(budget), mode, ..DriverConfig::default() };
    DefaultDriver::new(O200K).run(blocks, &config).unwrap()
}

fn decisions(plan: &Plan) -> Vec<&'static str> {
    plan.items.iter().map(|item| item.decision.name()).collect()
}

/// As the budget decreases, the block is shown at one level after the other.
#[test]
fn block_passes_every_level_as_the_budget_shrinks() {
    let blocks = every_level();
    let mut seen = Vec::new();
    for budget in (0..1_200).rev() {
        let decided = decisions(&run(&blocks, budget, OutputMode::Xml).plan);
        assert_eq!(decided[1..], ["metadata", "metadata"]);
        if seen.last() != Some(&decided[0]) {
            seen.push(decided[0]);
        }
    }
    let levels = ["full", "detailed", "summary", "tags", "placeholder", "rolled_up", "omit"];
    assert_eq!(seen, levels);
}

#[test]
fn every_mode_names_the_level() {
    let blocks = every_level();
    let texts: Vec<_> = OutputMode::ALL.map(|mode| run(&blocks, 60, mode).text).to_vec();
    expect![[r#"
        <context>
        <code lang="rust" path="src/a.rs" detail="detailed">
        let value_0 .. let value_79: each computed of its number
        and a text
        </code>
        </context>
        ---
        ### code src/a.rs (detailed)
        let value_0 .. let value_79: each computed of its number
        and a text
        ---
        [code src/a.rs (detailed)]
        let value_0 .. let value_79: each computed of its number
        and a text
    "#]]
    .assert_eq(&texts.join("---\n"));
    let tags: Vec<_> = OutputMode::ALL
        .map(|mode| {
            (10..60)
                .map(|budget| run(&blocks, budget, mode).text)
                .find(|text| text.contains("tags"))
                .unwrap_or_default()
        })
        .to_vec();
    expect![[r#"
        <context>
        <code lang="rust" path="src/a.rs" detail="tags">
        lets
        </code>
        </context>
        ---
        ### code src/a.rs (tags)
        lets
        ---
        [code src/a.rs (tags)]
        lets
    "#]]
    .assert_eq(&tags.join("---\n"));
}

#[test]
fn level_is_parsed_from_rendered_text() {
    let blocks = every_level();
    for mode in OutputMode::ALL {
        let text = run(&blocks, 60, mode).text;
        let pieces = parse(&text, mode).unwrap();
        assert_eq!(pieces[0].kind, PartKind::Detailed, "{text}");
        let body = "let value_0 .. let value_79: each computed of its number\nand a text";
        assert_eq!(pieces[0].body.as_deref(), Some(body));
    }
}

/// A Low block's ceiling is its fullest level in the pack.
#[test]
fn low_blocks_are_shown_at_their_fullest_carried_level() {
    let mut blocks = every_level();
    blocks.push(priority(0, Priority::Low));
    assert_eq!(decisions(&run(&blocks, 10_000, OutputMode::Xml).plan)[0], "detailed");
}

#[test]
fn bad_levels_are_ignored_with_a_warning() {
    for content in ["", "0 detailed", "0 brief\ntext", "x tags\ntext", "9 tags\ntext", "-1 tags\nt"]
    {
        let blocks = [file("a.rs", 80), Block::extension("lcp", "level", content)];
        let plan = run(&blocks, 60, OutputMode::Xml).plan;
        assert_eq!(decisions(&plan), ["summary", "metadata"], "{content:?}");
        let codes: Vec<_> = plan.warnings.iter().map(|w| (w.code, w.block)).collect();
        assert_eq!(codes, [(WarningCode::BadAnnotation, Some(1))], "{content:?}");
    }
    let blocks = [file("a.rs", 80), Block::extension("lcp", "level", b"0 tags\n\xff".to_vec())];
    let plan = run(&blocks, 60, OutputMode::Xml).plan;
    assert_eq!(
        plan.warnings[0].to_string(),
        "level ignored: text is not UTF-8 [bad_annotation] (block 1)"
    );
}

/// A level that does not cost less than a fuller one is never used, and the report says so with
/// both costs.
#[test]
fn level_costlier_than_a_fuller_one_is_not_used() {
    let detailed = "word ".repeat(3_000);
    let blocks = [bare_file("a.rs", 20), carried(CarriedLevel::Detailed, 0, &detailed)];
    for budget in 0..4_000 {
        let plan = run(&blocks, budget, OutputMode::Xml).plan;
        assert_ne!(decisions(&plan)[0], "detailed");
        assert!(plan.used_tokens <= budget);
    }
    let plan = run(&blocks, 4_000, OutputMode::Xml).plan;
    assert_eq!(plan.warnings[0].code, WarningCode::CostlyLevel);
    expect!["ignored level detailed: it costs 3,020 tokens, no less than a fuller level (254) [costly_level] (block 0)"].assert_eq(&plan.warnings[0].to_string());
}

/// The last level of a kind wins, and an empty one removes the level.
#[test]
fn last_level_of_a_kind_wins() {
    let mut blocks = every_level();
    blocks.push(carried(CarriedLevel::Detailed, 0, "another"));
    assert!(run(&blocks, 60, OutputMode::Xml).text.contains("\nanother\n"));
    blocks.push(carried(CarriedLevel::Detailed, 0, ""));
    assert_eq!(decisions(&run(&blocks, 60, OutputMode::Xml).plan)[0], "summary");
}
