//! Extracts anchors by rules: phrases and markers.

mod phrases;
mod rules;

use std::collections::HashSet;
use std::ops::Range;

use lcp_types::Role;

use self::rules::SentenceContext;
use super::AnchorExtractor;
use super::output_detection::{has_code, is_output};
use super::sentences::{LineKind, Paragraph, paragraphs, split};
use crate::model::{AnchorKind, AnchorPoint, AnchorSource, Recorded, Speaker};
use crate::tool_pairs::is_before_call;

/// The maximum length in bytes of an anchor without a marker.
const MAX_SENTENCE: usize = 600;
const MAX_PER_MESSAGE: usize = 16;

/// Finds anchors by English phrases (RFC 0007 §6). An anchor is a sentence or list item in a turn
/// of the user or the model that decides, promises, corrects, warns, states a preference or asks.
///
/// The rules prefer missing an anchor to reporting a wrong one. These are not anchors:
///
/// - code, quotations, headings, tool results and system turns;
/// - offers ("if you like, I'll …");
/// - actions that a model announces for this moment ("I'll read the file", "Let me check") or
///   performs in the same message ("I'll add a flag", followed by the code);
/// - program output that the user pasted.
///
/// A line that begins with `DECISION:`, `COMMITMENT:`, `QUESTION:`, `FACT:`, `CORRECTION:` or
/// `PREFERENCE:` is an anchor in any language. To support phrases of other languages, implement
/// [`AnchorExtractor`].
///
/// A message yields at most 16 anchors. A sentence found by phrases has at most 600 bytes. Of equal
/// anchors, only the first is reported. Run time is linear in the length of the text.
///
/// ```
/// use lcp_continuity::extract::{AnchorExtractor, RuleAnchorExtractor};
/// use lcp_continuity::{AnchorKind, Message, Recorded};
///
/// let message = Message::user("Looks good. We decided to keep SQLite. Go on.");
/// let messages = [Recorded { position: 0, epoch: 0, tokens: 12, message }];
/// let anchors = RuleAnchorExtractor.anchors("c1", &messages);
/// assert_eq!(anchors.len(), 1);
/// assert_eq!(anchors[0].kind, AnchorKind::Decision);
/// assert_eq!(anchors[0].text, "We decided to keep SQLite.");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleAnchorExtractor;

impl AnchorExtractor for RuleAnchorExtractor {
    fn anchors(&self, conversation: &str, messages: &[Recorded]) -> Vec<AnchorPoint> {
        let open = rules::open_questions(messages);
        let mut seen = HashSet::new();
        let mut anchors = Vec::new();
        for (at, recorded) in messages.iter().enumerate() {
            let Some((role, text)) = recorded.message.turn_text() else { continue };
            let before_call = is_before_call(messages, at);
            let context = SentenceContext {
                role,
                is_before_call: before_call,
                is_acting: before_call || has_code(&text),
            };
            for candidate in in_message(&text, context, open[at]) {
                let source = AnchorSource {
                    conversation: conversation.to_owned(),
                    message: recorded.position,
                    speaker: Speaker::from_role(role),
                };
                let text = &text[candidate.range];
                let anchor = AnchorPoint::new(candidate.kind, text, candidate.importance, source);
                if seen.insert(anchor.id.clone()) {
                    anchors.push(anchor);
                }
            }
        }
        anchors
    }

    fn is_answered(&self, question: &AnchorPoint, messages: &[Recorded]) -> bool {
        let asked = question.source.speaker;
        asked.is_some()
            && (0..messages.len()).any(|at| rules::answered_speaker(messages, at) == asked)
    }
}

struct Candidate {
    kind: AnchorKind,
    range: Range<usize>,
    importance: f64,
}

/// Returns the anchors in `text`, in order. Questions are included only if `is_open`.
fn in_message(text: &str, context: SentenceContext, is_open: bool) -> Vec<Candidate> {
    let paragraphs: Vec<Paragraph> = paragraphs(text).collect();
    // Pasted output may contain matching phrases, but they are not statements of the user.
    let is_pasted = context.role == Role::User && is_output(text);
    let mut anchors = Vec::new();
    let mut at = 0;
    while let Some(paragraph) = paragraphs.get(at) {
        at += 1;
        if let Some((kind, range)) = marker(text, &paragraph.range) {
            if kind != AnchorKind::OpenQuestion || !rules::is_small_talk(&text[range.clone()]) {
                anchors.push(Candidate { kind, range, importance: 1.0 });
            }
            continue;
        }
        if paragraph.kind == LineKind::Heading || is_pasted {
            continue;
        }
        for mut range in split(text, paragraph.range.clone()) {
            let Some(kind) = rules::kind_of(&text[range.clone()], context) else { continue };
            if text[range.clone()].ends_with(':') {
                let items =
                    items_of(text, range.end, &paragraphs[at..], range.start + MAX_SENTENCE);
                // Without the items that it announces, the sentence has no content.
                let Some(last) = items.last() else { continue };
                range.end = last.range.end;
                at += items.len();
            }
            if range.len() <= MAX_SENTENCE && is_prose(&text[range.clone()]) {
                anchors.push(Candidate { kind, range, importance: importance(kind, context.role) });
            }
        }
    }
    anchors.retain(|anchor| is_open || anchor.kind != AnchorKind::OpenQuestion);
    most_important(anchors)
}

/// Returns the list items that directly follow the line ending at `start`, as far as they end by
/// `end`.
fn items_of<'p>(
    text: &str,
    start: usize,
    paragraphs: &'p [Paragraph],
    end: usize,
) -> &'p [Paragraph] {
    let is_next = |item: &Paragraph| {
        let between = text.get(start..item.range.start).unwrap_or_default();
        let (above, _marker) = between.rsplit_once('\n').unwrap_or((between, ""));
        !above.contains(|c: char| !c.is_whitespace() && !matches!(c, '*' | '_'))
    };
    let fits = |(at, item): &(usize, &Paragraph)| {
        item.kind == LineKind::Item
            && item.range.end <= end
            && if *at == 0 { is_next(item) } else { item.follows }
    };
    &paragraphs[..paragraphs.iter().enumerate().take_while(fits).count()]
}

/// Returns whether no line after the first opens a code fence or begins with a tag.
fn is_prose(text: &str) -> bool {
    let opens = |line: &str| ["<", "```", "~~~"].iter().any(|mark| line.starts_with(mark));
    !text.lines().skip(1).any(|line| opens(line.trim_start()))
}

/// Returns the [`MAX_PER_MESSAGE`] most important anchors in order. Of equally important ones, the
/// first are preferred.
fn most_important(mut anchors: Vec<Candidate>) -> Vec<Candidate> {
    anchors.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    anchors.truncate(MAX_PER_MESSAGE);
    anchors.sort_by_key(|anchor| anchor.range.start);
    anchors
}

fn importance(kind: AnchorKind, role: Role) -> f64 {
    let (by_user, by_model) = match kind {
        AnchorKind::Decision => (0.95, 0.85),
        AnchorKind::Correction => (0.9, 0.75),
        AnchorKind::Commitment => (0.85, 0.8),
        AnchorKind::CriticalFact => (0.8, 0.6),
        AnchorKind::Preference => (0.75, 0.75),
        AnchorKind::OpenQuestion => (0.65, 0.55),
    };
    if role == Role::User { by_user } else { by_model }
}

const MARKERS: [(&str, AnchorKind); 6] = [
    ("decision", AnchorKind::Decision),
    ("commitment", AnchorKind::Commitment),
    ("question", AnchorKind::OpenQuestion),
    ("fact", AnchorKind::CriticalFact),
    ("correction", AnchorKind::Correction),
    ("preference", AnchorKind::Preference),
];

/// Parses a marker at the start of a paragraph: `DECISION: …`, `[decision] …`, `**Decision:** …`.
fn marker(text: &str, range: &Range<usize>) -> Option<(AnchorKind, Range<usize>)> {
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
