//! A synthetic session with an agent: random words, and real code as the results of its tools.

use lcp_testkit::SplitMix64;
use lcp_types::{Annotation, Block, Priority, Role, Status, Tag};

use crate::harness::Result;
use crate::registry::{crates, is_code, named};

/// Crates whose files the tools read.
const READ: &[&str] = &["proptest", "regex-automata", "serde_json", "syn", "tokio", "zerocopy"];

/// The sizes of the smallest and the largest tool result, in bytes. The density falls with the
/// square.
const RESULT_BYTES: (usize, usize) = (3_400, 32_000);

/// A session whose turns append to one pack.
pub(crate) struct Session {
    /// The blocks of the pack after the last turn.
    pub(crate) blocks: Vec<Block<'static>>,
    pub(super) turns: Vec<Turn>,
}

/// The state of the pack after a turn.
pub(super) struct Turn {
    /// The number of blocks in the pack.
    pub(super) end: usize,
    /// The index of the user's message in this turn, and its text.
    pub(super) user: usize,
    pub(super) said: String,
}

impl Session {
    /// Creates a session, the same one on every machine that has the same crates.
    pub(crate) fn new(turns: usize) -> Result<Self> {
        let mut files = Vec::new();
        for found in named(&crates()?, READ)? {
            let of_crate = found.files(is_code)?.into_iter();
            files.extend(of_crate.map(|(path, text)| (format!("{}/{path}", found.name), text)));
        }
        let mut writer = Writer::new(&files);
        let system = writer.say(400, 400);
        writer.add(0, Block::conversation(Role::System, system));
        writer.tag(0, &Tag::from_key(Tag::PINNED));
        let turns = (1..=turns).map(|number| writer.turn(number)).collect();
        Ok(Self { blocks: writer.blocks, turns })
    }
}

/// Appends turns to a pack.
struct Writer<'f> {
    files: &'f [(String, String)],
    words: Vec<&'f str>,
    rng: SplitMix64,
    blocks: Vec<Block<'static>>,
    /// The indexes of the tool results so far, and of the other messages.
    results: Vec<usize>,
    said: Vec<usize>,
}

impl<'f> Writer<'f> {
    fn new(files: &'f [(String, String)]) -> Self {
        let texts = files.iter().map(|(_, text)| text.as_str());
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic()));
        let words = words.filter(|word| (2..12).contains(&word.len())).take(100_000).collect();
        let rng = SplitMix64::new(5);
        Self { files, words, rng, blocks: Vec::new(), results: Vec::new(), said: Vec::new() }
    }

    fn turn(&mut self, number: usize) -> Turn {
        let mut said = format!("Question {number}: {}", self.say(15, 120));
        if number.is_multiple_of(9) {
            let bytes = 300 + self.rng.below(3_000);
            said = format!("{said}\n\n{}", self.chunk(bytes).1);
        }
        let user = self.add(number, Block::conversation(Role::User, said.clone()));
        self.said.push(user);
        if number == 1 || number.is_multiple_of(80) {
            self.tag(user, &Tag::from_key(Tag::PINNED));
        } else if self.rng.below(10) == 0 {
            self.priority(user, Priority::High);
        }
        self.call(number);
        if self.rng.below(5) < 2 {
            let bytes = 400 + self.rng.below(1_200);
            let answer = format!("{}\n\n{}", self.say(30, 150), self.chunk(bytes).1);
            let answer = self.add(number, Block::conversation(Role::Assistant, answer));
            self.said.push(answer);
        }
        self.think_again(number);
        Turn { end: self.blocks.len(), user, said }
    }

    /// Appends a tool call and its result.
    fn call(&mut self, number: usize) {
        let id = format!("call_{number}");
        // One call in twenty repeats the previous result.
        let again = self.results.last().copied().filter(|_| self.rng.below(20) == 0);
        let (path, result) = if let Some(before) = again {
            ("the same".to_owned(), self.blocks[before].clone())
        } else {
            let (least, most) = RESULT_BYTES;
            let bytes = (least * 10_000 / (1 + self.rng.below(10_000))).min(most);
            let (path, text) = self.chunk(bytes);
            let lines = text.lines().count();
            let result = Block::tool_result("read_file", Status::Ok, text);
            let summary = format!("{lines} lines of {path}: {}", self.say(10, 30));
            let result = if self.rng.below(2) == 0 { result.with_summary(summary) } else { result };
            (path, result)
        };
        let call = format!("{}\nread_file({{\"path\": \"{path}\"}})", self.say(8, 60));
        let call = Block::conversation_with_call(Role::Assistant, call, id.clone());
        self.add(number, call);
        let result = self.add(number, result);
        self.tag(result, &Tag::new(Tag::TOOL_CALL_ID, id));
        match self.rng.below(20) {
            0..3 => self.priority(result, Priority::Low),
            3 => self.priority(result, Priority::Background),
            _ => {}
        }
        self.results.push(result);
    }

    /// Annotates old blocks: results get another priority or a summary, messages become critical.
    fn think_again(&mut self, number: usize) {
        let result = self.rng.choose(&self.results);
        if number.is_multiple_of(7) {
            let priorities = [Priority::Low, Priority::Low, Priority::Background, Priority::High];
            let priority = self.rng.choose(&priorities);
            self.priority(result, priority);
        }
        if number.is_multiple_of(10) {
            let summary = self.say(15, 40);
            self.blocks.push(Block::new(Annotation::summary(result as u64, summary)));
        }
        if number % 100 == 50 {
            let said = self.rng.choose(&self.said);
            self.priority(said, Priority::Critical);
        }
    }

    /// Appends a block and returns its index. Blocks of newer turns rank higher.
    fn add(&mut self, number: usize, block: Block<'static>) -> usize {
        let index = self.blocks.len();
        self.blocks.push(block);
        self.tag(index, &Tag::new(Tag::RANK, number.to_string()));
        index
    }

    fn tag(&mut self, target: usize, tag: &Tag<'_>) {
        self.blocks.push(Block::new(Annotation::tag(target as u64, tag)));
    }

    fn priority(&mut self, target: usize, priority: Priority) {
        self.blocks.push(Block::new(Annotation::priority(target as u64, priority)));
    }

    /// Returns between `least` and `most` random words.
    fn say(&mut self, least: usize, most: usize) -> String {
        let count = least + self.rng.below(most - least + 1);
        let words: Vec<_> = (0..count).map(|_| self.rng.choose(&self.words)).collect();
        words.join(" ")
    }

    /// Returns the path of a file, and about `bytes` bytes of whole lines from it, or the whole
    /// file.
    fn chunk(&mut self, bytes: usize) -> (String, String) {
        let (path, text) = &self.files[self.rng.below(self.files.len())];
        let start = self.rng.below(text.len().saturating_sub(bytes) + 1);
        let line = |from: usize| {
            let found = text.as_bytes()[from..].iter().position(|byte| *byte == b'\n');
            found.map_or(text.len(), |newline| from + newline + 1)
        };
        let start = if start == 0 { 0 } else { line(start) };
        let end = line((start + bytes).min(text.len()));
        (path.clone(), text[start..end].to_owned())
    }
}
