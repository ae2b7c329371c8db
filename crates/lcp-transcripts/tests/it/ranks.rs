//! Newer messages of a conversation have higher ranks.

use lcp_transcripts::{Format, ImportResult, Provider};
use lcp_types::{Block, BlockMeta, Role};

use crate::support::{exported, imported};

/// Returns the ranks of all blocks that are not annotations.
fn ranks(found: &ImportResult) -> Vec<Option<f64>> {
    let metas = BlockMeta::resolve_all(&found.blocks, &mut |_, _| panic!("an annotation is wrong"));
    let blocks = found.blocks.iter().zip(metas);
    blocks.filter(|(block, _)| block.as_annotation().is_none()).map(|(_, meta)| meta.rank).collect()
}

#[test]
fn newer_messages_rank_higher() {
    let text = r#"{"model": "m", "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "a"}, {"type": "file", "file": {}}]},
        {"role": "assistant", "content": "b", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "     1\tx\n"}]}"#;
    let found = imported(Format::OpenAiChat, text);
    // All parts of a message have the same rank. The system prompt and the request belong to no
    // point in time, and have no rank.
    let of_user = [Some(1.0), Some(1.0), Some(1.0)];
    let others = [Some(2.0), Some(2.0), Some(3.0), None];
    assert_eq!(ranks(&found), [&[None], &of_user[..], &others].concat());
    for target in Provider::ALL {
        assert!(!exported(target, &found.blocks).json().contains("rank"));
    }
}

/// Stable plans compare blocks with the blocks of the previous turn.
#[test]
fn continued_conversation_keeps_earlier_ranks() {
    let messages = ["system", "user", "assistant", "user"]
        .map(|role| format!(r#"{{"role":"{role}","content":"{role}"}}"#));
    let of =
        |messages: &[String]| imported(Format::OpenAiChat, &format!("[{}]", messages.join(",")));
    let (before, after) = (of(&messages[..3]).blocks, of(&messages).blocks);
    assert_eq!(before, after[..before.len()]);
    let newest = after.iter().rposition(|block| block.as_annotation().is_none()).unwrap();
    assert_eq!(Block::conversation(Role::User, "user"), after[newest]);
}

#[test]
fn documents_have_no_rank() {
    assert_eq!(ranks(&imported(Format::Markdown, "# Notes\n\nText.\n")), [None]);
}
