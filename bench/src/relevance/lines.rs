//! Finds the lines of a file that an excerpt shows.

use std::collections::{HashMap, HashSet};

/// Bits of a cell: the excerpt's line is skipped (a marker, or a changed line), or it is the
/// file's line. Without bits, the file's line is omitted.
const SKIP: u8 = 1;
const PAIR: u8 = 2;
/// The next pair continues this one.
const RUN: u8 = 4;

/// The value of a pair of equal lines, and the cost of a run of them.
const MATCH: u32 = 4;
const START: u32 = 1;

/// Returns the lines of `file`, from 1, that `excerpt` shows: equal lines in the same order. There
/// are as many as possible, in as few runs as possible, the earliest ones if several choices are
/// equal. Lines that are not in the file, such as markers, match no line.
pub(super) fn shown(file: &str, excerpt: &str) -> HashSet<usize> {
    let mut numbers = HashMap::new();
    let mut ids = |text| -> Vec<usize> {
        let lines = str::lines(text);
        lines
            .map(|line| {
                let next = numbers.len();
                *numbers.entry(line.to_owned()).or_insert(next)
            })
            .collect()
    };
    let (file, excerpt) = (ids(file), ids(excerpt));
    if file == excerpt {
        return (1..=file.len()).collect();
    }
    let choices = Choices::new(&file, &excerpt);
    let mut lines = HashSet::new();
    let (mut i, mut j) = (0, 0);
    let mut in_run = false;
    while i < excerpt.len() && j < file.len() {
        let cell = choices.cells[i * file.len() + j];
        if in_run || cell & PAIR != 0 {
            lines.insert(j + 1);
            in_run = cell & RUN != 0;
            (i, j) = (i + 1, j + 1);
        } else if cell & SKIP != 0 {
            i += 1;
        } else {
            j += 1;
        }
    }
    lines
}

/// The best choice for each pair of a line of the excerpt and a line of the file.
struct Choices {
    cells: Vec<u8>,
}

impl Choices {
    /// Computes the choices from the last lines to the first ones. `best` is the value of the rest
    /// of both texts, `run` its value if the next lines continue a run of pairs.
    fn new(file: &[usize], excerpt: &[usize]) -> Self {
        let width = file.len();
        let mut cells = vec![0; excerpt.len() * width];
        let (mut best, mut run) = (vec![0; width + 1], vec![0; width + 1]);
        for (i, line) in excerpt.iter().enumerate().rev() {
            // The values of the line below, at the next column.
            let (mut best_after, mut run_after) = (best[width], run[width]);
            for j in (0..width).rev() {
                let (best_below, run_below) = (best[j], run[j]);
                let cell = &mut cells[i * width + j];
                run[j] = 0;
                let mut paired = 0;
                if file[j] == *line {
                    let continues = run_after >= best_after && run_after > 0;
                    run[j] = MATCH + if continues { run_after } else { best_after };
                    paired = run[j] - START;
                    *cell |= if continues { RUN } else { 0 };
                }
                let (skipped, omitted) = (best_below, best[j + 1]);
                best[j] = paired.max(skipped).max(omitted);
                if paired == best[j] && paired > 0 {
                    *cell |= PAIR;
                } else if skipped == best[j] {
                    *cell |= SKIP;
                }
                (best_after, run_after) = (best_below, run_below);
            }
        }
        Self { cells }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::shown;

    fn check(file: &str, excerpt: &str, expected: &[usize]) {
        let mut lines: Vec<_> = shown(file, excerpt).into_iter().collect();
        lines.sort_unstable();
        assert_eq!(lines, expected);
    }

    const FILE: &str = "use a;\n\nfn one() {\n    1\n}\n\nfn two() {\n    2\n}\n";

    #[test]
    fn complete_file_shows_all_lines() {
        check(FILE, FILE, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        check("a\r\nb\r\n", "a\nb", &[1, 2]);
    }

    #[test]
    fn run_behind_a_marker_is_where_all_of_its_lines_are() {
        check(FILE, "[… 6 lines omitted …]\nfn two() {\n    2\n}\n", &[7, 8, 9]);
        check(FILE, "use a;\n…\n    2\n}\n", &[1, 8, 9]);
    }

    #[test]
    fn common_lines_join_the_run_next_to_them() {
        // The first brace belongs to the function before it, not to the one after it.
        check(FILE, "    1\n}\n…\n    2\n}\n", &[4, 5, 8, 9]);
        check(FILE, "}\n\nfn two() {\n", &[5, 6, 7]);
    }

    #[test]
    fn changed_and_foreign_lines_match_nothing() {
        check(FILE, "fn one() {\n    [redacted]\n}\nfn three() {}\n", &[3, 5]);
        check(FILE, "", &[]);
        check("", "a\n", &[]);
    }

    proptest! {
        #[test]
        fn excerpt_of_distinct_lines_shows_exactly_its_runs(picks in prop::collection::vec(any::<bool>(), 0..40)) {
            let lines: Vec<_> = (0..picks.len()).map(|number| format!("line {number}")).collect();
            let mut excerpt = String::new();
            for (line, pick) in lines.iter().zip(&picks) {
                excerpt += if *pick { line } else { "…" };
                excerpt += "\n";
            }
            let expected: HashSet<usize> = (1..=picks.len()).filter(|line| picks[line - 1]).collect();
            prop_assert_eq!(shown(&lines.join("\n"), &excerpt), expected);
        }
    }
}
