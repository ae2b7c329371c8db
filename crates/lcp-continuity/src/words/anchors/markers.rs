//! Markers: lines that say what they are.

use std::ops::Range;

use crate::model::AnchorKind;

/// The words of markers.
const MARKERS: [(&str, AnchorKind); 6] = [
    ("decision", AnchorKind::Decision),
    ("commitment", AnchorKind::Commitment),
    ("question", AnchorKind::OpenQuestion),
    ("fact", AnchorKind::CriticalFact),
    ("correction", AnchorKind::Correction),
    ("preference", AnchorKind::Preference),
];

/// What the marker says that the paragraph at `range` begins with, and where that
/// what it marks is: `DECISION: …`, `[decision] …`, `**Decision:** …`.
pub(super) fn marked(text: &str, range: &Range<usize>) -> Option<(AnchorKind, Range<usize>)> {
    let paragraph = text.get(range.clone())?;
    let line = paragraph.trim_start_matches(['*', '_']);
    let emphasis = &paragraph[..paragraph.len() - line.len()];
    let (word, rest) = match line.strip_prefix('[') {
        Some(line) => {
            let (word, rest) = line.split_once(']')?;
            (word.trim_end_matches(':'), rest.strip_prefix(':').unwrap_or(rest))
        }
        None => line.split_once(':')?,
    };
    let word = word.trim_end_matches(['*', '_']);
    let (_, kind) = MARKERS.iter().find(|(marker, _)| word.eq_ignore_ascii_case(marker))?;
    let rest = rest.strip_prefix(emphasis).unwrap_or(rest).trim_start_matches(':').trim();
    let start = rest.as_ptr() as usize - text.as_ptr() as usize;
    rest.contains(char::is_alphanumeric).then(|| (*kind, start..start + rest.len()))
}
