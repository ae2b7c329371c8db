//! Merging: a sweep over the chunks of a path, in the order of lines.

use std::cmp::Reverse;

use super::lines::{Lines, agree, behind};
use super::merged_runs::MergedRuns;
use super::{Chunk, OverlapOptions, Resolved, TRIED_MAX};

/// `sorted` are all chunks, in the order of lines.
pub(super) fn resolve(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    options: &OverlapOptions,
) -> Resolved {
    let lines = Lines::new(chunks);
    let mut sweep = Sweep::new(chunks, &lines, options, true);
    sweep.place_all(sorted);
    // Whether chunks that only touch are of one version is not known before all
    // were compared.
    if sweep.has_joined_touching && sweep.has_versions {
        sweep = Sweep::new(chunks, &lines, options, false);
        sweep.place_all(sorted);
    }
    sweep.runs.resolve(sorted)
}

/// Runs of one version: each begins where the one before was full.
struct Chain {
    last: u32,
    last_run: usize,
    /// Where the chunks are by now: the run, and the chunk that brought the line.
    at_run: usize,
    at_piece: usize,
}

struct Sweep<'c, 't> {
    chunks: &'c [Chunk<'t>],
    merged_bytes: usize,
    /// Chunks that only touch are joined.
    touching: bool,
    runs: MergedRuns<'c, 't>,
    /// The chains that chunks to come may reach.
    chains: Vec<Chain>,
    has_joined_touching: bool,
    /// Two chunks differ in a line, or that is not known.
    has_versions: bool,
}

impl<'c, 't> Sweep<'c, 't> {
    fn new(
        chunks: &'c [Chunk<'t>],
        lines: &'c Lines<'c, 't>,
        options: &OverlapOptions,
        touching: bool,
    ) -> Self {
        Self {
            chunks,
            merged_bytes: options.merged_bytes,
            touching,
            runs: MergedRuns::new(chunks, lines),
            chains: Vec::with_capacity(TRIED_MAX),
            has_joined_touching: false,
            has_versions: false,
        }
    }

    fn place_all(&mut self, sorted: &[usize]) {
        for &chunk in sorted {
            if !self.joins(chunk) {
                self.begin(chunk);
            }
        }
    }

    /// Puts a chunk into the chain that has most of its lines and agrees with it.
    fn joins(&mut self, chunk: usize) -> bool {
        let Chunk { first, last, fixed, .. } = self.chunks[chunk];
        let reached = if self.touching { first - 1 } else { first };
        self.chains.retain(|chain| chain.last >= reached);
        let mut tried = [0; TRIED_MAX];
        let tried = &mut tried[..self.chains.len()];
        for (at, chain) in tried.iter_mut().enumerate() {
            *chain = at;
        }
        tried.sort_by_key(|chain| Reverse(self.chains[*chain].last.min(last)));
        for &mut chain in tried {
            if self.chains[chain].last < first {
                if !fixed {
                    self.has_joined_touching = true;
                    self.extend(chain, chunk, 0);
                    return true;
                }
            } else if let Some(own) = self.own(chain, chunk) {
                if !fixed && self.may_share(chain, chunk) {
                    if self.chains[chain].last < last {
                        self.extend(chain, chunk, own);
                    } else {
                        self.take(chain, chunk);
                    }
                    return true;
                }
            } else {
                self.has_versions = true;
            }
        }
        false
    }

    /// Begins a chain, which later chunks find unless there are too many.
    fn begin(&mut self, chunk: usize) {
        let run = self.runs.open(chunk, 0, None);
        if self.chains.len() < TRIED_MAX {
            let last = self.chunks[chunk].last;
            let chain = Chain { last, last_run: run, at_run: run, at_piece: chunk };
            self.chains.push(chain);
        } else {
            self.has_versions = true;
        }
    }

    /// The byte of a chunk at which the lines begin that the chain lacks; `None`
    /// where they differ in a line.
    fn own(&mut self, chain: usize, chunk: usize) -> Option<usize> {
        let chain = &mut self.chains[chain];
        let Chunk { first, text, .. } = self.chunks[chunk];
        while self.chunks[chain.at_piece].last < first {
            chain.at_piece = self.runs.behind(chain.at_piece)?;
        }
        while self.runs.get(chain.at_run).last < first {
            chain.at_run = self.runs.get(chain.at_run).next?;
        }
        let mut piece = chain.at_piece;
        let mut has = self.runs.from(piece, first);
        let mut rest = text;
        while has.len() < rest.len() {
            rest = behind(rest, has)?;
            match self.runs.behind(piece) {
                Some(next) if !rest.is_empty() => piece = next,
                _ => return Some(text.len() - rest.len()),
            }
            has = self.runs.own(piece);
        }
        agree(has, rest).then_some(text.len())
    }

    /// Whether the runs that have some of a chunk's lines may have them for it:
    /// not if that raises one that is too large by itself. A fixed one is shown
    /// whatever it takes over.
    fn may_share(&self, chain: usize, chunk: usize) -> bool {
        self.runs_with(chain, chunk).all(|run| {
            let run = self.runs.get(run);
            let is_raised = self.chunks[chunk].priority < run.priority;
            run.fixed || run.bytes <= self.merged_bytes || !is_raised
        })
    }

    /// The runs of a chain that have a line of a chunk, in the order of lines.
    fn runs_with(&self, chain: usize, chunk: usize) -> impl Iterator<Item = usize> {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let from = Some(self.chains[chain].at_run);
        let runs = std::iter::successors(from, |run| self.runs.get(*run).next);
        runs.map(|run| (run, self.runs.get(run)))
            .filter(move |(_, run)| run.last >= first)
            .take_while(move |(_, run)| run.first <= last)
            .map(|(index, _)| index)
    }

    /// Adds the lines that a chain lacks, to its last run or to a new one.
    fn extend(&mut self, chain: usize, chunk: usize, own: usize) {
        let run = self.chains[chain].last_run;
        let fits = self.runs.bytes_with(run, chunk, own) <= self.merged_bytes;
        let home = if fits && !self.runs.get(run).fixed { Some(run) } else { None };
        self.share(chain, chunk, home);
        let run = if let Some(run) = home {
            self.runs.grow(run, chunk, own);
            run
        } else {
            self.runs.open(chunk, own, Some(run))
        };
        let chain = &mut self.chains[chain];
        (chain.last, chain.last_run) = (self.chunks[chunk].last, run);
    }

    /// Adds a chunk whose lines a chain has.
    fn take(&mut self, chain: usize, chunk: usize) {
        if let Some(home) = self.runs_with(chain, chunk).last() {
            self.share(chain, chunk, Some(home));
            self.runs.take(home, chunk);
        }
    }

    /// Remembers which runs but its own have lines of a chunk.
    fn share(&mut self, chain: usize, chunk: usize, home: Option<usize>) {
        let others: Vec<_> =
            self.runs_with(chain, chunk).filter(|run| Some(*run) != home).collect();
        for run in others {
            self.runs.share(chunk, run);
        }
    }
}
