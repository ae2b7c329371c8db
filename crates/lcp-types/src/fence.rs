//! Fences of Markdown.

/// A line that opens or closes a fence of Markdown, by `CommonMark`.
///
/// ```
/// use lcp_types::Fence;
///
/// let open = Fence::parse("````rust").unwrap();
/// assert_eq!((open.len, open.info), (4, "rust"));
/// assert!(!open.is_closed_by(&Fence::parse("```").unwrap()));
/// assert!(open.is_closed_by(&Fence::parse("  `````").unwrap()));
/// assert_eq!(Fence::parse("```code``` in a line"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence<'l> {
    /// The number of spaces before it.
    pub indent: usize,
    /// The byte that it consists of, a backtick or a tilde.
    pub mark: u8,
    /// The number of marks.
    pub len: usize,
    /// The text after the marks.
    pub info: &'l str,
}

impl<'l> Fence<'l> {
    /// The number of marks of the shortest fence.
    pub const LEN_MIN: usize = 3;
    /// The number of spaces before which a line is no fence but code.
    pub const CODE_INDENT: usize = 4;

    /// Parses a line without its end.
    #[must_use]
    pub fn parse(line: &'l str) -> Option<Self> {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let mark = *rest.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let len = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = &rest[len..];
        let is_inline = mark == b'`' && info.contains('`');
        (indent < Self::CODE_INDENT && len >= Self::LEN_MIN && !is_inline).then_some(Self {
            indent,
            mark,
            len,
            info,
        })
    }

    /// Returns whether another line closes the fence that this one opens.
    #[must_use]
    pub fn is_closed_by(&self, other: &Fence<'_>) -> bool {
        let is_bare = other.info.trim_matches([' ', '\t']).is_empty();
        is_bare && other.mark == self.mark && other.len >= self.len
    }
}
