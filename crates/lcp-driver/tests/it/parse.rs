//! A rendered text can be split into its blocks, for any content.

use lcp_driver::parse::{ParsedPart, PartKind, parse};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, RenderDecision, Rendered, Verbosity};
use lcp_types::{Block, BlockContent, BlockType};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack};

/// Returns the content that the renderer used, if it is text in the pack.
fn content(block: &Block<'_>) -> Option<String> {
    let bytes = match &block.content {
        BlockContent::Code(code) => &code.content,
        BlockContent::Conversation(turn) => &turn.content,
        BlockContent::ToolResult(result) => &result.content,
        BlockContent::Document(document) => &document.content,
        BlockContent::StructuredData(data) => &data.content,
        BlockContent::Extension(extension) => &extension.content,
        BlockContent::Image(image) => return Some(image.alt_text.to_string()),
        _ => return None,
    };
    Some(bytes.to_str_lossy().into_owned())
}

fn first_word(block: &Block<'_>) -> Option<String> {
    Some(match &block.content {
        BlockContent::Code(code) => code.path.to_string(),
        BlockContent::ToolResult(result) => result.tool_name.to_string(),
        BlockContent::Document(document) => document.title.to_string(),
        BlockContent::Diff(diff) => diff.path.to_string(),
        BlockContent::FileTree(tree) => tree.root.to_string(),
        BlockContent::Extension(extension) => extension.namespace.to_string(),
        BlockContent::EmbeddingRef(embedding) => embedding.vector_id.to_str_lossy().into_owned(),
        _ => return None,
    })
}

/// Puts a number before each line.
fn numbered(block: &Block<'_>, content: &str) -> String {
    let first = match &block.content {
        BlockContent::Code(code) => code.line_start.unwrap_or(1),
        _ => 1,
    };
    let lines: Vec<_> = (u64::from(first)..)
        .zip(content.split_inclusive('\n'))
        .map(|(number, line)| format!("{number}: {line}"))
        .collect();
    lines.concat()
}

fn check_part(
    block: &Block<'_>,
    decision: &RenderDecision,
    piece: &ParsedPart,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&piece.block_type, block.block_type().label());
    if let Some(label) = first_word(block) {
        prop_assert_eq!(&piece.words[0], &label);
    }
    if let BlockContent::Code(code) = &block.content {
        let lines =
            code.line_start.zip(code.line_end).map(|(first, last)| format!("{first}-{last}"));
        prop_assert_eq!(&piece.lines, &lines);
    }
    if let BlockContent::Conversation(turn) = &block.content {
        prop_assert_eq!(piece.tool_call_id.as_deref(), turn.tool_call_id.as_deref());
    }
    let content = |block| {
        content(block).map(|text| if piece.numbered { numbered(block, &text) } else { text })
    };
    match (decision, piece.kind) {
        (RenderDecision::Full, PartKind::Full) => {
            if let Some(content) = content(block) {
                prop_assert_eq!(piece.body.as_deref(), Some(content.as_str()));
            }
        }
        (RenderDecision::Summary, PartKind::Summary) => {
            prop_assert_eq!(piece.body.as_deref(), block.summary.as_deref());
        }
        (RenderDecision::Placeholder { omitted_tokens, .. }, PartKind::Placeholder { tokens }) => {
            prop_assert_eq!(u64::from(*omitted_tokens), tokens);
        }
        (RenderDecision::Detailed, PartKind::Detailed) | (RenderDecision::Tags, PartKind::Tags) => {
            // A pack has these levels in separate blocks, which `levels` tests.
            prop_assert!(piece.body.is_some());
        }
        (RenderDecision::Excerpt(excerpt), PartKind::Excerpt) => {
            if let (Some(content), Some(body)) = (content(block), &piece.body) {
                if !excerpt.lines.is_empty() {
                    let last = body.lines().last().unwrap_or_default();
                    prop_assert!(last.starts_with('…') && last.ends_with("omitted …"), "{}", body);
                    return Ok(());
                }
                let head = &content[..excerpt.head_bytes];
                let tail = &content[content.len() - excerpt.tail_bytes..];
                let marker = body.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
                let marker = marker.map(str::trim);
                prop_assert!(
                    marker.is_some_and(|m| m.starts_with('…') && m.ends_with("omitted …"))
                );
            }
        }
        (decision, kind) => prop_assert!(false, "{:?} came back as {:?}", decision, kind),
    }
    Ok(())
}

fn check(blocks: &[Block<'_>], config: &DriverConfig) -> Result<(), TestCaseError> {
    let Rendered { text, plan } = DefaultDriver::new(O200K).run(blocks, config).unwrap();
    let mut pieces = match parse(&text, config.mode) {
        Ok(pieces) => pieces.into_iter(),
        Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
    };
    for (block, item) in blocks.iter().zip(&plan.items) {
        if item.decision.is_shown() {
            let Some(piece) = pieces.next() else {
                return Err(TestCaseError::fail(format!("a piece is missing\n{text}")));
            };
            check_part(block, &item.decision, &piece)?;
            let has_numbers = matches!(block.block_type(), BlockType::Code | BlockType::Document)
                && matches!(piece.kind, PartKind::Full | PartKind::Excerpt);
            prop_assert_eq!(piece.numbered, config.line_numbers && has_numbers, "{}", text);
        }
    }
    let rest: Vec<_> = pieces.map(|piece| piece.kind).collect();
    let expected = plan
        .rolled_up
        .map(|all| PartKind::RolledUp { count: all.count as u64, tokens: all.tokens });
    prop_assert_eq!(rest, expected.into_iter().collect::<Vec<_>>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn rendered_text_splits_into_its_blocks(
        blocks in any_pack(),
        config in any_config(),
        budget in prop::option::of(0u32..600),
        summaries in any::<bool>(),
    ) {
        let verbosity = if summaries && budget.is_none() { Verbosity::Summary } else { Verbosity::Adaptive };
        let config = DriverConfig { token_budget: budget, verbosity, ..config };
        check(&blocks, &config)?;
    }
}

#[test]
fn parse_of_invalid_text_reports_the_position() {
    let error = parse("<context>\nhello\n</context>\n", OutputMode::Xml).unwrap_err();
    assert_eq!(error.to_string(), "not a rendered text: expected an element at byte 10");
    let error = parse("hello\n", OutputMode::Markdown).unwrap_err();
    assert_eq!((error.offset, error.expected), (0, "a block header"));
    let error = parse("[code a <<EOF]\nx\n", OutputMode::Minimal).unwrap_err();
    assert_eq!(error.expected, "the end of the block");
}
