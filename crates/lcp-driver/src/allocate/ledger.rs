//! The ledger of a budget: the tokens left in total and by share, and the levels paid so far.

use super::{Candidate, Eligibility, ExcerptKey, Excerpter, Selection, ShareLimits};

/// The remaining tokens of a budget, and the levels that were paid.
///
/// While grants are in force, each candidate is paid from the grant of its share, otherwise from
/// the total. Caps apply in both cases.
pub(crate) struct BudgetLedger<'a> {
    candidates: &'a [Candidate],
    groups: &'a [Vec<usize>],
    chosen: Vec<Option<Selection>>,
    left: u64,
    /// The tokens left of each share's grant, while grants are in force.
    granted: Option<Vec<u64>>,
    /// The tokens that each share has spent, and its cap; both are empty without shares.
    spent: Vec<u64>,
    caps: Vec<u64>,
}

impl<'a> BudgetLedger<'a> {
    /// Creates a ledger with `left` tokens. The levels in `chosen` are already paid.
    pub(crate) fn new(
        candidates: &'a [Candidate],
        shares: &[ShareLimits],
        groups: &'a [Vec<usize>],
        chosen: Vec<Option<Selection>>,
        left: u64,
    ) -> Self {
        let mut spent = vec![0; shares.len()];
        if !shares.is_empty() {
            for (candidate, chosen) in candidates.iter().zip(&chosen) {
                spent[candidate.share] += chosen.map_or(0, |selection| selection.cost(candidate));
            }
        }
        let caps = shares.iter().map(|share| share.cap).collect();
        Self { candidates, groups, chosen, left, granted: None, spent, caps }
    }

    /// Returns the tokens that are left in total.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn spent(&self) -> &[u64] {
        &self.spent
    }

    /// Limits each share to its own grant, which includes the tokens that it has already spent.
    pub(super) fn restrict_to_grants(&mut self, grants: &[u64]) {
        let left =
            grants.iter().zip(&self.spent).map(|(grant, spent)| grant.saturating_sub(*spent));
        self.granted = Some(left.collect());
    }

    /// Lifts the limits of grants: from now on all candidates spend from the total.
    pub(super) fn spend_from_total(&mut self) {
        self.granted = None;
    }

    /// Returns the maximum cost that candidate `i` can have.
    pub(super) fn affordable(&self, i: usize) -> u64 {
        self.affordable_extra(i).map_or(0, |affordable| self.paid(i) + affordable)
    }

    pub(crate) fn chosen(&self, i: usize) -> Option<Selection> {
        self.chosen[i]
    }

    pub(crate) fn into_parts(self) -> (Vec<Option<Selection>>, u64) {
        (self.chosen, self.left)
    }

    /// Returns the tokens that candidate `i` can pay in addition; `None` if the lines of its group
    /// cannot be paid.
    fn affordable_extra(&self, i: usize) -> Option<u64> {
        if self.companions(i).next().is_some() {
            return self.affordable_with_companions(i);
        }
        let left = self.share_left(self.candidates[i].share);
        Some(left.min(self.left))
    }

    /// Returns the tokens that a share can spend, regardless of the total.
    pub(super) fn share_left(&self, share: usize) -> u64 {
        if self.spent.is_empty() {
            return self.left;
        }
        let granted = self.granted.as_ref().map_or(self.left, |left| left[share]);
        granted.min(self.caps[share].saturating_sub(self.spent[share]))
    }

    fn affordable_with_companions(&self, i: usize) -> Option<u64> {
        let mut left = self.left;
        let own = self.candidates[i].share;
        let mut own_left = self.share_left(own);
        let mut others: Vec<(usize, u64)> = Vec::new();
        for companion in self.companions(i) {
            let item = &self.candidates[companion];
            if item.eligibility == Eligibility::Excluded {
                return None;
            }
            let line = item.costs[item.lowest()];
            left = left.checked_sub(line)?;
            if self.spent.is_empty() || item.share == own {
                own_left = own_left.checked_sub(line)?;
                continue;
            }
            let known = others.iter().position(|(share, _)| *share == item.share);
            let at = known.unwrap_or_else(|| {
                others.push((item.share, self.share_left(item.share)));
                others.len() - 1
            });
            others[at].1 = others[at].1.checked_sub(line)?;
        }
        Some(left.min(own_left))
    }

    /// Returns the other members of the group that would be shown together with candidate `i`.
    fn companions(&self, i: usize) -> impl Iterator<Item = usize> {
        let group = self.candidates[i].group.filter(|_| self.chosen[i].is_none());
        let members = group.and_then(|group| self.groups.get(group)).map_or(&[][..], Vec::as_slice);
        members.iter().copied().filter(move |&at| at != i && self.chosen[at].is_none())
    }

    /// Returns whether only the cap of its share prevents a fuller level of candidate `i`.
    pub(super) fn is_capped(&self, i: usize) -> bool {
        let Some(share) = self.caps.get(self.candidates[i].share) else { return false };
        let (item, paid) = (&self.candidates[i], self.paid(i));
        let more = item.costs[item.ceiling..].iter().rev().find(|cost| **cost > paid);
        let under_cap = share.saturating_sub(self.spent[item.share]);
        more.is_some_and(|cost| cost - paid > under_cap)
    }

    fn paid(&self, i: usize) -> u64 {
        self.chosen[i].map_or(0, |selection| selection.cost(&self.candidates[i]))
    }

    fn choose(&mut self, i: usize, selection: Selection) {
        if self.candidates[i].group.is_some() {
            let companions: Vec<_> = self.companions(i).collect();
            for companion in companions {
                self.pay(companion, Selection::Level(self.candidates[companion].lowest()));
            }
        }
        self.pay(i, selection);
    }

    fn pay(&mut self, i: usize, selection: Selection) {
        let extra = selection.cost(&self.candidates[i]) - self.paid(i);
        self.left -= extra;
        if !self.spent.is_empty() {
            let share = self.candidates[i].share;
            self.spent[share] += extra;
            if let Some(granted) = &mut self.granted {
                granted[share] -= extra;
            }
        }
        self.chosen[i] = Some(selection);
    }

    /// Gives candidate `i` the fullest affordable level from `ceiling` on.
    pub(crate) fn upgrade_to(&mut self, i: usize, ceiling: usize) {
        self.upgrade(i, ceiling, self.candidates[i].costs.len());
    }

    /// Gives candidate `i` the fullest affordable level from `ceiling` to below `floor`.
    pub(crate) fn upgrade(&mut self, i: usize, ceiling: usize, floor: usize) {
        let Some(affordable) = self.affordable_extra(i) else { return };
        let paid = self.paid(i);
        let costs = &self.candidates[i].costs;
        // An excerpt shows more than a placeholder, and one of passages more than any level but the
        // full content, so these do not replace it.
        let floor = match self.chosen[i] {
            Some(Selection::Excerpt { .. }) if self.candidates[i].has_passages => floor.min(1),
            Some(Selection::Excerpt { .. }) => floor.min(self.candidates[i].content_levels),
            _ => floor,
        };
        // Costs fall strictly, so a better level costs more.
        let better = (ceiling..floor).take_while(|&level| costs[level] > paid);
        let mut fitting = better.filter(|&level| costs[level] - paid <= affordable);
        if let Some(level) = fitting.next() {
            self.choose(i, Selection::Level(level));
        }
    }

    /// Shows the largest affordable excerpt of candidate `i` between `least` and `most` tokens,
    /// unless a level shows content of it.
    pub(super) fn excerpt(
        &mut self,
        i: usize,
        least: u64,
        most: u64,
        excerpter: &mut dyn Excerpter,
    ) {
        let has_level = |selection: Selection| selection.level().is_some();
        let has_content = |selection: &Selection| selection.has_content(&self.candidates[i]);
        if !self.chosen[i].filter(has_content).is_some_and(has_level) {
            self.cut(i, least, most, excerpter);
        }
    }

    /// Shows candidate `i` in full if that is affordable, otherwise by the largest affordable
    /// excerpt. An excerpt replaces a level that costs less.
    pub(crate) fn enlarge(&mut self, i: usize, excerpter: &mut dyn Excerpter) {
        self.upgrade(i, 0, 1);
        if self.chosen[i].and_then(Selection::level) != Some(0) {
            self.cut(i, 0, u64::MAX, excerpter);
        }
    }

    fn cut(&mut self, i: usize, least: u64, most: u64, excerpter: &mut dyn Excerpter) {
        let item = &self.candidates[i];
        let has = match self.chosen[i] {
            Some(Selection::Excerpt { key: ExcerptKey::Size(most), .. }) => most,
            // Only an excerpt with another passage is worth a search for it.
            Some(Selection::Excerpt { cost, .. }) => cost + EXCERPT_MIN,
            _ => 0,
        };
        if !item.may_be_cut {
            return;
        }
        let Some(affordable) = self.affordable_extra(i) else { return };
        let paid = self.paid(i);
        // An excerpt costs less than the full content.
        let limit = (paid + affordable).min(most).min(item.costs[0].saturating_sub(1));
        let Some(size) = excerpt_step(limit).filter(|size| *size > has.max(paid).max(least)) else {
            return;
        };
        if let Some(cost) = excerpter.excerpt_cost(i, size).filter(|cost| *cost > paid.max(least)) {
            self.choose(i, Selection::Excerpt { key: ExcerptKey::Size(size), cost });
        }
    }

    /// Shows an excerpt of passages of candidate `i`, which must be affordable. It is not shown if
    /// what is shown costs as much.
    pub(super) fn choose_passages(&mut self, i: usize, key: ExcerptKey, cost: u64) {
        if cost > self.paid(i) {
            self.choose(i, Selection::Excerpt { key, cost });
        }
    }

    /// Returns whether the ceilings of these candidates can be paid for.
    pub(super) fn affords_ceilings(&self, candidates: &[usize]) -> bool {
        let mut spent = self.spent.clone();
        spent.fill(0);
        let mut all = 0;
        for &i in candidates {
            let candidate = &self.candidates[i];
            let extra = candidate.costs[candidate.ceiling].saturating_sub(self.paid(i));
            all += extra;
            if let Some(spent) = spent.get_mut(candidate.share) {
                *spent += extra;
            }
        }
        all <= self.left && (0..spent.len()).all(|share| spent[share] <= self.share_left(share))
    }
}

/// The number of excerpt sizes between two successive powers of two.
const STEPS: u32 = 32;

pub(super) const EXCERPT_MIN: u64 = STEPS as u64;

/// Returns the largest size `m · 2^k`, with m from 32 to 63, that does not exceed `limit`.
pub(super) fn excerpt_step(limit: u64) -> Option<u64> {
    let bits = limit.checked_ilog2()?.checked_sub(STEPS.ilog2())?;
    Some(limit >> bits << bits)
}
