//! Text with a number before each line, as `cat -n` and the read tools of agents print it.

use std::fmt::Write as _;

/// The layout of line numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// The minimum width of a number in characters, padded with spaces on the left.
    pub width: usize,
    /// The character between a number and its line.
    pub separator: char,
}

/// The maximum width of a number in characters, including spaces.
const WIDTH_MAX: usize = 12;

const TAB: char = '\t';
const ARROW: char = '\u{2192}';

impl Style {
    /// The style of `cat -n`: six characters and a tab.
    pub const CAT: Self = Self { width: 6, separator: TAB };

    /// Returns the name of the style for a tag: `cat-n`, or `cat-n,WIDTH,tab` or
    /// `cat-n,WIDTH,arrow` for any other style.
    ///
    /// ```
    /// use lcp_transcripts::line_numbers::Style;
    ///
    /// assert_eq!(Style::CAT.name(), "cat-n");
    /// assert_eq!(Style { width: 5, separator: '→' }.name(), "cat-n,5,arrow");
    /// ```
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::CAT => CAT_N.to_owned(),
            Self { width, separator: ARROW } => format!("{CAT_N},{width},{ARROW_NAME}"),
            Self { width, .. } => format!("{CAT_N},{width},{TAB_NAME}"),
        }
    }

    /// Returns the style with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(CAT_N)?;
        if rest.is_empty() {
            return Some(Self::CAT);
        }
        let (width, separator) = rest.strip_prefix(',')?.split_once(',')?;
        let separator = match separator {
            ARROW_NAME => ARROW,
            TAB_NAME => TAB,
            _ => return None,
        };
        let width = width.parse().ok().filter(|width| *width <= WIDTH_MAX)?;
        Some(Self { width, separator })
    }
}

const CAT_N: &str = "cat-n";
const ARROW_NAME: &str = "arrow";
const TAB_NAME: &str = "tab";

/// A text whose line numbers were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedText {
    /// The number of the first line, counted from 1.
    pub first: u32,
    /// The number of the last line.
    pub last: u32,
    /// The layout of the line numbers.
    pub style: Style,
    /// The text without the numbers.
    pub content: String,
}

/// Removes the number before each line of a text. Returns `None` if a line has no number or
/// [`write()`] would not restore exactly this text.
///
/// ```
/// use lcp_transcripts::line_numbers::{self, Style};
///
/// let text = "     7\tfn main() {\n     8\t}\n";
/// let lines = line_numbers::parse_exact(text).unwrap();
/// assert_eq!((lines.first, lines.last, lines.style), (7, 8, Style::CAT));
/// assert_eq!(lines.content, "fn main() {\n}\n");
/// assert_eq!(line_numbers::write(&lines.content, lines.first, lines.style), text);
/// ```
#[must_use]
pub fn parse_exact(text: &str) -> Option<NumberedText> {
    let digits = text.trim_start_matches(' ');
    let spaces = text.len() - digits.len();
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let separator = digits[end..].chars().next().filter(|c| matches!(*c, TAB | ARROW))?;
    let first = digits[..end].parse().ok()?;
    let width = if spaces == 0 { 0 } else { spaces + end };
    let style = Style { width, separator };
    // A single line with a number and a tab is more likely a table than a file.
    let is_table = spaces == 0 && separator == TAB && !text.trim_end_matches('\n').contains('\n');
    if first == 0 || width > WIDTH_MAX || is_table {
        return None;
    }
    let mut content = String::with_capacity(text.len());
    let mut number: u32 = first;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if at > 0 {
            number = number.checked_add(1)?;
        }
        content.push_str(line.strip_prefix(head(number, style).as_str())?);
    }
    let is_exact = write(&content, first, style) == text;
    is_exact.then_some(NumberedText { first, last: number, style, content })
}

/// Adds a number before each line. The first line has the number `first`.
#[must_use]
pub fn write(content: &str, first: u32, style: Style) -> String {
    let mut text = String::with_capacity(content.len() * 2);
    for (at, line) in content.split_inclusive('\n').enumerate() {
        let number = u64::from(first) + at as u64;
        push_head(&mut text, number, style);
        text.push_str(line);
    }
    text
}

fn head(number: u32, style: Style) -> String {
    let mut head = String::new();
    push_head(&mut head, number.into(), style);
    head
}

fn push_head(text: &mut String, number: u64, Style { width, separator }: Style) {
    let _ = write!(text, "{number:>width$}{separator}");
}
