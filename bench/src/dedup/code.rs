//! Lines that look like code, made of a seed; some are those that any code has.

use lcp_testkit::SplitMix64;

const SYLLABLES: [&str; 40] = [
    "re", "con", "ta", "ser", "lo", "pa", "de", "mi", "no", "va", "ru", "ti", "me", "co", "la",
    "si", "ba", "ge", "no", "ra", "su", "pe", "ma", "to", "fi", "ce", "do", "li", "ka", "mo", "ne",
    "pi", "sa", "te", "vo", "wa", "xi", "yu", "ze", "qua",
];

/// Lines that any code has, the commonest first.
const COMMON: [&str; 16] = [
    "    }", "}", "", "        }", "    Ok(())", "    } else {", "        return None;",
    "            }", "    });", "    #[must_use]", "    /// # Errors", "    ///", "use std::fmt;",
    "        continue;", "        _ => {}", "#[cfg(test)]",
];

/// Words that renaming leaves.
const KEYWORDS: [&str; 10] =
    ["pub", "let", "self", "return", "for", "push", "Error", "Some", "const", "else"];

/// Out of a hundred lines, those that any code has.
const COMMON_SHARE: usize = 22;

/// A number below `end`, which fits.
pub(super) fn below(rng: &mut SplitMix64, end: usize) -> u32 {
    u32::try_from(rng.below(end)).unwrap_or_default()
}

/// A file of any length: only its seed and its edits are stored.
pub(super) struct File {
    seed: u64,
    /// Lines, and the seeds of what they are now.
    edits: Vec<(u32, u64)>,
}

impl File {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed, edits: Vec::new() }
    }

    pub(super) fn edit(&mut self, line: u32, seed: u64) {
        self.edits.push((line, seed));
    }

    /// The text of these lines, counted from 1, the last one included.
    pub(super) fn lines(&self, first: u32, last: u32) -> String {
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

/// One line.
pub(super) fn line(seed: u64) -> String {
    let mut line = String::new();
    push_line(&mut line, &mut SplitMix64::new(seed), false);
    line
}

/// The head of a file under one of three licences.
pub(super) fn licence(number: usize) -> String {
    let name = ["MIT", "Apache-2.0", "BSD-3-Clause"][number % 3];
    format!(
        "// Copyright the authors of this work. All rights reserved.\n\
         // Licensed under the terms of {name}, which the file LICENSE has.\n\
         // You may not use this file but in compliance with {name}.\n\
         // It is distributed on an \"as is\" basis,\n\
         // without warranties or conditions of any kind ({name}).\n\n"
    )
}

/// The line with other names and numbers, the same ones for the same seed.
pub(super) fn renamed(line: &str, seed: u64) -> String {
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

/// Pushes the template with a word for each lone `a`, a name for `A`, a number for `0`.
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
