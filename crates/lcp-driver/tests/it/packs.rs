//! Packs for the tests: small handmade ones, and random ones of difficult content.

use lcp_driver::shares::{Share, Shares};
use lcp_driver::{DriverConfig, Excerpts, Objective, OutputMode, ValueModel};
use lcp_testkit::DELIMITERS;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{
    Annotation, Block, CarriedLevel, Code, Conversation, DataFormat, DiffHunk, FileEntry,
    FormatHint, Lang, MediaType, Passage, Priority, Role, Status, Tag, ToolResult, UnknownFields,
};
use proptest::prelude::*;

pub(crate) const O200K: Tiktoken = Tiktoken::new(Encoding::O200kBase);
pub(crate) const CL100K: Tiktoken = Tiktoken::new(Encoding::Cl100kBase);

/// Returns `lines` lines of Rust.
pub(crate) fn source(lines: usize) -> String {
    let line = |i| format!("let value_{i} = compute({i}, \"text\");\n");
    (0..lines).map(line).collect::<Vec<_>>().concat()
}

/// Returns a file with a summary that is far shorter.
pub(crate) fn file(path: &str, lines: usize) -> Block<'static> {
    Block::code(Lang::Rust, path.to_owned(), source(lines))
        .with_summary(format!("computes {lines} values"))
}

/// Returns the same file without a summary.
pub(crate) fn bare_file(path: &str, lines: usize) -> Block<'static> {
    Block::code(Lang::Rust, path.to_owned(), source(lines))
}

pub(crate) fn priority(target: u64, priority: Priority) -> Block<'static> {
    Block::new(Annotation::priority(target, priority))
}

pub(crate) fn tag(target: u64, tag: &str) -> Block<'static> {
    Block::new(Annotation::tag(target, &Tag::parse(tag)))
}

/// Returns one block of every type, each with every optional part.
pub(crate) fn every_type() -> Vec<Block<'static>> {
    vec![
        Block::code_lines(Lang::Rust, "src/main.rs", "fn main() {}\n", 10, 11),
        Block::conversation_with_call(
            Role::Assistant,
            "Let me look.\n\n- first\n- second",
            "call_1",
        ),
        Block::file_tree(
            "/repo",
            vec![
                FileEntry::directory(
                    "src",
                    vec![FileEntry::file("main.rs", 13), FileEntry::file("my lib.rs", 0)],
                ),
                FileEntry::file("README.md", 512),
            ],
        ),
        Block::new(ToolResult {
            tool_name: "grep".into(),
            status: Status::Error,
            content: "no such file".into(),
            schema_hint: Some("text".into()),
            unknown: UnknownFields::new(),
        }),
        Block::document("Guide to \"LCP\"", "# Guide\n\nRead this.\n", FormatHint::Markdown),
        Block::structured_data(DataFormat::Json, "{\"a\": [1, 2]}"),
        Block::diff(
            "src/main.rs",
            vec![
                DiffHunk::new(1, 1, "-fn main() {}\n+fn main() { run() }\n"),
                DiffHunk::new(9, 9, " }\n+// end\n"),
            ],
        ),
        Block::embedding_ref("vec-7", vec![1, 2, 3], "text-embedding-3"),
        Block::image(MediaType::Png, "A red square", vec![0x89, 0x50]),
        Block::extension("acme", "ticket", "LCP-7: it fails"),
        Block::raw(0x42, vec![1, 2, 3]),
    ]
}

pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::collection::vec(prop::sample::select(DELIMITERS), 0..12).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(prop::sample::select(DELIMITERS), 20..120).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

/// Generates labels of every kind, including labels that need quotes.
fn any_label() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}(/[a-z]{1,8}){0,3}\\.rs",
        1 => any_text(),
        1 => prop::sample::select(&["", "a b", "x:1-2", "a:", "\"q\"", "a]b", "(x)", "#1", "~1", "a,b", "c:\\d e", "\u{202e}x", "<<EOF"][..])
            .prop_map(str::to_owned),
    ]
    .prop_map(|label| label.chars().take(60).collect())
}

pub(crate) fn any_block() -> impl Strategy<Value = Block<'static>> {
    let lines = prop::option::of((1u32..2_000, 1u32..2_000));
    let code = (any_label(), any_text(), lines).prop_map(|(path, content, lines)| {
        Block::new(Code {
            lang: Lang::Rust,
            path: path.into(),
            content: content.into(),
            line_start: lines.map(|(first, _)| first),
            line_end: lines.map(|(_, last)| last),
            unknown: UnknownFields::new(),
        })
    });
    let turn =
        (0..6u8, any_text(), prop::option::of(any_label())).prop_map(|(role, content, call)| {
            Block::new(Conversation {
                role: Role::from_code(role),
                content: content.into(),
                tool_call_id: call.map(Into::into),
                unknown: UnknownFields::new(),
            })
        });
    let result = (any_label(), 0..5u8, any_text()).prop_map(|(name, status, content)| {
        Block::tool_result(name, Status::from_code(status), content)
    });
    let document = (any_label(), any_text(), 0..5u8).prop_map(|(title, content, hint)| {
        Block::document(title, content, FormatHint::from_code(hint))
    });
    let data = (any_text(), 0..6u8).prop_map(|(content, format)| {
        Block::structured_data(DataFormat::from_code(format), content)
    });
    let hunk =
        (0..9u32, 0..9u32, any_text()).prop_map(|(old, new, lines)| DiffHunk::new(old, new, lines));
    let diff = (any_label(), prop::collection::vec(hunk, 0..3))
        .prop_map(|(path, hunks)| Block::diff(path, hunks));
    let tree = (any_label(), prop::collection::vec((any_label(), 0..5_000u64), 0..6)).prop_map(
        |(root, files)| {
            let files = files.into_iter().map(|(name, size)| FileEntry::file(name, size)).collect();
            Block::file_tree(root, vec![FileEntry::directory("d", files)])
        },
    );
    let rest = (any_label(), any_label(), any_text()).prop_flat_map(|(a, b, text)| {
        prop_oneof![
            Just(Block::embedding_ref(a.clone(), vec![1], b.clone())),
            Just(Block::image(MediaType::Webp, text.clone(), vec![7; 40])),
            Just(Block::extension(a, b, text.clone())),
            Just(Block::raw(0x50, text.into_bytes())),
        ]
    });
    prop_oneof![4 => code, 4 => turn, 2 => result, 1 => document, 1 => data, 1 => diff, 1 => tree, 1 => rest]
}

pub(crate) const CATEGORIES: &[&str] = &["tool_results", "open_files", "search_results", "odd"];

/// Tags that relate a block to others.
const RELATIONS: &[&str] = &["pinned", "tool_call_id=c1", "tool_call_id=c1", "tool_call_id=c2"];

/// Generates shares of every kind, or `None`.
pub(crate) fn any_shares() -> impl Strategy<Value = Option<Shares>> {
    let capped = || {
        let cap = |name| Shares::agent().with_cap(name, 60).unwrap();
        ["tool_results", "open_files", "references"].map(cap)
    };
    let fixed = Shares::new([Share::tokens("open_files", 80), Share::ratio("odd", 0.5)]).unwrap();
    prop_oneof![
        2 => Just(None),
        1 => Just(Some(Shares::agent())),
        1 => Just(Some(Shares::conversation())),
        1 => Just(Some(fixed)),
        2 => prop::sample::select(capped().to_vec()).prop_map(Some),
    ]
}

/// Generates configurations with a mode and everything else that affects decisions, except the
/// budget.
pub(crate) fn any_config() -> impl Strategy<Value = DriverConfig> {
    let excerpts = prop::sample::select(&[Excerpts::WithFill, Excerpts::On, Excerpts::Off][..]);
    let mode = prop::sample::select(&OutputMode::ALL[..]);
    let line_numbers = prop::bool::weighted(0.25);
    (mode, line_numbers, any::<bool>(), excerpts, any_shares(), any_objective()).prop_map(
        |(mode, line_numbers, fill, excerpts, shares, objective)| DriverConfig {
            mode,
            line_numbers,
            fill,
            excerpts,
            shares,
            objective,
            ..DriverConfig::default()
        },
    )
}

/// Generates the strict objective, or one of several value models.
fn any_objective() -> impl Strategy<Value = Objective> {
    let flat = ValueModel { high: 1, normal: 1, low: 1, background: 1, ..ValueModel::default() };
    let nothing = ValueModel { low: 0, summary: 0, placeholder: 0, highest_rank: 9_000, ..flat };
    prop_oneof![
        3 => Just(Objective::Strict),
        2 => Just(Objective::Value(ValueModel::default())),
        1 => Just(Objective::Value(flat)),
        1 => Just(Objective::Value(nothing)),
    ]
}

/// Generates the value of a passages tag: mostly valid, sometimes far beyond the content.
fn any_passages() -> impl Strategy<Value = String> {
    let passage = (prop_oneof![6 => 1u32..4, 1 => Just(40)], 1u32..5, 1u16..=1_000);
    let valid = prop::collection::vec(passage, 1..8).prop_map(|passages| {
        let mut end = 0;
        let passages = passages.into_iter().map(|(gap, lines, score)| {
            let first = end + gap;
            end = first + lines - 1;
            Passage { first, last: end, score }
        });
        Passage::format_list(&passages.collect::<Vec<_>>())
    });
    let invalid = vec!["", "1-2", "2-1:5", "1-3:5 2-4:5", "1-4294967295:1000", "0-1:1", "1-1:1001"];
    prop_oneof![6 => valid, 1 => prop::sample::select(invalid).prop_map(str::to_owned)]
}

/// Generates packs in which some blocks have summaries, priorities, ranks, categories, pins and
/// tool calls.
pub(crate) fn any_pack() -> impl Strategy<Value = Vec<Block<'static>>> {
    let marks = (
        prop::option::weighted(0.4, any_text()),
        prop::option::weighted(0.7, 0usize..5),
        prop::option::weighted(0.2, 0u8..9),
        prop::option::weighted(0.3, prop::sample::select(CATEGORIES)),
        prop::option::weighted(0.15, (prop::sample::select(&CarriedLevel::ALL[..]), any_text())),
        prop::option::weighted(0.2, prop::sample::select(RELATIONS)),
        prop::option::weighted(0.3, any_passages()),
    );
    let marked = (any_block(), marks);
    prop_oneof![
        5 => prop::collection::vec(marked, 0..8),
        1 => {
            let level = prop::option::weighted(0.7, 0usize..5);
            let related = prop::option::weighted(0.1, prop::sample::select(RELATIONS));
            let passages = prop::option::weighted(0.3, any_passages());
            let marks = (Just(None), level, Just(None), Just(None), Just(None), related, passages);
            prop::collection::vec((any_block(), marks), 33..60)
        },
    ]
    .prop_map(|marked| {
        let mut blocks = Vec::new();
        let mut said = Vec::new();
        for (i, (mut block, (summary, level, rank, category, carried, related, passages))) in
            marked.into_iter().enumerate()
        {
            block.summary = summary.map(Into::into);
            blocks.push(block);
            let target = i as u64;
            said.extend(level.map(|level| priority(target, Priority::ALL[level])));
            said.extend(rank.map(|rank| tag(target, &format!("rank=0.{rank}"))));
            said.extend(category.map(|category| tag(target, &format!("category={category}"))));
            said.extend(carried.map(|(level, text)| Block::new(level.to_extension(target, &text))));
            said.extend(related.map(|related| tag(target, related)));
            said.extend(passages.map(|passages| tag(target, &format!("passages={passages}"))));
        }
        blocks.extend(said);
        blocks
    })
}
