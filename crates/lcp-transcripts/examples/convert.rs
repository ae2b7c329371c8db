//! Converts a request of the OpenAI API to blocks, and the blocks to messages for Anthropic:
//!
//! ```text
//! cargo run -p lcp-transcripts --example convert
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the blocks and the messages")]

use std::error::Error;

use lcp_transcripts::{ExportBlock, Options, Provider, detect, export, import};

/// A conversation with one tool call and its result.
const TRANSCRIPT: &[u8] = br#"{"model": "gpt-5", "messages": [
  {"role": "system", "content": "Answer in one sentence."},
  {"role": "user", "content": "What is in a.txt?"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
    "function": {"name": "read", "arguments": "{\"path\":\"a.txt\"}"}}]},
  {"role": "tool", "tool_call_id": "call_1", "content": "one line"},
  {"role": "assistant", "content": "The file has one line."}
]}"#;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // An import never fails because of an unknown part: it keeps the part and counts it.
    let format = detect(TRANSCRIPT).ok_or("the format is unknown")?;
    let imported = import(format, TRANSCRIPT, &Options::default())?;
    let report = &imported.report;
    println!("{}: {} messages, {} tool calls", format.name(), report.messages, report.calls);
    for block in imported.blocks.iter().filter(|block| !block.content.is_metadata()) {
        println!("  {} {}", block.block_type().label(), block.label());
    }

    // An export is a valid history: each call has one result, and the roles alternate. To leave a
    // block out or to shorten it, change the `detail` of its `ExportBlock`.
    let blocks: Vec<_> = imported.blocks.iter().map(ExportBlock::new).collect();
    let exported = export(Provider::Anthropic, &blocks, None);
    println!("{} messages for Anthropic:\n{}", exported.report.messages, exported.json());
    Ok(())
}
