//! Special tokens: words of a chat's own format that stand in a content (RFC 0008 §3).
//!
//! Every estimator counts them as ordinary text, and a careful program encodes them so. A
//! careless one makes control tokens of them, and with these turns that nobody took. A text
//! that has any is warned of; [`neutralise`] takes them out of blocks, before anything is
//! counted.
//!
//! ```
//! use lcp_driver::special;
//! use lcp_types::{Block, Role};
//!
//! let mut blocks = [Block::conversation(Role::User, "Hi<|im_end|>")];
//! let found = special::neutralise(&mut blocks);
//! assert_eq!(found.count, 1);
//! assert_eq!(blocks[0], Block::conversation(Role::User, "Hi< |im_end|>"));
//! ```

mod texts;

use std::borrow::Cow;
use std::ops::Range;

use lcp_types::Block;

use crate::warning::{Warning, WarningCode};

/// What is done about special tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpecialTokens {
    /// They stay; a warning counts those of the text.
    #[default]
    Report,
    /// A space is put into each.
    Neutralise,
    /// A pack that has one is refused.
    Reject,
}

impl SpecialTokens {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Report, Self::Neutralise, Self::Reject];

    /// The name in flags and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Neutralise => "neutralise",
            Self::Reject => "reject",
        }
    }
}

/// Those that do not stand between bars: what begins or ends a text, a turn or a part of one
/// to some model. Words that are as likely to be meant (`[ARGS]`, `<think>`) are not among them.
const TABLE: [&str; 45] = [
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<BOS_TOKEN>",
    "<EOS_TOKEN>",
    "<pad>",
    "<unk>",
    "<sop>",
    "<eop>",
    "<fim_prefix>",
    "<fim_middle>",
    "<fim_suffix>",
    "<fim_pad>",
    "<file_sep>",
    "<repo_name>",
    "<reserved_106>",
    "<reserved_107>",
    "<seed:bos>",
    "<seed:eos>",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[gMASK]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_CONTENT]",
    "[CALL_ID]",
    "[THINK]",
    "[/THINK]",
    "<<SYS>>",
    "<</SYS>>",
];

/// The bars within the angles of the others: the usual one, and the full-width one.
const BARS: [&str; 2] = ["|", "｜"];

/// What some names have in place of a space.
const LOW_BAR: &str = "▁";

/// Characters that stand between the bars at most.
const NAME_CHARS_MAX: usize = 64;

/// The special tokens of a text, in order, as ranges of bytes. No two overlap.
///
/// ```
/// let text = "a <|im_start|> b [INST] c <| no |>";
/// let found: Vec<_> = lcp_driver::special::find(text).map(|at| &text[at]).collect();
/// assert_eq!(found, ["<|im_start|>", "[INST]"]);
/// ```
pub fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    find_bytes(text.as_bytes())
}

/// The same of bytes, which may be no text.
fn find_bytes(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = bytes[from..].iter().position(|byte| matches!(byte, b'<' | b'[')) {
            let at = from + found;
            if let Some(length) = length(&bytes[at..]) {
                from = at + length;
                return Some(at..from);
            }
            from = at + 1;
        }
        from = bytes.len();
        None
    })
}

/// The bytes of the special token that these begin with.
fn length(bytes: &[u8]) -> Option<usize> {
    if let Some(word) = TABLE.iter().find(|word| bytes.starts_with(word.as_bytes())) {
        return Some(word.len());
    }
    let rest = bytes.strip_prefix(b"<")?;
    let (bar, mut rest) =
        BARS.iter().find_map(|bar| Some((bar, rest.strip_prefix(bar.as_bytes())?)))?;
    for chars in 0..=NAME_CHARS_MAX {
        if let Some(rest) = rest.strip_prefix(bar.as_bytes())
            && chars > 0
        {
            return rest.starts_with(b">").then(|| bytes.len() - rest.len() + 1);
        }
        let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:-/".contains(byte);
        rest = match rest.split_first() {
            Some((byte, rest)) if of_name(byte) => rest,
            _ => rest.strip_prefix(LOW_BAR.as_bytes())?,
        };
    }
    None
}

/// Special tokens of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many there are.
    pub count: usize,
    /// The block that the first stands in, by its index, and what it is.
    pub first: Option<(usize, String)>,
}

impl Found {
    /// Counts those of a text of block `index`; gives them if there are any.
    fn add(&mut self, index: usize, bytes: &[u8]) -> Vec<Range<usize>> {
        let found: Vec<_> = find_bytes(bytes).collect();
        if let (None, Some(at)) = (&self.first, found.first()) {
            // Every special token is UTF-8.
            let token = String::from_utf8_lossy(&bytes[at.clone()]).into_owned();
            self.first = Some((index, token));
        }
        self.count += found.len();
        found
    }
}

/// The special tokens of everything that a text could show of these blocks: contents,
/// summaries, further levels and labels.
#[must_use]
pub fn of_blocks(blocks: &[Block<'_>]) -> Found {
    let mut found = Found::default();
    for (index, block) in blocks.iter().enumerate() {
        texts::each(&mut block.clone(), &mut |bytes| {
            found.add(index, bytes);
            None
        });
    }
    found
}

/// Puts a space behind the first character of each special token of [`of_blocks`]: no text of
/// the blocks has one any more. Says which there were.
///
/// What stands in the plan of a text before is not changed: a stable text that goes on shows it
/// as it did.
pub fn neutralise(blocks: &mut [Block<'_>]) -> Found {
    let mut found = Found::default();
    for (index, block) in blocks.iter_mut().enumerate() {
        texts::each(block, &mut |bytes| spaced(bytes, &found.add(index, bytes)));
    }
    found
}

/// The same of one text, whatever it is of.
///
/// ```
/// assert_eq!(lcp_driver::special::neutralised("a <s> b"), "a < s> b");
/// ```
#[must_use]
pub fn neutralised(text: &str) -> Cow<'_, str> {
    match spaced(text.as_bytes(), &find(text).collect::<Vec<_>>()) {
        // Spaces make no other text of it.
        Some(spaced) => String::from_utf8_lossy(&spaced).into_owned().into(),
        None => Cow::Borrowed(text),
    }
}

/// The bytes with a space behind the first of each of these; `None` if there are none.
fn spaced(bytes: &[u8], found: &[Range<usize>]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() + found.len());
    let mut from = 0;
    for at in found {
        // Each begins with a character of one byte.
        out.extend_from_slice(&bytes[from..=at.start]);
        out.push(b' ');
        from = at.start + 1;
    }
    out.extend_from_slice(&bytes[from..]);
    (!found.is_empty()).then_some(out)
}

/// Warns of the special tokens of a text. `ends`: where the part of each block ends.
pub(crate) fn warn_of_text(
    text: &str,
    ends: impl Iterator<Item = (usize, usize)>,
    warnings: &mut Vec<Warning>,
) {
    let mut found = find(text);
    let Some(first) = found.next() else { return };
    let block = ends.into_iter().find(|(_, end)| first.start < *end).map(|(block, _)| block);
    let message = match found.count() + 1 {
        1 => "the text has a special token".to_owned(),
        count => format!("the text has {count} special tokens, the first in this block"),
    };
    warnings.push(Warning::new(WarningCode::SpecialTokens, block, message));
}

#[cfg(test)]
mod tests;
