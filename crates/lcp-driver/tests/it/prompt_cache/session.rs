//! Random sessions: a pack that grows, shrinks and gets annotations, turn by turn.

use lcp_driver::budget::TokenEstimator;
use lcp_driver::prompt_cache::Watermarks;
use lcp_driver::{DefaultDriver, DriverConfig, Verbosity};
use lcp_tokens::{CodeAwareEstimator, HeuristicEstimator};
use lcp_types::{Annotation, Block, BlockType, CarriedLevel, Priority, Role, Status, Tag};
use proptest::prelude::*;

use crate::packs::{CATEGORIES, O200K, any_block, any_config, any_text};

/// A tokenizer: an exact and additive one, or one that is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Estimator {
    O200k,
    Heuristic,
    CodeAware,
}

impl Estimator {
    pub(super) fn driver(self) -> DefaultDriver {
        match self {
            Self::O200k => DefaultDriver::new(O200K),
            Self::Heuristic => DefaultDriver::new(HeuristicEstimator),
            Self::CodeAware => DefaultDriver::new(CodeAwareEstimator),
        }
    }

    pub(super) fn count(self, text: &str) -> u32 {
        match self {
            Self::O200k => O200K.estimate(text),
            Self::Heuristic => HeuristicEstimator.estimate(text),
            Self::CodeAware => CodeAwareEstimator.estimate(text),
        }
    }
}

/// A property of a block in a pack.
#[derive(Clone, Debug)]
pub(super) enum Note {
    Priority(Priority),
    Summary(String),
    Level(CarriedLevel, String),
    Tag(String),
}

impl Note {
    fn block(&self, target: u64) -> Block<'static> {
        match self {
            Self::Priority(priority) => Block::new(Annotation::priority(target, *priority)),
            Self::Summary(text) => Block::new(Annotation::summary(target, text.clone())),
            Self::Level(level, text) => Block::new(level.to_extension(target, text)),
            Self::Tag(tag) => Block::new(Annotation::tag(target, &Tag::parse(tag))),
        }
    }
}

/// A change to a pack between turns. Positions are taken modulo the number of entries.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Inserts a new block, at the end if no position is given.
    Insert {
        at: Option<usize>,
        block: Block<'static>,
        notes: Vec<Note>,
    },
    /// Inserts a copy of a block.
    Again {
        which: usize,
        at: usize,
    },
    Note {
        which: usize,
        note: Note,
        at_end: bool,
    },
    Remove {
        which: usize,
    },
}

/// A pack as its caller sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pack {
    entries: Vec<(Block<'static>, Vec<Note>)>,
    /// Annotations at the end, each with the number of its entry.
    at_end: Vec<(usize, Note)>,
}

impl Pack {
    pub(super) fn apply(&mut self, ops: &[Op]) {
        for op in ops {
            self.apply_one(op);
        }
    }

    fn apply_one(&mut self, op: &Op) {
        let len = self.entries.len();
        match op {
            Op::Insert { at, block, notes } => {
                let at = at.map_or(len, |at| at % (len + 1));
                self.insert(at, (block.clone(), notes.clone()));
            }
            _ if len == 0 => {}
            Op::Again { which, at } => {
                let block = self.entries[which % len].0.clone();
                self.insert(at % (len + 1), (block, Vec::new()));
            }
            Op::Note { which, note, at_end: true } => {
                self.at_end.push((which % len, note.clone()));
            }
            Op::Note { which, note, at_end: false } => {
                self.entries[which % len].1.push(note.clone());
            }
            Op::Remove { which } => {
                let which = which % len;
                self.entries.remove(which);
                self.at_end.retain(|(of, _)| *of != which);
                for (of, _) in &mut self.at_end {
                    *of -= usize::from(*of > which);
                }
            }
        }
    }

    fn insert(&mut self, at: usize, entry: (Block<'static>, Vec<Note>)) {
        self.entries.insert(at, entry);
        for (of, _) in &mut self.at_end {
            *of += usize::from(*of >= at);
        }
    }

    /// Returns the blocks. Annotations follow their blocks or are at the end.
    pub(super) fn blocks(&self) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        let mut indices = Vec::new();
        for (block, notes) in &self.entries {
            let index = blocks.len() as u64;
            indices.push(index);
            blocks.push(block.clone());
            blocks.extend(notes.iter().map(|note| note.block(index)));
        }
        blocks.extend(self.at_end.iter().map(|(of, note)| note.block(indices[*of])));
        blocks
    }
}

/// The settings of a turn.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) config: DriverConfig,
    pub(super) watermarks: Watermarks,
    budget: Budget,
}

#[derive(Clone, Copy, Debug)]
enum Budget {
    Tokens(u32),
    /// A percentage of the largest pack of the session.
    Share(u32),
}

impl Settings {
    /// Returns the configuration with its budget. `whole` is the number of tokens of the largest
    /// pack in full.
    pub(super) fn config(&self, whole: u32) -> DriverConfig {
        let budget = match self.budget {
            Budget::Tokens(tokens) => tokens,
            Budget::Share(share) => whole * share / 100,
        };
        DriverConfig { token_budget: Some(budget), ..self.config.clone() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) estimator: Estimator,
    pub(super) settings: Settings,
    /// The changes before each turn, and the settings that apply from then on.
    pub(super) turns: Vec<(Vec<Op>, Option<Settings>)>,
}

impl Session {
    /// Returns the tokens of the largest pack of the session in full.
    pub(super) fn full_tokens(&self) -> u32 {
        let mut pack = Pack::default();
        let driver = self.estimator.driver();
        let config = DriverConfig { verbosity: Verbosity::Full, ..self.settings.config.clone() };
        let mut whole = 0;
        for (ops, _) in &self.turns {
            pack.apply(ops);
            whole = whole.max(driver.plan(&pack.blocks(), &config).unwrap().used_tokens);
        }
        whole
    }
}

fn any_note() -> impl Strategy<Value = Note> {
    let tag = prop_oneof![
        2 => Just("pinned".to_owned()),
        2 => (0u8..9).prop_map(|rank| format!("rank=0.{rank}")),
        2 => prop::sample::select(CATEGORIES).prop_map(|name| format!("category={name}")),
        2 => prop::sample::select(CALLS).prop_map(|call| format!("tool_call_id={call}")),
    ];
    prop_oneof![
        6 => prop::sample::select(&Priority::ALL[..]).prop_map(Note::Priority),
        2 => any_text().prop_map(Note::Summary),
        1 => (prop::sample::select(&CarriedLevel::ALL[..]), any_text())
            .prop_map(|(level, text)| Note::Level(level, text)),
        3 => tag.prop_map(Note::Tag),
    ]
}

const CALLS: &[&str] = &["call_1", "call_2"];

fn any_notes() -> impl Strategy<Value = Vec<Note>> {
    prop_oneof![
        3 => Just(Vec::new()),
        3 => any_note().prop_map(|note| vec![note]),
        1 => prop::collection::vec(any_note(), 2..4),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    let call = prop::sample::select(CALLS);
    let turn = |role| move |content: String| Block::conversation(role, content);
    let block = prop_oneof![
        6 => any_block(),
        2 => any_text().prop_map(turn(Role::User)),
        1 => (any_text(), call.clone()).prop_map(|(content, call)| {
            Block::conversation_with_call(Role::Assistant, content, call)
        }),
    ];
    let result = (any_text(), call, any_notes()).prop_map(|(content, call, mut notes)| {
        notes.push(Note::Tag(format!("tool_call_id={call}")));
        (Block::tool_result("grep", Status::Ok, content), notes)
    });
    let place = 0usize..1_000;
    // Most blocks are inserted at the end.
    let insert = |at| move |(block, notes)| Op::Insert { at, block, notes };
    let at = prop_oneof![5 => Just(None), 1 => place.clone().prop_map(Some)];
    let entry = prop_oneof![5 => (block, any_notes()), 1 => result];
    prop_oneof![
        8 => (entry, at).prop_map(move |(entry, at)| insert(at)(entry)),
        1 => (place.clone(), place.clone()).prop_map(|(which, at)| Op::Again { which, at }),
        4 => (place.clone(), any_note(), any::<bool>())
            .prop_map(|(which, note, at_end)| Op::Note { which, note, at_end }),
        1 => place.prop_map(|which| Op::Remove { which }),
    ]
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let marks = [(0.9, 0.7), (1.0, 0.99), (0.5, 0.1), (1.0, 0.5), (0.2, 0.01), (0.9, 0.000_1)];
    let marks = marks.map(|(high, low)| Watermarks::new(high, low).unwrap());
    let budget = prop_oneof![
        1 => (0u32..60).prop_map(Budget::Tokens),
        4 => (1u32..=60).prop_map(Budget::Share),
        2 => (60u32..=160).prop_map(Budget::Share),
    ];
    let types = vec![BlockType::Code, BlockType::Conversation, BlockType::ToolResult];
    let types = prop::option::weighted(0.1, Just(types));
    (any_config(), types, prop::sample::select(marks.to_vec()), budget).prop_map(
        |(config, types, watermarks, budget)| Settings {
            config: DriverConfig { types, ..config },
            watermarks,
            budget,
        },
    )
}

/// Generates changes of settings. The mode stays, because another one would only be refused.
fn other_settings() -> impl Strategy<Value = Option<Settings>> {
    prop::option::weighted(0.15, any_settings())
}

pub(super) fn any_session() -> impl Strategy<Value = Session> {
    use Estimator::{CodeAware, Heuristic, O200k};
    let estimator = prop::sample::select(&[O200k, O200k, Heuristic, CodeAware][..]);
    let first = prop::collection::vec(any_op(), 1..8);
    let turn = (prop::collection::vec(any_op(), 0..4), other_settings());
    let turns = prop::collection::vec(turn, 2..8);
    (estimator, any_settings(), first, turns).prop_map(|(estimator, settings, first, mut turns)| {
        turns.insert(0, (first, None));
        let mode = settings.config.mode;
        for (_, other) in &mut turns {
            if let Some(other) = other {
                other.config.mode = mode;
            }
        }
        Session { estimator, settings, turns }
    })
}
