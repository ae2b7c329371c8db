//! Checks that no removed content is lost, by comparing lines independently of `lcp-dedup`.

use std::collections::{BTreeMap, HashMap, HashSet};

use lcp_types::{Block, BlockContent, DuplicateKind, Replacement, Replacements};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// For each relation: the number of covered blocks, and how many of these left nothing in their
    /// place.
    pub covered: BTreeMap<DuplicateKind, (usize, usize)>,
    /// The blocks that fail the check, each with the reason.
    pub wrong: Vec<(usize, &'static str)>,
}

impl Checked {
    /// Compares the blocks of a pack with `after`, which has the current version of every block.
    /// Removed blocks in `after` are ignored. The condition for a covered block depends on its
    /// relation:
    ///
    /// * Equal: the covering block has the same content.
    /// * Contained, overlapping, adjacent: each line is at its line number in a remaining block of
    ///   the path, or in order in the covering block. If several blocks share the lines, their
    ///   places are not checked.
    /// * Near: each line is in order in the covering block, or the diff restores the block.
    /// * Superseded: a newer block of the path or result of the tool remains, or is covered by the
    ///   same block.
    ///
    /// Every line of a block that is not superseded must also be in a remaining text. A removed
    /// block also passes if another block with the same content and the same covering block passes.
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

    /// Returns the number of blocks that were removed, or replaced by a line or a few changes.
    #[must_use]
    pub fn all(&self) -> usize {
        self.covered.values().map(|(all, _)| all).sum()
    }

    /// Describes the number of blocks of each relation in words.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = self.covered.iter().map(|(relation, (all, removed))| match all - removed {
            0 => format!("{all} {relation}"),
            in_place => format!("{all} {relation} ({in_place} in place)"),
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// The content that can be read after deduplication.
struct Shown<'d> {
    before: &'d [Block<'d>],
    after: &'d [Block<'d>],
    duplicates: &'d Replacements,
    /// The blocks that each block covers.
    covers: HashMap<usize, Vec<usize>>,
    /// The lines that can be read at each line number of a path.
    numbered: HashMap<(&'d str, u32), HashSet<&'d [u8]>>,
    /// All lines that can be read.
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

    /// Returns the text that can be read in the place of a block, or `None` if there is only a
    /// reference. For changes, returns the text that they restore.
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

    /// Returns the lines of a block that cannot be read at their line numbers of the path.
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

    /// Returns whether several blocks share the lines of this one.
    fn is_divided(&self, index: usize) -> bool {
        self.duplicates.shared.range((index, 0)..=(index, usize::MAX)).next().is_some()
    }

    /// Returns whether `by` covers another block that has the same content and passes the check.
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

/// Returns whether these lines are in a text, in this order.
fn in_order<'b>(mut wanted: impl Iterator<Item = &'b [u8]>, kept: &[u8]) -> bool {
    let mut kept = lines(kept);
    wanted.all(|line| kept.any(|other| other == line))
}

/// Checks that the changes restore the block from the covering text.
fn restores(block: &Block<'_>, changes: &Block<'_>, kept: &[u8]) -> Result<(), &'static str> {
    let changes = text(changes);
    // A reference names a text that has all lines of the block.
    if changes.starts_with(b"[all of it stands in ") {
        let right = in_order(lines(text(block)), kept);
        return if right { Ok(()) } else { Err("a line does not stand in order in the kept text") };
    }
    let restored = lcp_dedup::restore(kept, changes);
    match restored {
        Ok(restored) if restored == text(block) => Ok(()),
        Ok(_) => Err("the changes make another text"),
        Err(_) => Err("the changes do not apply"),
    }
}

/// Returns whether two blocks have the same path, or are results of the same tool.
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

/// Returns whether two blocks have the same text, ignoring a newline at the end. Compares all
/// fields of blocks without text.
fn same_content(one: &Block<'_>, other: &Block<'_>) -> bool {
    match (one.content.text(), other.content.text()) {
        (Some(_), Some(_)) => lines(text(one)).eq(lines(text(other))),
        _ => one.content == other.content,
    }
}

fn text<'b>(block: &'b Block<'_>) -> &'b [u8] {
    block.content.text().map_or(&[], |text| text.as_slice())
}

/// Splits a text into lines. A newline at its end begins no further line.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n')
}
