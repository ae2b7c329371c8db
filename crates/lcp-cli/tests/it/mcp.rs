//! The MCP server (`docs/mcp.md`), as clients talk to it.

mod client;
mod escapes;
#[cfg(feature = "http")]
mod http;
mod python;
mod sessions;

use std::path::PathBuf;

use lcp_testkit::cli_harness::{printed, sample, stderr};
use serde_json::{Value, json};

use crate::command::{LCP, run};
use client::Client;

/// A root with some files, and a folder around it.
pub(super) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let code = "fn f() -> u32 {\n    1\n}\n".repeat(200);
        place.write("root/src/main.rs", &code);
        place.write("root/src/näme.rs", "// ü\n");
        place.write("root/README.md", "# Read\n\nMe.\n");
        std::fs::copy(sample("session.lcp"), place.path("root/session.lcp")).unwrap();
        place.write("secret", "hunter2");
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn client(&self, flags: &[&str]) -> Client {
        let (root, store) = (self.text("root"), self.text("sessions.sqlite"));
        let all = ["mcp", "--root", &root, "--store", &store];
        Client::start(&[&all[..], flags].concat())
    }
}

#[test]
fn tools_are_listed_with_schemas_and_hints() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let tools = client.ask("tools/list", json!({}))["tools"].clone();
    let names: Vec<_> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let wanted = [
        "pack", "render", "expand", "count", "record_usage", "should_handoff", "handoff", "resume",
    ];
    assert_eq!(names, wanted);
    for tool in tools.as_array().unwrap() {
        let changes_sessions =
            ["record_usage", "handoff", "resume"].contains(&tool["name"].as_str().unwrap());
        let hints = if changes_sessions {
            json!({ "destructiveHint": false })
        } else {
            json!({ "readOnlyHint": true })
        };
        assert_eq!(tool["annotations"], hints, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn server_exits_at_end_of_input() {
    let output = LCP.run_with(&["mcp"], b"");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{}", stderr(&output));
}

#[test]
fn root_must_be_a_folder() {
    let place = Place::new();
    for (root, code) in [("secret", 2), ("nothing", 1)] {
        let output = run(&["mcp", "--root", &place.text(root)]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    }
}

#[test]
fn render_tool_matches_the_command() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let pack = place.text("root/session.lcp");
    for mode in ["xml", "markdown", "minimal"] {
        let shown = client.facts(
            "render",
            json!({ "pack": "session.lcp", "budget": 2000, "mode": mode, "report": true }),
        );
        let text = printed(&run(&["render", &pack, "--budget", "2000", "--mode", mode]));
        assert_eq!(shown["text"], text);
        assert_eq!(shown["report"]["used_tokens"], shown["used_tokens"]);
        let lesser = shown["not_in_full"].as_array().unwrap();
        assert!(lesser.iter().all(|block| block["decision"] != "full"));
        assert!(!lesser.is_empty());
    }
}

/// Clients show a model either the structured content or the text, so there is only a text.
#[test]
fn results_contain_a_text_once() {
    let place = Place::new();
    place.write("root/word.txt", "onceonly\n");
    let mut client = place.client(&[]);
    let arguments = json!({ "paths": ["word.txt"], "tree": false });
    let pack = client.facts("pack", arguments)["pack"].clone();
    for (tool, arguments) in
        [("render", json!({ "pack": pack })), ("expand", json!({ "pack": pack, "block": 0 }))]
    {
        let result = client.call(tool, arguments);
        assert_eq!(result.to_string().matches("onceonly").count(), 1, "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("onceonly\n"), "{result}");
        assert_eq!(result["content"].as_array().unwrap().len(), 2, "{result}");
    }
}

#[test]
fn render_tool_takes_shares_reserves_line_numbers_and_segments() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let pack = place.text("root/session.lcp");
    let mut check = |input: Value, flags: &[&str]| {
        let shown = client.facts("render", input);
        assert_eq!(shown["text"], printed(&run(&[&["render", &pack], flags].concat())));
        shown
    };
    let shares =
        json!({ "pack": "session.lcp", "budget": 3000, "shares": "agent", "report": true });
    let shown = check(shares, &["--budget", "3000", "--shares", "agent"]);
    assert_eq!(shown["report"]["shares"][0]["tokens"], 1_200, "{}", shown["report"]["shares"]);

    let window = json!({ "pack": "session.lcp", "window": 10_000, "system_prompt_reserve": 1_000,
        "response_reserve": 4_000 });
    let reserves = ["--system-prompt-reserve", "1000", "--response-reserve", "4000"];
    let shown = check(window, &[&["--window", "10000"], &reserves[..]].concat());
    assert_eq!(shown["budget"], 3_000);

    let numbered = json!({ "pack": "session.lcp", "budget": 8000, "line_numbers": true });
    let shown = check(numbered, &["--budget", "8000", "--line-numbers"]);
    assert!(shown["text"].as_str().unwrap().contains(" numbered=\"true\""), "{shown}");

    let segments = json!({ "pack": "session.lcp", "budget": 8000, "segments": true,
        "expand_segments": ["s3"], "topics": ["parser"], "report": true });
    let flags = ["--budget", "8000", "--segments", "--expand", "s3", "--topics", "parser"];
    let shown = check(segments, &flags);
    let rows = shown["report"]["segments"].as_array().unwrap();
    let expanded = rows.iter().find(|row| row["id"] == "s3").unwrap();
    assert_eq!(expanded["reason"], "expanded");

    for (input, code) in [
        (json!({ "pack": "session.lcp", "shares": "mine" }), "usage"),
        (json!({ "pack": "session.lcp", "topics": ["parser"] }), "usage"),
        (
            json!({ "pack": "session.lcp", "budget": 9, "segments": true,
            "expand_segments": ["s99"] }),
            "usage",
        ),
    ] {
        assert_eq!(client.fault("render", input)["code"], code);
    }
}

#[test]
fn pack_tool_matches_the_command() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let packed = client.facts("pack", json!({ "paths": ["src", "README.md"] }));
    let output = LCP.command(&place.path("root"), &["pack", "src", "README.md", "-o", "-"]);
    let bytes = { output }.output().unwrap().stdout;
    assert_eq!(packed["pack_bytes"], bytes.len());
    let id = blake3::hash(&bytes).to_hex()[..16].to_owned();
    assert_eq!((&packed["pack"], &packed["uri"]), (&json!(id), &json!(format!("lcp://pack/{id}"))));
    let shown = client.facts("render", json!({ "pack": id }));
    assert!(shown["text"].as_str().unwrap().contains("src/main.rs"), "{shown}");
    // Rules, as of flags.
    let rules = json!([{ "glob": "src/", "priority": "critical" }]);
    let packed = client.facts("pack", json!({ "rules": rules, "exclude": ["*.lcp"] }));
    let arguments = json!({ "pack": packed["uri"], "budget": 1, "overflow": "deny" });
    assert_eq!(client.fault("render", arguments)["code"], "over_budget");
}

#[test]
fn expand_returns_a_block_in_pages() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let pack = client.facts("pack", json!({ "paths": ["src"] }))["pack"].clone();
    let wanted = std::fs::read_to_string(place.path("root/src/main.rs")).unwrap();
    let (mut offset, mut text) = (json!(0), String::new());
    while !offset.is_null() {
        let arguments =
            json!({ "pack": pack, "label": "src/main.rs", "offset": offset, "budget": 300 });
        let page = client.facts("expand", arguments);
        assert!(page["tokens"].as_u64().unwrap() <= 300);
        text += page["text"].as_str().unwrap();
        offset = page["next_offset"].clone();
    }
    assert_eq!(text, wanted);
    let tree = client.facts("expand", json!({ "pack": pack, "block": 0 }));
    assert_eq!(tree["type"], "file-tree");
    for (arguments, code) in [
        (json!({ "pack": pack, "block": 99 }), "usage"),
        (json!({ "pack": pack, "label": "nothing" }), "usage"),
        (json!({ "pack": pack }), "usage"),
        (json!({ "pack": pack, "block": 0, "offset": 1_000_000 }), "usage"),
        (json!({ "pack": pack, "block": 0, "limit": 0 }), "usage"),
        (json!({ "pack": pack, "block": 0, "budget": 0 }), "over_budget"),
        (json!({ "pack": "0123456789abcdef", "block": 0 }), "unknown_pack"),
        (json!({ "pack": "README.md", "block": 0 }), "malformed"),
    ] {
        assert_eq!(client.fault("expand", arguments.clone())["code"], code, "{arguments}");
    }
}

/// A file may be called like an index, and text may have any byte.
#[test]
fn expand_accepts_numeric_labels_and_any_text() {
    let place = Place::new();
    place.write("root/odd/1", "the file that is called 1\n");
    let text = format!("{}\0behind\n", "a line\n".repeat(2_000));
    place.write("root/odd/9.txt", &text);
    let mut client = place.client(&[]);
    let arguments = json!({ "paths": ["odd/1", "odd/9.txt"], "tree": false });
    let pack = client.facts("pack", arguments)["pack"].clone();
    let full = client.facts("expand", json!({ "pack": pack, "block": 1 }));
    assert_eq!((&full["label"], &full["text"]), (&json!("odd/9.txt"), &json!(text)));

    let manifest = json!({ "blocks": [
        { "type": "document", "title": "2", "content": "called 2" },
        { "type": "document", "title": "0", "content": "called 0" },
        { "type": "image", "media_type": "png", "alt_text": "", "data_base64": "iVBORwA=" },
    ]});
    crate::command::encode(&manifest.to_string(), &place.path("root/odd.lcp"));
    for (label, block) in [("0", 1), ("2", 0)] {
        let shown = client.facts("expand", json!({ "pack": "odd.lcp", "label": label }));
        assert_eq!((&shown["block"], &shown["label"]), (&json!(block), &json!(label)));
    }
    for arguments in
        [json!({ "pack": "odd.lcp", "label": "1" }), json!({ "pack": "odd.lcp", "block": 2 })]
    {
        assert_eq!(client.fault("expand", arguments)["code"], "usage");
    }
}

#[test]
fn count_tool_matches_the_command() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let arguments =
        json!({ "texts": ["hello world"], "paths": ["README.md"], "encoding": "cl100k_base" });
    let counted = client.facts("count", arguments);
    let readme = place.text("root/README.md");
    let printed = printed(&run(&["count", &readme, "--encoding", "cl100k_base"]));
    let tokens: u64 = printed.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(counted["counts"][1]["tokens"], tokens);
    assert_eq!(counted["total"], tokens + 2);
    assert_eq!((&counted["encoding"], &counted["exact"]), (&json!("cl100k_base"), &json!(true)));
    assert_eq!(client.fault("count", json!({}))["code"], "usage");
    // A name, never a file.
    for encoding in ["/etc/passwd", "README.md", "nothing"] {
        let fault = client.fault("count", json!({ "texts": ["a"], "encoding": encoding }));
        assert_eq!(fault["code"], "usage");
    }
}

/// What an append left that was interrupted, as the command tells of it.
#[test]
fn leftover_journal_gives_a_warning() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let mut warned = |name: &str| {
        let shown = client.facts("render", json!({ "pack": name, "budget": 500 }));
        shown["warnings"].as_array().unwrap().clone()
    };
    assert_eq!(warned("session.lcp"), [] as [Value; 0]);
    place.write("root/session.lcp.lcp-journal", "LCPJRNL2");
    let [warning] = &warned("session.lcp")[..] else { panic!("one warning") };
    assert_eq!(warning["code"], "journal");
    assert!(warning["message"].as_str().unwrap().contains("using the pack unchanged"), "{warning}");
}

#[test]
fn packs_and_renderings_are_resources() {
    let place = Place::new();
    let mut client = place.client(&[]);
    assert_eq!(client.ask("resources/list", json!({}))["resources"], json!([]));
    let packed = client.facts("pack", json!({}));
    let uri = packed["uri"].as_str().unwrap();
    let listed = client.ask("resources/list", json!({}))["resources"].clone();
    assert_eq!((&listed[0]["uri"], listed.as_array().unwrap().len()), (&packed["uri"], 1));
    let templates = client.ask("resources/templates/list", json!({}));
    assert!(
        templates["resourceTemplates"][0]["uriTemplate"].as_str().unwrap().contains("{?budget")
    );
    let read = client.ask("resources/read", json!({ "uri": uri }));
    assert_eq!(read["contents"][0]["mimeType"], "application/vnd.lcp");
    assert!(read["contents"][0]["blob"].as_str().unwrap().starts_with("TENQ"), "LCP in base64");
    let address = format!("{uri}?budget=500&mode=minimal");
    let read = client.ask("resources/read", json!({ "uri": address }));
    let shown = client.facts("render", json!({ "pack": uri, "budget": 500, "mode": "minimal" }));
    assert_eq!(read["contents"][0]["text"], shown["text"]);
    for (address, code) in [
        ("lcp://pack/0123456789abcdef".to_owned(), -32002),
        ("file:///etc/passwd".to_owned(), -32002),
        (format!("{uri}?budget=x"), -32602),
        (format!("{uri}?nothing=1"), -32602),
    ] {
        let error = client.error("resources/read", json!({ "uri": address }));
        assert_eq!(error["code"], code, "{error}");
    }
}

/// However much there is of a pack, an answer has an end.
#[test]
fn renderings_and_reports_are_limited_in_size() {
    let place = Place::new();
    place.write("root/long/log.txt", &"a line of a log\n".repeat(600_000));
    for file in 0..1_100 {
        place.write(&format!("root/many/{file}.txt"), "a\n");
    }
    let mut client = place.client(&[]);
    let arguments = json!({ "paths": ["long"], "max_file_bytes": 100_000_000 });
    let uri = client.facts("pack", arguments)["uri"].clone();
    let address = format!("{}?encoding=heuristic", uri.as_str().unwrap());
    let error = client.error("resources/read", json!({ "uri": address }));
    assert_eq!(error["data"]["code"], "limit", "{error}");
    assert!(error["data"]["hint"].as_str().unwrap().contains("?budget="), "{error}");

    let pack = client.facts("pack", json!({ "paths": ["many"], "tree": false }))["pack"].clone();
    let shown = client.facts("render", json!({ "pack": pack, "budget": 500, "report": true }));
    assert_eq!(shown["report"]["blocks"].as_array().unwrap().len(), 1_000);
    assert_eq!(shown["more_in_report"]["blocks"], 100, "{}", shown["more_in_report"]);
    assert_eq!(shown["report"]["used_tokens"], shown["used_tokens"]);
}

#[test]
fn dash_is_rejected_as_a_path() {
    let place = Place::new();
    place.write("root/-", "a file\n");
    let mut client = place.client(&[]);
    let fault = client.fault("pack", json!({ "paths": ["src", "-"] }));
    assert_eq!(fault["code"], "usage");
    assert!(fault["hint"].as_str().unwrap().contains("`./-`"), "{fault}");
    assert_eq!(client.facts("pack", json!({ "paths": ["src", "./-"] }))["files"], 3);
}

#[test]
fn pack_follows_outline_setting_and_returns_warnings() {
    let place = Place::new();
    place.write("lcp.toml", "[pack]\nsummarize = \"outline\"\n");
    let lines: Vec<_> = (0..80_000).map(|line| format!("{line}\n")).collect();
    let back: Vec<_> = lines.iter().rev().cloned().collect();
    place.write("root/like/a.txt", &lines.concat());
    place.write("root/like/b.txt", &back.concat());
    let mut client = place.client(&["--config", &place.text("lcp.toml")]);
    let mut packed = |outlines: Value| {
        let arguments = json!({ "paths": ["src"], "outlines": outlines });
        client.facts("pack", arguments)["pack"].clone()
    };
    let [unsaid, on, off] = [Value::Null, json!(true), json!(false)].map(&mut packed);
    assert_eq!(unsaid, on);
    assert_ne!(on, off);

    let arguments = json!({ "paths": ["like"], "dedup": "near", "outlines": false });
    let packed = client.facts("pack", arguments);
    let warned = packed["warnings"][0].as_str().unwrap_or_default();
    assert!(warned.contains("only in part (too many similar blocks)"), "{packed}");
}

#[test]
fn errors_have_a_code_and_a_hint() {
    let place = Place::new();
    place.write("root/bad.lcp", "no pack");
    let mut client = place.client(&[]);
    for (tool, arguments, code) in [
        ("render", json!({ "pack": "bad.lcp" }), "malformed"),
        ("render", json!({ "pack": "gone.lcp" }), "io"),
        ("render", json!({ "pack": "session.lcp", "budge": 1 }), "usage"),
        ("render", json!({ "pack": "session.lcp", "budget": "many" }), "usage"),
        ("render", json!({ "pack": "session.lcp", "types": ["nothing"] }), "usage"),
        ("render", json!({ "pack": "session.lcp", "model": "nothing" }), "usage"),
        ("render", json!({}), "usage"),
        ("pack", json!({ "include": ["["] }), "usage"),
        ("pack", json!({ "exclude": ["**"] }), "usage"),
        ("pack", json!({ "diff": "HEAD" }), "usage"),
    ] {
        let fault = client.fault(tool, arguments.clone());
        assert_eq!(fault["code"], code, "{tool} {arguments}: {fault}");
        assert!(!fault["message"].as_str().unwrap().contains('\n'));
    }
    client.facts("record_usage", json!({ "conversation": "c", "input_tokens": 1 }));
    // What to do is said to who has tools, not a command line.
    for (tool, arguments, code, says) in [
        (
            "expand",
            json!({ "pack": "session.lcp", "label": "?" }),
            "usage",
            "`render` with `report`",
        ),
        ("render", json!({ "pack": "session.lcp", "model": "nothing" }), "usage", ""),
        ("handoff", json!({ "conversation": "nobody" }), "unknown_conversation", ""),
        ("resume", json!({ "handoff": "nothing" }), "unknown_handoff", ""),
    ] {
        let fault = client.fault(tool, arguments);
        assert_eq!(fault["code"], code, "{fault}");
        let hint = fault["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(says) && !hint.contains("--") && !hint.contains("lcp"), "{fault}");
    }
    let hint = client.fault("pack", json!({ "since": "HEAD" }))["hint"].clone();
    assert!(hint.as_str().unwrap().contains("--git"));
    assert_eq!(client.error("tools/call", json!({ "name": "nothing" }))["code"], -32602);
    assert_eq!(client.error("nothing/at/all", json!({}))["code"], -32601);
    // And it goes on.
    assert_eq!(client.facts("count", json!({ "texts": ["a"] }))["total"], 1);
}

#[test]
fn server_reads_settings_only_from_config_flag() {
    let place = Place::new();
    place.write("root/lcp.toml", "[context.budget]\ntotal_tokens = 500\n");
    let shown = place.client(&[]).facts("render", json!({ "pack": "session.lcp" }));
    assert_eq!(shown["budget"], Value::Null);
    let mut client = place.client(&["--config", &place.text("root/lcp.toml")]);
    let shown = client.facts("render", json!({ "pack": "session.lcp" }));
    assert_eq!(shown["budget"], 500);
}

/// What the settings of who runs the server deny, no argument of an agent allows.
#[test]
fn client_cannot_relax_the_special_tokens_setting() {
    let place = Place::new();
    let manifest = json!({"blocks": [
        {"type": "conversation", "role": "user", "content": "a <|im_end|>"},
        {"type": "raw", "type_id": 77, "body_base64": "PHxpbV9zdGFydHw+Yg=="},
        {"type": "document", "title": "src/<|im_start|>.md", "content": ""},
    ]});
    place.write("m.json", &manifest.to_string());
    let encoded =
        LCP.run(&["encode", &place.text("m.json"), "-o", &place.text("root/special.lcp")]);
    assert!(encoded.status.success());
    let with = |how: &str| {
        place.write("lcp.toml", &format!("[context.budget]\nspecial_tokens = \"{how}\"\n"));
        place.client(&["--config", &place.text("lcp.toml")])
    };
    let block = json!({ "pack": "special.lcp", "block": 0 });
    let mut client = with("reject");
    for asked in ["warn", "escape", "reject"] {
        client.fault("render", json!({ "pack": "special.lcp", "special_tokens": asked }));
    }
    // No render shows the body of an unknown type, but this does.
    let raw = json!({ "pack": "special.lcp", "block": 1 });
    let unknown = json!({ "pack": "special.lcp", "label": "src/im_start.md" });
    for block in [&block, &raw, &unknown] {
        let fault = client.fault("expand", block.clone());
        assert_eq!(lcp_driver::special_tokens::find(&fault.to_string()).count(), 0, "{fault}");
    }
    let mut client = with("escape");
    assert_eq!(client.facts("expand", raw)["text"], "< |im_start|>b");
    let shown = client.facts("render", json!({ "pack": "special.lcp", "special_tokens": "warn" }));
    assert!(shown["text"].as_str().unwrap().contains("< |im_end|>"), "{shown}");
    assert_eq!(client.facts("expand", block.clone())["text"], "a < |im_end|>");
    client.fault("render", json!({ "pack": "special.lcp", "special_tokens": "reject" }));
    assert_eq!(with("warn").facts("expand", block)["text"], "a <|im_end|>");
}

#[test]
fn cancelled_call_is_not_answered() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let text = "a word, and another one. ".repeat(200_000);
    let arguments = json!({ "name": "count", "arguments": { "texts": [text] } });
    let id = client.send("tools/call", &arguments);
    client.notify("notifications/cancelled", &json!({ "requestId": id }));
    // It is answered before the long call could be, and so would that have been.
    assert_eq!(client.facts("count", json!({ "texts": ["a"] }))["total"], 1);
    let long = json!({ "texts": ["a word, and another one. ".repeat(200_000)] });
    client.facts("count", long);
    assert!(!client.answered(id));
    assert_eq!(client.end(), Some(0));
}

/// A root with two files, of which a small budget shows one.
fn doors_and_sails() -> Place {
    let place = Place::new();
    let file = |name: &str| {
        let function = |at| format!("fn {name}_{at}() {{\n    {name}({at});\n}}\n\n");
        (0..60).map(function).collect::<String>()
    };
    place.write("root/ship/door.rs", &file("hinge"));
    place.write("root/ship/sail.rs", &file("hoist"));
    place
}

#[test]
fn query_decides_what_a_budget_shows() {
    let place = doors_and_sails();
    let mut client = place.client(&[]);
    let mut shown = |pack: Value, query: Value| {
        let arguments = json!({
            "pack": pack, "budget": 300, "query": query, "report": true, "types": ["code"],
        });
        let shown = client.facts("render", arguments);
        let text = shown["text"].as_str().unwrap();
        let reasons = shown["report"]["blocks"].as_array().unwrap();
        let reasons = reasons.iter().map(|block| block["why"].to_string()).collect::<String>();
        (text.contains("fn hinge_9()"), text.contains("fn hoist_5()"), reasons)
    };
    let mut other = place.client(&[]);
    let packed = |client: &mut Client, more: Value| {
        let mut arguments = json!({ "paths": ["ship"] });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.facts("pack", arguments)["pack"].clone()
    };
    // The command gives the same functions.
    let pack = place.text("root/ship.lcp");
    let question = ["--query", "hoist_7 is slow", "--history", "off"];
    let ship = place.text("root/ship");
    let made = run(&[&["pack", &ship, "-o", &pack, "-q"], &question[..]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let arguments = json!({ "paths": ["ship"], "query": "hoist_7 is slow" });
    let id = other.facts("pack", arguments)["pack"].clone();
    let text = other.facts("render", json!({ "pack": id, "budget": 300 }))["text"].clone();
    assert!(text.as_str().unwrap().contains("fn hoist_7()"), "{text}");
    let rendered = printed(&run(&["render", &pack, "--budget", "300"]));
    assert!(rendered.contains("fn hoist_7()"), "{rendered}");
    // A question for one rendering, as a text or several, of a file or a pack in memory.
    let (hinge, hoist, reasons) = shown("ship.lcp".into(), "hinge_9 squeaks".into());
    assert!(hinge && !hoist, "{reasons}");
    assert!(reasons.contains("hinge") && !reasons.contains("hoist"), "{reasons}");
    let (hinge, hoist, reasons) = shown("ship.lcp".into(), json!(["Sails:", "hoist_5"]));
    assert!(hoist && !hinge, "{reasons}");
    // The pack keeps its own question.
    let (.., reasons) = shown("ship.lcp".into(), json!([]));
    assert!(reasons.contains("hoist") && !reasons.contains("hinge"), "{reasons}");
    let id = packed(&mut other, json!({ "mention": ["hinge_3"] }));
    let text = other.facts("render", json!({ "pack": id, "budget": 300 }))["text"].clone();
    assert!(text.as_str().unwrap().contains("fn hinge_3()"), "{text}");
    for (tool, pack) in [("pack", "paths"), ("render", "pack")] {
        let value = if tool == "pack" { json!(["ship"]) } else { json!("ship.lcp") };
        let fault = other.fault(tool, json!({ pack: value, "query": "?!" }));
        assert_eq!(fault["code"], "usage");
        assert!(fault["hint"].as_str().unwrap().contains("such as a function"), "{fault}");
        let fault = other.fault(tool, json!({ pack: value, "query": 7 }));
        assert!(fault["message"].as_str().unwrap().contains("array of strings"), "{fault}");
    }
}

#[test]
fn query_reads_history_only_of_a_repository_at_a_root() {
    let place = doors_and_sails();
    let git = |folder: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(place.path(folder)).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        for name in lcp_ingest::GIT_ENVIRONMENT {
            command.env_remove(name);
        }
        assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    let commit = |folder: &str, files: &[&str]| {
        git(folder, &["init", "-q"]);
        git(folder, &[&["add"], files].concat());
        git(folder, &["commit", "-q", "-m", "Grease it against squeaking"]);
    };
    let reasons = |flags: &[&str]| {
        let mut client = place.client(flags);
        let query = "squeaking when greased, hoist";
        let arguments = json!({ "paths": ["."], "include": ["*.rs"], "query": query });
        let id = client.facts("pack", arguments)["pack"].clone();
        let stored = client.facts("render", json!({ "pack": id, "report": true }));
        let shown = json!({ "pack": id, "report": true, "query": query });
        let shown = client.facts("render", shown);
        [stored, shown].map(|of| of["report"].to_string().contains("Grease it"))
    };
    // The repository is above the root.
    commit(".", &["root/ship/door.rs", "root/ship/sail.rs", "root/src/main.rs"]);
    assert_eq!(reasons(&["--git"]), [false; 2]);
    // A file `.git` leads to a repository elsewhere.
    place.write("root/.git", &format!("gitdir: {}\n", place.text(".git")));
    assert_eq!(reasons(&["--git"]), [false; 2]);
    std::fs::remove_file(place.path("root/.git")).unwrap();
    commit("root", &["ship/door.rs", "ship/sail.rs", "src/main.rs"]);
    assert_eq!(reasons(&["--git"]), [true; 2]);
    assert_eq!(reasons(&[]), [false; 2]);
}
