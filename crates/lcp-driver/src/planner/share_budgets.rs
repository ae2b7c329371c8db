//! The budgets of the shares during planning (RFC 0004 §3 and §4).

use std::collections::BTreeMap;

use lcp_types::{Priority, escape_for_display};

use super::scan::Scan;
use crate::allocate::{Allocation, Candidate, ShareLimits};
use crate::config::Overflow;
use crate::error::DriverError;
use crate::fmt::{group_thousands, plural};
use crate::plan::{PlanItem, ShareUsage};
use crate::warning::{Warning, WarningCode};

#[derive(Debug, Default)]
pub(super) struct ShareBudgets {
    /// The limits of the shares in order, then those of blocks without a share; empty without
    /// shares.
    pub(super) limits: Vec<ShareLimits>,
    /// The configured name and cap of each entry of `limits`.
    names: Vec<(String, Option<u32>)>,
}

impl ShareBudgets {
    pub(super) fn new(scan: &Scan<'_, '_>, budget: u32, warnings: &mut Vec<Warning>) -> Self {
        let mut budgets = Self::default();
        let Some(shares) = &scan.config.shares else {
            return budgets;
        };
        let divided = shares.divide(budget);
        if let Some(note) = divided.scaling() {
            warnings.push(Warning::new(WarningCode::SharesNormalised, None, note.to_string()));
        }
        for share in shares.as_slice() {
            let own = divided.tokens(&share.name).unwrap_or_default();
            let cap = share.cap.map_or(u64::MAX, u64::from);
            budgets.limits.push(ShareLimits { own, weight: own, cap });
            budgets.names.push((share.name.clone(), share.cap));
        }
        // Blocks without a share borrow like a share of average size, so that a few chat turns can
        // compete with many files.
        let all: u64 = budgets.limits.iter().map(|share| u64::from(share.own)).sum();
        let mean = all / (budgets.limits.len() as u64).max(1);
        let weight = u32::try_from(mean).unwrap_or(u32::MAX).max(1);
        budgets.limits.push(ShareLimits { own: 0, weight, cap: u64::MAX });
        budgets.names.push((String::new(), None));
        let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
        for ((i, _), candidate) in scan.shown.iter().zip(&scan.candidates) {
            if candidate.share == shares.as_slice().len() {
                *unknown.entry(&scan.facts[*i].category).or_default() += 1;
            }
        }
        for (category, blocks) in unknown {
            let message = format!(
                "category {} has no share; its {} can only use tokens that other categories leave",
                escape_for_display(category.as_bytes()),
                plural(blocks as u64, "block"),
            );
            warnings.push(Warning::new(WarningCode::UnknownCategory, None, message));
        }
        budgets
    }

    /// Returns the tokens left under the cap of each share; empty without shares.
    pub(super) fn cap_left(&self, candidates: &[Candidate], allocation: &Allocation) -> Vec<u64> {
        let mut left: Vec<_> = self.limits.iter().map(|share| share.cap).collect();
        for (candidate, selection) in candidates.iter().zip(&allocation.chosen) {
            if let Some(left) = left.get_mut(candidate.share).filter(|left| **left < u64::MAX) {
                *left =
                    left.saturating_sub(selection.map_or(0, |selection| selection.cost(candidate)));
            }
        }
        left
    }

    /// Returns the cost of everything that candidates may have under the caps. It includes the
    /// roll-up line if the caps exclude something.
    pub(super) fn wanted(&self, candidates: &[Candidate], fill: bool, line: u64) -> u64 {
        if self.limits.is_empty() {
            return candidates.iter().map(|candidate| wanted_tokens(candidate, fill)).sum();
        }
        let mut shares = vec![(0u64, 0u64); self.limits.len()];
        for candidate in candidates {
            let (all, critical) = &mut shares[candidate.share];
            *all += wanted_tokens(candidate, fill);
            if candidate.is_fixed() {
                *critical += candidate.costs[0];
            }
        }
        let all: u64 = shares.iter().map(|(all, _)| *all).sum();
        let under_caps: u64 = shares
            .iter()
            .zip(&self.names)
            .map(|((all, critical), (_, cap))| {
                *all.min(&cap.map_or(u64::MAX, u64::from).max(*critical))
            })
            .sum();
        under_caps + if under_caps < all { line } else { 0 }
    }

    /// Returns the tokens over each cap that are not due to Critical blocks.
    pub(super) fn excess(&self, candidates: &[Candidate], tokens: &[u32]) -> Vec<u64> {
        let (mut used, mut critical) = (vec![0; self.limits.len()], vec![0; self.limits.len()]);
        for (candidate, tokens) in candidates.iter().zip(tokens) {
            let tokens_of =
                if candidate.priority == Priority::Critical { &mut critical } else { &mut used };
            if let Some(sum) = tokens_of.get_mut(candidate.share) {
                *sum += u64::from(*tokens);
            }
        }
        let over = |(((_, cap), used), critical): ((&(String, Option<u32>), u64), u64)| {
            let cap = cap.map_or(u64::MAX, u64::from);
            // Only tokens of other blocks can be taken back.
            (critical + used).saturating_sub(cap).min(used)
        };
        self.names.iter().zip(used).zip(critical).map(over).collect()
    }

    pub(super) fn lower_caps(&mut self, by: &[u64]) {
        for (share, by) in self.limits.iter_mut().zip(by) {
            share.cap = share.cap.saturating_sub(*by);
        }
    }

    pub(super) fn usage(&self, scan: &Scan<'_, '_>, plan: &[PlanItem]) -> Vec<ShareUsage> {
        let mut usage: Vec<ShareUsage> = self
            .limits
            .iter()
            .zip(&self.names)
            .map(|(share, (name, cap))| ShareUsage {
                name: name.clone(),
                tokens: share.own,
                cap: *cap,
                wanted: 0,
                used: 0,
                blocks: 0,
            })
            .collect();
        for (candidate, (i, _)) in scan.candidates.iter().zip(&scan.shown) {
            if let Some(share) = usage.get_mut(candidate.share) {
                share.wanted += wanted_tokens(candidate, scan.config.fill);
                share.used = share.used.saturating_add(plan[*i].tokens);
                share.blocks += 1;
            }
        }
        usage.retain(|share| !share.name.is_empty() || share.blocks > 0);
        usage
    }
}

/// Warns of shares whose Critical and pinned blocks exceed their caps; fails if the configuration
/// denies that.
pub(super) fn warn_of_caps(
    usage: &[ShareUsage],
    overflow: Overflow,
    warnings: &mut Vec<Warning>,
) -> Result<(), DriverError> {
    for share in usage {
        let Some(cap) = share.cap.filter(|cap| share.used > *cap) else { continue };
        let (name, needed) = (share.name.clone(), u64::from(share.used));
        let excess = needed - u64::from(cap);
        if overflow == Overflow::Deny {
            return Err(DriverError::OverShareCap { share: name, needed, cap, excess });
        }
        let message = format!(
            "critical and pinned blocks of share {name:?} need {}, {} over its cap of {}",
            plural(needed, "token"),
            group_thousands(excess),
            group_thousands(cap.into())
        );
        warnings.push(Warning::new(WarningCode::OverShareCap, None, message));
    }
    Ok(())
}

/// Returns the cost of the fullest level that a candidate may have.
pub(super) fn wanted_tokens(candidate: &Candidate, fill: bool) -> u64 {
    match candidate.priority {
        Priority::Background if !fill => 0,
        _ if candidate.may_grow => candidate.costs[0],
        _ => candidate.costs[candidate.ceiling],
    }
}
