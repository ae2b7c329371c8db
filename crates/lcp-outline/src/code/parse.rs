//! Text to a tree, within bounds that no clock decides.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Bytes that a grammar is given at once: if it looks at them again, that is not seen.
const CHUNK_BYTES: usize = 2 << 10;

/// How many times a grammar may read the text.
const READS_MAX: usize = 24;

/// Steps of the parser for each byte: a few times what real sources need.
const STEPS_PER_BYTE: usize = 8;

/// Steps of the parser between two calls of ours.
const STEPS_PER_CALL: usize = 100;

/// Calls that a small text may have, too.
const CALLS_MIN: usize = 1_000;

/// The tree of a text, with nodes for what could not be read; `None` if that would take
/// too long.
pub(super) fn parse(grammar: &tree_sitter::Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let bytes = text.as_bytes();
    let mut calls_left = bytes.len() * STEPS_PER_BYTE / STEPS_PER_CALL + CALLS_MIN;
    let chunks_left = Cell::new((bytes.len() / CHUNK_BYTES + 64) * READS_MAX);
    let mut read = |at: usize, _| {
        let Some(left) = chunks_left.get().checked_sub(1) else { return &[][..] };
        chunks_left.set(left);
        let rest = bytes.get(at..).unwrap_or_default();
        rest.get(..CHUNK_BYTES).unwrap_or(rest)
    };
    let mut progress = |_: &ParseState| {
        calls_left = calls_left.saturating_sub(1);
        if calls_left == 0 || chunks_left.get() == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    // Else it took the end of our patience for that of the text.
    (chunks_left.get() > 0).then_some(tree)
}

/// Bytes that the grammar could not read, and one for each thing it missed.
pub(super) fn unread(tree: &Tree) -> usize {
    let mut unread = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            unread += node.byte_range().len().max(1);
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return unread;
            }
        }
    }
}
