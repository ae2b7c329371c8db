//! The segments of a conversation, for texts that show each of them at one level (RFC 0012).

use std::collections::HashSet;
use std::ops::Range;

use lcp_continuity::extract::{
    AnchorExtractor, ExtractiveSummarizer, RuleAnchorExtractor, Summarizer, SummaryRequest,
};
use lcp_continuity::{Message, Recorded};
use lcp_driver::segments::{
    BudgetAllocationOptions, CompressionLevel, PackSegment, PackSegments, PreferredSegments,
};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockContent, BlockMeta, CarriedLevel, Priority, Role};

use crate::error::{Error, ErrorKind, Result};

/// The flag that shows each segment at one level.
pub const SEGMENTS: &str = "--segments";

/// The minimum tokens of a block that gets summaries. The summaries of shorter ones save nothing.
const SUMMARIZED_TOKENS_MIN: u32 = 64;

/// The fraction of a block's tokens that its detailed and its brief summary may have.
const DETAILED_PART: u32 = 3;
const BRIEF_PART: u32 = 10;

/// The options of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentOptions {
    /// The ids of the segments that are shown in full before all others.
    pub expanded: Vec<String>,
    /// Words or phrases: segments that contain one of them, in any case, come before others
    /// without anchors.
    pub topics: Vec<String>,
}

impl SegmentOptions {
    /// Divides a pack into segments, and appends summaries for the blocks that have none, so that
    /// they can be shown at lower levels. The other blocks keep their indices.
    ///
    /// A segment begins with a message of the user. If it has half of
    /// `recent_messages_full_budget`, the next message of the model begins another one, unless it
    /// comes between a tool call and its result.
    ///
    /// # Errors
    ///
    /// Returns an error if an expanded segment does not exist.
    pub(crate) fn apply(
        &self,
        blocks: &mut Vec<Block<'_>>,
        settings: &BudgetAllocationOptions,
        counter: &dyn TokenEstimator,
    ) -> Result<PackSegments> {
        let messages = messages(blocks, counter);
        let ranges = ranges(&messages, blocks.len(), settings.recent_messages_full_budget / 2);
        let anchors = RuleAnchorExtractor.anchors("", &messages);
        let topics: Vec<_> = self.topics.iter().map(|topic| topic.to_lowercase()).collect();
        let segment = |(at, blocks): (usize, Range<usize>)| {
            let is_in = |block: u64| blocks.contains(&usize::try_from(block).unwrap_or(usize::MAX));
            let anchors = anchors.iter().filter(|anchor| anchor.superseded_by.is_none());
            let anchors = anchors.filter(|anchor| is_in(anchor.source.message));
            let anchors = anchors.map(|anchor| anchor.importance).collect();
            let texts = messages.iter().filter(|message| is_in(message.position));
            let texts: Vec<_> = texts.map(|found| found.message.text().to_lowercase()).collect();
            let has = |topic: &&String| texts.iter().any(|text| text.contains(topic.as_str()));
            let topics = topics.iter().filter(has).cloned().collect();
            PackSegment { id: format!("s{}", at + 1), blocks, anchors, topics }
        };
        let segments = ranges.into_iter().enumerate().map(segment).collect();
        let focus = PreferredSegments { topics: topics.clone(), expanded: self.expanded.clone() };
        let segments = PackSegments::new(segments, *settings, focus).map_err(|error| {
            Error::new(ErrorKind::Usage, error.to_string())
                .with_hint(format!("run `lcp report PACK {SEGMENTS}` to list the segments"))
        })?;
        summarize(blocks, &messages, counter);
        Ok(segments)
    }
}

/// Returns the blocks as messages. The position of a message is the index of its block.
fn messages(blocks: &[Block<'_>], counter: &dyn TokenEstimator) -> Vec<Recorded> {
    let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
    let is_shown = |block: &Block<'_>, meta: &BlockMeta<'_>| {
        !block.content.is_metadata() && meta.priority != Priority::Background
    };
    let all = blocks.iter().zip(&metas).enumerate();
    let shown = all.filter(|(_, (block, meta))| is_shown(block, meta));
    let message = |(index, (block, meta)): (usize, (&Block<'_>, &BlockMeta<'_>))| {
        let message = Message::new(block.clone().into_owned());
        let message = message.answering(meta.tool_call_id.as_deref().unwrap_or_default());
        let tokens = counter.estimate(&message.text());
        Recorded { position: index as u64, epoch: 0, tokens, message }
    };
    shown.map(message).collect()
}

/// Returns the blocks of each segment. All segments together have all blocks.
fn ranges(messages: &[Recorded], blocks: usize, size: u32) -> Vec<Range<usize>> {
    let results = messages.iter().map(|recorded| &recorded.message).filter(|it| it.is_result());
    let answered: HashSet<&str> = results.filter_map(Message::tool_call_id).collect();
    let (mut starts, mut tokens) = (vec![0], 0u32);
    let mut open: HashSet<&str> = HashSet::new();
    for (at, Recorded { message, position, tokens: own, .. }) in messages.iter().enumerate() {
        let role = match &message.block.content {
            BlockContent::Conversation(turn) => Some(turn.role),
            _ => None,
        };
        let begins = match role {
            Some(Role::User) => true,
            Some(Role::Assistant) => tokens >= size && open.is_empty(),
            _ => false,
        };
        if begins && at > 0 {
            starts.push(usize::try_from(*position).unwrap_or(blocks));
            tokens = 0;
            open.clear();
        }
        tokens = tokens.saturating_add(*own);
        match message.tool_call_id() {
            Some(id) if message.is_result() => _ = open.remove(id),
            Some(id) if answered.contains(id) => _ = open.insert(id),
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).copied().chain([blocks]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Adds a detailed and a brief summary to each long block that has none.
fn summarize(blocks: &mut Vec<Block<'_>>, messages: &[Recorded], counter: &dyn TokenEstimator) {
    let known: Vec<(Option<String>, bool)> = {
        let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
        let known = |meta: &BlockMeta<'_>| {
            (meta.summary.as_deref().map(str::to_owned), meta.detailed.is_some())
        };
        metas.iter().map(known).collect()
    };
    for recorded in messages.iter().filter(|recorded| recorded.tokens >= SUMMARIZED_TOKENS_MIN) {
        let Ok(index) = usize::try_from(recorded.position) else { continue };
        let Some((own, has_detailed)) = known.get(index) else { continue };
        let brief = || summary(recorded, CompressionLevel::Brief, BRIEF_PART, counter);
        let brief = own.clone().or_else(brief);
        let least = brief.as_ref().map_or(0, |text| counter.estimate(text));
        // "Full" takes as much as fits, while the other levels take a few sentences of a message.
        let detailed = summary(recorded, CompressionLevel::Full, DETAILED_PART, counter);
        // A summary of the pack may be longer.
        let detailed = detailed.filter(|text| !has_detailed && counter.estimate(text) > least);
        if let Some(text) = detailed {
            blocks.push(Block::new(CarriedLevel::Detailed.to_extension(recorded.position, &text)));
        }
        blocks[index].summary = brief.map(Into::into);
    }
}

/// Returns a summary of one message with at most the given part of its tokens.
fn summary(
    recorded: &Recorded,
    level: CompressionLevel,
    part: u32,
    counter: &dyn TokenEstimator,
) -> Option<String> {
    let request = SummaryRequest {
        messages: std::slice::from_ref(recorded),
        before: None,
        target_tokens: recorded.tokens / part,
        level,
        counter,
    };
    let text = ExtractiveSummarizer.summarize(&request).ok()?;
    // The text around the summary shows the role.
    let lead = match &recorded.message.block.content {
        BlockContent::Conversation(turn) => format!("{}: ", turn.role.name().unwrap_or_default()),
        _ => String::new(),
    };
    let text = text.strip_prefix(lead.as_str()).unwrap_or(&text);
    (!text.trim().is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use lcp_tokens::HeuristicEstimator;
    use lcp_types::Status;

    use super::*;

    fn recorded(messages: Vec<Message>) -> Vec<Recorded> {
        let of = |(at, message)| Recorded { position: at as u64, epoch: 0, tokens: 40, message };
        messages.into_iter().enumerate().map(of).collect()
    }

    #[test]
    fn segment_begins_with_each_user_message() {
        let turns = [Message::system("Be kind."), Message::user("Hi."), Message::assistant("Yes?")];
        let turns = recorded([turns.to_vec(), vec![Message::user("Fix it.")]].concat());
        assert_eq!(ranges(&turns, 6, 1_000), [0..1, 1..3, 3..6]);
    }

    #[test]
    fn long_turn_is_divided_but_not_between_call_and_result() {
        let mut messages = vec![Message::user("Fix it.")];
        for id in ["a", "b", "c"] {
            messages.push(Message::assistant("Next."));
            messages.push(Message::tool_call(id, "read_file"));
            messages.push(Message::assistant("Meanwhile."));
            messages.push(Message::tool_result(id, "read_file", Status::Ok, "text"));
        }
        assert_eq!(ranges(&recorded(messages.clone()), 13, 80), [0..2, 2..5, 5..9, 9..13]);
        assert_eq!(ranges(&recorded(messages.clone()), 13, 10_000).len(), 1);
        // A call without a result does not hold the rest together.
        messages.insert(1, Message::tool_call("lost", "read_file"));
        assert_eq!(ranges(&recorded(messages), 14, 80), [0..2, 2..6, 6..10, 10..14]);
    }

    #[test]
    fn long_blocks_get_summaries_and_keep_their_indices() {
        let lines: Vec<_> = (0..40).map(|i| format!("The parser reads line {i} of it. ")).collect();
        let text = lines.concat();
        let mut blocks = vec![
            Block::conversation(Role::User, "Short."),
            Block::conversation(Role::Assistant, text.as_str()),
        ];
        let options = SegmentOptions::default();
        let settings = BudgetAllocationOptions::default();
        let segments = options.apply(&mut blocks, &settings, &HeuristicEstimator).unwrap();
        assert_eq!(segments.as_slice().len(), 1);
        assert_eq!(segments.as_slice()[0].blocks, 0..2);
        let metas = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
        assert!(metas[0].summary.is_none() && metas[0].detailed.is_none());
        let (brief, detailed) = (metas[1].summary.as_ref(), metas[1].detailed.as_ref());
        let (brief, detailed) = (brief.unwrap(), detailed.unwrap());
        assert!(brief.starts_with("The parser reads line"), "{brief}");
        let tokens = |text: &str| HeuristicEstimator.estimate(text);
        assert!(tokens(brief) <= tokens(&text) / 10 && tokens(detailed) <= tokens(&text) / 3);
    }

    #[test]
    fn unknown_expanded_segment_is_a_usage_error() {
        let mut blocks = vec![Block::conversation(Role::User, "Hi.")];
        let options = SegmentOptions { expanded: vec!["s2".into()], ..SegmentOptions::default() };
        let settings = BudgetAllocationOptions::default();
        let error = options.apply(&mut blocks, &settings, &HeuristicEstimator).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(error.to_string(), "cannot expand segment \"s2\": it does not exist");
    }
}
