//! Finds the lines of a text that contain statements.

use lcp_types::Fence;

/// A line that is not empty and is not code, a quotation or a tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    /// The byte offset of its text in the whole text.
    pub(crate) start: usize,
    /// The text, without surrounding white space and tags and without the list marker.
    pub(crate) text: &'t str,
    pub(crate) kind: LineKind,
    /// `true` if no line of the text was skipped before this one.
    pub(crate) follows: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Text,
    /// A line that begins with a list marker.
    Item,
    /// A line that begins with `#`.
    Heading,
}

impl Line<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Names of tags around text that programs put into turns, in lower case.
const MACHINE_TAGS: [&str; 20] = [
    "system-reminder", "system_reminder", "environment_context", "environment_details",
    "user_instructions", "instructions", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "command-name", "command-message", "command-contents", "bash-input",
    "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook",
    "ide_opened_file", "ide_selection", "thinking",
];

/// Beginnings of lines that programs put into turns without a tag.
const MACHINE_LINES: [&str; 3] = [
    INTERRUPTED,
    // The lines after a `<task-notification>`.
    "Read the output file to retrieve the result: ",
    "Full transcript available at: ",
];

/// The beginning of the line that takes the place of an answer that the user interrupted.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user";

/// Returns the lines of `text` that contain statements.
pub(crate) fn lines(text: &str) -> Lines<'_> {
    Lines { text, at: 0, line_end: 0, follows: false, unclosed: [false; MACHINE_TAGS.len()] }
}

pub(crate) struct Lines<'t> {
    text: &'t str,
    at: usize,
    /// The end of the line examined last, so that it is searched for only once.
    line_end: usize,
    follows: bool,
    /// The tags that are not closed in the rest of the text, so that each is searched for only
    /// once.
    unclosed: [bool; MACHINE_TAGS.len()],
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        while self.at < self.text.len() {
            let start = self.at;
            let line = self.take_line();
            if let Some(line) = self.parse_line(start, line) {
                self.follows = true;
                return Some(line);
            }
            self.follows = false;
        }
        None
    }
}

impl<'t> Lines<'t> {
    /// Returns the line at the current position, without its end, and moves past it.
    fn take_line(&mut self) -> &'t str {
        let start = self.at;
        if start >= self.line_end {
            let rest = self.text.get(start..).unwrap_or_default();
            self.line_end = start + rest.find('\n').unwrap_or(rest.len());
        }
        self.at = (self.line_end + 1).min(self.text.len());
        self.text.get(start..self.line_end).unwrap_or_default()
    }

    /// Parses `line`, which begins at `start`. If it opens a code fence, an edit or a tag, moves
    /// past the end of that.
    fn parse_line(&mut self, start: usize, line: &'t str) -> Option<Line<'t>> {
        let body = line.trim();
        if body.starts_with(SEARCH) {
            self.skip_until(|line| line.starts_with(REPLACE));
            return None;
        }
        if let Some(open) = Fence::parse(body).filter(|fence| !fence.info.contains('`')) {
            self.skip_until(|line| {
                Fence::parse(line).is_some_and(|fence| open.is_closed_by(&fence))
            });
            return None;
        }
        if body.starts_with('>') || !body.contains(char::is_alphanumeric) {
            return None;
        }
        if MACHINE_LINES.iter().any(|start| body.starts_with(start)) {
            return None;
        }
        if self.skip_machine_tag(start, line, body) {
            return None;
        }
        let body = without_tags(body);
        let (kind, text) = without_marker(body);
        let text = without_tags(text);
        // `text` is a slice of the line, so the difference of the pointers is its offset.
        let offset = text.as_ptr() as usize - line.as_ptr() as usize;
        text.contains(char::is_alphanumeric).then_some(Line {
            start: start + offset,
            text,
            kind,
            follows: self.follows,
        })
    }

    /// Moves past the line that `is_last` accepts, or to the end.
    fn skip_until(&mut self, is_last: impl Fn(&str) -> bool) {
        while self.at < self.text.len() && !is_last(self.take_line().trim()) {}
    }

    /// If the line opens a tag of a program, moves past the closing tag. Returns whether it did.
    fn skip_machine_tag(&mut self, start: usize, line: &str, body: &str) -> bool {
        let Some((name, _)) = tag(body).filter(|_| !body.starts_with("</")) else { return false };
        let Some(at) = MACHINE_TAGS.iter().position(|known| name.eq_ignore_ascii_case(known))
        else {
            return false;
        };
        if self.unclosed[at] {
            return false;
        }
        let open = start + (line.len() - line.trim_start().len());
        let inside = self.text.get(open..).unwrap_or_default();
        let closing = format!("</{name}>");
        if let Some(found) = inside.find(&closing) {
            self.at = open + found + closing.len();
        } else {
            self.unclosed[at] = true;
        }
        !self.unclosed[at]
    }
}

/// The beginning of an edit that contains the old and the new text, or of a merge conflict.
const SEARCH: &str = "<<<<<<<";
const REPLACE: &str = ">>>>>>>";

/// Parses a tag at the beginning of a text. Returns its name, and the text after the tag.
fn tag(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = text.strip_prefix('<')?.split_once('>')?;
    let inside = inside.trim_start_matches('/').trim_end_matches('/');
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = &inside[..inside.len() - inside.trim_start_matches(is_name).len()];
    let attributes = &inside[name.len()..];
    let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !attributes.contains('<')
        && (attributes.is_empty() || attributes.starts_with(char::is_whitespace));
    is_tag.then_some((name, rest))
}

/// Returns a line without the tags at its beginning and the closing tags at its end.
fn without_tags(line: &str) -> &str {
    let mut line = line;
    while let Some((_, rest)) = tag(line) {
        line = rest.trim_start();
    }
    while let Some(at) = line.strip_suffix('>').and_then(|_| line.rfind("</")) {
        if tag(&line[at..]).is_none_or(|(_, rest)| !rest.is_empty()) {
            break;
        }
        line = line[..at].trim_end();
    }
    line
}

/// Returns a line without its marker, and the kind that the marker indicates.
fn without_marker(line: &str) -> (LineKind, &str) {
    if let Some(text) = after_space(line.trim_start_matches('#'), line) {
        return (LineKind::Heading, text.trim_end_matches('#').trim_end());
    }
    if let Some(text) = line
        .strip_prefix(['-', '*', '+', '•', '◦', '▪', '–'])
        .and_then(|text| after_space(text, line))
    {
        return (LineKind::Item, text);
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if (1..=4).contains(&(line.len() - digits.len()))
        && let Some(text) = digits.strip_prefix(['.', ')']).and_then(|text| after_space(text, line))
    {
        return (LineKind::Item, text);
    }
    if super::check_box(line).is_some() {
        return (LineKind::Item, line);
    }
    (LineKind::Text, line)
}

/// Returns `text` without leading white space, if it has any and is shorter than `line`.
fn after_space<'t>(text: &'t str, line: &str) -> Option<&'t str> {
    let trimmed = text.trim_start();
    (text.len() < line.len() && trimmed.len() < text.len()).then_some(trimmed)
}
