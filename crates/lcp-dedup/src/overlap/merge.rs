//! Merges chunks by a sweep over the chunks of a path in line order.

use std::cmp::Reverse;

use super::lines::{Lines, agree, behind};
use super::merged_runs::MergedRuns;
use super::{Chunk, OverlapOptions, Resolved, TRIED_MAX};

/// Merges the chunks of a path. `sorted` lists all chunks in line order.
pub(super) fn resolve(
    chunks: &[Chunk<'_>],
    sorted: &[usize],
    options: &OverlapOptions,
) -> Resolved {
    let lines = Lines::new(chunks);
    let mut sweep = Sweep::new(chunks, &lines, options, true);
    sweep.place_all(sorted);
    // Chunks that only touch must not be joined if the path has several versions, which is known
    // only after all chunks were compared. If so, repeat the sweep without joining them.
    if sweep.has_joined_touching && sweep.has_versions {
        sweep = Sweep::new(chunks, &lines, options, false);
        sweep.place_all(sorted);
    }
    sweep.runs.resolve(sorted)
}

/// The runs of one version. Each run begins where the previous one was full.
struct Chain {
    last: u32,
    last_run: usize,
    /// The position of the sweep: the current run, and the chunk that contributed the current line.
    at_run: usize,
    at_piece: usize,
}

struct Sweep<'c, 't> {
    chunks: &'c [Chunk<'t>],
    merged_bytes: usize,
    /// `true` to join chunks that only touch.
    touching: bool,
    runs: MergedRuns<'c, 't>,
    /// The chains that later chunks can reach.
    chains: Vec<Chain>,
    has_joined_touching: bool,
    /// `true` if two chunks differ in a line, or if too many chains made that unknown.
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

    /// Adds a chunk to the chain that agrees with it and has the most of its lines. Returns `false`
    /// if no chain takes it.
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

    /// Begins a chain. If there are already [`TRIED_MAX`] chains, later chunks cannot join the new
    /// run.
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

    /// Returns the offset in the chunk's text of the first line that the chain lacks. Returns
    /// `None` if the chunk differs from the chain in a line.
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

    /// Returns whether the runs that have lines of a chunk may cover these lines. A run that is too
    /// large by itself may not, if that raised its priority. A fixed run may in any case, because
    /// it is always shown.
    fn may_share(&self, chain: usize, chunk: usize) -> bool {
        self.runs_with(chain, chunk).all(|run| {
            let run = self.runs.get(run);
            let is_raised = self.chunks[chunk].priority < run.priority;
            run.fixed || run.bytes <= self.merged_bytes || !is_raised
        })
    }

    /// Returns the runs of a chain that have a line of a chunk, in line order.
    fn runs_with(&self, chain: usize, chunk: usize) -> impl Iterator<Item = usize> {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let from = Some(self.chains[chain].at_run);
        let runs = std::iter::successors(from, |run| self.runs.get(*run).next);
        runs.map(|run| (run, self.runs.get(run)))
            .filter(move |(_, run)| run.last >= first)
            .take_while(move |(_, run)| run.first <= last)
            .map(|(index, _)| index)
    }

    /// Adds the lines that a chain lacks to its last run, or to a new run if they do not fit.
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

    /// Adds a chunk whose lines are all in a chain.
    fn take(&mut self, chain: usize, chunk: usize) {
        if let Some(home) = self.runs_with(chain, chunk).last() {
            self.share(chain, chunk, Some(home));
            self.runs.take(home, chunk);
        }
    }

    /// Records the runs other than `home` that have lines of a chunk.
    fn share(&mut self, chain: usize, chunk: usize, home: Option<usize>) {
        let others: Vec<_> =
            self.runs_with(chain, chunk).filter(|run| Some(*run) != home).collect();
        for run in others {
            self.runs.share(chunk, run);
        }
    }
}
