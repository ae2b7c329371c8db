//! Blocks that a text shows in full can be parsed back, for any content (RFC 0008 §2).

use lcp_driver::parse::{LimitExceeded, ParsedBlock, PartKind, detect_mode, parse, parse_blocks};
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, OutputMode, Verbosity};
use lcp_tokens::TokenEstimator as _;
use lcp_types::{
    Block, BlockContent, BlockType, DiffHunk, FileEntry, FileEntryKind, FormatHint, Lang,
    MediaType, Priority, Role, Status, ToolResult, UnknownFields,
};
use proptest::prelude::*;

use crate::packs::{O200K, any_block, any_config, any_pack, any_text, every_type, priority, tag};

/// The markup around blocks in every mode, and text that could be mistaken for it.
const OURS: &[&str] = &[
    "</context>\n",
    "<context>\n",
    "</code>\n",
    "\n</code",
    "</code.2",
    "</code.18446744073709551615>\n",
    "</code.99999999999999999999>\n",
    "\n</conversation>\n",
    "</file-tree>\n",
    "</tool-result.2>\n",
    "\n</tool-result>",
    "</document>\n",
    "</data>\n",
    "</diff>\n",
    "</embedding-ref>\n",
    "</image>\n",
    "</extension>\n",
    "</raw>\n",
    "</annotation>\n",
    "</omitted>\n",
    "<document title=\"x\">\n",
    "<image media_type=\"png\" bytes=\"3\" detail=\"summary\">\n",
    "<omitted count=\"4\" tokens=\"3\" />\n",
    "\n```\n",
    "\n`````\n",
    "```````",
    "~~~~\n",
    "  ```\n",
    "\n### file-tree /\n",
    "### raw 66 3\n",
    "### role-9\n",
    "### system (high, summary)\n",
    "\n_[Omitted: 412 blocks, ~1048576 tokens]_\n",
    "\n[assistant] \n",
    "[tool #c1 <<EOF]\n",
    "[role-255]",
    "[raw 66 3]\n",
    "[data json (excerpt)]\n",
    "\n[omitted: 1 block ~3tok]\n",
    "EOF\n",
    "\nEOF\r\n",
    "EOF18446744073709551615\n",
    "@@ -1,0 +1 @@ 3 bytes\n",
    "\n@@ -1 +1,2 @@\n",
    "+a\n",
    "-b\n",
    "\\ No newline at end of file\n",
    "\r",
    "\u{0}\u{7}\u{1b}[2J",
    "\u{202e}\u{2066}",
    "…",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(OURS).prop_map(str::to_owned),
        1 => any_text(),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Labels that need quotes or could break out of them.
const ODD: &[&str] =
    &["", " ", "\">\n", "\\\"", "\\u{41}", "&#x41;", "&amp;", "a/b", "x:1-2", "a (summary)", "'"];

/// Generates names and titles, mostly ones that need quotes or could break out of them.
fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => prop::sample::select(ODD).prop_map(str::to_owned),
        1 => hostile().prop_map(|label| label.chars().take(120).collect()),
        1 => "[a-z]{1,5}(/[a-z]{1,5}){0,2}",
    ]
}

fn entry() -> impl Strategy<Value = FileEntry<'static>> {
    let size = prop_oneof![2 => Just(0u64), 1 => any::<u64>()];
    let leaf = (label(), 0..5u8, size).prop_map(|(name, kind, size)| FileEntry {
        kind: FileEntryKind::from_code(kind),
        ..FileEntry::file(name, size)
    });
    leaf.prop_recursive(4, 24, 4, |inner| {
        (label(), 0..4u8, prop::collection::vec(inner, 0..4)).prop_map(|(name, kind, children)| {
            FileEntry {
                kind: FileEntryKind::from_code(kind),
                ..FileEntry::directory(name, children)
            }
        })
    })
}

fn hunk() -> impl Strategy<Value = DiffHunk<'static>> {
    let line = prop::sample::select(&["+", "-", " ", "\\", "+a", "-\r", " @@ -1 +1 @@"][..]);
    let lines = prop::collection::vec(line, 0..5)
        .prop_map(|lines| lines.iter().flat_map(|line| [*line, "\n"]).collect::<String>());
    let lines = prop_oneof![2 => lines, 1 => hostile()];
    (any::<u32>(), 0..9u32, lines).prop_map(|(old, new, lines)| DiffHunk::new(old, new, lines))
}

/// Generates blocks of every type with hostile texts.
fn block() -> impl Strategy<Value = Block<'static>> {
    let tree = (label(), prop::collection::vec(entry(), 0..5))
        .prop_map(|(root, entries)| Block::file_tree(root, entries));
    let diff = (label(), prop::collection::vec(hunk(), 0..4))
        .prop_map(|(path, hunks)| Block::diff(path, hunks));
    let result = (label(), 0..5u8, hostile(), prop::option::of(label())).prop_map(
        |(name, status, content, schema)| {
            Block::new(ToolResult {
                tool_name: name.into(),
                status: Status::from_code(status),
                content: content.into(),
                schema_hint: schema.map(Into::into),
                unknown: UnknownFields::new(),
            })
        },
    );
    // Replaces the labels and the content of a block by hostile ones.
    let other = (any_block(), hostile(), label(), any::<u8>(), any::<bool>());
    let other = other.prop_map(|(mut block, text, label, code, only_half)| {
        match &mut block.content {
            BlockContent::Code(code_block) => {
                code_block.path = label.into();
                code_block.lang = Lang::from_code(code % 32);
                code_block.line_end = code_block.line_end.filter(|_| !only_half);
            }
            BlockContent::Document(document) => document.title = label.into(),
            BlockContent::Conversation(turn) => turn.role = Role::from_code(code % 8),
            BlockContent::StructuredData(data) => data.schema = Some(label.into()),
            BlockContent::Image(image) => image.alt_text = text.clone().into(),
            BlockContent::Extension(extension) => extension.type_name = label.into(),
            _ => {}
        }
        if let Some(content) = block.content.text_mut() {
            *content = text.into();
        }
        block
    });
    prop_oneof![6 => other, 2 => tree, 2 => diff, 2 => result]
}

fn pack() -> impl Strategy<Value = Vec<Block<'static>>> {
    let path = || prop::option::of(label());
    let marks = (prop::option::of(0usize..5), path(), path(), path());
    prop::collection::vec((block(), marks), 0..6).prop_map(|marked| {
        let (blocks, marks): (Vec<_>, Vec<_>) = marked.into_iter().unzip();
        let mut said = Vec::new();
        for (target, (level, call, path, renamed_from)) in (0..).zip(marks) {
            said.extend(level.map(|level| priority(target, Priority::ALL[level])));
            said.extend(call.map(|call| tag(target, &format!("tool_call_id={call}"))));
            said.extend(path.map(|path| tag(target, &format!("path={path}"))));
            let renamed = renamed_from.map(|path| tag(target, &format!("renamed_from={path}")));
            said.extend(renamed);
        }
        blocks.into_iter().chain(said).collect()
    })
}

/// Returns the block with the fields that a text of this mode does not show set to their defaults.
fn as_shown(block: &Block<'_>, mode: OutputMode, found: &Block<'_>) -> Block<'static> {
    let mut block = block.to_static();
    block.summary = None;
    let only_xml = mode == OutputMode::Xml;
    match &mut block.content {
        BlockContent::Code(code) if mode == OutputMode::Minimal || code.lang.name().is_none() => {
            code.lang = Lang::Unknown;
        }
        BlockContent::ToolResult(result) => {
            result.schema_hint = result.schema_hint.take().filter(|_| only_xml);
        }
        BlockContent::StructuredData(data) => data.schema = data.schema.take().filter(|_| only_xml),
        BlockContent::Document(document) => {
            // The fence in Markdown states the format, if there is a fence.
            let BlockContent::Document(found) = &found.content else { return block };
            let said = mode == OutputMode::Markdown && found.format_hint != FormatHint::Plain;
            document.format_hint = match document.format_hint.name() {
                Some(_) if said => document.format_hint,
                None if said => FormatHint::from_code(0),
                _ => FormatHint::Plain,
            };
        }
        BlockContent::EmbeddingRef(embedding) => embedding.source_hash = "".into(),
        BlockContent::Image(image) => image.data = "".into(),
        BlockContent::Raw(raw) => raw.body = "".into(),
        _ => {}
    }
    block
}

fn full(blocks: &[Block<'_>], mode: OutputMode) -> String {
    full_with(blocks, mode, false)
}

fn full_with(blocks: &[Block<'_>], mode: OutputMode, line_numbers: bool) -> String {
    let verbosity = Verbosity::Full;
    let config = DriverConfig { mode, line_numbers, verbosity, ..DriverConfig::default() };
    DefaultDriver::new(O200K).render(blocks, &config).unwrap()
}

/// Returns the priority that a header of this mode shows.
fn visible_priority(priority: Option<Priority>, mode: OutputMode) -> Option<Priority> {
    priority.filter(|of| *of < Priority::Normal && mode != OutputMode::Minimal)
}

fn check(pack: &[Block<'_>], mode: OutputMode, line_numbers: bool) -> Result<(), TestCaseError> {
    let text = full_with(pack, mode, line_numbers);
    let found = match parse_blocks(&text, mode) {
        Ok(found) => found,
        Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
    };
    prop_assert_eq!(found.omitted, vec![]);
    let blocks: Vec<_> = pack.iter().filter(|block| block.as_annotation().is_none()).collect();
    prop_assert_eq!(found.blocks.len(), blocks.len(), "{}", text);
    let metas = lcp_types::BlockMeta::resolve_all(pack, &mut |_, _| {});
    for (at, (shown, block)) in found.blocks.iter().zip(blocks).enumerate() {
        prop_assert_eq!(&shown.block, &as_shown(block, mode, &shown.block), "{}", text);
        prop_assert_eq!(shown.shown, PartKind::Full);
        prop_assert_eq!(shown.block_type, block.block_type());
        let annotated = metas[at].annotated.then_some(metas[at].priority);
        prop_assert_eq!(shown.priority, visible_priority(annotated, mode));
        let call = metas[at].tool_call_id.as_deref();
        let call = call.filter(|_| block.block_type() == BlockType::ToolResult);
        prop_assert_eq!(shown.tool_call_id.as_deref(), call);
        let path = metas[at].path.as_deref();
        let path = path.filter(|_| block.block_type() == BlockType::StructuredData);
        prop_assert_eq!(shown.path.as_deref(), path);
        let old_path = metas[at].renamed_from.as_deref();
        let is_file = match block.block_type() {
            BlockType::Code | BlockType::Document | BlockType::Diff => true,
            BlockType::StructuredData => path.is_some(),
            _ => false,
        };
        let old_path = old_path.filter(|_| is_file);
        prop_assert_eq!(shown.renamed_from.as_deref(), old_path);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// The law of RFC 0008 §2.
    #[test]
    fn full_blocks_round_trip_through_text(pack in pack(), line_numbers in any::<bool>()) {
        for mode in OutputMode::ALL {
            check(&pack, mode, line_numbers)?;
        }
    }

    /// Each line of an excerpt has the number and the text that it has in the content.
    #[test]
    fn numbered_excerpts_show_lines_with_their_numbers(
        content in prop_oneof![hostile(), "([a-z:. ]{0,12}\\n){0,60}[0-9: ]{0,9}"],
        line_start in prop::option::of(prop_oneof![1..2_000u32, Just(u32::MAX)]),
        budget in 20u32..200,
        mode in prop::sample::select(&OutputMode::ALL[..]),
    ) {
        let mut block = Block::code(Lang::Rust, "a.rs", content.clone());
        if let BlockContent::Code(code) = &mut block.content {
            code.line_start = line_start;
        }
        let (token_budget, excerpts) = (Some(budget), Excerpts::On);
        let config =
            DriverConfig { mode, token_budget, excerpts, line_numbers: true, ..DriverConfig::default() };
        let text = DefaultDriver::new(O200K).render(&[block], &config).unwrap();
        prop_assert!(O200K.estimate(&text) <= budget, "{}", text);
        let found = parse_blocks(&text, mode).unwrap();
        let Some(shown) = found.blocks.first() else { return Ok(()) };
        let parts = parse(&text, mode).unwrap();
        prop_assert!(parts[0].numbered, "{}", text);
        let BlockContent::Code(code) = &shown.block.content else { panic!("{shown:?}") };
        if shown.shown == PartKind::Full {
            prop_assert_eq!(code.content.to_str_lossy(), content);
            return Ok(());
        }
        prop_assert_eq!(shown.shown, PartKind::Excerpt);
        let lines: Vec<_> = content.split('\n').collect();
        let first = u64::from(line_start.unwrap_or(1));
        let body = parts[0].body.as_deref().unwrap();
        let mut bare = code.content.to_str_lossy().into_owned();
        for line in body.lines().filter(|line| !line.starts_with('…')) {
            let (number, line) = line.split_once(": ").unwrap();
            let at = usize::try_from(number.parse::<u64>().unwrap() - first).unwrap();
            // The last line before the omitted rest may be cut.
            prop_assert!(lines[at].starts_with(line), "{}", text);
            prop_assert!(bare.contains(line), "{}", bare);
        }
        bare.retain(|c| c == '\n');
        prop_assert_eq!(bare.len(), body.matches('\n').count());
    }

    /// Any rendered text parses into as many blocks as it shows, with the right types and in order,
    /// and the lines for the rest.
    #[test]
    fn every_rendered_text_is_parsed(
        pack in any_pack(),
        config in any_config(),
        budget in prop::option::of(0u32..600),
    ) {
        let config = DriverConfig { token_budget: budget, ..config };
        let text = DefaultDriver::new(O200K).render(&pack, &config).unwrap();
        let found = match parse_blocks(&text, config.mode) {
            Ok(found) => found,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        let pieces = parse(&text, config.mode).unwrap();
        let is_omitted = |kind: &PartKind| {
            matches!(kind, PartKind::Placeholder { .. } | PartKind::RolledUp { .. })
        };
        let kinds: Vec<_> = pieces.iter().map(|piece| piece.kind).collect();
        let shown: Vec<_> = found.blocks.iter().map(|block| block.shown).collect();
        let omitted: Vec<_> = found.omitted.iter().map(|piece| piece.kind).collect();
        let (lines, blocks): (Vec<_>, Vec<_>) = kinds.into_iter().partition(is_omitted);
        prop_assert_eq!((shown, omitted), (blocks, lines));
    }

    /// A changed text gives an error with its position, or blocks that render to the same text.
    #[test]
    fn changed_text_is_an_error_or_renders_to_itself(
        pack in pack(),
        at in any::<prop::sample::Index>(),
        taken in 0usize..12,
        given in prop_oneof![hostile(), label()],
        mode in prop::sample::select(&OutputMode::ALL[..]),
    ) {
        let mut text: Vec<char> = full(&pack, mode).chars().collect();
        let at = at.index(text.len() + 1);
        let taken = taken.min(text.len() - at);
        text.splice(at..at + taken, given.chars());
        let text = String::from_iter(text);
        let found = match parse_blocks(&text, mode) {
            Ok(found) => found,
            Err(error) => {
                prop_assert!(text.is_char_boundary(error.offset), "{}", error);
                return Ok(());
            }
        };
        let is_whole = |block: &ParsedBlock| {
            block.shown == PartKind::Full && !block.absent.iter().any(|name| ["data", "body"].contains(name))
        };
        if !found.omitted.is_empty() || !found.blocks.iter().all(is_whole) {
            return Ok(());
        }
        let said = (0..).zip(&found.blocks).flat_map(|(target, shown)| {
            let level = shown.priority.map(|level| priority(target, level));
            let call = shown.tool_call_id.as_ref().map(|id| format!("tool_call_id={id}"));
            let path = shown.path.as_ref().map(|path| format!("path={path}"));
            let renamed = shown.renamed_from.as_ref().map(|path| format!("renamed_from={path}"));
            let tags = call.into_iter().chain(path).chain(renamed);
            level.into_iter().chain(tags.map(move |text| tag(target, &text)))
        });
        let blocks = found.blocks.iter().map(|shown| shown.block.clone());
        let again = full(&blocks.chain(said).collect::<Vec<_>>(), mode);
        prop_assert_eq!(again, text);
    }
}

#[test]
fn lines_have_numbers_in_every_mode() {
    let numbered = "7: fn a() {\n8: \n9: }\n";
    let expected = [
        format!(
            "<context>\n<code lang=\"rust\" path=\"a.rs\" lines=\"7-9\" numbered=\"true\">\n\
             {numbered}\n</code>\n<document title=\"b.md\" numbered=\"true\">\n1: # B\n\
             </document>\n</context>\n"
        ),
        format!(
            "### code a.rs:7-9 (numbered)\n```rust\n{numbered}\n```\n\
             ### document b.md (numbered)\n```markdown\n1: # B\n```\n"
        ),
        format!("[code a.rs:7-9 (numbered)]\n{numbered}\n[document b.md (numbered)]\n1: # B\n"),
    ];
    let blocks = [
        Block::code_lines(Lang::Rust, "a.rs", "fn a() {\n\n}\n", 7, 9),
        Block::document("b.md", "# B", FormatHint::Markdown),
    ];
    for (mode, expected) in OutputMode::ALL.into_iter().zip(expected) {
        assert_eq!(full_with(&blocks, mode, true), expected);
    }
}

/// A text that only looks numbered keeps its numbers, and a wrong or missing number is an error.
#[test]
fn only_numbers_of_the_renderer_are_removed() {
    let looks_numbered = Block::code(Lang::Rust, "a.rs", "1: fn a() {}\n2: fn b() {}\n");
    for (mode, line_numbers) in OutputMode::ALL.into_iter().zip([false, true, true]) {
        let text = full_with(std::slice::from_ref(&looks_numbered), mode, line_numbers);
        let found = parse_blocks(&text, mode).unwrap();
        assert_eq!(found.blocks[0].block.content.text(), looks_numbered.content.text());
    }
    for body in ["1: a\n3: b", "1: a\nb", "01: a", "1:a", " 1: a"] {
        let text = format!("[code a.rs (numbered)]\n{body}\n");
        assert!(parse_blocks(&text, OutputMode::Minimal).is_err(), "{body}");
    }
    let unnumbered = "[code a.rs (excerpt, numbered)]\n1: a\nb\n… 3 lines, ~9 tokens omitted …\n";
    assert!(parse_blocks(unnumbered, OutputMode::Minimal).is_err());
}

#[test]
fn placeholders_and_levels_are_distinguished_from_blocks() {
    let text = "<context>\n\
        <code lang=\"rust\" path=\"a.rs\" priority=\"high\" detail=\"excerpt\">\nfn a() {\n… 3 lines omitted …\n</code>\n\
        <file-tree root=\"/r\" detail=\"summary\">\ntwo files\n</file-tree>\n\
        <image media_type=\"png\" bytes=\"7\" detail=\"tags\">\nred\n</image>\n\
        <omitted type=\"tool-result\" name=\"sh\" tool_call_id=\"c1\" tokens=\"823\" />\n\
        <omitted count=\"412\" tokens=\"1048576\" />\n\
        </context>\n";
    let found = parse_blocks(text, OutputMode::Xml).unwrap();
    let [code, tree, image] = &found.blocks[..] else { unreachable!() };
    let excerpt = "fn a() {\n… 3 lines omitted …";
    assert_eq!(code.block, Block::code(Lang::Rust, "a.rs", excerpt));
    assert_eq!((code.shown, code.priority), (PartKind::Excerpt, Some(Priority::High)));
    assert_eq!(tree.block, Block::document("/r", "two files", FormatHint::Plain));
    assert_eq!((tree.shown, tree.block_type), (PartKind::Summary, BlockType::FileTree));
    assert_eq!(tree.absent, ["format_hint"]);
    assert_eq!(image.block, Block::image(MediaType::Png, "red", ""));
    assert_eq!((image.shown, image.absent), (PartKind::Tags, &["data"][..]));
    let omitted: Vec<_> =
        found.omitted.iter().map(|piece| (piece.kind, piece.words.concat())).collect();
    let expected = [
        (PartKind::Placeholder { tokens: 823 }, "sh".to_owned()),
        (PartKind::RolledUp { count: 412, tokens: 1_048_576 }, String::new()),
    ];
    assert_eq!(omitted, expected);
}

/// A longer label is abridged to its beginning and end.
#[test]
fn labels_are_exact_up_to_their_limit() {
    for mode in OutputMode::ALL {
        for chars in [200, 201] {
            let path: String = "ä/\n\"".chars().cycle().take(chars).collect();
            let text = full(&[Block::code(Lang::Rust, path.as_str(), "x")], mode);
            let found = parse_blocks(&text, mode).unwrap();
            let label = found.blocks[0].block.label();
            assert_eq!(label == path, chars == 200, "{label}");
            assert_eq!(label.chars().count(), 200);
        }
    }
}

#[test]
fn invalid_text_is_refused_at_the_first_difference() {
    let cases = [
        (OutputMode::Xml, "<context>\n</context>\n", 10, "a block"),
        (OutputMode::Xml, "<context>\n<code>\n\n</code>\n</context>\n", 10, "a block header"),
        (
            OutputMode::Xml,
            "<context>\n<code path=\"a\" >\n\n</code>\n</context>\n",
            10,
            "an attribute",
        ),
        // The tag has a number that its content does not require.
        (
            OutputMode::Xml,
            "<context>\n<code.2 path=\"a\">\n\n</code.2>\n</context>\n",
            15,
            "the output of a renderer",
        ),
        (
            OutputMode::Xml,
            "<context>\n<code path=\"&#x61;\">\n\n</code>\n</context>\n",
            22,
            "the output of a renderer",
        ),
        // Annotations and our own extensions are never in a text.
        (
            OutputMode::Xml,
            "<context>\n<annotation target=\"0\" />\n</context>\n",
            10,
            "a block header",
        ),
        (OutputMode::Minimal, "[extension lcp level]\n\n", 0, "a block header"),
        (OutputMode::Minimal, "[image png 07]\n\n", 0, "a block header"),
        (OutputMode::Minimal, "[raw 1 7]\n", 0, "a block header"),
        (OutputMode::Minimal, "[omitted: 1 blocks ~3tok]\n", 17, "the output of a renderer"),
        (OutputMode::Minimal, "[file-tree /]\n    a\n", 0, "a valid body for the block type"),
        (OutputMode::Minimal, "[diff a]\n@@ -1,2 +1 @@\n+a\n", 15, "the output of a renderer"),
        (OutputMode::Markdown, "### code a\n````\nx\n````\n", 14, "the output of a renderer"),
        (OutputMode::Markdown, "### user (low)\nhi\n", 8, "the output of a renderer"),
        (OutputMode::Markdown, "_[Omitted: code a, ~03 tokens]_\n", 20, "the output of a renderer"),
    ];
    for (mode, text, offset, expected) in cases {
        let error = parse_blocks(text, mode).unwrap_err();
        assert_eq!((error.offset, error.expected), (offset, expected), "{text}");
    }
    for mode in OutputMode::ALL {
        assert_eq!(parse_blocks("", mode).unwrap().blocks, []);
    }
}

/// The trees are deeper than a pack allows, and deep enough to overflow a stack.
#[test]
fn file_tree_depth_is_limited_as_in_packs() {
    let tree = |levels: usize| {
        let lines = (0..levels).map(|level| format!("{}d/\n", "  ".repeat(level)));
        format!("[file-tree /]\n{}", lines.collect::<String>())
    };
    assert_eq!(parse_blocks(&tree(64), OutputMode::Minimal).unwrap().blocks.len(), 1);
    for levels in [65, 2_000] {
        let error = parse_blocks(&tree(levels), OutputMode::Minimal).unwrap_err();
        // The error names the first line that is too deep.
        let expected = LimitExceeded { limit: "DEPTH_MAX", found: 65, max: 64 };
        assert_eq!(error.exceeded, Some(expected));
    }
    // An entry without a parent has no level.
    let alone = format!("[file-tree /]\na/\n{}x\n", " ".repeat(140));
    assert_eq!(parse_blocks(&alone, OutputMode::Minimal).unwrap_err().exceeded, None);
}

#[test]
fn detect_mode_recognises_each_mode() {
    for mode in OutputMode::ALL {
        for block in every_type() {
            let text = full(std::slice::from_ref(&block), mode);
            assert_eq!(detect_mode(&text), Some(mode), "{text}");
        }
    }
    assert_eq!(detect_mode("# Title\n\n[link](to)\n"), None);
    assert_eq!(detect_mode(""), None);
}
