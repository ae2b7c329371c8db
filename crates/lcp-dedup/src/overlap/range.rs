//! Ranges of lines: whether one is that of its text, and what two share.

use super::lines;

/// Why the range of a chunk is not that of its text (RFC 0006 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRange {
    /// There is no line.
    #[error("the text is empty")]
    Empty,
    /// Lines are counted from 1.
    #[error("lines are counted from 1, not from 0")]
    Zero,
    /// The last line stands before the first.
    #[error("the range ends at line {last}, before line {first}, where it begins")]
    Inverted {
        /// The line at which the range begins.
        first: u32,
        /// The line at which it ends.
        last: u32,
    },
    /// The text has fewer lines, or more.
    #[error("lines {first} to {last} are not the {lines} lines of the text")]
    Length {
        /// The first line of the range.
        first: u32,
        /// The last line of the range.
        last: u32,
        /// The lines of the text.
        lines: u64,
    },
    /// With only one end given, the other is no line number.
    #[error("{lines} lines do not fit in a range with line {end} as one end")]
    Outside {
        /// The end that was given.
        end: u32,
        /// The lines of the text.
        lines: u64,
    },
}

/// The first and the last line of a text. An end that is not given follows from the
/// other and the number of lines; without both, lines are counted from 1.
///
/// # Errors
///
/// [`BadRange`] if the range is not one of as many lines as the text has.
pub(crate) fn range_of(
    line_start: Option<u32>,
    line_end: Option<u32>,
    text: &[u8],
) -> Result<(u32, u32), BadRange> {
    let lines = lines::count(text);
    if lines == 0 {
        return Err(BadRange::Empty);
    }
    if line_start == Some(0) || line_end == Some(0) {
        return Err(BadRange::Zero);
    }
    let outside = |end| BadRange::Outside { end, lines };
    match (line_start, line_end) {
        (Some(first), Some(last)) if first > last => Err(BadRange::Inverted { first, last }),
        (Some(first), Some(last)) if lines_in((first, last)) != lines => {
            Err(BadRange::Length { first, last, lines })
        }
        (Some(first), Some(last)) => Ok((first, last)),
        (None, Some(last)) => {
            let first = (u64::from(last) + 1).checked_sub(lines).filter(|first| *first > 0);
            let first = first.and_then(|first| u32::try_from(first).ok());
            first.map(|first| (first, last)).ok_or(outside(last))
        }
        (first, None) => {
            let first = first.unwrap_or(1);
            let last = u32::try_from(u64::from(first) + lines - 1);
            last.map(|last| (first, last)).map_err(|_| outside(first))
        }
    }
}

/// The common lines of two ranges, by the lines of the smaller one: 0 to 1
/// (Task 016.c).
pub(crate) fn overlap(a: (u32, u32), b: (u32, u32)) -> f64 {
    let smaller = lines_in(a).min(lines_in(b));
    if smaller == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are 2^32 line numbers")]
    let part = lines_in((a.0.max(b.0), a.1.min(b.1))) as f64 / smaller as f64;
    part
}

/// Whether two ranges have a line in common.
pub(super) fn shares((first, last): (u32, u32), other: (u32, u32)) -> bool {
    first <= other.1 && other.0 <= last
}

/// Whether `inner` has no line that `outer` lacks.
pub(super) fn contains((first, last): (u32, u32), inner: (u32, u32)) -> bool {
    first <= inner.0 && inner.1 <= last
}

fn lines_in((first, last): (u32, u32)) -> u64 {
    (u64::from(last) + 1).saturating_sub(u64::from(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calculate_overlap_percentage() {
        let percent = |a, b| (overlap(a, b) * 1000.0).round() / 10.0;
        // The requirement's example: 26 common lines of 50.
        assert_eq!(percent((1, 50), (25, 75)).to_string(), "52");
        assert_eq!(percent((25, 75), (1, 50)).to_string(), "52");
        assert_eq!(percent((1, 100), (20, 39)).to_string(), "100");
        assert_eq!(percent((1, 5), (2, 6)).to_string(), "80");
        assert_eq!(percent((1, 3), (3, 5)).to_string(), "33.3");
        assert_eq!(percent((1, 3), (4, 5)).to_string(), "0");
        assert_eq!(percent((1, 3), (900, u32::MAX)).to_string(), "0");
        assert_eq!(percent((5, 1), (1, 5)).to_string(), "0");
        assert_eq!(percent((1, u32::MAX), (0, u32::MAX)).to_string(), "100");
    }

    #[test]
    fn four_of_five_lines_reach_a_threshold_of_80_percent() {
        assert!(overlap((1, 5), (2, 6)) >= 0.8);
    }

    #[test]
    fn an_end_that_is_missing_follows_from_the_lines() {
        let text = b"a\nb\nc";
        assert_eq!(range_of(None, None, text), Ok((1, 3)));
        assert_eq!(range_of(Some(7), None, text), Ok((7, 9)));
        assert_eq!(range_of(None, Some(9), text), Ok((7, 9)));
        assert_eq!(range_of(Some(7), Some(9), text), Ok((7, 9)));
        let end = u32::MAX;
        assert_eq!(range_of(None, Some(end), text), Ok((end - 2, end)));
        assert_eq!(range_of(Some(end - 2), None, text), Ok((end - 2, end)));
    }

    #[test]
    fn a_range_that_is_not_that_of_the_text_is_named() {
        let message = |start, end, text: &[u8]| match range_of(start, end, text) {
            Ok(range) => format!("{range:?}"),
            Err(bad) => bad.to_string(),
        };
        let text = b"a\nb\nc\n";
        expect_test::expect![[r"
            the text is empty
            lines are counted from 1, not from 0
            lines are counted from 1, not from 0
            the range ends at line 3, before line 5, where it begins
            lines 1 to 4 are not the 3 lines of the text
            lines 1 to 4294967295 are not the 3 lines of the text
            3 lines do not fit in a range with line 2 as one end
            3 lines do not fit in a range with line 4294967295 as one end
        "]]
        .assert_eq(&format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
            message(None, None, b""),
            message(Some(0), Some(2), text),
            message(None, Some(0), text),
            message(Some(5), Some(3), text),
            message(Some(1), Some(4), text),
            message(Some(1), Some(u32::MAX), text),
            message(None, Some(2), text),
            message(Some(u32::MAX), None, text),
        ));
    }
}
