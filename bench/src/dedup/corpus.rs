//! Chunks of code as a search or a session with an agent collects them: generated chunks, and real
//! ones from the sources of this workspace's dependencies.
//!
//! Generated lines depend on a seed and look like code. Some are lines that any code has.

use std::fmt::Write;

use lcp_testkit::SplitMix64;
use lcp_types::{Annotation, Block, Lang, Status, Tag};

use crate::harness::Result;
use crate::registry::{crates, is_code, lang};

const SYLLABLES: [&str; 40] = [
    "re", "con", "ta", "ser", "lo", "pa", "de", "mi", "no", "va", "ru", "ti", "me", "co", "la",
    "si", "ba", "ge", "no", "ra", "su", "pe", "ma", "to", "fi", "ce", "do", "li", "ka", "mo", "ne",
    "pi", "sa", "te", "vo", "wa", "xi", "yu", "ze", "qua",
];

/// Lines that any code has, the most common ones first.
const COMMON: [&str; 16] = [
    "    }", "}", "", "        }", "    Ok(())", "    } else {", "        return None;",
    "            }", "    });", "    #[must_use]", "    /// # Errors", "    ///", "use std::fmt;",
    "        continue;", "        _ => {}", "#[cfg(test)]",
];

/// Words that renaming does not change.
const KEYWORDS: [&str; 10] =
    ["pub", "let", "self", "return", "for", "push", "Error", "Some", "const", "else"];

/// The percentage of lines that any code has.
const COMMON_SHARE: usize = 22;

/// The least number of lines of a new chunk, and the number of possible lengths.
const LINES: (u32, usize) = (12, 17);

/// The relation of a chunk to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// New lines.
    New,
    /// The text of an earlier chunk, under another path or as the result of a search.
    Copy,
    /// The text of an earlier chunk with a few changes.
    Near,
    /// A text that is not near, but has a licence header, or the shape or half of the lines of an
    /// earlier chunk.
    Alike,
    /// The lines of an earlier read, read a second time.
    Again,
    /// The lines of an earlier read, after one of them was changed.
    Changed,
    /// Lines of the same file that overlap an earlier read.
    Overlapping,
    /// The lines of the same file that follow an earlier read.
    Adjacent,
    /// A part of the lines of an earlier read.
    Contained,
}

/// The composition of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Every chunk is a separate file. Half of them are new, a third are copies or near-duplicates.
    Texts,
    /// Chunks are also ranges of files. Two fifths of all repeat, overlap or touch an earlier read.
    /// Half of the chunks have ranks.
    Session,
}

impl Mix {
    /// Returns the percentage of chunks of each kind.
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

/// Returns `chunks` chunks, followed by the annotations that rank them. The result is always the
/// same.
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

/// The lines of a file in a chunk, counted from 1, with the last one included.
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
        let lines = LINES.0 + below(&mut self.rng, LINES.1);
        if mix == Mix::Texts {
            let seed = self.rng.next_u64();
            return self.add_file(File::new(seed).lines(1, lines));
        }
        self.files.push(File::new(self.rng.next_u64()));
        let first = 1 + below(&mut self.rng, 200);
        self.read(Read { file: self.files.len() - 1, first, last: first + lines - 1 });
    }

    /// Adds a variant of an earlier text, as a separate file or as the result of a search.
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

    /// Adds lines of a file that was read before.
    fn read_more(&mut self, kind: Kind) {
        let read = self.rng.choose(&self.reads);
        let Read { file, first, last } = read;
        let lines = last - first + 1;
        let some = 1 + below(&mut self.rng, (lines as usize / 2).max(1));
        let wanted = match kind {
            Kind::Changed => {
                let line = first + below(&mut self.rng, lines as usize);
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
            0 => lines[place] = line(seed),
            1 => lines.insert(place, line(seed)),
            2 if lines.len() > 2 => drop(lines.remove(place)),
            3 => lines[place] = renamed(&lines[place], seed),
            // Changing every line is rare, because nothing can be covered then.
            _ if seed.is_multiple_of(10) => lines.iter_mut().for_each(|line| line.push(' ')),
            _ => lines[place].push(' '),
        }
    }
    joined(&lines)
}

/// Returns a text that is similar but not near: with a common licence header, with other names and
/// numbers, as a table with as many lines, or with half of the lines.
fn alike(base: &str, rng: &mut SplitMix64) -> String {
    let seed = rng.next_u64();
    let lines: Vec<&str> = base.lines().collect();
    match rng.below(4) {
        0 => licence(rng.below(3)) + &File::new(seed).lines(1, 14),
        1 => joined(&lines.iter().map(|line| renamed(line, seed)).collect::<Vec<_>>()),
        2 => (0..lines.len()).fold(String::new(), |mut table, row| {
            let of = below(&mut SplitMix64::new(seed ^ row as u64), 10_000);
            let _ = writeln!(table, "    (\"row {row}\", {of}, 0x{:04x}),", of * 7);
            table
        }),
        _ => {
            let half = lines.len() / 2;
            let rest = File::new(seed).lines(1, below(rng, half + 1) + 4);
            joined(&lines[..half]) + &rest
        }
    }
}

fn joined(lines: &[impl AsRef<str>]) -> String {
    lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}

/// Returns a random number below `end`, which must fit into 32 bits.
fn below(rng: &mut SplitMix64, end: usize) -> u32 {
    u32::try_from(rng.below(end)).unwrap_or_default()
}

/// A file of any length. Only its seed and its edits are stored.
struct File {
    seed: u64,
    /// The numbers of edited lines, each with the seed of its new text.
    edits: Vec<(u32, u64)>,
}

impl File {
    const fn new(seed: u64) -> Self {
        Self { seed, edits: Vec::new() }
    }

    fn edit(&mut self, line: u32, seed: u64) {
        self.edits.push((line, seed));
    }

    /// Returns the lines from `first` to `last`, counted from 1, with the last one included.
    fn lines(&self, first: u32, last: u32) -> String {
        let mut text = String::with_capacity(40 * (last - first + 1) as usize);
        for number in first..=last {
            let edited = self.edits.iter().rev().find(|(line, _)| *line == number);
            let place = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let seed = edited.map_or(self.seed ^ place, |(_, seed)| *seed);
            push_line(&mut text, &mut SplitMix64::new(seed), number % 20 == 1);
            text.push('\n');
        }
        text
    }
}

/// Returns the line of a seed.
fn line(seed: u64) -> String {
    let mut line = String::new();
    push_line(&mut line, &mut SplitMix64::new(seed), false);
    line
}

/// Returns the header of a file under one of three licences.
fn licence(number: usize) -> String {
    let name = ["MIT", "Apache-2.0", "BSD-3-Clause"][number % 3];
    format!(
        "// Copyright the authors of this work. All rights reserved.\n\
         // Licensed under the terms of {name}, which the file LICENSE has.\n\
         // You may not use this file but in compliance with {name}.\n\
         // It is distributed on an \"as is\" basis,\n\
         // without warranties or conditions of any kind ({name}).\n\n"
    )
}

/// Returns the line with other names and numbers, the same ones for the same seed.
fn renamed(line: &str, seed: u64) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut word = String::new();
    for c in line.chars().chain(std::iter::once('\n')) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        if word.len() < 3 && !word.starts_with(|c: char| c.is_ascii_digit())
            || KEYWORDS.contains(&word.as_str())
        {
            out.push_str(&word);
        } else if !word.is_empty() {
            let hash = word.bytes().fold(seed, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
            });
            let rng = &mut SplitMix64::new(hash);
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                out.push_str(&rng.below(10_000).to_string());
            } else {
                push_word(&mut out, rng, word.starts_with(|c: char| c.is_ascii_uppercase()));
            }
        }
        word.clear();
        if c != '\n' {
            out.push(c);
        }
    }
    out
}

fn push_line(out: &mut String, rng: &mut SplitMix64, opens: bool) {
    if opens {
        return fill(out, rng, "pub fn a_a(a: &A, a: usize) -> A {");
    }
    if rng.below(100) < COMMON_SHARE {
        let most = 1 + rng.below(COMMON.len());
        return out.push_str(COMMON[rng.below(most)]);
    }
    let template = rng.choose(&[
        "    let a_a = a.a(a, a.a);", "        if a.a_a > 0 {", "    self.a_a.push(a(a, 0));",
        "        return Err(Error::A(a_a));", "    /// a a a a a.", "    a_a: A<A>,",
        "    for a in a_a.a() {", "        A::A => a_a(a, 0),",
        "    assert_eq!(a.a(0), Some(a_a));", "const A: usize = 0 * a::A;",
    ]);
    fill(out, rng, template);
}

/// Appends the template, with each single `a` replaced by a word, `A` by a capitalized word, and
/// `0` by a number.
fn fill(out: &mut String, rng: &mut SplitMix64, template: &str) {
    let bytes = template.as_bytes();
    for (place, c) in template.char_indices() {
        let near = [place.checked_sub(1), Some(place + 1)];
        let mut near = near.into_iter().flatten().filter_map(|place| bytes.get(place));
        let alone = !near.any(u8::is_ascii_alphanumeric);
        match c {
            'a' | 'A' if alone => push_word(out, rng, c == 'A'),
            '0' if alone => out.push_str(&rng.below(1_000).to_string()),
            c => out.push(c),
        }
    }
}

fn push_word(out: &mut String, rng: &mut SplitMix64, capital: bool) {
    let start = out.len();
    for _ in 0..2 + rng.below(2) {
        let syllable = rng.choose(&SYLLABLES);
        out.push_str(syllable);
    }
    if capital && let Some(first) = out.get_mut(start..=start) {
        first.make_ascii_uppercase();
    }
}

/// The number of lines of a range, and of lines between the beginnings of two ranges.
const RANGE: usize = 60;
const STEP: usize = 45;

/// Returns chunks of every `one_in`th file of each crate: whole files, overlapping ranges, or both.
///
/// # Errors
///
/// Returns an error if the sources cannot be read.
pub fn real_chunks(one_in: usize) -> Result<Vec<Block<'static>>> {
    let rng = &mut SplitMix64::new(6);
    let mut chunks = Vec::new();
    for (number, found) in crates()?.iter().enumerate() {
        for (path, text) in found.files(is_code)?.into_iter().step_by(one_in) {
            let lang = lang(&path);
            // The number separates two versions of a crate.
            let path = format!("{}.{number}/{path}", found.name);
            let ways = rng.below(3);
            if ways != 0 {
                chunks.extend(ranges(lang, &path, &text));
            }
            if ways != 1 {
                chunks.push(Block::code(lang, path, text));
            }
        }
    }
    Ok(chunks)
}

fn ranges(lang: Lang, path: &str, text: &str) -> Vec<Block<'static>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let starts = (0..lines.len()).step_by(STEP);
    let ranges = starts.map(|start| {
        let end = (start + RANGE).min(lines.len());
        let text = lines[start..end].concat();
        Block::code_lines(lang, path.to_owned(), text, number(start + 1), number(end))
    });
    ranges.collect()
}
