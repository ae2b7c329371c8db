//! Lines of a text: what ends with U+000A, and what stands behind the last one.

/// The text without the newline of its last line.
pub(crate) fn without_end(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// Where each line begins.
pub(crate) fn starts(text: &[u8]) -> Vec<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let mut starts: Vec<_> = std::iter::once(0).chain(ends).collect();
    // Behind the last newline there is no line where there is no text.
    starts.pop_if(|start| *start == text.len());
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_newline_ends_the_last_line_and_begins_none() {
        assert_eq!(starts(b"a\nb\n"), [0, 2]);
        assert_eq!(starts(b"a\nb"), [0, 2]);
        assert_eq!(starts(b"a\n\n"), [0, 2]);
        assert_eq!(starts(b""), [] as [usize; 0]);
        assert_eq!(without_end(b"a\n\n"), b"a\n");
    }
}
