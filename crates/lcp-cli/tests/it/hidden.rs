//! What is printed for people steers no terminal, whatever packs, files and arguments hold
//! (RFC 0008 §4).

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use clap::CommandFactory;
use lcp_driver::{OutputMode, render_placeholder};
use lcp_types::{Block, Lang};
use serde_json::{Value, json};

use crate::command::{LCP, Project, sample};

/// Some of each sort that must not be printed, and what looks like a line of ours.
const HIDDEN: &str = "\u{1b}[5m\u{1b}]0;t\u{7}\u{8}\u{7f}\u{9b}2J\u{85}\u{ad}\u{61c}\u{200b}\u{200e}\
                      \u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\
                      \u{fff9}\u{e0041}\r\n\
                      forged: x";

/// The id of a conversation: stores take none with control characters.
const CONVERSATION: &str = "a\u{202e}\u{200b}";

/// The start of the line that a label must not begin.
const FORGED: &str = "forged";

/// What standard output of a call is for.
#[derive(Clone, Copy, PartialEq)]
enum Prints {
    /// A table, lines, JSON: people read it on a terminal.
    ForPeople,
    /// A pack, a rendered text, a content: it stays as it is.
    Data,
}
use Prints::{Data, ForPeople};

/// Whether a terminal would not show it, or obey it; told without the code under test.
fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    (c.is_control() && c != '\n')
        || [0xad, 0x61c, 0x180e, 0xfeff].contains(&code)
        || (0x200b..=0x200f).contains(&code)
        || (0x2028..=0x202e).contains(&code)
        || (0x2060..=0x206f).contains(&code)
        || (0xfff9..=0xfffb).contains(&code)
        || (0xe0000..=0xe007f).contains(&code)
}

/// Text of a stream has nothing of it.
#[track_caller]
fn check(what: &str, call: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let hidden = text.chars().find(|c| is_hidden(*c));
    assert_eq!(hidden, None, "{what} of {call}: {text:?}");
    let is_forged = text.lines().any(|line| line.starts_with(FORGED));
    assert!(!is_forged, "{what} of {call} has a line of others: {text:?}");
}

#[track_caller]
fn check_all(call: &[impl AsRef<OsStr>], prints: Prints, output: &Output) {
    let call: Vec<_> = call.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    let call = format!("{:?}", call.join(" "));
    check("standard error", &call, &output.stderr);
    if prints == ForPeople {
        check("standard output", &call, &output.stdout);
    }
    // 126 and 127: the command of `run` cannot be started.
    let is_documented = |code| matches!(code, 0..=5 | 126 | 127);
    assert!(output.status.code().is_some_and(is_documented), "{call}: {output:?}");
}

/// The path of every subcommand that does something.
fn leaves() -> Vec<(Vec<String>, clap::Command)> {
    let mut left = vec![(Vec::new(), lcp_cli::Cli::command())];
    let mut leaves = Vec::new();
    while let Some((path, command)) = left.pop() {
        if !command.has_subcommands() {
            leaves.push((path, command));
            continue;
        }
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            left.push(([&path[..], &[inner.get_name().to_owned()]].concat(), inner.clone()));
        }
    }
    leaves
}

/// Blocks of every type; whatever has a text has a hostile one.
fn manifest() -> Value {
    let label = |before: &str| format!("{before}{HIDDEN}");
    let text = std::fs::read_to_string(sample("every-type.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    let blocks = manifest["blocks"].as_array_mut().unwrap();
    let texts = [
        "path", "title", "tool_name", "content", "schema", "schema_hint", "tool_call_id", "root",
        "vector_id", "model", "alt_text", "namespace", "type_name", "summary",
    ];
    for (at, block) in blocks.iter_mut().enumerate() {
        for name in texts {
            if block.get(name).is_some() {
                block[name] = label(&format!("{at}")).into();
            }
        }
        if block["type"] == "file_tree" {
            block["entries"][0]["name"] = label("folder").into();
        }
    }
    // Twice, so that there is something to deduplicate, and a label that is not the only one.
    let again: Vec<_> = blocks.clone();
    blocks.extend(again);
    for (kind, target, value) in [
        ("summary", 1, label("")),
        ("tag", 1, label("category=")),
        ("tag", 4, label("tool_call_id=")),
        ("tag", 2, label("rank=")),
        ("tag", 2, label("")),
        ("priority", 999, label("")),
    ] {
        blocks.push(json!({ "type": "annotation", "target_block_id": target, "kind": kind,
            "value": value }));
    }
    manifest
}

/// A conversation whose tools and words are hostile.
fn transcript() -> Value {
    let call = json!({ "id": HIDDEN, "type": "function",
        "function": { "name": HIDDEN, "arguments": "{}" } });
    json!({ "model": HIDDEN, "messages": [
        { "role": "system", "content": HIDDEN },
        { "role": "user", "content": format!("DECISION: {HIDDEN}\nTODO: {HIDDEN}") },
        { "role": "assistant", "content": HIDDEN, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": HIDDEN, "content": HIDDEN },
        { "role": HIDDEN, "content": HIDDEN, HIDDEN: HIDDEN },
        { "role": "user", "content": [{ "type": HIDDEN, "text": HIDDEN }] },
    ] })
}

/// A folder with a pack, packs that are not whole, a transcript and files, all hostile.
fn place() -> Project {
    let place = LCP.project("[continuity]\nstore = \"kept.sqlite\"\n");
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path(name), bytes).unwrap();
    write("all.json", manifest().to_string().as_bytes());
    LCP.encode(&manifest().to_string(), &place.path("all.lcp"));
    let mut pack = std::fs::read(place.path("all.lcp")).unwrap();
    write("less.lcp", &pack[..pack.len() / 2]);
    let middle = pack.len() / 3;
    pack[middle..middle + 40].fill(0xff);
    write("bad.lcp", &pack);
    LCP.encode(
        r#"{"blocks":[{"type":"document","title":"a","content":"b"}]}"#,
        &place.path("b.lcp"),
    );
    write("chat.json", transcript().to_string().as_bytes());
    for wrong in [
        json!({ "blocks": [{ "type": HIDDEN }] }),
        json!({ "blocks": [{ "type": "code", HIDDEN: 1 }] }),
        json!({ "blocks": [{ "type": "code", "lang": HIDDEN, "path": HIDDEN, "content": 1 }] }),
    ]
    .iter()
    .enumerate()
    {
        write(&format!("wrong{}.json", wrong.0), wrong.1.to_string().as_bytes());
    }
    for (at, line) in ["[context]\n\"K\" = 1\n", "[[pack.rule]]\nglob = \"K[\"\n", "\"K\" = \"K\n"]
        .iter()
        .enumerate()
    {
        write(&format!("wrong{at}.toml"), line.replace('K', "\u{202e}\u{9b}\u{feff}").as_bytes());
    }
    std::fs::create_dir(place.path("files")).unwrap();
    files(&place.path("files"));
    place
}

/// Files with such names, as far as the system allows them.
fn files(folder: &Path) {
    let write = |name: &OsStr, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write(OsStr::new("plain.rs"), format!("// {HIDDEN}\nfn main() {{}}\n").as_bytes());
    write(OsStr::new(".lcpignore"), "\u{202e}[\n".as_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;

        let name = |before: &str, ending: &str| format!("{before}{HIDDEN}{ending}");
        write(OsStr::new(&name("a", ".rs")), b"fn main() {}\n");
        write(OsStr::new(&name("binary", ".bin")), b"\0\x01\x02");
        write(OsStr::new(&name("large", ".txt")), &[b'x'; 4_000]);
        std::os::unix::fs::symlink("nowhere", folder.join(name("link", ""))).unwrap();
        #[cfg(target_os = "linux")]
        write(OsStr::from_bytes(b"\xff\x1b[5m\n.rs"), b"fn main() {}\n");
        let _ = OsStr::from_bytes;
    }
}

/// What each subcommand is called with; `HIDDEN` stands for what is hostile. The first call
/// of each works.
const CALLS: &[(&str, &[(Prints, &str)])] = &[
    (
        "pack",
        &[
            (Data, "files --report - --max-file-size 2k"),
            (Data, "files --no-ignore --summarizer-cmd false --summarize command"),
            (Data, "files --follow --dedup near"),
            (Data, "- --stdin-name HIDDEN"),
            (Data, "files --include HIDDEN --priority HIDDEN=high"),
            (Data, "files --since HIDDEN"),
        ],
    ),
    (
        "render",
        &[
            (Data, "all.lcp --budget 300 --report -"),
            (Data, "all.lcp --budget 60 --mode markdown --dedup near"),
            (Data, "all.lcp --mode minimal --overflow deny --budget 1"),
            (Data, "bad.lcp"),
            (Data, "less.lcp"),
        ],
    ),
    (
        "rank",
        &[
            (ForPeople, "all.lcp --query HIDDEN"),
            (ForPeople, "all.lcp --query forged --mention HIDDEN --json"),
            (ForPeople, "all.lcp --query-file HIDDEN"),
            (ForPeople, "bad.lcp --query forged"),
            (ForPeople, "less.lcp"),
        ],
    ),
    (
        "report",
        &[
            (ForPeople, "all.lcp --budget 300"),
            (ForPeople, "all.lcp --budget 60 --dedup near --color always"),
            (ForPeople, "all.lcp --json"),
            (ForPeople, "bad.lcp"),
        ],
    ),
    ("parse", &[(Data, "- --mode minimal"), (Data, "- --mode markdown"), (Data, "all.lcp")]),
    ("config", &[(ForPeople, "--budget 300"), (ForPeople, "--json --config wrong0.toml")]),
    (
        "count",
        &[
            (ForPeople, "all.lcp"),
            (ForPeople, "all.lcp --json"),
            #[cfg(unix)]
            (ForPeople, "files/aHIDDEN.rs --total"),
            #[cfg(unix)]
            (ForPeople, "files/aHIDDEN.rs --json"),
        ],
    ),
    (
        "encode",
        &[(Data, "all.json"), (Data, "wrong0.json"), (Data, "wrong1.json"), (Data, "wrong2.json")],
    ),
    ("decode", &[(Data, "all.lcp"), (Data, "bad.lcp"), (Data, "less.lcp")]),
    (
        "validate",
        &[
            (ForPeople, "b.lcp --full"),
            (ForPeople, "all.lcp b.lcp --full"),
            (ForPeople, "bad.lcp less.lcp HIDDEN"),
            (ForPeople, "bad.lcp --json"),
            #[cfg(unix)]
            (ForPeople, "files/aHIDDEN.rs b.lcp"),
        ],
    ),
    ("dedup", &[(Data, "all.lcp --dedup near --report -"), (Data, "bad.lcp")]),
    ("merge", &[(Data, "all.lcp all.lcp --dedup near"), (Data, "bad.lcp less.lcp")]),
    (
        "append",
        &[
            (ForPeople, "b.lcp all.lcp"),
            (ForPeople, "b.lcp bad.lcp"),
            (ForPeople, "b.lcp wrong1.json"),
        ],
    ),
    (
        "annotate",
        &[
            (Data, "all.lcp --type code --tag HIDDEN=HIDDEN -o -"),
            (ForPeople, "all.lcp --path HIDDEN --priority low -o new.lcp --json"),
            (ForPeople, "b.lcp --index 0 --category HIDDEN --tag rank=HIDDEN"),
            (ForPeople, "bad.lcp --index 0 --tag HIDDEN"),
        ],
    ),
    (
        "recover",
        &[(Data, "all.lcp"), (Data, "bad.lcp"), (ForPeople, "less.lcp -o saved.lcp --json")],
    ),
    (
        "cat",
        &[
            (Data, "all.lcp 0"),
            (ForPeople, "all.lcp 0HIDDEN"),
            (ForPeople, "all.lcp 0HIDDEN0"),
            (Data, "bad.lcp 0"),
        ],
    ),
    (
        "inspect",
        &[
            (ForPeople, "all.lcp"),
            (ForPeople, "all.lcp --json"),
            (ForPeople, "all.lcp --color always"),
            (ForPeople, "bad.lcp"),
            (ForPeople, "less.lcp"),
        ],
    ),
    (
        "stats",
        &[
            (ForPeople, "all.lcp"),
            (ForPeople, "all.lcp --json"),
            (ForPeople, "all.lcp --tree"),
            (ForPeople, "bad.lcp"),
        ],
    ),
    (
        "diff",
        &[
            (ForPeople, "all.lcp b.lcp"),
            (ForPeople, "b.lcp all.lcp --text --color always"),
            (ForPeople, "all.lcp b.lcp --json"),
        ],
    ),
    ("completions", &[(ForPeople, "bash")]),
    ("mcp", &[(ForPeople, "--root . --store kept.sqlite")]),
    (
        "run",
        &[
            (ForPeople, "--data gateway true"),
            (ForPeople, "--data gateway HIDDEN"),
            (ForPeople, "--upstream HIDDEN true"),
        ],
    ),
    (
        "proxy stats",
        &[
            (ForPeople, "--data gateway"),
            (Data, "--data gateway --json"),
            (ForPeople, "--data HIDDEN"),
        ],
    ),
    ("setup", &[(ForPeople, "cursor --dry-run"), (ForPeople, "HIDDEN")]),
    ("hook", &[(Data, "HIDDEN"), (ForPeople, "--verbose HIDDEN")]),
    // Manual pages have no words of others, and dots of their own.
    ("man", &[(Data, "pack"), (Data, "HIDDEN")]),
    (
        "import",
        &[
            (Data, "chat.json --report -"),
            (ForPeople, "chat.json --json -o chat.lcp"),
            (Data, "all.json"),
            (Data, "chat.json --from markdown"),
        ],
    ),
    (
        "export",
        &[(Data, "all.lcp --to openai --report -"), (Data, "all.lcp --to anthropic --budget 50")],
    ),
    (
        "session record",
        &[
            (ForPeople, "CONVERSATION chat.json --window 4000"),
            (ForPeople, "CONVERSATION chat.json --json"),
            (ForPeople, "CONVERSATION all.lcp"),
            (ForPeople, "HIDDEN chat.json --window 4000"),
            (ForPeople, "other\u{202e} --usage 3999"),
        ],
    ),
    (
        "session handoff",
        &[
            (ForPeople, "CONVERSATION --force -o out.lcp"),
            (ForPeople, "CONVERSATION --force --json"),
            (ForPeople, "HIDDEN"),
        ],
    ),
    (
        "session resume",
        &[
            (Data, "HANDOFF --as c\u{202e}"),
            (ForPeople, "HANDOFF --repeat --json"),
            (ForPeople, "HANDOFF"),
            (ForPeople, "HIDDEN"),
        ],
    ),
    ("session list", &[(ForPeople, ""), (ForPeople, "--json")]),
    (
        "session show",
        &[(ForPeople, "CONVERSATION"), (ForPeople, "CONVERSATION --json"), (ForPeople, "HIDDEN")],
    ),
    (
        "session compact",
        &[
            (ForPeople, "chat.json --window 1000 --target-percent 90"),
            (ForPeople, "chat.json --window 100 --target-percent 30"),
            (ForPeople, "CONVERSATION --target-percent 1 --dry-run"),
            (ForPeople, "chat.json --window 100 --target-percent 30 --json"),
            (ForPeople, "HIDDEN"),
        ],
    ),
    (
        "session usage",
        &[(ForPeople, "CONVERSATION"), (ForPeople, "CONVERSATION --json"), (ForPeople, "HIDDEN")],
    ),
    // It prints the id that it is told.
    (
        "session fork",
        &[(Data, "CONVERSATION --at 1 --as b\u{202e}"), (Data, "HIDDEN --at 1 --as HIDDEN")],
    ),
    ("session expire", &[(ForPeople, ""), (ForPeople, "--json")]),
    ("session check", &[(ForPeople, ""), (ForPeople, "--json")]),
];

/// The words of a call.
fn words(place: &Project, leaf: &str, call: &str) -> Vec<String> {
    let words = leaf.split(' ').chain(call.split(' ').filter(|word| !word.is_empty()));
    let word = |word: &str| match word {
        "HANDOFF" => {
            let shown = place.json(&["store", "show", CONVERSATION, "--json"]);
            shown["handoffs"][0]["id"].as_str().unwrap().to_owned()
        }
        word => word.replace("HIDDEN", HIDDEN).replace("CONVERSATION", CONVERSATION),
    };
    words.map(word).collect()
}

/// Without the colours that are ours.
fn without_colors(output: &Output) -> Output {
    let plain = |text: &[u8]| {
        let mut text = String::from_utf8_lossy(text).into_owned();
        for color in ["0", "1", "2", "31", "32", "33", "36", "1;31", "1;33", "1;36"] {
            text = text.replace(&format!("\u{1b}[{color}m"), "");
        }
        text.into_bytes()
    };
    Output { stdout: plain(&output.stdout), stderr: plain(&output.stderr), ..*output }
}

fn input(leaf: &str) -> String {
    if leaf == "parse" {
        let block = Block::code(Lang::Unknown, HIDDEN, "");
        return render_placeholder(&block, 3, OutputMode::Minimal) + "\n";
    }
    if leaf != "mcp" {
        return HIDDEN.to_owned();
    }
    let mut requests = vec![json!({ "method": "initialize", "id": 0, "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": HIDDEN, "version": HIDDEN } } })];
    requests.push(json!({ "method": "notifications/initialized" }));
    for (id, name, arguments) in [
        (1, "pack", json!({ "paths": [HIDDEN] })),
        (2, "render", json!({ "pack": "all.lcp", "budget": 300 })),
        (3, "expand", json!({ "pack": "all.lcp", "label": HIDDEN })),
        (4, HIDDEN, json!({})),
        (5, "record_usage", json!({ "conversation": HIDDEN, HIDDEN: 1 })),
        (6, "resume", json!({ "handoff": HIDDEN })),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        requests.push(json!({ "method": "tools/call", "id": id, "params": params }));
    }
    requests.push(json!({ "method": HIDDEN, "id": 7 }));
    let line = |mut request: Value| {
        request["jsonrpc"] = "2.0".into();
        format!("{request}\n")
    };
    requests.into_iter().map(line).collect()
}

fn run(place: &Project, leaf: &str, words: &[impl AsRef<OsStr>]) -> Output {
    let mut child = LCP
        .command(&place.path(""), words)
        .env("RUST_LOG", "trace")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever reads no input closes it early.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input(leaf).as_bytes());
    without_colors(&child.wait_with_output().unwrap())
}

/// Every subcommand is called, so that a new one is not forgotten.
#[test]
fn every_subcommand_has_a_hostile_call() {
    let mut known: Vec<_> = CALLS.iter().map(|(leaf, _)| (*leaf).to_owned()).collect();
    let mut found: Vec<_> = leaves().iter().map(|(path, _)| path.join(" ")).collect();
    found.retain(|leaf| cfg!(feature = "mcp") || leaf != "mcp");
    known.retain(|leaf| cfg!(feature = "mcp") || leaf != "mcp");
    known.sort();
    found.sort();
    assert_eq!(known, found);
}

#[test]
fn printed_text_has_no_terminal_control_characters() {
    let place = place();
    for (leaf, calls) in CALLS {
        if *leaf == "mcp" && !cfg!(feature = "mcp") {
            continue;
        }
        for (at, (prints, call)) in calls.iter().enumerate() {
            let mut words = words(&place, leaf, call);
            words.push("-v".to_owned());
            if cfg!(feature = "log") {
                words.push("--log=text".to_owned());
            }
            // The protocol is JSON, and has what it was asked for.
            let prints = if *leaf == "mcp" { Data } else { *prints };
            let output = run(&place, leaf, &words);
            check_all(&words, prints, &output);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(at > 0 || output.status.success(), "{words:?}: {said}");
        }
    }
}

/// A command line that is wrong is echoed.
#[test]
fn hostile_arguments_are_escaped_in_errors() {
    let place = place();
    let call = |words: &[&OsStr]| {
        let output = run(&place, "", words);
        check_all(words, Data, &output);
    };
    let hostile = OsStr::new(HIDDEN);
    call(&[hostile]);
    call(&[OsStr::new("help"), hostile]);
    let flag = format!("--{HIDDEN}");
    let colour = format!("--color={HIDDEN}");
    for (path, command) in leaves() {
        let leaf: Vec<_> = path.iter().map(OsStr::new).collect();
        for more in [&[flag.as_ref()][..], &[hostile], &[hostile; 3], &[colour.as_ref()]] {
            call(&[&leaf, more].concat());
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            call(&[&leaf[..], &[OsStr::from_bytes(b"\xff\x1b[5m\xc2\x9b\nforged: x")]].concat());
        }
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            let option = format!("--{option}={HIDDEN}");
            call(&[&leaf[..], &[option.as_ref()]].concat());
        }
    }
}
