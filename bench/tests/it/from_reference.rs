//! Packs of the reference's writer, read and rendered by LCP.

use std::sync::Arc;

use bcp_encoder::{BcpEncoder, MemoryContentStore};
use lcp_decoder::{DecodeOptions, Magic, decode};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, WarningCode};
use lcp_testkit::{SplitMix64, known_pack};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{
    Annotation, AnnotationKind, Block, BlockContent, BlockType, DataFormat, DiffHunk, FileEntry,
    FormatHint, Lang, MediaType, Priority, Role, Status,
};
use proptest::prelude::*;

use crate::{packs, reference};

/// What the reference's writer is asked to do with the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Plain,
    Blocks,
    Payload,
    Addressed,
    Dedup,
}

const FORMS: [Form; 5] = [Form::Plain, Form::Blocks, Form::Payload, Form::Addressed, Form::Dedup];

/// A pack of the reference's writer, and the store that it filled.
fn written(blocks: &[Block<'_>], form: Form) -> (Vec<u8>, reference::Store) {
    let store = Arc::new(MemoryContentStore::new());
    let mut encoder = BcpEncoder::new();
    encoder.set_content_store(store.clone());
    for block in blocks {
        reference::add(&mut encoder, block);
        if form == Form::Addressed {
            encoder.with_content_addressing().expect("a block was added");
        }
    }
    match form {
        Form::Blocks => encoder.compress_blocks(),
        Form::Payload => encoder.compress_payload(),
        Form::Dedup => encoder.auto_dedup(),
        Form::Plain | Form::Addressed => &mut encoder,
    };
    (encoder.encode().expect("at least one block"), reference::Store(store))
}

/// The reference's writer has no methods for these fields.
fn without_schemas(mut blocks: Vec<Block<'static>>) -> Vec<Block<'static>> {
    for block in &mut blocks {
        match &mut block.content {
            BlockContent::ToolResult(result) => result.schema_hint = None,
            BlockContent::StructuredData(data) => data.schema = None,
            _ => {}
        }
    }
    blocks
}

/// Checks that LCP reads what the reference wrote, even in strict mode.
#[track_caller]
fn check(blocks: &[Block<'_>], form: Form) {
    let (bytes, store) = written(blocks, form);
    let options = DecodeOptions { strict: true, store: Some(&store), ..DecodeOptions::default() };
    let pack = decode(&bytes, options).unwrap_or_else(|error| panic!("{form:?}: {error}"));
    assert_eq!(pack.blocks, blocks, "{form:?}");
    assert_eq!((pack.header.magic, pack.warnings), (Magic::Bcp, vec![]));
}

/// One block of every type, by hand: the reference's names beside ours.
fn every_type() -> Vec<Block<'static>> {
    vec![
        Block::code(Lang::Rust, "src/main.rs", "fn main() {}\n").with_summary("entry point"),
        Block::code_lines(Lang::Other(0x42), "x.zig", "pub fn f() void {}\n", 3, 4),
        Block::conversation(Role::User, "Why does it fail?"),
        Block::conversation_with_call(Role::Tool, "42", "call_1"),
        Block::file_tree(
            "/repo",
            vec![FileEntry::directory("src", vec![FileEntry::file("main.rs", u64::MAX)])],
        ),
        Block::tool_result("rg", Status::Timeout, ""),
        Block::document("Guide", "# Guide\n", FormatHint::Markdown),
        Block::structured_data(DataFormat::Csv, "a,b\n"),
        Block::diff("p", vec![DiffHunk::new(1, 2, "+a\n"), DiffHunk::new(u32::MAX, 0, "")]),
        Block::new(Annotation::summary(2, "a question")),
        Block::embedding_ref(vec![0xFF, 0x00], vec![7; 32], "model"),
        Block::image(MediaType::Webp, "a cat", &b"\x89PNG"[..]),
        Block::extension("acme", "ticket", vec![0xFF; 300]),
    ]
}

#[test]
fn lcp_reads_every_block_type_in_every_form() {
    let blocks = every_type();
    for form in FORMS {
        check(&blocks, form);
    }
}

/// The forms are what they are called: compressed and referenced bodies do
/// stand in these packs.
#[test]
fn forms_compress_and_reference_bodies() {
    let blocks = [every_type(), every_type()].concat();
    let lengths = FORMS.map(|form| written(&blocks, form).0.len());
    let [plain, blocks, payload, addressed, dedup] = lengths;
    assert!(blocks < plain && payload < blocks, "compression shrinks: {lengths:?}");
    assert!(dedup < plain && addressed < plain, "so do references: {lengths:?}");
    let (bytes, _) = written(&every_type(), Form::Addressed);
    let error = decode(&bytes, DecodeOptions::default()).expect_err("no store was given");
    assert_eq!((error.code(), error.block()), ("no_store", Some(0)));
}

#[test]
fn lcp_reads_every_reference_priority() {
    for priority in Priority::ALL {
        let mut encoder = BcpEncoder::new();
        reference::add(&mut encoder, &Block::conversation(Role::User, "hi"));
        encoder.with_priority(reference::priority(priority)).expect("a block was added");
        let bytes = encoder.encode().expect("one block");
        let pack = decode(&bytes, DecodeOptions::default()).expect("a pack of the reference");
        assert_eq!(pack.blocks[1], Block::new(Annotation::priority(0, priority)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn lcp_reads_any_reference_pack_in_every_form(blocks in known_pack()) {
        let blocks = without_schemas(blocks);
        for form in FORMS {
            check(&blocks, form);
        }
    }
}

/// Rendered in every mode at budgets from nothing to more than all: never over
/// the budget, but for Critical blocks alone.
#[test]
fn reference_packs_render_within_budgets() {
    let counter = Tiktoken::new(Encoding::O200kBase);
    let driver = DefaultDriver::new(counter);
    let mut rng = SplitMix64::new(2);
    for seed in 0..12 {
        let form = FORMS[seed % FORMS.len()];
        let blocks = [every_type(), packs::pack(&mut rng, 12, 20)].concat();
        let (bytes, store) = written(&blocks, form);
        let options = DecodeOptions { store: Some(&store), ..DecodeOptions::default() };
        let pack = decode(&bytes, options).expect("a pack of the reference");
        for mode in OutputMode::ALL {
            let run = |token_budget| {
                let config = DriverConfig { mode, token_budget, ..DriverConfig::default() };
                driver.run(&pack.blocks, &config).expect("overflow is allowed")
            };
            let all = run(None).plan.used_tokens;
            let critical = run(Some(0)).plan.used_tokens;
            for budget in [0, 1, 40, 200, all / 2, all - 1, all, all * 2] {
                let rendered = run(Some(budget));
                let used = rendered.plan.used_tokens;
                assert_eq!(used, counter.estimate(&rendered.text));
                let over = rendered
                    .plan
                    .warnings
                    .iter()
                    .any(|warning| warning.code == WarningCode::OverBudget);
                assert_eq!(used > budget, over, "seed {seed}, {mode:?}, budget {budget}");
                assert!(!over || used == critical, "seed {seed}, {mode:?}, budget {budget}");
            }
            let full = run(None);
            let shown = full.plan.items.iter().filter(|item| item.decision.is_shown()).count();
            let metadata = |block: &&Block<'_>| block.block_type() == BlockType::Annotation;
            assert_eq!(shown, blocks.len() - blocks.iter().filter(metadata).count());
        }
    }
}

/// A fact about the reference that its users meet: what is said after a
/// priority is said of the priority. LCP reads it as it stands.
#[test]
fn summary_after_a_priority_belongs_to_the_priority() {
    let mut encoder = BcpEncoder::new();
    reference::add(&mut encoder, &Block::conversation(Role::User, "hi"));
    encoder.with_priority(reference::priority(Priority::High)).expect("a block was added");
    encoder.with_summary("of the turn, one would think").expect("a block was added");
    let bytes = encoder.encode().expect("two blocks");
    let pack = decode(&bytes, DecodeOptions::default()).expect("a pack of the reference");
    assert_eq!(pack.blocks[0].summary, None);
    assert_eq!(pack.blocks[1].summary.as_deref(), Some("of the turn, one would think"));
    let annotation = pack.blocks[1].as_annotation().expect("the priority");
    assert_eq!(annotation.kind, AnnotationKind::Priority);
}
