//! Random candidates, and their excerpts.

use lcp_types::Priority;
use proptest::prelude::*;

use crate::allocate::{Candidate, Eligibility, ExcerptKey, Excerpter, PassageCosts, PerLevel};

/// Excerpts without text. Each block has a minimum size, and larger sizes are only approximated, as
/// with the lines of a text.
pub(super) struct Cuts<'i>(pub(super) &'i [Candidate]);

impl Excerpter for Cuts<'_> {
    fn excerpt_cost(&mut self, i: usize, most: u64) -> Option<u64> {
        let least = self.0[i].costs.last().unwrap() + 3 + i as u64 % 40;
        (most >= least).then(|| most - (most * 7 + i as u64) % 5.min(most - least + 1))
    }

    /// The approximate costs are sometimes too low.
    fn passages(&mut self, i: usize) -> PassageCosts {
        let tokens = u32::try_from(self.0[i].costs[0] / 5).unwrap() + 1;
        let score = |at: usize| u16::try_from(1 + (i * 7 + at * 389) % 1_000).unwrap();
        PassageCosts { frame: 9, passages: (0..4).map(|at| (score(at), tokens)).collect() }
    }

    fn show_passages(&mut self, i: usize, shown: &[usize]) -> Option<(ExcerptKey, u64)> {
        let cost = 9 + shown.len() as u64 * (self.0[i].costs[0] / 5 + i as u64 % 3);
        (shown.len() < 4).then_some((ExcerptKey::Passages(i), cost))
    }
}

pub(super) fn any_item() -> impl Strategy<Value = Candidate> {
    let costs = prop_oneof![
        // Small costs, for which every token matters, and costs with a heavy tail.
        prop::collection::vec(1u64..30, 1..4),
        prop::collection::vec(1u64..3_000, 1..5),
    ];
    let rank = prop_oneof![3 => Just(None), 1 => (0..5u8).prop_map(|rank| Some(f64::from(rank)))];
    (
        prop::sample::select(&Priority::ALL[..]),
        rank,
        costs,
        any::<prop::sample::Index>(),
        any::<[bool; 2]>(),
    )
        .prop_map(|(priority, rank, mut costs, ceiling, [may_grow, placeholder])| {
            costs.sort_unstable_by(|a, b| b.cmp(a));
            costs.dedup();
            let ceiling = match priority {
                Priority::Critical | Priority::High | Priority::Normal => 0,
                Priority::Low | Priority::Background => ceiling.index(costs.len()),
            };
            // A single detail is content. If there are several, the last may be a placeholder line.
            let costs: PerLevel = costs.into_iter().collect();
            let content_levels = costs.len() - usize::from(placeholder && costs.len() > 1);
            let may_grow = may_grow && priority == Priority::Low;
            let may_be_cut = !costs[0].is_multiple_of(5);
            let has_passages = may_be_cut && costs[0].is_multiple_of(3);
            let (group, eligibility) = (None, Eligibility::Competes);
            Candidate {
                priority,
                rank,
                costs,
                ceiling,
                content_levels,
                may_grow,
                may_be_cut,
                has_passages,
                share: 0,
                group,
                eligibility,
            }
        })
}
