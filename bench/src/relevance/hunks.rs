//! The lines that a commit changed, and the part of them that a text shows.

use std::collections::{BTreeMap, HashSet};

/// Ranges of old lines by path. A range has its first and its last line, from 1. Lines that are
/// only added count as the two lines around them.
pub(super) type Hunks = BTreeMap<String, Vec<(usize, usize)>>;

/// Reads the output of `git diff -U0`.
pub(super) fn parse(diff: &str) -> Hunks {
    let mut hunks = Hunks::new();
    let mut path = None;
    for line in diff.lines() {
        if let Some(old) = line.strip_prefix("--- ") {
            path = old.strip_prefix("a/").map(str::to_owned);
        } else if let Some(head) = line.strip_prefix("@@ -")
            && let Some(path) = &path
            && let Some(range) = old_range(head)
        {
            hunks.entry(path.clone()).or_default().push(range);
        }
    }
    hunks
}

/// Reads the old range of a hunk's head: `12,3 +…` or `12 +…`.
fn old_range(head: &str) -> Option<(usize, usize)> {
    let range = head.split_once(' ')?.0;
    let (first, count) = range.split_once(',').unwrap_or((range, "1"));
    let (first, count): (usize, usize) = (first.parse().ok()?, count.parse().ok()?);
    Some(if count == 0 { (first.max(1), first + 1) } else { (first, first + count - 1) })
}

/// The lines of a file that a text shows.
pub(super) enum Shown {
    /// All of them.
    All,
    /// These lines, from 1.
    Lines(HashSet<usize>),
}

/// Returns the part of the hunks of which at least half of the lines are shown.
pub(super) fn recall(hunks: &Hunks, shown: impl Fn(&str) -> Option<Shown>) -> f64 {
    let (mut hits, mut all) = (0u32, 0u32);
    for (path, ranges) in hunks {
        let shown = shown(path);
        for &(first, last) in ranges {
            let is_hit = match &shown {
                None => false,
                Some(Shown::All) => true,
                Some(Shown::Lines(lines)) => {
                    let seen = (first..=last).filter(|line| lines.contains(line)).count();
                    seen * 2 > last - first
                }
            };
            all += 1;
            hits += u32::from(is_hit);
        }
    }
    if all == 0 { 0.0 } else { f64::from(hits) / f64::from(all) }
}

#[cfg(test)]
mod tests {
    use super::{Hunks, Shown, parse, recall};

    #[test]
    fn hunks_are_ranges_of_old_lines() {
        let diff = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
                    @@ -3 +3 @@ fn a()\n-x\n+y\n@@ -10,4 +10,0 @@\n-1\n-2\n-3\n-4\n\
                    @@ -20,0 +17,2 @@\n+a\n+b\n@@ -0,0 +1 @@\n+first\n\
                    diff --git a/new.rs b/new.rs\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+x\n";
        let expected = vec![(3, 3), (10, 13), (20, 21), (1, 1)];
        assert_eq!(parse(diff), Hunks::from([("src/a.rs".to_owned(), expected)]));
    }

    #[test]
    fn hunk_counts_if_half_of_its_lines_are_shown() {
        let hunks = Hunks::from([
            ("a".to_owned(), vec![(1, 4), (10, 12), (20, 20)]),
            ("b".to_owned(), vec![(1, 2)]),
            ("c".to_owned(), vec![(5, 9)]),
        ]);
        let shown = |path: &str| match path {
            "a" => Some(Shown::Lines([2, 3, 10].into())),
            "b" => Some(Shown::All),
            _ => None,
        };
        // 2 of 4 lines, not 1 of 3, not line 20; all of b; none of c.
        assert!((recall(&hunks, shown) - 2.0 / 5.0).abs() < 1e-9);
        assert!(recall(&Hunks::new(), |_| None).abs() < 1e-9);
    }
}
