//! Runs of merged chunks, and the resulting outcome of each chunk.

use lcp_types::{DuplicateKind, Priority};

use super::lines::{Lines, contains, shares};
use super::{Chunk, ChunkOutcome, Resolved};

/// The way in which a chunk entered its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The chunk opened the run.
    Opened,
    /// The run already had all lines of the chunk.
    Contained,
    /// The previous runs had some lines of the chunk, and this run the rest.
    Across,
    /// The run had some lines of the chunk.
    Overlapping,
    /// The chunk begins at the line after the end of the run.
    Adjacent,
}

/// A chunk in its run.
#[derive(Clone, Copy, Debug)]
struct Member {
    run: usize,
    entry: Entry,
    /// The offset in the chunk's text of the first line that the runs lacked.
    own: usize,
    /// The chunk that contributed the lines after this chunk.
    next: Option<usize>,
    /// `true` if the next chunk also has some lines of this one.
    overlapped: bool,
}

/// Chunks that become one block, which takes the place of the highest ranked of them.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) bytes: usize,
    /// The highest priority of the chunks.
    pub(super) priority: Priority,
    /// `true` if the run is a chunk that must not change.
    pub(super) fixed: bool,
    /// The run that has the following lines. It is separate only because this run was full or
    /// fixed.
    pub(super) next: Option<usize>,
    /// The chunk whose place the run takes.
    lead: usize,
    opened_by: usize,
    /// The previous run, if it has some lines of the chunk that opened this run.
    cut_by: Option<usize>,
    /// The chunk that contributed the last lines.
    tail: usize,
}

/// All runs of a path.
pub(super) struct MergedRuns<'c, 't> {
    chunks: &'c [Chunk<'t>],
    lines: &'c Lines<'c, 't>,
    runs: Vec<Run>,
    /// One entry for each chunk.
    members: Vec<Option<Member>>,
    /// Pairs of a chunk and another run that has some of its lines.
    shared: Vec<(usize, usize)>,
}

impl<'c, 't> MergedRuns<'c, 't> {
    pub(super) fn new(chunks: &'c [Chunk<'t>], lines: &'c Lines<'c, 't>) -> Self {
        let members = vec![None; chunks.len()];
        Self { chunks, lines, runs: Vec::with_capacity(chunks.len()), members, shared: Vec::new() }
    }

    pub(super) fn get(&self, run: usize) -> &Run {
        &self.runs[run]
    }

    /// Opens a run with the lines of this chunk. If there is a previous run, its lines are left
    /// out.
    pub(super) fn open(&mut self, chunk: usize, own: usize, before: Option<usize>) -> usize {
        let Chunk { first, last, text, priority, fixed, .. } = self.chunks[chunk];
        let run = self.runs.len();
        let mut opened = Run {
            first,
            last,
            bytes: text.len() - own,
            priority,
            fixed,
            next: None,
            lead: chunk,
            opened_by: chunk,
            cut_by: None,
            tail: chunk,
        };
        if let Some(before) = before {
            opened.first = self.runs[before].last + 1;
            opened.cut_by = (opened.first > first).then_some(before);
            self.follow(before, chunk, false);
            self.runs[before].next = Some(run);
        }
        self.runs.push(opened);
        self.enter(chunk, run, Entry::Opened, own);
        run
    }

    /// Returns the size in bytes of a run after adding a chunk's own lines.
    pub(super) fn bytes_with(&self, run: usize, chunk: usize, own: usize) -> usize {
        let run = &self.runs[run];
        let joint = usize::from(!self.chunks[run.tail].text.ends_with(b"\n"));
        run.bytes + joint + self.chunks[chunk].text.len() - own
    }

    /// Adds the lines of a chunk that come after the run.
    pub(super) fn grow(&mut self, run: usize, chunk: usize, own: usize) {
        let overlaps = self.chunks[chunk].first <= self.runs[run].last;
        self.runs[run].bytes = self.bytes_with(run, chunk, own);
        self.follow(run, chunk, overlaps);
        self.runs[run].last = self.chunks[chunk].last;
        self.runs[run].tail = chunk;
        self.enter(chunk, run, if overlaps { Entry::Overlapping } else { Entry::Adjacent }, own);
    }

    /// Adds a chunk whose lines are all in the run or the runs before it.
    pub(super) fn take(&mut self, run: usize, chunk: usize) {
        let is_within = self.chunks[chunk].first >= self.runs[run].first;
        let entry = if is_within { Entry::Contained } else { Entry::Across };
        self.enter(chunk, run, entry, self.chunks[chunk].text.len());
    }

    /// Records that another run has some lines of a chunk.
    pub(super) fn share(&mut self, chunk: usize, run: usize) {
        self.shared.push((chunk, run));
    }

    /// Records that a chunk continues the lines at the end of this run.
    fn follow(&mut self, run: usize, chunk: usize, overlaps: bool) {
        if let Some(tail) = &mut self.members[self.runs[run].tail] {
            tail.next = Some(chunk);
            tail.overlapped = overlaps;
        }
    }

    fn enter(&mut self, chunk: usize, run: usize, entry: Entry, own: usize) {
        self.members[chunk] = Some(Member { run, entry, own, next: None, overlapped: false });
        let Chunk { order, priority, .. } = self.chunks[chunk];
        let run = &mut self.runs[run];
        run.priority = run.priority.min(priority);
        if !run.fixed && order < self.chunks[run.lead].order {
            run.lead = chunk;
        }
    }

    /// Returns the chunk that contributed the lines after this one.
    pub(super) fn behind(&self, chunk: usize) -> Option<usize> {
        self.members[chunk].and_then(|member| member.next)
    }

    /// Returns the lines that a chunk contributed to its run.
    pub(super) fn own(&self, chunk: usize) -> &'t [u8] {
        let own = self.members[chunk].map_or(0, |member| member.own);
        &self.chunks[chunk].text[own..]
    }

    /// Returns the text of a chunk from a line to the end.
    pub(super) fn from(&self, chunk: usize, line: u32) -> &'t [u8] {
        &self.chunks[chunk].text[self.lines.start(chunk, line)..]
    }

    /// Returns the outcome of each chunk. `sorted` lists all chunks in line order.
    pub(super) fn resolve(self, sorted: &[usize]) -> Resolved {
        let mut outcomes = vec![ChunkOutcome::Stays; self.chunks.len()];
        for (index, run) in self.runs.iter().enumerate() {
            outcomes[run.lead] = self.outcome(index);
        }
        for &chunk in sorted {
            let Some(member) = self.members[chunk] else { continue };
            let run = &self.runs[member.run];
            if run.lead != chunk {
                let relation = self.relation(chunk, member, run);
                outcomes[chunk] = ChunkOutcome::Covered { by: run.lead, relation };
            }
            if let ChunkOutcome::Grown { members, .. } = &mut outcomes[run.lead] {
                members.push(chunk);
            }
        }
        let shared = self.shared.iter().map(|(chunk, run)| (*chunk, self.runs[*run].lead));
        let is_new = |(chunk, other): &(usize, usize)| !matches!(outcomes[*chunk], ChunkOutcome::Cut { by, .. } if by == *other);
        let shared = shared.filter(is_new).collect();
        Resolved { outcomes, shared }
    }

    /// Returns the outcome of the chunk whose place a run takes.
    fn outcome(&self, index: usize) -> ChunkOutcome {
        let run = &self.runs[index];
        let lead = &self.chunks[run.lead];
        let Run { first, last, .. } = *run;
        if (first, last) == (lead.first, lead.last) {
            return ChunkOutcome::Stays;
        }
        let text = self.text(run);
        let is_alone = (run.opened_by, run.tail) == (run.lead, run.lead);
        match run.cut_by.filter(|_| is_alone) {
            Some(before) => ChunkOutcome::Cut { by: self.runs[before].lead, first, last, text },
            None => ChunkOutcome::Grown { first, last, text, members: Vec::new() },
        }
    }

    fn text(&self, run: &Run) -> Vec<u8> {
        let mut text = Vec::with_capacity(run.bytes);
        let mut piece = Some(run.opened_by);
        while let Some((chunk, member)) = piece.and_then(|at| Some((at, self.members[at]?))) {
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            text.extend_from_slice(&self.chunks[chunk].text[member.own..]);
            piece = member.next.filter(|_| chunk != run.tail);
        }
        text
    }

    fn relation(&self, chunk: usize, member: Member, run: &Run) -> DuplicateKind {
        let range = self.chunks[chunk].range();
        let lead = self.chunks[run.lead].range();
        let is_touched_only = matches!(member.entry, Entry::Opened | Entry::Adjacent)
            && !member.overlapped
            && !shares(range, lead);
        let is_in_lead = contains(lead, range) && contains((run.first, run.last), range);
        if member.entry == Entry::Contained || is_in_lead {
            DuplicateKind::Contained
        } else if is_touched_only {
            DuplicateKind::Adjacent
        } else {
            DuplicateKind::Overlapping
        }
    }
}
