//! Made-up chunks of code as a search or a session with an agent gathers them.

use std::fmt::Write;

use lcp_testkit::SplitMix64;
use lcp_types::{Annotation, Block, Lang, Status, Tag};

use super::code::{self, File};

/// Lines of a chunk that is new: the least, and how many lengths there are.
const LINES: (u32, usize) = (12, 17);

/// What a chunk is to those that stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Lines that nothing else has.
    New,
    /// The text of another one, under another path or as the result of a search.
    Copy,
    /// The same with a few changes.
    Near,
    /// Not near, but with the head, the shape or half of the lines of another one.
    Alike,
    /// The same lines of the same file, read again.
    Again,
    /// The same lines of a file in which one of them was changed.
    Changed,
    /// Lines of the same file, some of which were read.
    Overlapping,
    /// The lines of the same file that come next.
    Adjacent,
    /// A part of the lines.
    Contained,
}

/// What a corpus is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Every chunk is a file of its own: half are new, a third copies or near.
    Texts,
    /// Ranges of files, too: two fifths overlap, touch or repeat. Half of the chunks have ranks.
    Session,
}

impl Mix {
    /// Out of a hundred chunks.
    const fn shares(self) -> &'static [(Kind, usize)] {
        match self {
            Self::Texts => {
                &[(Kind::New, 52), (Kind::Copy, 13), (Kind::Near, 20), (Kind::Alike, 15)]
            }
            Self::Session => &[
                (Kind::New, 34),
                (Kind::Copy, 8),
                (Kind::Near, 10),
                (Kind::Alike, 7),
                (Kind::Again, 8),
                (Kind::Changed, 5),
                (Kind::Overlapping, 12),
                (Kind::Adjacent, 8),
                (Kind::Contained, 8),
            ],
        }
    }

    fn kind(self, rng: &mut SplitMix64) -> Kind {
        let mut left = rng.below(100);
        for &(kind, share) in self.shares() {
            if left < share {
                return kind;
            }
            left -= share;
        }
        Kind::New
    }
}

/// Returns so many chunks, always the same, followed by the annotations that rank them.
#[must_use]
pub fn corpus(mix: Mix, chunks: usize) -> Vec<Block<'static>> {
    let rng = SplitMix64::new(chunks as u64);
    let mut maker = Maker { rng, files: Vec::new(), reads: Vec::new(), blocks: Vec::new() };
    for _ in 0..chunks {
        let kind = mix.kind(&mut maker.rng);
        maker.add(mix, kind);
    }
    let Maker { mut rng, mut blocks, .. } = maker;
    if mix == Mix::Session {
        for chunk in (0..chunks).step_by(2) {
            let rank = Tag::new(Tag::RANK, rng.below(1_000).to_string());
            blocks.push(Block::new(Annotation::tag(chunk as u64, &rank)));
        }
    }
    blocks
}

/// Lines of a file that a chunk has.
#[derive(Clone, Copy)]
struct Read {
    file: usize,
    first: u32,
    last: u32,
}

struct Maker {
    rng: SplitMix64,
    files: Vec<File>,
    reads: Vec<Read>,
    blocks: Vec<Block<'static>>,
}

impl Maker {
    fn add(&mut self, mix: Mix, kind: Kind) {
        match kind {
            _ if self.blocks.is_empty() => self.add_new(mix),
            Kind::New => self.add_new(mix),
            Kind::Copy => self.add_text(mix, |base, _| base.to_owned()),
            Kind::Near => self.add_text(mix, near),
            Kind::Alike => self.add_text(mix, alike),
            _ if self.reads.is_empty() => self.add_new(mix),
            _ => self.read_more(kind),
        }
    }

    fn add_new(&mut self, mix: Mix) {
        let lines = LINES.0 + code::below(&mut self.rng, LINES.1);
        if mix == Mix::Texts {
            let seed = self.rng.next_u64();
            return self.add_file(File::new(seed).lines(1, lines));
        }
        self.files.push(File::new(self.rng.next_u64()));
        let first = 1 + code::below(&mut self.rng, 200);
        self.read(Read { file: self.files.len() - 1, first, last: first + lines - 1 });
    }

    /// Adds a variant of an earlier text, as a file of its own or as the result of a search.
    fn add_text(&mut self, mix: Mix, made: fn(&str, &mut SplitMix64) -> String) {
        let base = self.rng.below(self.blocks.len());
        let base = self.blocks[base].content.text().and_then(|text| text.as_str());
        let text = made(base.unwrap_or_default(), &mut self.rng);
        if mix == Mix::Session && self.rng.below(3) == 0 {
            return self.blocks.push(Block::tool_result("search", Status::Ok, text));
        }
        self.add_file(text);
    }

    fn add_file(&mut self, text: String) {
        let path = format!("found/{}.rs", self.blocks.len());
        self.blocks.push(Block::code(Lang::Rust, path, text));
    }

    /// Lines of a file that was read before.
    fn read_more(&mut self, kind: Kind) {
        let read = self.rng.choose(&self.reads);
        let Read { file, first, last } = read;
        let lines = last - first + 1;
        let some = 1 + code::below(&mut self.rng, (lines as usize / 2).max(1));
        let wanted = match kind {
            Kind::Changed => {
                let line = first + code::below(&mut self.rng, lines as usize);
                let seed = self.rng.next_u64();
                self.files[file].edit(line, seed);
                read
            }
            Kind::Overlapping => Read { file, first: first + some, last: last + some },
            Kind::Adjacent => Read { file, first: last + 1, last: last + lines },
            Kind::Contained => Read { file, first: first + some / 2, last: last - some / 2 },
            _ => read,
        };
        self.read(wanted);
    }

    fn read(&mut self, read: Read) {
        let Read { file, first, last } = read;
        let text = self.files[file].lines(first, last);
        let path = format!("src/{file}.rs");
        self.reads.push(read);
        self.blocks.push(Block::code_lines(Lang::Rust, path, text, first, last));
    }
}

/// Returns the text with a few changed, new or missing lines, other names, or spaces at line ends.
fn near(base: &str, rng: &mut SplitMix64) -> String {
    let mut lines: Vec<String> = base.lines().map(str::to_owned).collect();
    let few = 1 + rng.below(2);
    let change = rng.below(5);
    for _ in 0..few {
        let place = rng.below(lines.len());
        let seed = rng.next_u64();
        match change {
            0 => lines[place] = code::line(seed),
            1 => lines.insert(place, code::line(seed)),
            2 if lines.len() > 2 => drop(lines.remove(place)),
            3 => lines[place] = code::renamed(&lines[place], seed),
            // An editor that does this to every line leaves nothing to cover.
            _ if seed.is_multiple_of(10) => lines.iter_mut().for_each(|line| line.push(' ')),
            _ => lines[place].push(' '),
        }
    }
    joined(&lines)
}

/// Returns a text that is not near: other names and numbers, or half the same.
fn alike(base: &str, rng: &mut SplitMix64) -> String {
    let seed = rng.next_u64();
    let lines: Vec<&str> = base.lines().collect();
    match rng.below(4) {
        0 => code::licence(rng.below(3)) + &File::new(seed).lines(1, 14),
        1 => joined(&lines.iter().map(|line| code::renamed(line, seed)).collect::<Vec<_>>()),
        2 => (0..lines.len()).fold(String::new(), |mut table, row| {
            let of = code::below(&mut SplitMix64::new(seed ^ row as u64), 10_000);
            let _ = writeln!(table, "    (\"row {row}\", {of}, 0x{:04x}),", of * 7);
            table
        }),
        _ => {
            let half = lines.len() / 2;
            let rest = File::new(seed).lines(1, code::below(rng, half + 1) + 4);
            joined(&lines[..half]) + &rest
        }
    }
}

fn joined(lines: &[impl AsRef<str>]) -> String {
    lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}
