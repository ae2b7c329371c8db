//! `annotate`, the flags of other commands that set properties, and the categories that LCP sets
//! (`docs/cli.md`).

use std::fs;

use lcp_decoder::{DecodeOptions, decode};
use lcp_driver::IndexCosts;
use lcp_encoder::{Compression, EncodeOptions, Magic, encode, encode_with_costs};
use lcp_packfile::journal::journal_path;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, BlockMeta, FormatHint, Lang, Priority, Role, Status, Tag};
use serde_json::{Value, json};

use crate::command::{LCP, Project, run_with, stderr};
use crate::sessions;

fn blocks() -> Vec<Block<'static>> {
    vec![
        Block::code(Lang::Rust, "src/main.rs", "fn main() {}\n"),
        Block::new(Annotation::priority(0, Priority::Low)),
        Block::code(Lang::Rust, "src/parse/line.rs", "fn line() {}\n"),
        Block::document("docs/guide.md", "# Guide\n", FormatHint::Markdown),
        Block::conversation(Role::User, "src"),
        Block::tool_result("grep", Status::Ok, "src/main.rs:1"),
    ]
}

/// A folder with a pack of these blocks.
fn project(form: EncodeOptions) -> Project {
    let project = LCP.project("");
    fs::write(project.path("a.lcp"), encode(&blocks(), form).unwrap()).unwrap();
    project
}

/// Returns the annotations at the end of a pack as `TARGET VALUE`, after checking the rest.
#[track_caller]
fn added(project: &Project, pack: &str) -> Vec<String> {
    let bytes = fs::read(project.path(pack)).unwrap();
    let found = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
    let old = blocks();
    assert_eq!(found[..old.len()], old);
    let added = found[old.len()..].iter().map(|block| {
        let annotation = block.as_annotation().unwrap();
        let tag = annotation.as_tag().map(|tag| tag.to_string());
        let value = tag.or_else(|| Some(annotation.as_priority()?.name().to_owned()));
        format!("{} {}", annotation.target_block_id, value.unwrap())
    });
    added.collect()
}

#[test]
fn annotate_selects_by_path_type_and_index() {
    for (filters, selected) in [
        (&["--path", "*.rs"][..], &[0, 2][..]),
        (&["--path", "src/*.rs"], &[0]),
        (&["--path", "docs/", "--path", "parse"], &[2, 3]),
        // A turn and a tool have no path.
        (&["--path", "*"], &[0, 2, 3]),
        (&["--type", "document,tool-result"], &[3, 5]),
        (&["--type", "code", "--type", "conversation"], &[0, 2, 4]),
        (&["--index", "0,2-4"], &[0, 2, 3, 4]),
        (&["--index", "4-"], &[4, 5]),
        // A block must match each kind of filter.
        (&["--path", "src", "--type", "code", "--index", "1-9"], &[2]),
    ] {
        let project = project(EncodeOptions::default());
        let flags = ["--category", "own", "--json"];
        let report = project.json(&[&["annotate", "a.lcp"], filters, &flags].concat());
        assert_eq!(report["selected"], json!(selected), "{filters:?}");
        let wanted: Vec<_> = selected.iter().map(|index| format!("{index} category=own")).collect();
        assert_eq!(added(&project, "a.lcp"), wanted, "{filters:?}");
        let (schema, count) = (&report["schema"], selected.len());
        assert_eq!((schema, &report["annotations"]), (&json!("lcp.annotate.v1"), &json!(count)));
    }
}

/// A property that a block already has gets no second annotation.
#[test]
fn annotate_sets_all_properties_once() {
    let project = project(EncodeOptions::default());
    let set = ["annotate", "a.lcp", "--index", "0,3", "--priority", "low", "--category", "memory"];
    let more = ["--rank", "-0.5", "--tag", "pinned", "--tag", "topic=a b"];
    let call = [&set[..], &more].concat();
    let output = project.run(&call);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "2 blocks selected, 9 annotations added\n");
    let tags = ["category=memory", "rank=-0.5", "pinned", "topic=a b"];
    let of = |index: usize| tags.map(|tag| format!("{index} {tag}")).to_vec();
    let wanted = [of(0), vec!["3 low".to_owned()], of(3)].concat();
    assert_eq!(added(&project, "a.lcp"), wanted);

    let once = fs::read(project.path("a.lcp")).unwrap();
    let output = project.run(&call);
    assert_eq!(stderr(&output), "2 blocks selected; they have these properties already\n");
    assert_eq!(fs::read(project.path("a.lcp")).unwrap(), once);
    // Another value wins over the earlier one.
    project.stdout_of(&["annotate", "a.lcp", "--index", "3", "--category", "goal"]);
    let bytes = fs::read(project.path("a.lcp")).unwrap();
    let found = decode(&bytes, DecodeOptions::default()).unwrap().blocks;
    let metas = BlockMeta::resolve_all(&found, &mut |_, error| panic!("{error}"));
    assert_eq!(metas[3].category.as_deref(), Some("goal"));
    assert_eq!((metas[3].priority, metas[3].rank), (Priority::Low, Some(-0.5)));
    let report = project.json(&["report", "a.lcp", "--json", "--budget", "500"]);
    assert_eq!(report["blocks"][3]["category"], "goal");
    assert_eq!(report["blocks"][3]["reason"], "pinned");
}

/// The index and its costs are those of a pack that is encoded at once.
#[test]
fn annotated_pack_has_a_valid_index_with_costs() {
    let costs =
        |blocks: &[Block<'_>]| IndexCosts::new(&Tiktoken::new(Encoding::O200kBase)).count(blocks);
    let project = project(EncodeOptions::default());
    let old = blocks();
    let encoded = |blocks: &[Block<'_>]| {
        let costs = costs(blocks).unwrap();
        encode_with_costs(blocks, EncodeOptions::default(), &[costs]).unwrap()
    };
    fs::write(project.path("a.lcp"), encoded(&old)).unwrap();
    // The heads of blocks name the call and the priority, so both change costs.
    let flags = ["--priority", "high", "--tag", "tool_call_id=call_1"];
    project.stdout_of(&[&["annotate", "a.lcp", "--index", "5"][..], &flags].concat());
    let mut all = old;
    all.push(Block::new(Annotation::priority(5, Priority::High)));
    all.push(Block::new(Annotation::tag(5, &Tag::new(Tag::TOOL_CALL_ID, "call_1"))));
    assert_eq!(fs::read(project.path("a.lcp")).unwrap(), encoded(&all));
    assert_ne!(costs(&all).unwrap().modes[0].full[5], costs(&blocks()).unwrap().modes[0].full[5]);
    project.stdout_of(&["validate", "--full", "a.lcp"]);
}

#[test]
fn annotate_writes_a_new_pack_on_request() {
    let payload = EncodeOptions { compression: Compression::Payload, ..EncodeOptions::default() };
    let bcp = EncodeOptions { magic: Magic::Bcp, ..EncodeOptions::default() };
    let plain = EncodeOptions { index: false, ..EncodeOptions::default() };
    for (form, in_place) in
        [(EncodeOptions::default(), true), (plain, true), (payload, false), (bcp, false)]
    {
        let project = project(form);
        let old = fs::read(project.path("a.lcp")).unwrap();
        let set = ["annotate", "a.lcp", "--type", "code", "--category", "own"];
        project.stdout_of(&[&set[..], &["-o", "b.lcp"]].concat());
        assert_eq!(fs::read(project.path("a.lcp")).unwrap(), old);
        assert_eq!(added(&project, "b.lcp"), ["0 category=own", "2 category=own"]);
        // The new pack has the same form.
        let all: Vec<_> = blocks()
            .into_iter()
            .chain([0, 2].map(|at| Block::new(Annotation::tag(at, &Tag::new("category", "own")))))
            .collect();
        let new = fs::read(project.path("b.lcp")).unwrap();
        assert_eq!(new, encode(&all, form).unwrap());
        let output = project.run(&set);
        if in_place {
            assert_eq!(fs::read(project.path("a.lcp")).unwrap(), new);
        } else {
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("in place") && said.contains("hint: pass -o NEW"), "{said}");
            assert_eq!(fs::read(project.path("a.lcp")).unwrap(), old);
        }
        // As a filter.
        let set = ["annotate", "-", "--type", "code", "--category", "own"];
        assert_eq!(run_with(&set, &old).stdout, new);
    }
}

#[test]
fn failed_annotation_leaves_the_pack_unchanged() {
    let project = project(EncodeOptions::default());
    let old = fs::read(project.path("a.lcp")).unwrap();
    let high = ["--priority", "high"];
    for (arguments, said) in [
        (
            &["--path", "*.py", "--priority", "high"][..],
            "no block matches all of the given filters",
        ),
        (&["--index", "1", "--priority", "high"], "block 1 is metadata"),
        (
            &["--index", "0,6-9", "--priority", "high"],
            "block 6 does not exist (the pack has 6 blocks)",
        ),
        (&high, "no blocks are selected"),
        (&["--index", "0-"], "no property is given"),
        (&["--index", "x", "--priority", "high"], "expected an index or a range"),
        (&["--index", "0", "--rank", "NaN"], "expected a finite number"),
        (&["--index", "0", "--tag", "rank=first"], "invalid value of the tag \"rank\""),
        (&["--index", "0", "--tag", "=x"], "expected KEY or KEY=VALUE"),
        (&["--index", "0", "--category", ""], "the category name must not be empty"),
        (&["--type", "annotation", "--priority", "high"], "annotation"),
        (&["--index", "0", "--tag", "pinned", "--json", "-o", "-"], "--json requires a file"),
        (&["--index", "0", "--tag", "pinned", "-o", "a.lcp"], "are the same file"),
    ] {
        let output = project.run(&[&["annotate", "a.lcp"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
    let output = project.run(&["annotate", "a.lcp", "--path", "*.py", "--priority", "high"]);
    assert!(stderr(&output).contains("hint: run `lcp inspect`"), "{}", stderr(&output));
    assert_eq!(fs::read(project.path("a.lcp")).unwrap(), old);

    let mut flipped = old;
    flipped[13] ^= 1;
    for (pack, said) in [(flipped, "the pack is damaged"), (b"LCP".to_vec(), "[unexpected_eof]")] {
        fs::write(project.path("a.lcp"), &pack).unwrap();
        let output = project.run(&["annotate", "a.lcp", "--index", "0", "--priority", "high"]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert_eq!(fs::read(project.path("a.lcp")).unwrap(), pack);
    }
    assert!(!journal_path(&project.path("a.lcp")).exists());
}

#[test]
fn annotate_waits_for_the_lock_on_the_pack() {
    let project = project(EncodeOptions::default());
    let held = fs::File::open(project.path("a.lcp")).unwrap();
    held.lock().unwrap();
    let set = ["annotate", "a.lcp", "--index", "0", "--tag", "pinned", "--wait", "0"];
    let output = project.run(&set);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another process is using the pack"), "{}", stderr(&output));
    held.unlock().unwrap();
    project.stdout_of(&set);
    assert_eq!(added(&project, "a.lcp"), ["0 pinned"]);
}

/// Returns category and priority of each block that is not metadata.
fn properties(pack: &[u8]) -> Vec<(String, Priority)> {
    let blocks = decode(pack, DecodeOptions::default()).unwrap().blocks;
    let metas = BlockMeta::resolve_all(&blocks, &mut |_, error| panic!("{error}"));
    let shown = blocks.iter().zip(&metas).filter(|(block, _)| !block.content.is_metadata());
    shown.map(|(_, meta)| (meta.category.as_deref().unwrap_or("-").into(), meta.priority)).collect()
}

#[test]
fn import_merge_and_append_set_properties_of_the_added_blocks() {
    let project = LCP.project("");
    let chat = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where?"},
    ]);
    fs::write(project.path("chat.json"), chat.to_string()).unwrap();
    let set = ["--category", "memory", "--priority", "low"];
    project.stdout_of(&[&["import", "chat.json", "-o", "chat.lcp"], &set[..]].concat());
    let low = ("memory".to_owned(), Priority::Low);
    assert_eq!(
        properties(&fs::read(project.path("chat.lcp")).unwrap()),
        [low.clone(), low.clone()]
    );

    fs::write(project.path("a.lcp"), encode(&blocks(), EncodeOptions::default()).unwrap()).unwrap();
    let other = ["--category", "goal", "--priority", "high"];
    project.stdout_of(&[&["merge", "a.lcp", "chat.lcp", "-o", "b.lcp"], &other[..]].concat());
    let high = ("goal".to_owned(), Priority::High);
    assert_eq!(properties(&fs::read(project.path("b.lcp")).unwrap()), vec![high.clone(); 7]);

    let old = properties(&fs::read(project.path("a.lcp")).unwrap());
    let json = json!({"blocks": [{"type": "conversation", "role": "user", "content": "hi"}]});
    fs::write(project.path("more.json"), json.to_string()).unwrap();
    let inputs = ["append", "a.lcp", "chat.lcp", "more.json"];
    project.stdout_of(&[&inputs[..], &other].concat());
    let new = [old, vec![high; 3]].concat();
    assert_eq!(properties(&fs::read(project.path("a.lcp")).unwrap()), new);
    project.stdout_of(&["validate", "--full", "a.lcp"]);
}

#[test]
fn import_gives_search_results_their_share() {
    let project = LCP.project("[import]\nsearch_tools = [\"look-up\"]\n");
    let call = |id: &str, name: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}]})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "a.rs: found"});
    let chat = json!([
        {"role": "user", "content": "Where?"},
        call("1", "Grep"), result("1"), call("2", "mcp__docs__look_up"), result("2"),
        call("3", "Bash"), result("3"),
    ]);
    fs::write(project.path("chat.json"), chat.to_string()).unwrap();
    let categories = |flags: &[&str], shares: &str| -> Vec<Value> {
        project.stdout_of(&[&["import", "chat.json", "-o", "chat.lcp"], flags].concat());
        let flags = ["--budget", "4000", "--json", "--shares", shares];
        let report = project.json(&[&["report", "chat.lcp"][..], &flags].concat());
        let blocks = report["blocks"].as_array().unwrap();
        let results = blocks.iter().filter(|block| block["type"] == "tool-result");
        results.map(|block| block["category"].clone()).collect()
    };
    let (found, other) = ("search_results", "tool_results");
    assert_eq!(categories(&[], "agent"), [found, found, other]);
    assert_eq!(categories(&["--no-config"], "agent"), [found, other, other]);
    // In a conversation, they are messages like other results.
    assert_eq!(categories(&[], "conversation"), ["recent_messages"; 3]);
    // The pack of a search may be imported as such.
    assert_eq!(categories(&["--category", "references"], "agent"), ["references"; 3]);

    project.write("[import]\nsearch_tools = [\"grep\", \"--\"]\n");
    let output = project.run(&["import", "chat.json", "-o", "chat.lcp"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("search_tools") && said.contains("line 2"), "{said}");
}

/// The parts of a hand-off are charged to the sections of a conversation.
#[test]
fn report_divides_a_handoff_into_sections() {
    let project = sessions::project();
    sessions::record_plan(&project, "Please move the parser.\n\nDECISION: keep its tests.");
    let id = project.stdout_of(&["session", "handoff", "c", "--force", "-o", "handoff.lcp"]);
    let flags = ["--shares", "conversation", "--budget", "4000"];
    let report = project.json(&[&["report", "handoff.lcp", "--json"][..], &flags].concat());
    let used = |category: &str| report["by_category"][category]["tokens"].as_u64();
    for section in ["goal", "memory", "working_state", "conversation_summary", "recent_messages"] {
        assert!(used(section) > Some(0), "{section}: {}", report["by_category"]);
    }
    assert_eq!(used("retrieved_context"), None, "{}", report["by_category"]);
    assert_eq!(report["warnings"], json!([]));
    let table = project.stdout_of(&[&["report", "handoff.lcp"][..], &flags].concat());
    assert!(table.contains("Working State") && table.contains("Conversation Summary"), "{table}");

    let resumed = project.json(&["session", "resume", id.trim_end(), "--json"]);
    let sections = resumed["directive"]["by_category"].as_object().unwrap();
    let names: Vec<_> = sections.keys().map(String::as_str).collect();
    let wanted = "conversation_summary goal memory recent_messages scaffolding_reminder \
                  working_state";
    assert_eq!(names.join(" "), wanted);
    let sum: u64 = sections.values().map(|tokens| tokens.as_u64().unwrap()).sum();
    let tokens = resumed["directive"]["tokens"].as_u64().unwrap();
    assert!(sum <= tokens && sum > tokens * 9 / 10, "{sum} of {tokens}");
}
