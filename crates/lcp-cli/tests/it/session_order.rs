//! The order of older tool results and files in `export`, by the newest request (RFC 0014 §9).

use std::collections::BTreeSet;

use lcp_app::export::{ExportCandidates, FitError, FittedMessages, fit};
use lcp_app::rank::SessionRanking;
use lcp_continuity::SessionHandoff;
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, RenderDecision};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_transcripts::{Options, Provider, detect, import};
use lcp_types::{Block, BlockContent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::command::{LCP, run, stderr};
use crate::valid::valid;

const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);

/// A function with this name and number of lines.
fn function(name: &str, lines: usize) -> String {
    let lines: Vec<_> = (0..lines).map(|at| format!("    {name}({at});\n")).collect();
    let lines = lines.concat();
    format!("fn {name}() {{\n{lines}}}\n\n")
}

/// Turns in which the model reads a file each, and a last turn with this text.
fn session(files: &[(String, String)], last: &str) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": "You are a coding agent." })];
    for (at, (path, text)) in files.iter().enumerate() {
        let arguments = json!({ "file_path": path }).to_string();
        let call = json!({
            "id": format!("c{at}"), "type": "function",
            "function": { "name": "read_file", "arguments": arguments },
        });
        messages.extend([
            json!({ "role": "user", "content": format!("Please check step {at}.") }),
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": format!("c{at}"), "content": text }),
            json!({ "role": "assistant", "content": format!("Step {at} is correct.") }),
        ]);
    }
    messages.push(json!({ "role": "user", "content": last }));
    messages.into()
}

fn blocks(session: &Value) -> Vec<Block<'static>> {
    let text = session.to_string();
    let format = detect(text.as_bytes()).unwrap();
    import(format, text.as_bytes(), &Options::default()).unwrap().blocks
}

/// Four files of which the oldest defines `open_door`.
fn files() -> Vec<(String, String)> {
    let names = [("src/door.rs", "open_door"), ("src/sail.rs", "hoist"), ("src/mast.rs", "climb")];
    let newest = ("src/deck.rs", "scrub");
    let file = |(path, name): (&str, &str)| {
        let before = function("before", 90);
        (path.to_owned(), format!("{before}{}{}", function(name, 3), function("after", 90)))
    };
    names.into_iter().chain([newest]).map(file).collect()
}

#[test]
fn export_shows_what_the_newest_request_names() {
    let project = LCP.project("");
    let exported = |last: &str, flags: &[&str]| {
        let session = session(&files(), last).to_string();
        std::fs::write(project.path("session.json"), session).unwrap();
        project.stdout_of(&["import", "session.json", "-o", "session.lcp", "-q"]);
        let export = ["export", "session.lcp", "--to", "openai", "--budget", "900", "-q"];
        project.stdout_of(&[&export, flags].concat())
    };
    // The file does not fit, so the function is shown.
    let asked = "Why does open_door in src/door.rs fail?";
    let text = exported(asked, &[]);
    assert!(text.contains("fn open_door() {\\n    open_door(0);"), "{text}");
    let text = exported(asked, &["--order", "rank"]);
    assert!(!text.contains("open_door(0)"), "{text}");
    // A request that says nothing of files leaves the order by newness.
    for last in ["continue", "/clear"] {
        assert!(exported(last, &[]).contains("Step 3 is correct."));
    }
    let output = run(&["export", "x.lcp", "--to", "openai", "--order", "newest"]);
    assert!(stderr(&output).contains("relevance"), "{}", stderr(&output));
}

#[test]
fn answers_without_content_are_not_the_question() {
    let question = "Why does open_door fail?";
    let mut session = session(&files(), question);
    let with_question = SessionRanking::new(&blocks(&session));
    assert!(!with_question.annotations().is_empty());
    let order = |session: &Value| {
        let blocks = blocks(session);
        let ranked = [blocks.clone(), SessionRanking::new(&blocks).annotations()].concat();
        let metas = lcp_types::BlockMeta::resolve_all(&ranked, &mut |_, _| {});
        let results = (0..blocks.len())
            .filter(|at| matches!(blocks[*at].content, BlockContent::ToolResult(_)));
        let mut results: Vec<_> = results.collect();
        results.sort_by(|a, b| metas[*b].rank.unwrap().total_cmp(&metas[*a].rank.unwrap()));
        results
    };
    let ordered = order(&session);
    assert_eq!(ordered.first(), ordered.iter().min(), "the oldest defines the function");
    for filler in ["ok, go on", "/compact"] {
        session.as_array_mut().unwrap().push(json!({ "role": "assistant", "content": "Shall I?" }));
        session.as_array_mut().unwrap().push(json!({ "role": "user", "content": filler }));
        assert_eq!(order(&session), ordered, "{filler}");
    }
    let only_fillers = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": "Hello. What shall I do?" },
        { "role": "user", "content": "thanks" },
    ]);
    assert!(SessionRanking::new(&blocks(&only_fillers)).annotations().is_empty());
}

#[test]
fn handoff_lists_an_old_file_that_the_newest_request_needs() {
    let project = LCP.project("[continuity]\nstore = \"sessions.sqlite\"\n");
    let other = |at| (format!("src/other{at}.rs"), function("other", 3));
    let many: Vec<_> = files().into_iter().take(1).chain((0..30).map(other)).collect();
    let listed = |last: &str, id: &str| {
        std::fs::write(project.path("session.json"), session(&many, last).to_string()).unwrap();
        project.stdout_of(&["session", "record", id, "session.json", "--window", "20000"]);
        project.stdout_of(&["session", "handoff", id, "--force", "-o", "handoff.lcp"]);
        let pack = std::fs::read(project.path("handoff.lcp")).unwrap();
        SessionHandoff::from_pack(&pack).unwrap().state.unwrap().active_files
    };
    // The state has the newest 20 files.
    let files = listed("Why does open_door fail?", "doors");
    assert!(files.iter().any(|file| file == "src/door.rs"), "{files:?}");
    assert_eq!(files.last().map(String::as_str), Some("src/other29.rs"));
    assert!(files.len() <= 25, "{files:?}");
    let files = listed("thanks", "thanks");
    assert!(!files.iter().any(|file| file == "src/door.rs"), "{files:?}");
}

fn fitted(blocks: &[Block<'_>], target: Provider, budget: u32) -> Option<FittedMessages> {
    let candidates = ExportCandidates::new(target, blocks);
    match fit(&candidates, &DefaultDriver::new(O200K), &O200K, &config(budget)) {
        Ok(fitted) => Some(fitted),
        Err(FitError::OverBudget { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn config(budget: u32) -> DriverConfig {
    let (mode, token_budget) = (OutputMode::Minimal, Some(budget));
    DriverConfig { mode, token_budget, fill: true, ..DriverConfig::default() }
}

/// Files with functions, of very different sizes.
fn some_files() -> impl Strategy<Value = Vec<(String, String)>> {
    let file = (0..3_usize, prop::collection::vec((0..6_usize, 1..40_usize), 1..5));
    let to_file = |(at, (folder, functions)): (usize, (usize, Vec<(usize, usize)>))| {
        let names = ["open", "close", "read_all", "write_all", "retry", "connect"];
        let text: String =
            functions.into_iter().map(|(name, lines)| function(names[name], lines + 8)).collect();
        (format!("{}/file{at}.rs", ["src", "lib", "app"][folder]), text)
    };
    prop::collection::vec(file, 2..12)
        .prop_map(move |files| files.into_iter().enumerate().map(to_file).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The history is valid and within the budget, and a named file is shown before others are shown
    /// in full.
    #[test]
    fn named_files_come_before_unnamed_ones(
        files in some_files(),
        named in any::<prop::sample::Index>(),
        budget in 100_u32..6_000,
        target in prop::sample::select(Provider::ALL.to_vec()),
        working in any::<bool>(),
    ) {
        let path = &files[named.index(files.len())].0;
        let mut session = session(&files, &format!("Fix the retry in {path}."));
        if working {
            let more = json!({ "role": "assistant", "content": "I will look at the callers first." });
            session.as_array_mut().unwrap().push(more);
        }
        let blocks = blocks(&session);
        let annotations = SessionRanking::new(&blocks).annotations();
        prop_assert_eq!(&annotations, &SessionRanking::new(&blocks).annotations());
        let ranked = [blocks.clone(), annotations].concat();
        let Some(FittedMessages { exported, tokens, plan, dropped, .. }) =
            fitted(&ranked, target, budget)
        else {
            return Ok(());
        };
        prop_assert!(tokens <= budget.into());
        prop_assert_eq!(valid(target, &exported), Ok(()));
        prop_assert_eq!(&fitted(&ranked, target, budget).unwrap().exported, &exported);
        let results = blocks.iter().enumerate().filter_map(|(at, block)| match &block.content {
            BlockContent::ToolResult(_) | BlockContent::Code(_) => Some(at),
            _ => None,
        });
        let results: Vec<_> = results.collect();
        let named = results[named.index(files.len())];
        let is_full = |at: &usize| plan.items[*at].decision == RenderDecision::Full;
        if dropped == 0 && results.iter().any(|at| *at != named && is_full(at)) {
            let decision = &plan.items[named].decision;
            let is_hidden = matches!(
                decision,
                RenderDecision::RolledUp | RenderDecision::Omit | RenderDecision::Placeholder { .. }
            );
            prop_assert!(!is_hidden, "{decision:?} of {path}");
        }
    }

    /// The newest request and the work after it have what they have without the order.
    #[test]
    fn current_work_is_not_lowered(
        files in some_files(),
        named in any::<prop::sample::Index>(),
        budget in 100_u32..6_000,
    ) {
        let path = &files[named.index(files.len())].0;
        let mut before = session(&files[1..], &format!("Fix the retry in {path}."));
        let work = session(&files[..1], "");
        let work = work.as_array().unwrap();
        before.as_array_mut().unwrap().extend(work[2..work.len() - 1].to_vec());
        let blocks = blocks(&before);
        let ranked = [blocks.clone(), SessionRanking::new(&blocks).annotations()].concat();
        let driver = DefaultDriver::new(O200K);
        let full = |of: &[Block<'_>]| -> BTreeSet<usize> {
            let plan = driver.plan(of, &config(budget)).unwrap();
            let start = blocks.len() - blocks.iter().rev().take_while(|block| {
                !block.content.text().is_some_and(|text| text.to_str_lossy().starts_with("Fix"))
            }).count() - 1;
            (start..blocks.len())
                .filter(|at| plan.items[*at].decision == RenderDecision::Full)
                .collect()
        };
        let (by_rank, by_relevance) = (full(&blocks), full(&ranked));
        prop_assert!(by_rank.is_subset(&by_relevance), "{by_rank:?} {by_relevance:?}");
    }
}
