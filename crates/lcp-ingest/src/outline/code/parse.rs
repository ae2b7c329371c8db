//! Text to a tree, within bounds that no clock decides.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Bytes that a grammar is given at once: if it looks at them again, that is not seen.
const CHUNK_BYTES: usize = 2 << 10;

/// How many times a grammar may read the text; real sources are read twice.
const READS_MAX: usize = 8;

/// Steps of the parser per byte; sources need up to 3, but errors in other texts many.
const STEPS_PER_BYTE: usize = 4;

/// Steps of the parser between two calls of ours.
const STEPS_PER_CALL: usize = 100;

/// Steps that it may have beyond those.
const STEPS_MIN: usize = 4_000;

/// Brackets that may be open at once; errors cost the parser memory for each.
const OPEN_MAX: usize = 1_000;

/// The same of `<` within a statement: each doubles the readings.
const ANGLES_MAX: usize = 300;

/// Parses a text to a tree with error nodes; `None` if that would take too long.
pub(super) fn parse(grammar: &tree_sitter::Language, text: &str) -> Option<Tree> {
    if is_too_deep(text) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let bytes = text.as_bytes();
    let (mut steps, mut reached) = (0, 0);
    let chunks_left = Cell::new((bytes.len() / CHUNK_BYTES + 8) * READS_MAX);
    let mut read = |at: usize, _| {
        let Some(left) = chunks_left.get().checked_sub(1) else { return &[][..] };
        chunks_left.set(left);
        let rest = bytes.get(at..).unwrap_or_default();
        rest.get(..CHUNK_BYTES).unwrap_or(rest)
    };
    let mut progress = |state: &ParseState| {
        steps += STEPS_PER_CALL;
        reached = state.current_byte_offset().max(reached);
        if steps > reached * STEPS_PER_BYTE + STEPS_MIN || chunks_left.get() == 0 {
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

/// Returns whether more brackets are open than a parser should be given.
fn is_too_deep(text: &str) -> bool {
    let (mut open, mut angles) = (0_usize, 0_usize);
    text.bytes().any(|byte| {
        match byte {
            b'(' | b'[' => open += 1,
            b')' | b']' => open = open.saturating_sub(1),
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            b'{' => (open, angles) = (open + 1, 0),
            b'}' => (open, angles) = (open.saturating_sub(1), 0),
            b';' => angles = 0,
            _ => {}
        }
        open > OPEN_MAX || angles > ANGLES_MAX
    })
}

/// Counts the bytes that the grammar could not read, and one for each node that it missed.
pub(super) fn error_bytes(tree: &Tree) -> usize {
    let mut error_bytes = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            error_bytes += node.byte_range().len().max(1);
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return error_bytes;
            }
        }
    }
}
