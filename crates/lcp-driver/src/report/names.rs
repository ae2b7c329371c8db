//! Names as people read them.

use std::borrow::Cow;

use lcp_types::DuplicateKind;

pub(super) use crate::block_view::label::escape_control;
use crate::block_view::label::{cap, push_word};
use crate::plan::Reason;

/// A name of ours, or a category, as people write it: `tool_results` is `Tool
/// Results`. What is no plain name, which only a pack can bring, is escaped;
/// of a name of more than 200 characters both ends are given.
///
/// ```
/// assert_eq!(lcp_driver::report::title("tool_results"), "Tool Results");
/// ```
#[must_use]
pub fn title(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '…');
    let mut out = String::new();
    let name = &*cap(name);
    // The mark of what was cut does not make a name less plain.
    if name.is_empty() || !name.chars().all(plain) {
        push_word(&mut out, name);
        return out;
    }
    for word in name.split(['_', '-']).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut chars = word.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

/// A name of a pack, or of a configuration, as a page has it: bounded, and
/// with what does not show escaped.
pub(super) fn short(name: &str) -> Cow<'_, str> {
    match cap(name) {
        Cow::Borrowed(name) => escape_control(name),
        Cow::Owned(name) => Cow::Owned(escape_control(&name).into_owned()),
    }
}

/// The names of decisions, by how much they show.
const DECISIONS: &[&str] = &[
    "full",
    "detailed",
    "summary",
    "tags",
    "excerpt",
    "placeholder",
    "rolled_up",
    "omit",
    "duplicate",
    "filtered",
    "metadata",
];

/// The place of a decision where many are listed: first what shows most.
pub(super) fn rank(decision: &str) -> usize {
    DECISIONS.iter().position(|known| *known == decision).unwrap_or(DECISIONS.len())
}

/// What a reason means, in a sentence.
pub(super) const fn sentence(reason: Reason) -> &'static str {
    match reason {
        Reason::NoBudget => "Nothing limits it: there is no budget, or it is ignored.",
        Reason::Verbosity => "The verbosity asks for summaries.",
        Reason::Critical => "It is Critical, or of a tool call that is, so it is shown in full.",
        Reason::Pinned => "It is pinned, or of a tool call that is, so it is shown in full.",
        Reason::Unchanged => "It stands as in the previous text, for the sake of caches.",
        Reason::Waits => "The previous text had no part of it; it waits for the next repack.",
        Reason::Fits => "All that it may have fits.",
        Reason::Ceiling => "Its priority allows no more of it.",
        Reason::OverBudget => "More of it does not fit in the budget.",
        Reason::ShareCap => "More of it would exceed the hard cap of its share.",
        Reason::Background => "It is Background, and waits until all others have what they may.",
        Reason::Metadata => "It says something of other blocks, and is no text itself.",
        Reason::Filtered => "Its type was not asked for.",
        Reason::Duplicate(DuplicateKind::Equal) => "Another block has the same content.",
        Reason::Duplicate(DuplicateKind::Contained) => "Another block has all of its lines.",
        Reason::Duplicate(DuplicateKind::Overlapping | DuplicateKind::Adjacent) => {
            "It was merged into another block."
        }
        Reason::Duplicate(DuplicateKind::Near) => {
            "Another block has all of its lines, and a few more."
        }
        Reason::Duplicate(DuplicateKind::Superseded) => "A newer block has what became of it.",
        Reason::Duplicate(_) => "Another block covers it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_people_do() {
        assert_eq!(title("tool_results"), "Tool Results");
        assert_eq!(title("rolled_up"), "Rolled Up");
        assert_eq!(title("a b"), "\"a b\"");
        assert_eq!(title("\u{1b}[2J"), "\"\\u{1B}[2J\"");
    }

    #[test]
    fn names_of_any_length_are_bounded() {
        for name in ["x".repeat(100_000), "x y".repeat(100_000), "\u{202e}".repeat(100_000)] {
            assert!(title(&name).chars().count() < 2_000);
            assert!(short(&name).chars().count() < 2_000);
        }
        assert_eq!(title(&"x".repeat(300)).chars().count(), 200);
    }

    #[test]
    fn hidden_characters_show() {
        assert_eq!(escape_control("a b.rs"), "a b.rs");
        assert_eq!(escape_control("a\u{202e}b"), "a\\u{202e}b");
    }
}
