//! Formatting of numbers, and to the end of a string.

use std::fmt::{Arguments, Display, Write};

pub(crate) fn write_to(out: &mut String, args: Arguments<'_>) {
    // A write to a string cannot fail.
    let _ = out.write_fmt(args);
}

/// Formats a count with its noun: `1 block`, `2,000 blocks`.
#[must_use]
pub fn plural(count: impl Display + Copy, noun: &str) -> String {
    let count = count.to_string();
    let count = count.parse().map_or(count, group_thousands);
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}

/// Formats a number with a comma between thousands.
///
/// ```
/// use lcp_driver::group_thousands;
///
/// assert_eq!((group_thousands(999).as_str(), group_thousands(1_234_567).as_str()), ("999", "1,234,567"));
/// ```
#[must_use]
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}
