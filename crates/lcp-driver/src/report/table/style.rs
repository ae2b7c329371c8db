//! Bars, columns and colors.

#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) color: bool,
}

impl Style {
    pub(super) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(super) fn bar(self, text: &str) -> String {
        self.paint("36", text)
    }

    pub(super) fn alert(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

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
