//! `merge` and `diff` (`docs/cli.md`).

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::PackWriter;
use lcp_packfile::merge;
use lcp_testkit::any_pack;
use lcp_types::{Block, BlockMeta, FormatHint, MemoryContentStore};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::command::{encode, printed, run, run_with, sample, stderr};

fn metas<'b>(blocks: &'b [Block<'_>]) -> Vec<BlockMeta<'b>> {
    BlockMeta::resolve_all(blocks, &mut |_, _| {})
}

proptest! {
    /// Blocks are those of both, and what is said of each is what was said of it.
    #[test]
    fn merge_preserves_blocks_and_their_metadata(a in any_pack(), b in any_pack()) {
        let merged = merge(vec![a.clone(), b.clone()]);
        let shown = |blocks: &[Block<'static>]| -> Vec<Block<'static>> {
            let shown = blocks.iter().filter(|block| block.target_index().is_none());
            shown.cloned().collect()
        };
        prop_assert_eq!(merged.len(), a.len() + b.len());
        prop_assert_eq!(shown(&merged), [shown(&a), shown(&b)].concat());
        prop_assert_eq!(metas(&merged), [metas(&a), metas(&b)].concat());
    }

    /// What named no block names none afterwards, in however many steps.
    #[test]
    fn merging_stepwise_equals_merging_at_once(a in any_pack(), b in any_pack(), c in any_pack()) {
        let once = merge(vec![a.clone(), b.clone(), c.clone()]);
        let steps = merge(vec![merge(vec![a, b]), c]);
        prop_assert_eq!(metas(&once), metas(&steps));
    }
}

#[test]
fn merge_preserves_message_order_and_ranks() {
    let (_folder, path) = scratch();
    let packs = ["one", "two", "three"].map(|said| {
        let messages = json!([{"role": "user", "content": said}]).to_string();
        let pack = path(&format!("{said}.lcp"));
        let output = run_with(&["import", "-", "-o", &pack], messages.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        pack
    });
    let [one, two, three] = &packs;
    let merged = run(&["merge", one, two, three, "--no-config"]).stdout;
    let output = run_with(&["export", "-", "--to", "openai"], &merged);
    let found: Value = serde_json::from_str(&printed(&output)).unwrap();
    let said = ["one", "two", "three"].map(|said| json!({"role": "user", "content": said}));
    assert_eq!(found["messages"], json!(said));
    // What is said later ranks higher, in whichever pack.
    let blocks = decode(&merged, DecodeOptions::default()).unwrap().blocks;
    let ranks: Vec<_> = metas(&blocks).iter().filter_map(|meta| meta.rank).collect();
    assert_eq!(ranks, [0.0, 1.0, 2.0]);
}

fn scratch() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name).to_str().unwrap().to_owned())
}

fn code(path: &str, content: &str, priority: &str) -> Value {
    json!({ "type": "code", "lang": "rust", "path": path, "content": content, "priority": priority })
}

fn make(path: &str, blocks: &Value) {
    encode(&json!({ "blocks": blocks }).to_string(), path.as_ref());
}

#[test]
fn merge_writes_one_pack() {
    let (_folder, path) = scratch();
    let (a, b, both) = (path("a.lcp"), path("b.lcp"), path("both.lcp"));
    make(&a, &json!([code("a.rs", "1", "high")]));
    make(&b, &json!([code("b.rs", "1", "low")]));
    let output = run(&["merge", &a, &b, "-o", &both, "--no-config", "--compress", "payload"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let bytes = std::fs::read(&both).unwrap();
    let pack = decode(&bytes, DecodeOptions::default()).unwrap();
    let priorities: Vec<_> = metas(&pack.blocks).iter().map(|meta| meta.priority.name()).collect();
    assert_eq!(priorities, ["high", "normal", "low", "normal"]);
    let piped = run_with(&["merge", "-", &b, "--no-config"], &std::fs::read(&a).unwrap());
    assert_eq!(decode(&piped.stdout, DecodeOptions::default()).unwrap().blocks, pack.blocks);
    let once = run(&["merge", &a, &b, "--no-config", "--dedup", "exact"]).stdout;
    let once = decode(&once, DecodeOptions::default()).unwrap();
    let shown = once.blocks.iter().filter(|block| !block.content.is_metadata());
    assert_eq!(shown.count(), 1);
    for (arguments, code) in [
        (&["merge", "-", "-"][..], 2),
        (&["merge", &a, &b, "-o", &b], 2),
        (&["merge", &a, "/no/such/pack"], 1),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

/// What a newer program names where is not known.
#[test]
fn merge_warns_of_handoff_with_unknown_version() {
    let (_folder, path) = scratch();
    let (a, new, known) = (path("a.lcp"), path("new.lcp"), path("known.lcp"));
    let index = |version: u32| {
        let content = json!({ "version": version, "summary": 0 }).to_string();
        let block = json!({
            "type": "extension", "namespace": "lcp", "type_name": "handoff", "content": content,
        });
        json!([code("b.rs", "1", "normal"), block])
    };
    make(&a, &json!([code("a.rs", "1", "normal")]));
    make(&new, &index(99));
    make(&known, &index(1));
    let warned = |packs: &[&str]| {
        let output = run(&[&["merge", "--no-config"], packs].concat());
        assert!(output.status.success() && !output.stdout.is_empty());
        stderr(&output)
    };
    let said = warned(&[&a, &new]);
    assert!(said.contains("warning: cannot update the block numbers of a hand-off, "), "{said}");
    assert!(said.contains("new.lcp, block 2)"), "{said}");
    // Those that are moved, or need not be.
    assert_eq!(warned(&[&a, &known]) + &warned(&[&new, &a]), "");
}

/// Contents that are elsewhere can be neither copied nor compared.
#[test]
fn merge_and_diff_reject_packs_with_external_content() {
    let (_folder, path) = scratch();
    let (whole, referring) = (path("whole.lcp"), path("referring.lcp"));
    make(&whole, &json!([code("a.rs", "1", "normal")]));
    let mut builder = PackWriter::default();
    let block = Block::document("", "elsewhere", FormatHint::Plain);
    builder.add_reference(&block, &mut MemoryContentStore::default()).unwrap();
    std::fs::write(&referring, builder.finish().unwrap()).unwrap();
    for arguments in [["merge", &whole, &referring], ["diff", &whole, &referring]] {
        let output = run(&arguments);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
        assert!(stderr(&output).contains("[no_store]"), "{}", stderr(&output));
    }
    for command in ["inspect", "validate"] {
        let output = run(&[command, &referring]);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
    }
}

#[test]
fn diff_lists_moved_changed_removed_and_added_blocks() {
    let (_folder, path) = scratch();
    let (a, b) = (path("a.lcp"), path("b.lcp"));
    let same = |name: &str| code(name, "fn same() {}\n", "normal");
    make(
        &a,
        &json!([
            same("1.rs"),
            same("2.rs"),
            code("3.rs", "one\ntwo\n", "normal"),
            code("4.rs", "x", "low")
        ]),
    );
    make(
        &b,
        &json!([
            same("2.rs"),
            same("1.rs"),
            code("3.rs", "one\n2\n", "high"),
            code("5.rs", "y", "low")
        ]),
    );
    let said = printed(&run(&["diff", &a, &b, "--no-config", "--text"]));
    expect_test::expect![[r#"
        > code 1.rs (block 0 → 2, moved, 4 tokens)
        ~ code 3.rs (block 4, content, priority normal → high, 4 tokens)
             @@ -1,2 +1,2 @@
             one
            -two
            +2
        - code 4.rs (block 6, 2 tokens)
        + code 5.rs (block 6, 2 tokens)
        1 added, 1 removed, 1 changed, 1 moved, 1 unchanged; 2 tokens added, 2 removed
    "#]]
    .assert_eq(&said);
    let json: Value =
        serde_json::from_str(&printed(&run(&["diff", &a, &b, "--no-config", "--json"]))).unwrap();
    assert_eq!((&json["schema"], &json["differs"]), (&json!("lcp.diff.v1"), &json!(true)));
    let fates: Vec<_> = json["blocks"].as_array().unwrap().iter().map(|row| &row["fate"]).collect();
    assert_eq!(fates, ["moved", "changed", "removed", "added"]);
    let output = run(&["diff", &a, &b, "--exit-code", "--no-config"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(1), ""));
}

#[test]
fn diff_ignores_compression() {
    let (plain, packed) = (sample("session.lcp"), sample("compressed-payload.lcp"));
    for pack in [&plain, &packed] {
        let manifest = run(&["decode", pack]).stdout;
        let other = run_with(&["encode", "-", "--compress", "block"], &manifest).stdout;
        let output = run_with(&["diff", pack, "-", "--exit-code", "--no-config"], &other);
        let said = printed(&output);
        assert!(said.starts_with("0 added, 0 removed, 0 changed, 0 moved, "), "{said}");
    }
}
