//! Code fences in Markdown.

/// A line that opens or closes a code fence in Markdown, as defined by `CommonMark`.
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
    /// The number of spaces before the fence.
    pub indent: usize,
    /// The byte that the fence is made of: a backtick or a tilde.
    pub mark: u8,
    /// The number of fence characters.
    pub len: usize,
    /// The info string: the text after the fence characters.
    pub info: &'l str,
}

impl<'l> Fence<'l> {
    /// The minimum number of fence characters.
    pub const LEN_MIN: usize = 3;
    /// The number of leading spaces from which a line is indented code instead of a fence.
    pub const CODE_INDENT: usize = 4;

    /// Parses a line, given without its line ending. Returns `None` if the line is not a fence.
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

    /// Returns whether `other` closes the code block that this fence opens.
    #[must_use]
    pub fn is_closed_by(&self, other: &Fence<'_>) -> bool {
        let is_bare = other.info.trim_matches([' ', '\t']).is_empty();
        is_bare && other.mark == self.mark && other.len >= self.len
    }
}
