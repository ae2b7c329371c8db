//! Excerpts: blocks shown in part (RFC 0004 §7).

use expect_test::expect;
use lcp_driver::budget::TokenEstimator;
use lcp_driver::{
    DefaultDriver, DriverConfig, Excerpts, OutputMode, Plan, RenderDecision, Rendered, WarningCode,
};
use lcp_types::{Block, DataFormat, FormatHint, Lang, Priority, Role, Status};

use crate::packs::{O200K, bare_file, file, priority, tag};

fn run(blocks: &[Block<'_>], budget: u32, mode: OutputMode) -> Rendered {
    let config = DriverConfig {
        token_budget: Some(budget),
        mode,
        excerpts: Excerpts::On,
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).run(blocks, &config).unwrap()
}

fn shown(plan: &Plan) -> Vec<&'static str> {
    plan.items.iter().map(|item| item.decision.name()).collect()
}

#[test]
fn code_excerpt_shows_the_start_and_counts_omissions() {
    let rendered = run(&[bare_file("src/a.rs", 200)], 110, OutputMode::Xml);
    expect![[r#"
        <context>
        <code lang="rust" path="src/a.rs" detail="excerpt">
        let value_0 = compute(0, "text");
        let value_1 = compute(1, "text");
        let value_2 = compute(2, "text");
        let value_3 = compute(3, "text");
        let value_4 = compute(4, "text");
        let value_5 = compute(5, "text");
        … 194 lines, ~2,328 tokens omitted …
        </code>
        </context>
    "#]]
    .assert_eq(&rendered.text);
}

#[test]
fn tool_result_and_turn_excerpts_show_both_ends() {
    let log = (0..300).map(|i| format!("step {i} done\n")).collect::<Vec<_>>().concat();
    let result = Block::tool_result("cargo", Status::Error, log + "error: it failed\n");
    let rendered = run(&[result], 120, OutputMode::Minimal);
    expect![[r"
        [tool-result cargo error (excerpt)]
        step 0 done
        step 1 done
        step 2 done
        step 3 done
        step 4 done
        step 5 done
        … 282 lines, ~1,410 tokens omitted …
        step 288 done
        step 289 done
        step 290 done
        step 291 done
        step 292 done
        step 293 done
        step 294 done
        step 295 done
        step 296 done
        step 297 done
        step 298 done
        step 299 done
        error: it failed

    "]]
    .assert_eq(&rendered.text);
    let turn = (0..300).map(|i| format!("Sentence number {i}. ")).collect::<Vec<_>>().concat();
    let rendered = run(&[Block::conversation(Role::User, turn)], 70, OutputMode::Markdown);
    expect![[r"
        ### user (excerpt)
        Sentence number 0. Sentence number 1. Sentence number 2. Sentence number 3. Sentence number 4. 
        … 1 line, ~1,449 tokens omitted …
        Sentence number 295. Sentence number 296. Sentence number 297. Sentence number 298. Sentence number 299. 
    "]].assert_eq(&rendered.text);
}

#[test]
fn cuts_are_at_character_boundaries_without_line_breaks() {
    for text in ["漢字".repeat(2_000), "e\u{301}🦀".repeat(2_000), "a".repeat(20_000)] {
        for budget in (40..200).step_by(7) {
            let block = Block::document("text", text.as_str(), FormatHint::Plain);
            let rendered = run(&[block], budget, OutputMode::Minimal);
            let RenderDecision::Excerpt(excerpt) = &rendered.plan.items[0].decision else {
                panic!("{:?}", rendered.plan.items[0]);
            };
            assert!(text.is_char_boundary(excerpt.head_bytes));
            assert_eq!(excerpt.omitted_lines, 1);
            assert!(rendered.plan.used_tokens <= budget);
        }
    }
}

#[test]
fn excerpts_are_on_with_fill_or_on_request() {
    let blocks = [bare_file("a.rs", 200)];
    for (excerpts, fill, expected) in [
        (Excerpts::WithFill, false, "placeholder"),
        (Excerpts::WithFill, true, "excerpt"),
        (Excerpts::On, false, "excerpt"),
        (Excerpts::Off, true, "placeholder"),
    ] {
        let config =
            DriverConfig { token_budget: Some(300), fill, excerpts, ..DriverConfig::default() };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        assert_eq!(shown(&plan), [expected], "{excerpts:?} {fill}");
    }
}

#[test]
fn fitting_summary_is_preferred_to_an_excerpt() {
    let rendered = run(&[file("a.rs", 200)], 300, OutputMode::Xml);
    assert_eq!(shown(&rendered.plan), ["summary"]);
    // A block whose summary does not fit either is cut.
    let long = bare_file("a.rs", 200).with_summary("word ".repeat(400));
    assert_eq!(shown(&run(&[long], 300, OutputMode::Xml).plan), ["excerpt"]);
}

/// Sizes are steps of a fixed ladder, so a small change of the budget changes nothing.
#[test]
fn excerpt_sizes_are_fixed_steps() {
    let blocks = [bare_file("a.rs", 3_000)];
    let texts: Vec<_> = (1_050..1_075).map(|b| run(&blocks, b, OutputMode::Minimal).text).collect();
    let mut distinct = texts.clone();
    distinct.dedup();
    assert!(distinct.len() <= 2, "{} texts of {} budgets", distinct.len(), texts.len());
}

/// A huge block does not take the tokens with which others can be shown.
#[test]
fn huge_block_leaves_room_for_others() {
    let blocks = [
        bare_file("huge.rs", 5_000),
        bare_file("a.rs", 60),
        bare_file("b.rs", 60),
        priority(0, Priority::High),
    ];
    let rendered = run(&blocks, 4_000, OutputMode::Xml);
    assert_eq!(shown(&rendered.plan), ["excerpt", "full", "full", "metadata"]);
    // The huge block gets the remaining tokens.
    assert!(rendered.plan.remaining_tokens() < 100, "{} left", rendered.plan.remaining_tokens());
}

/// A single block that exceeds the budget fills it, for any budget.
#[test]
fn single_large_block_fills_the_budget() {
    let blocks = [bare_file("a.rs", 9_000)];
    for budget in [500, 2_000, 8_111, 32_000, 100_000] {
        let plan = run(&blocks, budget, OutputMode::Xml).plan;
        assert!(plan.used_tokens <= budget);
        assert!(plan.used_tokens * 100 >= budget * 95, "{} of {budget}", plan.used_tokens);
    }
}

#[test]
fn content_is_shown_even_if_placeholders_fill_the_budget() {
    let blocks: Vec<_> = (0..20).map(|i| bare_file(&format!("src/file_{i}.rs"), 100)).collect();
    for budget in 60..420 {
        let rendered = run(&blocks, budget, OutputMode::Xml);
        let any = rendered.plan.items.iter().any(|item| item.decision.has_content());
        let warned = rendered.plan.warnings.iter().any(|w| w.code == WarningCode::EmptyResult);
        assert!(any != warned, "budget {budget}");
        assert!(any || budget < 100, "budget {budget}");
        assert_eq!(O200K.estimate(&rendered.text), rendered.plan.used_tokens);
    }
}

#[test]
fn blocks_without_content_are_not_cut() {
    let blocks = [
        Block::embedding_ref("v".repeat(180), vec![1], "m".repeat(180)),
        Block::raw(0x42, vec![0; 900]),
    ];
    let rendered = run(&blocks, 40, OutputMode::Xml);
    assert!(rendered.plan.items.iter().all(|item| item.decision.name() != "excerpt"));
}

/// An excerpt of a table ends with a complete row, and counts the rows that it omits.
#[test]
fn table_excerpt_shows_header_and_whole_rows() {
    let rows =
        (1..=200).map(|id| format!("{id},\"first\nsecond {id}\"\n")).collect::<Vec<_>>().concat();
    let table = Block::structured_data(DataFormat::Csv, format!("id,text\n{rows}"));
    let blocks = [table, tag(0, "path=data/a.csv")];
    expect![[r#"
        <context>
        <data format="csv" path="data/a.csv" detail="excerpt">
        id,text
        1,"first
        second 1"
        2,"first
        second 2"
        3,"first
        second 3"
        4,"first
        second 4"
        5,"first
        second 5"
        6,"first
        second 6"
        … 194 more rows, ~1,552 tokens omitted …
        </data>
        </context>
    "#]]
    .assert_eq(&run(&blocks, 90, OutputMode::Xml).text);
    // The rows of the marker and those that are shown are all rows.
    for budget in 40..400 {
        let rendered = run(&blocks, budget, OutputMode::Minimal);
        let RenderDecision::Excerpt(excerpt) = &rendered.plan.items[0].decision else { continue };
        let shown = rendered.text.matches("first").count();
        assert!(rendered.text.matches("second").count() == shown || shown == 1, "{budget}");
        let whole = rendered.text.matches("second").count();
        assert_eq!(whole + excerpt.omitted_lines, 200, "{budget}: {}", rendered.text);
    }
}

#[test]
fn excerpt_of_a_json_array_on_one_line_shows_whole_records() {
    let objects: Vec<_> = (0..300).map(|id| format!("{{\"id\":{id},\"name\":\"n\"}}")).collect();
    let array = Block::structured_data(DataFormat::Json, format!("[{}]", objects.join(",")));
    expect![[r#"
        ### data json (excerpt)
        ```json
        [{"id":0,"name":"n"},{"id":1,"name":"n"},{"id":2,"name":"n"},{"id":3,"name":"n"},{"id":4,"name":"n"},{"id":5,"name":"n"},
        … 294 more records, ~2,353 tokens omitted …
        ```
    "#]]
    .assert_eq(&run(&[array], 80, OutputMode::Markdown).text);
}

/// Text that looks like the Base64 of a picture.
fn base64(len: usize) -> String {
    let alphabet = b"QkmAzWx3Zp+LrT/b9HdYcU0";
    (0..len).map(|at| char::from(alphabet[(at * at + at / 7) % alphabet.len()])).collect()
}

/// An encoded run takes no tokens from the text around it, and full content stays as it is.
#[test]
fn excerpt_names_encoded_runs_in_place_of_showing_them() {
    let page = format!(
        "<p>before</p>\n<img src=\"data:image/png;base64,{}\">\n<p>after</p>\n",
        base64(60_000)
    );
    let block = Block::code(Lang::Html, "a.html", page.as_str());
    let blocks = std::slice::from_ref(&block);
    expect![[r#"
        <context>
        <code lang="html" path="a.html" detail="excerpt">
        <p>before</p>
        <img src="data:image/png;base64,… 60,000 base64 characters …">
        <p>after</p>

        </code>
        </context>
    "#]]
    .assert_eq(&run(blocks, 100, OutputMode::Xml).text);
    assert!(run(blocks, 200_000, OutputMode::Xml).text.contains(&page));
    // The marker is whole, or absent, for every budget.
    let result = Block::tool_result("cat", Status::Ok, "a line\n".repeat(50) + &page);
    for (block, mode) in [(&block, OutputMode::Xml), (&result, OutputMode::Minimal)] {
        for budget in 20..200 {
            let rendered = run(std::slice::from_ref(block), budget, mode);
            assert!(rendered.plan.used_tokens <= budget);
            let whole = rendered.text.contains("… 60,000 base64 characters …");
            assert!(whole || !rendered.text.contains("60,000"), "{budget}: {}", rendered.text);
        }
    }
}

#[test]
fn excerpt_of_minified_code_shows_its_beginning() {
    let code = format!("/*! a v1.2 */\n{}\n", "f=function(a){return a+1}".repeat(400));
    let block = Block::code(Lang::JavaScript, "a.min.js", code);
    expect![[r"
        [code a.min.js (excerpt)]
        /*! a v1.2 */
        f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}f=function(a){return a+1}… 9,800 characters …

    "]].assert_eq(&run(&[block], 150, OutputMode::Minimal).text);
    // The output of a tool may be one long line of JSON, which matters.
    let json = Block::tool_result("api", Status::Ok, format!("[{}0]", "1,".repeat(4_000)));
    let text = run(&[json], 150, OutputMode::Minimal).text;
    assert!(!text.contains("characters …"), "{text}");
}

/// The marker has the exact lines and tokens that are not shown.
#[test]
fn marker_counts_omitted_lines_and_tokens() {
    let content = (0..500).map(|i| format!("line {i}\n")).collect::<Vec<_>>().concat();
    let block = Block::code(Lang::Unknown, "a.txt", content.as_str());
    let plan = run(&[block], 400, OutputMode::Xml).plan;
    let RenderDecision::Excerpt(excerpt) = &plan.items[0].decision else { panic!() };
    let missing = &content[excerpt.head_bytes..content.len() - excerpt.tail_bytes];
    assert_eq!(missing.lines().count(), excerpt.omitted_lines);
    let tokens = O200K.estimate(missing);
    assert!(excerpt.omitted_tokens.abs_diff(tokens) <= 2, "{} {tokens}", excerpt.omitted_tokens);
}

/// The excerpt may need a shorter fence than the whole content, or a longer one than the previous
/// attempt. Then the cut is repeated, and never given up.
#[test]
fn long_backtick_runs_can_be_cut() {
    let content = format!("{}\n{}\nend\n", "`x`".repeat(3), "`".repeat(6_000));
    for block in [
        Block::conversation(Role::User, content.as_str()),
        Block::tool_result("grep", Status::Ok, content.as_str()),
    ] {
        for budget in (60..9_000).step_by(61) {
            let plan = run(std::slice::from_ref(&block), budget, OutputMode::Markdown).plan;
            assert!(plan.items[0].decision.has_content(), "budget {budget}");
            if let RenderDecision::Excerpt(excerpt) = &plan.items[0].decision {
                assert!(excerpt.head_bytes + excerpt.tail_bytes < content.len(), "{excerpt:?}");
                // A longer fence does not waste the budget: at least half of it is used, or nearly
                // all content is shown, which may need only a short fence.
                let (used, all) = (plan.used_tokens, plan.items[0].content_tokens);
                let nearly_all = excerpt.omitted_tokens * 20 <= all;
                assert!(budget < 400 || used * 2 >= budget || nearly_all, "{used} of {budget}");
            }
        }
    }
}

/// An excerpt of a file that begins with blank lines shows its end.
#[test]
fn excerpt_skips_leading_blank_lines() {
    let content = "\n".repeat(9_000) + "fn main() {}\n";
    let block = Block::code(Lang::Rust, "a.rs", content);
    for budget in [60, 100] {
        assert!(
            run(std::slice::from_ref(&block), budget, OutputMode::Xml)
                .text
                .contains("fn main() {}")
        );
    }
}

/// One more token of budget never loses most of the content: placeholders come first only if they
/// are a small part.
#[test]
fn content_does_not_drop_as_the_budget_grows() {
    let blocks: Vec<_> = (0..20).map(|i| bare_file(&format!("f{i}.rs"), 200)).collect();
    let mut before = 0;
    for budget in (200..4_000).step_by(3) {
        let plan = run(&blocks, budget, OutputMode::Xml).plan;
        let content = plan.items.iter().filter(|item| item.decision.has_content());
        let content: u32 = content.map(|item| item.tokens).sum();
        assert!(content * 10 >= before * 9, "budget {budget}: {before} to {content}");
        before = content;
    }
}

/// A line break of two characters is never split.
#[test]
fn crlf_line_breaks_are_never_split() {
    let content = "a line of text\r\n\r\n".repeat(400);
    for block in [
        Block::code(Lang::Rust, "a.rs", content.as_str()),
        Block::conversation(Role::User, content.as_str()),
    ] {
        for budget in 40..160 {
            let plan = run(std::slice::from_ref(&block), budget, OutputMode::Minimal).plan;
            if let RenderDecision::Excerpt(excerpt) = &plan.items[0].decision {
                let tail = content.len() - excerpt.tail_bytes;
                for cut in [excerpt.head_bytes, tail] {
                    let within = content[..cut].ends_with('\r') && content[cut..].starts_with('\n');
                    assert!(!within, "budget {budget}: {excerpt:?}");
                }
            }
        }
    }
}
