//! Parses text to a syntax tree. The limits count work, not time, so that the result does not
//! depend on the machine.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// The number of bytes passed to the parser at once. If the parser reads within a chunk again, that
/// is not counted.
const CHUNK_BYTES: usize = 2 << 10;

/// The number of times that the parser may read the whole text. Real sources need about two.
const READS_MAX: usize = 8;

/// The number of parser steps per byte. Sources need up to 3, but other texts need many more
/// because of errors.
const STEPS_PER_BYTE: usize = 4;

/// The number of parser steps between two progress callbacks.
const STEPS_PER_CALL: usize = 100;

/// The number of additional steps for any text.
const STEPS_MIN: usize = 4_000;

/// The maximum number of open brackets. After an error, each costs the parser memory.
const OPEN_MAX: usize = 1_000;

/// The maximum number of open `<` in a statement. Each of them doubles the possible readings.
const ANGLES_MAX: usize = 300;

/// Parses a text to a tree with error nodes. Returns `None` if that would take too long.
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
    // If the chunks ran out, the parser took the last chunk for the end of the text.
    (chunks_left.get() > 0).then_some(tree)
}

/// Returns whether the text has too many open brackets for the parser.
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

/// Counts the bytes in error nodes, and at least one for each error node and each missing node.
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
