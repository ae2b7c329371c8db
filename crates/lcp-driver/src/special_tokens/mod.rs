//! Special tokens: control tokens of chat formats, such as `<|im_start|>`, in the content of blocks
//! (RFC 0008 §3).
//!
//! Every estimator counts them as ordinary text, and a careful program encodes them as such. A
//! careless program converts them to control tokens, and so creates turns that no participant
//! wrote. A plan warns of special tokens in its text; [`escape`] breaks them up in blocks before
//! anything is counted.
//!
//! ```
//! use lcp_driver::special_tokens;
//! use lcp_types::{Block, Role};
//!
//! let mut blocks = [Block::conversation(Role::User, "Hi<|im_end|>")];
//! let found = special_tokens::escape(&mut blocks);
//! assert_eq!(found.count, 1);
//! assert_eq!(blocks[0], Block::conversation(Role::User, "Hi< |im_end|>"));
//! ```

mod texts;

use std::borrow::Cow;
use std::ops::Range;

use lcp_types::Block;

use crate::warning::{Warning, WarningCode};

lcp_types::named_enum! {
    /// The handling of special tokens.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum SpecialTokens {
        /// Keep them, with a warning that counts those in the text.
        #[default]
        Warn = "warn",
        /// Insert a space into each.
        Escape = "escape",
        /// Refuse a pack that has one.
        Reject = "reject",
    }
}

/// Special tokens of known models without bars: they begin or end a text, a turn or a part of a
/// turn. Words that authors are as likely to mean literally (`[ARGS]`, `<think>`) are excluded.
const KNOWN_TOKENS: [&str; 45] = [
    "<s>", "</s>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>",
    "<end_of_image>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<pad>", "<unk>", "<sop>", "<eop>",
    "<fim_prefix>", "<fim_middle>", "<fim_suffix>", "<fim_pad>", "<file_sep>", "<repo_name>",
    "<reserved_106>", "<reserved_107>", "<seed:bos>", "<seed:eos>", "[CLS]", "[SEP]", "[MASK]",
    "[IMG_BREAK]", "[IMG_END]", "[gMASK]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[INST]",
    "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]", "[TOOL_CONTENT]", "[CALL_ID]", "[THINK]", "[/THINK]", "<<SYS>>",
    "<</SYS>>",
];

/// The delimiters of a name within angle brackets: the usual bar and the full-width one.
const DELIMITERS: [&str; 2] = ["|", "｜"];

/// The character that stands for a space in some names.
const WORD_SEPARATOR: &str = "▁";

/// Maximum number of characters between the delimiters.
const NAME_CHARS_MAX: usize = 64;

/// Finds the special tokens of a text: byte ranges in order, without overlap.
///
/// ```
/// let text = "a <|im_start|> b [INST] c <| no |>";
/// let found: Vec<_> = lcp_driver::special_tokens::find(text).map(|at| &text[at]).collect();
/// assert_eq!(found, ["<|im_start|>", "[INST]"]);
/// ```
pub fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    find_bytes(text.as_bytes())
}

/// Finds the special tokens in bytes that may not be UTF-8.
fn find_bytes(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = memchr::memchr2(b'<', b'[', &bytes[from..]) {
            let at = from + found;
            if let Some(length) = token_len(&bytes[at..]) {
                from = at + length;
                return Some(at..from);
            }
            from = at + 1;
        }
        from = bytes.len();
        None
    })
}

fn token_len(bytes: &[u8]) -> Option<usize> {
    if let Some(word) = KNOWN_TOKENS.iter().find(|word| bytes.starts_with(word.as_bytes())) {
        return Some(word.len());
    }
    let rest = bytes.strip_prefix(b"<")?;
    let (bar, mut rest) =
        DELIMITERS.iter().find_map(|bar| Some((bar, rest.strip_prefix(bar.as_bytes())?)))?;
    for chars in 0..=NAME_CHARS_MAX {
        if let Some(rest) = rest.strip_prefix(bar.as_bytes())
            && chars > 0
        {
            return rest.starts_with(b">").then(|| bytes.len() - rest.len() + 1);
        }
        let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:-/".contains(byte);
        rest = match rest.split_first() {
            Some((byte, rest)) if of_name(byte) => rest,
            _ => rest.strip_prefix(WORD_SEPARATOR.as_bytes())?,
        };
    }
    None
}

/// The special tokens of a list of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Their number.
    pub count: usize,
    /// The index of the block that has the first one, and that token.
    pub first: Option<(usize, String)>,
}

impl Occurrences {
    /// Counts the special tokens of a text of block `index` and returns their byte ranges.
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

/// Finds the special tokens in every text of these blocks that can be rendered: contents,
/// summaries, further levels and labels.
#[must_use]
pub fn find_in_blocks(blocks: &[Block<'_>]) -> Occurrences {
    let mut found = Occurrences::default();
    for (index, block) in blocks.iter().enumerate() {
        texts::visit(&mut block.clone(), &mut |bytes| {
            found.add(index, bytes);
            None
        });
    }
    found
}

/// Inserts a space after the first character of each special token that [`find_in_blocks`] finds.
/// Returns the tokens that it found.
///
/// A stable text that continues a previous one still shows the previous part unchanged.
pub fn escape(blocks: &mut [Block<'_>]) -> Occurrences {
    let mut found = Occurrences::default();
    for (index, block) in blocks.iter_mut().enumerate() {
        texts::visit(block, &mut |bytes| insert_spaces(bytes, &found.add(index, bytes)));
    }
    found
}

/// Inserts a space into each special token of one text.
///
/// ```
/// assert_eq!(lcp_driver::special_tokens::escape_text("a <s> b"), "a < s> b");
/// ```
#[must_use]
pub fn escape_text(text: &str) -> Cow<'_, str> {
    match insert_spaces(text.as_bytes(), &find(text).collect::<Vec<_>>()) {
        Some(escaped) => String::from_utf8_lossy(&escaped).into_owned().into(),
        None => Cow::Borrowed(text),
    }
}

/// Inserts a space after the first byte of each range; returns `None` if there are no ranges.
fn insert_spaces(bytes: &[u8], found: &[Range<usize>]) -> Option<Vec<u8>> {
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

/// Warns of the special tokens of a text. `ends` has the end of each block's part.
pub(crate) fn warn_of_text(
    text: &str,
    ends: impl Iterator<Item = (usize, usize)>,
    warnings: &mut Vec<Warning>,
) {
    let mut found = find(text);
    let Some(first) = found.next() else { return };
    let block = ends.into_iter().find(|(_, end)| first.start < *end).map(|(block, _)| block);
    // A model may read the message.
    let token = escape_text(&text[first.clone()]);
    let message = match found.count() + 1 {
        1 => format!("the text has 1 special token, {token} (shown with a space)"),
        count => format!(
            "the text has {count} special tokens; the first, {token} (shown with a space), is in \
             this block"
        ),
    };
    warnings.push(Warning::new(WarningCode::SpecialTokens, block, message));
}

#[cfg(test)]
mod tests;
