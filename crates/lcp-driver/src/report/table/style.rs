//! Bars, columns and colours.

/// Colours, or none of them.
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

/// A text with spaces behind it, up to a width in characters.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// A bar for a part of the whole, in eighths of a column; never wider than
/// `width`, and never empty where there is anything. Of nothing there is none.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
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

/// The end of a text that is too wide: of a path, it says most.
pub(super) fn fit(text: &str, width: usize) -> String {
    let chars = text.chars().count();
    if chars <= width || width == 0 {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(chars - width + 1).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_eighths() {
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(5, 10, 4), "██");
        assert_eq!(bar(9, 16, 4), "██▎");
        assert_eq!(bar(20, 10, 4), "████");
        assert_eq!(bar(1, 0, 4), "");
    }

    #[test]
    fn what_is_too_wide_keeps_its_end() {
        assert_eq!(fit("src/main.rs", 8), "…main.rs");
        assert_eq!(fit("src/main.rs", 11), "src/main.rs");
    }
}
