//! Input that is broken, hostile, or in another format.

use expect_test::{Expect, expect};
use lcp_transcripts::{Format, Options, Provider, WARNINGS_MAX, import};
use lcp_types::{Annotation, Block};
use proptest::prelude::*;

use crate::support::{exported, imported, lines};

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic];

#[track_caller]
fn refused(format: Format, bytes: &[u8], expected: &Expect) {
    let error = import(format, bytes, &Options::default()).expect_err("refused");
    expected.assert_eq(&format!("{error} [{}]", error.code()));
}

#[test]
fn errors_report_cause_and_position() {
    let chat = Format::OpenAiChat;
    refused(
        chat,
        b"",
        &expect!["not valid JSON: EOF while parsing a value (line 1) [LCP-CNV-002]"],
    );
    refused(
        chat,
        b"[{\"role\": \"user\",\n \"content\": \"cut",
        &expect!["not valid JSON: EOF while parsing a string (line 2, column 16) [LCP-CNV-002]"],
    );
    refused(chat, b"[\n \"\xFF\"]", &expect!["not UTF-8 (line 2, column 3) [LCP-CNV-001]"]);
    refused(
        chat,
        b"Dear all,\nhello",
        &expect!["not valid JSON: expected value (line 1, column 1) [LCP-CNV-002]"],
    );
    refused(
        chat,
        b"{\"dependencies\": {}}",
        &expect![[
            r#"not a transcript in the format openai-chat: expected a list of messages, or an object with "messages" or "choices", or one message [LCP-CNV-004]"#
        ]],
    );
    refused(
        chat,
        b"[1, 2]",
        &expect![[
            r#"not a transcript in the format openai-chat: expected a list of messages, or an object with "messages" or "choices", or one message [LCP-CNV-004]"#
        ]],
    );
    refused(
        chat,
        b"42",
        &expect![[
            r#"not a transcript in the format openai-chat: expected a list of messages, or an object with "messages" or "choices", or one message [LCP-CNV-004]"#
        ]],
    );
    refused(
        Format::Anthropic,
        b"{\"messages\": 1}",
        &expect![[
            r#"not a transcript in the format anthropic: expected a list of messages, or an object with "messages", or one message [LCP-CNV-004]"#
        ]],
    );
    refused(
        Format::OpenAiResponses,
        b"{\"output\": {}}",
        &expect![[
            r#"not a transcript in the format openai-responses: expected a list of items, or an object with "input" or "output", or one item [LCP-CNV-004]"#
        ]],
    );
    let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
    refused(
        chat,
        deep.as_bytes(),
        &expect![
            "nested deeper than 120 levels (TRANSCRIPT_DEPTH_MAX) (line 1, column 121) [LCP-CNV-003]"
        ],
    );
}

#[test]
fn brackets_in_strings_are_not_nesting() {
    // An escaped quote does not end a string. A quote after an escaped backslash does.
    let text = format!(r#"{}\"{}\\"#, "[{".repeat(200), "[".repeat(200));
    let message = |content: &str| format!(r#"{{"role":"user","content":"{text}","x":{content}}}"#);
    let flat = format!("\u{FEFF}\n [{},{}]", message("[[]]"), message("{}"));
    assert_eq!(imported(Format::OpenAiChat, &flat).report.messages, 2);
    let deep =
        format!("\u{FEFF}\n [{}]", message(&format!("{}{}", "[".repeat(119), "]".repeat(119))));
    let error = import(Format::OpenAiChat, deep.as_bytes(), &Options::default()).unwrap_err();
    let column = deep.lines().nth(1).unwrap().find(r#""x":"#).unwrap() + 4 + 119;
    assert_eq!((error.line, error.column), (2, column), "{error}");
}

#[test]
fn empty_list_is_a_transcript_without_messages() {
    for format in FORMATS {
        let found = imported(format, "\u{FEFF} [] ");
        assert_eq!((found.blocks.len(), found.report.warnings.len()), (0, 1), "{format}");
    }
}

#[test]
fn malformed_items_become_extensions_with_warnings() {
    let text = r#"[
        {"role": "user", "content": "half \ud800 of a pair"},
        17,
        {"role": "critic", "content": "?"},
        {"role": "user", "content": {"a": 1}},
        {"role": "user", "content": [7, {"text": "no type"}, {"type": "text", "text": 5},
          {"type": "image_url", "image_url": {"url": "data:image/png;base64,??"}}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "a b", "arguments": {"x": 1}}}, {"id": "n"}]},
        {"role": "tool", "content": "answered by order"},
        {"role": "tool", "tool_call_id": "nobody", "content": "orphan"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "open"}}]},
        {"role": "user", "content": ""}]"#;
    let found = imported(Format::OpenAiChat, text);
    expect![[r#"
        user: "half ��� of a pair" [message=0]
        openai-chat item: "17" []
        openai-chat item: "{\"role\": \"critic\", \"content\": \"?\"}" []
        openai-chat content: "{\"a\": 1}" []
        openai-chat part: "7" []
        openai-chat part: "{\"text\": \"no type\"}" []
        openai-chat text: "{\"type\": \"text\", \"text\": 5}" [message=2]
        openai-chat image_url: "{\"type\": \"image_url\", \"image_url\": {\"url\": \"data:image/png;base64,??\"}}" [message=2]
        assistant calls lcp_call_0: "a b {\"x\": 1}" [message=3, name=a b, openai-chat.content={}]
        openai-chat tool_call: "{\"id\": \"n\"}" []
        result of a b ok: "answered by order" [message=4, tool_call_id=lcp_call_0, args={"x": 1}]
        result of  ok: "orphan" [message=5, tool_call_id=nobody]
        assistant calls c: "open" [message=6, openai-chat.content={}]
    "#]].assert_eq(&lines(&found.blocks));
    let warnings: Vec<_> = found.report.warnings.iter().map(ToString::to_string).collect();
    expect![[r#"
        line 2: replaced an unpaired surrogate with U+FFFD
        line 3: not a message of openai-chat; imported as an extension block
        line 4: not a message of openai-chat; imported as an extension block
        line 5: content is neither text nor a list; imported as an extension block
        line 6: content part has no type; imported as an extension block
        line 6: content part has no type; imported as an extension block
        line 6: cannot decode an image; imported as an extension block
        line 8: tool call has no ID; assigned one
        line 8: cannot read a tool call; imported as an extension block
        line 9: tool result has no ID; matched to the oldest open call
        line 10: tool result for "nobody" does not match an open tool call
        line 11: tool call "c" has no result"#]]
    .assert_eq(&warnings.join("\n"));
    for target in Provider::ALL {
        let back = exported(target, &found.blocks);
        assert_eq!((back.report.calls, back.report.orphans, back.report.unanswered), (1, 1, 1));
    }
}

#[test]
fn anthropic_image_result_without_id_stays_an_error() {
    let text = r#"[
        {"role": "user", "content": [{"type": "text", "text": " "}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "shot", "input": 3}, {"type": "tool_use", "id": "x"}]},
        {"role": "user", "content": [{"type": "tool_result", "is_error": true, "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}]}]}]"#;
    let found = imported(Format::Anthropic, text);
    expect![[r#"
        user: " " [message=0]
        assistant calls lcp_call_0: "shot 3" [message=1]
        anthropic tool_use: "{\"type\": \"tool_use\", \"id\": \"x\"}" [message=1, role=assistant]
        png of 4 bytes: "" [message=2, tool_call_id=lcp_call_0, anthropic.result={"is_error":true}]
    "#]]
    .assert_eq(&lines(&found.blocks));
    let back = exported(Provider::Anthropic, &found.blocks);
    assert!(back.json().contains("\"is_error\":true"), "{}", back.json());
    exported(Provider::OpenAi, &found.blocks);
}

#[test]
fn warnings_are_bounded_and_counted() {
    let lines =
        "{\"role\": \"user\", \"content\": \"a\"}\n".to_owned() + &"{\n".repeat(WARNINGS_MAX + 7);
    let report = imported(Format::OpenAiChat, &lines).report;
    assert_eq!((report.warnings.len(), report.more_warnings), (WARNINGS_MAX, 7));
    assert_eq!(report.unknown["line"], WARNINGS_MAX as u64 + 7);
}

#[test]
fn oversized_ids_and_types_fit_a_pack() {
    let long = "x".repeat(2 << 20);
    let text = serde_json::json!([
        {"role": "user", "content": [{"type": long}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": long, "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": long, "content": "b"}]},
    ]);
    let found = imported(Format::Anthropic, &text.to_string());
    // Long values are not lost.
    let kept = |name: &str| {
        let kept = found.blocks.iter().filter_map(Block::as_extension);
        kept.filter(|extension| extension.type_name == name && extension.content.len() > long.len())
            .count()
    };
    assert_eq!((kept("tool_call"), kept("tool_call_id"), found.report.warnings.len()), (1, 1, 3));
    for block in &found.blocks {
        let tag = block.as_annotation().and_then(Annotation::as_tag);
        assert!(tag.is_none_or(|tag| tag.value.is_none_or(|value| value.len() < long.len())));
        if let lcp_types::BlockContent::Conversation(turn) = &block.content {
            assert_eq!(turn.tool_call_id, None);
        }
        if let Some(extension) = block.as_extension() {
            assert!(extension.type_name.len() <= 64);
        }
    }
}

proptest! {
    #[test]
    fn corrupted_transcripts_never_panic(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let text = r#"{"system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "a\u00e9\n"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {"c": [1, null]}}],
             "tool_calls": [{"id": "d", "type": "function", "function": {"name": "e", "arguments": "{}"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "f"}]},
            {"role": "tool", "tool_call_id": "d", "content": "g"}]}"#;
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        for format in FORMATS {
            if let Ok(found) = import(format, &bytes, &Options::default()) {
                for target in Provider::ALL {
                    exported(target, &found.blocks);
                }
            }
        }
    }
}
