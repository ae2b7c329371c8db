//! The category of the results of search tools.

use lcp_transcripts::{Format, ImportResult, Options, import};
use lcp_types::{Block, BlockContent, BlockMeta};
use serde_json::{Value, json};

use crate::support::{comes_back, imported};

/// Returns a chat in which each tool is called once.
fn chat(tools: &[&str]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Where is it?"})];
    for (at, tool) in tools.iter().enumerate() {
        let call = json!({"id": format!("c{at}"), "type": "function",
            "function": {"name": tool, "arguments": "{\"pattern\":\"fn main\"}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let text = format!("src/main.rs: fn main // {tool}");
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": text}));
    }
    json!(messages).to_string()
}

/// Returns the tools whose results have the category, and checks that no other block has one.
fn searches(imported: &ImportResult) -> Vec<&str> {
    let metas = BlockMeta::resolve_all(&imported.blocks, &mut |_, error| panic!("{error}"));
    let tagged = imported.blocks.iter().zip(metas).filter_map(|(block, meta)| {
        let BlockContent::ToolResult(result) = &block.content else {
            assert_eq!(meta.category, None);
            return None;
        };
        let category = meta.category?;
        assert_eq!(category, "search_results");
        Some(&*result.tool_name)
    });
    tagged.collect()
}

#[test]
fn results_of_search_tools_have_a_category() {
    let found = [
        "Grep", "Glob", "WebSearch", // Claude Code
        "grep_files", "web_search", // Codex
        "search_file_content", "grep_search", "google_web_search", // Gemini CLI
        "grep", "glob", "websearch", "codesearch", // opencode
        "codebase_search", "mcp__github__search_code", "brave-web-search",
    ];
    let other =
        ["Read", "Bash", "shell", "web_fetch", "ls", "ToolSearch", "mcp__grep__read", "research"];
    let imported = comes_back(Format::OpenAiChat, &chat(&[&found[..], &other].concat()));
    assert_eq!(searches(&imported), found);
}

#[test]
fn further_search_tools_come_from_the_options() {
    let text = chat(&["mcp__docs__Look_Up", "lookup_all", "grep"]);
    assert_eq!(searches(&imported(Format::OpenAiChat, &text)), ["grep"]);
    let mut options = Options::default();
    options.search_tools.push("look-up".to_owned());
    let imported = import(Format::OpenAiChat, text.as_bytes(), &options).unwrap();
    assert_eq!(searches(&imported), ["mcp__docs__Look_Up", "grep"]);
}

/// A category does not change the messages, and every annotation follows its block.
#[test]
fn search_results_round_trip_in_each_format() {
    let input = json!({"q": "x"});
    let anthropic = json!([
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Grep", "input": input},
            {"type": "tool_use", "id": "b", "name": "Read", "input": input}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "a.rs:1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "text", "is_error": true}]},
    ]);
    let responses = json!([
        {"type": "message", "role": "user", "content": "Where?"},
        {"type": "function_call", "call_id": "a", "name": "grep_files", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "a.rs:1"},
    ]);
    let gemini = json!([
        {"role": "user", "parts": [{"text": "Where?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "glob", "args": input}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "glob", "response": {"output": "a.rs"}}}]},
    ]);
    let chats: [(Format, Value, &str); 3] = [
        (Format::Anthropic, anthropic, "Grep"),
        (Format::OpenAiResponses, responses, "grep_files"),
        (Format::Gemini, gemini, "glob"),
    ];
    for (format, messages, tool) in chats {
        let imported = comes_back(format, &messages.to_string());
        assert_eq!(searches(&imported), [tool], "{format}");
        let mut content = 0;
        for (at, block) in imported.blocks.iter().enumerate() {
            match Block::target_index(block) {
                Some(target) => assert_eq!(target, content, "{format}"),
                None => content = at as u64,
            }
        }
    }
}
