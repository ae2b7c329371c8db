//! The order of the older results and files of a session, by its newest question (RFC 0014 §9).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use lcp_continuity::extract::{is_request, observed_state};
use lcp_continuity::{Message, Recorded, SessionState};
use lcp_ingest::outline::InputKind;
use lcp_ingest::{FileType, SecretPolicy};
use lcp_rank::{Commit, Document, Query, RankedFile, Ranker};
use lcp_transcripts::{Format, annotation_keys};
use lcp_types::{Annotation, Block, BlockContent, BlockMeta, Lang, Passage, Priority, Role, Tag};

use super::blocks::Text;
use crate::config::Config;
use crate::find_block::tagged;
use crate::import::ImportOptions;
use crate::reporter::Silent;

/// The order of the blocks of a session for its newest question.
#[derive(Debug, Default)]
pub struct SessionRanking {
    /// All blocks in their order within a priority.
    order: Vec<usize>,
    /// The blocks of the question and after it, if they must come before passages.
    current: Vec<usize>,
    /// The passages of results and files that the question names.
    passages: Vec<(usize, Vec<Passage>)>,
    /// The paths of older files, the most relevant first.
    files: Vec<String>,
}

/// An older result or file of a session.
struct Older<'b> {
    index: usize,
    /// The path, or the command that printed it.
    label: &'b str,
    text: Cow<'b, str>,
    kind: InputKind,
    is_file: bool,
}

/// A tool call.
struct Call {
    /// The file that it reads or writes, or the command that it runs, or else its text.
    label: String,
    is_file: bool,
}

/// The maximum number of files that a hand-off lists as needed.
const NEEDED_FILES_MAX: usize = 5;

/// Returns the older files that the newest request needs, the most relevant last.
pub(crate) fn needed_files(messages: &[Recorded]) -> Vec<String> {
    let mut blocks = Vec::new();
    for Recorded { message, .. } in messages {
        let target = blocks.len() as u64;
        blocks.push(message.block.clone());
        let call = message.answers().map(|call| Tag::new(Tag::TOOL_CALL_ID, call));
        blocks.extend(call.map(|call| Block::new(Annotation::tag(target, &call))));
    }
    let mut files = SessionRanking::new(&blocks).files;
    files.truncate(NEEDED_FILES_MAX);
    files.reverse();
    files
}

/// Returns the ids of the calls with older results in a request, those that its newest turn needs
/// least first. A request that cannot be read has none.
#[must_use]
pub fn results_by_need(format: Format, request: &[u8]) -> Vec<String> {
    let import = ImportOptions {
        format: Some(format),
        secrets: Some(SecretPolicy::Off),
        ..ImportOptions::default()
    };
    let transcript = import.import(Path::new("request"), request, &Config::default(), &Silent);
    let Ok(transcript) = transcript else { return Vec::new() };
    let metas = BlockMeta::resolve_all(&transcript.blocks, &mut |_, _| {});
    let order = SessionRanking::new(&transcript.blocks).order;
    let mut calls: Vec<String> = Vec::new();
    for at in order.into_iter().rev() {
        let is_turn = matches!(transcript.blocks[at].content, BlockContent::Conversation(_));
        let call = metas[at].tool_call_id.as_deref().filter(|_| !is_turn);
        // Several files of one result have the place of the one that is needed most.
        if let Some(call) = call {
            calls.retain(|known| known != call);
            calls.push(call.to_owned());
        }
    }
    calls
}

impl SessionRanking {
    /// Ranks the blocks of a session. The question is the newest turn of the user that says what is
    /// wanted. It and all later blocks come first, then the older results and files that it names.
    /// The other results and files share the places that they have by rank: the most relevant gets
    /// the first of them. Turns stay in place.
    ///
    /// The ranking is empty without such a turn, or if nothing is older.
    #[must_use]
    pub fn new(blocks: &[Block<'_>]) -> Self {
        let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
        let sides = tagged(blocks, annotation_keys::SIDECHAIN);
        let is_request = |at: &usize| {
            !sides.contains(at)
                && message(&blocks[*at], &metas[*at]).is_some_and(|it| is_request(&it))
        };
        let Some(last) = (0..blocks.len()).rev().find(is_request) else { return Self::default() };
        let numbers = message_numbers(blocks);
        let is_same = |at: &usize| numbers.get(at).is_some_and(|it| Some(it) == numbers.get(&last));
        let start = (0..last).find(is_same).unwrap_or(last);
        let question: Vec<_> = (start..=last)
            .filter(is_request)
            .filter_map(|at| blocks[at].content.text()?.as_str().map(str::to_owned))
            .collect();
        let query = Query::new(&question.join("\n\n")).with_certain_names();
        let calls = calls(&blocks[..start], &metas);
        let older: Vec<_> = (0..start)
            .filter(|at| !sides.contains(at))
            .filter_map(|at| Older::new(at, &blocks[at], &metas[at], &calls))
            .collect();
        if query.is_empty() || older.is_empty() {
            return Self::default();
        }
        let past = past_requests(&older, (0..start).filter(is_request), blocks);
        Self::with_order(&rank(&query, &older, past), &older, blocks, &metas, start)
    }

    fn with_order(
        ranked: &[RankedFile],
        older: &[Older<'_>],
        blocks: &[Block<'_>],
        metas: &[BlockMeta<'_>],
        start: usize,
    ) -> Self {
        let mut sorted: Vec<_> =
            (0..blocks.len()).filter(|at| !blocks[*at].content.is_metadata()).collect();
        // Unranked blocks come last, in the order of the pack.
        sorted.sort_by(|a, b| {
            let rank = |at: &usize| metas[*at].rank.unwrap_or(f64::NEG_INFINITY);
            rank(b).total_cmp(&rank(a))
        });
        let (current, mut rest): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|at| *at >= start);
        let indices = |named: bool| {
            let wanted = ranked.iter().filter(move |file| file.is_named == named);
            wanted.map(|file| older[file.file].index)
        };
        let named: BTreeSet<_> = indices(true).collect();
        rest.retain(|at| !named.contains(at));
        let others: BTreeSet<_> = indices(false).collect();
        let places = rest.iter_mut().filter(|at| others.contains(at));
        places.zip(indices(false)).for_each(|(place, index)| *place = index);
        let passages = ranked.iter().filter(|file| file.is_named && !file.passages.is_empty());
        let passages: Vec<_> =
            passages.map(|file| (older[file.file].index, file.passages.clone())).collect();
        let mut files: Vec<String> = Vec::new();
        for file in ranked.iter().map(|file| &older[file.file]).filter(|file| file.is_file) {
            if !files.iter().any(|known| known == file.label) {
                files.push(file.label.to_owned());
            }
        }
        let is_normal = |at: &&usize| metas[**at].priority == Priority::Normal;
        Self {
            order: current.iter().copied().chain(indices(true)).chain(rest).collect(),
            current: match passages[..] {
                [] => Vec::new(),
                _ => current.iter().filter(is_normal).copied().collect(),
            },
            passages,
            files,
        }
    }

    /// Returns the annotations that give the blocks this order.
    pub fn annotations(&self) -> Vec<Block<'static>> {
        let ranks = self.order.iter().rev().zip(1..);
        let tag = |at: usize, tag: Tag<'_>| Annotation::tag(at as u64, &tag);
        let ranks =
            ranks.map(|(at, rank): (_, u64)| tag(*at, Tag::new(Tag::RANK, rank.to_string())));
        // Passages would be shown before other blocks of the same priority.
        let high = self.current.iter().map(|at| Annotation::priority(*at as u64, Priority::High));
        let passages = self.passages.iter().map(|(at, passages)| {
            tag(*at, Tag::new(Tag::PASSAGES, Passage::format_list(passages)))
        });
        ranks.chain(high).chain(passages).map(Block::new).collect()
    }
}

impl<'b> Older<'b> {
    fn new(
        index: usize,
        block: &'b Block<'_>,
        meta: &'b BlockMeta<'_>,
        calls: &'b BTreeMap<String, Call>,
    ) -> Option<Self> {
        let call = meta.tool_call_id.as_deref().and_then(|id| calls.get(id));
        let text = Text::new(block, Some(meta));
        let (label, text, kind) = match (&block.content, text) {
            (BlockContent::ToolResult(_), Some(text)) => {
                let label = call.map_or(text.label, |call| call.label.as_str());
                (label, text.content, kind_by_path(label))
            }
            (BlockContent::Diff(diff), _) => {
                (&*diff.path, lcp_driver::content_text(&block.content)?, kind_by_path(&diff.path))
            }
            (_, Some(text)) => (text.label, text.content, text.kind),
            _ => return None,
        };
        let is_file = match &block.content {
            BlockContent::ToolResult(_) => call.is_some_and(|call| call.is_file),
            BlockContent::Code(_) | BlockContent::Diff(_) => true,
            _ => false,
        };
        Some(Self { index, label, text, kind, is_file })
    }

    fn document(&self) -> Document<'_> {
        Document { path: self.label, text: &self.text, kind: self.kind }
    }
}

fn kind_by_path(path: &str) -> InputKind {
    match FileType::detect(path, &[]).lang() {
        Lang::Unknown => InputKind::Text,
        Lang::Markdown => InputKind::Document,
        lang => InputKind::Code(lang),
    }
}

/// Ranks older results and files.
fn rank(query: &Query, older: &[Older<'_>], past: Vec<Commit>) -> Vec<RankedFile> {
    let mut ranker = Ranker::new(query);
    ranker.add(&older.iter().map(Older::document).collect::<Vec<_>>());
    ranker.set_commits(past);
    let best = ranker.best();
    ranker.add_passages(
        &best.into_iter().map(|file| (file, older[file].document())).collect::<Vec<_>>(),
    );
    ranker.finish()
}

/// Returns the earlier requests of the user, newest first, as commits that changed the files which
/// the model then read or wrote. So newer files, and those of similar requests, count more.
fn past_requests(
    older: &[Older<'_>],
    requests: impl Iterator<Item = usize>,
    blocks: &[Block<'_>],
) -> Vec<Commit> {
    let mut past = VecDeque::from([(0, Commit::default())]);
    for at in requests {
        let message =
            blocks[at].content.text().map_or(String::new(), |it| it.to_str_lossy().into());
        past.push_front((at, Commit { message, ..Commit::default() }));
    }
    for Older { index, label, .. } in older.iter().rev() {
        if let Some((_, commit)) = past.iter_mut().find(|(start, _)| start <= index) {
            commit.files.push((*label).to_owned());
        }
    }
    past.into_iter().map(|(_, commit)| commit).collect()
}

/// Returns a turn as a message.
fn message(block: &Block<'_>, meta: &BlockMeta<'_>) -> Option<Message> {
    let is_user =
        matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User);
    let call = meta.tool_call_id.as_deref().unwrap_or_default();
    is_user.then(|| Message::new(block.clone().into_owned()).answering(call))
}

/// Returns the number of the message of each block, as the import of transcripts stores it.
fn message_numbers(blocks: &[Block<'_>]) -> BTreeMap<usize, String> {
    let tags = blocks.iter().filter_map(Block::as_annotation);
    let numbers = tags.filter_map(|annotation| {
        let tag = annotation.as_tag().filter(|tag| tag.key == Tag::MESSAGE)?;
        Some((usize::try_from(annotation.target_block_id).ok()?, tag.value?.into_owned()))
    });
    numbers.collect()
}

/// Returns the tool calls by their ids.
fn calls(blocks: &[Block<'_>], metas: &[BlockMeta<'_>]) -> BTreeMap<String, Call> {
    let mut calls = BTreeMap::new();
    for (block, meta) in blocks.iter().zip(metas) {
        let BlockContent::Conversation(turn) = &block.content else { continue };
        let Some(id) = turn.tool_call_id.as_ref().or(meta.tool_call_id.as_ref()) else { continue };
        let message = Message::new(block.clone().into_owned());
        let call = Recorded { position: 0, epoch: 0, tokens: 0, message };
        let mut state = observed_state(&SessionState::default(), &[call]);
        let (file, command) = (state.active_files.pop(), state.recent_commands.pop());
        let is_file = file.is_some();
        let label = file.or(command).unwrap_or_else(|| turn.content.to_str_lossy().into());
        calls.insert(id.to_string(), Call { label, is_file });
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_the_newest_turn_needs_come_last() {
        let result = |id: &str, path: &str, text: &str| {
            let call = serde_json::json!({ "id": id, "type": "function",
                "function": { "name": "read", "arguments": format!("{{\"path\":{path:?}}}") } });
            [
                serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
                serde_json::json!({ "role": "tool", "tool_call_id": id, "content": text }),
            ]
        };
        let question = "Why does the parser of dates reject leap years?";
        let messages = [
            vec![serde_json::json!({ "role": "user", "content": "Read the sources." })],
            result("dates", "src/dates.rs", "fn parse_date() { leap_year(); }\n").into(),
            result("colors", "src/colors.rs", "fn paint_border() { red(); }\n").into(),
            result("sounds", "src/sounds.rs", "fn play_sound() { beep(); }\n").into(),
            vec![serde_json::json!({ "role": "user", "content": question })],
        ];
        let request = serde_json::json!({ "model": "gpt-5", "messages": messages.concat() });
        let calls = results_by_need(Format::OpenAiChat, request.to_string().as_bytes());
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[2], "dates");
        assert_eq!(results_by_need(Format::Anthropic, b"no JSON"), Vec::<String>::new());
    }
}
