//! Lines without their comments. They only select candidates, so strings are not recognized: a
//! comment begins at the start of a line or after white space.

/// The markers of comments in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommentSyntax {
    /// The markers of comments that end with the line.
    line: &'static [&'static [u8]],
    /// The start and the end of comments that may have several lines.
    block: Option<(&'static [u8], &'static [u8])>,
}

impl CommentSyntax {
    pub(crate) const NONE: Self = Self { line: &[], block: None };
    /// `#`, as in Python.
    pub(crate) const HASH: Self = Self { line: &[b"#"], block: None };
    /// `//` and `/* */`, as in C.
    pub(crate) const SLASHES: Self = Self { line: &[b"//"], block: Some((b"/*", b"*/")) };
    /// `/* */`, as in CSS.
    pub(crate) const STARS: Self = Self { line: &[], block: Some((b"/*", b"*/")) };
    /// `--` and `/* */`, as in SQL.
    pub(crate) const DASHES: Self = Self { line: &[b"--"], block: Some((b"/*", b"*/")) };
    /// `<!-- -->`, as in HTML.
    pub(crate) const MARKUP: Self = Self { line: &[], block: Some((b"<!--", b"-->")) };
    /// The usual markers, for an unknown language.
    pub(crate) const ANY: Self = Self { line: &[b"//", b"#", b"--"], block: Some((b"/*", b"*/")) };
}

/// A reader of the lines of a text.
pub(super) struct CommentStripper {
    syntax: CommentSyntax,
    is_in_block: bool,
}

impl CommentStripper {
    pub(super) const fn new(syntax: CommentSyntax) -> Self {
        Self { syntax, is_in_block: false }
    }

    /// Returns the next line without its comments and the white space around it. A comment between
    /// code remains.
    pub(super) fn strip<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let line = line.trim_ascii();
        let Some((start, end)) = self.syntax.block else { return self.before_comment(line) };
        let mut code = line;
        loop {
            if self.is_in_block {
                let Some(rest) = after(code, end) else { return b"" };
                self.is_in_block = false;
                code = rest.trim_ascii_start();
            } else if let Some(rest) = code.strip_prefix(start) {
                self.is_in_block = true;
                code = rest;
            } else {
                return self.before_comment(code);
            }
        }
    }

    /// Returns the part of a line before the comment at its end.
    fn before_comment<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let is_start = at == 0 || line[at - 1].is_ascii_whitespace();
            if is_start && self.syntax.line.iter().any(|marker| rest.starts_with(marker)) {
                return line[..at].trim_ascii_end();
            }
            let block = self.syntax.block.filter(|(start, _)| is_start && rest.starts_with(start));
            let Some((start, end)) = block else {
                at += 1;
                continue;
            };
            match after(&rest[start.len()..], end) {
                Some(code) if !code.trim_ascii().is_empty() => at = line.len() - code.len(),
                found => {
                    self.is_in_block = found.is_none();
                    return line[..at].trim_ascii_end();
                }
            }
        }
        line
    }
}

/// Returns the part of `text` after the first `marker`.
fn after<'t>(text: &'t [u8], marker: &[u8]) -> Option<&'t [u8]> {
    let at = text.windows(marker.len()).position(|window| window == marker)?;
    Some(&text[at + marker.len()..])
}

#[cfg(test)]
mod tests {
    use super::{CommentStripper, CommentSyntax};

    #[track_caller]
    fn check(syntax: CommentSyntax, lines: &[(&str, &str)]) {
        let mut stripper = CommentStripper::new(syntax);
        for (line, code) in lines {
            let found = stripper.strip(line.as_bytes());
            assert_eq!(String::from_utf8_lossy(found), *code, "{line}");
        }
    }

    #[test]
    fn line_comments_are_stripped() {
        check(
            CommentSyntax::SLASHES,
            &[
                ("  f(); // why", "f();"),
                ("// why", ""),
                ("let url = \"https://example.org\";", "let url = \"https://example.org\";"),
                ("", ""),
            ],
        );
        check(CommentSyntax::HASH, &[("x = 1  # why", "x = 1"), ("a#b", "a#b"), ("// x", "// x")]);
        check(CommentSyntax::DASHES, &[("select 1 -- why", "select 1"), ("a--b", "a--b")]);
        check(CommentSyntax::NONE, &[("\t# x ", "# x")]);
    }

    #[test]
    fn block_comments_are_stripped_across_lines() {
        check(
            CommentSyntax::SLASHES,
            &[
                ("a(); /* one", "a();"),
                ("two", ""),
                ("three */ b();", "b();"),
                ("/* x */ c(); /* y */ // z", "c(); /* y */"),
                ("d(); /* x */", "d();"),
                ("e(); /* x */ f();", "e(); /* x */ f();"),
                ("src/*.rs", "src/*.rs"),
            ],
        );
        check(CommentSyntax::MARKUP, &[("<p> <!-- a", "<p>"), ("b --> </p>", "</p>")]);
    }
}
