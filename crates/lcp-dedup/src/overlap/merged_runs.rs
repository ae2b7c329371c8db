//! Runs: chunks that became one block, and what that makes of each of them.

use lcp_types::{DuplicateKind, Priority};

use super::lines::{Lines, contains, shares};
use super::{Chunk, ChunkOutcome, Resolved};

/// How a chunk came into its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// It is the first one.
    Opened,
    /// The run had all of its lines.
    Contained,
    /// The runs before had some of its lines, this one the rest.
    Across,
    /// The run had some of its lines.
    Overlapping,
    /// It begins where the run ended.
    Adjacent,
}

/// A chunk in its run.
#[derive(Clone, Copy, Debug)]
struct Member {
    run: usize,
    entry: Entry,
    /// The byte at which the lines begin that the runs lacked.
    own: usize,
    /// The chunk that brought the lines behind its own.
    next: Option<usize>,
    /// That one has some of its lines, too.
    overlapped: bool,
}

/// One block in the end. It lives in the place of its highest ranked chunk.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) bytes: usize,
    /// The best of its chunks.
    pub(super) priority: Priority,
    /// It is a chunk that is never changed.
    pub(super) fixed: bool,
    /// The run that has the lines behind it, and was only split from it.
    pub(super) next: Option<usize>,
    /// The chunk in whose place it lives.
    lead: usize,
    opened_by: usize,
    /// The run before, where that one has some lines of the chunk that opened it.
    cut_by: Option<usize>,
    /// The chunk that brought its last lines.
    tail: usize,
}

/// All runs of a path.
pub(super) struct MergedRuns<'c, 't> {
    chunks: &'c [Chunk<'t>],
    lines: &'c Lines<'c, 't>,
    runs: Vec<Run>,
    /// One for each chunk.
    members: Vec<Option<Member>>,
    /// Chunks, and runs of others that have some of their lines.
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

    /// A run of this chunk, of what is not in the run before, where there is one.
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

    /// The bytes that a run would have with a chunk's own lines.
    pub(super) fn bytes_with(&self, run: usize, chunk: usize, own: usize) -> usize {
        let run = &self.runs[run];
        let joint = usize::from(!self.chunks[run.tail].text.ends_with(b"\n"));
        run.bytes + joint + self.chunks[chunk].text.len() - own
    }

    /// Adds what a chunk has behind the run.
    pub(super) fn grow(&mut self, run: usize, chunk: usize, own: usize) {
        let overlaps = self.chunks[chunk].first <= self.runs[run].last;
        self.runs[run].bytes = self.bytes_with(run, chunk, own);
        self.follow(run, chunk, overlaps);
        self.runs[run].last = self.chunks[chunk].last;
        self.runs[run].tail = chunk;
        self.enter(chunk, run, if overlaps { Entry::Overlapping } else { Entry::Adjacent }, own);
    }

    /// Adds a chunk that has no line that the run, and those before it, lack.
    pub(super) fn take(&mut self, run: usize, chunk: usize) {
        let is_within = self.chunks[chunk].first >= self.runs[run].first;
        let entry = if is_within { Entry::Contained } else { Entry::Across };
        self.enter(chunk, run, entry, self.chunks[chunk].text.len());
    }

    /// Remembers that another run has some lines of a chunk.
    pub(super) fn share(&mut self, chunk: usize, run: usize) {
        self.shared.push((chunk, run));
    }

    /// The lines at the end of this run go on with a chunk.
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

    /// The chunk that brought the lines behind those of this one.
    pub(super) fn behind(&self, chunk: usize) -> Option<usize> {
        self.members[chunk].and_then(|member| member.next)
    }

    /// The lines that a chunk brought to its run.
    pub(super) fn own(&self, chunk: usize) -> &'t [u8] {
        let own = self.members[chunk].map_or(0, |member| member.own);
        &self.chunks[chunk].text[own..]
    }

    /// The lines of a chunk from this one on.
    pub(super) fn from(&self, chunk: usize, line: u32) -> &'t [u8] {
        &self.chunks[chunk].text[self.lines.start(chunk, line)..]
    }

    /// What becomes of each chunk; `sorted` are all, in the order of lines.
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

    /// What becomes of the chunk in whose place a run lives.
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
