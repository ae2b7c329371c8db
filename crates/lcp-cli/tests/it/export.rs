//! `export`: histories within budgets.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use lcp_app::export::{ExportCandidates, FitError, FittedMessages, count, fit};
use lcp_app::rank::SessionRanking;
use lcp_decoder::{DecodeOptions, decode};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Overflow, RenderDecision, Verbosity};
use lcp_encoder::{EncodeOptions, PackWriter};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_transcripts::{Format, Options, Provider, detect, import};
use lcp_types::{Annotation, Block, BlockContent, Priority, Role, Status, Tag};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::command::{run, run_with, sample, stderr};
use crate::import::transcript;
use crate::valid::{keys, valid};

const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);

fn imported(name: &str) -> Vec<Block<'static>> {
    let bytes = std::fs::read(transcript(name)).unwrap();
    import(detect(&bytes).unwrap(), &bytes, &Options::default()).unwrap().blocks
}

/// Packs of all kinds: a session, transcripts, many turns with calls.
static PACKS: LazyLock<Vec<Vec<Block<'static>>>> = LazyLock::new(|| {
    let of_sample = |name: &str| {
        let bytes = std::fs::read(sample(name)).unwrap();
        let blocks = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
        blocks.into_iter().map(Block::into_owned).collect::<Vec<_>>()
    };
    vec![
        of_sample("session.lcp"),
        of_sample("pairs.lcp"),
        of_sample("every-type.lcp"),
        imported("claude-code.jsonl"),
        imported("codex.jsonl"),
        imported("mcp.jsonl"),
        imported("aider.md"),
        turns(40, false),
        turns(40, true),
        conversation_and_code(Format::OpenAiChat),
        conversation_and_code(Format::Anthropic),
        of_text(Format::OpenAiChat, &with_tools(20)),
        ranked(turns(40, false)),
        ranked(of_sample("session.lcp")),
    ]
});

/// The blocks of a transcript of which much stands beside the texts, most of all in the newest.
fn conversation_and_code(format: Format) -> Vec<Block<'static>> {
    of_text(format, &transcript_with_more(format))
}

fn of_text(format: Format, text: &str) -> Vec<Block<'static>> {
    import(format, text.as_bytes(), &Options::default()).unwrap().blocks
}

/// The same blocks in the order that the newest request needs.
fn ranked(mut blocks: Vec<Block<'static>>) -> Vec<Block<'static>> {
    blocks.extend(SessionRanking::new(&blocks).annotations());
    blocks
}

/// The same blocks without ranks: the earlier are taken first.
fn by_position(mut blocks: Vec<Block<'static>>) -> Vec<Block<'static>> {
    for block in &mut blocks {
        let annotation =
            block.as_annotation().filter(|of| of.as_tag().is_some_and(|tag| tag.key == Tag::RANK));
        if let Some(target) = annotation.map(|of| of.target_block_id) {
            *block = Block::new(Annotation::tag(target, &Tag::from_key("unranked")));
        }
    }
    blocks
}

/// A request with this many tools, whose names no provider takes.
fn with_tools(count: usize) -> String {
    let tool = |at| {
        json!({"type": "function", "function": {"name": format!("fs.tool {at}"),
        "description": "Says what is in a file, line by line."}})
    };
    let messages = json!([
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "What is in it?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "fs.tool 0", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "One line. ".repeat(40)},
        {"role": "assistant", "content": "One line."},
        {"role": "user", "content": "And what of the other?"},
    ]);
    let tools: Vec<_> = (0..count).map(tool).collect();
    json!({"model": "m", "tools": tools, "messages": messages}).to_string()
}

fn transcript_with_more(format: Format) -> String {
    let mut messages = Vec::new();
    for turn in 0..20 {
        let why = format!("Since {turn} is what it is. ").repeat(turn);
        messages.push(json!({"role": "user", "content": format!("Question {turn}?")}));
        messages.push(match format {
            Format::Anthropic => json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": why, "signature": "s"},
                {"type": "text", "text": format!("Answer {turn}."),
                    "citations": [{"type": "page_location", "cited_text": why}]}]}),
            _ if turn % 5 == 4 => json!({"role": "assistant", "content": null, "refusal": why}),
            _ => json!({"role": "assistant", "name": "a", "content": format!("Answer {turn}."),
                "reasoning_content": why}),
        });
    }
    Value::from(messages).to_string()
}

/// Turns of a user, a call, its result and an answer each, under a system prompt.
pub(crate) fn turns(count: usize, is_critical: bool) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::conversation(Role::System, "You are brief.")];
    if is_critical {
        blocks.push(Block::new(Annotation::priority(0, Priority::Critical)));
    }
    for turn in 0..count {
        let id = format!("call_{turn}");
        blocks.push(Block::conversation(Role::User, format!("Question {turn}?")));
        let call = format!("read {{\"path\":\"{turn}.txt\"}}");
        blocks.push(Block::conversation_with_call(Role::Assistant, call, id.clone()));
        let text = format!("line {turn}\n").repeat(turn);
        blocks.push(Block::tool_result("read", Status::Ok, text));
        let target = blocks.len() as u64 - 1;
        blocks.push(Block::new(Annotation::tag(target, &Tag::new(Tag::TOOL_CALL_ID, id))));
        blocks.push(Block::conversation(Role::Assistant, format!("Answer {turn}.")));
    }
    blocks
}

fn fitted(blocks: &[Block<'_>], target: Provider, budget: Option<u32>) -> FittedMessages {
    fitted_if_any(blocks, target, budget).unwrap()
}

fn fitted_if_any(
    blocks: &[Block<'_>],
    target: Provider,
    budget: Option<u32>,
) -> Result<FittedMessages, FitError> {
    let candidates = ExportCandidates::new(target, blocks);
    let config = DriverConfig {
        mode: OutputMode::Minimal,
        token_budget: budget,
        fill: true,
        ..DriverConfig::default()
    };
    fit(&candidates, &DefaultDriver::new(O200K), &O200K, &config)
}

/// Bytes of all that messages say: of every value but those of the keys that give
/// messages their form, and of pictures.
fn count_texts(value: &Value) -> usize {
    const FORM: [&str; 15] = [
        "role", "type", "id", "tool_call_id", "tool_use_id", "is_error", "source", "image_url",
        "call_id", "status", "detail", "phase", "inlineData", "thoughtSignature", "mimeType",
    ];
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| !FORM.contains(&key.as_str()));
            fields.map(|(_, value)| count_texts(value)).sum()
        }
        Value::Array(values) => values.iter().map(count_texts).sum(),
        Value::String(text) => text.len(),
        Value::Null => 0,
        other => other.to_string().len(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Never a token over, but for Critical blocks alone; always a valid history; the same
    /// every time.
    #[test]
    fn exported_history_is_valid_and_fits_the_budget(
        pack in 0..PACKS.len(),
        share in 0u32..=110,
        small in prop::option::weighted(0.4, 0u32..400),
        target in prop::sample::select(Provider::ALL.to_vec()),
    ) {
        let blocks = &PACKS[pack];
        let whole = fitted(blocks, target, None);
        prop_assert_eq!(valid(target, &whole.exported), Ok(()));
        let of_whole = u64::from(share) * whole.tokens / 100;
        let budget = small.unwrap_or(u32::try_from(of_whole).unwrap());
        let fitted_to = match fitted_if_any(blocks, target, Some(budget)) {
            Ok(fitted) => fitted,
            Err(FitError::OverBudget { needed, .. }) => {
                prop_assert!(needed > budget.into());
                let enough = u32::try_from(needed).unwrap();
                let smallest = fitted(blocks, target, Some(enough));
                prop_assert!(smallest.tokens <= needed);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let FittedMessages { exported, tokens, plan, .. } = &fitted_to;
        prop_assert_eq!(valid(target, exported), Ok(()));
        prop_assert_eq!(count(exported, &O200K), *tokens);
        let json: Value = serde_json::from_str(&exported.json()).unwrap();
        let counted: usize = exported.messages.iter().map(|message| message.text.len()).sum();
        let (system, list) = keys(target);
        prop_assert!(count_texts(&json[list]) + count_texts(&json[system]) <= counted);
        if *tokens > u64::from(budget) {
            let shown = exported.messages.iter().flat_map(|message| &message.blocks);
            prop_assert!(shown.clone().count() > 0);
            for at in shown {
                prop_assert!(plan.items[*at].reason.is_fixed(), "block {} of {}", at, pack);
            }
        }
        let shown: BTreeSet<_> =
            exported.messages.iter().flat_map(|message| message.blocks.clone()).collect();
        let all = whole.exported.messages.iter().flat_map(|message| &message.blocks);
        let untold = all.filter(|at| {
            !shown.contains(at) && plan.items[**at].decision != RenderDecision::Omit
        });
        prop_assert_eq!(plan.rolled_up.map_or(0, |of| of.count), untold.count());
        if u64::from(budget) >= whole.tokens + 200 {
            prop_assert_eq!(&exported.json(), &whole.exported.json());
        }
        prop_assert_eq!(&fitted(blocks, target, Some(budget)).exported, exported);
    }
}

#[test]
fn export_without_a_budget_contains_every_turn() {
    for (pack, blocks) in PACKS.iter().enumerate() {
        for target in Provider::ALL {
            let candidates = ExportCandidates::new(target, blocks);
            let exported = fitted(blocks, target, None).exported;
            let shown: BTreeSet<_> =
                exported.messages.iter().flat_map(|message| message.blocks.clone()).collect();
            let turns = blocks.iter().enumerate().filter(|(_, block)| {
                matches!(&block.content, BlockContent::Conversation(turn)
                    if turn.tool_call_id.is_none() && !turn.content.is_empty())
            });
            let missing = turns.filter(|(at, _)| !shown.contains(at)).count();
            assert!(missing <= candidates.sidechains, "{missing} of pack {pack}");
            let whole = &candidates.full_export;
            let all: BTreeSet<_> =
                whole.messages.iter().flat_map(|message| message.blocks.clone()).collect();
            assert_eq!(shown, all, "{pack}");
        }
    }
}

#[test]
fn export_contains_the_newest_question() {
    for is_critical in [false, true] {
        let blocks = turns(40, is_critical);
        for target in Provider::ALL {
            for budget in [120, 300, 1000, 3000] {
                let fitted = fitted(&blocks, target, Some(budget));
                assert!(fitted.tokens <= budget.into());
                assert!(fitted.exported.json().contains("Question 39?"), "{budget}");
                // A budget is there to be used.
                let wanted = if budget > 200 { u64::from(budget) * 7 / 10 } else { 0 };
                assert!(fitted.tokens >= wanted, "{} of {budget}", fitted.tokens);
            }
        }
    }
}

/// More budget never takes the question away.
#[test]
fn larger_budget_never_drops_the_newest_question() {
    let text = json!([
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "Look at this long text, please, and tell me what is in it, \
            all of it, in order."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "And what does the second paragraph say of it?"},
    ]);
    let blocks = of_text(Format::OpenAiChat, &text.to_string());
    for target in Provider::ALL {
        let least = (1..60).find(|budget| {
            fitted_if_any(&blocks, target, Some(*budget))
                .is_ok_and(|fitted| fitted.exported.json().contains("second paragraph"))
        });
        for budget in least.expect("a budget for the question")..100 {
            let FittedMessages { exported, tokens, .. } = fitted(&blocks, target, Some(budget));
            assert!(exported.json().contains("say of it?"), "{budget}: {}", exported.json());
            assert!(tokens <= budget.into());
        }
    }
}

/// Tools are a part of what the provider bills.
#[test]
fn tool_definitions_are_counted_and_renames_reported() {
    let request = with_tools(20);
    let blocks = of_text(Format::OpenAiChat, &request);
    let whole = fitted(&blocks, Provider::OpenAi, None);
    let tools = serde_json::from_str::<Value>(&whole.exported.json()).unwrap()["tools"].clone();
    assert!(whole.overhead_tokens >= u64::from(O200K.estimate(&tools.to_string())));
    let beside = u32::try_from(whole.overhead_tokens).unwrap();
    for budget in [beside + 30, beside + 60, beside + 200] {
        let fitted = fitted(&blocks, Provider::OpenAi, Some(budget));
        assert!(fitted.tokens <= budget.into() && fitted.exported.json().contains("of the other?"));
    }
    // Another provider's tools are not there, and cost nothing.
    assert_eq!(fitted(&blocks, Provider::Anthropic, None).overhead_tokens, 0);

    let pack = run_with(&["import", "-"], request.as_bytes()).stdout;
    let export = ["export", "-", "--to", "openai", "--budget", "100", "--report", "-"];
    let output = run_with(&export, &pack);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.contains(&format!("({beside} of them outside the messages, such as tools)")));
    assert!(
        message.contains(": only the request's tools, critical and pinned blocks remain"),
        "{message}"
    );
    assert!(message.contains(&format!("\"beside_tokens\": {beside}")), "{message}");
    assert!(message.contains("renamed 20 tools (not valid names for openai): "), "{message}");
    assert!(message.contains("\"fs.tool 0\" → fs_tool_0, "), "{message}");
    let denied = run_with(&[&export[..], &["--strict"]].concat(), &pack);
    assert_eq!(denied.status.code(), Some(4), "{}", stderr(&denied));
}

#[test]
fn reasoning_and_citations_count_against_the_budget() {
    for (format, target) in
        [(Format::OpenAiChat, Provider::OpenAi), (Format::Anthropic, Provider::Anthropic)]
    {
        let blocks = conversation_and_code(format);
        for budget in [100, 300, 1000, 2000] {
            let FittedMessages { tokens, exported, .. } = fitted(&blocks, target, Some(budget));
            assert!(tokens <= budget.into() && exported.json().contains("Question 19?"));
        }
        let blocks = by_position(blocks);
        for budget in [100, 300, 1000, 2000] {
            let FittedMessages { tokens, exported, .. } = fitted(&blocks, target, Some(budget));
            assert!(tokens <= budget.into() && exported.json().contains("Question 19?"));
            assert!(tokens >= u64::from(budget) / 2, "{target}: {tokens} of {budget}");
        }
    }
}

/// Where no plan fits, the oldest messages give way, and the line in the text counts them.
#[test]
fn dropped_messages_are_counted_in_the_text() {
    let blocks = turns(40, false);
    let candidates = ExportCandidates::new(Provider::OpenAi, &blocks);
    let config = DriverConfig {
        mode: OutputMode::Minimal,
        verbosity: Verbosity::Full,
        token_budget: Some(600),
        ..DriverConfig::default()
    };
    let fitted = fit(&candidates, &DefaultDriver::new(O200K), &O200K, &config).unwrap();
    assert!(fitted.dropped > 0 && fitted.tokens <= 600);
    let shown: BTreeSet<_> =
        fitted.exported.messages.iter().flat_map(|message| message.blocks.clone()).collect();
    let all = candidates.full_export.messages.iter().flat_map(|message| &message.blocks);
    let missing = all.filter(|at| !shown.contains(at)).count();
    assert_eq!(fitted.plan.rolled_up.map(|of| of.count), Some(missing));
    let line = format!("[omitted: {missing} blocks ~");
    assert!(fitted.exported.json().contains(&line), "{}", fitted.exported.json());
}

#[test]
fn dropped_messages_give_a_warning() {
    let blocks = by_position(conversation_and_code(Format::OpenAiChat));
    let dropped = |budget: &u32| fitted(&blocks, Provider::OpenAi, Some(*budget)).dropped > 0;
    let budget = (340..400).find(dropped).expect("a budget that no plan fits").to_string();
    let mut pack = PackWriter::new(EncodeOptions::default());
    for block in &blocks {
        pack.add(block).unwrap();
    }
    let pack = pack.finish().unwrap();
    let arguments = ["export", "-", "--to", "openai", "--report", "-", "--budget", &budget];
    let message = stderr(&run_with(&arguments, &pack));
    assert!(
        message.contains(
            "dropped 1 message, oldest first, because no plan fit the budget [dropped_messages]"
        ),
        "{message}"
    );
    assert!(message.contains("\"dropped_messages\": 1"), "{message}");
}

#[test]
fn critical_overflow_is_an_error_if_denied() {
    let blocks = turns(3, true);
    let candidates = ExportCandidates::new(Provider::OpenAi, &blocks);
    let config = DriverConfig {
        mode: OutputMode::Minimal,
        token_budget: Some(4),
        overflow: Overflow::Deny,
        ..DriverConfig::default()
    };
    assert!(fit(&candidates, &DefaultDriver::new(O200K), &O200K, &config).is_err());
}

/// What was imported comes back.
#[test]
fn imported_transcript_exports_unchanged() {
    let chat = r#"{"model":"m","messages":[
        {"role":"system","content":"Be brief."},
        {"role":"user","content":"Add 1 and 2."},
        {"role":"assistant","content":null,"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":1, \"b\":2}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"3"},
        {"role":"assistant","content":"3."}]}"#;
    let anthropic = r#"{"system":"Be brief.","messages":[
        {"role":"user","content":"Read it."},
        {"role":"assistant","content":[
            {"type":"thinking","thinking":"A file.","signature":"c2ln"},
            {"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a.rs"}}]},
        {"role":"user","content":[
            {"type":"tool_result","tool_use_id":"t1","content":"     1→fn f() {}"}]},
        {"role":"assistant","content":"It is empty."}]}"#;
    for (to, text) in [("openai", chat), ("anthropic", anthropic)] {
        let pack = run_with(&["import", "-"], text.as_bytes());
        assert!(pack.status.success(), "{}", stderr(&pack));
        for more in [&[][..], &["--budget", "2000"][..]] {
            let arguments = [&["export", "-", "--to", to][..], more].concat();
            let output = run_with(&arguments, &pack.stdout);
            assert!(output.status.success(), "{}", stderr(&output));
            let back: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(back, serde_json::from_str::<Value>(text).unwrap(), "{more:?}");
        }
    }
}

#[test]
fn export_reports_omitted_items() {
    let folder = tempfile::tempdir().unwrap();
    let (pack, report) = (folder.path().join("a.lcp"), folder.path().join("a.json"));
    let [pack, report] = [&pack, &report].map(|path| path.to_str().unwrap());
    let session = transcript("claude-code.jsonl");
    let session = session.to_str().unwrap();
    assert!(run(&["-q", "import", session, "--sidechains", "-o", pack]).status.success());
    let output = run(&["export", pack, "--to", "anthropic", "--budget", "90", "--report", report]);
    assert!(output.status.success(), "{}", stderr(&output));
    let message = stderr(&output);
    assert!(
        message.contains("dropped 2 blocks of side conversations [sidechain_blocks]"),
        "{message}"
    );
    assert!(
        message
            .contains("dropped 1 item of type user.meta, which messages cannot contain [left_out]"),
        "{message}"
    );
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!((&report["schema"], &report["to"]), (&"lcp.export.v1".into(), &"anthropic".into()));
    assert!(report["used_tokens"].as_u64().unwrap() <= 90);
    assert!(!report["messages"].as_array().unwrap().is_empty());

    let denied = run(&["export", pack, "--to", "word"]);
    assert_eq!(denied.status.code(), Some(2));
    let broken = run_with(&["export", "-", "--to", "openai"], b"no pack");
    assert_eq!(broken.status.code(), Some(3));
}

#[test]
fn images_count_if_asked() {
    let url = "data:image/png;base64,iVBORw0KGgo=";
    let image = json!({ "type": "image_url", "image_url": { "url": url } });
    let messages = json!([{ "role": "user", "content": [image] }]).to_string();
    let pack = run_with(&["-q", "import", "-"], messages.as_bytes()).stdout;
    let tokens = |flags: &[&str]| {
        let export = ["-q", "export", "-", "--to", "openai", "--report", "-"];
        let output = run_with(&[&export, flags].concat(), &pack);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stderr).unwrap();
        ["used_tokens", "image_tokens"].map(|field| report[field].as_u64().unwrap())
    };
    let [text, images] = tokens(&[]);
    assert_eq!(images, 0);
    assert_eq!(tokens(&["--image-tokens", "765"]), [text + 765, 765]);
}
