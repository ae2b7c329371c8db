//! `inspect`, `cat`, `stats`, `validate`, `count` (`docs/cli.md`).

use std::path::Path;

use expect_test::expect;
use serde_json::{Value, json};

use crate::command::{LCP, printed, run, run_with, sample, stderr};

fn pack(blocks: &Value) -> Vec<u8> {
    encoded(blocks, &[])
}

/// A pack that ends with its END.
fn without_index(blocks: &Value) -> Vec<u8> {
    encoded(blocks, &["--no-index"])
}

fn encoded(blocks: &Value, flags: &[&str]) -> Vec<u8> {
    let manifest = json!({ "blocks": blocks }).to_string();
    let output = run_with(&[&["encode", "-"], flags].concat(), manifest.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    output.stdout
}

fn two_files() -> Value {
    json!([
        { "type": "code", "lang": "rust", "path": "src/a.rs", "content": "fn a() {}\n",
          "summary": "one function", "priority": "high" },
        { "type": "code", "lang": "rust", "path": "src/b.rs", "content": "fn b() {}\n" },
    ])
}

/// Standard output as JSON, whatever the exit code, which is the other part.
#[track_caller]
fn as_json(arguments: &[&str], input: &[u8]) -> (Value, Option<i32>) {
    let output = run_with(arguments, input);
    let json = serde_json::from_slice(&output.stdout);
    (json.unwrap_or_else(|_| panic!("{}", stderr(&output))), output.status.code())
}

#[test]
fn inspect_lists_blocks_with_offsets_and_tokens() {
    let pack = pack(&two_files());
    let (seen, code) = as_json(&["inspect", "-", "--json", "--no-config"], &pack);
    assert_eq!((code, seen["schema"].as_str()), (Some(0), Some("lcp.inspect.v1")));
    let blocks = seen["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 3);
    let first = &blocks[0];
    assert_eq!((&first["type"], &first["label"]), (&json!("code"), &json!("src/a.rs")));
    assert_eq!((&first["offset"], &first["flags"]), (&json!(8), &json!(1)));
    assert_eq!((&first["priority"], &first["summary"]), (&json!("high"), &json!(true)));
    // Frames stand one behind the other: type, flags, length, body.
    let end = 8 + 3 + first["length"].as_u64().unwrap();
    assert_eq!(blocks[1]["offset"], end);
    assert_eq!((&blocks[1]["type"], &blocks[1]["tokens"]), (&json!("annotation"), &Value::Null));
    for key in ["content", "summary", "xml", "markdown", "minimal"] {
        assert!(first["tokens"][key].as_u64().unwrap() > 0, "{key}: {first}");
    }
    let (seen, _) = as_json(&["inspect", "-", "--json", "--no-tokens"], &pack);
    assert_eq!(seen["blocks"][0]["tokens"], Value::Null);
}

#[test]
fn inspect_prints_a_table() {
    let output = run_with(&["inspect", "-", "--no-config"], &pack(&two_files()));
    expect_test::expect![[r#"
        index  type        label     offset  bytes  tokens  priority  flags
            0  code        src/a.rs       8     40       4  high      summary
            1  annotation  0             51     10
            2  code        src/b.rs      64     27       4  normal

        3 blocks (1 of metadata), 232 bytes, magic lcp, compression none, 8 tokens of content (o200k_base)
        index of 134 bytes, accepted, no token costs
    "#]]
    .assert_eq(&printed(&output));
}

/// What can be seen of a damaged pack is shown, then what is wrong.
#[test]
fn inspect_lists_blocks_before_the_damage() {
    let whole = without_index(&two_files());
    let (seen, code) = as_json(&["inspect", "-", "--json"], &whole[..whole.len() - 6]);
    assert_eq!((code, seen["blocks"].as_array().unwrap().len()), (Some(3), 2));
    assert_eq!(seen["errors"][0]["code"], "unexpected_eof");
    let output = run_with(&["inspect", "-"], &whole[..whole.len() - 6]);
    assert!(stderr(&output).contains("[unexpected_eof] (standard input, block 2, byte"));
    let output = run_with(&["inspect", "-"], b"nothing");
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
}

#[test]
fn inspect_and_stats_accept_every_sample() {
    for entry in std::fs::read_dir(sample("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "lcp") {
            continue;
        }
        let name = path.to_str().unwrap();
        for command in ["inspect", "stats"] {
            let (seen, code) = as_json(&[command, name, "--json", "--no-config"], b"");
            assert_eq!(code, Some(0), "{name}");
            assert_eq!(seen["schema"], format!("lcp.{command}.v1"));
            assert!(run(&[command, name, "--no-config"]).status.success());
        }
    }
}

#[test]
fn cat_prints_content_bytes_unchanged() {
    let blocks = json!([
        { "type": "image", "media_type": "png", "alt_text": "", "data_base64": "iVBORwD/" },
        { "type": "document", "title": "a.md", "content": "no newline", "format_hint": "markdown",
          "summary": "short" },
        { "type": "code", "lang": "rust", "path": "twice", "content": "1" },
        { "type": "code", "lang": "rust", "path": "twice", "content": "2" },
        { "type": "diff", "path": "d.rs",
          "hunks": [{ "old_start": 1, "new_start": 1, "lines": "-a\n+b\n" }] },
    ]);
    let pack = without_index(&blocks);
    let cat = |arguments: &[&str]| run_with(&[&["cat", "-"], arguments].concat(), &pack);
    assert_eq!(cat(&["0"]).stdout, b"\x89PNG\0\xff");
    assert_eq!(cat(&["a.md"]).stdout, b"no newline");
    assert_eq!(cat(&["1", "--summary"]).stdout, b"short");
    assert_eq!(cat(&["d.rs"]).stdout, b"@@ -1 +1 @@\n-a\n+b\n");
    let fails = |arguments: &[&str], says: &str| {
        let output = cat(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && output.stdout.is_empty(), "{said}");
    };
    fails(&["twice"], "2 blocks have the label twice: 2 (code), 3 (code)");
    fails(&["b.md"], "hint: did you mean a.md?");
    fails(&["9"], "block 9 does not exist (the pack has 5 blocks)");
    fails(&["2", "--summary"], "block 2 has no summary");
    // One block as a manifest is a pack of one block.
    let manifest = cat(&["3", "--as-json"]).stdout;
    let one = run_with(&["encode", "-"], &manifest).stdout;
    assert_eq!(run_with(&["cat", "-", "0"], &one).stdout, b"2");
    // What stands before the damage is there.
    let output = run_with(&["cat", "-", "a.md"], &pack[..pack.len() - 6]);
    assert!(output.status.success() && stderr(&output).contains("the pack is damaged"));
    let output = run_with(&["cat", "-", "d.rs"], &pack[..pack.len() - 6]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn stats_totals_equal_the_sums_and_rendered_tokens() {
    let path = sample("duplicates.lcp");
    let (stats, _) = as_json(&["stats", &path, "--json", "--no-config"], b"");
    let whole = &stats["whole"];
    let sum = |key: &str| -> u64 {
        let rows = stats["by_type"].as_object().unwrap().values();
        rows.map(|row| row[key].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("blocks"), whole["blocks"]);
    assert_eq!(sum("content_tokens"), whole["content_tokens"]);
    assert!(stats["duplicates"]["tokens_saved"].as_u64().unwrap() > 0, "{stats}");
    for mode in ["xml", "markdown", "minimal"] {
        let text = printed(&run(&["render", &path, "--mode", mode, "--no-config", "-q"]));
        let count = LCP.run_with(&["count", "-"], text.as_bytes());
        let tokens = printed(&count).split(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(whole[format!("{mode}_tokens")], tokens, "{mode}");
    }
}

#[test]
fn stats_tree_sums_up_tokens_by_folder() {
    let pack = pack(&json!([
        { "type": "code", "lang": "rust", "path": "src/a/x.rs", "content": "fn x() {}" },
        { "type": "code", "lang": "rust", "path": "src/b\u{1b}.rs", "content": "fn b() { b() }" },
        { "type": "document", "title": "docs/read.md", "content": "Read me first, then the code." },
        { "type": "structured_data", "format": "csv", "content": "a,b\n1,2", "tags": ["path=src/a/t.csv"] },
        { "type": "structured_data", "format": "json", "content": "{}" },
        { "type": "diff", "path": "src/a/x.rs",
          "hunks": [{ "old_start": 1, "new_start": 1, "lines": "-old\n+new\n" }] },
        { "type": "conversation", "role": "user", "content": "Why?" },
    ]));
    let stats = |flags: &[&str]| run_with(&[&["stats", "-", "--no-config"], flags].concat(), &pack);
    let expected = expect![[r#"
        path          blocks  content
        src/               4       30
          a/               3       23
            x.rs           2       16
            t.csv          1        7
          b\u{1b}.rs       1        7
        docs/              1        8
          read.md          1        8
        all                5       38

        Tokens: o200k_base, including the final newline of each content
    "#]];
    expected.assert_eq(&printed(&stats(&["--tree"])));
    let expected = expect![[r#"
        path   blocks  content
        src/        4       30
        docs/       1        8
        all         5       38

        Tokens: o200k_base, including the final newline of each content
    "#]];
    expected.assert_eq(&printed(&stats(&["--tree", "--depth", "1"])));
    let json = |flags: &[&str]| serde_json::from_slice::<Value>(&stats(flags).stdout).unwrap();
    let tree = &json(&["--tree", "--json"])["tree"];
    let first = json!({ "path": "src/a/", "depth": 1, "blocks": 3, "content_tokens": 23 });
    assert_eq!((tree.as_array().unwrap().len(), &tree[2]), (8, &first));
    assert_eq!(json(&["--json"])["tree"], Value::Null);
}

/// Compression changes what is stored, and nothing else.
#[test]
fn stats_report_the_uncompressed_size() {
    let manifest = std::fs::read(sample("session.json")).unwrap();
    let folder = sample("");
    let stats = |flags: &[&str]| {
        let encode = [&["encode", "-"], flags].concat();
        let pack = LCP.run_in(std::path::Path::new(&folder), &encode, &manifest).stdout;
        as_json(&["stats", "-", "--json", "--no-config"], &pack).0
    };
    let [none, block, payload] =
        ["none", "block", "payload"].map(|compress| stats(&["--no-index", "--compress", compress]));
    assert_eq!(none["bytes"], none["unpacked_bytes"]);
    // The index is part of both.
    let with = stats(&[]);
    assert_eq!(with["bytes"], with["unpacked_bytes"]);
    assert!(with["bytes"].as_u64() > none["bytes"].as_u64());
    for (compressed, name) in [(&block, "block"), (&payload, "payload")] {
        assert_eq!(compressed["compression"], name);
        assert_eq!(compressed["unpacked_bytes"], none["bytes"], "{name}");
        assert!(compressed["compression_ratio"].as_f64().unwrap() > 1.0);
        assert_eq!(compressed["whole"], none["whole"]);
    }
}

#[test]
fn validate_finds_invalid_annotations() {
    let mut pack = without_index(&json!([
        { "type": "document", "title": "a", "content": "x", "format_hint": "plain" },
        { "type": "annotation", "target_block_id": 99, "kind": "priority", "value_base64": "Ag==" },
        { "type": "annotation", "target_block_id": 0, "kind": "priority", "value_base64": "CQ==" },
        { "type": "extension", "namespace": "lcp", "type_name": "level", "content": "7 tags\nx" },
        { "type": "extension", "namespace": "lcp", "type_name": "newer", "content": "" },
    ]));
    pack.extend_from_slice(b"more");
    let (found, code) = as_json(&["validate", "-", "--json"], &pack);
    assert_eq!((code, found["schema"].as_str()), (Some(3), Some("lcp.validate.v1")));
    let found = &found["packs"][0];
    let codes = |what: &str| -> Vec<_> {
        let rows = found[what].as_array().unwrap().iter();
        rows.map(|row| (row["code"].as_str().unwrap().to_owned(), row["block"].as_u64())).collect()
    };
    let code = |code: &str, block| (code.to_owned(), block);
    assert_eq!(
        codes("problems"),
        [
            code("bad_target", Some(1)),
            code("bad_priority", Some(2)),
            code("bad_annotation", Some(3)),
            code("trailing_data", None),
        ]
    );
    assert_eq!(codes("notes"), [code("unknown_block_type", Some(4))]);
    let offsets = found["problems"].as_array().unwrap().iter();
    let offsets: Vec<_> = offsets.map(|row| row["offset"].as_u64().unwrap()).collect();
    assert!(offsets.is_sorted() && offsets[3] == pack.len() as u64 - 4, "{offsets:?}");
}

#[test]
fn validate_checks_several_packs() {
    let (good, bad) = (sample("session.lcp"), sample("annotations.lcp"));
    let output = run(&["validate", &good, &bad]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.starts_with(&format!("{good}: ")) && said.contains(&format!("{bad}: block")));
    assert!(stderr(&output).contains("(1 of 2 packs)"), "{}", stderr(&output));
    let output = run(&["validate", "/no/such/pack", &good]);
    assert_eq!(output.status.code(), Some(1));
    let line = "no problems (checksums not checked; --full checks them)\n";
    assert!(String::from_utf8(output.stdout).unwrap().contains(line));
}

#[test]
fn count_prints_json_and_a_total() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&a, "hello world").unwrap();
    std::fs::write(&b, "hello").unwrap();
    let said = printed(&run(&["count", "--no-config", "--total", &a, &b]));
    assert_eq!(said, format!("2 {a}\n1 {b}\n3 total\n"));
    let (counts, _) = as_json(&["count", "--no-config", "--json", &a, &b], b"");
    assert_eq!((&counts["schema"], &counts["total"]), (&json!("lcp.count.v1"), &json!(3)));
    assert_eq!(counts["files"][0], json!({ "file": a, "bytes": 11, "tokens": 2 }));
    let (counts, _) = as_json(&["count", "--no-config", "--json", "--up-to", "1", &a], b"");
    assert_eq!((&counts["files"][0]["tokens"], &counts["total"]), (&Value::Null, &Value::Null));
}

/// Whoever reads has had enough, as of every command.
#[test]
fn count_succeeds_if_the_reader_closes_the_pipe() {
    let session = sample("session.lcp");
    for flags in [&["--total"][..], &["--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let arguments = [&["count", "--no-config", &session, &session], flags].concat();
        let output = LCP.command(Path::new("."), &arguments).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{flags:?}");
    }
}
