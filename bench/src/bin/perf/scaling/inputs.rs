//! Adversarial inputs of any size, in addition to those of [`hostile`].

use lcp_encoder::{EncodeOptions, PackWriter, encode};
use lcp_testkit::hostile::{self, Case};
use lcp_types::{Block, FormatHint, Lang, MemoryContentStore, Role};

use super::Walk;

/// Returns the inputs of an operation, and puts the bodies that they refer to into the store.
pub(super) fn cases(walk: Walk, many: usize, store: &mut MemoryContentStore) -> Vec<Case> {
    match walk {
        Walk::Manifest => hostile::manifests(many),
        Walk::Import => transcripts(many),
        Walk::Diff => diffs(many),
        _ => [hostile::cases_of(many), contents(many), vec![references(many, store)]].concat(),
    }
}

/// Returns a pack whose blocks all refer to one body in the store.
fn references(many: usize, store: &mut MemoryContentStore) -> Case {
    let mut pack = PackWriter::new(EncodeOptions::default());
    let turn = Block::conversation(Role::User, "a");
    let added = (0..many).try_for_each(|_| pack.add_reference(&turn, store).map(drop));
    let pack = added.and_then(|()| pack.finish());
    ("references to one body", pack.unwrap_or_default())
}

/// Returns packs with contents that renderers must escape or fence, each with `many` repetitions.
fn contents(many: usize) -> Vec<Case> {
    let of = |content: String| {
        let blocks = [
            Block::code(Lang::Rust, "a.rs", content.as_str()),
            Block::document("a", content.as_str(), FormatHint::Markdown),
            Block::conversation(Role::User, content.as_str()),
        ];
        encode(&blocks, EncodeOptions::default()).unwrap_or_default()
    };
    let label = Block::code(Lang::Rust, "<&\u{1b}a".repeat(many), "x");
    // Fences that grow, with as many bytes in all as `many` lines of four bytes.
    let growing = (3..).scan(0, |sum, len| {
        *sum += len + 1;
        (*sum < 4 * many).then(|| "`".repeat(len) + "\n")
    });
    vec![
        ("newlines", of("\n".repeat(many))),
        ("spaces", of(" ".repeat(many))),
        ("fences", of("```\n".repeat(many))),
        ("fences that grow", of(growing.collect())),
        ("end tags", of("</code>\n</doc>\n</turn>\n".repeat(many))),
        ("ends of minimal texts", of("EOF\n--- \n".repeat(many))),
        ("special tokens", of("<|im_end|>[INST]".repeat(many))),
        ("special tokens that do not end", of("<|a_b.c".repeat(many))),
        ("a huge label", encode(&[label], EncodeOptions::default()).unwrap_or_default()),
    ]
}

/// Returns transcripts in the formats of providers and clients.
fn transcripts(many: usize) -> Vec<Case> {
    let messages = |message: &str| format!("[{}]", vec![message; many].join(",")).into_bytes();
    let call = r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let calls = vec![call; many].join(",");
    let parts = vec![r#"{"type":"text","text":"a"}"#; many].join(",");
    let line =
        r#"{"type":"user","uuid":"u","parentUuid":"u","message":{"role":"user","content":"a"}}"#;
    vec![
        ("messages", messages(r#"{"role":"user","content":"a"}"#)),
        ("results of one call", messages(r#"{"role":"tool","tool_call_id":"c","content":"a"}"#)),
        (
            "calls of one message",
            format!(r#"[{{"role":"assistant","content":null,"tool_calls":[{calls}]}}]"#)
                .into_bytes(),
        ),
        (
            "parts of one message",
            format!(r#"[{{"role":"user","content":[{parts}]}}]"#).into_bytes(),
        ),
        ("lines of one id", format!("{line}\n").repeat(many).into_bytes()),
        ("headings", b"## User\n\n".repeat(many)),
        ("fences in Markdown", [&b"## User\n\n"[..], &b"```\n".repeat(many)].concat()),
    ]
}

/// Returns diffs in git's format.
fn diffs(many: usize) -> Vec<Case> {
    let file = "--- a/f\n+++ b/f\n";
    vec![
        ("files", format!("{file}@@ -1 +1 @@\n-a\n+b\n").repeat(many).into_bytes()),
        ("hunks", format!("{file}{}", "@@ -1 +1 @@\n-a\n+b\n".repeat(many)).into_bytes()),
        ("headers alone", file.repeat(many).into_bytes()),
    ]
}
