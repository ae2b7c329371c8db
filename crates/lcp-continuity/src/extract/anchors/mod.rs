//! Anchors by rules: phrases, and markers.

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

/// Bytes of the longest sentence that is taken for an anchor without a marker.
const MAX_SENTENCE: usize = 600;
const MAX_PER_MESSAGE: usize = 16;

/// Finds anchors by phrases, in English (RFC 0007 §6): a sentence or list item of a user's or a
/// model's turn that decides, promises, corrects, warns, prefers or asks.
///
/// It would rather miss one than take what is none: code, quotations, results of tools, system
/// turns, headings, offers ("if you like, I'll …"), and what a model says that it does at this
/// moment ("I'll read the file", "Let me check") or in this message ("I'll add a flag", beside the
/// code) are not anchors, nor is what a user pastes from a program. A line that begins with
/// `DECISION:`, `COMMITMENT:`, `QUESTION:`, `FACT:`, `CORRECTION:` or `PREFERENCE:` always is, in
/// any language; for phrases of other languages implement [`AnchorExtractor`].
///
/// At most 16 anchors a message, each sentence of 600 bytes at most; of equal
/// anchors the first. The work grows with the text.
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

/// The anchors in `text`, in order; questions only where they are open.
fn in_message(text: &str, context: SentenceContext, is_open: bool) -> Vec<Candidate> {
    let paragraphs: Vec<Paragraph> = paragraphs(text).collect();
    // What is pasted says much, but nobody says it.
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
                // What it announces is what counts: without it there is nothing.
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

/// Returns the items right behind the line that ends at `start`, up to `end`.
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

/// Whether no line of it is code: opens a fence, or begins with a tag.
fn is_prose(text: &str) -> bool {
    let opens = |line: &str| ["<", "```", "~~~"].iter().any(|mark| line.starts_with(mark));
    !text.lines().skip(1).any(|line| opens(line.trim_start()))
}

/// The most important, [`MAX_PER_MESSAGE`] at most; of equal ones the first.
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
