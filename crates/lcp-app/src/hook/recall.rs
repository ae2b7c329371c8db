//! The content that a compaction may have lost, from the transcript: request, tasks, anchors and files, word for
//! word.

use std::collections::HashSet;
use std::path::Path;

use lcp_continuity::extract::{
    AnchorExtractor as _, ListTaskExtractor, RuleAnchorExtractor, TaskExtractor as _,
    observed_state, user_intent,
};
use lcp_continuity::{AnchorKind, AnchorPoint, PendingTask, Recorded, SessionState, TaskStatus};
use lcp_tokens::HeuristicEstimator;

use super::transcript_tail;
use crate::error::{Error, Result};
use crate::reporter::Silent;
use crate::sessions::input;

/// The bytes of a text that count as a token. A vocabulary takes longer to load than a hook may take.
/// In texts of people and in paths, a token has three bytes and more, so the budget holds.
const BYTES_PER_TOKEN: usize = 2;

/// The default budget in tokens.
const BUDGET: u32 = 2_000;

/// The share of the budget that the request of the user may have.
const REQUEST_SHARE: u32 = 4;

/// The options of [`recall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecallOptions {
    /// The token limit of the text.
    pub budget: u32,
}

impl Default for RecallOptions {
    fn default() -> Self {
        Self { budget: BUDGET }
    }
}

/// Returns what the summary of a compacted session may have lost, within the budget. The text is empty
/// if there is nothing.
///
/// # Errors
///
/// Returns an error if the transcript cannot be read.
pub fn recall(transcript: &Path, session: &str, options: &RecallOptions) -> Result<String> {
    let messages = messages_of(transcript, transcript_tail::read)?;
    let tokens = options.budget / REQUEST_SHARE;
    let request = newest_request(&messages, tokens).or_else(|| {
        let prompts = messages_of(transcript, transcript_tail::read_prompts);
        newest_request(&prompts.unwrap_or_default(), tokens)
    });
    let mut text = RecalledText::new(options.budget);
    text.add("Newest request of the user", request.map(|request| vec![item("-", &request)]));
    text.add_tasks(&ListTaskExtractor.pending_tasks(&[], &messages));
    text.add_anchors(RuleAnchorExtractor.anchors(session, &messages));
    text.add_files(&observed_state(&SessionState::default(), &messages));
    Ok(text.finish())
}

/// Returns the messages of the part of a transcript that `read` reads.
fn messages_of(
    transcript: &Path,
    read: fn(&Path) -> std::io::Result<String>,
) -> Result<Vec<Recorded>> {
    let text = read(transcript).map_err(|error| Error::io("read", transcript.display(), &error))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let messages = input::messages_if_any(transcript, text.as_bytes(), &Silent)?;
    let record = |(position, message)| Recorded { position, epoch: 0, tokens: 0, message };
    Ok((0..).zip(messages).map(record).collect())
}

/// Returns the newest request of the user, cut to this number of tokens.
fn newest_request(messages: &[Recorded], tokens: u32) -> Option<String> {
    // The estimator counts four bytes as a token.
    let tokens = tokens * u32::try_from(BYTES_PER_TOKEN).unwrap_or(u32::MAX) / 4;
    user_intent(messages, &HeuristicEstimator, tokens)
}

/// The text for the agent: headings, and items below them that fit.
struct RecalledText {
    text: String,
    /// The texts that are in it.
    items: HashSet<String>,
    bytes_max: usize,
    left_out: usize,
}

impl RecalledText {
    const HEADING: &str = "From the conversation before the compaction, word for word:\n";

    fn new(budget: u32) -> Self {
        let bytes_max =
            usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
        Self { text: String::new(), items: HashSet::new(), bytes_max, left_out: 0 }
    }

    fn add_tasks(&mut self, tasks: &[PendingTask]) {
        let tasks = tasks.iter().filter(|task| task.approved != Some(false));
        self.add("Open tasks", Some(tasks.map(task_item).collect()));
    }

    fn add_anchors(&mut self, mut anchors: Vec<AnchorPoint>) {
        anchors.retain(AnchorPoint::is_live);
        // Where the budget ends, the less important and the older ones are left out.
        anchors.reverse();
        anchors.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        for kind in AnchorKind::ALL {
            let of_kind = anchors.iter().filter(|anchor| anchor.kind == kind);
            let title = kind.title();
            let title = format!("{}{}s", title[..1].to_uppercase(), &title[1..]);
            self.add(&title, Some(of_kind.map(|anchor| item("-", &anchor.text)).collect()));
        }
    }

    fn add_files(&mut self, state: &SessionState) {
        let files = state.active_files.iter().rev();
        self.add("Files in work, newest first", Some(files.map(|file| item("-", file)).collect()));
    }

    /// Adds the items that fit, below a heading.
    fn add(&mut self, heading: &str, items: Option<Vec<String>>) {
        let mut is_begun = false;
        for item in items.into_iter().flatten() {
            if !self.items.insert(item.clone()) {
                continue;
            }
            let heading = if is_begun { String::new() } else { format!("\n{heading}:\n") };
            let rest = Self::HEADING.len() + Self::left_out(usize::MAX).len();
            if rest + self.text.len() + heading.len() + item.len() > self.bytes_max {
                self.left_out += 1;
                continue;
            }
            self.text.extend([heading, item]);
            is_begun = true;
        }
    }

    fn left_out(count: usize) -> String {
        format!("\n{count} more did not fit.\n")
    }

    fn finish(self) -> String {
        if self.text.is_empty() {
            return self.text;
        }
        let left_out =
            if self.left_out > 0 { Self::left_out(self.left_out) } else { String::new() };
        [Self::HEADING, &self.text, &left_out].concat()
    }
}

fn task_item(task: &PendingTask) -> String {
    let status = match task.status {
        TaskStatus::Pending => "",
        TaskStatus::InProgress => " (in progress)",
        TaskStatus::Blocked => " (blocked)",
    };
    let mut text = item(&format!("-{status}"), &task.description);
    let steps = [("  - [x]", &task.done_steps), ("  - [ ]", &task.remaining_steps)];
    for (mark, steps) in steps {
        text.extend(steps.iter().map(|step| item(mark, step)));
    }
    if let Some(acceptance) = &task.acceptance {
        text.push_str(&item("  - done if", acceptance));
    }
    text
}

/// Returns an item of a list. Further lines are indented below it.
fn item(mark: &str, text: &str) -> String {
    let indent = " ".repeat(mark.len() - mark.trim_start().len() + 2);
    format!("{mark} {}\n", text.replace('\n', &format!("\n{indent}")))
}
