//! Checks that all that was removed can still be read, by comparing lines, independently of
//! `lcp-dedup`.

use std::collections::{BTreeMap, HashMap, HashSet};

use lcp_types::{Block, BlockContent, DuplicateKind, Replacement, Replacements};

/// What removals came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Blocks with this relation, and those of them in whose place nothing stands.
    pub covered: BTreeMap<DuplicateKind, (usize, usize)>,
    /// What is not as it must be: blocks, and why.
    pub wrong: Vec<(usize, &'static str)>,
}

impl Checked {
    /// Compares the blocks of a pack with `after`, which has a block for every one, with its current
    /// text; those of removed blocks don't matter.
    ///
    /// * Equal: the covering block has the same content.
    /// * Contained, overlapping, adjacent: each line is at its number in a remaining block of the
    ///   path, or in order in the covering block, or anywhere if several blocks share them.
    /// * Near: each line is in order in the covering block, or the diff restores the block.
    /// * Superseded: a newer block of the path or result of the tool remains, or is covered by the
    ///   same block.
    ///
    /// But for superseded blocks, no line is missing in all remaining texts. Of a removed block it is
    /// enough if this is so of another one with the same content and cover.
    #[must_use]
    pub fn new<'d>(
        before: &'d [Block<'d>],
        after: &'d [Block<'d>],
        duplicates: &'d Replacements,
    ) -> Self {
        let mut checked = Self::default();
        if before.len() != after.len() {
            checked.wrong.push((before.len(), "blocks are missing"));
            return checked;
        }
        let shown = Shown::new(before, after, duplicates);
        for (&index, covered) in &duplicates.covered {
            let (all, removed) = checked.covered.entry(covered.relation).or_default();
            *all += 1;
            *removed += usize::from(!covered.in_place);
            if let Err(why) = shown.check(index, covered) {
                checked.wrong.push((index, why));
            }
        }
        checked
    }

    /// How many blocks were removed, or are a line or a few changes now.
    #[must_use]
    pub fn all(&self) -> usize {
        self.covered.values().map(|(all, _)| all).sum()
    }

    /// How many of each relation, in words.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = self.covered.iter().map(|(relation, (all, removed))| match all - removed {
            0 => format!("{all} {relation}"),
            in_place => format!("{all} {relation} ({in_place} in place)"),
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// What is there to read.
struct Shown<'d> {
    before: &'d [Block<'d>],
    after: &'d [Block<'d>],
    duplicates: &'d Replacements,
    /// What a block covers.
    covers: HashMap<usize, Vec<usize>>,
    /// What stands at a line of a path.
    numbered: HashMap<(&'d str, u32), HashSet<&'d [u8]>>,
    /// Every line, wherever it stands.
    known: HashSet<&'d [u8]>,
}

impl<'d> Shown<'d> {
    fn new(before: &'d [Block<'d>], after: &'d [Block<'d>], duplicates: &'d Replacements) -> Self {
        let mut covers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (&index, covered) in &duplicates.covered {
            covers.entry(covered.by).or_default().push(index);
        }
        let (numbered, known) = (HashMap::new(), HashSet::new());
        let mut shown = Self { before, after, duplicates, covers, numbered, known };
        for (index, block) in after.iter().enumerate() {
            let Some(readable) = shown.readable(index) else { continue };
            shown.known.extend(lines(readable));
            if let BlockContent::Code(code) = &block.content {
                for (number, line) in (code.line_start.unwrap_or(1)..).zip(lines(readable)) {
                    shown.numbered.entry((&code.path, number)).or_default().insert(line);
                }
            }
        }
        shown
    }

    /// Returns the readable text in the place of a block: of changes, the text that they restore.
    fn readable(&self, index: usize) -> Option<&'d [u8]> {
        let covered = self.duplicates.covered.get(&index);
        match covered.map(|covered| (covered.relation, covered.in_place)) {
            None | Some((DuplicateKind::Overlapping, true)) => self.after.get(index).map(text),
            Some((DuplicateKind::Near, true)) => self.before.get(index).map(text),
            Some(_) => None,
        }
    }

    fn check(&self, index: usize, covered: &Replacement) -> Result<(), &'static str> {
        let by = covered.by;
        let kept = self.readable(by).filter(|_| by != index);
        let kept = kept.ok_or("what covers it is not there")?;
        if covered.relation == DuplicateKind::Superseded {
            return self.has_newer(index, by);
        }
        let checked = self.check_lines(index, covered, kept);
        if checked.is_err() && !covered.in_place && self.has_twin(index, by, kept) {
            return Ok(());
        }
        checked
    }

    fn check_lines(
        &self,
        index: usize,
        covered: &Replacement,
        kept: &[u8],
    ) -> Result<(), &'static str> {
        let block = &self.before[index];
        match covered.relation {
            DuplicateKind::Equal if !same_content(block, &self.before[covered.by]) => {
                return Err("is not equal");
            }
            DuplicateKind::Contained | DuplicateKind::Overlapping | DuplicateKind::Adjacent
                if !self.is_divided(index) && !in_order(self.not_at_their_numbers(block), kept) =>
            {
                return Err("a line does not stand where it stood");
            }
            DuplicateKind::Near if covered.in_place => {
                return restores(block, &self.after[index], kept);
            }
            DuplicateKind::Near if !in_order(lines(text(block)), kept) => {
                return Err("a line does not stand in order in the kept text");
            }
            _ => {}
        }
        let mut own = lines(text(block));
        if own.all(|line| self.known.contains(line)) { Ok(()) } else { Err("a line is lost") }
    }

    /// The lines that do not stand at their numbers in what is shown of the path.
    fn not_at_their_numbers<'b>(&self, block: &'b Block<'_>) -> impl Iterator<Item = &'b [u8]> {
        let (path, first) = match &block.content {
            BlockContent::Code(code) => (code.path.as_ref(), code.line_start.unwrap_or(1)),
            _ => ("", 1),
        };
        let numbered = (first..).zip(lines(text(block)));
        let not = move |(number, line): (u32, &'b [u8])| {
            let at = self.numbered.get(&(path, number));
            (!at.is_some_and(|at| at.contains(line))).then_some(line)
        };
        numbered.filter_map(not)
    }

    /// Whether its lines stand in several blocks.
    fn is_divided(&self, index: usize) -> bool {
        self.duplicates.shared.range((index, 0)..=(index, usize::MAX)).next().is_some()
    }

    /// Whether `by` covers another block with the same content that can be read.
    fn has_twin(&self, index: usize, by: usize, kept: &[u8]) -> bool {
        self.covers[&by].iter().any(|twin| {
            let covered = &self.duplicates.covered[twin];
            *twin != index
                && covered.relation != DuplicateKind::Superseded
                && same_content(&self.before[index], &self.before[*twin])
                && self.check_lines(*twin, covered, kept).is_ok()
        })
    }

    fn has_newer(&self, index: usize, by: usize) -> Result<(), &'static str> {
        let is_newer = |&other: &usize| other > index && is_same_thing(self.before, index, other);
        let found = is_newer(&by) || self.covers[&by].iter().any(is_newer);
        if found { Ok(()) } else { Err("nothing newer is there") }
    }
}

/// Whether these lines stand in a text, in this order.
fn in_order<'b>(mut wanted: impl Iterator<Item = &'b [u8]>, kept: &[u8]) -> bool {
    let mut kept = lines(kept);
    wanted.all(|line| kept.any(|other| other == line))
}

/// The block again, of the changes below the first line and the kept block.
fn restores(block: &Block<'_>, changes: &Block<'_>, kept: &[u8]) -> Result<(), &'static str> {
    let changes = text(changes);
    // A line alone refers to a text that has all of it.
    let Some(head) = changes.iter().position(|byte| *byte == b'\n') else {
        let right = in_order(lines(text(block)), kept);
        return if right { Ok(()) } else { Err("a line does not stand in order in the kept text") };
    };
    let restored = lcp_dedup::restore(kept, &changes[head + 1..]);
    match restored {
        Ok(restored) if restored == text(block) => Ok(()),
        Ok(_) => Err("the changes make another text"),
        Err(_) => Err("the changes do not apply"),
    }
}

/// Whether two blocks are of one path, or results of one tool.
fn is_same_thing(before: &[Block<'_>], old: usize, new: usize) -> bool {
    match (&before[old].content, &before[new].content) {
        (BlockContent::Code(old), BlockContent::Code(new)) => old.path == new.path,
        (BlockContent::Code(old), BlockContent::Diff(new)) => old.path == new.path,
        (BlockContent::ToolResult(old), BlockContent::ToolResult(new)) => {
            old.tool_name == new.tool_name
        }
        _ => false,
    }
}

/// Equal texts, a newline at the end aside; of blocks without text, all they hold.
fn same_content(one: &Block<'_>, other: &Block<'_>) -> bool {
    match (one.content.text(), other.content.text()) {
        (Some(_), Some(_)) => lines(text(one)).eq(lines(text(other))),
        _ => one.content == other.content,
    }
}

fn text<'b>(block: &'b Block<'_>) -> &'b [u8] {
    block.content.text().map_or(&[], |text| text.as_slice())
}

/// The lines of a text; a newline at its end begins none.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n')
}
