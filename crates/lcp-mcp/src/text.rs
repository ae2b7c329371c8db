//! Limits and escapes for the text and the lists of results.

use std::borrow::Cow;

use lcp_app::{Error, ErrorKind, Result};

/// The maximum length of the text of a result in bytes.
const TEXT_BYTES_MAX: usize = 8 << 20;

/// Truncates a list. Returns it with the number of omitted elements.
pub(crate) fn truncate_list<T>(mut list: Vec<T>, max: usize) -> (Vec<T>, usize) {
    let more = list.len().saturating_sub(max);
    list.truncate(max);
    (list, more)
}

/// Truncates a list to the first elements within a total size of `bytes`. Returns it with the
/// number of omitted elements.
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

/// Escapes untrusted text for use within a line.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    lcp_driver::escape_control(text)
}

/// Checks the length of a text for a result or a resource. `hint` is the advice if it is too long.
pub(crate) fn check_length(text: &str, hint: &str) -> Result {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the answer exceeds the limit of {TEXT_BYTES_MAX} bytes");
    Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
}
