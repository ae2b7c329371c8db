//! Builds an outline from lines of a text, in order.

use super::options::MARKER;

/// The number of bytes of a line that are included. Longer lines are usually written by programs.
const LINE_BYTES_MAX: usize = 400;

/// A text and the outline made of it so far.
pub(super) struct OutlineBuilder<'t> {
    text: &'t str,
    /// The offset of each line.
    starts: Vec<usize>,
    out: String,
    bytes_max: usize,
    /// The index of the first line that can still be included.
    next: usize,
    /// The end in the text of the last line of the outline; `None` after a marker.
    end: Option<usize>,
    /// `true` if the last line of the outline is a marker.
    marked: bool,
    full: bool,
}

impl<'t> OutlineBuilder<'t> {
    pub(super) fn new(text: &'t str, bytes_max: usize) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if text.is_empty() || text.ends_with('\n') {
            starts.pop();
        }
        let out = String::new();
        Self { text, starts, out, bytes_max, next: 0, end: None, marked: false, full: false }
    }

    pub(super) const fn text(&self) -> &'t str {
        self.text
    }

    /// Returns whether the outline has reached its maximum size.
    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Returns the number of lines in the text.
    pub(super) const fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Returns the index of the line that contains this offset.
    pub(super) fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Returns a line without trailing white space. Returns an empty string after the last line.
    pub(super) fn line(&self, line: usize) -> &'t str {
        let Some(start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text.get(*start..end).unwrap_or_default().trim_end()
    }

    /// Returns the offset of a line.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// Returns whether only white space precedes `byte` in its line.
    pub(super) fn is_first(&self, byte: usize) -> bool {
        let before = self.text.get(self.start(self.line_of(byte))..byte);
        before.is_some_and(|before| before.trim().is_empty())
    }

    /// Adds the lines of `from..to`, at most `lines_max`. The first of them may extend the last
    /// line of the outline.
    pub(super) fn push_span(&mut self, from: usize, to: usize, lines_max: usize) {
        let Some(kept) = self.text.get(from..to).map(str::trim_end) else { return };
        if kept.is_empty() {
            return;
        }
        let to = from + kept.len();
        let (mut first, last) = (self.line_of(from), self.line_of(to - 1));
        if first < self.next {
            first = self.next;
            self.lengthen(from, to);
        }
        for line in first..=last {
            if line - first == lines_max {
                self.mark(self.start(line));
                return;
            }
            let start = self.start(line);
            let end = if line == last { to } else { start + self.line(line).len() };
            let text = self.text.get(start..end).unwrap_or_default().trim_end();
            if !text.is_empty() {
                self.append(line, text);
                self.end = Some(start + text.len());
            }
        }
    }

    /// Adds a line, cut if it is too long.
    pub(super) fn push_line(&mut self, line: usize) {
        let start = self.start(line);
        self.push_span(start, start + self.line(line).len(), 1);
    }

    /// Extends the last line of the outline with text of the same line, if only white space, `,` or
    /// `;` is between them.
    fn lengthen(&mut self, from: usize, to: usize) {
        let Some(end) = self.end.filter(|end| *end < to) else { return };
        let to = to.min(self.start(self.next));
        let between = self.text.get(end..from).unwrap_or("x");
        let more = self.text.get(end..to).unwrap_or_default().trim_end();
        let is_close = between.chars().all(|c| c.is_whitespace() || matches!(c, ',' | ';'));
        let line = self.out.len() - self.out.rfind('\n').map_or(0, |at| at + 1);
        if is_close && line + more.len() <= LINE_BYTES_MAX && self.fits(more.len()) {
            self.out.push_str(more);
            self.end = Some(end + more.len());
        }
    }

    /// Marks the end of the last line of the outline as omitted.
    pub(super) fn mark_elided(&mut self) {
        if self.end.take().is_some() && !self.full {
            self.out.push(' ');
            self.out.push_str(MARKER);
        }
    }

    /// Adds a marker with the indentation of the line at `at`, unless the last line is a marker.
    pub(super) fn mark(&mut self, at: usize) {
        let line = self.line_of(at);
        if self.marked || self.full || line < self.next {
            return;
        }
        let text = self.line(line);
        let indent = text.get(..text.len() - text.trim_start().len()).unwrap_or_default();
        // An indentation deeper than people write carries no information.
        let indent = indent.get(..LINE_BYTES_MAX).unwrap_or(indent);
        self.append(line, &format!("{indent}{MARKER}"));
        self.end = None;
        self.marked = true;
    }

    /// Adds the first and last lines, with a marker that counts the lines between them.
    pub(super) fn push_head_and_tail(&mut self, first_lines: usize, last_lines: usize) {
        let lines = self.lines();
        let first = first_lines.min(lines);
        let last = lines.saturating_sub(last_lines).max(first);
        (0..first).for_each(|line| self.push_line(line));
        self.mark_lines(last);
        (last..lines).for_each(|line| self.push_line(line));
    }

    /// Adds a marker that counts the lines omitted before line `to`, if there are any.
    fn mark_lines(&mut self, to: usize) {
        let lines = to.saturating_sub(self.next);
        if lines > 0 {
            let plural = if lines == 1 { "" } else { "s" };
            self.append(to - 1, &format!("{MARKER} {lines} line{plural}"));
        }
    }

    /// Adds a line if it fits. Otherwise adds a marker, and the outline is full.
    fn append(&mut self, line: usize, text: &str) {
        if self.full {
            return;
        }
        let (text, is_cut) = match text.char_indices().find(|(at, _)| *at >= LINE_BYTES_MAX) {
            Some((at, _)) => (text.get(..at).unwrap_or_default().trim_end(), true),
            None => (text, false),
        };
        if !self.fits(text.len()) {
            self.full = true;
            if self.bytes_max >= MARKER.len() && !self.marked {
                self.line_break();
                self.out.push_str(MARKER);
            }
            return;
        }
        self.line_break();
        self.out.push_str(text);
        if is_cut {
            self.out.push(' ');
            self.out.push_str(MARKER);
        }
        self.marked = false;
        self.next = line + 1;
    }

    fn line_break(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Returns whether this number of bytes fits, together with two markers.
    fn fits(&self, bytes: usize) -> bool {
        self.out.len() + bytes + 2 * (MARKER.len() + 1) < self.bytes_max
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}
