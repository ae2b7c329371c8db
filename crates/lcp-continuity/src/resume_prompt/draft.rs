//! The blocks of a directive. Selected content is shown in full and pinned. The rest of each part
//! forms one block, which gets the remaining budget or is only counted.

use lcp_types::{Annotation, Block, CarriedLevel, FormatHint, Priority, Tag, category};

use super::blocks::{counted, intent_block, lines, push_steps, summary_block};
use super::parts::{Parts, Section, Selection};
use super::quoting::{push_item, truncate_inline};
use super::styles::{self, ShownTask};
use crate::model::DirectiveStyle;

/// The length in characters of an excerpt that names a message or task.
const LINE_CHARS: usize = 60;

/// A part of the directive.
struct Part {
    /// The name in warnings.
    name: &'static str,
    priority: Priority,
    /// The rank within its priority. Parts with low priority are omitted first.
    rank: &'static str,
    /// The section of a conversation (CBS).
    category: &'static str,
}

const INTRO: Part = Part {
    name: "the introduction",
    priority: Priority::Normal,
    rank: "5",
    category: category::SCAFFOLDING_REMINDER,
};
const ANCHORS: Part =
    Part { name: "anchors", priority: Priority::Normal, rank: "4", category: category::MEMORY };
const TASKS: Part = Part {
    name: "tasks",
    priority: Priority::Normal,
    rank: "3",
    category: category::WORKING_STATE,
};
const INTENT: Part = Part {
    name: "the user's intent",
    priority: Priority::Normal,
    rank: "2",
    category: category::GOAL,
};
const ACTIONS: Part = Part {
    name: "the immediate actions",
    priority: Priority::Normal,
    rank: "1",
    category: category::SCAFFOLDING_REMINDER,
};
const SUMMARY: Part = Part {
    name: "the summary",
    priority: Priority::Low,
    rank: "3",
    category: category::CONVERSATION_SUMMARY,
};
const MESSAGES: Part = Part {
    name: "recent messages",
    priority: Priority::Low,
    rank: "2",
    category: category::RECENT_MESSAGES,
};
const STATE: Part = Part {
    name: "the session's state",
    priority: Priority::Low,
    rank: "1",
    category: category::WORKING_STATE,
};

/// The blocks of a directive, and the names of those that may be shortened or omitted.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) blocks: Vec<Block<'static>>,
    /// The index and name of each block that is not pinned.
    pub(super) unpinned: Vec<(usize, String)>,
}

impl Draft {
    pub(super) fn new(parts: &Parts<'_>, selections: &[Selection], style: DirectiveStyle) -> Self {
        let picked = SelectedParts::new(parts, selections);
        let has = |section| picked.full_sections.contains(&&section);
        let mut draft = Self::default();
        draft.add(&INTRO, styles::intro(style, parts.handoff), has(Section::Intro));
        if let Some(intent) = parts.intent() {
            draft.add(&INTENT, intent_block(intent), has(Section::Intent));
        }
        if !parts.actions.is_empty() {
            draft.add(&ACTIONS, styles::actions(style, &parts.actions), has(Section::Actions));
        }
        draft.anchors(parts, &picked, style);
        draft.tasks(parts, &picked, style);
        draft.summary(parts, has(Section::Summary));
        if let Some(state) = parts.state() {
            draft.add(&STATE, styles::state(style, state), has(Section::State));
        }
        draft.messages(parts, &picked);
        draft
    }

    /// Adds a block and returns its index.
    fn add(&mut self, part: &Part, block: Block<'static>, picked: bool) -> u64 {
        let at = self.blocks.len();
        let index = at as u64;
        if !picked {
            self.unpinned.push((at, part.name.to_owned()));
        }
        self.blocks.push(block);
        let mut annotate =
            |annotation: Annotation<'static>| self.blocks.push(Block::new(annotation));
        annotate(Annotation::tag(index, &Tag::new(Tag::CATEGORY, part.category)));
        if picked {
            annotate(Annotation::tag(index, &Tag::from_key(Tag::PINNED)));
        } else {
            if part.priority == Priority::Low {
                annotate(Annotation::priority(index, Priority::Low));
            }
            annotate(Annotation::tag(index, &Tag::new(Tag::RANK, part.rank)));
        }
        index
    }

    /// Adds a block with the unselected rest of a part, under the name `name`.
    fn add_rest(&mut self, part: &Part, block: Block<'static>, name: String) {
        self.add(part, block, false);
        if let Some((_, of)) = self.unpinned.last_mut() {
            *of = name;
        }
    }

    fn anchors(&mut self, parts: &Parts<'_>, picked: &SelectedParts<'_>, style: DirectiveStyle) {
        let of = |is: bool| {
            let all = parts.anchors.iter().zip(&picked.anchors);
            all.filter(move |(_, picked)| **picked == is).map(|(anchor, _)| *anchor)
        };
        for block in styles::anchors(style, &of(true).collect::<Vec<_>>()) {
            self.add(&ANCHORS, block, true);
        }
        let mut left = String::new();
        for anchor in of(false) {
            push_item(&mut left, &format!("- {}:", anchor.kind.title()), &anchor.text);
        }
        if !left.is_empty() {
            let block = Block::document("anchors", lines(left), FormatHint::Plain);
            self.add_rest(&ANCHORS, block, counted(of(false).count(), "anchor"));
        }
    }

    fn tasks(&mut self, parts: &Parts<'_>, picked: &SelectedParts<'_>, style: DirectiveStyle) {
        let all = || parts.tasks.iter().zip(&picked.tasks);
        let shown: Vec<_> = all()
            .filter(|(_, selection)| **selection != Selection::Omitted)
            .map(|(task, selection)| ShownTask { task, with_done: *selection == Selection::Full })
            .collect();
        for block in styles::tasks(style, &shown) {
            self.add(&TASKS, block, true);
        }
        let (mut left, mut names) = (String::new(), Vec::new());
        for (task, _) in all().filter(|(_, selection)| **selection == Selection::Omitted) {
            names.push(format!("task \"{}\"", truncate_inline(&task.description, LINE_CHARS)));
            push_item(&mut left, "task:", &task.description);
            push_steps(&mut left, task, true);
        }
        if !left.is_empty() {
            let block = Block::document("tasks", lines(left), FormatHint::Markdown);
            self.add_rest(&TASKS, block, names.join(", "));
        }
    }

    /// Adds the summary with its shorter levels: those of the hand-off, or else abridged ones.
    fn summary(&mut self, parts: &Parts<'_>, picked: bool) {
        let handoff = parts.handoff;
        if handoff.summary.is_empty() {
            return;
        }
        let forms = if picked { None } else { abridge(&handoff.summary) };
        let (detailed, brief, tags) = match forms {
            Some(forms) => (Some(forms.detailed), Some(forms.brief), Some(forms.tags)),
            None => (None, None, None),
        };
        let brief = handoff.summary_brief.clone().or(brief);
        let block = summary_block(&handoff.summary, brief.as_deref());
        let index = self.add(&SUMMARY, block, picked);
        let tags = handoff.summary_tags.clone().or(tags);
        for (level, text) in [(CarriedLevel::Detailed, detailed), (CarriedLevel::Tags, tags)] {
            self.blocks.extend(text.map(|text| Block::new(level.to_extension(index, &text))));
        }
    }

    fn messages(&mut self, parts: &Parts<'_>, picked: &SelectedParts<'_>) {
        let (mut left, mut brief, mut count) = (String::new(), String::new(), 0);
        let all = || parts.messages.iter().zip(&picked.messages);
        for (recorded, _) in all().filter(|(_, picked)| !**picked) {
            let text = recorded.message.text();
            let mark = format!("{}:", recorded.message.role());
            count += 1;
            push_item(&mut left, &mark, &text);
            push_item(&mut brief, &mark, &truncate_inline(&text, LINE_CHARS));
        }
        if !left.is_empty() {
            let block = Block::document("earlier messages", lines(left), FormatHint::Plain);
            let name = format!("{count} of {} {}", parts.messages.len(), MESSAGES.name);
            self.add_rest(&MESSAGES, block.with_summary(lines(brief)), name);
        }
        for (recorded, _) in all().filter(|(_, picked)| **picked) {
            let index = self.add(&MESSAGES, recorded.message.block.clone(), true);
            if let Some(call) = recorded.message.answers().filter(|call| !call.is_empty()) {
                let tag = Tag::new(Tag::TOOL_CALL_ID, call);
                self.blocks.push(Block::new(Annotation::tag(index, &tag)));
            }
        }
    }
}

struct SelectedParts<'p> {
    anchors: Vec<bool>,
    tasks: Vec<Selection>,
    messages: Vec<bool>,
    full_sections: Vec<&'p Section>,
}

impl<'p> SelectedParts<'p> {
    fn new(parts: &'p Parts<'_>, selections: &[Selection]) -> Self {
        let mut picked = Self {
            anchors: vec![false; parts.anchors.len()],
            tasks: vec![Selection::Omitted; parts.tasks.len()],
            messages: vec![false; parts.messages.len()],
            full_sections: Vec::new(),
        };
        for (section, selection) in parts.sections.iter().zip(selections) {
            let is_full = *selection == Selection::Full;
            match section {
                Section::Anchor(at) => picked.anchors[*at] = is_full,
                Section::Task(at) => picked.tasks[*at] = *selection,
                Section::Messages(of) => of.iter().for_each(|at| picked.messages[*at] = is_full),
                _ if is_full => picked.full_sections.push(section),
                _ => {}
            }
        }
        picked
    }
}

const MIDDLE: &str = "[…]";
/// The minimum number of parts in a text that can be abridged.
const PARTS_MIN: usize = 4;
const TAGS_CHARS: usize = 80;

/// The shorter forms of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Abridged {
    /// Half of the parts.
    pub(super) detailed: String,
    /// A quarter of the parts.
    pub(super) brief: String,
    /// The beginning of the text.
    pub(super) tags: String,
}

/// Returns the shorter forms of `text`, or `None` if it is too short for them.
pub(super) fn abridge(text: &str) -> Option<Abridged> {
    let lines = |text: &str| part_ends(text, |c, _| c == '\n');
    let sentences = |text: &str| {
        part_ends(text, |c, next| next.is_whitespace() && matches!(c, '.' | '!' | '?') || c == '\n')
    };
    let words = |text: &str| part_ends(text, |c, next| c.is_whitespace() && !next.is_whitespace());
    let ends = [lines(text), sentences(text), words(text)]
        .into_iter()
        .find(|ends| ends.len() + 1 >= PARTS_MIN)?;
    let parts = ends.len() + 1;
    let detailed = keep_ends(text, &ends, parts.div_ceil(2));
    let brief = keep_ends(text, &ends, parts.div_ceil(4));
    Some(Abridged { detailed, brief, tags: truncate_inline(text.trim_start(), TAGS_CHARS) })
}

/// Returns the byte offsets after each part except the last.
fn part_ends(text: &str, is_end: impl Fn(char, char) -> bool) -> Vec<usize> {
    let next = text.chars().skip(1);
    let pairs = text.char_indices().zip(next);
    pairs.filter(|((_, c), next)| is_end(*c, *next)).map(|((at, c), _)| at + c.len_utf8()).collect()
}

/// Returns the first and the last half of `keep` parts. If `keep` is odd, the first half is larger.
fn keep_ends(text: &str, ends: &[usize], keep: usize) -> String {
    let (head, tail) = (keep.div_ceil(2), keep / 2);
    let head = ends.get(head.saturating_sub(1)).map_or(text, |end| &text[..*end]);
    let tail = ends.len().checked_sub(tail).and_then(|at| ends.get(at));
    let tail = tail.map_or("", |start| &text[*start..]);
    let parts = [head.trim_end(), MIDDLE, tail.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
