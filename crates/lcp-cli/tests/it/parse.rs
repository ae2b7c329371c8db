//! `parse`: from a text back to a manifest (RFC 0008 §2).

use lcp_testkit::cli_harness::root;
use serde_json::{Value, json};

use crate::command::{LCP, printed, run, run_with, stderr};

const MODES: [&str; 3] = ["xml", "markdown", "minimal"];

#[track_caller]
fn blocks(manifest: &str) -> Vec<Value> {
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    manifest["blocks"].as_array().unwrap().clone()
}

/// A manifest without what no text has.
fn shown(manifest: &[u8]) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(manifest).unwrap();
    for block in manifest["blocks"].as_array_mut().unwrap() {
        let Value::Object(block) = block else { unreachable!() };
        for (of, key) in [("image", "data"), ("raw", "body")] {
            if block["type"] == of {
                block.retain(|name, _| !name.starts_with(key));
                block.insert(format!("{key}_base64"), "".into());
            }
        }
    }
    manifest.to_string().into_bytes()
}

/// Render, parse, encode, render: the same text.
#[test]
fn render_parse_render_gives_the_same_text() {
    let samples = root().join("samples");
    let call = |arguments: &[&str], input: &[u8]| {
        let output = LCP.run_in(&samples, arguments, input);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        output.stdout
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(&samples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let pack = call(&["encode", "-"], &shown(&std::fs::read(&path).unwrap()));
        for mode in MODES {
            let render = ["render", "-", "--verbosity", "full", "--mode", mode];
            let text = call(&render, &pack);
            let manifest = call(&["parse", "-", "--mode", mode], &text);
            let again = call(&render, &call(&["encode", "-"], &manifest));
            assert!(again == text, "{}, {mode}", path.display());
            compared += usize::from(!text.is_empty());
        }
    }
    assert!(compared >= 40, "{compared}");
}

/// Numbers are removed without a flag, and not from content that only looks numbered.
#[test]
fn parse_removes_line_numbers() {
    let manifest = json!({ "blocks": [
        { "type": "code", "lang": "rust", "path": "a.rs", "content": "fn a() {\n}\n", "line_start": 9 },
        { "type": "code", "lang": "rust", "path": "b.rs", "content": "1: fn b() {}\n2: \n" },
        { "type": "document", "title": "c.md", "content": "# C\n\n1: c", "format_hint": "markdown" },
        { "type": "conversation", "role": "user", "content": "1: Why?" },
    ] });
    let pack = run_with(&["encode", "-"], manifest.to_string().as_bytes()).stdout;
    let parsed = |mode: &str, flags: &[&str]| {
        let render = ["render", "-", "--no-config", "--mode", mode];
        let text = run_with(&[&render, flags].concat(), &pack).stdout;
        let contents = blocks(&printed(&run_with(&["parse", "-", "--mode", mode], &text)))
            .into_iter()
            .map(|block| block["content"].clone());
        (String::from_utf8(text).unwrap(), contents.collect::<Vec<_>>())
    };
    for mode in MODES {
        let (numbered, found) = parsed(mode, &["--line-numbers"]);
        for lines in ["9: fn a() {\n10: }\n", "1: 1: fn b() {}\n2: 2: \n", "3: 1: c\n"] {
            assert!(numbered.contains(lines), "{numbered}");
        }
        let (bare, expected) = parsed(mode, &[]);
        assert!(bare.contains("\n1: fn b() {}\n2: \n"), "{bare}");
        assert_eq!(found, expected);
    }
}

#[test]
fn parse_recovers_attributes_and_content() {
    let text = "<context>\n\
        <code.2 lang=\"rust\" path=\"a&quot;.rs\" lines=\"3-\" priority=\"high\">\n</code\r\n\n</code.2>\n\
        <tool-result name=\"sh\" status=\"error\" tool_call_id=\"c1\">\nno\n</tool-result>\n\
        <document title=\"d\">\n\n</document>\n\
        </context>\n";
    let output = run_with(&["parse", "-"], text.as_bytes());
    assert_eq!(stderr(&output), "");
    let expected = [
        json!({"type": "code", "priority": "high", "lang": "rust", "path": "a\".rs",
            "content": "</code\r\n", "line_start": 3}),
        json!({"type": "tool_result", "tags": ["tool_call_id=c1"], "tool_name": "sh",
            "status": "error", "content": "no"}),
        // Only the fence of Markdown says a format.
        json!({"type": "document", "title": "d", "content": ""}),
    ];
    assert_eq!(blocks(&printed(&output)), expected);

    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("text.xml"), folder.path().join("manifest.json"));
    std::fs::write(&from, text).unwrap();
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    let written = run(&["parse", from, "-o", to]);
    assert!(written.status.success() && written.stdout.is_empty(), "{}", stderr(&written));
    assert_eq!(std::fs::read(to).unwrap(), output.stdout);
    let same = run(&["parse", from, "-o", from]);
    assert_eq!(same.status.code(), Some(2));
    assert!(stderr(&same).contains("the text and -o are the same file"), "{}", stderr(&same));
}

#[test]
fn parse_warns_of_content_missing_from_the_text() {
    let text = "\
        [code a.rs (excerpt)]\nfn a() {\n… 3 lines omitted …\n\
        [user (summary)] asks\n\
        [diff \"b\\u{1B}.rs\" (tags)]\nb\n\
        [image png 7]\nred\n\
        [raw 66 3]\n\
        [omitted: code c.rs ~800tok]\n\
        [omitted: conversation user ~5tok]\n\
        [omitted: code d.rs ~23tok]\n\
        [omitted: 412 blocks ~1048576tok]\n";
    let output = run_with(&["parse", "-", "--mode", "minimal"], text.as_bytes());
    let expected = "\
warning: 3 blocks not recovered: the text has only placeholders (2 code of 823 tokens, 1 conversation of 5 tokens) [omitted]
warning: 412 blocks (1,048,576 tokens) not recovered: the text has only a roll-up line [rolled_up]
warning: 1 block recovered from the summary only; the full content is not in the text [in_part] (the first is block 1, conversation user)
warning: 1 block recovered from the tags only; the full content is not in the text [in_part] (the first is block 2, diff b\\u{1b}.rs)
warning: 1 block recovered from an excerpt only; the full content is not in the text [in_part] (the first is block 0, code a.rs)
warning: 1 block recovered as document; the text does not keep the type [became_document] (the first is block 2, diff b\\u{1b}.rs)
warning: 1 block recovered without image data, which is not in the text [not_in_text] (the first is block 3, image png)
warning: 1 block of unknown type recovered without a body, which is not in the text [not_in_text] (the first is block 4, raw 66)
";
    assert_eq!(stderr(&output), expected);
    let manifest = printed(&output);
    let types: Vec<_> = blocks(&manifest).iter().map(|block| block["type"].clone()).collect();
    assert_eq!(types, ["code", "conversation", "document", "image", "raw"]);
    assert!(run_with(&["encode", "-"], manifest.as_bytes()).status.success());
    assert_eq!(stderr(&run_with(&["parse", "-", "--mode", "minimal", "-q"], text.as_bytes())), "");
}

#[test]
fn parse_rejects_unrendered_text_with_exit_code_3() {
    let fails = |mode: &str, text: &[u8], says: &str| {
        let output = run_with(&["parse", "-", "--mode", mode], text);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(3), says));
        assert!(output.stdout.is_empty());
    };
    fails(
        "xml",
        b"<context>\n<code path=\"a\">\nx\n</code>\nhello\n</context>\n",
        "error: not a rendered text: expected an element at byte 36 (line 5, standard input)\n",
    );
    fails(
        "xml",
        b"<context>\n<code path=\"\xff\">\n",
        "error: not a rendered text: not UTF-8 at byte 22 (line 2, standard input)\n",
    );
    fails(
        "xml",
        b"### code a\n```\nx\n```\n",
        "error: not a rendered text: expected <context> at byte 0 (line 1, standard input)\n\
         hint: it looks like a text in markdown; pass --mode markdown\n",
    );
    fails(
        "minimal",
        b"[code a]\r\nx\r\n",
        "error: not a rendered text: expected the end of the header at byte 7 (line 1, standard input)\n\
         hint: pass the text unchanged; its lines end with \\r\\n\n",
    );
    let pack = std::fs::read(root().join("samples/every-type.lcp")).unwrap();
    let output = run_with(&["parse", "-"], &pack);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("hint: it is a pack; print its manifest"),
        "{}",
        stderr(&output)
    );
    assert_eq!(run(&["parse", "no such file"]).status.code(), Some(1));
}

/// A name in a tree that the text has in part is warned of.
#[test]
fn parse_warns_of_shortened_names() {
    let name = "n".repeat(300);
    let manifest = json!({ "blocks": [
        { "type": "file_tree", "root": "/", "entries": [
            { "name": "d", "kind": "directory", "size": 0, "children": [
                { "name": name, "kind": "file", "size": 1 }] }] },
    ] });
    let folder = tempfile::tempdir().unwrap();
    let call = |arguments: &[&str], input: &[u8]| LCP.run_in(folder.path(), arguments, input);
    let pack = call(&["encode", "-"], manifest.to_string().as_bytes()).stdout;
    let text = call(&["render", "-"], &pack).stdout;
    let output = call(&["parse", "-"], &text);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("[shortened_label]"), "{}", stderr(&output));
}
