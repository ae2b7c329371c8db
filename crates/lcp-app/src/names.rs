//! The names of values in flags, settings and tools, and plural forms for messages. If several
//! names have the same value, those after the first are former names: they are still valid, but
//! help texts and errors do not list them.

#[cfg(feature = "messages")]
use lcp_continuity::DirectiveStyle;
use lcp_dedup::DedupLevel;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Excerpts, Objective, OutputMode, Overflow, ValueModel, Verbosity};
#[cfg(feature = "messages")]
use lcp_transcripts::Format;
use lcp_types::BlockType;
use serde::Serializer;

/// Values by their names.
pub type Names<T> = [(&'static str, T)];

/// Formats of a text.
pub const MODES: [(&str, OutputMode); 3] = [
    (OutputMode::Xml.name(), OutputMode::Xml),
    (OutputMode::Markdown.name(), OutputMode::Markdown),
    (OutputMode::Minimal.name(), OutputMode::Minimal),
];

/// Formats of the messages of chat APIs.
#[cfg(feature = "messages")]
pub const API_FORMATS: [(&str, Format); 4] = [
    ("openai-chat", Format::OpenAiChat),
    ("openai-responses", Format::OpenAiResponses),
    ("anthropic", Format::Anthropic),
    ("gemini", Format::Gemini),
];

/// Amounts of detail.
pub const VERBOSITIES: [(&str, Verbosity); 3] = [
    (Verbosity::Full.name(), Verbosity::Full),
    (Verbosity::Summary.name(), Verbosity::Summary),
    (Verbosity::Adaptive.name(), Verbosity::Adaptive),
];

/// Reactions if Critical blocks exceed the budget.
pub const OVERFLOWS: [(&str, Overflow); 2] = [("allow", Overflow::Allow), ("deny", Overflow::Deny)];

/// Levels of deduplication; `off` has no level.
pub const DEDUP_LEVELS: [(&str, Option<DedupLevel>); 4] = [
    ("off", None),
    ("exact", Some(DedupLevel::Exact)),
    ("overlap", Some(DedupLevel::Overlap)),
    ("near", Some(DedupLevel::Near)),
];

/// Policies for special tokens.
pub const SPECIAL_TOKENS: [(&str, SpecialTokens); 5] = [
    ("warn", SpecialTokens::Warn),
    ("escape", SpecialTokens::Escape),
    ("reject", SpecialTokens::Reject),
    ("report", SpecialTokens::Warn),
    ("neutralise", SpecialTokens::Escape),
];

/// Wordings of a directive.
#[cfg(feature = "messages")]
pub const STYLES: [(&str, DirectiveStyle); 3] = [
    ("concise", DirectiveStyle::Concise),
    ("narrative", DirectiveStyle::Narrative),
    ("structured", DirectiveStyle::Structured),
];

/// Returns the objectives. The table of values comes from the settings.
pub fn objectives() -> [(&'static str, Objective); 2] {
    [Objective::Strict, Objective::Value(ValueModel::default())].map(|by| (by.name(), by))
}

/// Returns the value for `on` or `off`.
pub const fn excerpts(are_on: bool) -> Excerpts {
    if are_on { Excerpts::On } else { Excerpts::Off }
}

/// Returns the value of a name, including former names.
pub fn value_of<T: Copy>(names: &Names<T>, name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Returns the current names, without former ones.
pub fn current<T: PartialEq>(names: &Names<T>) -> Vec<&'static str> {
    let is_current = |at: usize| names[..at].iter().all(|(_, earlier)| *earlier != names[at].1);
    (0..names.len()).filter(|&at| is_current(at)).map(|at| names[at].0).collect()
}

/// Returns the block type with this label.
///
/// # Errors
///
/// Returns a message for users if no block type has this label.
pub fn block_type(label: &str) -> std::result::Result<BlockType, String> {
    BlockType::from_label(label).filter(|ty| *ty != BlockType::Annotation).ok_or_else(|| {
        let labels = BlockType::ALL.iter().filter(|ty| **ty != BlockType::Annotation);
        let labels: Vec<_> = labels.map(|ty| ty.label()).collect();
        format!("expected one of {}", labels.join(", "))
    })
}

/// Serializes a block type as its label.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn serialize_label<S: Serializer>(
    block_type: &BlockType,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(block_type.label())
}

#[cfg(all(test, feature = "messages"))]
mod tests {
    use super::*;

    #[test]
    fn formats_of_apis_have_their_own_names() {
        for (name, format) in API_FORMATS {
            assert_eq!(Format::from_name(name), Some(format));
        }
        assert_eq!(current(&API_FORMATS).len(), 4);
    }
}
