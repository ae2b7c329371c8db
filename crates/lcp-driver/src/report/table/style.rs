//! Bars, columns and colors.

/// Codes of ANSI escapes.
pub(super) const BOLD: u8 = 1;
pub(super) const DIM: u8 = 2;
pub(super) const CYAN: u8 = 36;
pub(super) const YELLOW: u8 = 33;

pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// Draws a bar in eighths of a column; it is empty only if the part or the whole is 0.
pub(in crate::report) fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let all = width as u64 * 8;
    let eighths = match part.saturating_mul(all).checked_div(whole) {
        Some(0) if part > 0 => 1,
        Some(eighths) => eighths.min(all),
        None => 0,
    };
    let full = usize::try_from(eighths / 8).unwrap_or(width);
    let rest = usize::try_from(eighths % 8).unwrap_or_default();
    format!("{}{}", "█".repeat(full), EIGHTHS[rest])
}

/// Truncates a text that is wider than `width` at its start, with an ellipsis: the end of a path
/// says most. `measure` returns the width of a text.
///
/// ```
/// use lcp_driver::report::truncate_start;
///
/// assert_eq!(truncate_start("src/main.rs", 8, |text| text.chars().count()), "…main.rs");
/// ```
#[must_use]
pub fn truncate_start(text: &str, width: usize, measure: impl Fn(&str) -> usize) -> String {
    if measure(text) <= width {
        return text.to_owned();
    }
    let mut rest = text;
    while measure(rest) >= width.max(1) {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    format!("…{rest}")
}

/// Truncates a text to a width in characters; a width of 0 is unlimited.
pub(in crate::report) fn fit(text: &str, width: usize) -> String {
    let width = if width == 0 { usize::MAX } else { width };
    truncate_start(text, width, |text| text.chars().count())
}
