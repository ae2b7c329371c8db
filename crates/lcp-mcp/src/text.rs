//! Text and lists of answers, bounded and escaped.

use std::borrow::Cow;

use lcp_app::{Error, ErrorKind, Result};

/// Bytes of text that an answer may have.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// Truncates a list. Returns it and how many elements are left out.
pub(crate) fn truncate_list<T>(mut list: Vec<T>, max: usize) -> (Vec<T>, usize) {
    let more = list.len().saturating_sub(max);
    list.truncate(max);
    (list, more)
}

/// Truncates a list to the first elements that have no more than these bytes together.
pub(crate) fn truncate_list_to_bytes<T>(
    list: Vec<T>,
    max: usize,
    mut bytes: usize,
    size: impl Fn(&T) -> usize,
) -> (Vec<T>, usize) {
    let fits = |element: &&T| match bytes.checked_sub(size(element)) {
        Some(left) => {
            bytes = left;
            true
        }
        None => false,
    };
    let count = list.iter().take(max).take_while(fits).count();
    truncate_list(list, count)
}

/// Escapes text of other people for a line.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    lcp_driver::escape_control(text)
}

/// Checks that a text fits into an answer or a resource; `hint` is the advice if it does not.
pub(crate) fn check_length(text: &str, hint: &str) -> Result {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the answer has more than {TEXT_BYTES_MAX} bytes");
    Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
}
