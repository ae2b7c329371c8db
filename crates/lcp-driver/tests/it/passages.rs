//! Blocks with passages: the lines that a question needs are shown first (RFC 0014).

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use expect_test::expect;
use lcp_driver::budget::TokenEstimator;
use lcp_driver::parse::{PartKind, parse_blocks};
use lcp_driver::{
    DefaultDriver, DriverConfig, Excerpts, Objective, OutputMode, RenderDecision, Rendered,
    ValueModel,
};
use lcp_types::{Block, DataFormat, Lang, Priority};
use proptest::prelude::*;

use crate::packs::{O200K, bare_file, file, priority, tag};

fn config(budget: u32, mode: OutputMode) -> DriverConfig {
    DriverConfig {
        token_budget: Some(budget),
        mode,
        excerpts: Excerpts::On,
        ..DriverConfig::default()
    }
}

fn run(blocks: &[Block<'_>], budget: u32, mode: OutputMode) -> Rendered {
    let rendered = DefaultDriver::new(O200K).run(blocks, &config(budget, mode)).unwrap();
    assert_eq!(O200K.estimate(&rendered.text), rendered.plan.used_tokens);
    assert!(rendered.plan.used_tokens <= budget);
    rendered
}

fn lines(rendered: &Rendered, block: usize) -> &[(u32, u32)] {
    match &rendered.plan.items[block].decision {
        RenderDecision::Excerpt(excerpt) => &excerpt.lines,
        _ => &[],
    }
}

fn decisions(rendered: &Rendered) -> Vec<&'static str> {
    rendered.plan.items.iter().map(|item| item.decision.name()).collect()
}

/// Returns a file of 30 functions with three lines and a blank line each.
fn functions(path: &str) -> Block<'static> {
    let function = |at| format!("fn function_{at}(x: u32) -> u32 {{\n    x * {at} + 1\n}}\n\n");
    Block::code(Lang::Rust, path.to_owned(), (0..30).map(function).collect::<String>())
}

#[test]
fn excerpt_shows_the_best_passages_and_marks_the_gaps() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=1-8:100 41-43:900 57-59:500 61-63:600")];
    let rendered = run(&blocks, 140, OutputMode::Xml);
    expect![[r#"
        <context>
        <code lang="rust" path="src/a.rs" detail="excerpt">
        …
        fn function_10(x: u32) -> u32 {
            x * 10 + 1
        }
        …
        fn function_14(x: u32) -> u32 {
            x * 14 + 1
        }

        fn function_15(x: u32) -> u32 {
            x * 15 + 1
        }
        … 110 lines, ~618 tokens omitted …
        </code>
        </context>
    "#]]
    .assert_eq(&rendered.text);
    assert_eq!(lines(&rendered, 0), [(41, 43), (57, 63)]);
    let rendered = run(&blocks, 165, OutputMode::Minimal);
    expect![[r#"
        [code src/a.rs (excerpt)]
        fn function_0(x: u32) -> u32 {
            x * 0 + 1
        }

        fn function_1(x: u32) -> u32 {
            x * 1 + 1
        }

        …
        fn function_10(x: u32) -> u32 {
            x * 10 + 1
        }
        …
        fn function_14(x: u32) -> u32 {
            x * 14 + 1
        }

        fn function_15(x: u32) -> u32 {
            x * 15 + 1
        }
        … 102 lines, ~571 tokens omitted …
    "#]]
    .assert_eq(&rendered.text);
    let rendered = run(&blocks, 90, OutputMode::Markdown);
    expect![[r#"
        ### code src/a.rs (excerpt)
        ```rust
        …
        fn function_10(x: u32) -> u32 {
            x * 10 + 1
        }
        …
        fn function_15(x: u32) -> u32 {
            x * 15 + 1
        }
        … 114 lines, ~642 tokens omitted …
        ```
    "#]]
    .assert_eq(&rendered.text);
}

/// A block of which all lines are passages is shown in full if it fits.
#[test]
fn block_is_full_if_all_of_its_lines_fit() {
    let blocks = [
        functions("src/a.rs"),
        bare_file("src/b.rs", 4_000),
        tag(0, "passages=1-60:300 61-120:200"),
        tag(0, "rank=1"),
    ];
    let rendered = run(&blocks, 2_000, OutputMode::Xml);
    assert_eq!(decisions(&rendered)[..2], ["full", "excerpt"]);
}

#[test]
fn passages_are_chosen_across_blocks_by_score() {
    let blocks = [
        functions("src/a.rs"),
        functions("src/b.rs"),
        tag(0, "passages=1-4:900 9-12:100 21-60:90"),
        tag(1, "passages=5-8:800 17-20:700 41-90:80"),
        tag(0, "rank=2"),
        tag(1, "rank=1"),
    ];
    let rendered = run(&blocks, 230, OutputMode::Xml);
    // The last tokens show the beginning of the next passage.
    assert_eq!(lines(&rendered, 0)[..2], [(1, 4), (9, 12)]);
    assert_eq!(lines(&rendered, 1), [(5, 8), (17, 20)]);
    // The lower rank of the second file does not matter.
    let rendered = run(&blocks, 155, OutputMode::Xml);
    assert_eq!(lines(&rendered, 0), [(1, 4)]);
    assert_eq!(lines(&rendered, 1), [(5, 8), (17, 20)]);
}

/// Files without passages are named before passages use the last tokens.
#[test]
fn other_blocks_are_named_after_passages() {
    let mut blocks: Vec<_> = (0..40).map(|i| file(&format!("src/f{i}.rs"), 60)).collect();
    for at in 0..40 {
        blocks.push(tag(at, &format!("rank={}", 40 - at)));
    }
    for at in 0..4 {
        blocks.push(tag(at, "passages=1-20:900 21-40:800 41-60:700"));
    }
    let rendered = run(&blocks, 1_600, OutputMode::Xml);
    let decisions = decisions(&rendered);
    assert!(decisions[..2].iter().all(|decision| matches!(*decision, "excerpt" | "full")));
    assert!(decisions[4..6].iter().all(|decision| *decision == "summary"), "{decisions:?}");
    assert!(rendered.plan.used_tokens > 1_500, "{}", rendered.plan.used_tokens);
}

#[test]
fn numbered_excerpt_has_the_real_numbers() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=41-43:900 57-59:500")];
    let config = DriverConfig { line_numbers: true, ..config(110, OutputMode::Markdown) };
    let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
    expect![[r#"
        ### code src/a.rs (excerpt, numbered)
        ```rust
        …
        41: fn function_10(x: u32) -> u32 {
        42:     x * 10 + 1
        43: }
        …
        57: fn function_14(x: u32) -> u32 {
        58:     x * 14 + 1
        59: }
        … 114 lines, ~900 tokens omitted …
        ```
    "#]]
    .assert_eq(&rendered.text);
    let parsed = parse_blocks(&rendered.text, OutputMode::Markdown).unwrap();
    assert_eq!(parsed.blocks[0].shown, PartKind::Excerpt);
}

#[cfg(feature = "report")]
#[test]
fn report_has_the_shown_lines_and_the_reasons() {
    use lcp_driver::report::{TableOptions, to_json, to_table};

    let blocks = [
        functions("src/a.rs"),
        bare_file("src/b.rs", 40),
        tag(0, "passages=41-43:900 57-59:500"),
        tag(0, "reason=\"compute\" in 2 definitions"),
        tag(0, "reason=named like change 1a2b3c\u{1b}"),
    ];
    let plan = run(&blocks, 110, OutputMode::Xml).plan;
    let report: serde_json::Value = serde_json::from_str(&to_json(&plan)).unwrap();
    let row = &report["blocks"][0];
    assert_eq!(row["lines"], serde_json::json!([[41, 43], [57, 59]]));
    assert_eq!(row["why"][0], "\"compute\" in 2 definitions");
    assert!(report["blocks"][1].get("why").is_none() && report["blocks"][1].get("lines").is_none());
    let table = to_table(&plan, &TableOptions { explain: true, ..TableOptions::default() });
    let section = table.split_once("Why Shown:").unwrap().1;
    let section = section.lines().skip(1).take(3).collect::<Vec<_>>().join("\n");
    let expected = [
        "  src/a.rs (lines 41–43, 57–59)", "    \"compute\" in 2 definitions",
        "    named like change 1a2b3c\\u{1b}",
    ];
    assert_eq!(section, expected.join("\n"));
    assert!(!to_table(&plan, &TableOptions::default()).contains("Why Shown:"));
}

/// A gap of blank lines, or of a few lines that cost no more than its marker, is shown.
#[test]
fn cheap_gaps_are_shown() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=1-2:900 5-7:900 9-11:900")];
    let rendered = run(&blocks, 130, OutputMode::Xml);
    assert_eq!(lines(&rendered, 0), [(1, 11)]);
}

/// A passage that exceeds the budget is shown by its first lines.
#[test]
fn passage_that_is_too_large_is_cut() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=13-120:900")];
    let rendered = run(&blocks, 300, OutputMode::Xml);
    let shown = lines(&rendered, 0);
    assert_eq!(shown.len(), 1, "{}", rendered.text);
    assert!(shown[0].0 == 13 && rendered.plan.used_tokens > 260, "{}", rendered.text);
}

#[test]
fn records_and_bad_passages_give_excerpts_of_the_beginning() {
    let rows: Vec<_> = (1..=200).map(|id| format!("{id},\"row {id}\"")).collect();
    let table = format!("id,text\n{}\n", rows.join("\n"));
    let table = Block::structured_data(DataFormat::Csv, table);
    for (block, passages) in [
        (table, "passages=100-110:900"),
        (functions("a.rs"), "passages=100-110"),
        (functions("a.rs"), "passages=1100-1110:900"),
    ] {
        let plain = run(std::slice::from_ref(&block), 200, OutputMode::Xml);
        let tagged = run(&[block, tag(0, passages)], 200, OutputMode::Xml);
        assert_eq!(tagged.text, plain.text);
    }
}

/// Encoded runs in passages are named as in other excerpts.
#[test]
fn passages_name_encoded_runs() {
    let alphabet = b"QkmAzWx3Zp+LrT/b9HdYcU0";
    let run_of: String =
        (0..9_000).map(|at| char::from(alphabet[(at * at + at / 7) % alphabet.len()])).collect();
    let content = format!("{}let image = \"{run_of}\";\n", "let a = 1;\n".repeat(300));
    let blocks = [Block::code(Lang::Rust, "a.rs", content), tag(0, "passages=300-301:900")];
    let rendered = run(&blocks, 100, OutputMode::Xml);
    assert!(rendered.text.contains("let image = \"… 9,000 base64 characters …\";"));
    assert_eq!(lines(&rendered, 0)[0].1, 301);
}

#[test]
fn objective_value_uses_passages_in_excerpts() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=41-43:900 57-59:500")];
    let objective = Objective::Value(ValueModel::default());
    let config = DriverConfig { objective, ..config(90, OutputMode::Xml) };
    let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
    assert_eq!(lines(&rendered, 0), [(41, 43), (57, 59)]);
}

#[test]
fn plan_of_passages_renders_the_same_text() {
    let blocks = [functions("src/a.rs"), tag(0, "passages=41-43:900 57-59:500")];
    for mode in OutputMode::ALL {
        let rendered = run(&blocks, 100, mode);
        let again = DefaultDriver::new(O200K).render_plan(&blocks, &rendered.plan).unwrap();
        assert_eq!(again, rendered.text);
        let parsed = parse_blocks(&rendered.text, mode).unwrap();
        assert_eq!(parsed.blocks[0].shown, PartKind::Excerpt);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A block with a passage of the highest score is not rolled up while a block of the same
    /// priority with lower scores is shown in full.
    #[test]
    fn certain_passage_is_shown_before_others_are_full(
        files in prop::collection::vec((2usize..60, any::<bool>(), 1u16..1_000), 2..50),
        budget in 60u32..3_000,
    ) {
        let mut blocks: Vec<_> = files.iter().enumerate()
            .map(|(at, (lines, ..))| bare_file(&format!("src/f{at}.rs"), *lines)).collect();
        for (at, (lines, is_certain, score)) in files.iter().enumerate() {
            let (half, score) = (lines / 2, if *is_certain { 1_000 } else { *score });
            let tail = lines - half;
            let passages = format!("passages=1-{half}:{score} {}-{}:1", half + 1, half + tail);
            blocks.push(tag(at as u64, &passages));
            blocks.push(tag(at as u64, &format!("rank={score}")));
        }
        let rendered = run(&blocks, budget, OutputMode::Xml);
        let is_full = |(at, file): (usize, &(usize, bool, u16))| {
            !file.1 && rendered.plan.items[at].decision == RenderDecision::Full
        };
        let full = files.iter().enumerate().filter(|one| is_full(*one));
        let freed = full.map(|(at, _)| rendered.plan.items[at].tokens).min();
        for (at, (lines, is_certain, _)) in files.iter().enumerate() {
            let is_hidden = rendered.plan.items[at].decision == RenderDecision::RolledUp;
            if let Some(freed) = freed.filter(|_| *is_certain && is_hidden) {
                // Half of the file would not fit in place of the other one.
                let lines = u32::try_from(*lines).unwrap();
                let needed = rendered.plan.items[at].full_tokens * (lines / 2) / lines;
                prop_assert!(needed + 40 > freed, "{at}: {needed} of {freed}");
            }
        }
    }
}

/// Priorities are served before scores.
#[test]
fn tier_is_served_before_scores_of_a_lower_tier() {
    let blocks = [
        functions("src/low.rs"),
        functions("src/high.rs"),
        tag(0, "passages=1-30:1000 31-120:1000"),
        tag(1, "passages=1-40:10 41-80:9 81-120:8"),
        priority(1, Priority::High),
    ];
    let rendered = run(&blocks, 300, OutputMode::Xml);
    assert_eq!(lines(&rendered, 1), [(1, 40)]);
}
